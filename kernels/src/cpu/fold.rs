//! The loops of reductions: folding lanes of values into lanes of accumulators. It does not know
//! which points the values belong to, nor in which order they come.

use std::marker::PhantomData;

use super::level::{Compiled, Level, Loop, compiled_narrow};
use super::ops::with_lane;
use super::place::{BLOCK, Lane, Place};
use crate::dtype::DType;
use crate::ir::{Fold, FoldOp};

/// Lanes to fold into accumulators.
pub(super) struct FoldArgs {
    /// Lane by lane; or, with step 0, all blocks into one.
    pub into: Place,
    /// The accumulated indices (i64), laid out as `into`; unused by folds without index.
    pub into_index: Place,
    pub value: Place,
    pub index: Place,
    pub lanes: usize,
    /// Rows of values that are folded lane by lane, one after the other, and the bytes from one to the next;
    /// one, where blocks are folded into one and where there are indices.
    pub rows: usize,
    pub down: isize,
}

impl FoldArgs {
    /// A row of values.
    #[inline(always)]
    fn row(&self, row: usize) -> Place {
        Place { ptr: self.value.ptr.wrapping_offset(row as isize * self.down), ..self.value }
    }
}

/// A compiled fold.
pub(super) type FoldFn = Compiled<FoldArgs>;

trait Fold2<T> {
    fn apply(accumulated: T, value: T) -> T;
}

struct Each<F, T, const WIDE: usize>(PhantomData<(F, T)>);
struct EachArg<T, const LARGEST: bool>(PhantomData<T>);

#[inline(always)]
fn fold_block<F: Fold2<T>, T: Copy>(into: &mut [T; BLOCK], value: &[T; BLOCK]) {
    for k in 0..BLOCK {
        into[k] = F::apply(into[k], value[k]);
    }
}

/// Blocks of a group, which are folded in pairs within registers.
const GROUP: usize = 16;

/// Groups of a leaf, which are folded one after the other: to keep each for its pair would take longer than
/// to fold it, and a sum is rounded but once more.
const LEAF_GROUPS: usize = 4;

/// Leaves are folded in pairs, in so many levels at most, before they go into the accumulators.
const LEVELS: usize = 4;

/// Most lanes that [`FoldFn`] folds across in one go.
pub(super) const MOST_ACROSS: usize = (LEAF_GROUPS * GROUP * BLOCK) << LEVELS;

/// How many times [`FoldFn`] folds into the accumulators for so many lanes across; each time rounds a sum.
pub(super) fn foldings_across(lanes: usize) -> usize {
    let (blocks, rest) = (lanes / BLOCK, usize::from(!lanes.is_multiple_of(BLOCK)));
    let (groups, leaves) = (blocks / GROUP, blocks / GROUP / LEAF_GROUPS);
    ((blocks % GROUP).count_ones() + leaves.count_ones()) as usize + groups % LEAF_GROUPS + rest
}

/// Lanes that are folded in pairs side by side: 32 bytes, for memory is fastest where it is read vector by
/// vector in order, but eight at least.
const fn wide<T>() -> usize {
    let lanes = 32 / size_of::<T>();
    if lanes < 8 { 8 } else { lanes }
}

/// Folds `COUNT` blocks, a power of two up to [`GROUP`], in pairs: neighbouring stretches of lanes, so that
/// memory is read in order. Which lane goes into which accumulator is the shape's alone. If they are `FRESH`,
/// what they hold is forgotten.
#[inline(always)]
unsafe fn fold_pairs<F: Fold2<T>, T: Copy, const WIDE: usize, const COUNT: usize, const FRESH: bool>(
    into: &mut [T; BLOCK],
    value: Place,
    lane: usize,
) {
    for first in (0..BLOCK).step_by(WIDE) {
        let stretches: [*const T; COUNT] = std::array::from_fn(|n| {
            let lane = lane + first * COUNT + n * WIDE;
            value.at(lane / BLOCK * BLOCK).cast::<T>().wrapping_add(lane % BLOCK).cast_const()
        });
        // Lane by lane through the whole tree, which compilers turn into registers; of trees of whole
        // stretches they make shuffles.
        let mut all = [into[first]; WIDE];
        for (k, all) in all.iter_mut().enumerate() {
            // SAFETY: the caller promises the lanes; stretches do not cross blocks.
            let one = |n: usize| unsafe { stretches[n].add(k).read() };
            let two = |n: usize| F::apply(one(n), one(n + 1));
            let four = |n: usize| F::apply(two(n), two(n + 2));
            let eight = |n: usize| F::apply(four(n), four(n + 4));
            *all = match COUNT {
                16 => F::apply(eight(0), eight(8)),
                8 => eight(0),
                4 => four(0),
                2 => two(0),
                _ => one(0),
            };
        }
        for k in 0..WIDE {
            into[first + k] = if FRESH { all[k] } else { F::apply(into[first + k], all[k]) };
        }
    }
}

