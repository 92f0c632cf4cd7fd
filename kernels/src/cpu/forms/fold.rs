//! The folds of a kernel, compiled, and lanes of memory that hold values on their way.

use std::mem::MaybeUninit;

use super::fold_loops::{
    Across, AcrossArgs, Along, AlongArgs, ArgAcross, ArgAlong, Combine, FoldLanes, Foldable, MOST_ACROSS,
    MOST_ROWS, MaxPairs, MinPairs, ProductPairs, SumPairs,
};
use crate::cpu::body::lower::lane_bits;
use crate::cpu::loops::copy::{Row, move_row};
use crate::cpu::loops::lanes::{Lane, Line};
use crate::cpu::loops::level::{Compiled, Level, compiled_narrow};
use crate::cpu::loops::map::with_lane;
use crate::dtype::DType;
use crate::ir::{Fold, FoldOp};

/// The loops of a fold.
#[derive(Clone, Copy)]
struct FoldLoops {
    across: Compiled<AcrossArgs>,
    along: Compiled<AlongArgs>,
}

fn value_loops(level: Level, op: FoldOp, lane: Lane) -> FoldLoops {
    fn loops<F: Combine<T>, T: Copy>(level: Level) -> FoldLoops {
        FoldLoops {
            across: compiled_narrow::<Across<F, T>>(level),
            along: compiled_narrow::<Along<F, T>>(level),
        }
    }
    with_lane!(lane, T => match op {
        FoldOp::Sum => loops::<SumPairs, T>(level),
        FoldOp::Product => loops::<ProductPairs, T>(level),
        FoldOp::Min | FoldOp::All => loops::<MinPairs, T>(level),
        FoldOp::Max | FoldOp::Any => loops::<MaxPairs, T>(level),
    })
}

fn arg_loops(level: Level, largest: bool, lane: Lane) -> FoldLoops {
    fn loops<T: Foldable, const LARGEST: bool>(level: Level) -> FoldLoops {
        FoldLoops {
            across: compiled_narrow::<ArgAcross<T, LARGEST>>(level),
            along: compiled_narrow::<ArgAlong<T, LARGEST>>(level),
        }
    }
    with_lane!(lane, T => if largest { loops::<T, true>(level) } else { loops::<T, false>(level) })
}

/// One fold of a kernel, compiled.
pub(in crate::cpu) struct CompiledFold {
    loops: FoldLoops,
    pub neutral: u64,
    pub dtype: DType,
    pub lane: Lane,
    pub output: usize,
    /// Output and type of the index of an argument fold.
    pub index: Option<(usize, DType)>,
}

impl CompiledFold {
    /// Compiles a fold; `dtype` gives the types of parameters.
    pub(in crate::cpu) fn new(fold: &Fold, dtype: impl Fn(u32) -> DType, level: Level) -> CompiledFold {
        let (output, index, op) = match *fold {
            Fold::Value { op, output, .. } => (output, None, op),
            Fold::Arg { largest, value_output, index_output, .. } => {
                let op = if largest { FoldOp::Max } else { FoldOp::Min };
                (value_output, Some((index_output as usize, dtype(index_output))), op)
            }
        };
        let (dtype, lane) = (dtype(output), Lane::of(dtype(output)));
        let loops = match fold {
            Fold::Arg { largest, .. } => arg_loops(level, *largest, lane),
            _ => value_loops(level, op, lane),
        };
        let neutral = lane_bits(op.neutral(dtype));
        CompiledFold { loops, neutral, dtype, lane, output: output as usize, index }
    }

    /// Folds `count` consecutive values, at least one, into one.
    ///
    /// # Safety
    /// The lanes are of this fold's types and valid, `into` for writing; it may be one of the values.
    pub(super) unsafe fn across(&self, from: FoldLanes, count: usize, into: FoldLanes) {
        debug_assert!((1..=MOST_ACROSS).contains(&count), "{count} values");
        // SAFETY: the loop was compiled for this CPU; the rest is the caller's promise.
        unsafe { (self.loops.across)(&AcrossArgs { from, count, into }) }
    }

    /// Folds rows into one: 1, 2, 4 or 8.
    ///
    /// # Safety
    /// Each row has `lanes` valid lanes of this fold's types, `into` too, for writing; it is one of the
    /// rows or overlaps none.
    pub(super) unsafe fn along(&self, rows: &[FoldLanes], lanes: usize, into: FoldLanes) {
        debug_assert!(rows.len().is_power_of_two() && rows.len() <= MOST_ROWS, "{} rows", rows.len());
        let count = rows.len();
        let rows = std::array::from_fn(|n| rows[n % count]);
        // SAFETY: the loop was compiled for this CPU; the rest is the caller's promise.
        unsafe { (self.loops.along)(&AlongArgs { rows, count, lanes, into }) }
    }
}

