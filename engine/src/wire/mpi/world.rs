//! The ranks of an MPI program: processes that `mpirun` started, or those of a communicator that somebody
//! else made. MPI is initialised here unless it already is.

use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

use mpi::ffi;

use super::library::{Comm, check, check_threads, is_finalized, is_initialized, library_version};
use super::{registry, shutdown};
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
        let endpoint = registry::endpoint(Comm(unsafe { ffi::RSMPI_COMM_WORLD }))?;
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
    registry::endpoint(Comm(comm)).map(|endpoint| Ranks::on(&endpoint))
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
    let mut provided: c_int = 0;
    // SAFETY: nobody has initialised MPI; null arguments are allowed.
    check(unsafe {
        ffi::MPI_Init_thread(
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            ffi::RSMPI_THREAD_SERIALIZED,
            &mut provided,
        )
    })?;
    check_threads()?;
    shutdown::at_exit();
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
