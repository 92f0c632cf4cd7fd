//! Ranks as processes connected by TCP, for launchers without MPI: `torchrun`, `srun`, `python -m partita
//! launch`, or a program that passes rank, size and address itself.
//!
//! `launch` reads rank and size from the launcher's environment, `mesh` connects every pair of ranks after
//! each side has proven that it knows the job's secret (`handshake`), `wire` carries messages. Messages make
//! progress in calls of the wire alone; there are no threads.

mod handshake;
mod launch;
mod mesh;
mod private;
mod wire;

pub use launch::{Launch, MOST_RANKS, Rendezvous, launched};
pub use wire::Sockets;
