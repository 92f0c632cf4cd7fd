//! From a launch to grids: which entry, how many threads and where, and the parameters of each grid.
//!
//! A grid's coordinates and the steps along its slots are 32-bit numbers; addresses are 64-bit. Regions
//! beyond that, or beyond what a grid may have of blocks, are cut into several grids.

mod batched;
mod fold;
mod module;
mod pointwise;
mod prepare;
mod region;
mod source;
#[cfg(test)]
mod tests;

pub(in crate::ptx) use module::Limits;
pub use module::{Facts, Grid, Module, Span};
