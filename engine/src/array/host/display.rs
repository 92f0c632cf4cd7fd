//! Formats arrays like NumPy. Reads only the elements that are printed.

use std::fmt;

use partita_kernels::{DType, Kind, Scalar};

use crate::array::Array;
use crate::error::Result;
use crate::index::{Index, Region};

/// Arrays of more elements are shown by their edges.
const MOST_ELEMENTS: i64 = 1000;

/// How many coordinates are shown at each end of a long dimension.
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

/// One shown coordinate of a dimension, or the gap between its ends.
#[derive(Clone, Copy)]
enum Entry {
    At(i64),
    Gap,
}

fn shown(array: &Array) -> Result<String> {
    let shape = array.shape();
    let all = Region::from_shape(&shape)?.volume()? <= MOST_ELEMENTS;
    let entries = |d: usize| -> Vec<Entry> {
        let size = shape[d];
        if all || size <= 2 * EDGE {
            return (0..size).map(Entry::At).collect();
        }
        let (front, back) = ((0..EDGE).map(Entry::At), (size - EDGE..size).map(Entry::At));
        front.chain([Entry::Gap]).chain(back).collect()
    };
    let entries: Vec<Vec<Entry>> = (0..shape.rank()).map(entries).collect();
    let (dtype, everything) = (array.dtype(), if all { Some(array.to_bytes()?) } else { None });
    let element = |at: &Index| match &everything {
        Some(bytes) => Ok(nth(dtype, bytes, (0..shape.rank()).fold(0, |n, d| n * shape[d] + at[d]))),
        None => array.get(at),
    };
    let mut texts = Vec::new();
    collect(&entries, &mut Index::zeros(shape.rank()), 0, &mut |at| {
        texts.push(text(element(at)?));
        Ok(())
    })?;
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    write_level(&mut out, &entries, 0, &mut texts.iter().map(|text| format!("{text:>width$}")));
    Ok(out)
}

/// Calls `visit` with every shown index, in C order.
fn collect(
    entries: &[Vec<Entry>],
    at: &mut Index,
    d: usize,
    visit: &mut impl FnMut(&Index) -> Result<()>,
) -> Result<()> {
    let Some(line) = entries.get(d) else { return visit(at) };
    for entry in line {
        if let Entry::At(coordinate) = entry {
            at[d] = *coordinate;
            collect(entries, at, d + 1, visit)?;
        }
    }
    Ok(())
}

/// Writes dimension `d` and those after it, taking the elements' texts from `texts` in order.
fn write_level(out: &mut String, entries: &[Vec<Entry>], d: usize, texts: &mut impl Iterator<Item = String>) {
    let Some(line) = entries.get(d) else {
        out.extend(texts.next());
        return;
    };
    // A new line per row, an empty one more for every further dimension; entries below their first.
    let between = match entries.len() - d {
        1 => ", ".to_owned(),
        levels => format!(",{}{}", "\n".repeat(levels - 1), " ".repeat(d + 1)),
    };
    out.push('[');
    for (k, entry) in line.iter().enumerate() {
        if k > 0 {
            out.push_str(&between);
        }
        match entry {
            Entry::At(_) => write_level(out, entries, d + 1, texts),
            Entry::Gap => out.push_str("..."),
        }
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
