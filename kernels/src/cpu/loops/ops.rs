//! The loop of each operation and lane type.

use super::lanes::Lane;
use super::level::{Level, compiled_narrow};
use super::map::{EachFma, EachSelect, Map1, Map2, MapFn, map1, map2, with_int, with_lane};
use crate::dtype::DType;
use crate::ir::{BinaryOp, CompareOp, UnaryOp};

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

/// Names functions of floats as types.
macro_rules! float_functions {
    ($($name:ident($($arg:ident),*) -> $result:tt = $body:expr;)*) => {$(
        struct $name;
        float_functions!(@ $name($($arg),*) $result f32 $body);
        float_functions!(@ $name($($arg),*) $result f64 $body);
    )*};
    (@ $name:ident($($arg:ident),*) T $float:ident $body:expr) => {
        float_functions!(@@ $name($($arg),*) $float $float $body);
    };
    (@ $name:ident($($arg:ident),*) $result:ident $float:ident $body:expr) => {
        float_functions!(@@ $name($($arg),*) $result $float $body);
    };
    (@@ $name:ident($a:ident) $result:ident $float:ident $body:expr) => {
        impl Map1<$float, $result> for $name {
            #[inline(always)]
            fn apply($a: $float) -> $result { $body }
        }
    };
    (@@ $name:ident($a:ident, $b:ident) $result:ident $float:ident $body:expr) => {
        impl Map2<$float, $result> for $name {
            #[inline(always)]
            fn apply($a: $float, $b: $float) -> $result { $body }
        }
    };
}

float_functions! {
    FloatNeg(a) -> T = -a;
    FloatAbs(a) -> T = a.abs();
    Sqrt(a) -> T = a.sqrt();
    Floor(a) -> T = a.floor();
    Ceil(a) -> T = a.ceil();
    Trunc(a) -> T = a.trunc();
    Round(a) -> T = a.round_ties_even();
    IsNan(a) -> u8 = u8::from(a.is_nan());
    FloatAdd(a, b) -> T = a + b;
    FloatSub(a, b) -> T = a - b;
    FloatMul(a, b) -> T = a * b;
    FloatDiv(a, b) -> T = a / b;
    FloatRem(a, b) -> T = a % b;
    FloatMin(a, b) -> T = if (a < b) | a.is_nan() { a } else { b };
    FloatMax(a, b) -> T = if (a > b) | a.is_nan() { a } else { b };
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

struct LogicalNot;
impl Map1<u8, u8> for LogicalNot {
    #[inline(always)]
    fn apply(a: u8) -> u8 {
        (a == 0) as u8
    }
}

/// The loop of an operation of one operand.
pub(in crate::cpu) fn unary(level: Level, op: UnaryOp, dtype: DType) -> MapFn {
    fn int<T: Int>(level: Level, op: UnaryOp) -> MapFn {
        match op {
            UnaryOp::Neg => map1::<Neg, T, T>(level),
            UnaryOp::Abs => map1::<Abs, T, T>(level),
            UnaryOp::Not => map1::<Not, T, T>(level),
            UnaryOp::Sqrt
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Trunc
            | UnaryOp::Round
            | UnaryOp::IsNan => unreachable!("a verified kernel has no {op:?} of integers"),
        }
    }
    macro_rules! float {
        ($float:ident) => {
            match op {
                UnaryOp::Neg => map1::<FloatNeg, $float, $float>(level),
                UnaryOp::Abs => map1::<FloatAbs, $float, $float>(level),
                UnaryOp::Sqrt => map1::<Sqrt, $float, $float>(level),
                UnaryOp::Floor => map1::<Floor, $float, $float>(level),
                UnaryOp::Ceil => map1::<Ceil, $float, $float>(level),
                UnaryOp::Trunc => map1::<Trunc, $float, $float>(level),
                UnaryOp::Round => map1::<Round, $float, $float>(level),
                UnaryOp::IsNan => map1::<IsNan, $float, u8>(level),
                UnaryOp::Not => unreachable!("a verified kernel has no `not` of floats"),
            }
        };
    }
    if dtype == DType::Bool {
        return map1::<LogicalNot, u8, u8>(level);
    }
    let lane = Lane::of(dtype);
    with_int!(lane, T => int::<T>(level, op), else if lane == Lane::F32 { float!(f32) } else { float!(f64) })
}

/// The loop of an operation of two operands.
pub(in crate::cpu) fn binary(level: Level, op: BinaryOp, lane: Lane) -> MapFn {
    fn int<T: Int>(level: Level, op: BinaryOp) -> MapFn {
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
    macro_rules! float {
        ($float:ident) => {
            match op {
                BinaryOp::Add => map2::<FloatAdd, $float, $float>(level),
                BinaryOp::Sub => map2::<FloatSub, $float, $float>(level),
                BinaryOp::Mul => map2::<FloatMul, $float, $float>(level),
                BinaryOp::Div => map2::<FloatDiv, $float, $float>(level),
                BinaryOp::Rem => map2::<FloatRem, $float, $float>(level),
                BinaryOp::Min => map2::<FloatMin, $float, $float>(level),
                BinaryOp::Max => map2::<FloatMax, $float, $float>(level),
                BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                    unreachable!("a verified kernel has no {op:?} of floats")
                }
            }
        };
    }
    with_int!(lane, T => int::<T>(level, op), else if lane == Lane::F32 { float!(f32) } else { float!(f64) })
}

/// The loop of a comparison.
pub(in crate::cpu) fn compare(level: Level, op: CompareOp, lane: Lane) -> MapFn {
    with_lane!(lane, T => match op {
        CompareOp::Eq => map2::<Eq, T, u8>(level),
        CompareOp::Ne => map2::<Ne, T, u8>(level),
        CompareOp::Lt => map2::<Lt, T, u8>(level),
        CompareOp::Le => map2::<Le, T, u8>(level),
        CompareOp::Gt => map2::<Gt, T, u8>(level),
        CompareOp::Ge => map2::<Ge, T, u8>(level),
    })
}

/// The loop of a fused multiply-add.
pub(in crate::cpu) fn fma(level: Level, lane: Lane) -> MapFn {
    if lane == Lane::F32 {
        compiled_narrow::<EachFma<f32>>(level)
    } else {
        compiled_narrow::<EachFma<f64>>(level)
    }
}

/// The loop of a selection between lanes of `size` bytes.
pub(in crate::cpu) fn select(level: Level, size: usize) -> MapFn {
    match size {
        1 => compiled_narrow::<EachSelect<u8>>(level),
        2 => compiled_narrow::<EachSelect<u16>>(level),
        4 => compiled_narrow::<EachSelect<u32>>(level),
        _ => compiled_narrow::<EachSelect<u64>>(level),
    }
}
