//! Host vectors whose length depends on data: refused memory is [`Error::OutOfMemory`], not the end of the
//! process. All lists of elements, positions or bytes beside the devices are made here.

use partita_kernels::DType;

use crate::device::handle::Device;
use crate::error::{Error, Result};

/// Adds an item. Room grows in proportion.
pub fn push<T>(operation: &str, items: &mut Vec<T>, item: T) -> Result<()> {
    reserve(operation, items, 1)?;
    items.push(item);
    Ok(())
}

/// The items of an iterator. Where it knows their number, no more memory than they need is taken.
pub fn collect<T>(operation: &str, mut items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let ((least, most), mut all) = (items.size_hint(), Vec::new());
    reserve(operation, &mut all, least)?;
    match most == Some(least) {
        true => all.extend(items),
        false => items.try_for_each(|item| push(operation, &mut all, item))?,
    }
    Ok(all)
}

/// Integers in their memory form, of 64 or 32 bits.
pub fn integers(operation: &str, dtype: DType, numbers: impl Iterator<Item = i64>) -> Result<Vec<u8>> {
    match dtype {
        DType::I64 => collect(operation, numbers.flat_map(i64::to_le_bytes)),
        _ => collect(operation, numbers.flat_map(|number| (number as i32).to_le_bytes())),
    }
}

/// So many zeros, for elements on their way to and from devices. `devices` are those of whom the elements
/// are; an error tells their use.
pub fn zeros<T: bytemuck::Zeroable>(count: usize, devices: &[Device]) -> Result<Vec<T>> {
    let refused = |()| refused::<T>("to hold elements beside the devices", count, devices);
    bytemuck::allocation::try_zeroed_slice_box(count).map(Vec::from).map_err(refused)
}

fn reserve<T>(operation: &str, items: &mut Vec<T>, more: usize) -> Result<()> {
    items.try_reserve(more).map_err(|_| {
        let count = more.max(2 * items.capacity());
        refused::<T>(&format!("for {operation}"), count, &[Device::host()])
    })
}

fn refused<T>(what: &str, count: usize, devices: &[Device]) -> Error {
    let usage = devices.iter().map(Device::memory);
    let budgets: Option<u64> = devices.iter().map(|device| device.memory().budget_bytes).sum();
    let budget = budgets.map_or("no budget".to_owned(), |bytes| format!("budget of {bytes} bytes"));
    Error::OutOfMemory {
        device: format!("the host, {what}"),
        asked_bytes: (count as u64).saturating_mul(size_of::<T>() as u64),
        in_use_bytes: usage.map(|usage| usage.in_use_bytes).sum(),
        limit: format!("{budget}, the system's allocator refused"),
    }
}
