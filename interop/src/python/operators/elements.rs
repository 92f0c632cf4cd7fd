//! Elements of small arrays by an array of ours: what a mask or indices along the first dimension choose,
//! read from the host's memory and stored here, because a schedule would cost more than the copies.
//! Everything else, errors too, is NumPy's.

use partita::array::is_recording;
use partita::index::Index;
use partita::{DType, Distribution, Result, Scalar};
use pyo3::prelude::*;

use crate::element::Element;
use crate::python::arrays::array::Array;
use crate::python::arrays::convert::{is_number, scalar};
use crate::python::arrays::typed::Typed;
use crate::python::runtime::detached;

/// Elements of the largest array, key and result.
const MOST_ELEMENTS: i64 = 1 << 12;

/// Rows of an array along its first dimensions.
struct Rows {
    /// In C order of those dimensions.
    numbers: Vec<usize>,
    /// Of what is chosen.
    shape: Vec<i64>,
    bytes_each: usize,
}

impl Rows {
    /// None where the key is of another kind or shape, or beyond the ends.
    fn of(x: &Typed, key: &Typed) -> Result<Option<Rows>> {
        let (shape, extents) = (x.shape(), key.shape());
        let is_small = |shape: &Index| shape.rank() > 0 && shape.iter().product::<i64>() <= MOST_ELEMENTS;
        let dtype = match key.element {
            Element::Real(dtype) if !dtype.is_float() && is_small(&shape) && is_small(&extents) => dtype,
            Element::Real(_) | Element::Complex(_) => return Ok(None),
        };
        let bytes = key.array.to_bytes()?;
        let each = bytes.chunks_exact(dtype.size_bytes()).map(|bytes| scalar_of(dtype, bytes).to_i64());
        let (numbers, dims, chosen): (Vec<usize>, usize, Vec<i64>) = match dtype {
            DType::Bool => {
                if extents.rank() > shape.rank() || extents[..] != shape[..extents.rank()] {
                    return Ok(None);
                }
                let numbers: Vec<usize> =
                    each.enumerate().filter(|(_, kept)| *kept != 0).map(|(at, _)| at).collect();
                let count = numbers.len() as i64;
                (numbers, extents.rank(), vec![count])
            }
            _ => {
                let within = |number: i64| {
                    let number = if number < 0 { number.checked_add(shape[0])? } else { number };
                    usize::try_from(number).ok().filter(|_| number < shape[0])
                };
                let Some(numbers) = each.map(within).collect() else { return Ok(None) };
                (numbers, 1, extents.to_vec())
            }
        };
        let rest = &shape[dims..];
        let chosen = [&chosen, rest].concat();
        if chosen.iter().product::<i64>() > MOST_ELEMENTS {
            return Ok(None);
        }
        let cells: i64 = x.array.shape()[dims..].iter().product();
        let bytes_each = cells as usize * x.array.dtype().size_bytes();
        Ok(Some(Rows { numbers, shape: chosen, bytes_each }))
    }
}

fn scalar_of(dtype: DType, bytes: &[u8]) -> Scalar {
    let mut bits = [0; 8];
    bits[..bytes.len()].copy_from_slice(bytes);
    Scalar { dtype, bits: u64::from_le_bytes(bits) }
}

/// True where the elements are at hand: in memory of this process's host, and no step is recorded.
fn is_at_hand(x: &Typed) -> bool {
    let team = x.array.team();
    team.is_on_host() && team.ranks() == 1 && !is_recording()
}

/// `x[key]`; None for what NumPy does.
pub fn chosen(py: Python<'_>, x: &Array, key: &Array) -> PyResult<Option<Array>> {
    let (x, key) = (x.value(py)?, key.value(py)?);
    if !is_at_hand(&x) {
        return Ok(None);
    }
    let chosen = detached(py, || {
        let Some(rows) = Rows::of(&x, &key)? else { return Ok(None) };
        let (from, size) = (x.array.to_bytes()?, rows.bytes_each);
        let mut chosen = Vec::with_capacity(size * rows.numbers.len());
        rows.numbers.iter().for_each(|at| chosen.extend_from_slice(&from[at * size..(at + 1) * size]));
        let team = x.array.team();
        let is_key = x.shape().rank() == 1 && key.shape()[..] == rows.shape[..] && key.array.team() == team;
        let dist = if is_key { key.distribution()? } else { cut(team.size(), &rows.shape)? };
        let array = partita::Array::from_bytes(team, &x.element.stored(&dist)?, x.array.dtype(), &chosen)?;
        Ok(Some(Typed { array, element: x.element }))
    })?;
    Ok(chosen.map(Array::of))
}

/// The first dimension of more than one cell cut into all parts.
fn cut(parts: usize, shape: &[i64]) -> Result<Distribution> {
    let first = shape.iter().position(|&extent| extent != 1).unwrap_or(0);
    let grid: Vec<i64> = (0..shape.len()).map(|d| if d == first { parts as i64 } else { 1 }).collect();
    Ok(Distribution::builder(shape).grid(&grid).build()?)
}

/// `x[key] = value` of an array of the type of `x` and the shape that is assigned to, or a number; false for
/// what NumPy does.
pub fn assign(py: Python<'_>, x: &Array, key: &Array, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (handle, x, key) = (x, x.value(py)?, key.value(py)?);
    if x.array.is_over_domain() || !is_at_hand(&x) {
        return Ok(false);
    }
    let given = match (value.cast::<Array>(), x.element) {
        (Ok(array), _) => Ok(array.get().value(py)?),
        (Err(_), Element::Real(dtype)) if is_number(value) => Err(scalar(value, dtype)?),
        (Err(_), _) => return Ok(false),
    };
    let changed = detached(py, || {
        let Some(rows) = Rows::of(&x, &key)? else { return Ok(None) };
        let size = rows.bytes_each;
        let new = match &given {
            Ok(value) if value.element != x.element || value.shape()[..] != rows.shape[..] => {
                return Ok(None);
            }
            Ok(value) => value.array.to_bytes()?,
            Err(number) => {
                let bytes = number.dtype.size_bytes();
                number.bits.to_le_bytes()[..bytes].repeat(size / bytes * rows.numbers.len())
            }
        };
        let mut bytes = x.array.to_bytes()?;
        for (at, row) in rows.numbers.iter().zip(new.chunks_exact(size.max(1))) {
            bytes[at * size..(at + 1) * size].copy_from_slice(row);
        }
        let (team, dist) = (x.array.team(), x.array.distribution()?);
        partita::Array::from_bytes(team, &dist, x.array.dtype(), &bytes).map(Some)
    })?;
    match changed {
        None => Ok(false),
        Some(array) => handle.hold(py, Typed { array, element: x.element }).map(|()| true),
    }
}
