//! Discrete Fourier transforms along any dimensions of arrays on any distribution, made of arrays: passes
//! (lowering makes one kernel per part of each) and redistributions.
//!
//! Arrays are of *pairs*: f32 or f64 with a last dimension of 2, real and imaginary part, as complex numbers
//! lie in memory.
//!
//! Every line along a dimension is transformed on one part, or, of arrays that have fewer lines than parts,
//! divided among them in two stages: no cell is computed otherwise because of it, so results have the same
//! bits on every number of parts and on every device. Lengths without prime factors above 11 take passes of
//! these factors; all others are a convolution of such a length.

mod chirp;
mod factors;
mod layout;
mod lengths;

use std::ops::Range;

use partita_kernels::{DType, MAX_RANK, Scalar};

use crate::array::{Array, Butterflies, FourierLines, spliced};
use crate::error::{Error, Result};
use layout::Layout;
pub use lengths::Direction;

impl Array {
    /// The discrete Fourier transform of an array of pairs along some dimensions, each named once:
    /// `X[k] = sum over j of x[j] exp(-2 pi i j k / n)`. On the distribution of this array. Recorded;
    /// computes the tables of its factors, if they are not kept. Collective.
    ///
    /// ```
    /// use partita::prelude::*;
    /// # fn main() -> partita::Result<()> {
    /// let team = Team::on(&[Device::host()], 3)?;
    /// let dist = Distribution::builder(&[8, 2]).grid(&[3, 1]).build()?;
    /// let impulse = Array::from_fn(&team, &dist, |at| if at[..] == [2, 0] { 1.0f64 } else { 0.0 })?;
    /// let found = impulse.fft(&[0]).to_vec::<f64>()?;
    /// assert_eq!(found[..4], [1.0, 0.0, 0.0, -1.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// Carries an error for no pairs of floats, dimensions that are not there or named twice, and tables that
    /// no memory holds.
    pub fn fft(&self, axes: &[usize]) -> Array {
        transformed(self, axes, Direction::Forward, 1.0)
    }

    /// The inverse of [`Array::fft`]: the transform with the other sign, divided by the number of
    /// cells of a transform. Carries errors as that does.
    #[doc = example!(
        "let pairs = Array::stack(&[&u, &(&u * 0)], 2); // Real and imaginary parts."
        "let same = pairs.fft(&[0]).inverse_fft(&[0]);"
        "assert_eq!(same.to_vec::<f64>()?, pairs.to_vec::<f64>()?);"
    )]
    pub fn inverse_fft(&self, axes: &[usize]) -> Array {
        let cells: f64 = axes.iter().filter(|&&d| d < self.rank()).map(|&d| self.shape()[d] as f64).product();
        transformed(self, axes, Direction::Inverse, 1.0 / cells)
    }
}

/// The transform of an array of pairs along some dimensions, times `scale`, as in [`Array::fft`].
pub fn transformed(x: &Array, axes: &[usize], direction: Direction, scale: f64) -> Array {
    x.or_failed(try_transformed(x, axes, direction, scale))
}

fn try_transformed(x: &Array, axes: &[usize], direction: Direction, scale: f64) -> Result<Array> {
    check(x, axes)?;
    let declared = x.distribution()?;
    let mut found = x.clone();
    let Some((last, others)) = axes.split_last() else { return Ok(scaled(&found, scale)) };
    for &axis in others {
        found = along(&found, axis, direction, 1.0)?;
    }
    found = along(&found, *last, direction, scale)?;
    let plain = declared.restricted(&declared.global())?;
    Ok(found.redistribute(&plain))
}

fn check(x: &Array, axes: &[usize]) -> Result<()> {
    let refuse = |expected: String, given: String, remedy: &'static str| {
        Err(Error::invalid("fft", expected, given, remedy))
    };
    let last = x.rank().checked_sub(1);
    let is_pairs = last.is_some_and(|last| x.shape()[last] == 2);
    if !is_pairs || !matches!(x.dtype(), DType::F32 | DType::F64) {
        let given = format!("{} of shape {}", x.dtype(), x.shape());
        return refuse(
            "f32 or f64 with a last dimension of 2".to_owned(),
            given,
            "stack real and imaginary parts",
        );
    }
    let is_new = |(at, axis): (usize, &usize)| !axes[..at].contains(axis) && Some(*axis) < last;
    if !axes.iter().enumerate().all(is_new) {
        let expected = format!("dimensions below {}, each once", last.unwrap_or_default());
        return refuse(expected, format!("{axes:?}"), "count from 0, without that of the pairs");
    }
    Ok(())
}

