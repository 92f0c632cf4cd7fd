//! Kernels on devices: compilation, launches, recordings, tiles on the host, and the comparison of launches
//! with the definition.

mod check;
mod graph;
mod queue;
mod sweep;

pub use check::compared_launches;
pub(crate) use graph::{GuardWord, StreamGraph, StreamGraphBuilder};
pub(crate) use queue::{RecordedWork, Recording};
pub(crate) use sweep::Sweep;
