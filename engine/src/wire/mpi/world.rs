//! The ranks of an MPI program: processes that `mpirun` started, or those of a communicator that somebody
//! else made. MPI is initialised here unless it already is.
//!
//! Each communicator has one endpoint, kept until the process ends. An attribute of the communicator names
//! its endpoint, so a handle that the library reuses is a new communicator. MPI is finalized only when every
//! rank shuts down: a process that fails must not wait in `MPI_Finalize`, and the others must not wait for it
//! longer than the deadline.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mpi::environment::{self, is_finalized, is_initialized};
use mpi::{Threading, ffi};

use super::library::{Comm, check, check_threads, library_version};
use super::termination_notice;
use super::wire::Mpi;
use crate::config::config;
use crate::error::{Error, Result};
use crate::wire::endpoint::Endpoint;
use crate::wire::ranks::Ranks;

/// Variables that launchers set for each process.
const LAUNCHED: &[&str] = &["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALNRANKS"];

static WORLD: OnceLock<Result<Arc<Endpoint>>> = OnceLock::new();

/// All processes that were started together; `None` for a process that was started alone. Collective.
///
/// # Errors
/// If MPI cannot be initialised, has ended, or is another than the launcher's.
pub fn world() -> Result<Option<Ranks>> {
    let launched = LAUNCHED.iter().any(|name| std::env::var_os(name).is_some());
    if !launched && !is_initialized() {
        return Ok(None);
    }
    let endpoint = WORLD.get_or_init(|| {
        initialize()?;
        // SAFETY: a constant of the library, which is initialised.
        let endpoint = endpoint(Comm(unsafe { ffi::RSMPI_COMM_WORLD }))?;
        check_launcher(endpoint.wire.ranks(), |name| std::env::var(name).ok())?;
        Ok(endpoint)
    });
    endpoint.clone().map(|endpoint| Some(Ranks::on(&endpoint)))
}

/// The ranks of a communicator that somebody else made, such as mpi4py: `handle` is the value of its
/// `MPI_Comm`, and `library` what `MPI_Get_library_version` says there. It is duplicated, the first time; the
/// caller may free it. Collective among its ranks.
///
/// # Errors
/// If MPI is not initialised here, has too little thread support, or is another library.
///
/// # Safety
/// `handle` is a communicator of the library of this process.
pub unsafe fn adopt(handle: usize, library: &str) -> Result<Ranks> {
    let ours = library_version();
    let refuse = |expected: String, given: String, remedy| {
        Err(Error::invalid("adopting an MPI communicator", expected, given, remedy))
    };
    if library.trim_end_matches('\0').trim() != ours.trim() {
        return refuse(ours, library.to_owned(), "build both with the same MPI library");
    }
    if !is_initialized() || is_finalized() {
        let given = if is_finalized() { "one that has ended" } else { "not yet" };
        return refuse("MPI initialised".to_owned(), given.to_owned(), "import mpi4py.MPI before");
    }
    check_threads()?;
    // SAFETY: the caller vouches for the handle, whose type is as wide as a pointer or an int.
    let comm = unsafe { std::mem::transmute_copy::<usize, ffi::MPI_Comm>(&handle) };
    endpoint(Comm(comm)).map(|endpoint| Ranks::on(&endpoint))
}

/// The rank of this process on its machine and their number, as the launcher says; 0 of 1 if it does not.
pub fn on_this_machine() -> (usize, usize) {
    let number =
        |names: [&str; 3]| names.iter().find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok());
    let rank = number(["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"]).unwrap_or(0);
    let count = number(["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"]);
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

fn initialize() -> Result<()> {
    if is_finalized() {
        let remedy = "use teams before MPI is finalized";
        return Err(Error::invalid("MPI", "MPI that has not ended", "one that has ended", remedy));
    }
    if is_initialized() {
        return check_threads();
    }
    let universe = environment::initialize_with_threading(Threading::Serialized);
    // MPI is finalized at the exit of the process, not when this value is dropped.
    std::mem::forget(universe);
    check_threads()?;
    at_exit();
    Ok(())
}

