//! Waits: of the host for a device, and of streams for each other.

use super::stream::Stream;
use crate::device::handle::{Backend, Device, DeviceKind};
use crate::error::Result;

impl Device {
    /// Waits until all queued work is done.
    ///
    /// # Errors
    /// If the driver fails, or work queued before had failed.
    pub fn wait(&self) -> Result<()> {
        self.usable()?;
        match self.backend() {
            Backend::Host => Ok(()),
            Backend::Cuda(gpu) => gpu.wait().map_err(|e| self.failed(e)),
            Backend::Wgpu(gpu) => gpu.wait().map_err(|e| self.failed(e)),
        }
    }

    /// Waits until what is queued on a stream so far is done.
    ///
    /// # Errors
    /// If that work or the device failed.
    pub fn wait_for(&self, stream: Stream) -> Result<()> {
        self.usable()?;
        match self.backend() {
            Backend::Cuda(gpu) => gpu.wait_for(stream).map_err(|e| self.failed(e)),
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
        match (self.backend(), first.backend()) {
            (Backend::Cuda(gpu), Backend::Cuda(other)) => {
                gpu.after(stream, other, first_stream).map_err(|e| self.failed(e))
            }
            _ => Ok(()),
        }
    }
}
