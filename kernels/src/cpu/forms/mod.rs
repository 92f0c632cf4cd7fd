//! The loops of the forms that are not elementwise: reductions, gathers and scatters.

pub(super) mod fold;
#[cfg(target_arch = "x86_64")]
mod fold_avx2;
pub(super) mod indexed;
pub(super) mod reduce;
mod values;
