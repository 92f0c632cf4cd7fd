//! Loops that apply a function to every lane, over blocks of 64 lanes that the compiler vectorises.
//!
//! A function is a value whose type is its own: a closure that captures nothing, or the name of a function.
//! So a loop is compiled for each function, lane type and instruction set.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::lanes::{BLOCK, LanePointer};
use super::level::{Compiled, Level, Loop, compiled};

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
fn next_block(lane: usize, lanes: usize) -> Option<usize> {
    (lane + BLOCK < lanes).then(|| (lane + BLOCK).min(lanes - BLOCK))
}

/// The only value of a function's type.
///
/// # Safety
/// There is a value of the type.
#[inline(always)]
unsafe fn function<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "a function that captures nothing") };
    // SAFETY: all values of a type without bytes are alike, and the caller knows that there is one.
    unsafe { NonNull::<F>::dangling().read() }
}

/// Declares the loop of functions of so many operands, and what compiles it.
macro_rules! each {
    ($each:ident, $block:ident, $map:ident, $($arg:ident: $type:ident),*) => {
        struct $each<F, $($type,)* R>(PhantomData<(F, $($type,)* R)>);

        /// A separate function, because references that are arguments are known not to overlap.
        #[inline(always)]
        fn $block<F: Fn($($type),*) -> R, $($type: Copy,)* R>(
            f: F,
            dst: &mut [R; BLOCK],
            $($arg: &[$type; BLOCK]),*
        ) {
            for k in 0..BLOCK {
                dst[k] = f($($arg[k]),*);
            }
        }

        impl<F: Fn($($type),*) -> R + Copy, $($type: Copy,)* R> Loop for $each<F, $($type,)* R> {
            type Args = MapArgs;
            #[inline(always)]
            unsafe fn run(args: &MapArgs) {
                let mut at = Some(0);
                while let Some(lane) = at {
                    // SAFETY: the caller promises places of the right type with whole blocks, `dst` apart;
                    // who compiled the loop had the function.
                    unsafe { $block(function::<F>(), args.dst.block_mut(lane), $(args.$arg.block(lane)),*) };
                    at = next_block(lane, args.lanes);
                }
            }
        }

        /// The loop of a function, which captures nothing.
        pub(in crate::cpu) fn $map<F: Fn($($type),*) -> R + Copy, $($type: Copy,)* R>(
            level: Level,
            _: F,
        ) -> MapFn {
            compiled::<$each<F, $($type,)* R>>(level)
        }
    };
}
each!(Each1, block1, map1, a: A);
each!(Each2, block2, map2, a: A, b: B);
each!(Each3, block3, map3, a: A, b: B, c: C);

/// `$body` with `$T` the name of a type.
macro_rules! typed {
    ($T:ident = $type:ty, $body:expr) => {{
        type $T = $type;
        $body
    }};
}
pub(in crate::cpu) use typed;

/// Runs `$body` with `$T` the unsigned integer of so many bytes.
macro_rules! of_size {
    ($bytes:expr, $T:ident => $body:expr) => {
        match $bytes {
            1 => $crate::cpu::loops::map::typed!($T = u8, $body),
            2 => $crate::cpu::loops::map::typed!($T = u16, $body),
            4 => $crate::cpu::loops::map::typed!($T = u32, $body),
            _ => $crate::cpu::loops::map::typed!($T = u64, $body),
        }
    };
}
pub(in crate::cpu) use of_size;

/// Runs `$body` with `$T` the Rust type of an integer lane.
macro_rules! with_int {
    ($lane:expr, $T:ident => $body:expr, else $other:expr) => {
        match $lane {
            Lane::I8 => $crate::cpu::loops::map::typed!($T = i8, $body),
            Lane::I16 => $crate::cpu::loops::map::typed!($T = i16, $body),
            Lane::I32 => $crate::cpu::loops::map::typed!($T = i32, $body),
            Lane::I64 => $crate::cpu::loops::map::typed!($T = i64, $body),
            Lane::U8 => $crate::cpu::loops::map::typed!($T = u8, $body),
            Lane::U16 => $crate::cpu::loops::map::typed!($T = u16, $body),
            Lane::U32 => $crate::cpu::loops::map::typed!($T = u32, $body),
            Lane::U64 => $crate::cpu::loops::map::typed!($T = u64, $body),
            Lane::F32 | Lane::F64 => $other,
        }
    };
}
pub(in crate::cpu) use with_int;

/// Runs `$body` with `$T` the Rust type of any lane.
macro_rules! with_lane {
    ($lane:expr, $T:ident => $body:expr) => {
        $crate::cpu::loops::map::with_int!($lane, $T => $body, else match $lane {
            Lane::F32 => $crate::cpu::loops::map::typed!($T = f32, $body),
            _ => $crate::cpu::loops::map::typed!($T = f64, $body),
        })
    };
}
pub(in crate::cpu) use with_lane;
