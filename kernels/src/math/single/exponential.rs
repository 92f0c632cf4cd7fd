//! exp and what is made of it: expm1, the hyperbolic functions, erf; logarithms, and the inverse hyperbolic
//! functions, which are logarithms; pow, cbrt, hypot.

use std::f64::consts::{LN_2, LOG2_E};

use crate::math::basic::{
    at_most, clamp, fast_two_sum, flip, horner, is_finite, logarithm_edges, scaled_hypot, sign_of, two_sum,
};
use crate::math::number::{Integer, Single};

/// 2^n for -127 < n < 128. At n = -127 and 128 it is 0 and infinity.
#[inline(always)]
fn power_of_two<N: Single>(n: N::Int) -> N {
    N::from_bits((n + n.lit(127)).shl(23))
}

/// `x` cut to its upper 12 mantissa bits, so that products of two such numbers are exact.
#[inline(always)]
pub(super) fn upper<N: Single>(x: N) -> N {
    N::from_bits(x.to_bits() & x.int(!0xfff))
}

/// ln 2 in two parts (Cody and Waite 1980); the first has 16 bits, so n times it is exact for |n| < 2^8.
pub(super) const LN2: [f64; 2] = [0.693145751953125, 1.4286068e-6];

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

/// The terms of sinh and cosh of `a >= 0`, where a = n ln 2 + r.
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

/// The bits of sqrt(1/2): where one binade of reduced arguments ends and the next begins.
const SQRT_HALF: i64 = 0x3f35_04f3;

/// log10 2 in two parts; the first times an exponent is exact.
const LOG10_2: [f64; 2] = [0.301025390625, 4.605039e-6];

/// `(e, m)` with x = 2^e m, sqrt(1/2) <= m < sqrt 2, for normal positive x.
#[inline(always)]
fn split_normal<N: Single>(x: N) -> (N::Int, N) {
    let bits = x.to_bits();
    let e = (bits - bits.lit(SQRT_HALF)).sar(23);
    (e, N::from_bits(bits - e.shl(23)))
}

/// As [`split_normal`] for any positive finite x; the exponent as a float.
#[inline(always)]
fn split<N: Single>(x: N) -> (N, N) {
    let subnormal = x.lt(x.lit(f32::MIN_POSITIVE.into()));
    // As an integer: a product would be 0 on devices that flush.
    let (e, m) = split_normal(N::select(subnormal, N::from_int(x.to_bits()), x));
    (N::from_int(e) - N::select(subnormal, x.lit(149.0), x.lit(0.0)), m)
}

/// `e ln 2 + ln(1 + f) + d` for a small correction d; the polynomial's error is 2^-27.4.
#[inline(always)]
fn log_sum<N: Single>(e: N, f: N, d: N) -> N {
    let square = f * f;
    let p = [-0.07636393, 0.1276216, -0.13159597, 0.14201584, -0.1662341, 0.20001242, -0.2500082, 0.3333333];
    let cubic = horner(f, &p) * (f * square);
    let low = (cubic - square * f.lit(0.5)) + (e * f.lit(LN2[1]) + d);
    e * f.lit(LN2[0]) + (f + low)
}

/// Natural logarithm: exponent and mantissa apart, f - f^2/2 + f^3 P(f) for the mantissa 1 + f.
#[inline(always)]
pub fn log<N: Single>(x: N) -> N {
    let (e, m) = split(x);
    let f = m - x.lit(1.0);
    logarithm_edges(x, log_sum(e, f, x.lit(0.0)))
}

/// Binary logarithm: e + (f + f Q(f)), so that powers of two are exact. Error of Q 2^-27.0.
#[inline(always)]
pub fn log2<N: Single>(x: N) -> N {
    let (e, m) = split(x);
    let f = m - x.lit(1.0);
    let q = [
        -0.11639418,
        0.18686561,
        -0.18825465,
        0.20415676,
        -0.23995213,
        0.2886188,
        -0.36068258,
        0.4808965,
        -0.7213475,
        0.44269505,
    ];
    logarithm_edges(x, (e + f) + f * horner(f, &q))
}

/// Decimal logarithm: e log10 2 + (f/2 + f Q(f)). Error of Q 2^-27.3.
#[inline(always)]
pub fn log10<N: Single>(x: N) -> N {
    let (e, m) = split(x);
    let f = m - x.lit(1.0);
    let q = [
        -0.033874106,
        0.0557463,
        -0.056961767,
        0.061588623,
        -0.07221139,
        0.08687233,
        -0.10857662,
        0.14476454,
        -0.21714725,
        -0.065705515,
    ];
    let low = f * horner(f, &q) + e * x.lit(LOG10_2[1]);
    logarithm_edges(x, e * x.lit(LOG10_2[0]) + (f * x.lit(0.5) + low))
}

