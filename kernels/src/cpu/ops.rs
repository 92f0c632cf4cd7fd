//! The compiled loops: one per operation and lane type, written as plain loops over blocks of 64
//! lanes that the compiler vectorises for each level. Float arithmetic is not here but in
//! [`super::chain`]. It does not know kernels, chunks or memory beyond its operands.

use std::marker::PhantomData;

use super::level::{Compiled, Level, Loop, compiled, compiled_narrow};
use super::place::{BLOCK, Lane, Place};
use crate::dtype::DType;
use crate::ir::{BinaryOp, CompareOp, Math1, Math2, UnaryOp};
use crate::{for_math1, for_math2};

/// Operands of one loop. `dst` overlaps none of the others; unused ones are [`Place::NONE`].
pub(super) struct MapArgs {
    pub dst: Place,
    pub a: Place,
    pub b: Place,
    pub c: Place,
    /// At least [`BLOCK`].
    pub lanes: usize,
}

/// A compiled loop.
pub(super) type MapFn = Compiled<MapArgs>;

/// The first lane of the block after the one at `lane`. The last block of a ragged length overlaps the
/// one before: computing some lanes twice is cheaper than a second loop, and harmless.
#[inline(always)]
fn next_block(lane: usize, lanes: usize) -> Option<usize> {
    (lane + BLOCK < lanes).then(|| (lane + BLOCK).min(lanes - BLOCK))
}

pub(super) trait Map1<A, R> {
    fn apply(a: A) -> R;
}

trait Map2<A, R> {
    fn apply(a: A, b: A) -> R;
}

struct Each1<F, A, R>(PhantomData<(F, A, R)>);
struct Each2<F, A, R>(PhantomData<(F, A, R)>);
struct EachSelect<T>(PhantomData<T>);

