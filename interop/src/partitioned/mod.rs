//! `__partitioned__` as plain data: an array as a grid of boxes ([`Description`]), whether one is well-formed
//! ([`Description::parse`]), and the way from and to a [`partita::index::Distribution`] and to
//! [`crate::distarray`]. Memory is not used, and `get` is not called.
//!
//! The draft went through dialects, and all are read; see [`Dialect`] for how they differ. The last
//! one is written.
//!
//! Where the draft is silent or its examples are wrong, this is what holds here:
//!
//! - The boxes form a grid: all at one coordinate of a dimension have the same `start` and `shape` there,
//!   they follow one another in the order of the coordinates, and leave no gap. Boxes may be empty and of any
//!   extents; irregular ones are read, but not written, as the draft does not consider them.
//! - The third example of the early draft leaves gaps (2 rows at 0, 16, 32 and 48) and is refused; so are the
//!   typographic quotes in the keys of the second and third example of the last draft.
//! - Further keys are allowed, as the drafts encourage them. Heat's `dtype` must be the same everywhere.
//! - Halo, boundary and periodicity have no words here: what a part owns is described, and no more.
//! - Only with `locals` may `data` be missing, and not that of the local partitions.

mod convert;
mod description;
mod parse;

pub use convert::tiles;
pub use description::{Description, Dialect, PartitionEntry, PartitionLocation};

use crate::value::{Result, Value};

impl Description {
    /// Reads what a producer returned, and refuses what is malformed.
    pub fn parse(value: &Value) -> Result<Description> {
        let dialect = parse::dialect(value);
        parse::read(value, dialect).map_err(|refusal| refusal.of_protocol(dialect.name()))
    }
}

/// Whether an object is a well-formed description, and why not.
pub fn validate(value: &Value) -> (bool, String) {
    Description::parse(value).map_or_else(|refusal| (false, refusal.to_string()), |_| (true, String::new()))
}
