//! Loops that apply a function to every lane, over blocks of 64 lanes that the compiler vectorises.
//!
//! A function is a type ([`Map1`], [`Map2`]), so that a loop is compiled for each function, lane type and
//! instruction set.

use std::marker::PhantomData;

use super::lanes::{BLOCK, LanePointer};
use super::level::{Compiled, Level, Loop, compiled_narrow};

/// Operands of one loop. `dst` overlaps none of the others; unused ones are [`LanePointer::NONE`].
pub(in crate::cpu) struct MapArgs {
    pub dst: LanePointer,
    pub a: LanePointer,
    pub b: LanePointer,
    pub c: LanePointer,
    /// At least [`BLOCK`].
    pub lanes: usize,
}

/// A compiled loop.
pub(in crate::cpu) type MapFn = Compiled<MapArgs>;

/// The first lane of the block after the one at `lane`. The last block of a ragged length overlaps the
/// one before: computing some lanes twice is cheaper than a second loop, and harmless.
#[inline(always)]
pub(in crate::cpu) fn next_block(lane: usize, lanes: usize) -> Option<usize> {
    (lane + BLOCK < lanes).then(|| (lane + BLOCK).min(lanes - BLOCK))
}

pub(in crate::cpu) trait Map1<A, R> {
    fn apply(a: A) -> R;
}

pub(in crate::cpu) trait Map2<A, R> {
    fn apply(a: A, b: A) -> R;
}

pub(in crate::cpu) struct Each1<F, A, R>(PhantomData<(F, A, R)>);
pub(in crate::cpu) struct Each2<F, A, R>(PhantomData<(F, A, R)>);
pub(in crate::cpu) struct EachSelect<T>(PhantomData<T>);

/// Separate functions, because references that are arguments are known not to overlap.
#[inline(always)]
pub(in crate::cpu) fn block1<F: Map1<A, R>, A: Copy, R>(dst: &mut [R; BLOCK], a: &[A; BLOCK]) {
    for k in 0..BLOCK {
        dst[k] = F::apply(a[k]);
    }
}

#[inline(always)]
fn block2<F: Map2<A, R>, A: Copy, R>(dst: &mut [R; BLOCK], a: &[A; BLOCK], b: &[A; BLOCK]) {
    for k in 0..BLOCK {
        dst[k] = F::apply(a[k], b[k]);
    }
}

#[inline(always)]
fn block_select<T: Copy>(dst: &mut [T; BLOCK], c: &[u8; BLOCK], a: &[T; BLOCK], b: &[T; BLOCK]) {
    for k in 0..BLOCK {
        dst[k] = if c[k] != 0 { a[k] } else { b[k] };
    }
}

impl<F: Map1<A, R>, A: Copy, R> Loop for Each1<F, A, R> {
    type Args = MapArgs;
    #[inline(always)]
    unsafe fn run(args: &MapArgs) {
        let mut at = Some(0);
        while let Some(lane) = at {
            // SAFETY: the caller promises places of the right type with whole blocks, `dst` apart.
            unsafe {
                block1::<F, A, R>(args.dst.block_mut(lane), args.a.block(lane));
            }
            at = next_block(lane, args.lanes);
        }
    }
}

impl<F: Map2<A, R>, A: Copy, R> Loop for Each2<F, A, R> {
    type Args = MapArgs;
    #[inline(always)]
    unsafe fn run(args: &MapArgs) {
        let mut at = Some(0);
        while let Some(lane) = at {
            // SAFETY: the caller promises places of the right type with whole blocks, `dst` apart.
            unsafe {
                block2::<F, A, R>(args.dst.block_mut(lane), args.a.block(lane), args.b.block(lane));
            }
            at = next_block(lane, args.lanes);
        }
    }
}

impl<T: Copy> Loop for EachSelect<T> {
    type Args = MapArgs;
    #[inline(always)]
    unsafe fn run(args: &MapArgs) {
        let mut at = Some(0);
        while let Some(lane) = at {
            // SAFETY: the caller promises places of the right type with whole blocks, `dst` apart.
            unsafe {
                let (c, a, b) = (args.a.block(lane), args.b.block(lane), args.c.block(lane));
                block_select::<T>(args.dst.block_mut(lane), c, a, b);
            }
            at = next_block(lane, args.lanes);
        }
    }
}

/// `a * b + c`, rounded once.
pub(in crate::cpu) struct EachFma<T>(PhantomData<T>);

macro_rules! each_fma {
    ($($float:ident),*) => {$(
        impl Loop for EachFma<$float> {
            type Args = MapArgs;
            #[inline(always)]
            unsafe fn run(args: &MapArgs) {
                let mut at = Some(0);
                while let Some(lane) = at {
                    // SAFETY: the caller promises places of the right type with whole blocks, `dst` apart.
                    unsafe {
                        let a = args.a.block::<$float>(lane);
                        let (b, c) = (args.b.block::<$float>(lane), args.c.block::<$float>(lane));
                        let dst = args.dst.block_mut::<$float>(lane);
                        for k in 0..BLOCK {
                            dst[k] = a[k].mul_add(b[k], c[k]);
                        }
                    }
                    at = next_block(lane, args.lanes);
                }
            }
        }
    )*};
}
each_fma!(f32, f64);

pub(in crate::cpu) fn map1<F: Map1<A, R>, A: Copy, R>(level: Level) -> MapFn {
    compiled_narrow::<Each1<F, A, R>>(level)
}

pub(in crate::cpu) fn map2<F: Map2<A, R>, A: Copy, R>(level: Level) -> MapFn {
    compiled_narrow::<Each2<F, A, R>>(level)
}

/// Runs `$body` with `$T` the Rust type of an integer lane.
macro_rules! with_int {
    ($lane:expr, $T:ident => $body:expr, else $other:expr) => {
        match $lane {
            Lane::I8 => {
                type $T = i8;
                $body
            }
            Lane::I16 => {
                type $T = i16;
                $body
            }
            Lane::I32 => {
                type $T = i32;
                $body
            }
            Lane::I64 => {
                type $T = i64;
                $body
            }
            Lane::U8 => {
                type $T = u8;
                $body
            }
            Lane::U16 => {
                type $T = u16;
                $body
            }
            Lane::U32 => {
                type $T = u32;
                $body
            }
            Lane::U64 => {
                type $T = u64;
                $body
            }
            Lane::F32 | Lane::F64 => $other,
        }
    };
}
pub(in crate::cpu) use with_int;

/// Runs `$body` with `$T` the Rust type of any lane.
macro_rules! with_lane {
    ($lane:expr, $T:ident => $body:expr) => {
        $crate::cpu::loops::map::with_int!($lane, $T => $body, else if $lane == Lane::F32 {
            type $T = f32;
            $body
        } else {
            type $T = f64;
            $body
        })
    };
}
pub(in crate::cpu) use with_lane;
