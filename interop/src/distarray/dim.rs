//! [`DimDict`]: the entry of a part for one dimension, its form in Python's terms, its reading, and the rules
//! that the entries of one dimension keep, each by itself and all together.

use crate::value::{Dict, IndexArray, Refusal, Result, Value};

/// One entry of `dim_data`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DimDict {
    /// The number of global elements along the dimension; in a periodic one with the padding at its ends.
    pub size: i64,
    /// The number of parts along the dimension.
    pub grid_size: i64,
    /// The place of this part among them.
    pub grid_rank: i64,
    /// The indices that the part holds.
    pub kind: Kind,
}

/// The indices that a part holds along one dimension.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A range, padding included: `'b'`.
    Block {
        /// The first index.
        start: i64,
        /// The index after the last.
        stop: i64,
        /// Widths at the beginning and the end of the buffer.
        padding: (i64, i64),
        /// True if the two ends of the dimension are neighbours.
        periodic: bool,
    },
    /// Every so-many-th block, starting with one: `'c'`.
    Cyclic {
        /// The first index; the size for none.
        start: i64,
        /// The size of the blocks.
        block_size: i64,
    },
    /// The listed indices: `'u'`.
    Unstructured {
        /// The indices in the order in which they are stored.
        indices: Vec<i64>,
        /// True if no other part lists one of them.
        one_to_one: bool,
    },
}

const COMMON: [&str; 4] = ["dist_type", "size", "proc_grid_size", "proc_grid_rank"];

impl DimDict {
    /// The meaning of an empty entry.
    pub fn undistributed(extent: i64) -> DimDict {
        let kind = Kind::Block { start: 0, stop: extent, padding: (0, 0), periodic: false };
        DimDict { size: extent, grid_size: 1, grid_rank: 0, kind }
    }

    /// The extent of the buffer.
    pub fn extent(&self) -> i64 {
        match &self.kind {
            Kind::Block { start, stop, .. } => stop - start,
            Kind::Cyclic { start, block_size } => {
                let (rest, block) = (i128::from((self.size - start).max(0)), i128::from(*block_size));
                let period = block * i128::from(self.grid_size);
                (rest / period * block + (rest % period).min(block)) as i64
            }
            Kind::Unstructured { indices, .. } => indices.len() as i64,
        }
    }

    /// True if the two ends of the dimension are neighbours.
    pub fn periodic(&self) -> bool {
        matches!(self.kind, Kind::Block { periodic: true, .. })
    }

