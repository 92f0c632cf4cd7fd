//! sin, cos and tan, and their inverses.
//!
//! An angle is a multiple of pi/2 and a small rest, and there are two ways to it, from the magnitude of the
//! argument: below [`SMALL_ANGLE`] the multiple is subtracted with pi/2 in four parts (Cody and Waite 1980);
//! beyond, the argument is multiplied by just those bits of 2/pi that matter (Payne and Hanek, "Radian
//! reduction for trigonometric functions", 1983).
//!
//! sin, cos and tan come twice: the function itself, and one that is right only below [`SMALL_ANGLE`] in
//! magnitude (and for infinity and NaN), where it gives the same bits at a third of the cost.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::steps::{EXPONENT, HALF_PI_LOW, MANTISSA, from_small, nearest, pair_product, pair_quotient};
use crate::math::basic::{at_most, fast_two_sum, flip, horner, sign_of, two_sum};
use crate::math::number::{Double, Integer, Number};

/// The cheap reduction is for magnitudes below this.
pub const SMALL_ANGLE: f64 = 1_048_576.0;

/// pi/2 in three parts of 33 bits, whose multiples up to 2^20 are exact, and a rest.
const HALF_PI: [f64; 4] = [
    f64::from_bits(0x3ff9_21fb_5440_0000),
    f64::from_bits(0x3dd0_b461_1a60_0000),
    f64::from_bits(0x3ba3_198a_2e00_0000),
    f64::from_bits(0x397b_839a_2520_49c1),
];

/// An angle `quadrant pi/2 + high + low`, with |high| at most pi/4 and a little.
struct Angle<N: Number> {
    /// Only the two lowest bits count.
    quadrant: N::Int,
    high: N,
    low: N,
}

/// Reduces 0 <= a < [`SMALL_ANGLE`], and turns infinity and NaN into NaN. The nearest that an argument comes
/// to a multiple of pi/2 is 2^-60; then 100 bits cancel, and 50 bits or more are left.
#[inline(always)]
fn reduce_small<N: Double>(a: N) -> Angle<N> {
    let [p1, p2, p3, p4] = HALF_PI.map(|part| a.lit(part));
    let (n, quadrant) = nearest(a * a.lit(FRAC_2_PI));
    let (sum, rest_1) = two_sum(a - n * p1, -(n * p2));
    let (sum, rest_2) = two_sum(sum, -(n * p3));
    let (high, low) = fast_two_sum(sum, (rest_1 + rest_2) - n * p4);
    Angle { quadrant, high, low }
}

/// Reduces finite a >= 0 of any size; infinity and NaN give NaN.
#[inline(always)]
fn reduce_any<N: Double>(a: N) -> Angle<N> {
    let limit = a.lit(SMALL_ANGLE);
    let large = limit.le(a) & a.lt(a.lit(f64::INFINITY));
    let few = reduce_small(a);
    let many = reduce_large(N::select(large, a, limit));
    Angle {
        quadrant: N::Int::select(large, many.quadrant, few.quadrant),
        high: N::select(large, many.high, few.high),
        low: N::select(large, many.low, few.low),
    }
}

/// 34 zero bits and the binary digits of 2/pi, 60 in a word.
const TWO_OVER_PI: [i64; 20] = [
    0x0000000028be60d,
    0xb9391054a7f09d5,
    0xf47d4d377036d8a,
    0x5664f10e4107f94,
    0x58eaf7aef1586dc,
    0x91b8e909374b801,
    0x924bba827464873,
    0xf877ac72c4a69cf,
    0xba208d7d4baed12,
    0x13a671c09ad17df,
    0x904e64758e60d4c,
    0xe7d272117e2ef7e,
    0x4a0ec7fe25fff78,
    0x16603fbcbc462d6,
    0x829b47db4d9fb3c,
    0x9f2c26dd3d18fd9,
    0xa797fa8b5d49eeb,
    0x1faf97c5ecf41ce,
    0x7de294a4ba9afed,
    0x7ec47e357421580,
];
const MASK_30: i64 = (1 << 30) - 1;
const MASK_60: i64 = (1 << 60) - 1;

