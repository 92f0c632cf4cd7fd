//! `__distarray__`, the Distributed Array Protocol 0.10, as plain data: what a part says about itself
//! ([`Description`]), whether that is well-formed ([`Description::parse`]), whether all parts together make
//! an array ([`check_all`]), and the way from and to a [`partita::index::Distribution`]. Knows no memory:
//! the buffer is described, never read.
//!
//! Where the published text contradicts itself or its validator, this is what holds here:
//!
//! - `start == stop` is an empty part, although the key's own paragraph demands `stop > start`.
//! - An empty cyclic part has `start == size`; `start == proc_grid_rank * block_size` beyond it is accepted,
//!   as the published validator demands it. The starts of other parts are any order of the turns, so slices
//!   of cyclic arrays are valid.
//! - The published count of a cyclic part is wrong where the partial block is not at grid rank 0. Here a part
//!   holds what dealing out blocks gives it.
//! - `padding` is a tuple; a list is accepted, as the published examples print lists.
//! - The `size` of an unstructured dimension whose indices repeat is the number of different indices; the
//!   number of listed ones is accepted, as the text's formula gives that.
//! - In a periodic dimension too, the padding at the ends counts in `size`, since `start` may not be negative
//!   and `stop` not exceed `size`. There it holds copies from the other end: 8 cells on a ring with one cell
//!   of padding on either side have `size` 10. It is no wider than what the part at the other end owns.
//! - A seam has one width, so where the halos on both sides differ the narrower one is said. The buffer is
//!   then a window of what the part stores. A part that owns nothing has no halo, and neither have its seams.
//! - Versions 0.x are accepted. Keys that the table of the text does not have for a `dist_type` are refused,
//!   and so is `dist_type` 'n' of earlier drafts: an undistributed dimension is `{}`.

mod column;
mod dim;
mod export;
mod import;

pub use dim::{DimDict, Kind};
#[cfg(feature = "python")]
pub(crate) use import::cut;
pub use import::to_distribution;

use crate::value::{Refusal, Result, Value};

/// The name that refusals begin with.
pub const PROTOCOL: &str = "__distarray__";
/// The version of the protocol that is written.
pub const VERSION: [u32; 3] = [0, 10, 0];

/// What one part says about itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Description {
    /// The version of the protocol.
    pub version: [u32; 3],
    /// The element type of the buffer in the notation of PEP 3118; none before there is a buffer.
    pub format: Option<String>,
    /// One entry per dimension.
    pub dims: Vec<DimDict>,
}

impl Description {
    /// Reads what a producer returned, and refuses what is malformed in itself.
    pub fn parse(value: &Value) -> Result<Description> {
        Self::read(value).map_err(|refusal| refusal.of_protocol(PROTOCOL))
    }

    fn read(value: &Value) -> Result<Description> {
        let dict = value.as_dict()?;
        dict.check_keys(&["__version__", "buffer", "dim_data"], &[])?;
        let version = dict.read("__version__", version)?;
        let (buffer, format) = dict.read("buffer", |value| {
            let buffer = value.as_buffer()?;
            buffer.check()?;
            Ok((buffer, buffer.element().to_owned()))
        })?;
        let dims = dict.read("dim_data", |value| dims(value, Some(&buffer.shape)))?;
        let described = Description { version, format: Some(format), dims };
        if let Some(d) = (0..buffer.shape.len()).find(|&d| described.dims[d].extent() != buffer.shape[d]) {
            let says =
                format!("extent {} in dimension {d}, as dim_data[{d}] says", described.dims[d].extent());
            return Err(Refusal::expected(says, format!("shape {:?}", buffer.shape)).under_key("buffer"));
        }
        Ok(described)
    }

    /// The shape that the buffer has: padding included.
    pub fn shape(&self) -> Vec<i64> {
        self.dims.iter().map(DimDict::extent).collect()
    }

    /// The description with its buffer in place.
    pub fn to_value(&self, buffer: Value) -> Value {
        let [major, minor, patch] = self.version;
        let dims = self.dims.iter().map(DimDict::to_value).collect();
        Value::dict([
            ("__version__", Value::Str(format!("{major}.{minor}.{patch}"))),
            ("buffer", buffer),
            ("dim_data", Value::Tuple(dims)),
        ])
    }