    /// The entry in Python's terms; keys with their default value are left out.
    pub(super) fn to_value(&self) -> Value {
        let (dist_type, rest): (&str, Vec<(&str, Value)>) = match &self.kind {
            Kind::Block { start, stop, padding: (lo, hi), periodic } => {
                let padding = ((*lo, *hi) != (0, 0)).then(|| ("padding", Value::ints([*lo, *hi])));
                let periodic = periodic.then(|| ("periodic", true.into()));
                let range = [("start", (*start).into()), ("stop", (*stop).into())];
                ("b", range.into_iter().chain(padding).chain(periodic).collect())
            }
            Kind::Cyclic { start, block_size } => {
                let block_size = (*block_size != 1).then(|| ("block_size", (*block_size).into()));
                ("c", std::iter::once(("start", (*start).into())).chain(block_size).collect())
            }
            Kind::Unstructured { indices, one_to_one } => {
                let (shape, data) = (vec![indices.len() as i64], Some(indices.clone()));
                let indices = Value::Array(IndexArray { dtype: "int64".to_owned(), shape, data });
                let one_to_one = one_to_one.then(|| ("one_to_one", true.into()));
                ("u", std::iter::once(("indices", indices)).chain(one_to_one).collect())
            }
        };
        let numbers = [self.size, self.grid_size, self.grid_rank].map(Value::from);
        let common = COMMON.into_iter().zip(std::iter::once(dist_type.into()).chain(numbers));
        Value::Dict(Dict(common.chain(rest).map(|(key, value)| (key.into(), value)).collect()))
    }
    /// Reads an entry; `extent` is that of the buffer, which an empty entry speaks of.
    pub(super) fn parse(value: &Value, extent: Option<i64>) -> Result<DimDict> {
        let dict = value.as_dict()?;
        if dict.0.is_empty() {
            return Ok(DimDict::undistributed(extent.unwrap_or_default()));
        }
        let dist_type = dict.read("dist_type", |value| match value.as_str()? {
            known @ ("b" | "c" | "u") => Ok(known),
            "n" => Err(value.refuse("'b', 'c' or 'u'; an undistributed dimension is {}")),
            _ => Err(value.refuse("'b', 'c' or 'u'")),
        })?;
        let (required, optional): (&[&str], &[&str]) = match dist_type {
            "b" => (&["start", "stop"], &["padding", "periodic"]),
            "c" => (&["start"], &["block_size"]),
            _ => (&["indices"], &["one_to_one"]),
        };
        dict.check_keys(&[&COMMON, required].concat(), optional)?;
        let size = dict.read("size", |v| v.as_int_in(0..=i64::MAX, ""))?;
        let grid_size = dict.read("proc_grid_size", |v| v.as_int_in(1..=i64::MAX, ""))?;
        let grid_rank = dict
            .read("proc_grid_rank", |v| v.as_int_in(0..=grid_size - 1, ", one less than proc_grid_size"))?;
        let read = match dist_type {
            "b" => block,
            "c" => cyclic,
            _ => unstructured,
        };
        let dim = DimDict { size, grid_size, grid_rank, kind: read(dict, size, grid_size, grid_rank)? };
        if grid_size == 1 {
            check_column(&[(0, &dim)]).map_err(|refusal| Refusal { part: None, ..refusal })?;
        }
        Ok(dim)
    }
}

fn block(dict: &Dict, size: i64, grid_size: i64, grid_rank: i64) -> Result<Kind> {
    let start = dict.read("start", |v| match grid_rank {
        0 => v.as_int_in(0..=0, ", where grid rank 0 begins"),
        _ => v.as_int_in(0..=size, ", the size"),
    })?;
    let stop = dict.read("stop", |v| match grid_rank + 1 == grid_size {
        true => v.as_int_in(size..=size, ", the size, where the last grid rank ends"),
        false => v.as_int_in(start..=size, ": from start to size"),
    })?;
    let padding = dict.read_or("padding", (0, 0), |value| {
        let items = value.as_sequence("2 widths")?;
        let [lo, hi] = items else { return Err(Refusal::expected("2 widths", items.len())) };
        let width = |i: usize, v: &Value, most: i64| {
            let why = ", what is left of the extent of the buffer";
            v.as_int_in(0..=most, why).map_err(|refusal| refusal.under_index(i))
        };
        let lo = width(0, lo, stop - start)?;
        Ok((lo, width(1, hi, stop - start - lo)?))
    })?;
    let periodic = dict.read_or("periodic", false, Value::as_bool)?;
    Ok(Kind::Block { start, stop, padding, periodic })
}

fn cyclic(dict: &Dict, size: i64, grid_size: i64, grid_rank: i64) -> Result<Kind> {
    let block_size = dict.read_or("block_size", 1, |v| v.as_int_in(1..=i64::MAX, ""))?;
    let start = dict.read("start", |value| {
        let start = value.as_int_in(0..=i64::MAX, "")?;
        let turn = i128::from(start) / i128::from(block_size);
        let (ours, first) = (turn == i128::from(grid_rank), start % block_size == 0);
        match start < size {
            true if !first => Err(value.refuse(format_args!("a multiple of {block_size}, the block size"))),
            true if turn >= i128::from(grid_size) => {
                let expected =
                    format!("one of the first {grid_size} blocks, where the {grid_size} parts begin");
                Err(value.refuse(expected))
            }
            false if start > size && !(ours && first) => {
                Err(value
                    .refuse(format_args!("at most {size}, the size, which is the start of an empty part")))
            }
            _ => Ok(start),
        }
    })?;
    Ok(Kind::Cyclic { start, block_size })
}

