//! Communication as a value: a [`Plan`] lists the cells that go from one part to another.
//!
//! Plans are constructed, compared, printed and checked without devices and without messages. Coordinates are
//! packed, which along block maps are the global ones. Memory layout, element size and transport belong to
//! the modules that execute a plan.

mod moves;
mod overlaps;
mod redistribution;
mod scope;

pub use moves::{AxisSubset, Explanation, LinkTraffic, Move, MoveOp, Pairs, Plan};
pub use scope::{Near, Scope};
