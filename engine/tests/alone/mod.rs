//! Memory and launches without arrays, for tests, through `raw` and its safety contract.
#![allow(dead_code, missing_docs)]

// SAFETY: (of every block here) the memory is a test's own, leased by its buffers and arrays, and one thread
// uses it; what a test writes into an array's memory, it reads as such.

use partita::device::{Allocation, Job};
use partita::prelude::*;
use partita::program::{Command, Schedule};
use partita::raw;
use partita::transport::Exchange;

pub fn upload(device: &Device, to: &Allocation, offset: u64, data: &[u8]) -> partita::Result<()> {
    // SAFETY: as above.
    unsafe { raw::upload(device, to, offset, data) }
}

pub fn download(device: &Device, from: &Allocation, offset: u64, out: &mut [u8]) -> partita::Result<()> {
    // SAFETY: as above.
    unsafe { raw::download(device, from, offset, out) }
}

/// Of memory that lies on no host.
pub fn fetch(device: &Device, from: &Allocation, bytes: usize) -> partita::Result<partita::device::Download> {
    // SAFETY: as above.
    unsafe { raw::start_download(device, from, 0, bytes) }
        .map(|fetch| fetch.expect("a device with memory of its own"))
}

pub fn copy(from: (&Device, &Allocation), to: (&Device, &Allocation), bytes: u64) -> partita::Result<()> {
    // SAFETY: as above.
    unsafe { raw::copy(from, to, bytes) }
}

pub fn launch(device: &Device, job: &Job) -> partita::Result<()> {
    // SAFETY: as above.
    unsafe { raw::launch(device, job) }
}

pub fn replay(recording: &raw::RecordedJobs) -> partita::Result<()> {
    // SAFETY: as above.
    unsafe { raw::replay(recording) }
}

pub fn run(command: &Command) -> partita::Result<()> {
    // SAFETY: as above.
    unsafe { raw::run(command) }
}

pub fn execute(schedule: Schedule) -> partita::Result<()> {
    // SAFETY: as above.
    unsafe { raw::execute(schedule) }
}

pub fn exchange(exchange: Exchange) -> partita::Result<()> {
    // SAFETY: as above.
    unsafe { raw::exchange(exchange) }
}
