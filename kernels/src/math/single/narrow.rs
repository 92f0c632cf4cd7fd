//! exp, sin and cos of numbers that were widened from 16 bits, with fused multiply-add and without
//! conversions: half the instructions. Rounded back, every operand gives the bits of the functions for 32
//! bits; `tests/math_single.rs` tries all.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LOG2_E};

use super::circular::{COSINE, HALF_PI_LOW, SINE, SMALL_ANGLE, large_angle};
use super::exponential::LN2;
use crate::math::basic::{clamp, flip, sign_of};
use crate::math::number::{Integer, Single};

/// 1.5 * 2^23: added to it, a number below 2^22 leaves the nearest integer in its low bits.
pub const SHIFTER: f32 = 12_582_912.0;

/// `(e^r - 1 - r) / r^2` for |r| <= 0.35; error 2^-21 of e^r.
const EXP_TAIL: [f64; 4] = [0.008363776, 0.041837197, 0.16666573, 0.49999738];

/// The integer nearest to `x y`, and bits whose lowest are that integer.
#[inline(always)]
fn nearest_product<N: Single>(x: N, y: f64) -> (N, N::Int) {
    let shifter = x.lit(SHIFTER.into());
    let shifted = x.mul_add(x.lit(y), shifter);
    (shifted - shifter, shifted.to_bits())
}

fn horner<N: Single>(x: N, coefficients: &[f64]) -> N {
    coefficients[1..].iter().fold(x.lit(coefficients[0]), |sum, &next| sum.mul_add(x, x.lit(next)))
}

/// e^x. Results of f16 are normal f32; those of bf16 may be subnormal, so 2^n is applied in two steps.
#[inline(always)]
pub fn exp_narrow<N: Single>(x: N, is_f16: bool) -> N {
    let x = if is_f16 { clamp(x, -18.0, 12.0) } else { clamp(x, -104.0, 89.0) };
    let (n, bits) = nearest_product(x, LOG2_E);
    let r = n.mul_add(x.lit(-LN2[1]), n.mul_add(x.lit(-LN2[0]), x));
    let tail = horner(r, &EXP_TAIL).mul_add(r * r, r);
    // The bits of the shifter fall off.
    let power = |n: N::Int| N::from_bits(n.shl(23) + x.int(127 << 23));
    if is_f16 {
        return tail.mul_add(power(bits), power(bits));
    }
    let half = (bits - x.int(SHIFTER.to_bits().into())).sar(1);
    tail.mul_add(power(half), power(half)) * power(bits - half)
}

/// The sine of |x|, so many quadrants on. The largest f16 is 2^16, so pi/2 in two parts serves all.
#[inline(always)]
fn sine<N: Single>(x: N, quadrants: i64, is_f16: bool) -> N {
    let a = x.abs();
    let (n, mut quadrant) = nearest_product(a, FRAC_2_PI);
    let mut r = n.mul_add(x.lit(-HALF_PI_LOW), n.mul_add(x.lit(-FRAC_PI_2), a));
    if !is_f16 {
        let (large, is_small) = (large_angle(a), a.lt(x.lit(SMALL_ANGLE.into())));
        let other = N::select(a.lt(x.lit(f64::INFINITY)), large.high + large.low, x.lit(f64::NAN));
        r = N::select(is_small, r, other);
        quadrant = N::Int::select(is_small, quadrant, large.quadrant);
    }
    let (quadrant, s) = (quadrant + x.int(quadrants), r * r);
    let sin = r.mul_add(s * horner(s, &SINE), r);
    let cos = horner(s, &COSINE).mul_add(s, x.lit(1.0));
    let odd = quadrant.shl(31).lt(x.int(0));
    flip(N::select(odd, cos, sin), quadrant.shr(1).shl(31))
}

/// sin x
#[inline(always)]
pub fn sin_narrow<N: Single>(x: N, is_f16: bool) -> N {
    flip(sine(x, 0, is_f16), sign_of(x))
}

/// cos x
#[inline(always)]
pub fn cos_narrow<N: Single>(x: N, is_f16: bool) -> N {
    sine(x, 1, is_f16)
}
