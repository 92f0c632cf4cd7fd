//! The hyperbolic functions and their inverses; pow, cbrt and hypot; erf.
//!
//! With `x = k ln 2 + r`, `sinh x = sinh(k ln 2) cosh r + cosh(k ln 2) sinh r`, and likewise for cosh. The
//! first factors are sums of powers of 2, so no reciprocal of e^x is needed. The inverses are logarithms.
//!
//! erf needs no exponential: the tail is the reciprocal of the fourth power of a polynomial, as in Hastings
//! ("Approximations for digital computers", 1955), with the precision needed next to 1.

use std::f64::consts::LN_2;

use super::exponential::{Reduced, cosh_sinh_tails, exp_tail, log_of_pair, reduce, split_any_exponent};
use super::steps::{
    EXPONENT, ONE_BITS, from_small, half_power_of_two, nearest, pair_product, pair_quotient, power_of_two,
    scale, two_product, upper,
};
use crate::math::basic::{at_most, clamp, fast_two_sum, flip, horner, scaled_hypot, sign_of, two_sum};
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
    /// The rest to be added to cosh and subtracted from sinh; it matters for their quotient.
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

/// (2 atanh s / ln 2 - c0 s - c1 s z) / (s z^2); error 2^-73.5.
const LOG2_TAIL: [f64; 8] = [
    0.17279937173766724,
    0.1684537814461871,
    0.19240120603739896,
    0.22195227343693186,
    0.2623081986136975,
    0.32059889791310875,
    0.4121985831113448,
    0.5770780163555851,
];
/// 2 / ln 2 and a third of it, each with its rest.
const C0: (f64, f64) = (f64::from_bits(0x4007_1547_652b_82fe), f64::from_bits(0x3c87_77d0_ffda_0d24));
const C1: (f64, f64) = (f64::from_bits(0x3fee_c709_dc3a_03fd), f64::from_bits(0x3c8d_27f0_5548_af0c));
const LN2_LOW: f64 = 2.3190468138462996e-17;

/// log2 of a positive finite number as a sum of two. Its relative error is at most about 2^-63; a power
/// multiplies it by up to 1074 ln 2, which makes half an ulp.
#[inline(always)]
fn log2_pair<N: Double>(x: N) -> (N, N) {
    let lit = |c: f64| x.lit(c);
    let (k, m) = split_any_exponent(x);
    let f = m - lit(1.0);
    // s = f / (2 + f), with the remainder of the division and the rounding of the sum.
    let (d, d_low) = fast_two_sum(lit(2.0), f);
    let inverse = lit(1.0) / d;
    let s = f * inverse;
    let (product, rest) = two_product(s, d);
    let s_low = (((f - product) - rest) - s * d_low) * inverse;
    let z = pair_product((s, s_low), (s, s_low));
    let (u, u_rest) = fast_two_sum(lit(C1.0), z.0 * horner(z.0, &LOG2_TAIL));
    let v = pair_product(z, (u, u_rest + lit(C1.1)));
    let (g, g_rest) = fast_two_sum(lit(C0.0), v.0);
    let log = pair_product((s, s_low), (g, g_rest + (v.1 + lit(C0.1))));
    let (sum, rest) = fast_two_sum(k, log.0);
    fast_two_sum(sum, rest + log.1)
}

/// 2 to the power of a sum of two numbers, of which the first may be anything.
#[inline(always)]
fn exp2_pair<N: Double>(high: N, low: N) -> N {
    let low = N::select(high.abs().lt(high.lit(1100.0)), low, high.lit(0.0));
    let high = clamp(high, -1100.0, 1100.0);
    let (k, bits) = nearest(high);
    let ln2 = (high.lit(LN_2), high.lit(LN2_LOW));
    let (r, tail) = pair_product(fast_two_sum(high - k, low), ln2);
    let (sum, rest) = fast_two_sum(high.lit(1.0), r);
    scale(sum + (rest + (exp_tail(r) + tail)), k, bits)
}

