//! sin, cos and tan with exact argument reduction, and their inverses.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, PI};

use super::exponential::upper;
use crate::math::basic::{fast_two_sum, flip, horner, sign_of};
use crate::math::number::{Integer, Number, Single};

/// Below this magnitude the `_small` functions give the same bits as the full ones.
pub const SMALL_ANGLE: f32 = 3200.0;

/// pi/2 in four parts (Cody and Waite 1980). The first three have at most 13 bits, so that their products
/// with integers below 2^11 are exact, and the first two end at 2^-24, the last bit of the arguments.
const HALF_PI: [f64; 4] =
    [1.57080078125, -4.470348358154297e-6, 1.5890691429376602e-8, 2.563344068257089e-12];

/// The bits of 1 / (2 pi) behind 12 zero bits.
const TURNS_PER_RADIAN: [i64; 7] =
    [0x28be6, 0xdb93910, 0x54a7f09d, 0x5f47d4d3, 0x77036d8a, 0x5664f10e, 0x4107f945];

/// An angle as quarter turns and a rest in [-pi/4, pi/4], the latter a sum of two floats. Only the last two
/// bits of `quadrant` count.
pub(super) struct Angle<N: Number> {
    pub high: N,
    pub low: N,
    pub quadrant: N::Int,
}

/// The angle of `0 <= x < SMALL_ANGLE`: x - n pi/2. The first two subtractions are exact, the third rounds,
/// the fourth is below 2^-28.
#[inline(always)]
fn small_angle<N: Single>(x: N) -> Angle<N> {
    let (n, quadrant) = (x * x.lit(FRAC_2_PI)).nearest();
    let r = (x - n * x.lit(HALF_PI[0])) - n * x.lit(HALF_PI[1]);
    let (high, low) = fast_two_sum(r, n * x.lit(-HALF_PI[2]));
    Angle { high, low: low - n * x.lit(HALF_PI[3]), quadrant }
}

/// The upper half of the 56-bit product of a 24-bit m (given as 12 upper and 12 lower bits) and a word,
/// from partial products below 2^32.
#[inline(always)]
fn multiply_high<I: Integer>(m: (I, I), word: I) -> I {
    let (word_high, word_low) = (word.shr(16), word & word.lit(0xffff));
    let low = m.0 * word_low + (m.1 * word_low).shr(12);
    let middle = m.1 * word_high + low.shr(4);
    (m.0 * word_high + middle.shr(12)).shr(4)
}

/// x / (2 pi) modulo 1 as a 64-bit fraction (upper and lower word), for 2048 <= x < infinity: the 24-bit
/// mantissa times those 96 bits of 1 / (2 pi) that matter for the exponent (Payne and Hanek 1983).
#[inline(always)]
fn turns<N: Single>(x: N) -> (N::Int, N::Int) {
    let bits = x.to_bits();
    let lit = |value: i64| bits.lit(value);
    let position = bits.shr(23) - lit(127 + 11);
    let shift = position & lit(31);
    let skip_two = (position & lit(64)).eq(lit(64));
    let skip_one = (position & lit(32)).eq(lit(32));
    let five = |k: usize| N::Int::select(skip_two, lit(TURNS_PER_RADIAN[k + 2]), lit(TURNS_PER_RADIAN[k]));
    let four = |k: usize| N::Int::select(skip_one, five(k + 1), five(k));
    let word = |k: usize| four(k).shl_by(shift) | four(k + 1).shr(1).shr_by(lit(31) - shift);

    let m = (bits & lit(0x7f_ffff)) | lit(0x80_0000);
    let m_parts = (m.shr(12), m & lit(0xfff));
    let (product, addend) = (m * word(1), multiply_high(m_parts, word(2)));
    let low = product + addend;
    let carry = (product & !low).shr(31);
    (m * word(0) + multiply_high(m_parts, word(1)) + carry, low)
}

