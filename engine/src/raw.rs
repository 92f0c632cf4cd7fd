//! Devices' memory and work past the arrays: for tests, benchmarks and programs with kernels of their own.
//! Everything that reads or writes memory by hand is here, and unsafe.
//!
//! # Safety
//! Arrays keep one promise that this module cannot keep for you: nobody uses memory that somebody else
//! writes. Whoever calls a function of this module promises, from the call until the devices have done the
//! work ([`Device::wait`](crate::Device::wait)):
//!
//! 1. **No race.** Nobody else writes the memory, be it an evaluation of an array, a [`Loop`](crate::Loop),
//!    another thread or another process; and nobody else reads what the call writes.
//! 2. **A lease.** The memory is leased: a [`Buffer`] or an array holds it. An [`Allocation`] alone, such as
//!    that of a [`Place`](crate::program::Place), is handed to the next who asks once the last lease ends.
//! 3. **Values stay.** Memory of an array is written only while no clone, part or recorded expression
//!    depends on its elements.
//! 4. **No overlap.** A kernel's parameters overlap only where all of them are read.
//!
//! Refused with an error, before anything is done: bytes outside the memory, launches that would touch
//! others, memory and programs of another device, and writing to memory that was
//! [borrowed](crate::Device::borrow).
//!
//! ```
//! use partita::prelude::*;
//! use partita::raw;
//! # fn main() -> partita::Result<()> {
//! let device = Device::host();
//! let buffer = device.alloc(4)?;
//! let mut bytes = [0; 4];
//! // SAFETY: the memory is leased, and nobody else knows of it.
//! unsafe {
//!     raw::upload(&device, buffer.allocation(), 0, &[1, 2, 3, 4])?;
//!     raw::download(&device, buffer.allocation(), 0, &mut bytes)?;
//! }
//! assert_eq!(bytes, [1, 2, 3, 4]);
//! # Ok(()) }
//! ```
//!
//! Without `unsafe` no two threads can write and read one allocation:
//!
//! ```compile_fail,E0133
//! use partita::prelude::*;
//! use partita::raw;
//! # fn main() -> partita::Result<()> {
//! let device = Device::host();
//! let buffer = device.alloc(4)?;
//! std::thread::scope(|scope| {
//!     scope.spawn(|| raw::upload(&device, buffer.allocation(), 0, &[1, 2, 3, 4]));
//!     scope.spawn(|| raw::download(&device, buffer.allocation(), 0, &mut [0; 4]));
//! });
//! # Ok(()) }
//! ```
//!
//! nor can one allocation be the input and the output of a launch:
//!
//! ```compile_fail,E0133
//! use partita::device::Job;
//! use partita::raw;
//! fn overlapping(device: &partita::Device, job: &Job) -> partita::Result<()> {
//!     let memory = vec![job.memory[0].clone(); job.memory.len()];
//!     raw::launch(device, &Job { memory, ..job.clone() })
//! }
//! ```
//!
//! nor can an array's elements be written behind its back:
//!
//! ```compile_fail,E0133
//! use partita::raw;
//! fn overwrite(u: &partita::Array) -> partita::Result<()> {
//!     let place = u.places()?[0].clone().expect("a part with cells");
//!     raw::upload(&place.device, &place.allocation, 0, &[0; 4])
//! }
//! ```
//!
//! and the devices' own verbs are not public:
//!
//! ```compile_fail,E0624
//! let device = partita::Device::host();
//! let buffer = device.alloc(4).unwrap();
//! device.upload(buffer.allocation(), 0, &[1, 2, 3, 4]).unwrap();
//! ```

use crate::array::Recorder;
use crate::device::cuda::IpcHandle;
use crate::device::{self, Allocation, Buffer, CopyRegion, Device, Download, Job, Stream};
use crate::error::Result;
use crate::program::{self, Command, Schedule};
use crate::transport::Exchange;

/// Copies bytes to a device, behind all work queued so far.
///
/// # Errors
/// Bytes outside the memory; memory of another device, or borrowed; if the driver fails.
///
/// # Safety
/// The [contract](self) of this module: `to` is written.
pub unsafe fn upload(device: &Device, to: &Allocation, offset_bytes: u64, data: &[u8]) -> Result<()> {
    device.upload(to, offset_bytes, data)
}

