//! Formats arrays like NumPy. Reads only the elements that are printed.

use std::fmt;

use partita_kernels::{DType, Kind, Scalar};

use crate::array::Array;
use crate::array::record::expr::number;
use crate::error::Result;
use crate::index::{Index, Region};

/// Arrays of more elements are shown by their edges.
const MOST_ELEMENTS: i64 = 1000;

/// The number of coordinates shown at each end of a long dimension.
const EDGE: i64 = 3;

impl fmt::Display for Array {
    /// Every element, or for arrays of more than 1000 the edges of each dimension; the reason where the array
    /// cannot be computed. Computes and waits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match shown(self) {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}

fn shown(array: &Array) -> Result<String> {
    let shape = array.shape();
    let all = Region::from_shape(&shape)?.volume()? <= MOST_ELEMENTS;
    // The shown coordinates of a dimension: all, or some at each end.
    let entries = |d: usize| match shape[d] {
        size if all || size <= 2 * EDGE => (0..size).collect::<Vec<i64>>(),
        size => (0..EDGE).chain(size - EDGE..size).collect(),
    };
    let entries: Vec<Vec<i64>> = (0..shape.rank()).map(entries).collect();
    let (dtype, everything) = (array.dtype(), if all { Some(array.to_bytes()?) } else { None });
    let counts = Index::from_fn(shape.rank(), |d| entries[d].len() as i64);
    let mut texts = Vec::new();
    for choice in Region::from_shape(&counts)?.points() {
        let at = Index::from_fn(shape.rank(), |d| entries[d][choice[d] as usize]);
        texts.push(text(match &everything {
            Some(bytes) => nth(dtype, bytes, number(&shape, &at)),
            None => array.get(&at)?,
        }));
    }
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    write_level(&mut out, (&shape, &counts), 0, &mut texts.iter().map(|text| format!("{text:>width$}")));
    Ok(out)
}

/// Writes dimension `d` and those after it, taking the elements' texts from `texts` in order.
fn write_level(
    out: &mut String,
    (shape, counts): (&Index, &Index),
    d: usize,
    texts: &mut impl Iterator<Item = String>,
) {
    if d == shape.rank() {
        out.extend(texts.next());
        return;
    }
    // A new line per row, an empty one more for every further dimension; entries below their first.
    let between = match shape.rank() - d {
        1 => ", ".to_owned(),
        levels => format!(",{}{}", "\n".repeat(levels - 1), " ".repeat(d + 1)),
    };
    out.push('[');
    for k in 0..counts[d] {
        if k > 0 {
            out.push_str(&between);
        }
        if k == EDGE && counts[d] < shape[d] {
            out.push_str("...");
            out.push_str(&between);
        }
        write_level(out, (shape, counts), d + 1, texts);
    }
    out.push(']');
}

fn nth(dtype: DType, bytes: &[u8], element: i64) -> Scalar {
    let size = dtype.size_bytes();
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(&bytes[element as usize * size..][..size]);
    Scalar { dtype, bits: u64::from_le_bytes(bits) }
}

fn text(element: Scalar) -> String {
    match element.dtype.kind() {
        Kind::Bool => (element.bits != 0).to_string(),
        Kind::Int => element.to_i64().to_string(),
        Kind::Uint => element.bits.to_string(),
        // The shortest decimal that is this number and no other of its type.
        Kind::Float if element.dtype == DType::F32 => format!("{:?}", f32::from_bits(element.bits as u32)),
        Kind::Float => format!("{:?}", element.to_f64()),
    }
}
