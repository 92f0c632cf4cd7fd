//! A simulated NCCL: the point-to-point part of its C interface over the simulated CUDA driver, so that code
//! written for NCCL runs, and fails, without a GPU. Processes find each other by Unix sockets named after the
//! unique id. There are no collective operations: nothing here uses them.
//!
//! **Order.** A group is one operation of its stream, queued by `simcudaForeign`, and captured as such. It
//! begins when the stream comes to it and ends when all its messages have been taken by their receivers
//! (rendezvous, the strictest that NCCL does): messages that are not grouped where they must be hang. The
//! n-th send of a rank to another is received by the n-th receive there.
//!
//! **Faults** go to stderr and to `PARTITA_SIM_LOG`, and stay: a message of another length or type than is
//! expected; two groups of a communicator that no stream orders. The group then waits until it is aborted.
//! A rank that ended without finalising is an asynchronous error (`ncclRemoteError`) with odd seeds, and
//! nothing at all with even ones, as between GPUs of one machine.
//!
//! **Time.** Seeded delays (`PARTITA_SIM_SEED`): of each message, of communicators that do not block until
//! they are ready, and of the first group with a peer, which such communicators begin later
//! (`ncclInProgress`). An abort lets what waits go on with nonsense in its memory.
//!
//! Contract of the unsafe code: callers pass pointers as NCCL's documentation says. Communicators and groups
//! are never freed, so their addresses stay valid.

mod api;
mod communicator;
mod driver;
mod group;
mod mesh;

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// `ncclResult_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Code(pub u32);

impl Code {
    pub(crate) const SUCCESS: Code = Code(0);
    pub(crate) const UNHANDLED_CUDA_ERROR: Code = Code(1);
    pub(crate) const SYSTEM_ERROR: Code = Code(2);
    pub(crate) const INTERNAL_ERROR: Code = Code(3);
    pub(crate) const INVALID_ARGUMENT: Code = Code(4);
    pub(crate) const INVALID_USAGE: Code = Code(5);
    pub(crate) const REMOTE_ERROR: Code = Code(6);
    pub(crate) const IN_PROGRESS: Code = Code(7);
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn seed() -> u64 {
    std::env::var("PARTITA_SIM_SEED").ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// A line for people.
pub(crate) fn say(text: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "simnccl: {text}");
}

/// A mistake of the program, as the simulated driver tells them.
pub(crate) fn fault(text: &str) {
    say(&format!("fault: {text}"));
    let Some(path) = std::env::var_os("PARTITA_SIM_LOG") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    if let Ok(mut file) = file {
        let _ = writeln!(file, "fault of NCCL's use: {text}");
    }
}

/// Sleeps for a seeded time below `most` microseconds.
pub(crate) fn delay(most: u64) {
    static STATE: AtomicU64 = AtomicU64::new(0);
    let count = STATE.fetch_add(1, Ordering::Relaxed);
    let mut mixed =
        (seed() << 32 ^ u64::from(std::process::id()) << 20 ^ count).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 31;
    mixed = mixed.wrapping_mul(0x94d0_49bb_1331_11eb);
    // Most messages are fast, some are not.
    let most = if mixed.is_multiple_of(4) { most } else { most / 16 };
    std::thread::sleep(Duration::from_micros((mixed >> 33) % (most + 1)));
}