/// Copies bytes from a device after all work queued so far; waits.
///
/// # Errors
/// Bytes outside the memory; memory of another device; if the driver fails, or work queued before had failed.
///
/// # Safety
/// The [contract](self) of this module: `from` is read.
pub unsafe fn download(device: &Device, from: &Allocation, offset_bytes: u64, out: &mut [u8]) -> Result<()> {
    device.download(from, offset_bytes, out)
}

/// Starts an asynchronous download behind all work queued so far; the host does not wait. `None` on the host,
/// whose memory is here already.
///
/// # Errors
/// As [`download`].
///
/// # Safety
/// The [contract](self) of this module: `from` is read, until [`Download::finish`] returns.
pub unsafe fn start_download(
    device: &Device,
    from: &Allocation,
    offset_bytes: u64,
    bytes: usize,
) -> Result<Option<Download>> {
    device.start_download(Stream::Compute, from, offset_bytes, bytes)
}

/// Copies the first `bytes` bytes of memory of one device to memory of another one, behind all work queued on
/// both so far; later work on either waits for it.
///
/// # Errors
/// As [`upload`] and [`download`].
///
/// # Safety
/// The [contract](self) of this module: the first allocation is read, the second one written.
pub unsafe fn copy(
    (from_device, from): (&Device, &Allocation),
    (to_device, to): (&Device, &Allocation),
    bytes: u64,
) -> Result<()> {
    from_device.copy_range(to_device, CopyRegion { from, from_offset: 0, to, to_offset: 0, bytes })
}

/// Queues a job behind all work queued so far.
///
/// # Errors
/// A launch that does not fit its memory; a program or memory of another device; memory that was borrowed and
/// would be written; if the driver fails.
///
/// # Safety
/// The [contract](self) of this module: the job's memory is read and written as its kernel says.
pub unsafe fn launch(device: &Device, job: &Job) -> Result<()> {
    device.launch_on(Stream::Compute, job)
}

/// Jobs of one device prepared for cheap repetition ([`record`]).
pub struct RecordedJobs {
    device: Device,
    recording: device::Recording,
}

/// Prepares jobs for repetition, in their order; runs nothing.
///
/// # Errors
/// As [`launch`].
pub fn record(device: &Device, jobs: Vec<Job>) -> Result<RecordedJobs> {
    let groups = jobs.into_iter().map(|job| vec![job]).collect();
    Ok(RecordedJobs { device: device.clone(), recording: device.record_groups(groups)? })
}

/// Queues a recording's jobs, in their order, behind all work queued so far.
///
/// # Errors
/// As [`launch`].
///
/// # Safety
/// As for [`launch`], for every job; and no two threads replay one recording at the same time.
pub unsafe fn replay(recording: &RecordedJobs) -> Result<()> {
    recording.device.replay_on(Stream::Compute, &recording.recording)
}

/// Memory of `bytes` bytes that another process of this machine shares ([`Device::export_memory`]). It counts
/// in no budget; the last clone of the buffer closes it.
///
/// # Errors
/// Other kinds of device than CUDA; a handle the driver refuses: of this same process, or of memory that was
/// freed.
///
/// # Safety
/// The memory has that many bytes. As long as arrays lie in it
/// ([`Array::from_buffers`](crate::Array::from_buffers)), the other process keeps it and does not write it.
pub unsafe fn import_memory(device: &Device, handle: IpcHandle, bytes: u64) -> Result<Buffer> {
    device.import_memory(handle, bytes)
}

/// Queues one command.
///
/// # Errors
/// The device's.
///
/// # Safety
/// The [contract](self) of this module, for all memory the command names.
pub unsafe fn run(command: &Command) -> Result<()> {
    program::run(command)
}

/// Queues every command.
///
/// # Errors
/// The first command that fails; those after it are not queued.
///
/// # Safety
/// The [contract](self) of this module, for all memory the commands name; and commands that depend on each
/// other are in order, as those of [`record`](crate::array::record) and of an [`Exchange`] are.
pub unsafe fn execute(schedule: Schedule) -> Result<()> {
    Recorder::current().execute(schedule)
}

/// Queues all of an exchange back to back.
///
/// # Errors
/// Those of the commands.
///
/// # Safety
/// The [contract](self) of this module, for the memory of all fields.
pub unsafe fn exchange(exchange: Exchange) -> Result<()> {
    Recorder::current().exchange(&exchange)
}
