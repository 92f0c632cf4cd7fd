//! exp, expm1 and the logarithms, of which the hyperbolic functions and pow are made, too.
//!
//! The reduction `x = k ln 2 + r` with ln 2 in two parts is Cody and Waite's ("Software Manual for the
//! Elementary Functions", 1980). `e^r = cosh r + sinh r`, each by a polynomial in `r^2`.
//!
//! `x = 2^k (1 + f)` with `1 + f` between sqrt(1/2) and sqrt(2), and `ln(1 + f) = 2 atanh(s)` with
//! `s = f / (2 + f)`. The series is regrouped as `f - f^2/2 + s (f^2/2 + tail)`: f is exact, so the errors of
//! the quotient are damped by a factor f.

use super::steps::{
    EXPONENT, LN2_HIGH, LN2_LOW, MANTISSA, ONE_BITS, half_power_of_two, nearest, scale, upper,
};
use crate::math::basic::{clamp, fast_two_sum, horner, logarithm_edges, two_sum};
use crate::math::number::{Double, Integer, Number};

/// (cosh r - 1) / z; error 2^-70.0.
const COSH: [f64; 6] = [
    2.0921821249863866e-09,
    2.7557251688223515e-07,
    2.4801587349310117e-05,
    0.0013888888888873255,
    0.041666666666666685,
    0.5,
];
/// (sinh r - r) / (r z); error 2^-61.7.
const SINH: [f64; 5] = [
    2.5109334707635462e-08,
    2.7557243419967132e-06,
    0.00019841269886839075,
    0.008333333333321381,
    0.16666666666666677,
];

/// `x = k ln 2 + r + tail` with |r| at most half of ln 2.
pub(super) struct Reduced<N: Number> {
    pub(super) k: N,
    /// The low bits are those of k.
    pub(super) bits: N::Int,
    pub(super) r: N,
    pub(super) tail: N,
}

/// Reduces |x| < 1400.
#[inline(always)]
pub(super) fn reduce<N: Double>(x: N) -> Reduced<N> {
    let (k, bits) = nearest(x * x.lit(std::f64::consts::LOG2_E));
    let (high, low) = (x - k * x.lit(LN2_HIGH), k * x.lit(LN2_LOW));
    let r = high - low;
    Reduced { k, bits, r, tail: (high - r) - low }
}

/// `e^r - 1 - r` for |r| at most half of ln 2.
#[inline(always)]
pub(super) fn exp_tail<N: Double>(r: N) -> N {
    let z = r * r;
    z * (horner(z, &COSH) + r * horner(z, &SINH))
}

/// `cosh r - 1` and `sinh r - r` for |r| at most half of ln 2.
#[inline(always)]
pub(super) fn cosh_sinh_tails<N: Double>(r: N) -> (N, N) {
    let z = r * r;
    (z * horner(z, &COSH), r * z * horner(z, &SINH))
}

/// e to the power x.
#[inline(always)]
pub fn exp<N: Double>(x: N) -> N {
    // Beyond these limits the scaling overflows or gives 0 by itself.
    let Reduced { k, bits, r, tail } = reduce(clamp(x, -746.0, 710.0));
    let (sum, rest) = fast_two_sum(x.lit(1.0), r);
    scale(sum + (rest + (exp_tail(r) + tail)), k, bits)
}

/// `e^x - 1`.
#[inline(always)]
pub fn expm1<N: Double>(x: N) -> N {
    let half = x.lit(0.5);
    let Reduced { bits, r, tail, .. } = reduce(clamp(x, -40.0, 710.0));
    // Half of 2^k, because 2^1024 is not a number.
    let h: N = half_power_of_two(bits);
    let (sum, rest) = fast_two_sum(h - half, h * r);
    let y = sum + (rest + h * (exp_tail(r) + tail));
    // Below, e^x - 1 rounds to x; halving would lose bits of subnormals, and the sign of -0.
    N::select(x.abs().lt(x.lit(1e-17)), x, y + y)
}

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

/// Natural logarithm.
#[inline(always)]
pub fn log<N: Double>(x: N) -> N {
    let (k, m) = split_any_exponent(x);
    let f = m - x.lit(1.0);
    let Series { half_square, correction, .. } = series(f);
    let low = half_square - (correction + k * x.lit(LN2_LOW));
    logarithm_edges(x, k * x.lit(LN2_HIGH) - (low - f))
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
    logarithm_edges(x, sum + (rest + low))
}

/// Logarithm to the base 10; exact for powers of 10.
#[inline(always)]
pub fn log10<N: Double>(x: N) -> N {
    let (k, m) = split_any_exponent(x);
    let (high, low) = log_pair(m);
    let (sum, rest) = fast_two_sum(k * x.lit(LOG10_2_HIGH), high * x.lit(LOG10_E_HIGH));
    let low = low * x.lit(LOG10_E_HIGH) + ((high + low) * x.lit(LOG10_E_LOW) + k * x.lit(LOG10_2_LOW));
    logarithm_edges(x, sum + (rest + low))
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
    let y = logarithm_edges(u, log_of_pair(u, c, zero));
    N::select(x.eq(zero), x, y)
}
