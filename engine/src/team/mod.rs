//! A team: the ordered members that hold the parts of arrays. Part p of an array is on member p, a device
//! of one rank of the program.
//!
//! A program of several ranks runs the same on all of them. Everything about a team and its arrays is known
//! on every rank except memory: a rank has only the devices and parts of its own members.

mod construct;
mod handle;

pub use handle::Team;
pub(crate) use handle::evaluation;
