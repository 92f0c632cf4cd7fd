//! The accumulator machine: a whole run of float operations in one pass over memory.
//!
//! A chain is a short program of [`Micro`] operations. For each block of eight registers the machine
//! runs all of it: the accumulator stays in registers, every other operand is read where it lies
//! (an array's row, a slot, a splatted constant), and only values that are needed again are written.
//! So a stencil or a long expression reads each input once and writes each output once, and the
//! price of interpretation is one predictable jump per operation and block.
//!
//! It does not know kernels; [`super::compile`] writes the programs.

use std::marker::PhantomData;

use super::level::{self, Compiled, Level, Loop};
use super::place::{Lane, Place};
use super::vector::{Lanes, Vector};
use crate::ir::CompareOp;

/// What a [`Micro`] does with the accumulator `a` and its operands `x` and `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Do {
    /// a = x
    Set,
    /// a = x + y, and so on: `Set`, then the operation with `y`.
    SetAdd,
    SetSub,
    SetMul,
    /// a = a + x
    Add,
    /// a = a - x
    Sub,
    /// a = x - a
    SubFrom,
    /// a = a * x
    Mul,
    /// a = a / x
    Div,
    /// a = x / a
    DivInto,
    /// a = min(a, x)
    Min,
    /// a = min(x, a)
    MinOf,
    /// a = max(a, x)
    Max,
    /// a = max(x, a)
    MaxOf,
    /// a = (a + x) + y, and so on: two operations, each rounded, in one step.
    AddAdd,
    AddMul,
    SubMul,
    MulMul,
    MulAdd,
    MulSub,
    /// a = a + (x * y), both rounded.
    AddProduct,
    /// a = a - (x * y), both rounded.
    SubProduct,
    /// a = (x * y) - a, both rounded.
    ProductSub,
    /// a = fma(a, x, y)
    FmaProduct,
    /// a = fma(x, y, a)
    FmaTerm,
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Nearest,
    RoundF16,
    RoundBf16,
    /// y = a == x, and so on, as bools; a stays
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// y = is a NaN?; a stays
    IsNan,
    /// a = if y { a } else { x }
    SelectElse,
    /// a = if y { x } else { a }
    SelectThen,
    /// x = a; a stays
    Put,
    /// x = a, past the caches if the launch says so; a stays
    Out,
}

/// One operation; `x` and `y` number places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Micro {
    pub what: Do,
    pub x: u32,
    pub y: u32,
}

impl Micro {
    /// The number of no place.
    pub(super) const NO_PLACE: u32 = u32::MAX;

    /// Does it read this place?
    pub(super) fn reads(self, place: u32) -> bool {
        match self.what {
            Do::Put | Do::Out | Do::IsNan => false,
            Do::Eq | Do::Ne | Do::Lt | Do::Le | Do::Gt | Do::Ge => self.x == place,
            _ => self.x == place || self.y == place,
        }
    }
}

/// A chain and what it runs on.
pub(super) struct ChainArgs {
    pub code: *const Micro,
    pub code_len: usize,
    pub places: *const Place,
    /// Lanes, at least 1.
    pub lanes: usize,
    /// Lanes of the first block, so that the others start on a cache line of the output; may be 0.
    pub head: usize,
    /// Write outputs past the caches.
    pub stream: bool,
    /// Nothing the chain reads is written by it, so lanes may be computed twice.
    pub redo: bool,
}

/// The machine for one register type.
pub(super) struct Chain<V>(PhantomData<V>);

impl<V: Vector> Loop for Chain<V> {
    type Args = ChainArgs;

    #[inline(always)]
    unsafe fn run(args: &ChainArgs) {
        let width = REGISTERS * V::LANES;
        // A ragged last block redoes lanes of its neighbour, which is cheaper than masks. Past the caches
        // every line must be written once, so there the ends are masked.
        let redo = args.redo && !args.stream && args.lanes >= width;
        let mut lane = 0;
        while lane < args.lanes {
            let next = if lane < args.head { args.head } else { lane + width }.min(args.lanes);
            let first = if redo { lane.min(args.lanes - width) } else { lane };
            // SAFETY: the blocks lie in the lanes the caller promises.
            unsafe {
                if redo || next - lane == width {
                    block::<V, false>(args, first, width);
                } else {
                    block::<V, true>(args, lane, next - lane);
                }
            }
            lane = next;
        }
    }
}