/// The angle of `x >= 2048`. The signed 64-bit fraction of a quarter turn becomes a sum of two floats, which
/// is multiplied by pi/2 in parts (Dekker 1971).
#[inline(always)]
pub(super) fn large_angle<N: Single>(x: N) -> Angle<N> {
    let (upper_word, lower_word) = turns(x);
    let quadrant = (upper_word + x.int(1 << 29)).shr(30);
    let (upper_word, lower_word) = (upper_word.shl(2) | lower_word.shr(30), lower_word.shl(2));
    let negative = upper_word.sar(31);
    let (upper_word, lower_word) = (upper_word ^ negative, lower_word ^ negative);

    let most = N::from_int(upper_word & x.int(!0x7f)) * x.lit(2f64.powi(-32));
    let rest = (upper_word & x.int(0x7f)).shl(24) | lower_word.shr(8);
    let (v, v_low) = fast_two_sum(most, N::from_int(rest) * x.lit(2f64.powi(-56)));
    let v_upper = upper(v);
    let v_lower = (v - v_upper) + v_low;
    let unit = 1.5703125;
    let rest = v_upper * x.lit(FRAC_PI_2 - unit) + v_lower * x.lit(FRAC_PI_2);
    let (high, low) = fast_two_sum(v_upper * x.lit(unit), rest);
    let sign = sign_of(N::from_bits(negative));
    Angle { high: flip(high, sign), low: flip(low, sign), quadrant }
}

/// The angle of any `x >= 0`; NaN for infinity and NaN.
#[inline(always)]
fn any_angle<N: Single>(x: N) -> Angle<N> {
    let (small, large) = (small_angle(x), large_angle(x));
    let infinity = x.lit(f64::INFINITY);
    let high = N::select(x.lt(infinity), large.high, x.lit(f64::NAN));
    let is_small = x.lt(x.lit(SMALL_ANGLE.into()));
    Angle {
        high: N::select(is_small, small.high, high),
        low: N::select(is_small, small.low, large.low),
        quadrant: N::Int::select(is_small, small.quadrant, large.quadrant),
    }
}

/// The sine of an angle (cosine: one quadrant on).
#[inline(always)]
fn sine<N: Single>(angle: Angle<N>, quadrants: i64) -> N {
    sine_of_rest(angle.high + angle.low, angle.quadrant + angle.quadrant.lit(quadrants))
}

/// Of sine and cosine within pi/4, without their first terms; errors 2^-27.9 and 2^-33.
pub(super) const SINE: [f64; 3] = [-0.00019517896, 0.008332187, -0.16666655];
pub(super) const COSINE: [f64; 4] = [2.4432327e-5, -0.001388731, 0.041666646, -0.5];

/// The sine of quarter turns and a rest within pi/4.
#[inline(always)]
pub fn sine_of_rest<N: Single>(r: N, quadrant: N::Int) -> N {
    let s = r * r;
    let sin = r + r * (s * horner(s, &SINE));
    let cos = r.lit(1.0) + s * horner(s, &COSINE);
    let odd = quadrant.shl(31).lt(quadrant.lit(0));
    flip(N::select(odd, cos, sin), quadrant.shr(1).shl(31))
}

/// The tangent of an angle: r + r^3 P(r^2) (error 2^-25.7), or -1 over it if the quadrant is odd, corrected
/// for what the denominator lost in rounding.
#[inline(always)]
fn tangent<N: Single>(angle: Angle<N>) -> N {
    let r = angle.high;
    let s = r * r;
    let p = horner(s, &[0.00942031, 0.0030619253, 0.024465641, 0.05340153, 0.13338915, 0.33333153]);
    let (t, low) = fast_two_sum(r, r * (s * p) + (angle.low + angle.low * s));
    let q = r.lit(-1.0) / t;
    let odd = angle.quadrant.shl(31).lt(angle.quadrant.lit(0));
    N::select(odd, q + q * (q * low), t)
}

/// sin x for |x| < SMALL_ANGLE.
#[inline(always)]
pub fn sin_small<N: Single>(x: N) -> N {
    flip(sine(small_angle(x.abs()), 0), sign_of(x))
}

/// sin x
#[inline(always)]
pub fn sin<N: Single>(x: N) -> N {
    flip(sine(any_angle(x.abs()), 0), sign_of(x))
}

/// cos x for |x| < SMALL_ANGLE.
#[inline(always)]
pub fn cos_small<N: Single>(x: N) -> N {
    sine(small_angle(x.abs()), 1)
}

/// cos x
#[inline(always)]
pub fn cos<N: Single>(x: N) -> N {
    sine(any_angle(x.abs()), 1)
}

/// tan x for |x| < SMALL_ANGLE.
#[inline(always)]
pub fn tan_small<N: Single>(x: N) -> N {
    flip(tangent(small_angle(x.abs())), sign_of(x))
}

