//! The two lanes of a device's work, and which waits for which. Knows no exchanges; who forks and joins, and
//! when, is the schedules' business.
//!
//! A CUDA device has a stream per lane, that of [`Lane::Exchange`] of the highest priority. The host and wgpu
//! devices do all work in one order: for them both lanes are the same, and nothing need wait.

use super::{Backend, Device, DeviceKind};
use crate::error::{Error, Result};

/// One of the two orders in which a device works. Within a lane work runs in the order of the calls; between
/// lanes only [`Device::after`] orders it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Lane {
    /// Everything that is not said to be elsewhere. Memory is leased and reused in the order of this lane.
    #[default]
    Compute,
    /// What an exchange does beside the computation: packing, copies, unpacking, and what waits for them.
    Exchange,
}

impl Lane {
    /// Both.
    pub const ALL: [Lane; 2] = [Lane::Compute, Lane::Exchange];
}

impl Device {
    /// Waits until what is queued on a lane so far is done.
    ///
    /// # Errors
    /// If that work or the device failed.
    pub fn wait_for(&self, lane: Lane) -> Result<()> {
        self.usable()?;
        match &self.0.backend {
            Backend::Cuda(gpu) => gpu.wait_for(lane).map_err(|e| Error::of_driver(self.name(), e)),
            Backend::Host | Backend::Wgpu(_) => self.wait(),
        }
    }

    /// Whether its lanes run side by side.
    pub fn has_lanes(&self) -> bool {
        match self.kind() {
            DeviceKind::Cuda => true,
            DeviceKind::Host | DeviceKind::Wgpu => false,
        }
    }

    /// What is queued on `lane` from now on comes after all that is queued on another lane, of this or
    /// another device, so far. The host waits for neither. Without effect unless both devices have lanes: the
    /// work of others is done, or in order, when a call returns.
    ///
    /// # Errors
    /// If the driver refuses; the other lane's work is done then.
    pub fn after(&self, lane: Lane, first: &Device, first_lane: Lane) -> Result<()> {
        self.usable()?;
        match (&self.0.backend, &first.0.backend) {
            (Backend::Cuda(gpu), Backend::Cuda(other)) => {
                gpu.after(lane, other, first_lane).map_err(|e| Error::of_driver(self.name(), e))
            }
            _ => Ok(()),
        }
    }
}
