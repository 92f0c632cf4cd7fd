//! The loops of the forms that are not elementwise: reductions, gathers and scatters.

mod fold;
mod fold_layout;
pub(super) mod indexed;
pub(super) mod reduce;
mod values;
