//! The owner of every array element, as plain data.
//!
//! - `sets`: [`Region`], [`IndexRange`], [`Domain`], [`IndexSet`];
//! - `maps`: [`DimMap`] and its kinds divide one dimension;
//! - `distributions`: [`ProcessGrid`] and [`Distribution`] divide an array and declare its halo; [`Section`]s
//!   and local boxes say what a part holds and needs;
//! - `domains`: [`MappedDomain`] and [`DomainMap`] divide iterations, [`Replicas`] copy descriptions,
//!   [`Bulk`] assigns many values;
//! - [`Members`]: the members of a team and the groups in which they communicate.
//!
//! This module contains no devices, buffers, element types, threads or messages. A [`Distribution`] gives the
//! cells that a part stores and their order, not their place in memory. Impossible input is an [`IndexError`]
//! that names the dimension, the part and the reason.

mod distributions;
mod domains;
mod error;
mod maps;
mod members;
mod sets;

pub(crate) use distributions::matched;
pub use distributions::{
    Bounding, Distribution, DistributionBuilder, Environment, Formula, LocalTarget, ProcessGrid, Section,
    SectionSide, Tile, core_view, local_bounding_box, local_core, local_target_of_slice, required, sections,
};
pub use domains::{
    Bulk, BulkTransfer, Call, DomainKind, DomainMap, IterationChunk, MappedDomain, Privatize, Replicas,
    assign, assign_converted, paired_dimensions, serial_write, zip,
};
pub use error::{ErrorKind, IndexError, Result};
pub use maps::{Along, BlockBounds, Custom, CustomMap, Cyclic, DimMap, MAX_PARTS, Unstructured, missing};
pub use members::{BroadcastGroup, MemberView, Members, Routes};
pub use sets::{Blocks, COORDINATE_LIMIT, Domain, Index, IndexRange, IndexSet, MAX_RANK, Points, Region};
