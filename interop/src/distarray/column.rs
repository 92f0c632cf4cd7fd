//! The rules that all parts must keep together. A *column* is one dimension's entries of the parts along it,
//! by grid rank; all parts of one grid rank have the same entry there.

use super::description::PartDescription;
use super::dim::{DimDict, Kind};
use crate::value::{Refusal, Result};

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
        check(&column).map_err(|refusal| {
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

/// Parts of one grid rank have the same entry. Only the width of the boundary may differ; in a periodic
/// dimension there is none.
fn check_same(dim: &DimDict, (first, same): (usize, &DimDict)) -> Result<(), (&'static str, Refusal)> {
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
pub(super) fn check(column: &[(usize, &DimDict)]) -> Result<()> {
    let Some((_, first)) = column.first() else { return Ok(()) };
    match first.kind {
        Kind::Block { periodic, .. } => check_blocks(column, first.size, periodic),
        Kind::Cyclic { block_size, .. } => check_turns(column, first.size, block_size),
        Kind::Unstructured { one_to_one, .. } => check_lists(column, first.size, one_to_one),
    }
}

/// What a part of a block column owns, and the widths of what it has copied from its neighbours: padding that
/// is not boundary. In a periodic dimension none is.
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