/// tan x
#[inline(always)]
pub fn tan<N: Single>(x: N) -> N {
    flip(tangent(any_angle(x.abs())), sign_of(x))
}

/// The rests of pi/2 and pi after rounding to f32.
pub(super) const HALF_PI_LOW: f64 = -4.371139e-8;
const PI_LOW: f64 = -8.742278e-8;

/// `(s, asin s - s)` where s is a if a <= 1/2, else sqrt((1 - a) / 2); NaN beyond 1. Error 2^-27.6.
#[inline(always)]
fn half_range<N: Single>(a: N) -> (N, N) {
    let half = a.lit(0.5);
    let near = a.le(half);
    let z = N::select(near, a * a, half - a * half);
    let s = N::select(near, a, z.sqrt());
    let p = horner(z, &[0.042158388, 0.024184743, 0.045469154, 0.074953094, 0.16666752]);
    (s, s * (z * p))
}

/// asin: near 0 an odd polynomial, else pi/2 - 2 asin sqrt((1 - x) / 2).
#[inline(always)]
pub fn asin<N: Single>(x: N) -> N {
    let a = x.abs();
    let (s, tail) = half_range(a);
    let twice = s + s;
    let high = x.lit(FRAC_PI_2) - twice;
    let lost = (x.lit(FRAC_PI_2) - high) - twice;
    let far = high + (lost + (x.lit(HALF_PI_LOW) - (tail + tail)));
    flip(N::select(a.le(x.lit(0.5)), s + tail, far), sign_of(x))
}

/// acos: pi/2 - asin x near 0, 2 asin sqrt((1 - |x|) / 2) or pi minus that farther out.
#[inline(always)]
pub fn acos<N: Single>(x: N) -> N {
    let a = x.abs();
    let (s, tail) = half_range(a);
    let near = a.le(x.lit(0.5));
    let negative = x.lt(x.lit(0.0));
    let (zero, half_pi, pi) = (x.lit(0.0), x.lit(FRAC_PI_2), x.lit(PI));
    let base = N::select(near, half_pi, N::select(negative, pi, zero));
    let base_low = N::select(near, x.lit(HALF_PI_LOW), N::select(negative, x.lit(PI_LOW), zero));
    let scale = flip(N::select(near, x.lit(-1.0), x.lit(2.0)), sign_of(x));
    let step = scale * s;
    let high = base + step;
    let lost = (base - high) + step;
    high + (scale * tail + (base_low + lost))
}

/// atan t for 0 <= t <= 1; error 2^-28.5.
#[inline(always)]
fn atan_unit<N: Single>(t: N) -> (N, N) {
    let z = t * t;
    let p = [
        -0.0017829227,
        0.010868949,
        -0.031097233,
        0.05788149,
        -0.08399308,
        0.109508805,
        -0.14264016,
        0.1999853,
        -0.333333,
    ];
    (t, t * (z * horner(z, &p)))
}

/// atan: an odd polynomial up to 1, pi/2 - atan(1/x) beyond.
#[inline(always)]
pub fn atan<N: Single>(x: N) -> N {
    let a = x.abs();
    let inverse = x.lit(1.0).lt(a);
    let (t, tail) = atan_unit(N::select(inverse, x.lit(1.0) / a, a));
    let sum = t + tail;
    let far = x.lit(FRAC_PI_2) - (sum - x.lit(HALF_PI_LOW));
    flip(N::select(inverse, far, sum), sign_of(x))
}

/// The angle of the point (x, y): atan of the smaller over the larger coordinate, moved to its octant.
#[inline(always)]
pub fn atan2<N: Single>(y: N, x: N) -> N {
    let (ax, ay, zero) = (x.abs(), y.abs(), x.lit(0.0));
    let steep = ax.lt(ay);
    let (less, more) = (N::select(steep, ax, ay), N::select(steep, ay, ax));
    let ratio = N::select(less.eq(more), x.lit(1.0), less / more);
    let (t, tail) = atan_unit(N::select(more.eq(zero), zero, ratio));
    let sum = t + tail;
    let steep_sum = x.lit(FRAC_PI_2) - (sum - x.lit(HALF_PI_LOW));
    let angle = N::select(steep, steep_sum, sum);
    let left = x.to_bits().lt(x.int(0));
    let angle = N::select(left, x.lit(PI) - (angle - x.lit(PI_LOW)), angle);
    N::select(x.is_nan() | y.is_nan(), x + y, flip(angle, sign_of(y)))
}
