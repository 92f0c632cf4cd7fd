//! exp and what is made of it: expm1, the hyperbolic functions, erf.

use std::f64::consts::LOG2_E;

use super::bits::power_of_two;
use crate::math::basic::{at_most, clamp, fast_two_sum, flip, horner, sign_of};
use crate::math::number::{Integer, Single};

/// ln 2 in two parts (Cody and Waite 1980); the first has 16 bits, so n times it is exact for |n| < 2^8.
const LN2: [f64; 2] = [0.693145751953125, 1.4286068e-6];

/// `x - n ln 2` with its rounding error.
#[inline(always)]
fn remainder<N: Single>(x: N, n: N) -> (N, N) {
    fast_two_sum(x - n * x.lit(LN2[0]), n * x.lit(-LN2[1]))
}

/// `e^r - 1 - r` for |r| <= 0.35; error 2^-28.1 of e^r.
#[inline(always)]
fn exp_tail<N: Single>(r: N) -> N {
    horner(r, &[0.0013820744, 0.008369248, 0.04166828, 0.16666517, 0.49999994]) * (r * r)
}

/// `(n, e^x / 2^n)` for |x| <= 110.
#[inline(always)]
fn exp_parts<N: Single>(x: N) -> (N::Int, N) {
    let (n, n_int) = (x * x.lit(LOG2_E)).nearest();
    let (r, _) = remainder(x, n);
    (n_int, (exp_tail(r) + r) + x.lit(1.0))
}

/// e^x: x = n ln 2 + r, a polynomial in r, and a scaling by 2^n in two steps so that a subnormal
/// result is rounded once. Out of range the scaling itself gives infinity or 0.
#[inline(always)]
pub fn exp<N: Single>(x: N) -> N {
    let (n, p) = exp_parts(clamp(x, -104.0, 89.0));
    let half = n.sar(1);
    p * power_of_two(half) * power_of_two(n - half)
}

/// e^x - 1 = 2^n (e^r - 1) + (2^n - 1), the leading terms summed with their rounding error. Computed
/// at half scale, since n may be 128.
#[inline(always)]
pub fn expm1<N: Single>(x: N) -> N {
    let c = clamp(x, -18.0, 89.0);
    let (n, n_int) = (c * c.lit(LOG2_E)).nearest();
    let (r, r_low) = remainder(c, n);
    let scale: N = power_of_two(n_int - n_int.lit(1));
    let (sum, sum_low) = fast_two_sum(scale - x.lit(0.5), scale * r);
    let half = sum + (sum_low + scale * (exp_tail(r) + r_low));
    N::select(x.abs().lt(x.lit(2e-8)), x, half + half)
}

/// What sinh and cosh of `a >= 0` are made of, where a = n ln 2 + r.
struct Hyperbolic<N> {
    /// cosh(n ln 2)
    even: N,
    /// sinh(n ln 2)
    odd: N,
    r: N,
    /// sinh r - r, error 2^-29.2 of sinh r for |r| <= 0.71.
    sinh_tail: N,
    /// cosh r - 1, error 2^-26.2 of cosh r for |r| <= 0.71.
    cosh_tail: N,
}

/// `n` is the integer nearest to `quotient`, at most 128.
#[inline(always)]
fn hyperbolic<N: Single>(a: N, quotient: N) -> Hyperbolic<N> {
    let (n, n_int) = at_most(quotient, 128.0).nearest();
    let (r, _) = remainder(a, n);
    let s = r * r;
    let up: N = power_of_two(n_int - n_int.lit(1));
    let down_bits = (n_int.lit(126) - n_int).shl(23);
    let down = N::from_bits(N::Int::select(n_int.lt(n_int.lit(64)), down_bits, n_int.lit(0)));
    Hyperbolic {
        even: up + down,
        odd: up - down,
        r,
        sinh_tail: horner(s, &[0.00020109244, 0.008332551, 0.16666673]) * (s * r),
        cosh_tail: horner(s, &[0.0014126288, 0.041659907, 0.50000054]) * s,
    }
}

/// sinh(n ln 2 + r) by the addition theorem. Below 0.7, n is 0 and the sum is sinh r alone.
#[inline(always)]
pub fn sinh<N: Single>(x: N) -> N {
    let a = at_most(x.abs(), 89.5);
    let quotient = N::select(a.lt(x.lit(0.7)), x.lit(0.0), a * x.lit(LOG2_E));
    let h = hyperbolic(a, quotient);
    let low = h.odd * h.cosh_tail + h.even * h.sinh_tail;
    flip(h.odd + (h.even * h.r + low), sign_of(x))
}

/// cosh(n ln 2 + r) by the addition theorem.
#[inline(always)]
pub fn cosh<N: Single>(x: N) -> N {
    let a = at_most(x.abs(), 89.5);
    let h = hyperbolic(a, a * x.lit(LOG2_E));
    let low = h.even * h.cosh_tail + h.odd * h.sinh_tail;
    h.even + (h.odd * h.r + low)
}

/// tanh: an odd polynomial (error 2^-28.4) below 0.6, else 1 - 2 / (e^2x + 1).
#[inline(always)]
pub fn tanh<N: Single>(x: N) -> N {
    let a = at_most(x.abs(), 10.0);
    let z = a * a;
    let p = horner(z, &[-0.005897966, 0.020798625, -0.053784717, 0.13331936, -0.333333]);
    let small = a + a * (z * p);
    let (n, p) = exp_parts(a + a);
    let large = x.lit(1.0) - x.lit(2.0) / (p * power_of_two(n) + x.lit(1.0));
    flip(N::select(a.lt(x.lit(0.6)), small, large), sign_of(x))
}

/// erf: an odd polynomial (error 2^-27.3) below 27/32, else 1 - e^p with a polynomial p for ln erfc
/// (error 2^-28.8 of erf).
#[inline(always)]
pub fn erf<N: Single>(x: N) -> N {
    let a = at_most(x.abs(), 3.95);
    let z = a * a;
    let low = [-0.0006374964, 0.0050618816, -0.026809536, 0.11282912, -0.37612593, 0.12837917];
    let small = a + a * horner(z, &low);
    let high =
        [0.00020433904, -0.0031241002, 0.022542933, -0.104573324, -0.6364674, -1.1280901, -9.7827215e-5];
    let (n, p) = exp_parts(horner(a, &high));
    let large = x.lit(1.0) - p * power_of_two(n);
    flip(N::select(a.lt(x.lit(0.84375)), small, large), sign_of(x))
}
