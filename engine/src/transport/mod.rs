//! Lowering of exchanges: from plans and places to commands that move cells between members.
//!
//! - [`Transport`](crate::program::Transport): how a move gets from memory to memory, chosen in
//!   `selection`;
//! - [`lower`]: exchanges within one rank, as a departure and an arrival, so that independent work can be
//!   queued in between;
//! - [`lower_between_ranks`]: the same for members of several ranks;
//! - `overlap`: an exchange on the streams for communication, with the waits between streams.
//!
//! Plans say what moves; this module says how.

mod between_ranks;
mod cell_loops;
mod conflict_free;
mod copy_batches;
mod exchange;
mod overlap;
mod selection;

pub use between_ranks::lower_between_ranks;
pub use exchange::{Exchange, Field, PartLink, lower};
pub use overlap::OverlapCapability;
pub use selection::{Batching, RankLink, batching, select_between_ranks, select_within_rank};
