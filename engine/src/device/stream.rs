//! The two streams of a device's work, and the order between them. Schedules decide when streams fork and
//! join.
//!
//! A CUDA device has one driver stream for each; that of [`Stream::Exchange`] has the highest priority. The
//! host and wgpu devices do all work in one order: both streams are the same there, and no waits are needed.

use super::{Backend, Device, DeviceKind};
use crate::error::{Error, Result};

/// One of a device's two streams. Work of one stream runs in the order of the calls; [`Device::after`] orders
/// work of different streams.
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

impl Device {
    /// Waits until what is queued on a stream so far is done.
    ///
    /// # Errors
    /// If that work or the device failed.
    pub fn wait_for(&self, stream: Stream) -> Result<()> {
        self.usable()?;
        match &self.0.backend {
            Backend::Cuda(gpu) => gpu.wait_for(stream).map_err(|e| Error::of_driver(self.name(), e)),
            Backend::Host | Backend::Wgpu(_) => self.wait(),
        }
    }

    /// Whether its streams run concurrently.
    pub fn has_streams(&self) -> bool {
        match self.kind() {
            DeviceKind::Cuda => true,
            DeviceKind::Host | DeviceKind::Wgpu => false,
        }
    }

    /// Work queued on `stream` from now on runs after the work queued on another stream, of this or another
    /// device, so far. The host does not wait. Without effect unless both devices have streams: the
    /// work of others is done, or in order, when a call returns.
    ///
    /// # Errors
    /// If the driver refuses; the other stream's work is done then.
    pub fn after(&self, stream: Stream, first: &Device, first_stream: Stream) -> Result<()> {
        self.usable()?;
        match (&self.0.backend, &first.0.backend) {
            (Backend::Cuda(gpu), Backend::Cuda(other)) => {
                gpu.after(stream, other, first_stream).map_err(|e| Error::of_driver(self.name(), e))
            }
            _ => Ok(()),
        }
    }
}
