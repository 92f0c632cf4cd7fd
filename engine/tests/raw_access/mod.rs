//! Memory and launches without arrays, for tests and benchmarks. All unsafe code of the engine's tests is in
//! this folder.
//!
//! Contract, which [`raw`] requires: memory is the test's own, leased by its buffers and arrays, and one
//! thread uses it. A test that writes into the memory of an array reads the array as such.
#![allow(dead_code, missing_docs)]

use partita::device::cuda::IpcHandle;
use partita::device::{Allocation, Buffer, Foreign, Job};
use partita::prelude::*;
use partita::program::{Command, Schedule};
use partita::raw;
use partita::transport::Exchange;

pub fn upload(device: &Device, to: &Allocation, offset: u64, data: &[u8]) -> partita::Result<()> {
    // SAFETY: the contract above.
    unsafe { raw::upload(device, to, offset, data) }
}

pub fn download(device: &Device, from: &Allocation, offset: u64, out: &mut [u8]) -> partita::Result<()> {
    // SAFETY: the contract above.
    unsafe { raw::download(device, from, offset, out) }
}

/// Of memory that lies on no host.
pub fn fetch(device: &Device, from: &Allocation, bytes: usize) -> partita::Result<partita::device::Download> {
    // SAFETY: the contract above.
    unsafe { raw::start_download(device, from, 0, bytes) }
        .map(|fetch| fetch.expect("a device with memory of its own"))
}

pub fn copy(from: (&Device, &Allocation), to: (&Device, &Allocation), bytes: u64) -> partita::Result<()> {
    // SAFETY: the contract above.
    unsafe { raw::copy(from, to, bytes) }
}

pub fn launch(device: &Device, job: &Job) -> partita::Result<()> {
    // SAFETY: the contract above.
    unsafe { raw::launch(device, job) }
}

pub fn replay(recording: &raw::RecordedJobs) -> partita::Result<()> {
    // SAFETY: the contract above.
    unsafe { raw::replay(recording) }
}

pub fn run(command: &Command) -> partita::Result<()> {
    // SAFETY: the contract above.
    unsafe { raw::run(command) }
}

pub fn execute(schedule: Schedule) -> partita::Result<()> {
    // SAFETY: the contract above.
    unsafe { raw::execute(schedule) }
}

pub fn exchange(exchange: Exchange) -> partita::Result<()> {
    // SAFETY: the contract above.
    unsafe { raw::exchange(exchange) }
}

/// Memory of another process, in which no array lies.
pub fn import_memory(device: &Device, handle: IpcHandle, bytes: u64) -> partita::Result<Buffer> {
    // SAFETY: the other process shares that many bytes until the test has dropped them.
    unsafe { raw::import_memory(device, handle, bytes) }
}

/// Static elements as borrowed memory.
pub fn borrow_static<T>(device: &Device, elements: &'static [T]) -> partita::Result<Buffer> {
    let (address, bytes) = (elements.as_ptr() as u64, size_of_val(elements) as u64);
    // SAFETY: static elements live as long as the process, and nobody writes them.
    unsafe { device.borrow(Foreign { address, bytes, owner: Box::new(()) }) }
}
