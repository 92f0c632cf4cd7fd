//! The mathematical functions for 64-bit numbers, each within 2 ulp of the exact value over all of f64,
//! with the special values of IEEE 754-2019 and C99 Annex F. ACCURACY.md lists the measured errors.
//!
//! Every function reduces its argument to a small interval, evaluates one or two polynomials there, and
//! reconstructs. Where rounding errors of that would add up to more than 2 ulp, a value is carried as the
//! unevaluated sum of two numbers (Dekker, "A floating-point technique for extending the available
//! precision", 1971). The polynomials are fitted by tests/data/f64_coefficients.py.
//!
//! Integers and floats are converted through their bits, because no SIMD unit before AVX-512 has that
//! instruction for 64 bits, and so that both instantiations do the same on NaN and infinity.
//! This module does not know who calls it: a compiled loop or a kernel builder.

mod circular;
mod exponential;
mod hyperbolic;
mod steps;

pub use circular::{
    SMALL_ANGLE, acos, asin, atan, atan2, cos, cos_small, sin, sin_small, sine_of_rest, tan, tan_small,
};
pub use exponential::{exp, expm1, log, log1p, log2, log10};
pub use hyperbolic::{acosh, asinh, atanh, cbrt, cosh, erf, hypot, pow, sinh, tanh};