fn unstructured(dict: &Dict, size: i64, _: i64, _: i64) -> Result<Kind> {
    let indices = dict.read("indices", |value| {
        let indices = value.as_indices()?;
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Refusal::expected("every index once", format!("{} twice", twice[0])));
        }
        if indices.len() as i64 > size {
            return Err(Refusal::expected(format!("at most {size} indices, the size"), indices.len()));
        }
        Ok(indices.to_vec())
    })?;
    let one_to_one = dict.read_or("one_to_one", false, Value::as_bool)?;
    Ok(Kind::Unstructured { indices, one_to_one })
}

// The rules that all parts must keep together. A *column* is one dimension's entries of the parts along it,
// by grid rank; all parts of one grid rank have the same entry there.

/// Parts of one grid rank have the same entry. Only the width of the boundary may differ; in a periodic
/// dimension there is none.
pub(super) fn check_same(
    dim: &DimDict,
    (first, same): (usize, &DimDict),
) -> Result<(), (&'static str, Refusal)> {
    let key = match (&dim.kind, &same.kind) {
        (
            Kind::Block { start, stop, padding, periodic },
            Kind::Block { start: first_start, stop: first_stop, padding: first_padding, .. },
        ) => {
            let (boundary_lo, boundary_hi) = (dim.grid_rank == 0, dim.grid_rank + 1 == dim.grid_size);
            let lo = padding.0 == first_padding.0 || (boundary_lo && !periodic);
            let hi = padding.1 == first_padding.1 || (boundary_hi && !periodic);
            match () {
                () if start != first_start => "start",
                () if stop != first_stop => "stop",
                () if !(lo && hi) => "padding",
                () => return Ok(()),
            }
        }
        (Kind::Cyclic { start: a, .. }, Kind::Cyclic { start: b, .. }) if a != b => "start",
        (Kind::Unstructured { indices: a, .. }, Kind::Unstructured { indices: b, .. }) if a != b => "indices",
        _ => return Ok(()),
    };
    Err((key, Refusal::new(format!("differs from part {first}, which has the same proc_grid_rank here"))))
}

/// Checks a column: the entries by grid rank, each with a part that has it.
pub(super) fn check_column(column: &[(usize, &DimDict)]) -> Result<()> {
    let Some((_, first)) = column.first() else { return Ok(()) };
    match first.kind {
        Kind::Block { periodic, .. } => check_blocks(column, first.size, periodic),
        Kind::Cyclic { block_size, .. } => check_turns(column, first.size, block_size),
        Kind::Unstructured { one_to_one, .. } => check_lists(column, first.size, one_to_one),
    }
}

/// The indices that a part of a block column owns, and the widths of the copies of its neighbours' cells:
/// padding that is not boundary. In a periodic dimension none is.
#[derive(Clone, Copy)]
pub(super) struct Owned {
    pub start: i64,
    pub stop: i64,
    pub copied: (i64, i64),
}

impl Owned {
    pub fn of(dim: &DimDict) -> Option<Owned> {
        let Kind::Block { start, stop, padding: (lo, hi), periodic } = dim.kind else { return None };
        let lo = if dim.grid_rank > 0 || periodic { lo } else { 0 };
        let hi = if dim.grid_rank + 1 < dim.grid_size || periodic { hi } else { 0 };
        Some(Owned { start: start + lo, stop: stop - hi, copied: (lo, hi) })
    }
}

