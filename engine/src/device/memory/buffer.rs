//! Leases on memory, and how devices allocate: from the pool, within the budget, or from the driver.

use std::fmt;
use std::sync::Arc;

use super::allocation::{Allocation, DeviceMemory, MemoryUse, Reuse, size_class};
use crate::config::config;
use crate::device::check_fork;
use crate::device::driver::{DriverError, DriverResult};
use crate::device::handle::Device;
use crate::error::{Error, Result};

/// A lease on an allocation. Clones share it; the last one returns it to the pool.
#[derive(Clone, Debug)]
pub struct Buffer(Arc<Lease>);

struct Lease {
    allocation: Arc<Allocation>,
    device: Device,
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.allocation.fmt(f)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if check_fork().is_ok() {
            self.device.pool().release(&self.allocation);
        }
    }
}

impl Buffer {
    /// Whether other clones of the lease exist.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// The memory under the lease.
    pub fn allocation(&self) -> &Arc<Allocation> {
        &self.0.allocation
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        &self.0.device
    }
}

impl Device {
    /// The current use of the memory.
    pub fn memory(&self) -> MemoryUse {
        self.pool().usage
    }

    /// Limits what arrays and temporaries may hold on this device; `None` leaves it to the driver.
    pub fn set_budget(&self, budget_bytes: Option<u64>) {
        self.pool().usage.budget_bytes = budget_bytes;
    }

    /// Memory of at least `bytes` bytes, with arbitrary contents.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the budget or the driver refuses; nothing else changes then.
    pub fn alloc(&self, bytes: u64) -> Result<Buffer> {
        self.alloc_of(Reuse::Work, bytes)
    }

    /// The same for memory that no work on the device ever has written, and that is uploaded next: a replay
    /// of recorded work repeats no uploads.
    pub(crate) fn alloc_for_upload(&self, bytes: u64) -> Result<Buffer> {
        self.alloc_of(Reuse::Uploads, bytes)
    }

    /// Refuses memory that the device never has in one piece, whatever is free.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], with the largest piece.
    pub(crate) fn check_size(&self, bytes: u64) -> Result<()> {
        match self.driver().largest_memory() {
            largest if bytes > largest => {
                let limit = format!("driver: the largest buffer has {largest} bytes; make more parts");
                Err(self.out_of_memory(bytes, self.memory().in_use_bytes, limit))
            }
            _ => Ok(()),
        }
    }

    fn alloc_of(&self, reuse: Reuse, bytes: u64) -> Result<Buffer> {
        self.usable()?;
        let sizes = size_class(bytes, self.driver().page_bytes());
        let lease = |allocation| Buffer(Arc::new(Lease { allocation, device: self.clone() }));
        if let Some(allocation) = self.pool().take(reuse, sizes.clone()) {
            return Ok(lease(allocation));
        }
        // If memory is short: exactly the requested bytes.
        let (least, most) = sizes.into_inner();
        let memory = match self.new_memory(most) {
            Err(Error::OutOfMemory { .. }) if least < most => self.new_memory(least).map(|new| (least, new)),
            outcome => outcome.map(|new| (most, new)),
        };
        let (bytes, memory) = memory?;
        self.pool().usage.in_use_bytes += bytes;
        let allocation = Arc::new(Allocation::new(self.number(), bytes, Some(reuse), memory));
        if config().check {
            // Comparing looks at what nobody has written yet, too.
            self.upload(&allocation, 0, &vec![0; bytes as usize])?;
        }
        Ok(lease(allocation))
    }

    fn new_memory(&self, bytes: u64) -> Result<Box<dyn DeviceMemory>> {
        self.within_budget(bytes)?;
        self.with_room(|| self.driver().alloc(bytes))
    }

    /// Another owner's memory as a buffer: it counts in no budget and goes to no pool.
    pub(super) fn adopt(&self, bytes: u64, memory: Box<dyn DeviceMemory>, read_only: bool) -> Buffer {
        let allocation =
            Arc::new(Allocation { read_only, ..Allocation::new(self.number(), bytes, None, memory) });
        Buffer(Arc::new(Lease { allocation, device: self.clone() }))
    }

    /// Refuses memory of another device.
    pub(in crate::device) fn check_memory(&self, operation: &'static str, memory: &Allocation) -> Result<()> {
        if memory.device == self.number() {
            return Ok(());
        }
        let expected = format!("memory of {}", self.name());
        let given = format!("{memory:?} of another device");
        Err(Error::invalid(operation, expected, given, "use the device that allocated it"))
    }

    /// Refuses memory of another device, and memory that was lent to be read.
    pub(in crate::device) fn check_written(
        &self,
        operation: &'static str,
        memory: &Allocation,
    ) -> Result<()> {
        self.check_memory(operation, memory)?;
        if !memory.read_only {
            return Ok(());
        }
        let given = format!("{memory:?}, borrowed from another owner");
        Err(Error::invalid(operation, "memory that may be written", given, "copy it first"))
    }

    /// A lease on an allocation that is free in the pool; `None` if it is not.
    pub(crate) fn claim(&self, allocation: &Arc<Allocation>) -> Option<Buffer> {
        let allocation = self.pool().claim(allocation)?;
        Some(Buffer(Arc::new(Lease { allocation, device: self.clone() })))
    }

    fn within_budget(&self, bytes: u64) -> Result<()> {
        let mut pool = self.pool();
        let Some(budget) = pool.usage.budget_bytes else { return Ok(()) };
        let fits = |held: u64| held.checked_add(bytes).is_some_and(|total| total <= budget);
        if !fits(pool.usage.in_use_bytes + pool.usage.cached_bytes) {
            pool.trim();
        }
        if fits(pool.usage.in_use_bytes) {
            return Ok(());
        }
        let in_use_bytes = pool.usage.in_use_bytes;
        drop(pool);
        Err(self.out_of_memory(bytes, in_use_bytes, format!("budget of {budget} bytes")))
    }

    /// Tries once more without what the pool keeps free, if memory was refused. A call that ran out of memory
    /// has done nothing else.
    pub(in crate::device) fn with_room<T>(&self, call: impl Fn() -> DriverResult<T>) -> Result<T> {
        let again = |error| match error {
            DriverError::OutOfMemory { .. } => {
                self.pool().trim();
                call()
            }
            failure => Err(failure),
        };
        call().or_else(again).map_err(|error| self.failed(error))
    }

    /// A driver's error as one of the device.
    pub(in crate::device) fn failed(&self, error: DriverError) -> Error {
        match error {
            DriverError::OutOfMemory { bytes, limit } => {
                self.out_of_memory(bytes, self.memory().in_use_bytes, limit)
            }
            DriverError::Unsupported(reason) => Error::Unsupported { device: self.name().to_owned(), reason },
            DriverError::Launch(error) => error.into(),
            DriverError::Interrupted => Error::Interrupted { operation: "a reduction" },
            DriverError::Failed(reason) => Error::of_driver(self.name(), reason),
        }
    }

    fn out_of_memory(&self, asked_bytes: u64, in_use_bytes: u64, limit: String) -> Error {
        Error::OutOfMemory { device: self.name().to_owned(), asked_bytes, in_use_bytes, limit }
    }
}
