//! What a process says when its launcher ends it because another one died: where it was. A signal may come at
//! any moment, so the words lie ready and are written without allocating.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

const ROOM: usize = 256;

static WORDS: [AtomicU8; ROOM] = [const { AtomicU8::new(0) }; ROOM];
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static RANK: AtomicUsize = AtomicUsize::new(0);
static RANKS: AtomicUsize = AtomicUsize::new(0);

/// From now on a request to end is answered with last words, unless somebody else answers it.
pub(super) fn prepare((rank, ranks): (usize, usize)) {
    RANK.store(rank, Ordering::Relaxed);
    RANKS.store(ranks, Ordering::Relaxed);
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
    let (rank, ranks) = (RANK.load(Ordering::Relaxed), RANKS.load(Ordering::Relaxed));
    let words = format!(
        "[partita] rank {rank} of {ranks} is ended by its launcher, because another rank died: it was in \
         {operation}, step {step}"
    );
    let length = words.len().min(ROOM - 1);
    // A signal between these stores finds no words rather than mixed ones.
    LENGTH.store(0, Ordering::Release);
    words.bytes().take(length).zip(&WORDS).for_each(|(byte, place)| place.store(byte, Ordering::Relaxed));
    WORDS[length].store(b'\n', Ordering::Relaxed);
    LENGTH.store(length + 1, Ordering::Release);
}

extern "C" fn say(_signal: c_int) {
    let length = LENGTH.load(Ordering::Acquire);
    // SAFETY: `write` and `_exit` may be called in a signal's answer; the words are static.
    unsafe {
        libc::write(2, WORDS.as_ptr().cast(), length);
        libc::_exit(143);
    }
}
