//! How a rank shuts down. MPI is finalized only when every rank shuts down: a process that fails must not
//! wait in `MPI_Finalize`, and the others must not wait for it longer than the deadline.

use std::sync::OnceLock;

use mpi::ffi;

use super::library::{is_finalized, is_initialized};
use super::registry;

/// Shuts this rank down: announces it to all ranks and waits until they shut down too. False if one failed
/// first, or did not shut down within the deadline; then MPI must not be finalized. A second call returns the
/// result of the first. Collective.
pub fn leave() -> bool {
    static RESULT: OnceLock<bool> = OnceLock::new();
    *RESULT.get_or_init(|| {
        if !is_initialized() || is_finalized() {
            return true;
        }
        let endpoints = registry::endpoints();
        endpoints.iter().for_each(|endpoint| endpoint.announce_shutdown());
        let all = endpoints.iter().all(|endpoint| endpoint.wait_for_shutdown());
        if !all {
            endpoints.iter().for_each(|endpoint| endpoint.linger());
        }
        all
    })
}

/// Aborts the program on all ranks because this one cannot go on. The others get the reason and a moment to
/// print their errors; then the library ends them. This process exits at once, so save results before.
pub fn abort(reason: &str) -> ! {
    if is_initialized() && !is_finalized() {
        let mut endpoints = registry::endpoints();
        endpoints.retain(|endpoint| endpoint.wire.ranks() > 1);
        for endpoint in &endpoints {
            endpoint.fail(endpoint.wire.rank(), reason.to_owned());
            endpoint.announce_shutdown();
        }
        endpoints.iter().for_each(|endpoint| endpoint.linger());
        // SAFETY: initialised and not finalized; the call does not come back.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
    }
    // SAFETY: ends the process at once, which is meant.
    unsafe { libc::_exit(1) }
}

/// Finalizes MPI, which this library initialised, when the process exits.
pub(super) fn at_exit() {
    // SAFETY: a function that takes nothing and returns.
    unsafe { libc::atexit(end) };
}

/// Finalizes MPI if all ranks shut down. Otherwise the process just exits, and the launcher ends the others.
extern "C" fn end() {
    if !is_finalized() && leave() {
        // SAFETY: initialised by us, not finalized, and every rank has come here.
        unsafe { ffi::MPI_Finalize() };
    }
}