/// `a` to the power `b` (IEEE 754-2019 `pow`).
#[inline(always)]
pub fn pow<N: Double>(a: N, b: N) -> N {
    let (zero, one, infinity) = (a.lit(0.0), a.lit(1.0), a.lit(f64::INFINITY));
    let magnitude = a.abs();
    let (high, low) = log2_pair(magnitude);
    // The logarithms of 0, infinity and NaN, which the extraction of the exponent does not see.
    let high = N::select(magnitude.lt(infinity), high, magnitude);
    let high = N::select(a.eq(zero), a.lit(f64::NEG_INFINITY), high);
    let (product, rest) = two_product(b, high);
    let y = exp2_pair(product, rest + b * low);

    let half = b * a.lit(0.5);
    let whole = b.trunc().eq(b);
    let odd = whole & !half.trunc().eq(half);
    let y = N::select(odd, flip(y, sign_of(a)), y);
    let undefined = a.lt(zero) & magnitude.lt(infinity) & !whole;
    let y = N::select(undefined, a.lit(f64::NAN), y);
    let unit = b.eq(zero) | a.eq(one) | (magnitude.eq(one) & b.abs().eq(infinity));
    N::select(unit, one, y)
}

/// Cube root: two Newton-like steps for the reciprocal root, then one correction whose residual is exact.
#[inline(always)]
pub fn cbrt<N: Double>(x: N) -> N {
    let lit = |c: f64| x.lit(c);
    let a = x.abs();
    // 2^162 = (2^54)^3; then no cube below is subnormal.
    let tiny = a.lt(lit(1e-250));
    let v = N::select(tiny, a * lit(5_846_006_549_323_611_672_814_739_330_865_132_078_623_730_171_904.0), a);
    // A third of the exponent and of the leading mantissa bits: within 4 % of v^(-1/3).
    let third = (v.to_bits().shr(32) * x.int(0x5555_5556)).shr(32);
    let y = N::from_bits((x.int(0x553e_e800) - third).shl(32));
    // With e = 1 - v y^3, v^(-1/3) = y (1 - e)^(-1/3), by its series.
    let e = lit(1.0) - v * (y * y * y);
    let y = y + y * (e * horner(e, &[14.0 / 81.0, 2.0 / 9.0, 1.0 / 3.0]));
    let e = lit(1.0) - v * (y * y * y);
    let y = y + y * (e * horner(e, &[2.0 / 9.0, 1.0 / 3.0]));
    let root = v * (y * y);
    // Of 17 bits, so that its cube is exact.
    let t = N::from_bits(root.to_bits() & x.int(!0xf_ffff_ffff));
    let root = t + (v - t * t * t) / (root * root + root * t + t * t);
    let root = N::select(tiny, root * lit(1.0 / 18_014_398_509_481_984.0), root);
    // 0, infinity and NaN are their own roots.
    let ordinary = lit(0.0).lt(a) & a.lt(lit(f64::INFINITY));
    flip(N::select(ordinary, root, a), sign_of(x))
}

/// `sqrt(a^2 + b^2)` without undue overflow.
#[inline(always)]
pub fn hypot<N: Double>(a: N, b: N) -> N {
    scaled_hypot(a, b, 1e150, 1e-130, 600)
}

/// erf(x) / x - 1; error 2^-56.2.
const ERF: [f64; 13] = [
    6.851230862169777e-11,
    -1.1930993225768207e-09,
    1.481306731694205e-08,
    -1.6374664431648573e-07,
    1.646347498625265e-06,
    -1.4925763204788234e-05,
    0.00012055338827770839,
    -0.0008548327218998163,
    0.005223977629616978,
    -0.02686617064567391,
    0.11283791670959031,
    -0.3761263890318388,
    0.1283791670955126,
];
/// erfc(1 + t)^(-1/4); error 2^-55.9.
const ERFC_ROOT: [f64; 23] = [
    4.833327218412556e-11,
    -1.133904436942959e-09,
    1.27437020199772e-08,
    -8.89820929360487e-08,
    4.3142256655232316e-07,
    -1.528717955679062e-06,
    4.1152193232776395e-06,
    -8.476894096857334e-06,
    1.3957396701526567e-05,
    -1.660788137165893e-05,
    2.168004570321758e-05,
    4.8687034375800195e-06,
    8.88039698175409e-05,
    0.00031861440711949827,
    0.0012451409673757596,
    0.004476428468403892,
    0.014865372304658708,
    0.046168060642309314,
    0.12754657464406405,
    0.31330250917050856,
    0.6802591706876274,
    1.0475925937880208,
    1.587882515623603,
];

/// The error function.
#[inline(always)]
pub fn erf<N: Double>(x: N) -> N {
    let (a, one) = (x.abs(), x.lit(1.0));
    let inner = a + a * horner(a * a, &ERF);
    // Beyond 5.94, erf rounds to 1.
    let root = horner(clamp(a, 1.0, 5.94) - one, &ERFC_ROOT);
    let square = root * root;
    let outer = one - one / (square * square);
    flip(N::select(a.lt(one), inner, outer), sign_of(x))
}
