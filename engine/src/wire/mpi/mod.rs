//! Ranks that are the processes of an MPI program: started by `mpirun`, or joined through a communicator that
//! somebody else made. Initialises MPI if nobody has; how it ends is `ending`'s.

mod aware;
mod ending;
mod known;
mod last_words;
mod wire;

use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

use mpi::ffi;

use super::Ranks;
use super::line::Line;
use crate::error::{Error, Result};
pub use ending::{abort, leave};
pub use wire::Mpi;
use wire::{Comm, check};

/// What launchers set for each process they start.
const LAUNCHED: &[&str] = &["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALNRANKS"];

static WORLD: OnceLock<Result<Arc<Line>>> = OnceLock::new();

/// All processes that were started together; `None` for a process that was started alone. All of them call
/// it.
///
/// # Errors
/// If MPI cannot be initialised, has ended, or is another than the launcher's.
pub fn world() -> Result<Option<Ranks>> {
    let launched = LAUNCHED.iter().any(|name| std::env::var_os(name).is_some());
    if !launched && !is_initialized() {
        return Ok(None);
    }
    let line = WORLD.get_or_init(|| {
        initialize()?;
        // SAFETY: a constant of the library, which is initialised.
        let line = known::line(Comm(unsafe { ffi::RSMPI_COMM_WORLD }))?;
        check_launcher(line.wire.ranks(), |name| std::env::var(name).ok())?;
        Ok(line)
    });
    line.clone().map(|line| Some(Ranks::on(&line)))
}

/// The ranks of a communicator that somebody else made, such as mpi4py: `handle` is the value of its
/// `MPI_Comm`, and `library` what `MPI_Get_library_version` says there. It is duplicated, the first time; the
/// caller may free it. All its ranks call this.
///
/// # Errors
/// If MPI is not initialised here, has too little thread support, or is another library: a process with two
/// of them has neither.
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
    known::line(Comm(comm)).map(|line| Ranks::on(&line))
}

/// What the library says of itself.
pub fn library_version() -> String {
    // SAFETY: a constant of the library; the call is allowed at any time.
    let most = unsafe { ffi::RSMPI_MAX_LIBRARY_VERSION_STRING } as usize;
    let (mut text, mut length) = (vec![0u8; most + 1], 0);
    // SAFETY: the text is as long as the library asks for.
    let code = unsafe { ffi::MPI_Get_library_version(text.as_mut_ptr().cast(), &mut length) };
    text.truncate(if code == 0 { length.max(0) as usize } else { 0 });
    String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned()
}

/// This process among those of its machine, and how many they are, as the launcher says; alone if it does
/// not.
pub fn on_this_machine() -> (usize, usize) {
    let number =
        |names: [&str; 3]| names.iter().find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok());
    let rank = number(["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"]).unwrap_or(0);
    let count = number(["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"]);
    (rank, count.unwrap_or(1).max(rank + 1))
}

/// Of what a machine has, this process's share: its processes divide it among them in contiguous runs, or
/// share single pieces where there are fewer than processes.
pub fn share_of_this_machine<T>(of: &[T]) -> &[T] {
    let (rank, count) = on_this_machine();
    let first = rank * of.len() / count;
    let stop = ((rank + 1) * of.len() / count).max(first + 1).min(of.len());
    &of[first..stop]
}

fn is_initialized() -> bool {
    let mut flag: c_int = 0;
    // SAFETY: allowed at any time.
    let code = unsafe { ffi::MPI_Initialized(&mut flag) };
    code == 0 && flag != 0
}

fn is_finalized() -> bool {
    let mut flag: c_int = 0;
    // SAFETY: allowed at any time.
    let code = unsafe { ffi::MPI_Finalized(&mut flag) };
    code != 0 || flag != 0
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
    ending::at_exit();
    Ok(())
}

/// Threads may call us one after the other.
fn check_threads() -> Result<()> {
    let mut provided: c_int = 0;
    // SAFETY: MPI is initialised, and the place for the answer is ours.
    check(unsafe { ffi::MPI_Query_thread(&mut provided) })?;
    // SAFETY: a constant of the library.
    if provided >= unsafe { ffi::RSMPI_THREAD_SERIALIZED } {
        return Ok(());
    }
    let given = format!("thread support {provided}");
    let remedy =
        "initialise MPI with it (in Python mpi4py.rc.thread_level = 'serialized'), or let Partita do it";
    Err(Error::invalid("MPI", "thread support MPI_THREAD_SERIALIZED", given, remedy))
}

/// Refuses a library whose launcher was another's: there every process believes that it is alone.
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
