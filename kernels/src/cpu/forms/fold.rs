//! The folds of a kernel, compiled: loops that combine values in adjacent pairs, level by level, the lower
//! one on the left, as [`mod@crate::interpret`] defines; and lanes of memory that hold values on their way.
//! They do not know which points the values belong to.
//!
//! Consecutive values are folded across, into one; rows of values along, lane by lane.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::cpu::body::lower::lane_bits;
use crate::cpu::loops::copy::{Row, move_row};
use crate::cpu::loops::lanes::{Lane, Line};
use crate::cpu::loops::level::{Compiled, Level, Loop, compiled};
use crate::cpu::loops::map::with_lane;
use crate::dtype::DType;
use crate::ir::{Fold, FoldOp};

/// Most values that are folded across at once.
pub(super) const MOST_ACROSS: usize = 4096;
/// Most rows that are folded along at once.
pub(super) const MOST_ROWS: usize = 8;

/// Consecutive values, and for argument folds the index (i64) of each.
#[derive(Clone, Copy)]
pub(super) struct FoldLanes {
    pub values: *mut u8,
    pub indices: *mut i64,
}

/// Consecutive values to fold into one, which may be one of them.
pub(super) struct AcrossArgs {
    pub from: FoldLanes,
    /// 1 to [`MOST_ACROSS`].
    pub count: usize,
    pub into: FoldLanes,
}

/// Rows of values to fold into one row, which may be one of them.
pub(super) struct AlongArgs {
    pub rows: [FoldLanes; MOST_ROWS],
    /// 1, 2, 4 or 8.
    pub count: usize,
    pub lanes: usize,
    pub into: FoldLanes,
}

/// A combination of two values.
pub(super) trait Combine<T> {
    fn combine(a: T, b: T) -> T;
}

pub(super) struct SumPairs;
pub(super) struct ProductPairs;
pub(super) struct MinPairs;
pub(super) struct MaxPairs;

/// The requirements of folds on a lane type.
pub(super) trait Foldable: Copy + PartialOrd {
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn is_nan(self) -> bool;
}

macro_rules! numbers {
    ($($kind:ident: $add:expr, $mul:expr, $nan:expr;)*) => {$(
        impl Foldable for $kind {
            #[inline(always)]
            fn add(self, other: Self) -> Self { $add(self, other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { $mul(self, other) }
            #[inline(always)]
            fn is_nan(self) -> bool { $nan(self) }
        }
    )*};
}
numbers! {
    i8: i8::wrapping_add, i8::wrapping_mul, |_| false;
    i16: i16::wrapping_add, i16::wrapping_mul, |_| false;
    i32: i32::wrapping_add, i32::wrapping_mul, |_| false;
    i64: i64::wrapping_add, i64::wrapping_mul, |_| false;
    u8: u8::wrapping_add, u8::wrapping_mul, |_| false;
    u16: u16::wrapping_add, u16::wrapping_mul, |_| false;
    u32: u32::wrapping_add, u32::wrapping_mul, |_| false;
    u64: u64::wrapping_add, u64::wrapping_mul, |_| false;
    f32: std::ops::Add::add, std::ops::Mul::mul, f32::is_nan;
    f64: std::ops::Add::add, std::ops::Mul::mul, f64::is_nan;
}

impl<T: Foldable> Combine<T> for SumPairs {
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.add(b)
    }
}
impl<T: Foldable> Combine<T> for ProductPairs {
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.mul(b)
    }
}
impl<T: Foldable> Combine<T> for MinPairs {
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        if (a < b) | a.is_nan() { a } else { b }
    }
}
impl<T: Foldable> Combine<T> for MaxPairs {
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        if (a > b) | a.is_nan() { a } else { b }
    }
}

pub(super) struct Across<F, T>(PhantomData<(F, T)>);
pub(super) struct Along<F, T>(PhantomData<(F, T)>);
pub(super) struct ArgAcross<T, const LARGEST: bool>(PhantomData<T>);
pub(super) struct ArgAlong<T, const LARGEST: bool>(PhantomData<T>);

/// Combines adjacent pairs; an odd last value goes up as it is.
#[inline(always)]
fn pairs<'w, F: Combine<T>, T: Copy>(from: &[T], to: &'w mut [MaybeUninit<T>]) -> &'w [T] {
    let (whole, rest) = from.as_chunks::<2>();
    for (pair, to) in whole.iter().zip(to.iter_mut()) {
        to.write(F::combine(pair[0], pair[1]));
    }
    if let [last] = rest {
        to[whole.len()].write(*last);
    }
    // SAFETY: every element was just written: `to` is half as long as `from`, rounded up.
    unsafe { &*(std::ptr::from_ref(to) as *const [T]) }
}

impl<F: Combine<T>, T: Copy> Loop for Across<F, T> {
    type Args = AcrossArgs;
    #[inline(always)]
    unsafe fn run(args: &AcrossArgs) {
        // All levels together are less long than the values, and one more each that is odd.
        let mut work = [const { MaybeUninit::<T>::uninit() }; MOST_ACROSS + 16];
        let mut rest = &mut work[..];
        // SAFETY: the caller promises the values, and room for the result.
        unsafe {
            let mut from = std::slice::from_raw_parts(args.from.values.cast::<T>(), args.count);
            while from.len() > 1 {
                let (to, after) = rest.split_at_mut(from.len().div_ceil(2));
                (from, rest) = (pairs::<F, T>(from, to), after);
            }
            args.into.values.cast::<T>().write(from[0]);
        }
    }
}

