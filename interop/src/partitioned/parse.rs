//! Reading a description: its keys, the grid that the partitions form, and what goes with their data.

use super::description::{Description, Dialect, PartitionEntry, PartitionLocation, position};
use crate::value::{Buffer, Dict, Refusal, Result, Value, key_text};

/// Says that the fault is in `key` of a partition.
pub(super) fn within(tiling: &[i64], index: usize, key: &str, refusal: Refusal) -> Refusal {
    at(&Value::ints(position(tiling, index)), refusal.under_key(key)).under_key("partitions")
}

fn at(key: &Value, refusal: Refusal) -> Refusal {
    refusal.under(format_args!("[{}]", key_text(key)))
}

/// The dialect of a description, right or wrong.
pub(super) fn dialect(value: &Value) -> Dialect {
    let Value::Dict(dict) = value else { return Dialect::Draft };
    if dict.get("partition_tiling").is_none() && dict.get("shape").is_some() {
        return Dialect::Early;
    }
    let Some(Value::Dict(partitions)) = dict.get("partitions") else { return Dialect::Draft };
    let locations = || {
        partitions.0.iter().flat_map(|(_, entry)| match entry {
            Value::Dict(entry) => match entry.get("location") {
                Some(Value::List(items) | Value::Tuple(items)) => items.as_slice(),
                _ => &[],
            },
            _ => &[],
        })
    };
    let ranks = locations().any(|location| matches!(location, Value::Int(_)));
    let processes = locations().any(|location| matches!(location, Value::Tuple(_)));
    if ranks && !processes { Dialect::Heat } else { Dialect::Draft }
}

pub(super) fn read(value: &Value, dialect: Dialect) -> Result<Description> {
    let dict = value.as_dict()?;
    let (shape, tiling) = match dialect {
        Dialect::Early => (None, dict.read("shape", |v| v.as_ints(1))?),
        Dialect::Draft | Dialect::Heat => {
            let shape = dict.read("shape", |v| v.as_ints(0))?;
            let tiling = dict.read("partition_tiling", |v| v.as_ints_of(shape.len(), 1))?;
            (Some(shape), tiling)
        }
    };
    dict.read("get", |value| match value {
        Value::Callable => Ok(()),
        _ => Err(value.refuse("a callable")),
    })?;
    let partitions = dict.read("partitions", |v| partitions(v.as_dict()?, &tiling, dialect))?;
    let locals = dict.read_or("locals", None, |v| locals(v, &tiling).map(Some))?;
    let shape = check_grid(&partitions, &tiling, shape)?;
    let described = Description { dialect, shape, tiling, partitions, locals };
    check_data(&described)?;
    check_dtype(dict)?;
    Ok(described)
}

/// The place in C order of a key.
fn place(key: &Value, tiling: &[i64]) -> Result<i128> {
    let position = key.as_ints_of(tiling.len(), 0)?;
    if position.iter().zip(tiling).any(|(at, n)| at >= n) {
        return Err(Refusal::expected(format!("a position in the grid {tiling:?}"), key_text(key)));
    }
    let next = |place: i128, (&at, &n): (&i64, &i64)| place.checked_mul(n.into())?.checked_add(at.into());
    let place = position.iter().zip(tiling).try_fold(0, next);
    place.ok_or_else(|| Refusal::expected("a grid that can be counted", format!("{tiling:?}")))
}

/// The entries in C order; every position is there once.
fn partitions(dict: &Dict, tiling: &[i64], dialect: Dialect) -> Result<Vec<PartitionEntry>> {
    let mut found = Vec::with_capacity(dict.0.len());
    for (key, entry) in &dict.0 {
        let place =
            place(key, tiling).map_err(|refusal| at(key, Refusal { path: String::new(), ..refusal }))?;
        let partition = partition(entry, tiling.len(), dialect).map_err(|refusal| at(key, refusal))?;
        found.push((place, partition));
    }
    found.sort_by_key(|(place, _)| *place);
    let places = tiling.iter().try_fold(1i128, |n, &m| n.checked_mul(m.into())).unwrap_or(i128::MAX);
    let here = found.iter().map(|(place, _)| *place).chain([places]);
    match here.enumerate().find(|(i, place)| *i as i128 != *place) {
        None => Ok(found.into_iter().map(|(_, partition)| partition).collect()),
        Some((i, place)) => {
            let (index, reason) = match place > i as i128 {
                true => (i, "this position is missing"),
                false => (i - 1, "this position is given twice"),
            };
            Err(at(&Value::ints(position(tiling, index)), Refusal::new(reason)))
        }
    }
}

fn partition(entry: &Value, rank: usize, dialect: Dialect) -> Result<PartitionEntry> {
    let entry = entry.as_dict()?;
    let start = entry.read("start", |v| v.as_ints_of(rank, 0))?;
    let shape = entry.read("shape", |v| v.as_ints_of(rank, 0))?;
    let location = entry.read("location", |v| PartitionLocation::parse_all(v, dialect))?;
    Ok(PartitionEntry { start, shape, data: entry.read("data", |v| Ok(v.clone()))?, location })
}

