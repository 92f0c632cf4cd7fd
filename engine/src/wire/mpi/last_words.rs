//! What a process says when its launcher ends it because another one died: where it was. A signal may come at
//! any moment, so the words lie ready and are written without allocating. Every exchange comes by here, so
//! words that lie there already are not written again.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

const ROOM: usize = 256;

static WORDS: [AtomicU8; ROOM] = [const { AtomicU8::new(0) }; ROOM];
static LENGTH: AtomicUsize = AtomicUsize::new(0);
/// Where among the words the operation begins.
static OPERATION: AtomicUsize = AtomicUsize::new(0);
static STEP: AtomicU64 = AtomicU64::new(0);

/// From now on a request to end is answered with last words, unless somebody else answers it.
pub(super) fn prepare((rank, ranks): (usize, usize)) {
    put(
        0,
        &format!(
            "[partita] rank {rank} of {ranks} is ended by its launcher, because another rank died: it was in "
        ),
    );
    OPERATION.store(LENGTH.load(Ordering::Relaxed), Ordering::Relaxed);
    note("no exchange yet", 0);
    // SAFETY: replaces the default action only; what was there before is put back if it was not that.
    unsafe {
        let before = libc::signal(libc::SIGTERM, say as *const () as libc::sighandler_t);
        if before != libc::SIG_DFL {
            libc::signal(libc::SIGTERM, before);
        }
    }
}

/// Where this process is now.
pub(super) fn note(operation: &str, step: u64) {
    STEP.store(step, Ordering::Relaxed);
    let begin = OPERATION.load(Ordering::Relaxed);
    let there = WORDS[begin..].iter().zip(operation.bytes());
    let known = LENGTH.load(Ordering::Relaxed) == (begin + operation.len()).min(ROOM)
        && there.into_iter().all(|(place, byte)| place.load(Ordering::Relaxed) == byte);
    if !known {
        put(begin, operation);
    }
}

/// Replaces the words from a place on.
fn put(begin: usize, words: &str) {
    // A signal between these stores finds no words rather than mixed ones.
    LENGTH.store(0, Ordering::Release);
    words.bytes().zip(&WORDS[begin..]).for_each(|(byte, place)| place.store(byte, Ordering::Relaxed));
    LENGTH.store((begin + words.len()).min(ROOM), Ordering::Release);
}

extern "C" fn say(_signal: c_int) {
    let mut line = [0; ROOM + 32];
    let mut length = LENGTH.load(Ordering::Acquire);
    line.iter_mut().zip(&WORDS[..length]).for_each(|(byte, place)| *byte = place.load(Ordering::Relaxed));
    // Between two stores there are no words.
    if length == 0 {
        // SAFETY: may be called in a signal's answer.
        unsafe { libc::_exit(143) };
    }
    let mut add = |bytes: &[u8]| {
        line[length..][..bytes.len()].copy_from_slice(bytes);
        length += bytes.len();
    };
    let step = STEP.load(Ordering::Relaxed);
    add(b", step ");
    let digits = step.checked_ilog10().unwrap_or(0);
    (0..=digits).rev().for_each(|k| add(&[b'0' + (step / 10u64.pow(k) % 10) as u8]));
    add(b"\n");
    // SAFETY: `write` and `_exit` may be called in a signal's answer; the words are this function's.
    unsafe {
        libc::write(2, line.as_ptr().cast(), length);
        libc::_exit(143);
    }
}
