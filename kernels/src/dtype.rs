//! Element types, and scalar constants of them.

use std::fmt;

/// An element type. Complex numbers are pairs of floats above this level.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// Signed integers, two's complement, wrapping arithmetic.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// Unsigned integers, wrapping arithmetic.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE 754 binary16; every operation is computed in f32 and rounded once.
    F16,
    /// bfloat16; every operation is computed in f32 and rounded once.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

/// The sort of number that a [`DType`] is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// true or false
    Bool,
    /// signed integer
    Int,
    /// unsigned integer
    Uint,
    /// floating point
    Float,
}

impl DType {
    /// Every type, in the order of the declaration.
    pub const ALL: [DType; 13] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
    ];

    /// The name, the bytes of an element in memory, and the sort of number.
    const fn row(self) -> (&'static str, usize, Kind) {
        match self {
            DType::Bool => ("bool", 1, Kind::Bool),
            DType::I8 => ("i8", 1, Kind::Int),
            DType::I16 => ("i16", 2, Kind::Int),
            DType::I32 => ("i32", 4, Kind::Int),
            DType::I64 => ("i64", 8, Kind::Int),
            DType::U8 => ("u8", 1, Kind::Uint),
            DType::U16 => ("u16", 2, Kind::Uint),
            DType::U32 => ("u32", 4, Kind::Uint),
            DType::U64 => ("u64", 8, Kind::Uint),
            DType::F16 => ("f16", 2, Kind::Float),
            DType::BF16 => ("bf16", 2, Kind::Float),
            DType::F32 => ("f32", 4, Kind::Float),
            DType::F64 => ("f64", 8, Kind::Float),
        }
    }

    /// Bytes of one element in memory.
    pub const fn size_bytes(self) -> usize {
        self.row().1
    }

    /// The sort of number.
    pub const fn kind(self) -> Kind {
        self.row().2
    }

    /// True for f16, bf16, f32 and f64.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// True for the signed and unsigned integers, not for bool.
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Int | Kind::Uint)
    }

    /// The name used in printed kernels and messages: `f32`, `bf16`, `bool`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A constant: a type and the bit pattern of its memory form, zero-extended to 64 bits.
///
/// Equality and hashing go by bits, so NaN equals itself and 0.0 differs from -0.0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// The element type.
    pub dtype: DType,
    /// The bit pattern in the low `8 * size_bytes` bits; the rest is zero.
    pub bits: u64,
}

impl Scalar {
    /// `value` rounded to `dtype` (to nearest even; integers truncate and saturate; bool is `value != 0`).
    /// NaN of f16 keep their upper bits, as in NumPy.
    pub fn from_f64(dtype: DType, value: f64) -> Scalar {
        let bits = match dtype {
            DType::Bool => u64::from(value != 0.0),
            DType::F16 if value.is_nan() => {
                let (bits, fraction) = (value.to_bits(), value.to_bits() >> 42 & 0x3ff);
                bits >> 48 & 0x8000 | 0x7c00 | fraction.max(1)
            }
            DType::F16 => u64::from(half::f16::from_f32(f64_to_odd_f32(value)).to_bits()),
            DType::BF16 => u64::from(half::bf16::from_f32(f64_to_odd_f32(value)).to_bits()),
            DType::F32 => u64::from((value as f32).to_bits()),
            DType::F64 => value.to_bits(),
            DType::U64 => value as u64,
            _ => return Scalar::from_i64(dtype, (value as i64).clamp(int_min(dtype), int_max(dtype))),
        };
        Scalar { dtype, bits }
    }

    /// As [`Scalar::from_f64`]; `None` where an integer type or bool does not hold exactly this value.
    pub fn try_from_f64(dtype: DType, value: f64) -> Option<Scalar> {
        let scalar = Scalar::from_f64(dtype, value);
        let whole = match dtype {
            DType::U64 => i128::from(scalar.bits),
            _ => i128::from(scalar.to_i64()),
        };
        let is_held = || value.trunc() == value && value as i128 == whole;
        (dtype.is_float() || is_held()).then_some(scalar)
    }

    /// The largest or smallest value of a type: infinities, limits of integers, true and false.
    pub fn extreme(dtype: DType, largest: bool) -> Scalar {
        match dtype {
            DType::Bool => Scalar::from_i64(dtype, i64::from(largest)),
            _ => Scalar::from_f64(dtype, if largest { f64::INFINITY } else { f64::NEG_INFINITY }),
        }
    }