fn locals(value: &Value, tiling: &[i64]) -> Result<Vec<usize>> {
    let mut locals = Vec::new();
    for (i, key) in value.as_sequence("positions")?.iter().enumerate() {
        locals.push(
            place(key, tiling).map_err(|e| Refusal { path: String::new(), ..e }.under_index(i))? as usize
        );
    }
    let mut sorted: Vec<(usize, usize)> = locals.iter().enumerate().map(|(i, place)| (*place, i)).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(Refusal::new("this position is given twice").under_index(pair[1].1)),
        None => Ok(locals),
    }
}

/// The partitions form a grid that covers the shape. Returns the shape; without a given one, that of the
/// grid.
fn check_grid(partitions: &[PartitionEntry], tiling: &[i64], shape: Option<Vec<i64>>) -> Result<Vec<i64>> {
    let mut sizes = Vec::with_capacity(tiling.len());
    let mut stride = partitions.len();
    for d in 0..tiling.len() {
        let n = tiling[d] as usize;
        stride /= n;
        let fault = |index: usize, key: &str, refusal: Refusal| {
            within(tiling, index, key, refusal.under_index(d)).of_part(index)
        };
        let mut next = 0i64;
        for index in (0..n).map(|at| at * stride) {
            let (start, extent) = (partitions[index].start[d], partitions[index].shape[d]);
            if start != next {
                let what = if start < next { "an overlap" } else { "a gap" };
                let expected = format!("{next}, where the partition before ends");
                let refusal = Refusal::expected(expected, format!("{start}, which leaves {what}"));
                return Err(fault(index, "start", refusal));
            }
            let most = shape.as_ref().map_or(i64::MAX, |shape| shape[d]);
            next = start.checked_add(extent).filter(|stop| *stop <= most).ok_or_else(|| {
                let refusal = Refusal::expected(format!("at most {}, up to the end", most - start), extent);
                fault(index, "shape", refusal)
            })?;
        }
        if let Some(shape) = shape.as_ref().filter(|shape| shape[d] != next) {
            let expected = format!("that the last partition ends at {}", shape[d]);
            return Err(fault((n - 1) * stride, "shape", Refusal::expected(expected, next)));
        }
        for (index, partition) in partitions.iter().enumerate() {
            let same = &partitions[index / stride % n * stride];
            let pairs =
                [("start", partition.start[d], same.start[d]), ("shape", partition.shape[d], same.shape[d])];
            if let Some((key, given, expected)) = pairs.into_iter().find(|(_, a, b)| a != b) {
                let expected = format!("{expected}, as in the other partitions beside it");
                return Err(fault(index, key, Refusal::expected(expected, given)));
            }
        }
        sizes.push(next);
    }
    Ok(sizes)
}

/// Data is there where it must be, of one type, and of the shape that is said.
fn check_data(described: &Description) -> Result<()> {
    let fault =
        |index: usize, refusal: Refusal| within(&described.tiling, index, "data", refusal).of_part(index);
    let mut present = described.partitions.iter().map(|partition| &partition.data);
    let first = present.find(|data| **data != Value::None);
    let element = |data: &Value| match data {
        Value::Buffer(buffer) => Some((buffer.element().to_owned(), buffer.itemsize)),
        _ => None,
    };
    for (index, PartitionEntry { shape, data, .. }) in described.partitions.iter().enumerate() {
        let Some(first) = first.filter(|_| *data != Value::None) else { continue };
        if first.kind() != data.kind() {
            let refusal = Refusal::expected(format!("one type of data, {}", first.kind()), data.kind());
            return Err(fault(index, refusal));
        }
        if element(first) != element(data) {
            return Err(fault(index, Refusal::new("elements of another type than in the other partitions")));
        }
        if let Value::Buffer(buffer @ Buffer { shape: given, .. }) = data {
            buffer.check().map_err(|refusal| fault(index, refusal))?;
            if given != shape {
                return Err(fault(
                    index,
                    Refusal::expected(format!("shape {shape:?}"), format!("{given:?}")),
                ));
            }
        }
    }
    let missing = |index: &usize| described.partitions[*index].data == Value::None;
    let needed = match &described.locals {
        Some(locals) => locals.iter().copied().find(missing).map(|index| (index, "this partition is local")),
        None => (0..described.partitions.len())
            .find(missing)
            .map(|index| (index, "without 'locals' every partition is a reference")),
    };
    match needed {
        Some((index, why)) => Err(fault(index, Refusal::new(format!("expected data, as {why}; given None")))),
        None => Ok(()),
    }
}

/// Heat says the element type of every partition.
fn check_dtype(dict: &Dict) -> Result<()> {
    let Some(Value::Dict(partitions)) = dict.get("partitions") else { return Ok(()) };
    let dtype = |entry: &Value| match entry {
        Value::Dict(entry) => entry.get("dtype").cloned(),
        _ => None,
    };
    let mut entries = partitions.0.iter().map(|(key, entry)| (key, dtype(entry)));
    let first = entries.next().and_then(|(_, dtype)| dtype);
    match entries.find(|(_, dtype)| *dtype != first) {
        Some((key, _)) => {
            let refusal = Refusal::new("differs from that of the other partitions").under_key("dtype");
            Err(at(key, refusal).under_key("partitions"))
        }
        None => Ok(()),
    }
}
