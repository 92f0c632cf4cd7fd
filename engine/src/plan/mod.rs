//! Communication as a value: a [`Plan`] lists the cells that go from one part to another.
//!
//! Plans are constructed, compared, printed and checked without devices and without messages. Coordinates are
//! packed, which along block maps are the global ones. Memory layout, element size and transport belong to
//! the modules that execute a plan.

mod axis_subset;
mod check;
mod explanation;
mod halo;
mod moves;
mod periodic_set;
mod redistribution;

pub use axis_subset::{AxisSubset, Pairs};
pub use check::halo_regions;
pub use explanation::{Costs, Explanation, LinkTraffic};
pub use moves::{Move, MoveOp, Plan};
