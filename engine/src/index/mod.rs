//! Which element lives where, as plain data.
//!
//! - [`Region`], [`IndexRange`], [`Domain`], [`IndexSet`]: sets of indices;
//! - [`ProcessGrid`], [`DimMap`] and its kinds, [`Distribution`]: who owns what, and the halo around it;
//! - [`MappedDomain`] and [`DomainMap`]: who works on which indices, [`Replicas`]: copies of descriptions,
//!   [`Bulk`]: assignments of many values;
//! - [`sections`], [`local_bounding_box`], [`local_core`] and others: what a member holds and needs;
//! - [`Members`]: who belongs to a team, and who talks to whom.
//!
//! It knows no devices, buffers, element types, threads or messages, and no memory layout: a
//! [`Distribution`] says which cells a part stores and in which order, not where in memory. Everything that
//! cannot be is refused with the dimension, the part and the reason.

mod along;
mod arithmetic;
mod bounds;
mod builder;
mod custom;
mod cyclic;
mod derived;
mod dim;
mod dim_map;
mod distribution;
mod domain;
mod domain_map;
mod error;
mod grid;
mod index_set;
mod local;
mod members;
mod point;
mod range;
mod region;
mod replicas;
mod reshaped;
mod show;
mod svg;
mod tiles;
mod transfer;
mod unstructured;
mod viewed;

pub use along::Along;
pub use arithmetic::{
    Bounding, Environment, LocalTarget, Section, Side, core_view, local_bounding_box, local_core,
    local_target_of_slice, required, sections,
};
pub use bounds::Bounds;
pub use builder::DistributionBuilder;
pub use custom::{Custom, CustomMap, missing};
pub use cyclic::Cyclic;
pub use dim_map::DimMap;
pub use distribution::Distribution;
pub use domain::Domain;
pub use domain_map::{Chunk, DomainKind, DomainMap, MappedDomain, serial_write, zip};
pub use error::{ErrorKind, IndexError, Result};
pub use grid::{MAX_PARTS, ProcessGrid};
pub use index_set::{Blocks, IndexSet};
pub use local::Formula;
pub use members::{Group, Members, Routes, Seat};
pub use point::{Index, MAX_RANK};
pub use range::IndexRange;
pub use region::{COORDINATE_LIMIT, Points, Region};
pub use replicas::{Privatize, Replicas};
pub(crate) use reshaped::matched;
pub use tiles::Tile;
pub use transfer::{Bulk, BulkTransfer, Call, assign, assign_converted, paired_dimensions};
pub use unstructured::Unstructured;
