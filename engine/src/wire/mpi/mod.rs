//! Ranks as the processes of an MPI program.

mod cuda_support;
mod library;
mod registry;
mod shutdown;
mod termination_notice;
mod wire;
mod world;

pub use library::library_version;
pub use shutdown::{abort, leave};
pub use wire::Mpi;
pub use world::{adopt, on_this_machine, share_of_this_machine, world};
