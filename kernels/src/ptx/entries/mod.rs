//! The entry points, one file each: every one is a complete way to run a kernel.

pub(crate) mod fold;
pub(crate) mod fold_streams;
pub(crate) mod fold_values;
pub(crate) mod mirrored;
pub(crate) mod planes;
pub(crate) mod pointwise;
pub(crate) mod scan;
pub(crate) mod streaming;
pub(crate) mod transpose;