    /// The rank of the process, by its place in the grid: the last coordinate varies fastest.
    pub fn process(&self) -> i64 {
        self.process_at(|d| self.dims[d].grid_rank)
    }

    fn process_at(&self, at: impl Fn(usize) -> i64) -> i64 {
        (0..self.dims.len()).fold(0, |rank, d| rank * self.dims[d].grid_size + at(d))
    }

    /// The ranks of the (left, right) neighbours in every dimension, found from this description alone.
    pub fn neighbors(&self) -> Vec<(Option<i64>, Option<i64>)> {
        let beside = |d: usize, step: i64| {
            let dim = &self.dims[d];
            let to = dim.grid_rank + step;
            let inside = dim.periodic() || (0..dim.grid_size).contains(&to);
            let at = |e: usize| if e == d { to.rem_euclid(dim.grid_size) } else { self.dims[e].grid_rank };
            inside.then(|| self.process_at(at))
        };
        (0..self.dims.len()).map(|d| (beside(d, -1), beside(d, 1))).collect()
    }
}

fn version(value: &Value) -> Result<[u32; 3]> {
    let text = value.as_str()?;
    let number = |digits: &str| {
        let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
        digits.parse().ok().filter(|_| plain)
    };
    let numbers: Option<Vec<u32>> = text.split('.').map(number).collect();
    match numbers.as_deref() {
        Some(&[major, minor, patch]) if major == VERSION[0] => Ok([major, minor, patch]),
        Some(&[_, _, _]) => Err(value.refuse("a version 0.x.y; another major version may mean other things")),
        _ => Err(value.refuse("'major.minor.patch'")),
    }
}

/// Reads `dim_data`; with the shape of the buffer where there is one.
fn dims(value: &Value, shape: Option<&[i64]>) -> Result<Vec<DimDict>> {
    let dicts = value.as_tuple()?;
    if let Some(shape) = shape.filter(|shape| shape.len() != dicts.len()) {
        let expected = format!("{} entries, one per dimension of the buffer", shape.len());
        return Err(Refusal::expected(expected, dicts.len()));
    }
    let extent = |d: usize| shape.map(|shape| shape[d]);
    let read = |(d, dict): (usize, &Value)| DimDict::parse(dict, extent(d)).map_err(|e| e.under_index(d));
    dicts.iter().enumerate().map(read).collect()
}

/// Reads the descriptions of all parts, in the order of their ranks, and checks them together.
pub fn parse_all(parts: &[Value]) -> Result<Vec<Description>> {
    let read = |(part, value)| Description::parse(value).map_err(|refusal: Refusal| refusal.of_part(part));
    let parts: Vec<Description> = parts.iter().enumerate().map(read).collect::<Result<_>>()?;
    check_all(&parts)?;
    Ok(parts)
}

/// Whether the descriptions of all parts, in the order of their ranks, describe one array: they agree in what
/// is global, every place of the process grid is taken once, and the parts cover every dimension without gap
/// and overlap.
pub fn check_all(parts: &[Description]) -> Result<()> {
    column::check_parts(parts).map_err(|refusal| refusal.of_protocol(PROTOCOL))
}

/// Whether an object is a well-formed description, and why not; for the description of one part or, as a
/// list, of all.
pub fn validate(value: &Value) -> (bool, String) {
    verdict(match value {
        Value::List(parts) => parse_all(parts).map(|_| ()),
        one => Description::parse(one).map(|_| ()),
    })
}

/// The same for a `dim_data` without its buffer.
pub fn validate_dim_data(value: &Value) -> (bool, String) {
    let read = dims(value, None).map_err(|refusal| refusal.under_key("dim_data"));
    verdict(read.map(|_| ()).map_err(|refusal| refusal.of_protocol(PROTOCOL)))
}

/// The same for the dictionary of dimension `d`.
pub fn validate_dim_dict(d: usize, value: &Value) -> (bool, String) {
    let read = DimDict::parse(value, None).map_err(|refusal| refusal.under_index(d).under_key("dim_data"));
    verdict(read.map(|_| ()).map_err(|refusal| refusal.of_protocol(PROTOCOL)))
}

fn verdict(result: Result<()>) -> (bool, String) {
    match result {
        Ok(()) => (true, String::new()),
        Err(refusal) => (false, refusal.to_string()),
    }
}
