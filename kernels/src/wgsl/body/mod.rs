//! The body of a kernel: instructions, conversions, loads and stores as lines of WGSL.

mod casts;
mod memory;
mod ops;

pub(super) use ops::compare;
