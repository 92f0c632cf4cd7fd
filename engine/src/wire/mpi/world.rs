//! The ranks of an MPI program: processes that `mpirun` started, or those of a communicator that somebody
//! else made. MPI is initialised here unless it already is.
//!
//! Each communicator has one endpoint, kept until the process ends. An attribute of the communicator names
//! its endpoint, so a handle that the library reuses is a new communicator. MPI is finalized only when every
//! rank shuts down: a process that fails must not wait in `MPI_Finalize`, and the others must not wait for it
//! longer than the deadline.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};

use mpi::environment::{self, is_finalized, is_initialized};
use mpi::{Threading, ffi};

use super::library::{Comm, check, check_threads, library_version};
use super::wire::Mpi;
use crate::error::{Error, Result};
use crate::wire::endpoint::Endpoint;
use crate::wire::job;
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

/// The endpoint over a communicator. All its ranks call this; the first time it is duplicated.
fn endpoint(comm: Comm) -> Result<Arc<Endpoint>> {
    let key = key()?;
    let (mut value, mut found): (*mut c_void, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: a live communicator, a key of our own, and places for the answers.
    check(unsafe { ffi::MPI_Comm_get_attr(comm.0, key, (&raw mut value).cast(), &mut found) })?;
    if let Some(endpoint) = job::endpoints().get(value.addr()).filter(|_| found != 0) {
        return Ok(Arc::clone(endpoint));
    }
    let mpi = Mpi::over(comm)?;
    let (endpoint, number) = job::register(mpi);
    // SAFETY: a live communicator and a key of our own; the value is a number.
    check(unsafe { ffi::MPI_Comm_set_attr(comm.0, key, std::ptr::without_provenance_mut(number)) })?;
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

/// Finalizes MPI, which this library initialised, when the process exits.
fn at_exit() {
    // SAFETY: a function that takes nothing and returns.
    unsafe { libc::atexit(end) };
}

/// Finalizes MPI if all ranks shut down. Otherwise the process just exits, and the launcher ends the others.
extern "C" fn end() {
    if !is_finalized() && job::leave() {
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
