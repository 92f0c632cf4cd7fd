//! The hyperbolic functions and their inverses.
//!
//! With `x = k ln 2 + r`, `sinh x = sinh(k ln 2) cosh r + cosh(k ln 2) sinh r`, and likewise for cosh. The
//! first factors are sums of powers of 2, so no reciprocal of e^x is needed. The inverses are logarithms.

use super::bits::{EXPONENT, ONE_BITS, from_small, half_power_of_two, nearest, power_of_two};
use super::exponential::{Reduced, cosh_sinh_tails, reduce};
use super::logarithm::log_of_pair;
use super::pair::{pair_quotient, upper};
use crate::math::basic::{at_most, fast_two_sum, flip, horner, sign_of, two_sum};
use crate::math::number::{Double, Integer};

/// (atanh s - s) / (s z); error 2^-62.7.
const ATANH: [f64; 9] = [
    0.07025591009428098,
    0.05636103018466332,
    0.06685170050831737,
    0.07691478621625328,
    0.09090931866981308,
    0.11111110733983816,
    0.14285714289246235,
    0.1999999999998375,
    0.3333333333333336,
];
/// Half of ln 2 to 42 bits, so that a multiple up to 2^11 is exact, and the rest.
const HALF_LN2_HIGH: f64 = f64::from_bits(0x3fd6_2e42_fefa_3800);
const HALF_LN2_LOW: f64 = f64::from_bits(0x3d1e_f357_93c7_6730);
/// From here on, adding or subtracting 1 under the root does not change the inverse functions.
const LARGE: f64 = 268_435_456.0;

/// Halves of sinh x and cosh x, for 0 <= x < 710.7, as sums of a number and a smaller one.
struct Halves<N> {
    sinh: (N, N),
    cosh: (N, N),
    /// What still is to be added to cosh and subtracted from sinh; it matters for their quotient.
    lost: N,
}

#[inline(always)]
fn halves<N: Double>(x: N) -> Halves<N> {
    let Reduced { k, bits, r, tail } = reduce(x);
    let half = x.lit(0.5);
    // Quarters, because 2^1025 is not a number. 2^-1025 is not a normal one, but does not matter either.
    let limit = x.lit(64.0);
    let (_, negated) = nearest(-N::select(limit.lt(k), limit, k));
    let up = N::from_bits(bits.shl(EXPONENT) + x.int(ONE_BITS - (2 << EXPONENT)));
    let down = half_power_of_two::<N>(negated) * half;
    let (sum, difference) = (up + down, up - down);
    let (cosh_tail, sinh_tail) = cosh_sinh_tails(r);
    let sinh_tail = sinh_tail + tail;
    let (s, s_rest) = fast_two_sum(difference, sum * r);
    let (c, c_rest) = fast_two_sum(sum, difference * r);
    Halves {
        sinh: (s, s_rest + (difference * cosh_tail + sum * sinh_tail)),
        cosh: (c, c_rest + (sum * cosh_tail + difference * sinh_tail)),
        lost: down - (sum - up),
    }
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh<N: Double>(x: N) -> N {
    let a = x.abs();
    let (high, low) = halves(at_most(a, 710.6)).sinh;
    // Below, sinh x rounds to x, and half of a subnormal number would lose bits.
    let y = N::select(a.lt(x.lit(1e-9)), a, (high + low) * x.lit(2.0));
    flip(y, sign_of(x))
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh<N: Double>(x: N) -> N {
    let (high, low) = halves(at_most(x.abs(), 710.6)).cosh;
    (high + low) * x.lit(2.0)
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh<N: Double>(x: N) -> N {
    let a = x.abs();
    let Halves { sinh, cosh, lost } = halves(at_most(a, 20.0));
    let y = pair_quotient((sinh.0, sinh.1 - lost), (cosh.0, cosh.1 + lost));
    flip(N::select(a.lt(x.lit(1e-9)), a, y), sign_of(x))
}

/// Inverse hyperbolic sine, `ln(1 + a + (sqrt(1 + a^2) - 1))` for the magnitude a of x.
#[inline(always)]
pub fn asinh<N: Double>(x: N) -> N {
    let (a, one, zero) = (x.abs(), x.lit(1.0), x.lit(0.0));
    let large = x.lit(LARGE).le(a);
    let square = a * a;
    let (sum, rest) = fast_two_sum(a, square / (one + (one + square).sqrt()));
    let (u, c) = two_sum(one, sum);
    let (u, c) = (N::select(large, a, u), N::select(large, zero, c + rest));
    let y = log_of_pair(u, c, N::select(large, one, zero));
    flip(N::select(a.lt(x.lit(f64::INFINITY)), y, a), sign_of(x))
}

/// The root of a sum of two numbers and its rounding error: the square of 26 bits of it is exact.
#[inline(always)]
fn root_pair<N: Double>(x: N, low: N) -> (N, N) {
    let root = x.sqrt();
    let high = upper(root);
    let rest = ((x - high * high) + low) / (root + high);
    (root, (high - root) + rest)
}

/// Inverse hyperbolic cosine, `ln(x + sqrt(x^2 - 1))`.
#[inline(always)]
pub fn acosh<N: Double>(x: N) -> N {
    let (one, zero) = (x.lit(1.0), x.lit(0.0));
    let large = x.lit(LARGE).le(x);
    let t = x - one;
    let (square, square_low) = fast_two_sum(t + t, t * t);
    let (root, root_low) = root_pair(square, square_low);
    let (u, c) = two_sum(x, root);
    let (u, c) = (N::select(large, x, u), N::select(large, zero, c + root_low));
    let y = log_of_pair(u, c, N::select(large, one, zero));
    let y = N::select(x.lt(x.lit(f64::INFINITY)), y, x);
    // At 1, the correction of the root is 0/0.
    N::select(one.lt(x), y, N::select(x.eq(one), zero, x.lit(f64::NAN)))
}

/// Inverse hyperbolic tangent.
///
/// `(1 + a) / (1 - a) = 2^k (1 + s) / (1 - s)`, so `atanh a = k ln 2 / 2 + atanh s` with a small s.
#[inline(always)]
pub fn atanh<N: Double>(x: N) -> N {
    let (a, one) = (x.abs(), x.lit(1.0));
    let (plus, plus_rest) = fast_two_sum(one, a);
    let (minus, minus_rest) = fast_two_sum(one, -a);
    // The difference of the bits is about the logarithm of the quotient; it is rounded to an integer.
    let ratio = (plus.to_bits() - minus.to_bits() + x.int(1 << (EXPONENT - 1))).shr(EXPONENT);
    let k_int = N::Int::select(a.lt(x.lit(0.25)), x.int(0), ratio);
    let p = power_of_two::<N>(k_int);
    let k: N = from_small(k_int);
    let numerator = (plus - p * minus) + (plus_rest - p * minus_rest);
    let denominator = (plus + p * minus) + (plus_rest + p * minus_rest);
    let s = numerator / denominator;
    let z = s * s;
    let y = k * x.lit(HALF_LN2_HIGH) + (s + (s * z * horner(z, &ATANH) + k * x.lit(HALF_LN2_LOW)));
    let edge = N::select(a.eq(one), x.lit(f64::INFINITY), x.lit(f64::NAN));
    flip(N::select(a.lt(one), y, edge), sign_of(x))
}
