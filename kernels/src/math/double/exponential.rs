//! exp and expm1, and the pieces of e^x from which the hyperbolic functions and pow are built.
//!
//! The reduction `x = k ln 2 + r` with ln 2 in two parts is Cody and Waite's ("Software Manual for the
//! Elementary Functions", 1980). `e^r = cosh r + sinh r`, each by a polynomial in `r^2`.

use super::bits::{LN2_HIGH, LN2_LOW, half_power_of_two, nearest, scale};
use crate::math::basic::{clamp, fast_two_sum, horner};
use crate::math::number::{Double, Number};

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