/// Separate functions, because references that are arguments are known not to overlap.
#[inline(always)]
fn block1<F: Map1<A, R>, A: Copy, R>(dst: &mut [R; BLOCK], a: &[A; BLOCK]) {
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

/// A function with a cheap form for small magnitudes, chosen block by block; both give the same bits.
struct EachAngle<S, F, T>(PhantomData<(S, F, T)>);

macro_rules! each_angle {
    ($float:ident, $limit:expr) => {
        impl<S: Map1<$float, $float>, F: Map1<$float, $float>> Loop for EachAngle<S, F, $float> {
            type Args = MapArgs;
            #[inline(always)]
            unsafe fn run(args: &MapArgs) {
                let mut at = Some(0);
                while let Some(lane) = at {
                    // SAFETY: the caller promises places of the right type with whole blocks, `dst` apart.
                    unsafe {
                        let (dst, a) = (args.dst.block_mut(lane), args.a.block(lane));
                        if a.iter().fold(true, |small, x: &$float| small & (x.abs() < $limit)) {
                            block1::<S, $float, $float>(dst, a);
                        } else {
                            block1::<F, $float, $float>(dst, a);
                        }
                    }
                    at = next_block(lane, args.lanes);
                }
            }
        }
    };
}
each_angle!(f32, crate::math::single::SMALL_ANGLE);
each_angle!(f64, crate::math::double::SMALL_ANGLE);

pub(super) fn map1<F: Map1<A, R>, A: Copy, R>(level: Level) -> MapFn {
    compiled_narrow::<Each1<F, A, R>>(level)
}

fn map2<F: Map2<A, R>, A: Copy, R>(level: Level) -> MapFn {
    compiled_narrow::<Each2<F, A, R>>(level)
}

/// Integers as the IR has them: wrapping, division by zero gives zero, shift counts modulo width.
trait Int: Copy + Ord {
    const ZERO: Self;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn rem(self, b: Self) -> Self;
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    fn shl(self, b: Self) -> Self;
    fn shr(self, b: Self) -> Self;
    fn not(self) -> Self;
}

macro_rules! ints {
    ($($int:ident),*) => {$(
        impl Int for $int {
            const ZERO: Self = 0;
            #[inline(always)]
            fn add(self, b: Self) -> Self { self.wrapping_add(b) }
            #[inline(always)]
            fn sub(self, b: Self) -> Self { self.wrapping_sub(b) }
            #[inline(always)]
            fn mul(self, b: Self) -> Self { self.wrapping_mul(b) }
            #[inline(always)]
            fn div(self, b: Self) -> Self { if b == 0 { 0 } else { self.wrapping_div(b) } }
            #[inline(always)]
            fn rem(self, b: Self) -> Self { if b == 0 { 0 } else { self.wrapping_rem(b) } }
            #[inline(always)]
            fn and(self, b: Self) -> Self { self & b }
            #[inline(always)]
            fn or(self, b: Self) -> Self { self | b }
            #[inline(always)]
            fn xor(self, b: Self) -> Self { self ^ b }
            #[inline(always)]
            fn shl(self, b: Self) -> Self { self.wrapping_shl(b as u32) }
            #[inline(always)]
            fn shr(self, b: Self) -> Self { self.wrapping_shr(b as u32) }
            #[inline(always)]
            fn not(self) -> Self { !self }
        }
    )*};
}
ints!(i8, i16, i32, i64, u8, u16, u32, u64);

/// Names functions as types, so that loops are generic over them.
macro_rules! int_functions {
    ($($name:ident($($arg:ident),*) = $body:expr;)*) => {$(
        struct $name;
        int_functions!(@ $name($($arg),*) $body);
    )*};
    (@ $name:ident($a:ident) $body:expr) => {
        impl<T: Int> Map1<T, T> for $name {
            #[inline(always)]
            fn apply($a: T) -> T { $body }
        }
    };
    (@ $name:ident($a:ident, $b:ident) $body:expr) => {
        impl<T: Int> Map2<T, T> for $name {
            #[inline(always)]
            fn apply($a: T, $b: T) -> T { $body }
        }
    };
}

int_functions! {
    Neg(a) = T::ZERO.sub(a);
    Abs(a) = if a < T::ZERO { T::ZERO.sub(a) } else { a };
    Not(a) = a.not();
    Add(a, b) = a.add(b);
    Sub(a, b) = a.sub(b);
    Mul(a, b) = a.mul(b);
    Div(a, b) = a.div(b);
    Rem(a, b) = a.rem(b);
    Min(a, b) = if a < b { a } else { b };
    Max(a, b) = if a > b { a } else { b };
    And(a, b) = a.and(b);
    Or(a, b) = a.or(b);
    Xor(a, b) = a.xor(b);
    Shl(a, b) = a.shl(b);
    Shr(a, b) = a.shr(b);
}

macro_rules! comparisons {
    ($($name:ident $op:tt;)*) => {$(
        struct $name;
        impl<T: PartialOrd> Map2<T, u8> for $name {
            #[inline(always)]
            fn apply(a: T, b: T) -> u8 { (a $op b) as u8 }
        }
    )*};
}
comparisons! { Eq ==; Ne !=; Lt <; Le <=; Gt >; Ge >=; }

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
pub(super) use with_int;

/// Runs `$body` with `$T` the Rust type of any lane.
macro_rules! with_lane {
    ($lane:expr, $T:ident => $body:expr) => {
        $crate::cpu::ops::with_int!($lane, $T => $body, else if $lane == Lane::F32 {
            type $T = f32;
            $body
        } else {
            type $T = f64;
            $body
        })
    };
}
pub(super) use with_lane;

/// The loop of an operation of one integer or bool operand.
pub(super) fn unary(level: Level, op: UnaryOp, dtype: DType) -> Option<MapFn> {
    if dtype == DType::Bool {
        return (op == UnaryOp::Not).then(|| map1::<LogicalNot, u8, u8>(level));
    }
    fn of<T: Int>(level: Level, op: UnaryOp) -> Option<MapFn> {
        match op {
            UnaryOp::Neg => Some(map1::<Neg, T, T>(level)),
            UnaryOp::Abs => Some(map1::<Abs, T, T>(level)),
            UnaryOp::Not => Some(map1::<Not, T, T>(level)),
            UnaryOp::Sqrt
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Trunc
            | UnaryOp::Round
            | UnaryOp::IsNan => None,
        }
    }
    with_int!(Lane::of(dtype), T => of::<T>(level, op), else None)
}

struct LogicalNot;
impl Map1<u8, u8> for LogicalNot {
    #[inline(always)]
    fn apply(a: u8) -> u8 {
        (a == 0) as u8
    }
}

struct FloatRem;
impl Map2<f32, f32> for FloatRem {
    #[inline(always)]
    fn apply(a: f32, b: f32) -> f32 {
        a % b
    }
}
impl Map2<f64, f64> for FloatRem {
    #[inline(always)]
    fn apply(a: f64, b: f64) -> f64 {
        a % b
    }
}

/// The loop of an operation of two integer or bool operands, or of a float remainder.
pub(super) fn binary(level: Level, op: BinaryOp, dtype: DType) -> Option<MapFn> {
    fn of<T: Int>(level: Level, op: BinaryOp) -> MapFn {
        match op {
            BinaryOp::Add => map2::<Add, T, T>(level),
            BinaryOp::Sub => map2::<Sub, T, T>(level),
            BinaryOp::Mul => map2::<Mul, T, T>(level),
            BinaryOp::Div => map2::<Div, T, T>(level),
            BinaryOp::Rem => map2::<Rem, T, T>(level),
            BinaryOp::Min => map2::<Min, T, T>(level),
            BinaryOp::Max => map2::<Max, T, T>(level),
            BinaryOp::And => map2::<And, T, T>(level),
            BinaryOp::Or => map2::<Or, T, T>(level),
            BinaryOp::Xor => map2::<Xor, T, T>(level),
            BinaryOp::Shl => map2::<Shl, T, T>(level),
            BinaryOp::Shr => map2::<Shr, T, T>(level),
        }
    }
    let lane = Lane::of(dtype);
    with_int!(lane, T => Some(of::<T>(level, op)), else match (op, lane) {
        (BinaryOp::Rem, Lane::F32) => Some(map2::<FloatRem, f32, f32>(level)),
        (BinaryOp::Rem, _) => Some(map2::<FloatRem, f64, f64>(level)),
        _ => None,
    })
}

/// The loop of a comparison of integers or bools.
pub(super) fn compare(level: Level, op: CompareOp, dtype: DType) -> Option<MapFn> {
    fn of<T: Copy + PartialOrd>(level: Level, op: CompareOp) -> MapFn {
        match op {
            CompareOp::Eq => map2::<Eq, T, u8>(level),
            CompareOp::Ne => map2::<Ne, T, u8>(level),
            CompareOp::Lt => map2::<Lt, T, u8>(level),
            CompareOp::Le => map2::<Le, T, u8>(level),
            CompareOp::Gt => map2::<Gt, T, u8>(level),
            CompareOp::Ge => map2::<Ge, T, u8>(level),
        }
    }
    with_int!(Lane::of(dtype), T => Some(of::<T>(level, op)), else None)
}

/// The loop of a selection between lanes of `size` bytes.
pub(super) fn select(level: Level, size: usize) -> MapFn {
    match size {
        1 => compiled_narrow::<EachSelect<u8>>(level),
        2 => compiled_narrow::<EachSelect<u16>>(level),
        4 => compiled_narrow::<EachSelect<u32>>(level),
        _ => compiled_narrow::<EachSelect<u64>>(level),
    }
}

/// A Rust function as a type that loops are generic over.
macro_rules! function {
    ($name:ident, $f:path, $float:ident, $($arg:ident),*) => {
        struct $name;
        function!(@ $name, $f, $float, $($arg),*);
    };
    (@ $name:ident, $f:path, $float:ident, $a:ident) => {
        impl Map1<$float, $float> for $name {
            #[inline(always)]
            fn apply($a: $float) -> $float { $f($a) }
        }
    };
    (@ $name:ident, $f:path, $float:ident, $a:ident, $b:ident) => {
        impl Map2<$float, $float> for $name {
            #[inline(always)]
            fn apply($a: $float, $b: $float) -> $float { $f($a, $b) }
        }
    };
}

/// The loop of a mathematical function of f32 or, if `double`, f64.
pub(super) fn math1(level: Level, function: Math1, double: bool) -> MapFn {
    if let Some(f) = angle(level, function, double) {
        return f;
    }
    macro_rules! single {
        ($f:path) => {{
            function!(F, $f, f32, a);
            compiled::<Each1<F, f32, f32>>(level)
        }};
    }
    macro_rules! double {
        ($f:path) => {{
            function!(F, $f, f64, a);
            compiled::<Each1<F, f64, f64>>(level)
        }};
    }
    if double {
        for_math1!(function, crate::math::double, double)
    } else {
        for_math1!(function, crate::math::single, single)
    }
}

/// The functions of angles, whose argument reduction is cheap for small ones.
fn angle(level: Level, function: Math1, double: bool) -> Option<MapFn> {
    macro_rules! both {
        ($small:ident, $full:ident) => {{
            use crate::math::{double as d, single as s};
            function!(Small, s::$small, f32, a);
            function!(Full, s::$full, f32, a);
            function!(SmallDouble, d::$small, f64, a);
            function!(FullDouble, d::$full, f64, a);
            Some(if double {
                compiled::<EachAngle<SmallDouble, FullDouble, f64>>(level)
            } else {
                compiled::<EachAngle<Small, Full, f32>>(level)
            })
        }};
    }
    match function {
        Math1::Sin => both!(sin_small, sin),
        Math1::Cos => both!(cos_small, cos),
        Math1::Tan => both!(tan_small, tan),
        _ => None,
    }
}

/// As [`math1`], of two operands.
pub(super) fn math2(level: Level, function: Math2, double: bool) -> MapFn {
    macro_rules! single {
        ($f:path) => {{
            function!(F, $f, f32, a, b);
            compiled::<Each2<F, f32, f32>>(level)
        }};
    }
    macro_rules! double {
        ($f:path) => {{
            function!(F, $f, f64, a, b);
            compiled::<Each2<F, f64, f64>>(level)
        }};
    }
    if double {
        for_math2!(function, crate::math::double, double)
    } else {
        for_math2!(function, crate::math::single, single)
    }
}
