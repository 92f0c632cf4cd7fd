//! [`Device`]: the handle to a device and its driver; leases on its memory ([`Buffer`]), and how it
//! allocates: from the pool, within the budget, or from the driver; bytes to, from and between devices;
//! waits.
//!
//! Between CUDA devices the driver copies; all else goes through the host. A download that is begun leaves
//! the device's memory while the host does something else: on CUDA through pinned memory, on wgpu through a
//! mapped buffer, each through one of its own. The time between two timestamps is that of the work queued
//! between them. Schedules decide when streams fork and join.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

use partita_kernels::Subnormals;

use crate::config::config;
use crate::device::driver::{
    DeviceKind, Driver, DriverError, DriverResult, Opaque, Programs, Stream, SubnormalTrial,
};
use crate::device::memory::{Allocation, DeviceMemory, MemoryUse, Pool, Reuse, size_class};
use crate::device::{check_fork, process_id};
use crate::error::{Error, Result};
/// A processor with memory of its own. Clones name the same device; equality is identity.
#[derive(Clone)]
pub struct Device(Arc<DeviceState>);

struct DeviceState {
    name: String,
    driver: Box<dyn Driver>,
    /// The process that opened it.
    process: u32,
    pool: Mutex<Pool>,
    programs: Mutex<Programs>,
    /// Held by one evaluation at a time, see [`DeviceLocks`](super::DeviceLocks).
    lock: Mutex<()>,
    /// Work on it that may turn out not to have been done.
    watches: Mutex<Vec<Weak<dyn Watch>>>,
    /// Whether there is such work.
    is_watched: AtomicBool,
    /// Counts changes of contents that were queued by no work.
    changes: AtomicU64,
}

/// Work of a device that may turn out not to have been done, although the device did all it was given.
pub(crate) trait Watch: Send + Sync {
    /// Memory is written by what is queued now, from what such work may have written.
    fn wrote(&self, memory: &Allocation);

    /// Once a rank has failed: waits until it is known what the memory that it writes holds; before, `waits`
    /// for the work.
    fn settle(&self, waits: bool) -> Result<()>;
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Device {
    pub(super) fn new(name: String, driver: Box<dyn Driver>) -> Device {
        Device(Arc::new(DeviceState {
            name,
            driver,
            process: process_id(),
            pool: Mutex::new(Pool::new(config().budget_bytes)),
            programs: Mutex::new(Programs::new(config().program_bytes)),
            lock: Mutex::default(),
            watches: Mutex::default(),
            is_watched: AtomicBool::new(false),
            changes: AtomicU64::new(0),
        }))
    }

    /// Drivers do not survive a fork, so what was opened before one is refused after it: otherwise it hangs,
    /// or changes what the parent sees. The host needs no driver, only locks that no other thread held.
    pub(super) fn usable(&self) -> Result<()> {
        check_fork()?;
        if self.kind() == DeviceKind::Host || process_id() == self.0.process {
            return Ok(());
        }
        let reason = "drivers do not survive a fork";
        Err(Error::Forked { device: self.name().to_owned(), reason })
    }

    /// The name people see.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// A number that no other device of this process has as long as this one lives.
    pub(crate) fn number(&self) -> u64 {
        Arc::as_ptr(&self.0).addr() as u64
    }

    /// The lock that an evaluation holds while it uses the device.
    pub(crate) fn lock(&self) -> &Mutex<()> {
        &self.0.lock
    }

    /// The sort of device.
    pub fn kind(&self) -> DeviceKind {
        self.0.driver.kind()
    }

    /// True for a GPU or adapter that is a program on the processor, such as lavapipe.
    pub fn is_software(&self) -> bool {
        self.0.driver.is_software()
    }

    /// Whether it has i64 and u64.
    pub(crate) fn has_i64(&self) -> bool {
        self.0.driver.has_i64()
    }

    /// Its treatment of f32 operands and results below 2^-126, found by a trial on the first call.
    /// docs/wgpu.md lists the operations.
    pub fn subnormals(&self) -> Subnormals {
        self.0.driver.subnormals()
    }

    /// The treatment of subnormals by each operation of the driver, found by a trial at every call; kernels
    /// replace operations that are not exact. Empty for the host and CUDA devices, which keep subnormals.
    pub fn subnormal_trials(&self) -> Vec<SubnormalTrial> {
        self.0.driver.subnormal_trials()
    }

    /// The most arrays one kernel may bind.
    pub fn max_params(&self) -> usize {
        self.0.driver.max_params()
    }

    pub(super) fn driver(&self) -> &dyn Driver {
        &*self.0.driver
    }

    pub(super) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The compiled kernels.
    pub(super) fn programs(&self) -> MutexGuard<'_, Programs> {
        self.0.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
        if let Some(reason) = memory.lost.get() {
            return Err(Error::of_driver(self.name(), reason.clone()));
        }
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
        self.watches().iter().for_each(|watch| watch.wrote(memory));
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

/// Bytes of one device's memory, and their place in another's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyRegion<'a> {
    /// The source.
    pub from: &'a Allocation,
    /// The offset of the bytes in it.
    pub from_offset: u64,
    /// The destination.
    pub to: &'a Allocation,
    /// The offset in it that they go to.
    pub to_offset: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// Bytes on their way from a device to this process. Dropping it discards them.
pub struct Download {
    device: Device,
    transit: Box<dyn Any + Send>,
    /// The device's changes when it began.
    changes: u64,
    /// Why the memory's contents are lost, if they are.
    lost: Arc<OnceLock<String>>,
}

impl Device {
    /// Copies bytes to the device, behind all work queued so far.
    pub(crate) fn upload(&self, to: &Allocation, offset_bytes: u64, data: &[u8]) -> Result<()> {
        self.upload_on(Stream::Compute, to, offset_bytes, data)
    }

    /// The same on a stream.
    pub(crate) fn upload_on(
        &self,
        stream: Stream,
        to: &Allocation,
        offset_bytes: u64,
        data: &[u8],
    ) -> Result<()> {
        self.usable()?;
        self.check_written("upload", to)?;
        to.check_range("upload", offset_bytes, data.len() as u64)?;
        self.driver().upload(stream, to, offset_bytes, data).map_err(|e| self.failed(e))
    }

    /// Copies bytes from the device after all work queued so far; waits.
    pub(crate) fn download(&self, from: &Allocation, offset_bytes: u64, out: &mut [u8]) -> Result<()> {
        self.download_on(Stream::Compute, from, offset_bytes, out)
    }

    /// The same on a stream, after the work of that stream.
    pub(crate) fn download_on(
        &self,
        stream: Stream,
        from: &Allocation,
        offset_bytes: u64,
        out: &mut [u8],
    ) -> Result<()> {
        self.usable()?;
        self.check_memory("download", from)?;
        from.check_range("download", offset_bytes, out.len() as u64)?;
        let changes = self.changes();
        let mut read = || self.driver().download(stream, from, offset_bytes, out).map_err(|e| self.failed(e));
        read()?;
        self.settle(true)?;
        if self.changes() != changes {
            read()?;
        }
        // It may have been lost while this waited.
        self.check_memory("download", from)
    }

    /// Watches work of the device from now on, as long as somebody has the watch.
    pub(crate) fn watch(&self, watch: &Arc<dyn Watch>) {
        let mut watches = self.0.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.push(Arc::downgrade(watch));
        self.0.is_watched.store(true, Ordering::Release);
    }

    fn watches(&self) -> Vec<Arc<dyn Watch>> {
        if !self.0.is_watched.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut watches = self.0.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|watch| watch.strong_count() > 0);
        self.0.is_watched.store(!watches.is_empty(), Ordering::Release);
        watches.iter().filter_map(Weak::upgrade).collect()
    }

    /// See [`Watch::settle`].
    pub(crate) fn settle(&self, waits: bool) -> Result<()> {
        self.watches().iter().try_for_each(|watch| watch.settle(waits))
    }

    fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }

