//! Every rule of [`crate::ir`], checked once: of a kernel, and of a launch.
//!
//! Writers and devices take a [`Verified`] kernel and do not check again. A verified kernel whose
//! launch passes [`Verified::check`] touches no element outside the memory it is given, which is
//! what lets devices run it without bounds checks.

mod check;
pub mod footprint;

pub use check::*;