fn scaled(x: &Array, scale: f64) -> Array {
    if scale == 1.0 { x.clone() } else { x * scale }
}

/// Along one dimension, on whatever distribution is convenient.
fn along(x: &Array, axis: usize, direction: Direction, scale: f64) -> Result<Array> {
    let n = x.shape()[axis];
    if n <= 1 || x.shape().contains(&0) {
        return Ok(scaled(x, scale));
    }
    let Some(radices) = lengths::radices(n) else { return chirp::along(along, (x, axis), direction, scale) };
    let run = Run { direction, scale };
    if x.rank() + 3 > MAX_RANK {
        // A pass splits its dimension into three, and one may come before. The others become two.
        let shape = x.shape();
        let count = |range: Range<usize>| shape[range].iter().product::<i64>();
        let flat = [count(0..axis), n, count(axis + 1..x.rank() - 1), 2];
        let found = along(&x.reshape(&flat), 1, direction, scale)?;
        return Ok(found.reshape(&shape));
    }
    match layout::choose(x, axis, &radices)? {
        Layout::Lines(x) => run.passes(&x, axis, &radices),
        Layout::Together(x) => Ok(run.passes(&x, axis + 1, &radices)?.squeeze(&[0])),
        Layout::Stages { x, split } => run.stages(&x, axis, &radices, split),
    }
}

/// The parameters of all passes of a transform.
#[derive(Clone, Copy)]
struct Run {
    direction: Direction,
    scale: f64,
}

impl Run {
    /// Passes along a dimension that is not divided. Of those that come after others, the dimension holds
    /// what is left to transform.
    fn passes(self, x: &Array, axis: usize, radices: &[usize]) -> Result<Array> {
        let mut left = x.shape()[axis];
        let mut factors = Vec::with_capacity(radices.len());
        for &radix in radices {
            left /= radix as i64;
            if left > 1 {
                factors.push(factors::of(x, radix as i64, &[left])?);
            }
        }
        let is_inverse = self.direction == Direction::Inverse;
        let scale = (self.scale != 1.0).then(|| Scalar::from_f64(x.dtype(), self.scale));
        x.fourier_lines(FourierLines { axis, radices: radices.to_vec(), is_inverse, scale }, &factors)
    }

    /// One of the first passes of lines that are divided among the parts.
    fn pass(self, x: &Array, from: usize, factors: &Array) -> Result<Array> {
        x.recorded()?;
        let (radix, is_inverse) = (x.shape()[from] as usize, self.direction == Direction::Inverse);
        x.butterflies(Butterflies { radix, from, span: 2, is_inverse, scale: None }, factors)
    }

    /// Lines that are divided among the parts: `x` has the dimension as two, of which the second, divided, is
    /// what the first `split` passes leave to the others.
    fn stages(self, x: &Array, axis: usize, radices: &[usize], split: usize) -> Result<Array> {
        let whole = x.shape();
        let (mut left, rest) = (whole[axis], whole[axis + 1]);
        let (mut found, mut done) = (x.clone(), 1);
        for &radix in &radices[..split] {
            let radix = radix as i64;
            left /= radix;
            let split = spliced(&spliced(&whole, axis + 1, &[rest, done]), axis, &[radix, left]);
            let factors = factors::of(x, radix, &[left, rest])?;
            found = self.pass(&found.reshape(&split), axis, &factors)?;
            done *= radix;
            // The cells left, those of the other stage, and those done.
            let merged = spliced(&spliced(&whole, axis + 1, &[rest, done]), axis, &[left]);
            found = found.reshape(&merged);
        }
        // `left` is 1: now each part gets whole lines of the others' cells.
        let turned = spliced(&whole, axis, &[rest]);
        let turned = spliced(&turned, axis + 1, &[done]);
        let found = found.reshape(&turned);
        let found = found.redistribute(&layout::divided(&found, axis + 1)?);
        let found = self.passes(&found, axis, &radices[split..])?;
        let mut shape = turned.to_vec();
        shape.splice(axis..axis + 2, [rest * done]);
        Ok(found.reshape(&shape))
    }
}
