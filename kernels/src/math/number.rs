//! The number interface in which the mathematical functions are written, once.
//!
//! A function generic over [`Number`] is straight-line code: no branches, no tables, no fused
//! multiply-add; only operations that every device rounds correctly. Instantiated with `f32` or
//! `f64` it is one compiled loop body that the compiler vectorises; instantiated with a value of
//! the kernel builder it emits IR. Both give the same bits because both do the same operations.
//!
//! Invariant: nothing here rounds differently on two devices, so nothing here is approximate
//! except the polynomials themselves.

use std::num::Wrapping;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// The truth value of a comparison, one per element.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

/// A signed two's-complement integer as wide as its float; arithmetic wraps.
pub trait Integer:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// Result of comparisons.
    type Mask: Mask;
    /// A constant of this type (truncated to its width).
    fn lit(self, value: i64) -> Self;
    /// Shift left; `count` is below the width.
    #[inline(always)]
    fn shl(self, count: u32) -> Self {
        self.shl_by(self.lit(count.into()))
    }
    /// Logical shift right; `count` is below the width.
    #[inline(always)]
    fn shr(self, count: u32) -> Self {
        self.shr_by(self.lit(count.into()))
    }
    /// Arithmetic shift right; `count` is below the width.
    fn sar(self, count: u32) -> Self;
    /// Shift left by a variable count in `0..width`.
    fn shl_by(self, count: Self) -> Self;
    /// Logical shift right by a variable count in `0..width`.
    fn shr_by(self, count: Self) -> Self;
    /// `self == other`
    fn eq(self, other: Self) -> Self::Mask;
    /// `self < other`, signed.
    fn lt(self, other: Self) -> Self::Mask;
    /// `if mask { yes } else { no }`
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// A float of 32 or 64 bits whose `+ - * /` and `sqrt` round to nearest even.
pub trait Number:
    Sized
    + Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The integer of the same width.
    type Int: Integer<Mask = Self::Mask>;
    /// Result of comparisons.
    type Mask: Mask;
    /// A constant, rounded to this type. (Takes `self` because IR constants need a builder.)
    fn lit(self, value: f64) -> Self;
    /// An integer constant.
    fn int(self, value: i64) -> Self::Int;
    /// Magnitude; clears the sign bit, also of NaN.
    fn abs(self) -> Self;
    /// Correctly rounded square root.
    fn sqrt(self) -> Self;
    /// `self * b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Round to the nearest integral value, ties to even.
    fn round(self) -> Self;
    /// Round towards zero to an integral value.
    fn trunc(self) -> Self;
    /// Ordered comparisons: false if either side is NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`
    fn le(self, other: Self) -> Self::Mask;
    /// `self == other`; 0 equals -0, NaN equals nothing.
    fn eq(self, other: Self) -> Self::Mask;
    /// True for NaN, decided by the bit pattern.
    fn is_nan(self) -> Self::Mask;
    /// `if mask { yes } else { no }`
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The bit pattern.
    fn to_bits(self) -> Self::Int;
    /// The number with this bit pattern.
    fn from_bits(bits: Self::Int) -> Self;
    /// Truncation to an integer; meaningful only for finite values within the integer's range.
    fn to_int(self) -> Self::Int;
    /// The nearest float.
    fn from_int(value: Self::Int) -> Self;
    /// The nearest integer, ties to even, as a float (never -0) and as an integer. Meaningful only below
    /// 2^22 (f32) or 2^51 (f64) in magnitude; beyond, and for NaN, implementations differ.
    #[inline(always)]
    fn nearest(self) -> (Self, Self::Int) {
        let n = self.round().to_int();
        (Self::from_int(n), n)
    }
}

/// A 32-bit number: `f32`, or an IR value of type f32.
pub trait Single: Number {}
/// A 64-bit number: `f64`, or an IR value of type f64.
pub trait Double: Number {}

impl Mask for bool {}

macro_rules! compiled_number {
    ($float:ident, $int:ident, $uint:ident, $width:ident) => {
        impl Integer for Wrapping<$int> {
            type Mask = bool;
            #[inline(always)]
            fn lit(self, value: i64) -> Self {
                Wrapping(value as $int)
            }
            #[inline(always)]
            fn sar(self, count: u32) -> Self {
                Wrapping(self.0 >> count)
            }
            #[inline(always)]
            fn shl_by(self, count: Self) -> Self {
                Wrapping(self.0.wrapping_shl(count.0 as u32))
            }
            #[inline(always)]
            fn shr_by(self, count: Self) -> Self {
                Wrapping((self.0 as $uint).wrapping_shr(count.0 as u32) as $int)
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self.0 == other.0
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self.0 < other.0
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
        }

        impl Number for $float {
            type Int = Wrapping<$int>;
            type Mask = bool;
            #[inline(always)]
            fn lit(self, value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn int(self, value: i64) -> Self::Int {
                Wrapping(value as $int)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $float::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                $float::mul_add(self, b, c)
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                $float::trunc(self)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn eq(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $float::is_nan(self)
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn to_bits(self) -> Self::Int {
                Wrapping($float::to_bits(self) as $int)
            }
            #[inline(always)]
            fn from_bits(bits: Self::Int) -> Self {
                $float::from_bits(bits.0 as $uint)
            }
            #[inline(always)]
            fn to_int(self) -> Self::Int {
                Wrapping(self as $int)
            }
            #[inline(always)]
            fn from_int(value: Self::Int) -> Self {
                value.0 as $float
            }
            /// Adding 1.5 * 2^(mantissa bits) leaves the integer in the low bits: cheap in SIMD.
            #[inline(always)]
            fn nearest(self) -> (Self, Self::Int) {
                const SHIFTER: $float = (3u64 << ($float::MANTISSA_DIGITS - 2)) as $float;
                let shifted = self + SHIFTER;
                let n = Wrapping($float::to_bits(shifted).wrapping_sub($float::to_bits(SHIFTER)) as $int);
                (shifted - SHIFTER, n)
            }
        }

        impl $width for $float {}
    };
}

compiled_number!(f32, i32, u32, Single);
compiled_number!(f64, i64, u64, Double);