fn check_blocks(column: &[(usize, &DimDict)], size: i64, periodic: bool) -> Result<()> {
    let owned: Vec<Owned> = column.iter().filter_map(|(_, dim)| Owned::of(dim)).collect();
    let part = |rank: usize| column[rank].0;
    let ring = periodic.then_some((owned.len() - 1, 0));
    let seams: Vec<(usize, usize)> = (1..owned.len()).map(|rank| (rank - 1, rank)).collect();
    for &(left, right) in &seams {
        let (a, b) = (owned[left].copied.1, owned[right].copied.0);
        if a != b {
            let expected = format!("width {a} at the beginning, as at the end of part {}", part(left));
            return Err(Refusal::expected(expected, b).under_key("padding").of_part(part(right)));
        }
    }
    for (left, right) in seams.iter().copied().chain(ring) {
        for (from, to, width) in [(left, right, owned[right].copied.0), (right, left, owned[left].copied.1)] {
            let count = owned[from].stop - owned[from].start;
            if width > count {
                let expected = format!("at most {count}, what part {} owns", part(from));
                return Err(Refusal::expected(expected, width).under_key("padding").of_part(part(to)));
            }
        }
    }
    let ends = ring.map_or((0, size), |(last, _)| (owned[0].copied.0, size - owned[last].copied.1));
    let mut next = ends.0;
    for (rank, one) in owned.iter().enumerate() {
        if one.start != next {
            let what = if one.start < next { "an overlap" } else { "a gap" };
            let expected = format!("that part {} owns from {next} on", part(rank));
            let given = format!("from {} on, which leaves {what}", one.start);
            return Err(Refusal::expected(expected, given).under_key("start").of_part(part(rank)));
        }
        next = one.stop;
    }
    if next != ends.1 {
        let last = part(owned.len() - 1);
        let expected = format!("that the last part owns up to {}", ends.1);
        return Err(Refusal::expected(expected, next).under_key("stop").of_part(last));
    }
    Ok(())
}

/// The blocks that are dealt first go to different parts, and none is left over.
fn check_turns(column: &[(usize, &DimDict)], size: i64, block_size: i64) -> Result<()> {
    let mut taken = vec![None; column.len()];
    for &(part, dim) in column {
        let Kind::Cyclic { start, .. } = dim.kind else { continue };
        let Some(turn) = taken.get_mut((start / block_size) as usize).filter(|_| start < size) else {
            continue;
        };
        if let Some(other) = turn.replace(part) {
            let given = format!("{start}, where part {other} begins");
            return Err(Refusal::expected("a start of its own", given).under_key("start").of_part(part));
        }
    }
    let blocks = size / block_size + i64::from(size % block_size > 0);
    let Some(left) = taken.iter().take(blocks.min(column.len() as i64) as usize).position(Option::is_none)
    else {
        return Ok(());
    };
    let empty = column.iter().find(|(_, dim)| dim.extent() == 0).map_or(0, |(part, _)| *part);
    let expected = format!("that some part begins at {}", left as i64 * block_size);
    Err(Refusal::expected(expected, "none, although this one is empty").under_key("start").of_part(empty))
}

/// The lists hold as many indices as the size says, and none twice where that is promised.
fn check_lists(column: &[(usize, &DimDict)], size: i64, one_to_one: bool) -> Result<()> {
    let listed = |&(part, dim): &(usize, &DimDict)| match &dim.kind {
        Kind::Unstructured { indices, .. } => indices.iter().map(|&index| (index, part)).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let mut all: Vec<(i64, usize)> = column.iter().flat_map(listed).collect();
    all.sort_unstable();
    let (total, mut twice) =
        (all.len() as i64, all.windows(2).filter(|pair| pair[0].0 == pair[1].0).peekable());
    if let Some(pair) = twice.peek().filter(|_| one_to_one) {
        let given = format!("{} in the lists of parts {} and {}", pair[0].0, pair[0].1, pair[1].1);
        let refusal = Refusal::expected("every index in one list, as one_to_one promises", given);
        return Err(refusal.under_key("indices").of_part(pair[1].1));
    }
    let different = total - twice.count() as i64;
    if size != different && size != total {
        let expected = format!("{different}, the number of different indices in all parts");
        return Err(Refusal::expected(expected, size).under_key("size"));
    }
    Ok(())
}