/// Folds whole blocks across into one, [`MOST_ACROSS`] lanes at most: what is less than a group, groups that
/// are no leaf, then leaves in pairs, these in pairs and so on. All in one go, since memory waits each time
/// that one ends.
#[inline(always)]
unsafe fn fold_across<F: Fold2<T>, T: Copy, const WIDE: usize>(
    into: &mut [T; BLOCK],
    value: Place,
    blocks: usize,
) {
    let groups = blocks / GROUP;
    let leaves = groups / LEAF_GROUPS;
    let mut lane = groups * GROUP * BLOCK;
    macro_rules! rest {
        ($($count:literal)*) => {$(
            if blocks & $count != 0 {
                // SAFETY: the caller promises the lanes.
                unsafe { fold_pairs::<F, T, WIDE, $count, false>(into, value, lane) };
                lane += $count * BLOCK;
            }
        )*};
    }
    rest!(1 2 4 8);
    debug_assert!(lane == blocks * BLOCK, "the rest is less than a group");
    for group in leaves * LEAF_GROUPS..groups {
        // SAFETY: as above.
        unsafe { fold_pairs::<F, T, WIDE, GROUP, false>(into, value, group * GROUP * BLOCK) };
    }
    if leaves == 0 {
        return;
    }
    // Level k holds the fold of 2^k leaves, if bit k of the number of leaves done is set.
    let mut levels = [*into; LEVELS + 1];
    for leaf in 0..leaves {
        let mut some = *into;
        let first = leaf * LEAF_GROUPS;
        // SAFETY: as above.
        unsafe { fold_pairs::<F, T, WIDE, GROUP, true>(&mut some, value, first * GROUP * BLOCK) };
        for group in first + 1..first + LEAF_GROUPS {
            // SAFETY: as above.
            unsafe { fold_pairs::<F, T, WIDE, GROUP, false>(&mut some, value, group * GROUP * BLOCK) };
        }
        let level = leaf.trailing_ones() as usize;
        for earlier in &levels[..level] {
            (0..BLOCK).for_each(|k| some[k] = F::apply(earlier[k], some[k]));
        }
        levels[level] = some;
    }
    for level in (0..=LEVELS).filter(|level| leaves >> level & 1 == 1) {
        fold_block::<F, T>(into, &levels[level]);
    }
}

#[inline(always)]
fn arg_block<T: Number, const LARGEST: bool>(
    into: &mut [T; BLOCK],
    at: &mut [i64; BLOCK],
    value: &[T; BLOCK],
    index: &[i64; BLOCK],
) {
    for k in 0..BLOCK {
        let wins = wins::<T, LARGEST>(value[k], index[k], into[k], at[k]);
        into[k] = if wins { value[k] } else { into[k] };
        at[k] = if wins { index[k] } else { at[k] };
    }
}

/// Does a value with its index beat the accumulated one? Written without branches.
#[inline(always)]
fn wins<T: Number, const LARGEST: bool>(value: T, index: i64, best: T, at: i64) -> bool {
    let better = if LARGEST { value > best } else { value < best };
    let (nan, best_nan) = (value.is_nan(), best.is_nan());
    let equal = (value == best) | (nan & best_nan);
    better | (nan & !best_nan) | (equal & (index < at))
}

impl<F: Fold2<T>, T: Copy, const WIDE: usize> Loop for Each<F, T, WIDE> {
    type Args = FoldArgs;
    #[inline(always)]
    unsafe fn run(args: &FoldArgs) {
        let whole = args.lanes / BLOCK * BLOCK;
        // SAFETY: the caller promises `lanes` lanes of every place, `into` apart from `value`.
        unsafe {
            if args.into.step == 0 {
                // A copy of its own can stay in registers.
                let mut local = *args.into.block::<T>(0);
                fold_across::<F, T, WIDE>(&mut local, args.value, whole / BLOCK);
                *args.into.block_mut(0) = local;
            } else {
                for lane in (0..whole).step_by(BLOCK) {
                    let mut local = *args.into.block::<T>(lane);
                    (0..args.rows).for_each(|row| fold_block::<F, T>(&mut local, args.row(row).block(lane)));
                    *args.into.block_mut(lane) = local;
                }
            }
            let rest = args.into.at(whole).cast::<T>();
            for row in 0..args.rows {
                for k in 0..args.lanes - whole {
                    let value = args.row(row).at(whole + k).cast::<T>().read();
                    rest.add(k).write(F::apply(rest.add(k).read(), value));
                }
            }
        }
    }
}

