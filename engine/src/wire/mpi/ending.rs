//! How a rank ends. MPI is ended only when every rank has come to its end: a process that fails must never
//! wait in `MPI_Finalize`, and one that waits for a failed one must not wait for long.

use std::sync::OnceLock;

use mpi::ffi;

use super::known;
use super::{is_finalized, is_initialized};

/// Ends this rank's part in the program: tells all ranks that this one is at its end, and waits until they
/// are too. False if one failed first, or has not come to its end within the deadline; then MPI must not be
/// finalized. A second call gives the answer of the first. Collective.
pub fn leave() -> bool {
    static LEFT: OnceLock<bool> = OnceLock::new();
    *LEFT.get_or_init(|| {
        if !is_initialized() || is_finalized() {
            return true;
        }
        let lines = known::lines();
        lines.iter().for_each(|line| line.leave());
        let all = lines.iter().all(|line| line.all_left());
        if !all {
            lines.iter().for_each(|line| line.stay());
        }
        all
    })
}

/// Ends the program on all ranks because this one cannot go on. The others hear the reason and have a moment
/// to say what they know; whoever does not listen is then ended by the library. Of what this process has
/// still to do nothing is done, so write out what must be kept before.
pub fn abort(reason: &str) -> ! {
    if is_initialized() && !is_finalized() {
        let mut lines = known::lines();
        lines.retain(|line| line.wire.ranks() > 1);
        for line in &lines {
            line.fail(line.wire.rank(), reason.to_owned());
            line.leave();
        }
        lines.iter().for_each(|line| line.stay());
        // SAFETY: initialised and not finalized; the call does not come back.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
    }
    // SAFETY: ends the process at once, which is meant.
    unsafe { libc::_exit(1) }
}

/// Ends MPI, which we have initialised, together with the process.
pub(super) fn at_exit() {
    // SAFETY: a function that takes nothing and returns.
    unsafe { libc::atexit(end) };
}

/// Ends MPI if all ranks end. Otherwise the process just ends, and the launcher ends the others.
extern "C" fn end() {
    if !is_finalized() && leave() {
        // SAFETY: initialised by us, not finalized, and every rank has come here.
        unsafe { ffi::MPI_Finalize() };
    }
}
