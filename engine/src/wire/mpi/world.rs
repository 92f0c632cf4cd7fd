//! The ranks of an MPI program: processes that `mpirun` started, or those of a communicator that somebody
//! else made. MPI is initialised here unless it already is. Where it connects only this process, its launcher
//! is another one, and the ranks are connected otherwise.
//!
//! Each communicator has one endpoint, kept until the process ends. An attribute of the communicator names
//! its endpoint, so a handle that the library reuses is a new communicator. MPI is finalized only when every
//! rank shuts down: a process that fails must not wait in `MPI_Finalize`, and the others must not wait for it
//! longer than the deadline.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};

use super::functions::{Functions, Handle, Interface};
use super::library::{self, Library};
use super::wire::Mpi;
use crate::config::{SettingError, checked, config};
use crate::error::{Error, Result};
use crate::wire::endpoint::Endpoint;
use crate::wire::job;
use crate::wire::ranks::Ranks;

/// Variables that the launchers of MPI libraries set for each process.
const LAUNCHED: &[&str] = &["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALNRANKS"];

/// Runs code for the type of a library's handles.
macro_rules! with_functions {
    ($library:expr, $functions:ident => $run:expr) => {
        match &$library.interface {
            Interface::Addresses($functions) => $run,
            Interface::Numbers($functions) => $run,
        }
    };
}

/// All processes that were started together; `None` for a process that was not started by MPI's launcher, or
/// where there is no library. Collective.
///
/// # Errors
/// If MPI cannot be initialised or has ended; a `PARTITA_MPI` that is no library.
pub fn world() -> Result<Option<Ranks>> {
    static WORLD: OnceLock<Result<Option<Arc<Endpoint>>>> = OnceLock::new();
    static BY_LAUNCHER: OnceLock<bool> = OnceLock::new();
    checked()?;
    let by_launcher = || LAUNCHED.iter().any(|name| std::env::var_os(name).is_some());
    let is_initialized = |library: &Library| with_functions!(library, mpi => mpi.is_initialized());
    let library = match config().mpi.as_deref().unwrap_or("auto") {
        "auto" => library::loaded(),
        "off" => None,
        // A file that is named must be a library, whoever started this process.
        file => Some(library::load().map_err(|reason| SettingError {
            variable: "PARTITA_MPI".to_owned(),
            expected: "auto, off, or the file of an MPI library".to_owned(),
            given: format!("`{file}` ({reason})"),
            remedy: "name the file of the library, or unset it".to_owned(),
        })?),
    };
    if !library.is_some_and(is_initialized) && !*BY_LAUNCHER.get_or_init(by_launcher) {
        return Ok(None);
    }
    let endpoint = WORLD.get_or_init(|| match library::load() {
        Ok(library) => with_functions!(library, mpi => world_of(library, mpi)),
        Err(_) => Ok(None),
    });
    endpoint.clone()?.as_ref().map(Ranks::of_job).transpose()
}

/// The endpoint of all processes of the launcher.
fn world_of<H: Handle>(
    library: &'static Library,
    mpi: &'static Functions<H>,
) -> Result<Option<Arc<Endpoint>>> {
    initialize(mpi)?;
    let world = mpi.constants.comm_world;
    let mut ranks = 0;
    // SAFETY: a constant of the library, which is initialised.
    mpi.check(unsafe { (mpi.comm_size)(world, &mut ranks) })?;
    let Some(name) = other_launcher(ranks as usize, |name| std::env::var(name).ok()) else {
        return endpoint(library, mpi, world).map(Some);
    };
    if cfg!(feature = "mpi") && name != "WORLD_SIZE" {
        let given = format!("{name} above 1, and one rank in {}", library::first_line(&library.version));
        let expected = "the launcher of the library that this program was built with";
        let remedy = "start it with that library's mpirun, or build it with the other's mpicc";
        return Err(Error::invalid("MPI", expected, given, remedy));
    }
    Ok(None)
}