/// The machine for floats of a lane, compiled for a level.
pub(super) fn machine(level: Level, lane: Lane) -> Compiled<ChainArgs> {
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
    let single = lane == Lane::F32;
    match level {
        Level::Baseline if single => level::baseline::<Chain<Lanes<f32, 4>>>,
        Level::Baseline => level::baseline::<Chain<Lanes<f64, 2>>>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if single => level::avx2::<Chain<__m256>>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => level::avx2::<Chain<__m256d>>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Code if single => level::avx512::<Chain<__m512>>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Code => level::avx512::<Chain<__m512d>>,
    }
}

/// Registers of a block: enough that an operation's dispatch is cheap beside its work.
const REGISTERS: usize = 8;
type Block<V> = [V; REGISTERS];

/// Where the part of a place that belongs to register `k` of the block starts.
#[inline(always)]
fn address(place: Place, lane: usize, k: usize, register_bytes: usize) -> *mut u8 {
    place.at(lane).wrapping_add(k * register_bytes)
}

/// How many of `count` lanes fall into register `k`.
#[inline(always)]
fn share<V: Vector>(count: usize, k: usize) -> usize {
    count.saturating_sub(k * V::LANES).min(V::LANES)
}

/// The array of `$f` for the registers 0 to 7; indices stay constants, so it stays in registers.
macro_rules! eight {
    ($k:ident => $f:expr) => {
        [
            {
                const $k: usize = 0;
                $f
            },
            {
                const $k: usize = 1;
                $f
            },
            {
                const $k: usize = 2;
                $f
            },
            {
                const $k: usize = 3;
                $f
            },
            {
                const $k: usize = 4;
                $f
            },
            {
                const $k: usize = 5;
                $f
            },
            {
                const $k: usize = 6;
                $f
            },
            {
                const $k: usize = 7;
                $f
            },
        ]
    };
}

#[inline(always)]
unsafe fn read<V: Vector, const PART: bool>(place: Place, lane: usize, count: usize) -> Block<V> {
    let bytes = V::LANES * V::SIZE;
    // SAFETY: a splatted place holds a whole block; any other holds the `count` lanes asked for.
    unsafe {
        if PART && place.step != 0 {
            eight!(K => V::load_part(address(place, lane, K, bytes), share::<V>(count, K)))
        } else {
            eight!(K => V::load(address(place, lane, K, bytes)))
        }
    }
}

#[inline(always)]
unsafe fn read_mask<V: Vector, const PART: bool>(
    place: Place,
    lane: usize,
    count: usize,
) -> [V::Mask; REGISTERS] {
    // SAFETY: as in `read`.
    unsafe {
        if PART && place.step != 0 {
            eight!(K => V::load_mask_part(address(place, lane, K, V::LANES), share::<V>(count, K)))
        } else {
            eight!(K => V::load_mask(address(place, lane, K, V::LANES)))
        }
    }
}

#[inline(always)]
unsafe fn write<V: Vector, const PART: bool>(
    a: Block<V>,
    place: Place,
    lane: usize,
    count: usize,
    stream: bool,
) {
    let bytes = V::LANES * V::SIZE;
    let aligned = stream && (place.at(lane) as usize).is_multiple_of(64);
    // SAFETY: the place holds the `count` lanes asked for (a whole block if it is splatted), and it
    // is streamed to only where the register's alignment, at most 64, holds.
    unsafe {
        if PART && place.step != 0 {
            eight!(K => match share::<V>(count, K) {
                whole if whole == V::LANES && aligned => a[K].stream(address(place, lane, K, bytes)),
                some => a[K].store_part(address(place, lane, K, bytes), some),
            });
        } else if aligned {
            eight!(K => a[K].stream(address(place, lane, K, bytes)));
        } else {
            eight!(K => a[K].store(address(place, lane, K, bytes)));
        }
    }
}

/// Masks are written whole: slots have a spare block behind their last lane.
#[inline(always)]
unsafe fn write_mask<V: Vector>(mask: [V::Mask; REGISTERS], place: Place, lane: usize) {
    // SAFETY: a slot of bools has room for a whole block from any lane.
    unsafe {
        eight!(K => V::store_mask(mask[K], address(place, lane, K, V::LANES)));
    }
}

