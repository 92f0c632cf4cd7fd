//! log, log2, log10 and log1p.
//!
//! `x = 2^k (1 + f)` with `1 + f` between sqrt(1/2) and sqrt(2), and `ln(1 + f) = 2 atanh(s)` with
//! `s = f / (2 + f)` (Cody and Waite 1980). The series is regrouped as `f - f^2/2 + s (f^2/2 + tail)`: f is
//! exact, so the errors of the quotient are damped by a factor f.

use super::bits::{EXPONENT, LN2_HIGH, LN2_LOW, MANTISSA, ONE_BITS};
use super::pair::upper;
use crate::math::basic::{fast_two_sum, horner, two_sum};
use crate::math::number::{Double, Integer};

/// (2 atanh s - 2 s) / (s z); error 2^-59.5.
const LOG: [f64; 7] = [
    0.14795726082160784,
    0.15314077084884137,
    0.18183563091740318,
    0.2222219860170477,
    0.2857142874204792,
    0.3999999999941661,
    0.6666666666666734,
];
/// log10(2) to 42 bits, so that a multiple up to 2^11 is exact, and the rest.
const LOG10_2_HIGH: f64 = f64::from_bits(0x3fd3_4413_509f_7800);
const LOG10_2_LOW: f64 = f64::from_bits(0x3d1f_ef31_1f12_b358);
/// 1 / ln 2 to 26 bits, and the rest.
const LOG2_E_HIGH: f64 = f64::from_bits(0x3ff7_1547_6000_0000);
const LOG2_E_LOW: f64 = f64::from_bits(0x3e54_ae0b_f85d_df44);
/// 1 / ln 10, likewise.
const LOG10_E_HIGH: f64 = f64::from_bits(0x3fdb_cb7b_1000_0000);
const LOG10_E_LOW: f64 = f64::from_bits(0x3e34_9b94_38ca_9aae);
const SQRT_HALF_BITS: i64 = 0x3fe6_a09e_667f_3bcd;
const TWO_POW_52_BITS: i64 = 0x4330_0000_0000_0000;
/// 2^52 and the bias of the exponent.
const BIASED_SHIFTER: f64 = 4_503_599_627_370_496.0 + 1023.0;
const TWO_POW_54: f64 = 18_014_398_509_481_984.0;

/// `x = 2^k m` of a positive normal x: k, m between sqrt(1/2) and sqrt(2), and the biased exponent of 2^k.
#[inline(always)]
fn split_exponent<N: Double>(x: N) -> (N, N, N::Int) {
    let shifted = x.to_bits() + x.int(ONE_BITS - SQRT_HALF_BITS);
    let biased = shifted.shr(EXPONENT);
    let k = N::from_bits(biased | x.int(TWO_POW_52_BITS)) - x.lit(BIASED_SHIFTER);
    let m = N::from_bits((shifted & x.int(MANTISSA)) + x.int(SQRT_HALF_BITS));
    (k, m, biased)
}

/// `x = 2^k m` of any positive finite x; subnormal numbers are first made normal.
#[inline(always)]
pub(super) fn split_any_exponent<N: Double>(x: N) -> (N, N) {
    let subnormal = x.lt(x.lit(f64::MIN_POSITIVE));
    let (k, m, _) = split_exponent(N::select(subnormal, x * x.lit(TWO_POW_54), x));
    (k - N::select(subnormal, x.lit(54.0), x.lit(0.0)), m)
}

/// `ln(1 + f) = f - (half_square - correction)`, and s.
struct Series<N> {
    half_square: N,
    correction: N,
    s: N,
}

#[inline(always)]
fn series<N: Double>(f: N) -> Series<N> {
    let s = f / (f.lit(2.0) + f);
    let z = s * s;
    let half_square = f.lit(0.5) * f * f;
    Series { half_square, correction: s * (half_square + z * horner(z, &LOG)), s }
}

/// `y`, replaced where the logarithm of `x` is infinite or undefined.
#[inline(always)]
fn with_edges<N: Double>(x: N, y: N) -> N {
    let (zero, infinity) = (x.lit(0.0), x.lit(f64::INFINITY));
    let y = N::select(x.lt(infinity), y, infinity);
    let outside = N::select(x.eq(zero), x.lit(f64::NEG_INFINITY), x.lit(f64::NAN));
    N::select(zero.lt(x), y, outside)
}

/// Natural logarithm.
#[inline(always)]
pub fn log<N: Double>(x: N) -> N {
    let (k, m) = split_any_exponent(x);
    let f = m - x.lit(1.0);
    let Series { half_square, correction, .. } = series(f);
    let low = half_square - (correction + k * x.lit(LN2_LOW));
    with_edges(x, k * x.lit(LN2_HIGH) - (low - f))
}

/// `ln(m)` as the sum of a number of 26 bits and a rest, for m between sqrt(1/2) and sqrt(2).
#[inline(always)]
fn log_pair<N: Double>(m: N) -> (N, N) {
    let f = m - m.lit(1.0);
    let Series { half_square, correction, .. } = series(f);
    let high = upper(f - half_square);
    (high, ((f - high) - half_square) + correction)
}

/// Logarithm to the base 2; exact for powers of 2.
#[inline(always)]
pub fn log2<N: Double>(x: N) -> N {
    let (k, m) = split_any_exponent(x);
    let (high, low) = log_pair(m);
    let (sum, rest) = fast_two_sum(k, high * x.lit(LOG2_E_HIGH));
    let low = low * x.lit(LOG2_E_HIGH) + (high + low) * x.lit(LOG2_E_LOW);
    with_edges(x, sum + (rest + low))
}

/// Logarithm to the base 10; exact for powers of 10.
#[inline(always)]
pub fn log10<N: Double>(x: N) -> N {
    let (k, m) = split_any_exponent(x);
    let (high, low) = log_pair(m);
    let (sum, rest) = fast_two_sum(k * x.lit(LOG10_2_HIGH), high * x.lit(LOG10_E_HIGH));
    let low = low * x.lit(LOG10_E_HIGH) + ((high + low) * x.lit(LOG10_E_LOW) + k * x.lit(LOG10_2_LOW));
    with_edges(x, sum + (rest + low))
}

/// `ln((u + c) 2^doublings)` for a normal positive u, where c is at most a few ulp of u.
#[inline(always)]
pub(super) fn log_of_pair<N: Double>(u: N, c: N, doublings: N) -> N {
    let one = u.lit(1.0);
    let (k, m, biased) = split_exponent(u);
    let k = k + doublings;
    let f = m - one;
    // c 2^(1-k), but 0 for k = 1024, where c does not matter.
    let c = c * N::from_bits((u.int(2047) - biased).shl(EXPONENT));
    let Series { half_square, correction, s } = series(f);
    // Half the derivative of ln at m, (1 - s) / (1 + s); c is so small that three terms of that will do.
    let slope = u.lit(0.5) - s * (one - s);
    let low = half_square - (correction + (k * u.lit(LN2_LOW) + c * slope));
    k * u.lit(LN2_HIGH) + (f - low)
}

/// `ln(1 + x)`.
#[inline(always)]
pub fn log1p<N: Double>(x: N) -> N {
    let (one, zero) = (x.lit(1.0), x.lit(0.0));
    let (u, c) = two_sum(one, x);
    let y = with_edges(u, log_of_pair(u, c, zero));
    N::select(x.eq(zero), x, y)
}