/// Reduces finite a >= [`SMALL_ANGLE`]. With `a = M 2^E`, bits of 2/pi that times 2^E weigh 4 or more add a
/// multiple of 4 quadrants; of the rest, 180 bits leave 125 of the product exact. An f64 comes within
/// 2^-61 of a multiple of pi/2 but not closer.
#[inline(always)]
fn reduce_large<N: Double>(a: N) -> Angle<N> {
    let bits = a.to_bits();
    // The exponent of SMALL_ANGLE wants the window at bit 0 of the table, and there are 1004 exponents.
    let position = bits.shr(EXPONENT) - a.int((SMALL_ANGLE.to_bits() >> EXPONENT) as i64);
    let word = (position * a.int(1093)).shr(16);
    let mantissa = (bits & a.int(MANTISSA)) | a.int(1 << EXPONENT);
    let window = window::<N>(word, position - word * a.int(60));
    from_digits(product::<N>(mantissa, window))
}

/// 180 bits of the table from bit `60 word + offset` on, as digits of 30 bits, highest first.
#[inline(always)]
fn window<N: Double>(word: N::Int, offset: N::Int) -> [N::Int; 6] {
    let mut words = TWO_OVER_PI.map(|w| word.lit(w));
    // Moves the listed words down by `step` if that bit of the word's number is set. Not a loop, because
    // compilers take the test out of a loop, and then branch.
    macro_rules! move_down {
        ($step:literal: $($i:literal)*) => {
            let stays = (word & word.lit($step)).eq(word.lit(0));
            $(words[$i] = N::Int::select(stays, words[$i], words[$i + $step]);)*
        };
    }
    move_down!(16: 0 1 2 3);
    move_down!(8: 0 1 2 3 4 5 6 7 8 9 10);
    move_down!(4: 0 1 2 3 4 5 6);
    move_down!(2: 0 1 2 3 4);
    move_down!(1: 0 1 2 3);
    let (mask_30, mask_60, rest) = (word.lit(MASK_30), word.lit(MASK_60), word.lit(60) - offset);
    let aligned = |i: usize| (words[i].shl_by(offset) | words[i + 1].shr_by(rest)) & mask_60;
    let [a, b, c] = [aligned(0), aligned(1), aligned(2)];
    [a.shr(30), a & mask_30, b.shr(30), b & mask_30, c.shr(30), c & mask_30]
}

/// The lowest 180 bits of mantissa times window, as digits of 30 bits, highest first.
#[inline(always)]
fn product<N: Double>(mantissa: N::Int, window: [N::Int; 6]) -> [N::Int; 6] {
    let mask = mantissa.lit(MASK_30);
    let (low, high) = (mantissa & mask, mantissa.shr(30));
    let mut digits = window;
    let mut carry = low * window[5];
    digits[5] = carry & mask;
    for i in (0..5).rev() {
        carry = low * window[i] + high * window[i + 1] + carry.shr(30);
        digits[i] = carry & mask;
    }
    digits
}

/// The angle of a binary number of quadrants: 2 bits before the point, 178 behind it.
#[inline(always)]
fn from_digits<N: Double>(digits: [N::Int; 6]) -> Angle<N> {
    /// The weights of the digits.
    const WEIGHTS: [f64; 5] = {
        let step = 1.0 / (1u64 << 30) as f64;
        let unit = 4.0 * step;
        [unit, unit * step, unit * step * step, unit * step * step * step, unit * step * step * step * step]
    };
    let weigh = |digit: N::Int, i: usize| {
        let float: N = from_small(digit);
        float * float.lit(WEIGHTS[i])
    };
    let quadrant = (digits[0] + digits[0].lit(1 << 27)).shr(28);
    let first = weigh(digits[0] - quadrant.shl(28), 0);
    let (top, top_rest) = fast_two_sum(first, weigh(digits[1], 1));
    let (next, next_rest) = fast_two_sum(weigh(digits[2], 2), weigh(digits[3], 3) + weigh(digits[4], 4));
    // If the first two digits cancel, the next ones still count in full.
    let (sum, rest) = fast_two_sum(top, next);
    let turn = fast_two_sum(sum, rest + (top_rest + next_rest));
    let (high, low) = pair_product(turn, (top.lit(FRAC_PI_2), top.lit(HALF_PI_LOW)));
    let (high, low) = fast_two_sum(high, low);
    Angle { quadrant, high, low }
}