impl<T: Number, const LARGEST: bool> Loop for EachArg<T, LARGEST> {
    type Args = FoldArgs;
    #[inline(always)]
    unsafe fn run(args: &FoldArgs) {
        let whole = args.lanes / BLOCK * BLOCK;
        // SAFETY: as above, of indices too.
        unsafe {
            for lane in (0..whole).step_by(BLOCK) {
                arg_block::<T, LARGEST>(
                    args.into.block_mut(lane),
                    args.into_index.block_mut(lane),
                    args.value.block(lane),
                    args.index.block(lane),
                );
            }
            let (rest, rest_index) =
                (args.into.at(whole).cast::<T>(), args.into_index.at(whole).cast::<i64>());
            for k in 0..args.lanes - whole {
                let value = args.value.at(whole + k).cast::<T>().read();
                let index = args.index.at(whole + k).cast::<i64>().read();
                if wins::<T, LARGEST>(value, index, rest.add(k).read(), rest_index.add(k).read()) {
                    rest.add(k).write(value);
                    rest_index.add(k).write(index);
                }
            }
        }
    }
}

/// Folds one block of accumulators into its first lane, in halves.
struct Collapse<F, T>(PhantomData<(F, T)>);

impl<F: Fold2<T>, T: Copy> Loop for Collapse<F, T> {
    type Args = FoldArgs;
    #[inline(always)]
    unsafe fn run(args: &FoldArgs) {
        // SAFETY: the caller promises a block of accumulators.
        let lanes = unsafe { args.into.block_mut::<T>(0) };
        macro_rules! halve {
            ($($width:literal)*) => {$(
                for k in 0..$width {
                    lanes[k] = F::apply(lanes[k], lanes[k + $width]);
                }
            )*};
        }
        halve!(32 16 8 4 2 1);
    }
}

impl<T: Number, const LARGEST: bool> Loop for CollapseArg<T, LARGEST> {
    type Args = FoldArgs;
    #[inline(always)]
    unsafe fn run(args: &FoldArgs) {
        // SAFETY: the caller promises a block of accumulators with their indices.
        let (lanes, at) = unsafe { (args.into.block_mut::<T>(0), args.into_index.block_mut::<i64>(0)) };
        for k in 1..BLOCK {
            if wins::<T, LARGEST>(lanes[k], at[k], lanes[0], at[0]) {
                (lanes[0], at[0]) = (lanes[k], at[k]);
            }
        }
    }
}

/// As [`Collapse`], with indices.
struct CollapseArg<T, const LARGEST: bool>(PhantomData<T>);

/// What folds need of a lane type.
trait Number: Copy + PartialOrd {
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn is_nan(self) -> bool;
}

