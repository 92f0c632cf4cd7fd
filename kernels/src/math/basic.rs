//! Small building blocks for functions over either width. They know nothing of any function.

use super::number::Number;

/// The polynomial with these coefficients, highest power first, by Horner's rule.
#[inline(always)]
pub fn horner<N: Number>(x: N, coefficients: &[f64]) -> N {
    let mut sum = x.lit(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        sum = sum * x + x.lit(coefficient);
    }
    sum
}

/// The sign bit alone.
#[inline(always)]
pub fn sign_of<N: Number>(x: N) -> N::Int {
    x.to_bits() & x.lit(-0.0).to_bits()
}

/// `x` with its sign flipped where `sign` has the sign bit; the other bits of `sign` are 0.
#[inline(always)]
pub fn flip<N: Number>(x: N, sign: N::Int) -> N {
    N::from_bits(x.to_bits() ^ sign)
}

/// The smaller of x and a constant; NaN stays NaN.
#[inline(always)]
pub fn at_most<N: Number>(x: N, high: f64) -> N {
    let high = x.lit(high);
    N::select(high.lt(x), high, x)
}

/// x moved into `low..=high`; NaN stays NaN.
#[inline(always)]
pub fn clamp<N: Number>(x: N, low: f64, high: f64) -> N {
    let (x, low) = (at_most(x, high), x.lit(low));
    N::select(x.lt(low), low, x)
}

/// Neither infinite nor NaN.
#[inline(always)]
pub fn is_finite<N: Number>(x: N) -> N::Mask {
    x.abs().lt(x.lit(f64::INFINITY))
}

/// `a + b` and its rounding error, exact when `|a| >= |b|` or `a` is 0 (Dekker 1971).
#[inline(always)]
pub fn fast_two_sum<N: Number>(a: N, b: N) -> (N, N) {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// `a + b` and its rounding error, exact (Knuth 1969).
#[inline(always)]
pub fn two_sum<N: Number>(a: N, b: N) -> (N, N) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// `value`, replaced where the logarithm of `x` is infinite or undefined.
#[inline(always)]
pub fn logarithm_edges<N: Number>(x: N, value: N) -> N {
    let zero = x.lit(0.0);
    let positive = N::select(x.lt(x.lit(f64::INFINITY)), value, x);
    let other = N::select(x.eq(zero), x.lit(f64::NEG_INFINITY), x.lit(f64::NAN));
    N::select(zero.lt(x), positive, other)
}

/// `sqrt(a^2 + b^2)`, scaled by 2^-power above `huge` and by 2^power below `tiny`, where the squares would
/// overflow or lose bits.
#[inline(always)]
pub fn scaled_hypot<N: Number>(a: N, b: N, huge: f64, tiny: f64, power: i32) -> N {
    let (a, b) = (a.abs(), b.abs());
    let (one, infinity) = (a.lit(1.0), a.lit(f64::INFINITY));
    let largest = N::select(a.lt(b), b, a);
    let (huge, tiny) = (a.lit(huge).lt(largest), largest.lt(a.lit(tiny)));
    let choose = |up: i32| {
        let (down, up) = (a.lit(2f64.powi(-up)), a.lit(2f64.powi(up)));
        N::select(huge, down, N::select(tiny, up, one))
    };
    let (scale, inverse) = (choose(power), choose(-power));
    let (x, y) = (a * scale, b * scale);
    let root = (x * x + y * y).sqrt() * inverse;
    N::select(a.eq(infinity) | b.eq(infinity), infinity, root)
}