    /// Contents of memory have changed that may have been read before.
    pub(super) fn changed(&self) {
        self.0.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Refuses memory whose contents are lost, before others read it.
    ///
    /// # Errors
    /// The loss; if the device fails.
    pub fn check_contents(&self, memory: &Allocation) -> Result<()> {
        self.settle(false)?;
        self.check_memory("sharing memory", memory)
    }

    /// Copies bytes of this device's memory to memory of another one, behind all work queued on both so far;
    /// later work on either waits for it.
    pub(crate) fn copy_range(&self, other: &Device, what: CopyRegion) -> Result<()> {
        other.after(Stream::Compute, self, Stream::Compute)?;
        self.copy_on(Stream::Compute, other, what)?;
        self.after(Stream::Compute, other, Stream::Compute)
    }

    /// Queues such a copy on a stream of the other device without any waits: the caller orders it with the
    /// work of this device ([`Device::after`]). A copy staged through the host is done when this returns.
    pub(crate) fn copy_on(&self, stream: Stream, other: &Device, what: CopyRegion) -> Result<()> {
        self.check_copy(other, what)?;
        let CopyRegion { from, from_offset, to, to_offset, bytes } = what;
        let (source, target) = ((from, from_offset), (to, to_offset));
        let copied = self.driver().copy_to(stream, source, other.driver(), target, bytes);
        if copied.map_err(|e| self.failed(e))? {
            return Ok(());
        }
        let (in_use, limit) = (self.memory().in_use_bytes, "the host has no memory to copy through");
        let refused = |()| self.out_of_memory(bytes, in_use, limit.to_owned());
        let staging = bytemuck::allocation::try_zeroed_slice_box(bytes as usize);
        let mut staging: Vec<u8> = staging.map(Vec::from).map_err(refused)?;
        self.download_on(stream, from, from_offset, &mut staging)?;
        other.upload_on(stream, to, to_offset, &staging)
    }

    /// Refuses a copy from or to memory that is not there, or may not be written.
    pub(super) fn check_copy(&self, other: &Device, what: CopyRegion) -> Result<()> {
        self.usable()?;
        let CopyRegion { from, from_offset, to, to_offset, bytes } = what;
        self.check_memory("copy", from)?;
        from.check_range("copy", from_offset, bytes)?;
        other.check_written("copy", to)?;
        to.check_range("copy", to_offset, bytes)
    }

    /// Begins to copy bytes from the device, behind all work queued on a stream so far; the host waits for
    /// nothing. `None` on the host, whose memory is here already.
    pub(crate) fn start_download(
        &self,
        stream: Stream,
        from: &Allocation,
        offset_bytes: u64,
        bytes: usize,
    ) -> Result<Option<Download>> {
        self.usable()?;
        self.check_memory("start_download", from)?;
        from.check_range("start_download", offset_bytes, bytes as u64)?;
        let transit = self.driver().start_download(stream, from, offset_bytes, bytes);
        let transit = transit.map_err(|e| self.failed(e))?;
        let (device, changes, lost) = (self.clone(), self.changes(), Arc::clone(&from.lost));
        Ok(transit.map(|transit| Download { device, transit, changes, lost }))
    }
}

impl Download {
    /// Waits for the bytes, and for no work that was queued after them.
    ///
    /// # Errors
    /// If the driver fails, or work queued before had failed.
    pub fn finish(self, out: &mut [u8]) -> Result<()> {
        let Download { device, transit, changes, lost } = self;
        device.usable()?;
        device.driver().finish_download(transit, out).map_err(|e| device.failed(e))?;
        device.settle(true)?;
        let changed = (device.changes() != changes).then_some("a rank failed while it was read");
        let reason = lost.get().map(String::as_str).or(changed);
        reason.map_or(Ok(()), |reason| Err(Error::of_driver(device.name(), reason.to_owned())))
    }
}

/// A point in the work queued on a device ([`Device::timestamp`]).
pub struct Timestamp {
    device: Device,
    moment: Moment,
}

enum Moment {
    /// The device's own clock.
    Device(Opaque),
    /// The host's clock when everything before was done.
    Done(Instant),
}

impl Device {
    /// Waits until all queued work is done.
    ///
    /// # Errors
    /// If the driver fails, or work queued before had failed.
    pub fn wait(&self) -> Result<()> {
        self.usable()?;
        self.driver().wait().map_err(|e| self.failed(e))
    }

