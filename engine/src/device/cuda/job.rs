//! One launch as a driver takes it: its compiled kernel, where it runs over, and its buffers.

use partita_kernels::Launch;

/// A launch with what it needs.
#[cfg_attr(not(feature = "cuda"), expect(dead_code))]
pub(in crate::device) struct DriverJob<'a, Program, Buffer> {
    /// The compiled kernel.
    pub program: &'a Program,
    /// Where it runs over.
    pub launch: &'a Launch,
    /// One per parameter.
    pub memory: &'a [&'a Buffer],
}