    /// `value` as `dtype`: integers wrap, floats round to nearest even, bool is `value != 0`.
    pub fn from_i64(dtype: DType, value: i64) -> Scalar {
        match dtype {
            DType::F32 => Scalar { dtype, bits: u64::from((value as f32).to_bits()) },
            DType::F16 | DType::BF16 | DType::F64 => Scalar::from_f64(dtype, value as f64),
            DType::Bool => Scalar { dtype, bits: u64::from(value != 0) },
            _ => Scalar { dtype, bits: value as u64 & mask(dtype) },
        }
    }

    /// The same as kernels expect it, if it was made by hand: bools are 0 and 1, bits beyond the type are 0.
    pub fn normalized(self) -> Scalar {
        match self.dtype {
            DType::Bool => Scalar { bits: u64::from(self.bits != 0), ..self },
            dtype => Scalar { dtype, bits: self.bits & mask(dtype) },
        }
    }

    /// The value as f64 (exact for all types but large 64-bit integers, which round).
    pub fn to_f64(self) -> f64 {
        match self.dtype {
            DType::F16 => half::f16::from_bits(self.bits as u16).to_f64(),
            DType::BF16 => half::bf16::from_bits(self.bits as u16).to_f64(),
            DType::F32 => f64::from(f32::from_bits(self.bits as u32)),
            DType::F64 => f64::from_bits(self.bits),
            DType::U64 => self.bits as f64,
            _ => self.to_i64() as f64,
        }
    }

    /// The value as i64: floats truncate and saturate, u64 wraps.
    pub fn to_i64(self) -> i64 {
        match self.dtype {
            DType::I8 => i64::from(self.bits as i8),
            DType::I16 => i64::from(self.bits as i16),
            DType::I32 => i64::from(self.bits as i32),
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => self.to_f64() as i64,
            _ => self.bits as i64,
        }
    }

    /// The memory form: the low `size_bytes` of the result, little endian.
    pub fn to_le_bytes(self) -> [u8; 8] {
        self.bits.to_le_bytes()
    }
}

/// Rounds to odd: the result, rounded once more to a narrower type, is as if rounded once.
#[inline(always)]
pub(crate) fn f64_to_odd_f32(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    let away = back.abs() > value.abs();
    let inexact = back != value && !value.is_nan();
    let bits = near.to_bits();
    let towards_zero = if away { bits.wrapping_sub(1) } else { bits };
    f32::from_bits(if inexact { towards_zero | 1 } else { bits })
}

macro_rules! scalar_of {
    ($($type:ty: $dtype:ident, $bits:expr;)*) => {
        $(impl From<$type> for Scalar {
            fn from(value: $type) -> Scalar {
                let bits: fn($type) -> u64 = $bits;
                Scalar { dtype: DType::$dtype, bits: bits(value) & mask(DType::$dtype) }
            }
        })*
    };
}

scalar_of! {
    bool: Bool, u64::from;
    i8: I8, |value| value as u64;
    i16: I16, |value| value as u64;
    i32: I32, |value| value as u64;
    i64: I64, |value| value as u64;
    u8: U8, u64::from;
    u16: U16, u64::from;
    u32: U32, u64::from;
    u64: U64, |value| value;
    f32: F32, |value| u64::from(value.to_bits());
    f64: F64, |value| value.to_bits();
}

fn mask(dtype: DType) -> u64 {
    u64::MAX >> (64 - 8 * dtype.size_bytes())
}

fn int_min(dtype: DType) -> i64 {
    match dtype.kind() {
        Kind::Int => i64::MIN >> (64 - 8 * dtype.size_bytes()),
        _ => 0,
    }
}

fn int_max(dtype: DType) -> i64 {
    match dtype.kind() {
        Kind::Int => i64::MAX >> (64 - 8 * dtype.size_bytes()),
        _ => (mask(dtype) & i64::MAX as u64) as i64,
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `1.5:f32`; a NaN and floats that a short decimal would lose print their bits.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            DType::Bool => write!(f, "{}", self.bits != 0)?,
            DType::U64 => write!(f, "{}", self.bits)?,
            DType::F32 if !f32::from_bits(self.bits as u32).is_nan() => {
                write!(f, "{:?}", f32::from_bits(self.bits as u32))?;
            }
            DType::F16 | DType::BF16 | DType::F64 if !self.to_f64().is_nan() => {
                write!(f, "{:?}", self.to_f64())?;
            }
            d if d.is_float() => write!(f, "nan[{:#x}]", self.bits)?,
            _ => write!(f, "{}", self.to_i64())?,
        }
        write!(f, ":{}", self.dtype)
    }
}