/// (sin r - r) / (r z); error 2^-57.9.
const SIN: [f64; 6] = [
    1.589494896635958e-10,
    -2.505072722389266e-08,
    2.7557313501440966e-06,
    -0.00019841269829280788,
    0.008333333333321787,
    -0.1666666666666663,
];
/// (cos r - 1 + z / 2) / z^2; error 2^-64.1.
const COS: [f64; 6] = [
    -1.1358399860339215e-11,
    2.087569996403662e-09,
    -2.7557314187242126e-07,
    2.4801587288935194e-05,
    -0.0013888888888873292,
    0.041666666666666595,
];

/// sin and cos of the rest of an angle, as sums of a number and a much smaller one.
#[inline(always)]
fn sin_cos<N: Double>(angle: &Angle<N>) -> ((N, N), (N, N)) {
    let (r, low) = (angle.high, angle.low);
    let (z, half, one) = (r * r, r.lit(0.5), r.lit(1.0));
    let sin = (r, low + z * (r * horner(z, &SIN) - half * low));
    let half_z = half * z;
    let (top, rest) = fast_two_sum(one, -half_z);
    (sin, (top, rest + (z * z * horner(z, &COS) - r * low)))
}

/// The sine of an angle with one of its quadrants more for each unit of `turn`.
#[inline(always)]
fn sin_of<N: Double>(angle: Angle<N>, turn: i64) -> N {
    let (sin, cos) = sin_cos(&angle);
    let quadrant = angle.quadrant + angle.quadrant.lit(turn);
    let even = (quadrant & quadrant.lit(1)).eq(quadrant.lit(0));
    let y = N::select(even, sin.0, cos.0) + N::select(even, sin.1, cos.1);
    flip(y, (quadrant & quadrant.lit(2)).shl(62))
}

/// The sine of quarter turns and a rest within pi/4 that is exact.
#[inline(always)]
pub fn sine_of_rest<N: Double>(r: N, quadrant: N::Int) -> N {
    let z = r * r;
    let sin = r + r * (z * horner(z, &SIN));
    let cos = r.lit(1.0) - (z * r.lit(0.5) - z * z * horner(z, &COS));
    let even = (quadrant & quadrant.lit(1)).eq(quadrant.lit(0));
    flip(N::select(even, sin, cos), (quadrant & quadrant.lit(2)).shl(62))
}

/// The tangent of an angle.
#[inline(always)]
fn tan_of<N: Double>(angle: Angle<N>) -> N {
    let (sin, cos) = sin_cos(&angle);
    let odd_bit = angle.quadrant & angle.quadrant.lit(1);
    let even = odd_bit.eq(odd_bit.lit(0));
    let numerator = (N::select(even, sin.0, cos.0), N::select(even, sin.1, cos.1));
    let denominator = (N::select(even, cos.0, sin.0), N::select(even, cos.1, sin.1));
    flip(pair_quotient(numerator, denominator), odd_bit.shl(63))
}

/// Sine.
#[inline(always)]
pub fn sin<N: Double>(x: N) -> N {
    flip(sin_of(reduce_any(x.abs()), 0), sign_of(x))
}

/// [`sin`] for magnitudes below [`SMALL_ANGLE`].
#[inline(always)]
pub fn sin_small<N: Double>(x: N) -> N {
    flip(sin_of(reduce_small(x.abs()), 0), sign_of(x))
}

/// Cosine.
#[inline(always)]
pub fn cos<N: Double>(x: N) -> N {
    sin_of(reduce_any(x.abs()), 1)
}

/// [`cos`] for magnitudes below [`SMALL_ANGLE`].
#[inline(always)]
pub fn cos_small<N: Double>(x: N) -> N {
    sin_of(reduce_small(x.abs()), 1)
}

/// Tangent.
#[inline(always)]
pub fn tan<N: Double>(x: N) -> N {
    flip(tan_of(reduce_any(x.abs())), sign_of(x))
}

/// [`tan`] for magnitudes below [`SMALL_ANGLE`].
#[inline(always)]
pub fn tan_small<N: Double>(x: N) -> N {
    flip(tan_of(reduce_small(x.abs())), sign_of(x))
}

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
