//! The meaning of every operation on scalars.
//!
//! f32 and f64 round to nearest even after each operation; f16 and bf16 compute in f32 and round once more.
//! Integers are computed in `i128` and wrapped to their width.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Rem, Sub};

use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{BinaryOp, CompareOp, Math1, Math2, UnaryOp};
use crate::{for_math1, for_math2};

/// A bool.
pub(super) fn truth(value: bool) -> Scalar {
    Scalar { dtype: DType::Bool, bits: u64::from(value) }
}

pub(super) fn is_nan(value: Scalar) -> bool {
    value.dtype.is_float() && value.to_f64().is_nan()
}

/// A narrow float as f32, which holds every f16, bf16 and f32.
fn single_of(value: Scalar) -> f32 {
    value.to_f64() as f32
}

/// An integer, with the sign of its type.
fn wide(value: Scalar) -> i128 {
    match value.dtype.kind() {
        Kind::Int => i128::from(value.to_i64()),
        _ => i128::from(value.bits),
    }
}

/// An integer of `dtype`, wrapped.
fn wrap(dtype: DType, value: i128) -> Scalar {
    Scalar { dtype, bits: value as u64 & u64::MAX >> (64 - 8 * dtype.size_bytes()) }
}

/// One operand; the result has its type (bool for `IsNan`).
pub fn unary(op: UnaryOp, a: Scalar) -> Scalar {
    let dtype = a.dtype;
    if op == UnaryOp::IsNan {
        return truth(is_nan(a));
    }
    match dtype.kind() {
        Kind::Bool => truth(a.bits == 0),
        Kind::Int | Kind::Uint => match op {
            UnaryOp::Neg => wrap(dtype, -wide(a)),
            UnaryOp::Abs => wrap(dtype, wide(a).abs()),
            _ => wrap(dtype, !wide(a)),
        },
        Kind::Float => {
            let x = a.to_f64();
            let result = match op {
                UnaryOp::Neg => -x,
                UnaryOp::Abs => x.abs(),
                UnaryOp::Floor => x.floor(),
                UnaryOp::Ceil => x.ceil(),
                UnaryOp::Trunc => x.trunc(),
                UnaryOp::Round => x.round_ties_even(),
                UnaryOp::Sqrt if dtype == DType::F64 => x.sqrt(),
                UnaryOp::Sqrt => f64::from((x as f32).sqrt()),
                UnaryOp::Not | UnaryOp::IsNan => unreachable!("a verified kernel has no {op:?} of floats"),
            };
            Scalar::from_f64(dtype, result)
        }
    }
}

/// Two operands of one type.
pub fn binary(op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
    match op {
        // A NaN wins; of -0 and 0 the second operand.
        BinaryOp::Min => return if compare(CompareOp::Lt, a, b) || is_nan(a) { a } else { b },
        BinaryOp::Max => return if compare(CompareOp::Gt, a, b) || is_nan(a) { a } else { b },
        _ => {}
    }
    match a.dtype.kind() {
        Kind::Float if a.dtype == DType::F64 => Scalar::from_f64(a.dtype, float(op, a.to_f64(), b.to_f64())),
        Kind::Float => Scalar::from_f64(a.dtype, float(op, single_of(a), single_of(b)).into()),
        Kind::Bool | Kind::Int | Kind::Uint => integer(op, a, b),
    }
}

fn float<F>(op: BinaryOp, x: F, y: F) -> F
where
    F: Add<Output = F> + Sub<Output = F> + Mul<Output = F> + Div<Output = F> + Rem<Output = F>,
{
    match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        _ => x % y,
    }
}

fn integer(op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
    let (x, y) = (wide(a), wide(b));
    let count = y.rem_euclid(8 * a.dtype.size_bytes() as i128) as u32;
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div => x.checked_div(y).unwrap_or(0),
        BinaryOp::Rem => x.checked_rem(y).unwrap_or(0),
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl => x << count,
        BinaryOp::Shr => x >> count,
        BinaryOp::Min | BinaryOp::Max => unreachable!("defined for every type in `binary`"),
    };
    wrap(a.dtype, result)
}

/// Comparisons with NaN are false, `Ne` is true.
pub fn compare(op: CompareOp, a: Scalar, b: Scalar) -> bool {
    let order =
        if a.dtype.is_float() { a.to_f64().partial_cmp(&b.to_f64()) } else { Some(wide(a).cmp(&wide(b))) };
    match op {
        CompareOp::Eq => order == Some(Ordering::Equal),
        CompareOp::Ne => order != Some(Ordering::Equal),
        CompareOp::Lt => order == Some(Ordering::Less),
        CompareOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::Gt => order == Some(Ordering::Greater),
        CompareOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// `a * b + c`, rounded once.
pub fn fma(a: Scalar, b: Scalar, c: Scalar) -> Scalar {
    match a.dtype {
        DType::F64 => Scalar::from_f64(a.dtype, a.to_f64().mul_add(b.to_f64(), c.to_f64())),
        _ => Scalar::from_f64(a.dtype, f64::from(single_of(a).mul_add(single_of(b), single_of(c)))),
    }
}

/// Conversion by value. Floats truncate and saturate to integers, NaN becomes 0; integers reach f16 and bf16
/// through f32.
pub fn cast(a: Scalar, to: DType) -> Scalar {
    match (a.dtype.kind(), to.kind()) {
        (Kind::Float, Kind::Bool) => truth(a.to_f64() != 0.0),
        (_, Kind::Bool) => truth(a.bits != 0),
        (Kind::Float, Kind::Float) => Scalar::from_f64(to, a.to_f64()),
        (_, Kind::Float) if to == DType::F64 => Scalar::from_f64(to, wide(a) as f64),
        (_, Kind::Float) => Scalar::from_f64(to, f64::from(wide(a) as f32)),
        (Kind::Float, _) => {
            let bits = 8 * to.size_bytes() as u32;
            let (low, high) = match to.kind() {
                Kind::Int => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                _ => (0, (1i128 << bits) - 1),
            };
            wrap(to, (a.to_f64() as i128).clamp(low, high))
        }
        (_, _) => wrap(to, wide(a)),
    }
}

/// The same bits as another type of the same width.
pub fn bitcast(a: Scalar, to: DType) -> Scalar {
    Scalar { dtype: to, bits: a.bits }
}

/// A mathematical function; f16 and bf16 through the function of f32.
pub fn math1(function: Math1, a: Scalar) -> Scalar {
    let x = a.to_f64();
    macro_rules! of_f32 {
        ($f:path) => {
            f64::from($f(x as f32))
        };
    }
    macro_rules! of_f64 {
        ($f:path) => {
            $f(x)
        };
    }
    let result = match a.dtype {
        DType::F64 => for_math1!(function, crate::math::double, of_f64),
        _ => for_math1!(function, crate::math::single, of_f32),
    };
    Scalar::from_f64(a.dtype, result)
}

/// A mathematical function of two operands.
pub fn math2(function: Math2, a: Scalar, b: Scalar) -> Scalar {
    let (x, y) = (a.to_f64(), b.to_f64());
    macro_rules! of_f32 {
        ($f:path) => {
            f64::from($f(x as f32, y as f32))
        };
    }
    macro_rules! of_f64 {
        ($f:path) => {
            $f(x, y)
        };
    }
    let result = match a.dtype {
        DType::F64 => for_math2!(function, crate::math::double, of_f64),
        _ => for_math2!(function, crate::math::single, of_f32),
    };
    Scalar::from_f64(a.dtype, result)
}
