//! Partita for Python and its peers.
//!
//! [`dlpack`] lends the memory of parts and reads that of others; [`value`] holds descriptions in Python's
//! terms, which [`distarray`] and [`partitioned`] translate to distributions and back. With the feature
//! `python` this crate is the extension module `partita._native`, under the Python code in
//! `interop/python`.
//!
//! Invariant: the protocols are plain Rust; only `python` and the capsules of `foreign` use Python objects.
//! Unsafe code is in `foreign` alone.

#![deny(unsafe_code)]
// The documentation asks whether what holds a device may be sent between threads; wgpu nests that deeply.
#![recursion_limit = "256"]

#[cfg(feature = "python")]
mod complex;
pub mod distarray;
pub mod element;
#[allow(unsafe_code)]
pub mod foreign;
pub mod partitioned;
#[cfg(feature = "python")]
mod python;
pub mod value;

pub use foreign::dlpack;