/// The ranks of a communicator that somebody else made, such as mpi4py or rsmpi: `handle` is the value of its
/// `MPI_Comm`, and `version` what `MPI_Get_library_version` says there. It is duplicated, the first time; the
/// caller may free it. Collective among its ranks.
///
/// # Errors
/// If no library is loaded, MPI is not initialised here, has too little thread support, or is another
/// library.
///
/// # Safety
/// `handle` is a communicator of the library of this process.
pub unsafe fn adopt(handle: usize, version: &str) -> Result<Ranks> {
    let refuse = |expected: String, given: String, remedy| {
        Err(Error::invalid("adopting an MPI communicator", expected, given, remedy))
    };
    let version = version.trim_end_matches('\0').trim();
    let Some(library) = library::loaded() else {
        let remedy = "set PARTITA_MPI to the file of the library";
        return refuse(
            "a library of this process".to_owned(),
            format!("{version}, which was not found"),
            remedy,
        );
    };
    if library.version != version {
        return refuse(library.version.clone(), version.to_owned(), "use one MPI library in a process");
    }
    with_functions!(library, mpi => {
        if !mpi.is_initialized() || mpi.is_finalized() {
            let given = if mpi.is_finalized() { "one that has ended" } else { "not yet" };
            let remedy = "initialise MPI before (in Python: import mpi4py.MPI)";
            return refuse("MPI initialised".to_owned(), given.to_owned(), remedy);
        }
        mpi.check_threads()?;
        let (comm, mut is_inter) = (Handle::of(handle), 0);
        // SAFETY: the caller vouches for the handle; a place for the answer.
        mpi.check(unsafe { (mpi.comm_test_inter)(comm, &mut is_inter) })?;
        if is_inter != 0 {
            let given = "one between two groups".to_owned();
            return refuse("a communicator of one group".to_owned(), given, "merge the two groups");
        }
        Ranks::of_job(&endpoint(library, mpi, comm)?)
    })
}

fn initialize<H: Handle>(mpi: &'static Functions<H>) -> Result<()> {
    if mpi.is_finalized() {
        let remedy = "use teams before MPI is finalized";
        return Err(Error::invalid("MPI", "MPI that has not ended", "one that has ended", remedy));
    }
    if mpi.is_initialized() {
        return mpi.check_threads();
    }
    // So that ranks are watched while the program itself is in the library; less will do, too.
    let (level, mut provided) = (mpi.constants.thread_multiple, 0);
    let (count, words) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: not initialised before; without arguments, as the standard allows.
    mpi.check(unsafe { (mpi.init_thread)(count, words, level, &mut provided) })?;
    mpi.check_threads()?;
    at_exit();
    Ok(())
}

/// The variable of a launcher that started several processes, of which MPI knows one only: the launcher is
/// not this library's, and every process would be rank 0 of 1.
fn other_launcher(ranks: usize, lookup: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let several = |name: &&str| lookup(name).and_then(|text| text.parse().ok()).is_some_and(|n: u64| n > 1);
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE"].into_iter().find(several).filter(|_| ranks == 1)
}

/// The endpoint over a communicator. All its ranks call this; the first time it is duplicated.
fn endpoint<H: Handle>(
    library: &'static Library,
    mpi: &'static Functions<H>,
    comm: H,
) -> Result<Arc<Endpoint>> {
    let key = key(mpi)?;
    let (mut value, mut found): (*mut c_void, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: a live communicator, a key of our own, and places for the answers.
    mpi.check(unsafe { (mpi.comm_get_attr)(comm, key, (&raw mut value).cast(), &mut found) })?;
    if let Some(endpoint) = job::endpoints().get(value.addr()).filter(|_| found != 0) {
        return Ok(Arc::clone(endpoint));
    }
    let (endpoint, number) = job::register(Mpi::over(library, mpi, comm)?);
    // SAFETY: a live communicator and a key of our own; the value is a number.
    mpi.check(unsafe { (mpi.comm_set_attr)(comm, key, std::ptr::without_provenance_mut(number)) })?;
    Ok(endpoint)
}

/// The attribute that holds the number of a communicator's endpoint.
fn key<H: Handle>(mpi: &Functions<H>) -> Result<c_int> {
    static KEY: OnceLock<Result<c_int>> = OnceLock::new();
    KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: functions that live as long as the process, and a place for the answer.
        mpi.check(unsafe {
            (mpi.comm_create_keyval)(not_copied::<H>, forgotten::<H>, &mut key, std::ptr::null_mut())
        })?;
        Ok(key)
    })
    .clone()
}

/// A duplicate is another communicator.
unsafe extern "C" fn not_copied<H>(
    _comm: H,
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

unsafe extern "C" fn forgotten<H>(_comm: H, _key: c_int, _value: *mut c_void, _extra: *mut c_void) -> c_int {
    0
}

/// Finalizes MPI, which this library initialised, when the process exits.
fn at_exit() {
    // SAFETY: a function that takes nothing and returns.
    unsafe { libc::atexit(end) };
}

/// Finalizes MPI if all ranks shut down. Otherwise the process just exits, and the launcher ends the others.
extern "C" fn end() {
    let Some(library) = library::loaded() else { return };
    with_functions!(library, mpi => {
        if !job::is_forked() && !mpi.is_finalized() && job::leave() {
            // SAFETY: initialised by us, not finalized, and every rank has come here.
            unsafe { (mpi.finalize)() };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_of_another_library_is_noticed() {
        let lookup = |name: &str| (name == "PMI_SIZE").then(|| "3".to_owned());
        assert_eq!((other_launcher(1, |_| None), other_launcher(3, lookup)), (None, None));
        assert_eq!(other_launcher(1, lookup), Some("PMI_SIZE"));
    }
}
