//! pow, cbrt and hypot.

use super::bits::{nearest, scale};
use super::exponential::exp_tail;
use super::logarithm::split_any_exponent;
use super::pair::{pair_product, two_product};
use crate::math::basic::{clamp, fast_two_sum, flip, horner, sign_of};
use crate::math::number::{Double, Integer};
use std::f64::consts::LN_2;

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
    let lit = |c: f64| a.lit(c);
    let (a, b, infinity) = (a.abs(), b.abs(), lit(f64::INFINITY));
    let most = N::select(a.lt(b), b, a);
    // Powers of 2: 2^600 and 2^-600.
    const UP: f64 = f64::from_bits((1023 + 600) << 52);
    const DOWN: f64 = f64::from_bits((1023 - 600) << 52);
    let (huge, tiny) = (lit(1e150).lt(most), most.lt(lit(1e-130)));
    let pick = |h: f64, t: f64| N::select(huge, lit(h), N::select(tiny, lit(t), lit(1.0)));
    let (factor, inverse) = (pick(DOWN, UP), pick(UP, DOWN));
    let (p, q) = (a * factor, b * factor);
    let y = (p * p + q * q).sqrt() * inverse;
    N::select(a.eq(infinity) | b.eq(infinity), infinity, y)
}
