//! Conversion of the descriptions of all parts to a [`Distribution`].

use partita::index::{DimMap, Distribution, IndexError, Region, Unstructured};

use super::description::{PROTOCOL, PartDescription, check_parts};
use super::dim::{DimDict, Kind, Owned};
use crate::value::{Refusal, Result};

/// One dimension of the distribution to be.
struct Imported {
    map: DimMap,
    /// Widths of what every grid rank copies from its neighbours.
    halo: Vec<(i64, i64)>,
    boundary: (i64, i64),
    periodic: bool,
}

/// The distribution that the parts describe together, in the order of their ranks. Indices of unstructured
/// dimensions become the positions of the names in ascending order.
pub fn to_distribution(parts: &[PartDescription]) -> Result<Distribution> {
    read(parts).map_err(|refusal| refusal.of_protocol(PROTOCOL))
}

fn read(parts: &[PartDescription]) -> Result<Distribution> {
    check_parts(parts)?;
    let grid: Vec<i64> = parts[0].dims.iter().map(|dim| dim.grid_size).collect();
    let mut stride = parts.len();
    let dims: Vec<Imported> = (0..grid.len())
        .map(|d| {
            stride /= grid[d] as usize;
            let column: Vec<&DimDict> =
                (0..grid[d] as usize).map(|rank| &parts[rank * stride].dims[d]).collect();
            let imported = import(&column).and_then(|dim| one_boundary(parts, d).map(|()| dim));
            imported.map_err(|refusal| refusal.under_index(d).under_key("dim_data"))
        })
        .collect::<Result<_>>()?;
    let shape: Vec<i64> = dims.iter().map(|dim| dim.map.size()).collect();
    let boundary: (Vec<i64>, Vec<i64>) = dims.iter().map(|dim| dim.boundary).unzip();
    let periodic: Vec<bool> = dims.iter().map(|dim| dim.periodic).collect();
    let builder =
        Distribution::builder(&shape).grid(&grid).boundary(&boundary.0, &boundary.1).periodic(&periodic);
    let described = dims.into_iter().enumerate();
    let builder =
        described.fold(builder, |builder, (d, dim)| builder.map(d, dim.map).halo_per_part(d, &dim.halo));
    builder.build().map_err(|error| beyond(error).under_key("dim_data"))
}

/// The description is well-formed, but beyond what the engine can hold.
fn beyond(error: IndexError) -> Refusal {
    Refusal::new(format!("not supported here: {error}"))
}

fn import(column: &[&DimDict]) -> Result<Imported> {
    let (first, last) = (column[0], column[column.len() - 1]);
    let plain = |map: DimMap| {
        let halo = vec![(0, 0); map.parts()];
        Imported { map, halo, boundary: (0, 0), periodic: false }
    };
    match (&first.kind, &last.kind) {
        (Kind::Block { padding: (lo, _), periodic, .. }, Kind::Block { padding: (_, hi), .. }) => {
            let owned: Vec<Owned> = column.iter().filter_map(|dim| Owned::of(dim)).collect();
            if let Some(rank) = owned.iter().position(|one| one.start == one.stop && one.copied != (0, 0)) {
                let reason = format!("not supported here: copies at grid rank {rank}, which owns nothing");
                return Err(Refusal::new(reason).under_key("padding"));
            }
            let begin = owned[0].start;
            let bounds: Vec<i64> =
                std::iter::once(0).chain(owned.iter().map(|one| one.stop - begin)).collect();
            let map = DimMap::irregular(&bounds).map_err(beyond)?;
            let halo = owned.iter().map(|one| one.copied).collect();
            let boundary = if *periodic { (0, 0) } else { (*lo, *hi) };
            Ok(Imported { map, halo, boundary, periodic: *periodic })
        }
        (Kind::Cyclic { block_size, .. }, _) => cyclic(column, first.size, *block_size).map(plain),
        (Kind::Unstructured { one_to_one, .. }, _) => {
            let list = |dim: &&DimDict| match &dim.kind {
                Kind::Unstructured { indices, .. } => indices.clone(),
                _ => Vec::new(),
            };
            let lists: Vec<Vec<i64>> = column.iter().map(list).collect();
            Ok(plain(DimMap::Unstructured(Unstructured::labelled(&lists, *one_to_one).map_err(beyond)?)))
        }
        _ => Err(Refusal::new("expected one dist_type")),
    }
}

