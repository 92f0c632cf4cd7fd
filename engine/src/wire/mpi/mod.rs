//! Ranks as the processes of an MPI program. The library is found at run time; the feature `mpi` links one.
//!
//! Contract of the unsafe code in this folder:
//! - The library is called only between its initialisation and its end, by one thread at a time
//!   (`OpenTransfers` is locked), as `MPI_THREAD_SERIALIZED` requires. Where the user's threads may be in it
//!   at the same time, the watch over steps with messages in them asks for `MPI_THREAD_MULTIPLE`.
//! - Memory that the library reads or writes belongs to a `Transfer` until `MPI_Test` says that the transfer
//!   is complete: a vector of its own, or [`LentMemory`](crate::device::LentMemory), which its lender leaves
//!   alone meanwhile. A transfer that is dropped early leaks its memory.
//! - A function is called with the types and constants of its library's binary interface (`functions`), which
//!   the library's file name and symbols tell.
//! - Communicators are duplicates that are never freed. A handle of the user's is valid by the promise of
//!   [`adopt`], or because rsmpi's value of it is borrowed. After the library's end no message is sent.

#[cfg(feature = "mpi")]
mod communicator;
mod functions;
mod library;
mod symbols;
mod wire;
mod world;

/// rsmpi, of whose communicators the feature `mpi` makes teams.
#[cfg(feature = "mpi")]
pub use ::mpi as rsmpi;
#[cfg(feature = "mpi")]
pub use communicator::ranks_of;
pub use library::{library_version, load as load_library};
pub use world::adopt;
pub(super) use world::world;
