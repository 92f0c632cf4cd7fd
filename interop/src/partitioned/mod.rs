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
mod dialect;
mod location;
mod parse;

pub use convert::tiles;
pub use description::{Description, PartitionEntry};
pub use dialect::Dialect;
pub use location::PartitionLocation;

use crate::value::{Dict, Refusal, Result, Value};

impl Description {
    /// Reads what a producer returned, and refuses what is malformed.
    pub fn parse(value: &Value) -> Result<Description> {
        let dialect = parse::dialect(value);
        parse::read(value, dialect).map_err(|refusal| refusal.of_protocol(dialect.name()))
    }

    /// The description in the words of the last draft. Locations that are not (IP, PID) are refused: the
    /// draft has no others.
    pub fn to_value(&self, get: Value) -> Result<Value> {
        let of_draft = |refusal: Refusal| refusal.of_protocol(Dialect::Draft.name());
        let position = |index: usize| Value::ints(self.position(index));
        let entry = |(index, partition): (usize, &PartitionEntry)| {
            let locations: Result<Vec<Value>> =
                partition.location.iter().map(PartitionLocation::to_value).collect();
            let located =
                locations.map_err(|e| of_draft(parse::within(&self.tiling, index, "location", e)))?;
            let entry = Value::dict([
                ("start", Value::ints(partition.start.iter().copied())),
                ("shape", Value::ints(partition.shape.iter().copied())),
                ("data", partition.data.clone()),
                ("location", Value::List(located)),
            ]);
            Ok((position(index), entry))
        };
        let entries = self.partitions.iter().enumerate().map(entry).collect::<Result<Vec<_>>>()?;
        let mut keys = vec![
            ("shape", Value::ints(self.shape.iter().copied())),
            ("partition_tiling", Value::ints(self.tiling.iter().copied())),
            ("partitions", Value::Dict(Dict(entries))),
            ("get", get),
        ];
        if let Some(locals) = &self.locals {
            keys.push(("locals", Value::List(locals.iter().map(|&index| position(index)).collect())));
        }
        Ok(Value::Dict(Dict(keys.into_iter().map(|(key, value)| (key.into(), value)).collect())))
    }

    /// Refuses ranks that are none of `processes`.
    pub fn check_ranks(&self, processes: i64) -> Result<()> {
        for (index, partition) in self.partitions.iter().enumerate() {
            let outside =
                |l: &&PartitionLocation| matches!(l, PartitionLocation::Rank(rank) if *rank >= processes);
            if let Some(PartitionLocation::Rank(rank)) = partition.location.iter().find(outside) {
                let refusal = Refusal::expected(format!("a rank below {processes}"), rank);
                let refusal = parse::within(&self.tiling, index, "location", refusal);
                return Err(refusal.of_protocol(self.dialect.name()));
            }
        }
        Ok(())
    }
}

/// Whether an object is a well-formed description, and why not.
pub fn validate(value: &Value) -> (bool, String) {
    match Description::parse(value) {
        Ok(_) => (true, String::new()),
        Err(refusal) => (false, refusal.to_string()),
    }
}
