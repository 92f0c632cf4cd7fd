//! Ranks that are the processes of an MPI program: started by `mpirun`, or joined through a communicator that
//! somebody else made. Initialises MPI if nobody has, and ends it only when every rank has come to its end: a
//! process that fails must never wait in `MPI_Finalize`.

mod aware;
mod guard;
mod last_words;
mod wire;

use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

use mpi::ffi;

use super::Ranks;
use super::line::Line;
use crate::config::config;
use crate::error::{Error, Result};
pub use wire::Mpi;
use wire::{Comm, check};

/// What launchers set for each process they start.
const LAUNCHED: &[&str] = &["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALNRANKS"];

static WORLD: OnceLock<Result<Arc<Line>>> = OnceLock::new();

/// All processes that were started together; `None` for a process that was started alone.
///
/// # Errors
/// If MPI cannot be initialised.
pub fn world() -> Result<Option<Ranks>> {
    let launched = LAUNCHED.iter().any(|name| std::env::var_os(name).is_some());
    if !launched && !is_initialized() {
        return Ok(None);
    }
    let line = WORLD.get_or_init(|| {
        initialize()?;
        // SAFETY: a constant of the library, which is initialised.
        let world = Comm(unsafe { ffi::RSMPI_COMM_WORLD });
        let mpi = Mpi::over(world)?;
        last_words::prepare(mpi.rank_and_count());
        Ok(Arc::new(Line::new(mpi, config().deadline)))
    });
    line.clone().map(|line| Some(Ranks::on(&line)))
}

/// The ranks of a communicator that somebody else made, such as mpi4py: `handle` is the value of its
/// `MPI_Comm`, and `library` what `MPI_Get_library_version` says there. It is duplicated; the caller may free
/// it. All its ranks call this.
///
/// # Errors
/// If MPI is not initialised here or is another library: a process with two of them has neither.
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
    if !is_initialized() {
        return refuse("MPI initialised".to_owned(), "not yet".to_owned(), "import mpi4py.MPI before");
    }
    // SAFETY: the caller vouches for the handle, whose type is as wide as a pointer or an int.
    let comm = unsafe { std::mem::transmute_copy::<usize, ffi::MPI_Comm>(&handle) };
    let mpi = Mpi::over(Comm(comm))?;
    Ok(Ranks::over(mpi))
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
    if is_initialized() {
        return Ok(());
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
    // SAFETY: a constant of the library.
    if provided < unsafe { ffi::RSMPI_THREAD_SERIALIZED } {
        let given = format!("thread support {provided}");
        let expected = "thread support MPI_THREAD_SERIALIZED";
        return Err(Error::invalid("MPI", expected, given, "use an MPI built with thread support"));
    }
    // SAFETY: a function that takes nothing and returns.
    unsafe { libc::atexit(at_exit) };
    Ok(())
}

/// Ends MPI if all ranks end. Otherwise the process just ends, and the launcher ends the others.
extern "C" fn at_exit() {
    if is_finalized() {
        return;
    }
    if let Some(Ok(line)) = WORLD.get() {
        line.leave();
        if !line.all_left() {
            line.stay();
            return;
        }
    }
    // SAFETY: initialised by us, not finalized, and every rank has come here.
    unsafe { ffi::MPI_Finalize() };
}
