//! Moves bytes between members. Only plans say what moves; this says how.
//!
//! - [`path`]: which way a move takes, and what that costs per kind of device;
//! - [`lower()`]: from plans and places to commands, as a departure and an arrival, so that work that needs
//!   neither can be queued in between;
//! - [`crossing`]: the same for members of several ranks;
//! - [`aside`]: an exchange put beside the computation, on lanes of its own, with the waits that need.

pub mod aside;
mod batch;
mod cells;
pub mod crossing;
mod lower;
mod path;
mod rounds;

pub use aside::Leisure;
pub use lower::{Exchange, Field, Link, lower};
pub use path::{Across, Batching, Path, batching, path, path_across};