    /// Waits until what is queued on a stream so far is done.
    ///
    /// # Errors
    /// If that work or the device failed.
    pub fn wait_for(&self, stream: Stream) -> Result<()> {
        self.usable()?;
        self.driver().wait_for(stream).map_err(|e| self.failed(e))
    }

    /// Whether its streams run concurrently.
    pub fn has_streams(&self) -> bool {
        self.kind() == DeviceKind::Cuda
    }

    /// Work queued on `stream` from now on runs after the work queued on another stream, of this or another
    /// device, so far. The host does not wait. Without effect unless both devices have streams: the
    /// work of others is done, or in order, when a call returns.
    ///
    /// # Errors
    /// If the driver refuses; the other stream's work is done then.
    pub fn after(&self, stream: Stream, first: &Device, first_stream: Stream) -> Result<()> {
        self.usable()?;
        self.driver().after(stream, first.driver(), first_stream).map_err(|e| self.failed(e))
    }

    /// A timestamp behind the work queued so far, as [`Device::timestamp_on`] gives on the stream `Compute`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn timestamp(&self) -> Result<Timestamp> {
        self.timestamp_on(Stream::Compute)
    }

    /// A timestamp behind the work queued on a stream so far. On CUDA it is an event with the device's own
    /// clock, and the host does not wait. The host's work is done when this returns, and the call waits for a
    /// wgpu device; their timestamps carry the host's clock.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn timestamp_on(&self, stream: Stream) -> Result<Timestamp> {
        self.usable()?;
        let moment = match self.driver().timestamp(stream).map_err(|e| self.failed(e))? {
            Some(moment) => Moment::Device(moment),
            None => {
                self.wait()?;
                Moment::Done(Instant::now())
            }
        };
        Ok(Timestamp { device: self.clone(), moment })
    }
}

impl Timestamp {
    /// Seconds between two timestamps of one device, negative if `earlier` is the later one. Waits for both.
    ///
    /// # Errors
    /// Timestamps of two devices; work between them that failed.
    pub fn seconds_since(&self, earlier: &Timestamp) -> Result<f64> {
        let other = || {
            let (from, to) = (earlier.device.name(), self.device.name());
            Error::invalid(
                "Timestamp::seconds_since",
                "two timestamps of one device",
                format!("one of {from} and one of {to}"),
                "take both from the same device",
            )
        };
        match (&self.moment, &earlier.moment) {
            _ if self.device != earlier.device => Err(other()),
            (Moment::Device(to), Moment::Device(from)) => {
                self.device.driver().seconds_between(from, to).map_err(|e| self.device.failed(e))
            }
            (Moment::Done(to), Moment::Done(from)) => {
                let forwards = to.saturating_duration_since(*from).as_secs_f64();
                Ok(forwards - from.saturating_duration_since(*to).as_secs_f64())
            }
            (Moment::Device(_), Moment::Done(_)) | (Moment::Done(_), Moment::Device(_)) => Err(other()),
        }
    }
}