/// Folds `COUNT` rows, a power of two up to [`MOST_ROWS`].
#[inline(always)]
unsafe fn fold_rows<F: Combine<T>, T: Copy, const COUNT: usize>(args: &AlongArgs) {
    // So many lanes that compilers keep them in registers through the whole tree.
    const LANES: usize = 8;
    let rows: [*const T; COUNT] = std::array::from_fn(|n| args.rows[n].values.cast::<T>().cast_const());
    let lane_of = |lane: usize| {
        // SAFETY: the caller promises the lanes of every row.
        let one = |n: usize| unsafe { rows[n].add(lane).read() };
        let two = |n: usize| F::combine(one(n), one(n + 1));
        let four = |n: usize| F::combine(two(n), two(n + 2));
        match COUNT {
            8 => F::combine(four(0), four(4)),
            4 => four(0),
            2 => two(0),
            _ => one(0),
        }
    };
    let (into, whole) = (args.into.values.cast::<T>(), args.lanes / LANES * LANES);
    for lane in (0..whole).step_by(LANES) {
        let all: [T; LANES] = std::array::from_fn(|k| lane_of(lane + k));
        // SAFETY: the caller promises room for the lanes.
        unsafe { into.add(lane).cast::<[T; LANES]>().write(all) };
    }
    for lane in whole..args.lanes {
        // SAFETY: as above.
        unsafe { into.add(lane).write(lane_of(lane)) };
    }
}

impl<F: Combine<T>, T: Copy> Loop for Along<F, T> {
    type Args = AlongArgs;
    #[inline(always)]
    unsafe fn run(args: &AlongArgs) {
        // SAFETY: the caller's promise.
        unsafe {
            match args.count {
                8 => fold_rows::<F, T, 8>(args),
                4 => fold_rows::<F, T, 4>(args),
                2 => fold_rows::<F, T, 2>(args),
                _ => fold_rows::<F, T, 1>(args),
            }
        }
    }
}

/// Does a value with its index beat the best one so far? Written without branches.
#[inline(always)]
fn wins<T: Foldable, const LARGEST: bool>((value, index): (T, i64), (best, at): (T, i64)) -> bool {
    let better = if LARGEST { value > best } else { value < best };
    let (nan, best_nan) = (value.is_nan(), best.is_nan());
    let equal = (value == best) | (nan & best_nan);
    better | (nan & !best_nan) | (equal & (index < at))
}

/// The best of two lanes, each with its index.
#[inline(always)]
fn best<T: Foldable, const LARGEST: bool>(best: (T, i64), next: (T, i64)) -> (T, i64) {
    let wins = wins::<T, LARGEST>(next, best);
    (if wins { next.0 } else { best.0 }, if wins { next.1 } else { best.1 })
}

impl<T: Foldable, const LARGEST: bool> Loop for ArgAcross<T, LARGEST> {
    type Args = AcrossArgs;
    #[inline(always)]
    unsafe fn run(args: &AcrossArgs) {
        const LANES: usize = 32;
        // SAFETY: the caller promises the values and indices, and room for the result.
        unsafe {
            let values = std::slice::from_raw_parts(args.from.values.cast::<T>(), args.count);
            let indices = std::slice::from_raw_parts(args.from.indices, args.count);
            let mut first = (values[0], indices[0]);
            // Lanes side by side, which compilers turn into vectors.
            let ((values, rest), (indices, rest_indices)) =
                (values.as_chunks::<LANES>(), indices.as_chunks::<LANES>());
            if let (Some(&(mut value)), Some(&(mut index))) = (values.first(), indices.first()) {
                for (values, indices) in values.iter().zip(indices).skip(1) {
                    for k in 0..LANES {
                        (value[k], index[k]) =
                            best::<T, LARGEST>((value[k], index[k]), (values[k], indices[k]));
                    }
                }
                first = value.into_iter().zip(index).fold(first, best::<T, LARGEST>);
            }
            let rest = rest.iter().copied().zip(rest_indices.iter().copied());
            let (value, index) = rest.fold(first, best::<T, LARGEST>);
            args.into.values.cast::<T>().write(value);
            args.into.indices.write(index);
        }
    }
}

impl<T: Foldable, const LARGEST: bool> Loop for ArgAlong<T, LARGEST> {
    type Args = AlongArgs;
    #[inline(always)]
    unsafe fn run(args: &AlongArgs) {
        const LANES: usize = 16;
        let lanes_from = |lane: usize, count: usize| {
            // SAFETY: the caller promises the lanes of every row, and room for the result.
            unsafe {
                let at = |row: &FoldLanes, k: usize| {
                    (row.values.cast::<T>().add(lane + k).read(), row.indices.add(lane + k).read())
                };
                let mut all: [(T, i64); LANES] = [at(&args.rows[0], 0); LANES];
                (0..count).for_each(|k| all[k] = at(&args.rows[0], k));
                for row in &args.rows[1..args.count] {
                    (0..count).for_each(|k| all[k] = best::<T, LARGEST>(all[k], at(row, k)));
                }
                for (k, (value, index)) in all.into_iter().enumerate().take(count) {
                    args.into.values.cast::<T>().add(lane + k).write(value);
                    args.into.indices.add(lane + k).write(index);
                }
            }
        };
        for lane in (0..args.lanes).step_by(LANES) {
            lanes_from(lane, LANES.min(args.lanes - lane));
        }
    }
}

/// The loops of a fold.
#[derive(Clone, Copy)]
struct FoldLoops {
    across: Compiled<AcrossArgs>,
    along: Compiled<AlongArgs>,
}

fn value_loops(level: Level, op: FoldOp, lane: Lane) -> FoldLoops {
    fn loops<F: Combine<T>, T: Copy>(level: Level) -> FoldLoops {
        FoldLoops { across: compiled::<Across<F, T>>(level), along: compiled::<Along<F, T>>(level) }
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
            across: compiled::<ArgAcross<T, LARGEST>>(level),
            along: compiled::<ArgAlong<T, LARGEST>>(level),
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
