//! An angle as a multiple of pi/2 and a small rest, for the trigonometric functions.
//!
//! Two ways, and both take the magnitude of the argument: below [`SMALL_ANGLE`] the multiple is subtracted
//! with pi/2 in four parts (Cody and Waite 1980); beyond, the argument is multiplied by just those
//! bits of 2/pi that matter (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).

use super::bits::{EXPONENT, HALF_PI_LOW, MANTISSA, from_small, nearest};
use super::pair::pair_product;
use crate::math::basic::{fast_two_sum, two_sum};
use crate::math::number::{Double, Integer, Number};
use std::f64::consts::FRAC_PI_2;

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
pub(super) struct Angle<N: Number> {
    /// Only the two lowest bits count.
    pub(super) quadrant: N::Int,
    pub(super) high: N,
    pub(super) low: N,
}

/// Reduces 0 <= a < [`SMALL_ANGLE`], and turns infinity and NaN into NaN. The nearest that an argument comes
/// to a multiple of pi/2 is 2^-60; then 100 bits cancel, and 50 bits or more are left.
#[inline(always)]
pub(super) fn reduce_small<N: Double>(a: N) -> Angle<N> {
    let [p1, p2, p3, p4] = HALF_PI.map(|part| a.lit(part));
    let (n, quadrant) = nearest(a * a.lit(std::f64::consts::FRAC_2_PI));
    let (sum, rest_1) = two_sum(a - n * p1, -(n * p2));
    let (sum, rest_2) = two_sum(sum, -(n * p3));
    let (high, low) = fast_two_sum(sum, (rest_1 + rest_2) - n * p4);
    Angle { quadrant, high, low }
}

/// Reduces finite a >= 0 of any size; infinity and NaN give NaN.
#[inline(always)]
pub(super) fn reduce_any<N: Double>(a: N) -> Angle<N> {
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
