//! Domains over parts: who iterates over which indices, copies of descriptions, and bulk assignment.

mod bulk;
mod domain_map;
mod replicas;

pub use bulk::{Bulk, BulkTransfer, Call, assign, assign_converted, paired_dimensions};
pub use domain_map::{DomainKind, DomainMap, IterationChunk, MappedDomain, serial_write, zip};
pub use replicas::{Privatize, Replicas};