/// `e ln 2 + ln(1 + a + b)` for `a > -1` and |b| below half an ulp of a. Near 0 the reduced argument is a
/// itself; farther out, what rounding 1 + a lost re-enters as a first-order correction.
#[inline(always)]
fn log1p_sum<N: Single>(a: N, b: N, e: N) -> N {
    let (u, lost) = two_sum(a.lit(1.0), a);
    let (n, m) = split_normal(u);
    let zero = n.lit(0);
    let near = n.eq(zero);
    let f = N::select(near, a, m - a.lit(1.0));
    // Beyond 2^64 the correction is nothing, and its scale would not be a normal number.
    let scale_bits = (n.lit(127) - n).shl(23);
    let scale = N::from_bits(N::Int::select(n.lt(n.lit(64)), scale_bits, zero));
    let d = N::select(near, b, (lost + b) * scale);
    log_sum(e + N::from_int(n), f, d - d * f)
}

/// ln(1 + x)
#[inline(always)]
pub fn log1p<N: Single>(x: N) -> N {
    let zero = x.lit(0.0);
    let (one, infinity) = (x.lit(1.0), x.lit(f64::INFINITY));
    let itself = x.eq(zero) | infinity.le(x);
    let value = N::select(itself, x, log1p_sum(x, zero, zero));
    let other = N::select((x + one).eq(zero), -infinity, x.lit(f64::NAN));
    N::select((-one).lt(x), value, other)
}

/// From here on 1 is lost against the square: asinh and acosh are ln(2a).
const LARGE: f64 = 4096.0;

/// asinh a = ln(1 + a + a^2 / (1 + sqrt(1 + a^2))), which has no cancellation near 0.
#[inline(always)]
pub fn asinh<N: Single>(x: N) -> N {
    let (a, one, zero) = (x.abs(), x.lit(1.0), x.lit(0.0));
    let square = a * a;
    let (sum, low) = fast_two_sum(a, square / (one + (one + square).sqrt()));
    let large = x.lit(LARGE).lt(a);
    let sum = N::select(large, a - one, sum);
    let low = N::select(large, zero, low);
    let value = log1p_sum(sum, low, N::select(large, one, zero));
    flip(N::select(is_finite(x), value, a), sign_of(x))
}

/// acosh x = ln(1 + t + sqrt(2t + t^2)), t = x - 1.
#[inline(always)]
pub fn acosh<N: Single>(x: N) -> N {
    let (one, zero) = (x.lit(1.0), x.lit(0.0));
    let t = x - one;
    let (sum, low) = two_sum(((t + t) + t * t).sqrt(), t);
    let large = x.lit(LARGE).lt(x);
    let sum = N::select(large, t, sum);
    let low = N::select(large, zero, low);
    let value = log1p_sum(sum, low, N::select(large, one, zero));
    let value = N::select(x.lt(x.lit(f64::INFINITY)), value, x);
    N::select(x.lt(one), x.lit(f64::NAN), value)
}

/// atanh a = ln(1 + 2a + 2a^2 / (1 - a)) / 2.
#[inline(always)]
pub fn atanh<N: Single>(x: N) -> N {
    let (a, one) = (x.abs(), x.lit(1.0));
    let twice = a + a;
    let (sum, low) = two_sum(twice, twice * a / (one - a));
    let value = log1p_sum(sum, low, x.lit(0.0)) * x.lit(0.5);
    let outside = N::select(a.eq(one), x.lit(f64::INFINITY), x.lit(f64::NAN));
    flip(N::select(a.lt(one), value, outside), sign_of(x))
}

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
    // As an integer: the product is 0 on devices that flush.
    let subnormal = N::from_int(x.abs().to_bits()) * x.lit(2f64.powi(-125));
    let a = N::select(x.abs().lt(x.lit(f32::MIN_POSITIVE.into())), subnormal, a);
    let third = a.to_bits().shr(16) * x.int(0x5555);
    let t = N::from_bits(x.int(0x54a1_a7fa) - third);
    let h = x.lit(1.0) - a * t * t * t;
    let t = t + t * (h * horner(h, &[0.17454192, 0.22358833, 0.33332917]));
    // Scaled up again, so that the error of the root is a normal number.
    let (a, t) = (
        a * N::select(below_one, x.lit(2f64.powi(48)), x.lit(1.0)),
        t * N::select(below_one, x.lit(2f64.powi(-16)), x.lit(1.0)),
    );
    let square = t * t;
    let root = a * square;
    let error = root * root * root - a;
    let root = root - error * (square * x.lit(1.0 / 3.0));
    let root = root * N::select(below_one, x.lit(2f64.powi(-24)), x.lit(256.0));
    N::select(is_finite(x), flip(root, sign_of(x)), x)
}

/// sqrt(a^2 + b^2)
#[inline(always)]
pub fn hypot<N: Single>(a: N, b: N) -> N {
    scaled_hypot(a, b, 2f64.powi(60), 2f64.powi(-50), 80)
}
