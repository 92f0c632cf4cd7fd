//! Division of one dimension: which part owns which coordinates.

mod blocks;
mod custom_map;
mod dim;
mod dim_map;
mod unstructured;

pub(crate) use blocks::check_parts;
pub use blocks::{BlockBounds, Cyclic, MAX_PARTS};
pub use custom_map::{Custom, CustomMap};
pub use dim::Along;
pub(crate) use dim::{Dim, Halo, negative_halo};
pub use dim_map::DimMap;
pub use unstructured::Unstructured;
