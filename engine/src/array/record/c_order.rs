//! Elements numbered in C order: shapes, coordinates and the numbers that a part owns.

use crate::error::{Error, Result};
use crate::index::{Distribution, Index, Region};

/// The elements of every part are consecutive: the first dimension of more than one cell is cut.
pub(crate) fn sliced(parts: usize, shape: &[i64]) -> Result<Distribution> {
    let mut grid = vec![1; shape.len()];
    if let Some(cut) = grid.get_mut(lead(shape)) {
        *cut = parts as i64;
    }
    Ok(Distribution::builder(shape).grid(&grid).build()?)
}

/// The first dimension of more than one cell.
pub(crate) fn lead(shape: &[i64]) -> usize {
    shape.iter().position(|&extent| extent != 1).unwrap_or(0)
}

/// An element's number in C order.
pub(crate) fn number(shape: &[i64], point: &[i64]) -> i64 {
    shape.iter().zip(point).fold(0, |sum, (extent, at)| sum * extent + at)
}

/// The numbers of the elements that a part of a [`sliced`] array owns.
pub(crate) fn line(dist: &Distribution, part: usize) -> (i64, i64) {
    let owned = dist.owned(part);
    let volume: i64 = owned.extents().iter().product();
    let start = number(&dist.shape(), owned.start());
    (start, start + volume)
}

pub(crate) fn check_positions(operation: &'static str, shape: &Index, positions: &[i64]) -> Result<()> {
    let volume = Region::from_shape(shape)?.volume()?;
    let Some(outside) = positions.iter().find(|at| !(0..volume).contains(*at)) else { return Ok(()) };
    let expected = format!("positions from 0 to below {volume}, the size of shape {shape}");
    Err(Error::invalid(operation, expected, outside.to_string(), "count elements in C order from 0"))
}

pub(crate) fn check_count(operation: &'static str, expected: i64, positions: &[i64]) -> Result<()> {
    if expected == positions.len() as i64 {
        return Ok(());
    }
    let (expected, given) = (format!("{expected} positions"), positions.len().to_string());
    Err(Error::invalid(operation, expected, given, "name one position per element"))
}

/// The coordinates of the element with a number.
pub(crate) fn point(shape: &Index, number: i64) -> Index {
    let (mut point, mut rest) = (Index::zeros(shape.rank()), number);
    for d in (0..shape.rank()).rev() {
        (point[d], rest) = (rest % shape[d], rest / shape[d]);
    }
    point
}
