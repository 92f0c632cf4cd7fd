//! Division of an N-D array: the process grid, the owner of every cell, halos, and the divisions of views and
//! of other shapes.

mod builder;
mod distribution;
mod picture;
mod process_grid;
mod reshape;
mod section;
mod view;

pub use builder::DistributionBuilder;
pub use distribution::Distribution;
pub use process_grid::ProcessGrid;
pub(crate) use reshape::matched;
pub use section::{Section, SectionSide, sections};
pub use view::Formula;
