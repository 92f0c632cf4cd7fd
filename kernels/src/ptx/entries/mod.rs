//! The entry points, one file each: every one is a complete way to run a kernel.

pub(in crate::ptx) mod batched_copy;
pub(in crate::ptx) mod combine;
pub(in crate::ptx) mod fold;
mod fold_values;
pub(in crate::ptx) mod pointwise;
pub(in crate::ptx) mod streaming;
pub(in crate::ptx) mod transpose;
pub(in crate::ptx) mod vector;
