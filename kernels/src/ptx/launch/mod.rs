//! From a launch to grids: which entry, how many threads and where, and the parameters of each grid.

pub(crate) mod fold;
mod module;
pub(crate) mod pointwise;
mod table;

pub use module::{Facts, Grid, LaunchPlan, Module, Span};
pub(crate) use module::{Limits, Source};
