//! Communicators of rsmpi, the crate `mpi`, which the feature `mpi` builds with its library.

use mpi::environment::library_version;
use mpi::traits::Communicator;

use super::world::adopt;
use crate::error::{Error, Result};
use crate::wire::ranks::Ranks;

/// The ranks of one of rsmpi's communicators, for [`Team::over`](crate::Team::over). It is duplicated the
/// first time, and stays the caller's. Collective among its ranks.
///
/// # Errors
/// As [`Team::from_communicator`](crate::Team::from_communicator).
pub fn ranks_of(communicator: &(impl Communicator + ?Sized)) -> Result<Ranks> {
    let version = library_version().map_err(|error| Error::of_driver("MPI", error))?;
    // An address or a number, as the library has it.
    let handle = communicator.as_raw().0 as usize;
    // SAFETY: the reference keeps the communicator alive, and `adopt` uses it only if its library is the
    // loaded one, which is neither finalized nor yet to be initialised.
    unsafe { adopt(handle, &version) }
}
