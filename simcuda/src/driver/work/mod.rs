//! Queued work as data: operations, their order, their graphs, and the history of accesses in which races
//! are found.

mod access_history;
mod clock;
mod graph;
mod operation;

pub use access_history::{AccessHistory, Mark, Race, Use};
pub use clock::Clock;
pub use graph::{Capture, CaptureMode, Graph, Membership, Node, THREAD_MODE};
pub use operation::{Failed, HostFn, Launch, Operation, Source, Target, Touched, Work, replayable};
