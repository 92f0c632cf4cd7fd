//! asin, acos, atan and atan2.

use super::bits::HALF_PI_LOW;
use crate::math::basic::{at_most, fast_two_sum, flip, horner, sign_of};
use crate::math::number::{Double, Integer, Number};
use std::f64::consts::FRAC_PI_2;

/// (asin s - s) / (s z); error 2^-59.8.
const ASIN: [f64; 13] = [
    0.03270173864573019,
    -0.021115918195688824,
    0.0217899878662287,
    0.003672497040777278,
    0.010789226835880338,
    0.01139731216785873,
    0.013981015885379824,
    0.01735159575131699,
    0.02237221588990567,
    0.030381942675937346,
    0.04464285717526984,
    0.0749999999997012,
    0.16666666666666763,
];
/// (atan t - t) / (t z); error 2^-57.5.
const ATAN: [f64; 9] = [
    -0.03444370893371875,
    0.05538423262959079,
    -0.06629177146421815,
    0.07689803031281746,
    -0.0909080513702479,
    0.11111108493228904,
    -0.1428571424831718,
    0.19999999999737628,
    -0.333333333333327,
];

/// `asin |x| = s + tail` where |x| is at most a half; `pi/2 - 2 (s + tail)` where it is larger.
struct Arc<N: Number> {
    large: N::Mask,
    s: N,
    tail: N,
}

#[inline(always)]
fn arc<N: Double>(x: N) -> Arc<N> {
    let (a, half) = (x.abs(), x.lit(0.5));
    let large = half.lt(a);
    // Beyond 1 the root is NaN, and so is the result.
    let z = N::select(large, (x.lit(1.0) - a) * half, a * a);
    let s = N::select(large, z.sqrt(), a);
    Arc { large, s, tail: s * (z * horner(z, &ASIN)) }
}

/// Inverse sine.
#[inline(always)]
pub fn asin<N: Double>(x: N) -> N {
    let Arc { large, s, tail } = arc(x);
    let (outer, rest) = fast_two_sum(x.lit(FRAC_PI_2), -(s + s));
    let outer = outer + (rest - ((tail + tail) - x.lit(HALF_PI_LOW)));
    flip(N::select(large, outer, s + tail), sign_of(x))
}

/// Inverse cosine: `pi/2 - asin x`, `2 (s + tail)` or `pi - 2 (s + tail)`.
#[inline(always)]
pub fn acos<N: Double>(x: N) -> N {
    let Arc { large, s, tail } = arc(x);
    let (zero, one, two) = (x.lit(0.0), x.lit(1.0), x.lit(2.0));
    let factor = flip(N::select(large, two, -one), sign_of(x));
    let right_angles = N::select(large, N::select(x.lt(zero), two, zero), one);
    let low = factor * tail + right_angles * x.lit(HALF_PI_LOW);
    right_angles * x.lit(FRAC_PI_2) + (factor * s + low)
}

/// Multiples of pi/4 and atan(1/2), cut to multiples of 2^-45 so that their sums are exact, and the rests.
const QUARTER_PI_HIGH: f64 = f64::from_bits(0x3fe9_21fb_5444_2d00);
const QUARTER_PI_REST: f64 = f64::from_bits(0x3ce8_4698_98cc_5170);
const ATAN_HALF_HIGH: f64 = f64::from_bits(0x3fdd_ac67_0561_ba00);
const ATAN_HALF_REST: f64 = f64::from_bits(0x3d14_f68a_dfc8_8bd9);

/// `right_angles pi/2 + atan(least / most)`, with the sign bit `sign` on the second term, for finite
/// 0 <= least <= most > 0.
///
/// `atan v = atan c + atan((v - c) / (1 + c v))` with c one of 0, 1/2 and 1, which loses nothing in `c v`.
#[inline(always)]
fn angle<N: Double>(least: N, most: N, right_angles: N, sign: N::Int) -> N {
    let lit = |x: f64| least.lit(x);
    let low = least.lt(most * lit(0.3125));
    let middle = least.lt(most * lit(0.75));
    let pick = |a: f64, b: f64| N::select(low, lit(0.0), N::select(middle, lit(a), lit(b)));
    let c = pick(0.5, 1.0);
    let t = (least - c * most) / (most + c * least);
    let z = t * t;
    let tail = t * (z * horner(z, &ATAN));
    let quarters = right_angles + right_angles;
    let base = quarters * lit(QUARTER_PI_HIGH) + flip(pick(ATAN_HALF_HIGH, QUARTER_PI_HIGH), sign);
    let base_rest = quarters * lit(QUARTER_PI_REST) + flip(pick(ATAN_HALF_REST, QUARTER_PI_REST), sign);
    let (sum, rest) = fast_two_sum(base, flip(t, sign));
    sum + (rest + (flip(tail, sign) + base_rest))
}

/// Inverse tangent.
#[inline(always)]
pub fn atan<N: Double>(x: N) -> N {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    // Beyond 2^64 the result is pi/2 whatever x.
    let a = at_most(x.abs(), 18_446_744_073_709_551_616.0);
    let steep = one.lt(a);
    let (least, most) = (N::select(steep, one, a), N::select(steep, a, one));
    let sign = sign_of(N::select(steep, -one, one));
    flip(angle(least, most, N::select(steep, one, zero), sign), sign_of(x))
}

/// The angle of the point (x, y) from the positive x axis, between -pi and pi.
#[inline(always)]
pub fn atan2<N: Double>(y: N, x: N) -> N {
    let (zero, one, two) = (x.lit(0.0), x.lit(1.0), x.lit(2.0));
    let (tall, wide) = (y.abs(), x.abs());
    let steep = wide.lt(tall);
    let (least, most) = (N::select(steep, wide, tall), N::select(steep, tall, wide));
    // Scaled, so that halves are exact and sums do not overflow.
    const UP: f64 = (1u128 << 100) as f64;
    let up = N::select(most.lt(x.lit(1e-300)), x.lit(UP), one);
    let factor = N::select(x.lit(1e300).lt(most), x.lit(1.0 / UP), up);
    let (small, large) = (least * factor, most * factor);
    // Infinite sides count as equal, and beside one any finite side as 0; NaN stays.
    let infinity = x.lit(f64::INFINITY);
    let endless = most.eq(infinity);
    let small = N::select(endless, N::select(least.eq(infinity), one, least * zero), small);
    let large = N::select(endless | most.eq(zero), one, large);
    let backwards = x.to_bits().lt(x.int(0));
    let right_angles = N::select(steep, one, N::select(backwards, two, zero));
    let sign = sign_of(N::select(steep, -one, one)) ^ sign_of(x);
    flip(angle(small, large, right_angles, sign), sign_of(y))
}
