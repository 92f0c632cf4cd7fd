//! [`PartDescription`]: the `__distarray__` of one part, and its reading.

use super::dim::DimDict;
use crate::value::{Refusal, Result, Value};

/// The name that refusals begin with.
pub const PROTOCOL: &str = "__distarray__";
/// The version of the protocol that is written.
pub const VERSION: [u32; 3] = [0, 10, 0];

/// What one part says about itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PartDescription {
    /// The version of the protocol.
    pub version: [u32; 3],
    /// The element type of the buffer in the notation of PEP 3118; none before there is a buffer.
    pub format: Option<String>,
    /// One entry per dimension.
    pub dims: Vec<DimDict>,
}

impl PartDescription {
    /// Reads what a producer returned, and refuses what is malformed in itself.
    pub fn parse(value: &Value) -> Result<PartDescription> {
        Self::read(value).map_err(|refusal| refusal.of_protocol(PROTOCOL))
    }

    fn read(value: &Value) -> Result<PartDescription> {
        let dict = value.as_dict()?;
        dict.check_keys(&["__version__", "buffer", "dim_data"], &[])?;
        let version = dict.read("__version__", version)?;
        let (buffer, format) = dict.read("buffer", |value| {
            let buffer = value.as_buffer()?;
            buffer.check()?;
            Ok((buffer, buffer.element().to_owned()))
        })?;
        let dims = dict.read("dim_data", |value| dims(value, Some(&buffer.shape)))?;
        let described = PartDescription { version, format: Some(format), dims };
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
pub(super) fn dims(value: &Value, shape: Option<&[i64]>) -> Result<Vec<DimDict>> {
    let dicts = value.as_tuple()?;
    if let Some(shape) = shape.filter(|shape| shape.len() != dicts.len()) {
        let expected = format!("{} entries, one per dimension of the buffer", shape.len());
        return Err(Refusal::expected(expected, dicts.len()));
    }
    let extent = |d: usize| shape.map(|shape| shape[d]);
    let read = |(d, dict): (usize, &Value)| DimDict::parse(dict, extent(d)).map_err(|e| e.under_index(d));
    dicts.iter().enumerate().map(read).collect()
}
