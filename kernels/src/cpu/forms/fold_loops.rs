//! The loops of folds: values are combined in adjacent pairs, level by level, the lower one on the left, as
//! [`mod@crate::interpret`] defines. They do not know which points the values belong to.
//!
//! Consecutive values are folded across, into one; rows of values along, lane by lane.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::cpu::loops::level::Loop;

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

/// How two values are combined.
pub(super) trait Combine<T> {
    fn combine(a: T, b: T) -> T;
}

pub(super) struct SumPairs;
pub(super) struct ProductPairs;
pub(super) struct MinPairs;
pub(super) struct MaxPairs;

/// What folds need of a lane type.
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
