//! The notice that a rank prints when it is terminated (SIGTERM), by its launcher because another rank died
//! or by the user: the operation it was in. A process forked from it says nothing. The notice is kept ready
//! in atomics, because a signal handler must not allocate; it is rewritten only when the operation changes.

#[cfg(unix)]
use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

const ROOM: usize = 256;

static NOTICE: [AtomicU8; ROOM] = [const { AtomicU8::new(0) }; ROOM];
static LENGTH: AtomicUsize = AtomicUsize::new(0);
/// The offset of the operation in the notice.
static OPERATION: AtomicUsize = AtomicUsize::new(0);
static STEP: AtomicU64 = AtomicU64::new(0);
/// The rank's process.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Installs the handler of SIGTERM, unless the program has its own.
pub fn install((rank, ranks): (usize, usize)) {
    put(0, &format!("[partita] rank {rank} of {ranks} is terminated (SIGTERM): it was in "));
    OPERATION.store(LENGTH.load(Ordering::Relaxed), Ordering::Relaxed);
    record_progress("no exchange yet", 0);
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    #[cfg(unix)]
    // SAFETY: replaces the default action only; what was there before is put back if it was not that.
    unsafe {
        let before = libc::signal(libc::SIGTERM, on_terminate as *const () as libc::sighandler_t);
        if before != libc::SIG_DFL {
            libc::signal(libc::SIGTERM, before);
        }
    }
}

/// Records the operation that begins.
pub fn record_progress(operation: &str, step: u64) {
    STEP.store(step, Ordering::Relaxed);
    let begin = OPERATION.load(Ordering::Relaxed);
    let there = NOTICE[begin..].iter().zip(operation.bytes());
    let known = LENGTH.load(Ordering::Relaxed) == (begin + operation.len()).min(ROOM)
        && there.into_iter().all(|(place, byte)| place.load(Ordering::Relaxed) == byte);
    if !known {
        put(begin, operation);
    }
}

/// Replaces the notice from an index on.
fn put(begin: usize, notice: &str) {
    // A signal between these stores finds an empty notice rather than a mixed one.
    LENGTH.store(0, Ordering::Release);
    notice.bytes().zip(&NOTICE[begin..]).for_each(|(byte, place)| place.store(byte, Ordering::Relaxed));
    LENGTH.store((begin + notice.len()).min(ROOM), Ordering::Release);
}

#[cfg(unix)]
extern "C" fn on_terminate(signal: c_int) {
    let mut line = [0; ROOM + 32];
    let mut length = LENGTH.load(Ordering::Acquire);
    line.iter_mut().zip(&NOTICE[..length]).for_each(|(byte, place)| *byte = place.load(Ordering::Relaxed));
    let is_rank = length > 0 && PROCESS.load(Ordering::Relaxed) == std::process::id();
    let mut add = |bytes: &[u8]| {
        line[length..][..bytes.len()].copy_from_slice(bytes);
        length += bytes.len();
    };
    let step = STEP.load(Ordering::Relaxed);
    add(b", step ");
    let digits = step.checked_ilog10().unwrap_or(0);
    (0..=digits).rev().for_each(|k| add(&[b'0' + (step / 10u64.pow(k) % 10) as u8]));
    add(b"\n");
    // SAFETY: these calls are allowed in a signal handler; the bytes are this function's. The signal arrives
    // again when the handler returns, and ends the process as it would have without one.
    unsafe {
        if is_rank {
            libc::write(2, line.as_ptr().cast(), length);
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