macro_rules! numbers {
    ($($kind:ident: $add:expr, $mul:expr, $nan:expr;)*) => {$(
        impl Number for $kind {
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

struct Sum;
struct Product;
struct Min;
struct Max;
impl<T: Number> Fold2<T> for Sum {
    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        a.add(b)
    }
}
impl<T: Number> Fold2<T> for Product {
    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        a.mul(b)
    }
}
impl<T: Number> Fold2<T> for Min {
    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        if (a < b) | a.is_nan() { a } else { b }
    }
}
impl<T: Number> Fold2<T> for Max {
    #[inline(always)]
    fn apply(a: T, b: T) -> T {
        if (a > b) | a.is_nan() { a } else { b }
    }
}

/// A fold of lanes, and the fold of one block into its first lane.
type Pair = (FoldFn, FoldFn);

fn value_fold(level: Level, op: FoldOp, lane: Lane) -> Pair {
    fn pair<F: Fold2<T>, T: Copy, const WIDE: usize>(level: Level) -> Pair {
        (compiled_narrow::<Each<F, T, WIDE>>(level), compiled_narrow::<Collapse<F, T>>(level))
    }
    with_lane!(lane, T => match op {
        FoldOp::Sum => pair::<Sum, T, { wide::<T>() }>(level),
        FoldOp::Product => pair::<Product, T, { wide::<T>() }>(level),
        FoldOp::Min | FoldOp::All => pair::<Min, T, { wide::<T>() }>(level),
        FoldOp::Max | FoldOp::Any => pair::<Max, T, { wide::<T>() }>(level),
    })
}

fn arg_fold(level: Level, largest: bool, lane: Lane) -> Pair {
    with_lane!(lane, T => if largest {
        (compiled_narrow::<EachArg<T, true>>(level), compiled_narrow::<CollapseArg<T, true>>(level))
    } else {
        (compiled_narrow::<EachArg<T, false>>(level), compiled_narrow::<CollapseArg<T, false>>(level))
    })
}

/// One fold of a kernel, compiled.
pub(super) struct Folding {
    lanes: FoldFn,
    collapse: FoldFn,
    pub neutral: u64,
    pub dtype: DType,
    pub lane: Lane,
    pub output: usize,
    /// Output and type of the index of an argument fold.
    pub index: Option<(usize, DType)>,
}

impl Folding {
    /// Compiles a fold; `dtype` gives the types of parameters. Exact sums are no lanes that fold.
    pub(super) fn new(fold: &Fold, dtype: impl Fn(u32) -> DType, level: Level) -> Option<Folding> {
        let (output, index, op) = match *fold {
            Fold::Value { op, output, .. } => (output, None, op),
            Fold::Arg { largest, value_output, index_output, .. } => {
                let op = if largest { FoldOp::Max } else { FoldOp::Min };
                (value_output, Some((index_output as usize, dtype(index_output))), op)
            }
            Fold::Exact { .. } => return None,
        };
        let kind = dtype(output);
        let lane = Lane::of(kind);
        let (lanes, collapse) = match fold {
            Fold::Value { .. } => value_fold(level, op, lane),
            Fold::Arg { largest, .. } => arg_fold(level, *largest, lane),
            Fold::Exact { .. } => return None,
        };
        let neutral = super::lower::lane_bits(op.neutral(kind));
        Some(Folding { lanes, collapse, neutral, dtype: kind, lane, output: output as usize, index })
    }

    /// Folds a block of accumulators into its first lane.
    ///
    /// # Safety
    /// The places hold a block of this fold's accumulators.
    pub(super) unsafe fn collapse(&self, into: Place, into_index: Place) {
        let (value, index) = (Place::NONE, Place::NONE);
        let args = FoldArgs { into, into_index, value, index, lanes: BLOCK, rows: 1, down: 0 };
        // SAFETY: the loop was compiled for this CPU; the rest is the caller's promise.
        unsafe { (self.collapse)(&args) }
    }

    /// Folds lanes of values into accumulators.
    ///
    /// # Safety
    /// The places hold `lanes` lanes of this fold's type; `into` overlaps neither value nor index.
    pub(super) unsafe fn fold(&self, args: &FoldArgs) {
        // SAFETY: the loop was compiled for this CPU; the rest is the caller's promise.
        unsafe { (self.lanes)(args) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many values were folded, and how often a sum of them would have been rounded.
    #[derive(Clone, Copy)]
    struct Seen {
        values: u32,
        roundings: u32,
    }

    struct Count;
    impl Fold2<Seen> for Count {
        fn apply(a: Seen, b: Seen) -> Seen {
            let rounded = u32::from(a.values > 0 && b.values > 0);
            Seen { values: a.values + b.values, roundings: a.roundings.max(b.roundings) + rounded }
        }
    }

    /// Every value goes in once, and is rounded at most once more than in a tree of pairs.
    #[test]
    fn across_is_nearly_a_tree() {
        const MOST: usize = MOST_ACROSS / BLOCK;
        let mut values = vec![Seen { values: 1, roundings: 0 }; MOST_ACROSS];
        let value = Place { ptr: values.as_mut_ptr().cast(), step: size_of::<Seen>() };
        for blocks in (1..=100).chain([MOST / 2 - 1, MOST - GROUP - 1, MOST - 1, MOST]) {
            let mut into = [Seen { values: 0, roundings: 0 }; BLOCK];
            // SAFETY: there are so many values.
            unsafe { fold_across::<Count, Seen, { wide::<Seen>() }>(&mut into, value, blocks) };
            let tree = blocks.next_power_of_two().trailing_zeros();
            for seen in into {
                assert_eq!(seen.values as usize, blocks);
                assert!(
                    seen.roundings <= tree + 1,
                    "{} for {blocks} blocks, {tree} in pairs",
                    seen.roundings
                );
            }
        }
    }
}