/// The protocol lets the width of a boundary differ between the parts at it; the engine does not.
fn one_boundary(parts: &[PartDescription], d: usize) -> Result<()> {
    let ends = |dim: &DimDict| match dim.kind {
        Kind::Block { padding: (lo, hi), .. } => {
            let (first, last) = (dim.grid_rank == 0, dim.grid_rank + 1 == dim.grid_size);
            (first.then_some(lo), last.then_some(hi))
        }
        _ => (None, None),
    };
    let (mut below, mut above) = (None, None);
    for (part, dim) in parts.iter().map(|part| &part.dims[d]).enumerate() {
        let (lo, hi) = ends(dim);
        let differs = [(&mut below, lo), (&mut above, hi)]
            .into_iter()
            .any(|(known, here)| here.is_some_and(|width| *known.get_or_insert(width) != width));
        if differs {
            let reason = "not supported here: a boundary that is not equally wide all along";
            return Err(Refusal::new(reason).under_key("padding").of_part(part));
        }
    }
    Ok(())
}

/// A cyclic map, a slice of one, or lists where the turns go to the parts in an order that no slice gives.
fn cyclic(column: &[&DimDict], size: i64, block_size: i64) -> Result<DimMap> {
    // Larger blocks than the size are all alike, and would only lead to large numbers.
    let (parts, block) = (column.len() as i64, block_size.min(size.max(1)));
    let mut ranks = vec![0; column.len()];
    let mut turns = 0;
    for (rank, dim) in column.iter().enumerate() {
        if let Kind::Cyclic { start, .. } = dim.kind
            && start < size
        {
            ranks[(start / block) as usize] = rank as i64;
            turns += 1;
        }
    }
    let phase = ranks[0];
    let step = if turns > 1 { (ranks[1] - phase).rem_euclid(parts) } else { 1 };
    let regular = (0..turns).all(|t| ranks[t] == (phase + step * t as i64) % parts);
    match (regular, step, block) {
        (true, 1, _) => cut(size, column.len(), block, phase * block, 1),
        (true, _, 1) => cut(size, column.len(), 1, phase, step),
        _ => {
            let mut lists = vec![Vec::new(); column.len()];
            (0..size).for_each(|i| lists[ranks[(i / block % parts) as usize] as usize].push(i));
            DimMap::unstructured(&lists, true).map_err(beyond)
        }
    }
}

/// The indices in a slice of a cyclic map: the coordinates `start`, `start + step`, ...
pub(crate) fn cut(size: i64, parts: usize, block: i64, start: i64, step: i64) -> Result<DimMap> {
    if start == 0 && step == 1 {
        return DimMap::cyclic(size, parts, block).map_err(beyond);
    }
    let whole = (size - 1).max(0).checked_mul(step).and_then(|length| length.checked_add(start + 1));
    let whole = if size == 0 { Some(start) } else { whole };
    let Some(whole) = whole else {
        return Err(Refusal::new("not supported here: a slice of a dimension beyond 64 bits"));
    };
    let map = DimMap::cyclic(whole, parts, block).map_err(beyond)?;
    let dist = Distribution::builder(&[whole]).map(0, map).build().map_err(beyond)?;
    let slice = Region::new(&[start], &[whole]).map_err(beyond)?;
    let cut = dist.strided(&slice, &[step]).map_err(beyond)?;
    Ok(cut.map(0).clone())
}
