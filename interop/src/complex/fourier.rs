//! Fourier transforms between real numbers and the first half of their spectrum, which determines the other:
//! it is its conjugate. Arrays of pairs are transformed whole.

use std::ops::Range;

use partita::array::{IntoSpan, Span};
use partita::fourier::{Direction, transformed};
use partita::{Array, DType, Result};

use super::functions::{is_second, part};

/// The first `n / 2 + 1` pairs of the transforms of the lines of `n` real numbers along an axis, times
/// `scale`; f32 of f16 and f32, f64 of all others.
///
/// # Errors
/// The errors that the array carries; too many dimensions.
pub fn of_reals(real: &Array, axis: usize, scale: f64) -> Result<Array> {
    let dtype = if matches!(real.dtype(), DType::F16 | DType::F32) { DType::F32 } else { DType::F64 };
    let whole = transformed(&super::from_real(real, dtype)?, &[axis], Direction::Forward, scale);
    Ok(within(&whole, axis, 0..real.shape()[axis] / 2 + 1))
}

/// The inverse, times `scale`: `n` real numbers of the first `n / 2 + 1` pairs along an axis.
///
/// # Errors
/// The errors that the array carries; too many dimensions.
pub fn to_reals(half: &Array, axis: usize, n: i64, scale: f64) -> Result<Array> {
    let mirrored = within(half, axis, 1..(n + 1) / 2).flip(axis);
    let conjugate = is_second(&mirrored, &*mirrored.distribution()?)?.select(&-&mirrored, &mirrored);
    let whole = Array::concatenate(&[half, &conjugate], axis);
    Ok(part(&transformed(&whole, &[axis], Direction::Inverse, scale), 0))
}

fn within(x: &Array, axis: usize, range: Range<i64>) -> Array {
    let mut spans: Vec<Span> = vec![(..).into_span(); axis];
    spans.push(range.into_span());
    x.slice(&spans)
}