/// Refuses a library that is not the launcher's: there every process would be rank 0 of 1.
fn check_launcher(ranks: usize, lookup: impl Fn(&str) -> Option<String>) -> Result<()> {
    let several = |name: &&&str| lookup(name).and_then(|text| text.parse().ok()).is_some_and(|n: u64| n > 1);
    match ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().find(several) {
        Some(name) if ranks == 1 => Err(Error::invalid(
            "MPI",
            "the launcher of the library that this program was built with",
            format!("{name} above 1, and one rank in {}", library_version().trim()),
            "start it with that library's mpirun, or build it with the other's mpicc",
        )),
        _ => Ok(()),
    }
}

static ENDPOINTS: Mutex<Vec<Arc<Endpoint>>> = Mutex::new(Vec::new());

/// All endpoints, oldest first.
fn endpoints() -> Vec<Arc<Endpoint>> {
    ENDPOINTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The endpoint over a communicator. All its ranks call this; the first time it is duplicated.
fn endpoint(comm: Comm) -> Result<Arc<Endpoint>> {
    let key = key()?;
    let (mut value, mut found): (*mut c_void, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: a live communicator, a key of our own, and places for the answers.
    check(unsafe { ffi::MPI_Comm_get_attr(comm.0, key, (&raw mut value).cast(), &mut found) })?;
    if let Some(endpoint) = endpoints().get(value.addr()).filter(|_| found != 0) {
        return Ok(Arc::clone(endpoint));
    }
    let mpi = Mpi::over(comm)?;
    let mut endpoints = ENDPOINTS.lock().unwrap_or_else(PoisonError::into_inner);
    if endpoints.is_empty() {
        termination_notice::install(mpi.rank_and_count());
    }
    let endpoint = Arc::new(Endpoint::new(mpi, config().deadline));
    endpoints.push(Arc::clone(&endpoint));
    // SAFETY: a live communicator and a key of our own; the value is a number.
    check(unsafe {
        ffi::MPI_Comm_set_attr(comm.0, key, std::ptr::without_provenance_mut(endpoints.len() - 1))
    })?;
    Ok(endpoint)
}

/// The attribute that holds the number of a communicator's endpoint.
fn key() -> Result<c_int> {
    static KEY: OnceLock<Result<c_int>> = OnceLock::new();
    KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: functions that live as long as the process, and a place for the answer.
        check(unsafe {
            ffi::MPI_Comm_create_keyval(Some(not_copied), Some(forgotten), &mut key, std::ptr::null_mut())
        })?;
        Ok(key)
    })
    .clone()
}

/// A duplicate is another communicator.
unsafe extern "C" fn not_copied(
    _comm: ffi::MPI_Comm,
    _key: c_int,
    _extra: *mut c_void,
    _value: *mut c_void,
    _copy: *mut c_void,
    copies: *mut c_int,
) -> c_int {
    // SAFETY: the library passes a place for the answer.
    unsafe { copies.write(0) };
    0
}

unsafe extern "C" fn forgotten(
    _comm: ffi::MPI_Comm,
    _key: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    0
}

/// Shuts this rank down: announces it to all ranks and waits until they shut down too. False if one failed
/// first, or did not shut down within the deadline; then MPI must not be finalized. A second call returns the
/// result of the first. Collective.
pub fn leave() -> bool {
    static RESULT: OnceLock<bool> = OnceLock::new();
    *RESULT.get_or_init(|| {
        if !is_initialized() || is_finalized() {
            return true;
        }
        let endpoints = endpoints();
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
        let mut endpoints = endpoints();
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
fn at_exit() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_of_another_library_is_refused() {
        let lookup = |name: &str| (name == "PMI_SIZE").then(|| "3".to_owned());
        assert!(check_launcher(1, |_| None).is_ok() && check_launcher(3, lookup).is_ok());
        let refused = check_launcher(1, lookup);
        assert!(refused.is_err_and(|error| error.to_string().contains("PMI_SIZE above 1")));
    }
}
