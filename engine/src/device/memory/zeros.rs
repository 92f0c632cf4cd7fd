//! Memory of the host for elements on their way to and from devices. Refused memory is an error, not the end
//! of the process.

use crate::device::handle::Device;
use crate::error::{Error, Result};

/// So many zeros in host memory. `devices` are those of whom the elements are; an error tells their use.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn zeros<T: bytemuck::Zeroable>(count: usize, devices: &[Device]) -> Result<Vec<T>> {
    bytemuck::allocation::try_zeroed_slice_box(count).map(Vec::from).map_err(|()| {
        let usage = devices.iter().map(Device::memory);
        let budgets: Option<u64> = devices.iter().map(|device| device.memory().budget_bytes).sum();
        let budget = budgets.map_or("no budget".to_owned(), |bytes| format!("budget of {bytes} bytes"));
        Error::OutOfMemory {
            device: "the host, to hold elements beside the devices".to_owned(),
            asked_bytes: (count as u64).saturating_mul(size_of::<T>() as u64),
            in_use_bytes: usage.map(|usage| usage.in_use_bytes).sum(),
            limit: format!("{budget}, the system's allocator refused"),
        }
    })
}
