//! Division of one dimension: which part owns which coordinates.

mod along;
mod block_bounds;
mod custom_map;
mod cyclic;
mod dim;
mod dim_map;
mod subdivision;
mod unstructured;

pub use along::Along;
pub use block_bounds::{BlockBounds, MAX_PARTS};
pub use custom_map::{Custom, CustomMap, missing};
pub use cyclic::Cyclic;
pub(crate) use dim::{Dim, Halo, negative_halo};
pub use dim_map::DimMap;
pub use unstructured::Unstructured;
