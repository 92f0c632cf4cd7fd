//! The loop of each operation and lane type: operations, casts, and what goes between memory and lanes of the
//! narrow floats. Integers are as the IR has them: wrapping, division by zero gives zero, shift counts modulo
//! width.

use super::lanes::Lane;
use super::level::Level;
use super::map::{MapFn, map1, map2, map3, of_size, with_int, with_lane};
use super::narrow::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::dtype::DType;
use crate::ir::{BinaryOp, CompareOp, UnaryOp};

/// The loop of an operation of one operand.
pub(in crate::cpu) fn unary(level: Level, op: UnaryOp, dtype: DType) -> MapFn {
    macro_rules! float {
        ($float:ident) => {
            match op {
                UnaryOp::Neg => map1(level, |a: $float| -a),
                UnaryOp::Abs => map1(level, $float::abs),
                UnaryOp::Sqrt => map1(level, $float::sqrt),
                UnaryOp::Floor => map1(level, $float::floor),
                UnaryOp::Ceil => map1(level, $float::ceil),
                UnaryOp::Trunc => map1(level, $float::trunc),
                UnaryOp::Round => map1(level, $float::round_ties_even),
                UnaryOp::IsNan => map1(level, |a: $float| u8::from(a.is_nan())),
                UnaryOp::Not => unreachable!("a verified kernel has no `not` of floats"),
            }
        };
    }
    if dtype == DType::Bool {
        return map1(level, |a: u8| u8::from(a == 0));
    }
    let lane = Lane::of(dtype);
    with_int!(lane, T => match op {
        UnaryOp::Neg => map1(level, T::wrapping_neg),
        UnaryOp::Abs => map1(level, |a: T| if a < T::default() { a.wrapping_neg() } else { a }),
        UnaryOp::Not => map1(level, |a: T| !a),
        _ => unreachable!("a verified kernel has no {op:?} of integers"),
    }, else if lane == Lane::F32 { float!(f32) } else { float!(f64) })
}

/// The loop of an operation of two operands.
#[allow(clippy::unnecessary_cast, reason = "shift counts of any type")]
pub(in crate::cpu) fn binary(level: Level, op: BinaryOp, lane: Lane) -> MapFn {
    macro_rules! float {
        ($float:ident) => {
            match op {
                BinaryOp::Add => map2(level, |a: $float, b: $float| a + b),
                BinaryOp::Sub => map2(level, |a: $float, b: $float| a - b),
                BinaryOp::Mul => map2(level, |a: $float, b: $float| a * b),
                BinaryOp::Div => map2(level, |a: $float, b: $float| a / b),
                BinaryOp::Rem => map2(level, |a: $float, b: $float| a % b),
                BinaryOp::Min => map2(level, |a: $float, b: $float| if (a < b) | a.is_nan() { a } else { b }),
                BinaryOp::Max => map2(level, |a: $float, b: $float| if (a > b) | a.is_nan() { a } else { b }),
                _ => unreachable!("a verified kernel has no {op:?} of floats"),
            }
        };
    }
    with_int!(lane, T => match op {
        BinaryOp::Add => map2(level, T::wrapping_add),
        BinaryOp::Sub => map2(level, T::wrapping_sub),
        BinaryOp::Mul => map2(level, T::wrapping_mul),
        BinaryOp::Div => map2(level, |a: T, b: T| if b == 0 { 0 } else { a.wrapping_div(b) }),
        BinaryOp::Rem => map2(level, |a: T, b: T| if b == 0 { 0 } else { a.wrapping_rem(b) }),
        BinaryOp::Min => map2(level, |a: T, b: T| if a < b { a } else { b }),
        BinaryOp::Max => map2(level, |a: T, b: T| if a > b { a } else { b }),
        BinaryOp::And => map2(level, |a: T, b: T| a & b),
        BinaryOp::Or => map2(level, |a: T, b: T| a | b),
        BinaryOp::Xor => map2(level, |a: T, b: T| a ^ b),
        BinaryOp::Shl => map2(level, |a: T, b: T| a.wrapping_shl(b as u32)),
        BinaryOp::Shr => map2(level, |a: T, b: T| a.wrapping_shr(b as u32)),
    }, else if lane == Lane::F32 { float!(f32) } else { float!(f64) })
}

/// The loop of a comparison.
pub(in crate::cpu) fn compare(level: Level, op: CompareOp, lane: Lane) -> MapFn {
    with_lane!(lane, T => match op {
        CompareOp::Eq => map2(level, |a: T, b: T| u8::from(a == b)),
        CompareOp::Ne => map2(level, |a: T, b: T| u8::from(a != b)),
        CompareOp::Lt => map2(level, |a: T, b: T| u8::from(a < b)),
        CompareOp::Le => map2(level, |a: T, b: T| u8::from(a <= b)),
        CompareOp::Gt => map2(level, |a: T, b: T| u8::from(a > b)),
        CompareOp::Ge => map2(level, |a: T, b: T| u8::from(a >= b)),
    })
}

/// The loop of a fused multiply-add.
pub(in crate::cpu) fn fma(level: Level, lane: Lane) -> MapFn {
    if lane == Lane::F32 { map3(level, f32::mul_add) } else { map3(level, f64::mul_add) }
}

/// The loop of a selection between lanes of `size` bytes.
pub(in crate::cpu) fn select(level: Level, size: usize) -> MapFn {
    of_size!(size, T => map3(level, |c: u8, a: T, b: T| if c != 0 { a } else { b }))
}

/// The loop that converts lanes by value, as Rust's `as` does: truncating, saturating, NaN to 0.
pub(in crate::cpu) fn cast(level: Level, from: Lane, to: Lane) -> MapFn {
    with_lane!(from, A => with_lane!(to, R => map1(level, |a: A| a as R)))
}

/// The loop that tests lanes for being other than zero.
pub(in crate::cpu) fn non_zero(level: Level, from: Lane) -> MapFn {
    with_lane!(from, A => map1(level, |a: A| u8::from(a != A::default())))
}

/// f16 or bf16 memory to f32 lanes.
pub(in crate::cpu) fn widen(level: Level, dtype: DType) -> MapFn {
    if dtype == DType::F16 { map1(level, f16_to_f32) } else { map1(level, bf16_to_f32) }
}

/// f32 lanes to f16 or bf16 memory.
pub(in crate::cpu) fn narrow(level: Level, dtype: DType) -> MapFn {
    if dtype == DType::F16 { map1(level, f32_to_f16) } else { map1(level, f32_to_bf16) }
}

/// f32 lanes rounded to f16 or bf16, and widened again.
pub(in crate::cpu) fn round(level: Level, dtype: DType) -> MapFn {
    match dtype {
        DType::F16 => map1(level, |a: f32| f16_to_f32(f32_to_f16(a))),
        _ => map1(level, |a: f32| bf16_to_f32(f32_to_bf16(a))),
    }
}

/// f64 lanes to f32 lanes that may be rounded once more, to f16 or bf16, as if rounded once.
pub(in crate::cpu) fn odd_f32(level: Level) -> MapFn {
    map1(level, crate::dtype::f64_to_odd_f32)
}
