//! The endpoints of this process, its share of the machine's devices, and how it ends.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::termination_notice;
use crate::config::config;
use crate::device::process_id;
use crate::wire::endpoint::Endpoint;
use crate::wire::interface::Wire;
use crate::wire::sockets::MOST_RANKS;

static ENDPOINTS: Mutex<Vec<Arc<Endpoint>>> = Mutex::new(Vec::new());

/// The process of the endpoints; 0 before the first.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// All endpoints, oldest first.
pub fn endpoints() -> Vec<Arc<Endpoint>> {
    ENDPOINTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// An endpoint over a wire, kept until the process ends, and its number.
pub fn register(wire: impl Wire + 'static) -> (Arc<Endpoint>, usize) {
    let mut endpoints = ENDPOINTS.lock().unwrap_or_else(PoisonError::into_inner);
    if endpoints.is_empty() {
        PROCESS.store(process_id(), Ordering::Relaxed);
        termination_notice::install((wire.rank(), wire.ranks()));
    }
    let endpoint = Arc::new(Endpoint::new(wire, config().deadline));
    endpoints.push(Arc::clone(&endpoint));
    (endpoint, endpoints.len() - 1)
}

/// Whether this process was forked from one that is a rank: it ends without a word to the others.
pub fn is_forked() -> bool {
    let process = PROCESS.load(Ordering::Relaxed);
    process != 0 && process != process_id()
}

/// The rank of this process on its machine and their number, as the launcher says; 0 of 1 if it does not.
pub fn on_this_machine() -> (usize, usize) {
    let number = |names: [&str; 4]| {
        let given = names.iter().find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok());
        given.filter(|number| *number <= MOST_RANKS)
    };
    let rank =
        number(["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "LOCAL_RANK", "SLURM_LOCALID"]).unwrap_or(0);
    let count = number([
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "MPI_LOCALNRANKS",
        "LOCAL_WORLD_SIZE",
        "SLURM_NTASKS_PER_NODE",
    ]);
    (rank, count.unwrap_or(1).max(rank + 1))
}

/// This process's part of a machine's devices: its processes divide them in contiguous runs, or share single
/// ones where there are fewer devices than processes.
pub fn share_of_this_machine<T>(of: &[T]) -> &[T] {
    let (rank, count) = on_this_machine();
    let first = rank * of.len() / count;
    let stop = ((rank + 1) * of.len() / count).max(first + 1).min(of.len());
    &of[first..stop]
}

/// Whether a process of this machine is stopped, as far as the system says.
pub(crate) fn is_stopped(process: u64) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    // The state follows the name, which is in parentheses and may have some itself.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

/// Shuts this rank down: announces it to all ranks and waits until they shut down too. False if one failed
/// first, or did not shut down within the deadline; then MPI must not be finalized. A second call returns the
/// result of the first. Collective; a forked process has nobody to wait for.
pub fn leave() -> bool {
    static RESULT: OnceLock<bool> = OnceLock::new();
    if is_forked() {
        return true;
    }
    *RESULT.get_or_init(|| {
        let mut endpoints = endpoints();
        endpoints.retain(|endpoint| !endpoint.wire.is_over());
        endpoints.iter().for_each(|endpoint| endpoint.announce_shutdown());
        let all = endpoints.iter().all(|endpoint| endpoint.wait_for_shutdown());
        if !all {
            endpoints.iter().for_each(|endpoint| endpoint.linger());
        }
        all
    })
}

/// Aborts the program on all ranks because this one cannot go on. The others get the reason and a moment to
/// print their errors; then MPI or their launcher ends them. This process exits at once, so save results
/// before. A forked process ends alone.
pub fn abort(reason: &str) -> ! {
    let mut endpoints = if is_forked() { Vec::new() } else { endpoints() };
    endpoints.retain(|endpoint| !endpoint.wire.is_over() && endpoint.wire.ranks() > 1);
    for endpoint in &endpoints {
        endpoint.fail(endpoint.wire.rank(), reason.to_owned());
        endpoint.announce_shutdown();
    }
    endpoints.iter().for_each(|endpoint| endpoint.linger());
    endpoints.iter().for_each(|endpoint| endpoint.wire.end_all());
    #[cfg(unix)]
    // SAFETY: ends the process at once, which is meant.
    unsafe {
        libc::_exit(1)
    }
    #[cfg(not(unix))]
    std::process::abort()
}

/// From now on the exit of this process waits for the other ranks, so that none sees a broken connection
/// instead of an end.
pub fn leave_at_exit() {
    #[cfg(unix)]
    // SAFETY: a function that takes nothing and returns.
    unsafe {
        libc::atexit(at_exit)
    };
}

#[cfg(unix)]
extern "C" fn at_exit() {
    leave();
}
