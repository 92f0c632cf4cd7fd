//! Lowering of exchanges: from plans and places to commands that move cells between members.
//!
//! - [`lower`]: exchanges within one rank, as a departure and an arrival, so that independent work can be
//!   queued in between; how a move gets from memory to memory is a
//!   [`Transport`](crate::program::Transport), see [`select_within_rank`];
//! - [`lower_between_ranks`]: the same for members of several ranks, see [`select_between_ranks`];
//! - [`Exchange::overlapped`]: an exchange on the streams for communication, with the waits between streams.
//! - [`LinkReport`]: what the transports between all devices of a program take.
//!
//! Plans say what moves; this module says how.

mod batches;
mod between_ranks;
mod exchange;
mod links;

pub use batches::{Batching, batching};
pub use between_ranks::{RankLink, lower_between_ranks, select_between_ranks};
pub use exchange::{Exchange, Field, OverlapCapability, PartLink, lower, select_within_rank};
pub(crate) use links::way_between;
pub use links::{LinkDevice, LinkFigures, LinkReport, MeasuredLink};
