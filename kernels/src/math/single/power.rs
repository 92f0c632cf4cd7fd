//! pow, cbrt, hypot.

use std::f64::consts::LN_2;

use super::bits::{power_of_two, upper};
use super::logarithm::split;
use crate::math::basic::{flip, horner, is_finite, sign_of};
use crate::math::number::{Integer, Single};

/// 2 / (3 ln 2), also in two parts of which the first has 12 bits.
const SCALE: f64 = 0.9617967;
const SCALE_PARTS: [f64; 2] = [0.9619140625, -0.000117368574];

/// log2 of a positive finite x as a sum of two floats, the first of 12 bits, to about 2^-33 of its
/// size: e + 2/(3 ln 2) s (3 + s^2 + s^4 Q), s = f / (2 + f) (atanh series), in double-float products of
/// 12-bit factors (Dekker 1971). The error of Q is 2^-36.8 of the sum.
#[inline(always)]
fn log2_parts<N: Single>(x: N) -> (N, N) {
    let (one, three) = (x.lit(1.0), x.lit(3.0));
    let (e, m) = split(x);
    let (f, g) = (m - one, m + one);
    let inverse = one / g;
    let s = f * inverse;
    let (s_upper, g_upper) = (upper(s), upper(g));
    let s_low = inverse * ((f - s_upper * g_upper) - s_upper * (m - (g_upper - one)));

    let square = s_upper * s_upper;
    let z = s * s;
    let tail = (z * z) * horner(z, &[0.3512945, 0.42820635, 0.6000023]) + s_low * (s_upper + s);
    let t_upper = upper((three + square) + tail);
    let t_low = tail - ((t_upper - three) - square);
    let product = s_upper * t_upper;
    let rest = s_low * t_upper + t_low * s;
    let p_upper = upper(product + rest);
    let p_low = rest - (p_upper - product);

    let high = x.lit(SCALE_PARTS[0]) * p_upper;
    let low = x.lit(SCALE_PARTS[1]) * p_upper + x.lit(SCALE) * p_low;
    let sum = upper((high + low) + e);
    (sum, low - ((sum - e) - high))
}

/// 2^(high + low), where high may be anything: beyond the range the result is infinity or 0.
#[inline(always)]
fn exp2_sum<N: Single>(high: N, low: N) -> N {
    let (n, n_int) = (high + low).nearest();
    let r = (high - n) + low;
    let q = [0.00015329165, 0.0013391887, 0.009618503, 0.05550358, 0.24022648, LN_2];
    let p = r * horner(r, &q) + high.lit(1.0);
    let half = n_int.sar(1);
    let value = p * power_of_two(half) * power_of_two(n_int - half);
    let sum = high + low;
    let value = N::select(sum.lt(high.lit(129.0)), value, high.lit(f64::INFINITY));
    N::select(sum.lt(high.lit(-152.0)), high.lit(0.0), value)
}

/// a^b = 2^(b log2 |a|), with the cases of C99 Annex F.9.4.4.
#[inline(always)]
pub fn pow<N: Single>(a: N, b: N) -> N {
    let (zero, one, infinity) = (a.lit(0.0), a.lit(1.0), a.lit(f64::INFINITY));
    let magnitude = a.abs();
    let (log_upper, log_low) = log2_parts(magnitude);
    // Beyond 2^33 every |a| but 1 is out of range already.
    let limit = a.lit(8589934592.0);
    let exponent = N::select(b.abs().lt(limit), b, N::select(b.lt(zero), -limit, limit));
    let exponent_upper = upper(exponent);
    let low = (exponent - exponent_upper) * log_upper + exponent * log_low;
    let value = exp2_sum(exponent_upper * log_upper, low);

    let extreme = magnitude.eq(zero) | magnitude.eq(infinity);
    let inverted = N::select(magnitude.eq(zero), infinity, zero);
    let value = N::select(extreme, N::select(b.lt(zero), inverted, magnitude), value);

    let half = b * a.lit(0.5);
    let integer = b.round().eq(b);
    let odd = integer & !half.round().eq(half);
    let value = flip(value, N::Int::select(odd, sign_of(a), a.int(0)));
    let invalid = a.lt(zero) & (-infinity).lt(a) & !integer;
    let value = N::select(invalid, a.lit(f64::NAN), value);
    let value = N::select(a.is_nan() | b.is_nan(), a + b, value);
    N::select(b.eq(zero) | a.eq(one), one, value)
}

/// Cube root. A guess of x^(-1/3) from the exponent bits (Kahan's trick), one step of fourth order towards
/// x t^3 = 1, and one Newton step on the root itself; x is scaled away from both ends of the range.
#[inline(always)]
pub fn cbrt<N: Single>(x: N) -> N {
    let below_one = x.abs().lt(x.lit(1.0));
    let a = x.abs() * N::select(below_one, x.lit(16777216.0), x.lit(1.0 / 16777216.0));
    let third = a.to_bits().shr(16) * x.int(0x5555);
    let t = N::from_bits(x.int(0x54a1_a7fa) - third);
    let h = x.lit(1.0) - a * t * t * t;
    let t = t + t * (h * horner(h, &[0.17454192, 0.22358833, 0.33332917]));
    let square = t * t;
    let root = a * square;
    let error = root * root * root - a;
    let root = root - error * (square * x.lit(1.0 / 3.0));
    let root = root * N::select(below_one, x.lit(1.0 / 256.0), x.lit(256.0));
    N::select(is_finite(x), flip(root, sign_of(x)), x)
}

/// sqrt(a^2 + b^2), scaled by a power of two where the squares would overflow or lose bits.
#[inline(always)]
pub fn hypot<N: Single>(a: N, b: N) -> N {
    let (a, b) = (a.abs(), b.abs());
    let (one, infinity) = (a.lit(1.0), a.lit(f64::INFINITY));
    let largest = N::select(a.lt(b), b, a);
    let (huge, tiny) = (a.lit(2f64.powi(60)).lt(largest), largest.lt(a.lit(2f64.powi(-50))));
    let choose = |up: i32| {
        let (down, up) = (a.lit(2f64.powi(-up)), a.lit(2f64.powi(up)));
        N::select(huge, down, N::select(tiny, up, one))
    };
    let (scale, inverse) = (choose(80), choose(-80));
    let (x, y) = (a * scale, b * scale);
    let root = (x * x + y * y).sqrt() * inverse;
    N::select(a.eq(infinity) | b.eq(infinity), infinity, root)
}
