//! The loops of the forms that are not elementwise: reductions, scans, gathers and scatters.

mod fold;
mod fold_layout;
pub(super) mod indexed;
pub(super) mod reduce;
pub(super) mod scan;
mod values;
