//! Sets of indices, without parts or owners: points, boxes, strided ranges and their products.

mod domain;
mod index;
mod index_range;
mod index_set;
mod region;

pub use domain::Domain;
pub use index::{Index, MAX_RANK};
pub use index_range::IndexRange;
pub use index_set::{Blocks, IndexSet};
pub use region::{COORDINATE_LIMIT, Points, Region};
