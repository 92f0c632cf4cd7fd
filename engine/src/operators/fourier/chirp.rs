//! Transforms of any length as a convolution with a chirp, which transforms of a power of two compute:
//! L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", IEEE
//! Transactions on Audio and Electroacoustics 18 (1970).

use crate::array::{Array, IntoSpan, Padding, Span};
use crate::error::Result;
use crate::operators::fourier::factors::{self, Contents, root};
use crate::operators::fourier::lengths::Direction;
use partita_kernels::Scalar;

/// A transform along one dimension, scaled.
type Transform = fn(&Array, usize, Direction, f64) -> Result<Array>;

/// Along a dimension, by transforms of a power of two. From `2 j k = j^2 + k^2 - (k - j)^2`: the array times
/// the chirp, convolved with the chirp's conjugate, times the chirp. Inverse transforms are those of
/// conjugates, conjugated.
pub fn along(
    transform: Transform,
    (x, axis): (&Array, usize),
    direction: Direction,
    scale: f64,
) -> Result<Array> {
    let n = x.shape()[axis];
    let length = (2 * n - 1).max(1).unsigned_abs().next_power_of_two() as i64;
    // j^2 modulo 2 n: the chirp has period 2 n.
    let turn = move |j: i64| root((i128::from(j) * i128::from(j) % i128::from(2 * n)) as i64, 2 * n);
    let chirp = factors::kept(x, Contents::Chirp { n }, || {
        factors::everywhere(x.team(), x.dtype(), &[n, 2], (0..n).map(turn))
    })?;
    let filter = factors::kept(x, Contents::Filter { n, length }, || {
        let conjugate = |j: i64| match j.min(length - j) {
            j if j < n => (turn(j).0, -turn(j).1),
            _ => (0.0, 0.0),
        };
        let taps = factors::everywhere(x.team(), x.dtype(), &[length, 2], (0..length).map(conjugate))?;
        let spectrum = transform(&taps, 0, Direction::Forward, 1.0 / length as f64)?;
        Ok(spectrum.redistribute(&factors::on_all(x.team(), &[length, 2])?))
    })?;
    let is_inverse = direction == Direction::Inverse;
    let given = if is_inverse { conjugate(x)? } else { x.clone() };
    let widths: Vec<(i64, i64)> =
        (0..x.rank()).map(|d| if d == axis { (0, length - n) } else { (0, 0) }).collect();
    let zero = Padding::Constant(Scalar::from_f64(x.dtype(), 0.0));
    let padded = product(&given, &chirp, axis).pad(&widths, zero);
    let spectrum = transform(&padded, axis, Direction::Forward, 1.0)?;
    let filtered = product(&spectrum, &filter, axis);
    let convolved = transform(&filtered, axis, Direction::Inverse, 1.0)?;
    let all = |d: usize| if d == axis { (..n).into_span() } else { (..).into_span() };
    let spans: Vec<Span> = (0..=axis).map(all).collect();
    let found = product(&convolved.slice(&spans), &chirp, axis);
    let found = if is_inverse { conjugate(&found)? } else { found };
    Ok(if scale == 1.0 { found } else { found * scale })
}

/// Pairs times the pairs of a line along a dimension.
fn product(x: &Array, line: &Array, axis: usize) -> Array {
    let between: Vec<usize> = vec![1; x.rank() - 2 - axis];
    let [re, im] = [0, 1].map(|part| line.slice(&[(..).into_span(), (part..part + 1).into_span()]));
    let signed = Array::concatenate(&[&-&im, &im], 1);
    let [re, im] = [re, signed].map(|line| line.unsqueeze(&between));
    let turned = x.flip(x.rank() - 1);
    x * &re + &turned * &im
}

fn conjugate(x: &Array) -> Result<Array> {
    let signs = factors::kept(x, Contents::Signs, || {
        factors::everywhere(x.team(), x.dtype(), &[1, 2], [(1.0, -1.0)].into_iter())
    })?;
    Ok(x * &signs)
}
