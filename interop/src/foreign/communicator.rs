//! Communicators of mpi4py.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A communicator of mpi4py: the value of its handle, and the version text of its library.
pub struct Communicator {
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
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
    #[cfg(feature = "mpi")]
    pub fn ranks(&self) -> partita::Result<partita::wire::Ranks> {
        // SAFETY: mpi4py returned the handle, and `adopt` compares the libraries before it uses the handle.
        unsafe { partita::wire::mpi::adopt(self.handle, &self.library) }
    }

    /// As above: this build has no library of MPI that could take it.
    #[cfg(not(feature = "mpi"))]
    pub fn ranks(&self) -> partita::Result<partita::wire::Ranks> {
        let expected = "a build of partita with MPI for comm=".to_owned();
        let given =
            format!("one without, and a communicator of {}", self.library.trim_end_matches('\0').trim());
        let remedy = "build it with `pip install ./interop --config-settings=build-args=\"--features mpi\"`, \
                      or leave out comm=";
        Err(partita::Error::Invalid { operation: "Team", expected, given, remedy })
    }
}
