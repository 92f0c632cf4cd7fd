//! The two streams of a device's work.
//!
//! A CUDA device has one driver stream for each; that of [`Stream::Exchange`] has the highest priority. The
//! host and wgpu devices do all work in one order: both streams are the same there, and no waits are needed.

/// One of a device's two streams. Work of one stream runs in the order of the calls;
/// [`Device::after`](crate::Device::after) orders work of different streams.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Stream {
    /// Computation, and whatever names no stream. Memory is leased and reused in the order of this stream.
    #[default]
    Compute,
    /// Communication that overlaps computation: packing, copies, unpacking, and the kernels behind them.
    Exchange,
}

impl Stream {
    /// Both.
    pub const ALL: [Stream; 2] = [Stream::Compute, Stream::Exchange];
}
