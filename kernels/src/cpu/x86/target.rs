//! The target of machine code: an ISA level, the properties of a launch that code depends on, and the
//! memory through which a launch passes addresses and sizes to it.

/// An ISA level of x86-64 processors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum IsaLevel {
    /// AVX2 and FMA: VEX encodings, 16 registers of 32 bytes, masks in vectors.
    Avx2,
    /// AVX-512 F, VL, BW and DQ, and BMI2: EVEX encodings, 32 registers of 64 bytes, opmask registers.
    Avx512,
}

impl IsaLevel {
    /// The higher level of this CPU, if it has either.
    pub fn best() -> Option<IsaLevel> {
        [IsaLevel::Avx512, IsaLevel::Avx2].into_iter().find(|level| level.is_available())
    }

    /// Does this CPU run code of the level?
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            IsaLevel::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            IsaLevel::Avx512 => {
                IsaLevel::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("bmi2")
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Bytes of a vector register.
    pub(super) fn register_bytes(self) -> usize {
        match self {
            IsaLevel::Avx2 => 32,
            IsaLevel::Avx512 => 64,
        }
    }

    /// Vector registers that values can have. The last one of AVX2 holds masks and operands of partial
    /// blocks.
    pub(super) fn registers(self) -> usize {
        match self {
            IsaLevel::Avx2 => 15,
            IsaLevel::Avx512 => 32,
        }
    }
}

/// The properties of a launch that code depends on: the same code serves all launches of one shape.
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
    /// Of code that folds: the address of its memory.
    pub const FOLD: usize = 4;
    /// The first pointer.
    pub const POINTERS: usize = 5;
}

/// The memory of code that folds, beginning at a cache line: the levels of the tree, each as many bytes.
/// Level k holds values that 2^k.. were folded to, up to a square of a register's lanes: then they are folded
/// to a register of the next level. Words of the first level say what to do.
#[derive(Clone, Debug)]
pub struct FoldMemory {
    /// Lanes of a register.
    pub lanes: usize,
    /// Per fold, where its values begin in a level, and the bytes of one.
    pub values: Vec<(usize, usize)>,
    /// Bytes of a level.
    pub level_bytes: usize,
}

impl FoldMemory {
    /// The word that counts a level's values: 0 at first.
    pub const COUNT: usize = 0;
    /// The address of the highest level that has values, that of the first at first.
    pub const TOP: usize = 1;
    /// A result is due behind each row from which on there are at most so many.
    pub const DUE: usize = 2;
    /// Per fold, the address of the next result.
    pub const RESULTS: usize = 3;

    pub(super) fn new(lanes: usize, sizes: &[usize]) -> FoldMemory {
        let mut end = ((FoldMemory::RESULTS + sizes.len()) * 8).next_multiple_of(64);
        let place = |&size: &usize| {
            let first = end;
            end += (lanes * (lanes + 1) * size).next_multiple_of(64);
            (first, size)
        };
        let values = sizes.iter().map(place).collect();
        FoldMemory { lanes, values, level_bytes: end }
    }

    /// Values that a level holds until they are folded.
    pub(super) fn full(&self) -> usize {
        self.lanes * self.lanes
    }

    /// Levels that so many points need.
    pub fn levels(&self, points: usize) -> usize {
        let (mut levels, mut left) = (2, points / self.full());
        while left > 0 {
            (levels, left) = (levels + 1, left / self.lanes);
        }
        levels
    }
}
