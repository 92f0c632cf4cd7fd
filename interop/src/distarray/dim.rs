//! [`DimDict`]: the entry of a part for one dimension, and its form in Python's terms.

use crate::value::{Dict, IndexArray, Value};

/// One entry of `dim_data`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DimDict {
    /// The number of global elements along the dimension; in a periodic one with the padding at its ends.
    pub size: i64,
    /// The number of parts along the dimension.
    pub grid_size: i64,
    /// Which of them this is.
    pub grid_rank: i64,
    /// What the part holds.
    pub kind: Kind,
}

/// What a part holds along one dimension.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A range, padding included: `'b'`.
    Block {
        /// The first index.
        start: i64,
        /// The index after the last.
        stop: i64,
        /// Widths at the beginning and the end of the buffer.
        padding: (i64, i64),
        /// Whether the two ends of the dimension are neighbours.
        periodic: bool,
    },
    /// Every so-many-th block, starting with one: `'c'`.
    Cyclic {
        /// The first index; the size for none.
        start: i64,
        /// The size of the blocks.
        block_size: i64,
    },
    /// The listed indices: `'u'`.
    Unstructured {
        /// The indices in the order in which they are stored.
        indices: Vec<i64>,
        /// Whether no other part lists one of them.
        one_to_one: bool,
    },
}

pub(super) const COMMON: [&str; 4] = ["dist_type", "size", "proc_grid_size", "proc_grid_rank"];

impl DimDict {
    /// What an empty entry means.
    pub fn undistributed(extent: i64) -> DimDict {
        let kind = Kind::Block { start: 0, stop: extent, padding: (0, 0), periodic: false };
        DimDict { size: extent, grid_size: 1, grid_rank: 0, kind }
    }

    /// The extent of the buffer.
    pub fn extent(&self) -> i64 {
        match &self.kind {
            Kind::Block { start, stop, .. } => stop - start,
            Kind::Cyclic { start, block_size } => {
                let (rest, block) = (i128::from((self.size - start).max(0)), i128::from(*block_size));
                let period = block * i128::from(self.grid_size);
                (rest / period * block + (rest % period).min(block)) as i64
            }
            Kind::Unstructured { indices, .. } => indices.len() as i64,
        }
    }

    /// Whether the two ends of the dimension are neighbours.
    pub fn periodic(&self) -> bool {
        matches!(self.kind, Kind::Block { periodic: true, .. })
    }

    /// The entry in Python's terms; keys with their default value are left out.
    pub(super) fn to_value(&self) -> Value {
        let (dist_type, rest): (&str, Vec<(&str, Value)>) = match &self.kind {
            Kind::Block { start, stop, padding: (lo, hi), periodic } => {
                let padding = ((*lo, *hi) != (0, 0)).then(|| ("padding", Value::ints([*lo, *hi])));
                let periodic = periodic.then(|| ("periodic", true.into()));
                let range = [("start", (*start).into()), ("stop", (*stop).into())];
                ("b", range.into_iter().chain(padding).chain(periodic).collect())
            }
            Kind::Cyclic { start, block_size } => {
                let block_size = (*block_size != 1).then(|| ("block_size", (*block_size).into()));
                ("c", std::iter::once(("start", (*start).into())).chain(block_size).collect())
            }
            Kind::Unstructured { indices, one_to_one } => {
                let (shape, data) = (vec![indices.len() as i64], Some(indices.clone()));
                let indices = Value::Array(IndexArray { dtype: "int64".to_owned(), shape, data });
                let one_to_one = one_to_one.then(|| ("one_to_one", true.into()));
                ("u", std::iter::once(("indices", indices)).chain(one_to_one).collect())
            }
        };
        let numbers = [self.size, self.grid_size, self.grid_rank].map(Value::from);
        let common = COMMON.into_iter().zip(std::iter::once(dist_type.into()).chain(numbers));
        Value::Dict(Dict(common.chain(rest).map(|(key, value)| (key.into(), value)).collect()))
    }
}
