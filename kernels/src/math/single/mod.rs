//! The mathematical functions of 32-bit numbers, at most 2 ulp from the exact value over all inputs.
//!
//! Results for zeros, infinities, NaN and domain errors are those of C99 Annex F and IEEE 754-2019.
//! Polynomials are minimax fits by tests/data/f32_coefficients.py; each says its relative error. Where
//! more than 24 bits are needed, values are unevaluated sums of two floats; without a fused
//! multiply-add, exact products come from factors of at most 12 bits each.
//!
//! `sin`, `cos` and `tan` reduce every argument cheaply and expensively and select by `|x| < SMALL_ANGLE`. A
//! loop over numbers that are all small may call [`sin_small`], [`cos_small`] and [`tan_small`] instead: the
//! same bits at a quarter of the cost. No other function has an expensive half worth skipping.
//!
//! Not here: which loop or instruction set runs them; f64.

mod circular;
mod exponential;
mod narrow;

pub use circular::{
    SMALL_ANGLE, acos, asin, atan, atan2, cos, cos_small, sin, sin_small, sine_of_rest, tan, tan_small,
};
pub use exponential::{
    acosh, asinh, atanh, cbrt, cosh, erf, exp, expm1, hypot, log, log1p, log2, log10, pow, sinh, tanh,
};
pub use narrow::{SHIFTER, cos_narrow, exp_narrow, sin_narrow};
