//! The properties of a launch that machine code depends on, and the table through which a launch passes
//! addresses and sizes to it.

/// What code depends on of a launch: the same code serves all launches of one shape.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LaunchShape {
    /// The dimension along which all arrays but broadcast ones are contiguous. A load at an offset along it
    /// uses the pointer of its neighbour.
    pub unit: Option<usize>,
    /// Dimensions whose coordinates grow from lane to lane.
    pub along: Vec<usize>,
    /// Of each parameter.
    pub layouts: Vec<OperandLayout>,
}

/// The layout of an operand's row in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandLayout {
    /// Neighbours are adjacent.
    Contiguous,
    /// One element for the whole row.
    Broadcast,
}

impl LaunchShape {
    pub(super) fn along(&self, dim: usize) -> bool {
        self.along.contains(&dim)
    }
}

/// Unroll-and-jam: neighbouring rows of a launch whose blocks go through the body together, so that what
/// several of them read is read once. The code has the distances between the rows in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnrollAndJam {
    /// The dimension of the launch from row to row.
    pub dim: usize,
    /// Per parameter and dimension, in elements.
    pub strides: Vec<Vec<i64>>,
    /// The outputs are too large for the caches: operands come from memory, too, and are prefetched.
    pub streams: bool,
}

/// Words of the table, which code changes as it goes: the pointers, as many steps from row to row in bytes,
/// the coordinates, as many steps of those.
pub mod words {
    /// Lanes of a row, at least 1.
    pub const LANES: usize = 0;
    /// Rows that are left, or groups of them, at least 1.
    pub const ROWS: usize = 1;
    /// Not 0 if blocks are aligned in the outputs, which all are so at the same lanes.
    pub const ALIGNED: usize = 2;
    /// Not 0 if outputs are written by non-temporal stores; `ALIGNED` is not 0 then.
    pub const NON_TEMPORAL: usize = 3;
    /// The first pointer.
    pub const POINTERS: usize = 4;
}
