//! The owner of every array element, as plain data.
//!
//! - `region`, `index_set`, `domain`: [`Region`], [`IndexRange`], [`IndexSet`], [`Domain`];
//! - `maps`: [`DimMap`] and its kinds divide one dimension;
//! - `distributions`: [`ProcessGrid`] and [`Distribution`] divide an array and declare its halo; [`Section`]s
//!   say what a part stores;
//! - [`Members`]: the members of a team and the groups in which they communicate.
//!
//! This module contains no devices, buffers, element types, threads or messages. A [`Distribution`] gives the
//! cells that a part stores and their order, not their place in memory. Impossible input is an [`IndexError`]
//! that names the dimension, the part and the reason. Getters that give no `Result` panic, as slices do,
//! where there is no such part or dimension (`# Panics`).

mod distributions;
mod domain;
mod error;
mod index_set;
mod maps;
mod members;
mod region;

pub(crate) use distributions::matched;
pub use distributions::{
    Distribution, DistributionBuilder, Formula, ProcessGrid, Section, SectionSide, sections,
};
pub use domain::{Chunk, Domain};
pub use error::{ErrorKind, IndexError, Result};
pub(crate) use error::{check_rank, check_room};
pub(crate) use index_set::gcd;
pub use index_set::{Blocks, IndexRange, IndexSet};
pub use maps::{Along, BlockBounds, Custom, CustomMap, Cyclic, DimMap, MAX_PARTS, Unstructured};
pub use members::{BroadcastGroup, Members};
pub use region::{COORDINATE_LIMIT, Index, MAX_RANK, Region};

/// `{:?}` that shows the same text as `{}`.
macro_rules! shown {
    ($($name:ty),+) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}

shown!(Index, IndexError, IndexRange, Members, Region);