/// Lanes of a fold in memory of their own.
pub(super) struct FoldBuffer {
    /// Owns the memory behind `first`.
    _lines: Vec<MaybeUninit<Line>>,
    first: FoldLanes,
    size: usize,
    count: usize,
}

// SAFETY: `first` points into memory the buffer owns; sharing threads use disjoint lanes.
unsafe impl Send for FoldBuffer {}
// SAFETY: as above; whoever writes lanes of a shared buffer answers for them.
unsafe impl Sync for FoldBuffer {}

impl FoldBuffer {
    /// Room for `count` lanes, which hold nothing yet.
    pub(super) fn new(fold: &CompiledFold, count: usize) -> FoldBuffer {
        let size = fold.lane.size();
        let bytes = (count * size).next_multiple_of(64);
        let total = bytes + if fold.index.is_some() { count * 8 } else { 0 };
        let mut lines = Vec::with_capacity(total.div_ceil(64));
        let base = lines.as_mut_ptr() as *mut u8;
        let first = FoldLanes { values: base, indices: base.wrapping_add(bytes).cast() };
        FoldBuffer { _lines: lines, first, size, count }
    }

    /// The same, of neutral lanes. An index of `i64::MAX` loses against every other.
    pub(super) fn neutral(fold: &CompiledFold, count: usize) -> FoldBuffer {
        let buffer = FoldBuffer::new(fold, count);
        let splat = |bits: u64, to: *mut u8, size: usize| {
            let bytes = bits.to_le_bytes();
            let from = Row { ptr: bytes.as_ptr().cast_mut(), stride_bytes: 0 };
            // SAFETY: the buffer has room for `count` lanes of this size.
            unsafe { move_row(Row { ptr: to, stride_bytes: size as isize }, from, count, size) };
        };
        splat(fold.neutral, buffer.first.values, buffer.size);
        if fold.index.is_some() {
            splat(i64::MAX as u64, buffer.first.indices.cast(), 8);
        }
        buffer
    }

    /// The lanes from `lane` on.
    pub(super) fn at(&self, lane: usize) -> FoldLanes {
        debug_assert!(lane <= self.count, "lane {lane} of {}", self.count);
        FoldLanes {
            values: self.first.values.wrapping_add(lane * self.size),
            indices: self.first.indices.wrapping_add(lane),
        }
    }
}

/// Rows that are folded into a tree as they come: a binary counter of blocks.
pub(super) struct RowTree {
    /// Level k holds the fold of 2^k blocks, if bit k of `occupied` is set.
    levels: Vec<FoldBuffer>,
    occupied: u64,
    next: FoldBuffer,
    lanes: usize,
}

impl RowTree {
    pub(super) fn new(fold: &CompiledFold, lanes: usize) -> RowTree {
        RowTree { levels: Vec::new(), occupied: 0, next: FoldBuffer::new(fold, lanes), lanes }
    }

    /// Adds a block of rows.
    ///
    /// # Safety
    /// As [`CompiledFold::along`]; the tree was made for as many lanes.
    pub(super) unsafe fn add(&mut self, fold: &CompiledFold, rows: &[FoldLanes], lanes: usize) {
        let mut level = 0;
        // SAFETY: the caller's promise of the rows; buffers have as many lanes.
        unsafe {
            fold.along(rows, lanes, self.next.at(0));
            while self.occupied >> level & 1 == 1 {
                fold.along(&[self.levels[level].at(0), self.next.at(0)], lanes, self.next.at(0));
                level += 1;
            }
        }
        if level == self.levels.len() {
            self.levels.push(FoldBuffer::new(fold, self.lanes));
        }
        std::mem::swap(&mut self.levels[level], &mut self.next);
        // Adding one to a binary number: the ones below the lowest zero become zero.
        self.occupied += 1;
    }

    /// Combines all blocks into a row, and starts again.
    ///
    /// # Safety
    /// As [`RowTree::add`], of `into`.
    pub(super) unsafe fn finish(&mut self, fold: &CompiledFold, lanes: usize, into: FoldLanes) {
        let mut levels = self.levels.iter().enumerate().filter(|(level, _)| self.occupied >> level & 1 == 1);
        let (_, lowest) = levels.next().expect("a block");
        // SAFETY: as above.
        unsafe {
            fold.along(&[lowest.at(0)], lanes, into);
            for (_, level) in levels {
                fold.along(&[level.at(0), into], lanes, into);
            }
        }
        self.occupied = 0;
    }
}
