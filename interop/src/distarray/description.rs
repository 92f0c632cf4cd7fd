//! [`PartDescription`]: the `__distarray__` of one part, its reading, and what all parts must agree in.

use partita::index::ProcessGrid;

use super::dim::{DimDict, Kind, check_column, check_same};
use crate::value::{Refusal, Result, Value};

/// The name that refusals begin with.
pub const PROTOCOL: &str = "__distarray__";
/// The version of the protocol that is written.
pub const VERSION: [u32; 3] = [0, 10, 0];

/// The description of one part.
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

    /// The ranks of the (left, right) neighbours in every dimension, from this description alone; none at the
    /// ends of dimensions that are not periodic.
    pub fn neighbors(&self) -> partita::index::Result<Vec<(Option<usize>, Option<usize>)>> {
        let each = |of: fn(&DimDict) -> i64| self.dims.iter().map(of).collect::<Vec<i64>>();
        let (grid, rank) = (ProcessGrid::new(&each(|dim| dim.grid_size))?, each(|dim| dim.grid_rank));
        let periodic: Vec<bool> = self.dims.iter().map(DimDict::periodic).collect();
        grid.neighbors(grid.part(&rank)?, &periodic)
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

/// Says that the fault is in `key` of dimension `d` of a part.
fn at(part: usize, d: usize, key: &str, refusal: Refusal) -> Refusal {
    refusal.under_key(key).under_index(d).under_key("dim_data").of_part(part)
}

pub(super) fn check_parts(parts: &[PartDescription]) -> Result<()> {
    let Some(first) = parts.first() else { return Err(Refusal::new("expected one description per part")) };
    for (part, other) in parts.iter().enumerate() {
        check_facts(first, other, part)?;
    }
    let grid: Vec<i64> = first.dims.iter().map(|dim| dim.grid_size).collect();
    let places = grid.iter().try_fold(1i128, |n, &size| n.checked_mul(size.into()));
    if places != Some(parts.len() as i128) {
        let expected =
            format!("{} descriptions, one per place of the grid {grid:?}", places.unwrap_or(i128::MAX));
        return Err(Refusal::expected(expected, parts.len()).under_key("dim_data"));
    }
    let mut stride = parts.len();
    for d in 0..grid.len() {
        stride /= grid[d] as usize;
        let column: Vec<(usize, &DimDict)> =
            (0..grid[d] as usize).map(|rank| (rank * stride, &parts[rank * stride].dims[d])).collect();
        for (part, other) in parts.iter().enumerate() {
            let (dim, rank) = (&other.dims[d], part / stride % grid[d] as usize);
            if dim.grid_rank != rank as i64 {
                let expected = format!("{rank}, the place of part {part} in the grid {grid:?} in C order");
                return Err(at(part, d, "proc_grid_rank", Refusal::expected(expected, dim.grid_rank)));
            }
            check_same(dim, column[rank]).map_err(|(key, refusal)| at(part, d, key, refusal))?;
        }
        check_column(&column).map_err(|refusal| {
            let refusal = refusal.under_index(d).under_key("dim_data");
            if refusal.part.is_none() { refusal.of_part(0) } else { refusal }
        })?;
    }
    Ok(())
}

/// What is global is the same in all parts.
fn check_facts(first: &PartDescription, other: &PartDescription, part: usize) -> Result<()> {
    if other.dims.len() != first.dims.len() {
        let expected = format!("{} entries, as in part 0", first.dims.len());
        return Err(Refusal::expected(expected, other.dims.len()).under_key("dim_data").of_part(part));
    }
    if let (Some(ours), Some(theirs)) = (&first.format, &other.format)
        && ours != theirs
    {
        let expected = format!("elements '{ours}', as in part 0");
        return Err(Refusal::expected(expected, format!("'{theirs}'")).under_key("buffer").of_part(part));
    }
    for (d, (a, b)) in first.dims.iter().zip(&other.dims).enumerate() {
        let (kind, key) = match (&a.kind, &b.kind) {
            (Kind::Block { periodic: a, .. }, Kind::Block { periodic: b, .. }) => (a == b, "periodic"),
            (Kind::Cyclic { block_size: a, .. }, Kind::Cyclic { block_size: b, .. }) => {
                (a == b, "block_size")
            }
            (Kind::Unstructured { one_to_one: a, .. }, Kind::Unstructured { one_to_one: b, .. }) => {
                (a == b, "one_to_one")
            }
            _ => (false, "dist_type"),
        };
        let facts = [(kind, key), (a.size == b.size, "size"), (a.grid_size == b.grid_size, "proc_grid_size")];
        if let Some((_, key)) = facts.into_iter().find(|(same, _)| !same) {
            return Err(at(part, d, key, Refusal::new("differs from part 0")));
        }
    }
    Ok(())
}