/// Runs the chain on `count` lanes from `lane`; all of a block's lanes unless `PART`.
#[inline(always)]
unsafe fn block<V: Vector, const PART: bool>(args: &ChainArgs, lane: usize, count: usize) {
    // SAFETY: the caller promises the code, the places it names, and the lanes of each.
    unsafe {
        let code = std::slice::from_raw_parts(args.code, args.code_len);
        let mut a: Block<V> = eight!(_K => V::zero());
        for micro in code {
            let place = |n: u32| *args.places.add(n as usize);
            macro_rules! x {
                () => {
                    read::<V, PART>(place(micro.x), lane, count)
                };
            }
            macro_rules! with_x {
                ($x:ident, $K:ident => $f:expr) => {{
                    let $x: Block<V> = x!();
                    a = eight!($K => $f);
                }};
            }
            macro_rules! with_xy {
                ($x:ident, $y:ident, $K:ident => $f:expr) => {{
                    let $x: Block<V> = x!();
                    let $y = read::<V, PART>(place(micro.y), lane, count);
                    a = eight!($K => $f);
                }};
            }
            macro_rules! compare {
                ($op:ident) => {{
                    let x = x!();
                    write_mask::<V>(eight!(K => a[K].compare(CompareOp::$op, x[K])), place(micro.y), lane);
                }};
            }
            match micro.what {
                Do::Set => a = x!(),
                Do::SetAdd => with_xy!(x, y, K => x[K].add(y[K])),
                Do::SetSub => with_xy!(x, y, K => x[K].sub(y[K])),
                Do::SetMul => with_xy!(x, y, K => x[K].mul(y[K])),
                Do::Add => with_x!(x, K => a[K].add(x[K])),
                Do::Sub => with_x!(x, K => a[K].sub(x[K])),
                Do::SubFrom => with_x!(x, K => x[K].sub(a[K])),
                Do::Mul => with_x!(x, K => a[K].mul(x[K])),
                Do::Div => with_x!(x, K => a[K].div(x[K])),
                Do::DivInto => with_x!(x, K => x[K].div(a[K])),
                Do::Min => with_x!(x, K => a[K].min(x[K])),
                Do::MinOf => with_x!(x, K => x[K].min(a[K])),
                Do::Max => with_x!(x, K => a[K].max(x[K])),
                Do::MaxOf => with_x!(x, K => x[K].max(a[K])),
                Do::AddAdd => with_xy!(x, y, K => a[K].add(x[K]).add(y[K])),
                Do::AddMul => with_xy!(x, y, K => a[K].add(x[K]).mul(y[K])),
                Do::SubMul => with_xy!(x, y, K => a[K].sub(x[K]).mul(y[K])),
                Do::MulMul => with_xy!(x, y, K => a[K].mul(x[K]).mul(y[K])),
                Do::MulAdd => with_xy!(x, y, K => a[K].mul(x[K]).add(y[K])),
                Do::MulSub => with_xy!(x, y, K => a[K].mul(x[K]).sub(y[K])),
                Do::AddProduct => with_xy!(x, y, K => a[K].add(x[K].mul(y[K]))),
                Do::SubProduct => with_xy!(x, y, K => a[K].sub(x[K].mul(y[K]))),
                Do::ProductSub => with_xy!(x, y, K => x[K].mul(y[K]).sub(a[K])),
                Do::FmaProduct => with_xy!(x, y, K => a[K].fma(x[K], y[K])),
                Do::FmaTerm => with_xy!(x, y, K => x[K].fma(y[K], a[K])),
                Do::Neg => a = eight!(K => a[K].neg()),
                Do::Abs => a = eight!(K => a[K].abs()),
                Do::Sqrt => a = eight!(K => a[K].sqrt()),
                Do::Floor => a = eight!(K => a[K].floor()),
                Do::Ceil => a = eight!(K => a[K].ceil()),
                Do::Trunc => a = eight!(K => a[K].trunc()),
                Do::Nearest => a = eight!(K => a[K].nearest()),
                Do::RoundF16 => a = eight!(K => a[K].round_f16()),
                Do::RoundBf16 => a = eight!(K => a[K].round_bf16()),
                Do::Eq => compare!(Eq),
                Do::Ne => compare!(Ne),
                Do::Lt => compare!(Lt),
                Do::Le => compare!(Le),
                Do::Gt => compare!(Gt),
                Do::Ge => compare!(Ge),
                Do::IsNan => write_mask::<V>(eight!(K => a[K].is_nan()), place(micro.y), lane),
                Do::SelectElse => {
                    let mask = read_mask::<V, PART>(place(micro.y), lane, count);
                    with_x!(x, K => V::select(mask[K], a[K], x[K]));
                }
                Do::SelectThen => {
                    let mask = read_mask::<V, PART>(place(micro.y), lane, count);
                    with_x!(x, K => V::select(mask[K], x[K], a[K]));
                }
                Do::Put => write::<V, PART>(a, place(micro.x), lane, count, false),
                Do::Out => write::<V, PART>(a, place(micro.x), lane, count, args.stream),
            }
        }
    }
}
