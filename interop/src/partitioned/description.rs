//! [`Description`]: an array as a grid of partitions, and its form in Python's terms.

use super::dialect::Dialect;
use super::location::PartitionLocation;
use crate::value::Value;

/// An array as a grid of partitions.
#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    /// The dialect it was read in.
    pub dialect: Dialect,
    /// The number of elements in every dimension.
    pub shape: Vec<i64>,
    /// The number of partitions in every dimension.
    pub tiling: Vec<i64>,
    /// The partitions in C order of their positions.
    pub partitions: Vec<PartitionEntry>,
    /// The partitions that are local, as indices; none where the producer is not SPMD.
    pub locals: Option<Vec<usize>>,
}

/// One partition.
#[derive(Clone, PartialEq, Debug)]
pub struct PartitionEntry {
    /// The first element.
    pub start: Vec<i64>,
    /// The extents.
    pub shape: Vec<i64>,
    /// The data or a reference to it.
    pub data: Value,
    /// Where it can be accessed.
    pub location: Vec<PartitionLocation>,
}

impl Description {
    /// The position of a partition in the grid.
    pub fn position(&self, partition: usize) -> Vec<i64> {
        position(&self.tiling, partition)
    }
}

/// The position in a grid of a place in C order.
pub(super) fn position(tiling: &[i64], mut place: usize) -> Vec<i64> {
    let mut position = vec![0; tiling.len()];
    for (at, &n) in position.iter_mut().zip(tiling).rev() {
        *at = place as i64 % n;
        place /= n as usize;
    }
    position
}
