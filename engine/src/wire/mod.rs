//! Messages between the ranks of a program. A rank is a process, or a thread in tests; all ranks run the same
//! program.
//!
//! [`Wire`] is what a transport library must offer: no call of it waits. [`Ranks`] is what the engine uses:
//! waits with deadlines, agreement on the next collective operation, and failures reported to every rank.
//! This module handles bytes and ranks, and of devices only memory lent to a wire; parts and plans belong to
//! the modules above.

mod communicator;
mod endpoint;
mod fault;
mod interface;
pub mod job;
#[cfg(unix)]
pub mod mpi;
mod ranks;
pub mod sockets;
pub mod threads;
mod world;

pub use crate::config::POINTS;
pub use communicator::CollectiveSignature;
pub(crate) use communicator::{Epoch, hash};
pub(crate) use endpoint::FailureCall;
pub use fault::inject;
pub(crate) use fault::{pass, pass_file};
pub(crate) use interface::{MessageChunk, chunks_of, staged_chunks};
pub use interface::{Outcome, Request, Wire, WireError};
pub(crate) use ranks::RankNote;
pub use ranks::Ranks;
pub use world::{connect, world};
