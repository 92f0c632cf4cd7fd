//! Communicators of mpi4py.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A communicator of mpi4py: the value of its handle, and the version text of its library.
pub struct Communicator {
    handle: usize,
    library: String,
}

impl Communicator {
    /// Its handle, from mpi4py.
    pub fn of(comm: &Bound<'_, PyAny>) -> PyResult<Communicator> {
        let refuse = |given: String| {
            let remedy = "pass one that this process is in, such as MPI.COMM_WORLD";
            PyTypeError::new_err(format!("Team: expected a communicator of mpi4py, given {given}; {remedy}"))
        };
        let loaded = comm.py().import("sys")?.getattr("modules")?.call_method1("get", ("mpi4py.MPI",))?;
        if loaded.is_none() || !comm.is_instance(&loaded.getattr("Intracomm")?)? {
            return Err(refuse(comm.get_type().name()?.to_string()));
        }
        if comm.eq(loaded.getattr("COMM_NULL")?)? {
            return Err(refuse("COMM_NULL".to_owned()));
        }
        let handle = loaded.call_method1("_handleof", (comm,))?.extract()?;
        let library = loaded.call_method0("Get_library_version")?.extract()?;
        Ok(Communicator { handle, library })
    }

    /// Its ranks. Collective among them.
    #[cfg(unix)]
    pub fn ranks(&self) -> partita::Result<partita::wire::Ranks> {
        // SAFETY: mpi4py returned the handle, and `adopt` compares the libraries before it uses the handle.
        unsafe { partita::wire::mpi::adopt(self.handle, &self.library) }
    }

    /// As above: libraries of MPI are found on Unix alone.
    #[cfg(not(unix))]
    pub fn ranks(&self) -> partita::Result<partita::wire::Ranks> {
        let (expected, given) = ("a Unix system for comm=".to_owned(), self.library.clone());
        Err(partita::Error::Invalid { operation: "Team", expected, given, remedy: "leave out comm=" })
    }
}
