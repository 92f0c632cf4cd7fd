//! Constants and steps that the functions of 64-bit numbers share, and arithmetic on sums of two numbers.

use crate::math::basic::fast_two_sum;
use crate::math::number::{Double, Integer};

/// The bits of 1: the bias of the exponent, in place.
pub(super) const ONE_BITS: i64 = 0x3ff0_0000_0000_0000;
/// The bits below the exponent.
pub(super) const MANTISSA: i64 = 0x000f_ffff_ffff_ffff;
/// The lowest bit of the exponent.
pub(super) const EXPONENT: u32 = 52;
/// Between 2^52 and 2^53 numbers are one apart, so adding this rounds to an integer, which appears in the
/// low bits of the sum. Those of this constant itself are 0.
const SHIFTER: f64 = 6_755_399_441_055_744.0;

/// ln 2 to 42 bits, so that a multiple up to 2^11 is exact, and the rest.
pub(super) const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
pub(super) const LN2_LOW: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);
/// pi/2 without its nearest f64.
pub(super) const HALF_PI_LOW: f64 = 6.123233995736766e-17;

/// The nearest integer, ties to even, and bits whose lowest 12 are that integer modulo 2^12. For |x| < 2^51.
#[inline(always)]
pub(super) fn nearest<N: Double>(x: N) -> (N, N::Int) {
    let shifted = x + x.lit(SHIFTER);
    (shifted - x.lit(SHIFTER), shifted.to_bits())
}

/// 2^k from integers or bits as of [`nearest`], for -1023 < k < 1024.
#[inline(always)]
pub(super) fn power_of_two<N: Double>(k: N::Int) -> N {
    N::from_bits(k.shl(EXPONENT) + k.lit(ONE_BITS))
}

/// 2^(k-1), likewise, for -1022 < k < 1025.
#[inline(always)]
pub(super) fn half_power_of_two<N: Double>(k: N::Int) -> N {
    N::from_bits(k.shl(EXPONENT) + k.lit(ONE_BITS - (1 << EXPONENT)))
}

/// The float equal to an integer below 2^51 in magnitude.
#[inline(always)]
pub(super) fn from_small<N: Double>(k: N::Int) -> N {
    let shifted = N::from_bits(k + k.lit(SHIFTER.to_bits() as i64));
    shifted - shifted.lit(SHIFTER)
}

/// `y 2^k` for |k| < 2044, in two steps, so that the result may be subnormal or overflow. `bits` are those
/// of [`nearest`] for `k`.
#[inline(always)]
pub(super) fn scale<N: Double>(y: N, k: N, bits: N::Int) -> N {
    let (_, half) = nearest(k * k.lit(0.5));
    y * power_of_two(half) * power_of_two(bits - half)
}

/// The upper 26 bits of the mantissa, and the exact rest. Cutting bits off, unlike Veltkamp's
/// multiplication, cannot overflow.
#[inline(always)]
fn split<N: Double>(x: N) -> (N, N) {
    let high = upper(x);
    (high, x - high)
}

/// `x` cut to the upper 26 bits of its mantissa.
#[inline(always)]
pub(super) fn upper<N: Double>(x: N) -> N {
    N::from_bits(x.to_bits() & x.int(!0x7ff_ffff))
}

/// `a b` and its rounding error to within 2^-106 of the product (Dekker 1971), unless it over- or underflows.
#[inline(always)]
pub(super) fn two_product<N: Double>(a: N, b: N) -> (N, N) {
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let middle = (a_high * b_high - product) + a_low * b_high + a_high * b_low;
    (product, middle + a_low * b_low)
}

/// The product of two pairs.
#[inline(always)]
pub(super) fn pair_product<N: Double>(a: (N, N), b: (N, N)) -> (N, N) {
    let (high, low) = two_product(a.0, b.0);
    (high, low + (a.0 * b.1 + a.1 * b.0))
}

/// The quotient of two sums, rounded almost correctly. In each, the second number is the smaller one.
///
/// A quotient of 26 bits times a divisor of 26 bits is exact, and so is the remainder it leaves.
#[inline(always)]
pub(super) fn pair_quotient<N: Double>(n: (N, N), d: (N, N)) -> N {
    let ((n, n_low), (d, d_low)) = (fast_two_sum(n.0, n.1), fast_two_sum(d.0, d.1));
    let inverse = d.lit(1.0) / d;
    let quotient = upper(n * inverse);
    let (d, d_rest) = split(d);
    let remainder = (n - quotient * d) - (quotient * (d_rest + d_low) - n_low);
    quotient + remainder * inverse
}
