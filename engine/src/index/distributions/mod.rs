//! Division of an N-D array: the process grid, the owner of every cell, halos, and the divisions of views and
//! of other shapes.

mod builder;
mod distribution;
mod formula;
mod process_grid;
mod reshape;
mod section;
mod svg;
mod text;
mod tile;
mod view;

pub use builder::DistributionBuilder;
pub use distribution::Distribution;
pub use formula::Formula;
pub use process_grid::ProcessGrid;
pub(crate) use reshape::matched;
pub use section::{
    Bounding, Environment, LocalTarget, Section, SectionSide, core_view, local_bounding_box, local_core,
    local_target_of_slice, required, sections,
};
pub use tile::Tile;
