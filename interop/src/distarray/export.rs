//! From a [`Distribution`] to descriptions. Every kind of map can be said: what is neither a block nor a
//! cyclic map in the protocol's sense is listed. Of halos a description says what the protocol can say: at
//! each seam the narrower of the two that meet there. So a description may speak of a window of what a part
//! stores.

use partita::index::{Cyclic, DimMap, Distribution, Region};

use super::description::{PROTOCOL, PartDescription, VERSION};
use super::dim::{DimDict, Kind};
use crate::value::{Refusal, Result};

impl PartDescription {
    /// The description of `part`. All parts succeed or are refused alike.
    pub fn from_distribution(dist: &Distribution, part: usize) -> Result<PartDescription> {
        let outside = |error: partita::index::IndexError| Refusal::new(error.to_string());
        dist.check_part(part).map_err(|error| outside(error).of_protocol(PROTOCOL))?;
        let at = dist.grid().coordinate(part);
        let dim = |d: usize| {
            let refused =
                |refusal: Refusal| refusal.under_index(d).under_key("dim_data").of_protocol(PROTOCOL);
            export(dist, d, at[d] as usize).map_err(refused)
        };
        let dims = (0..dist.rank()).map(dim).collect::<Result<_>>()?;
        Ok(PartDescription { version: VERSION, format: None, dims })
    }

    /// The cells that the buffer of `part` holds, in packed coordinates: all that it owns, and of its halo
    /// what its description speaks of. A part that owns nothing has none.
    pub fn window(dist: &Distribution, part: usize) -> Result<Region> {
        let outside =
            |error: partita::index::IndexError| Refusal::new(error.to_string()).of_protocol(PROTOCOL);
        dist.check_part(part).map_err(outside)?;
        let (owned, at) = (dist.owned(part), dist.grid().coordinate(part));
        let width = |d: usize| if dist.map(d).is_block() { halos(dist, d)[at[d] as usize] } else { (0, 0) };
        let (lo, hi): (Vec<i64>, Vec<i64>) = (0..dist.rank()).map(width).unzip();
        if owned.is_empty() { Ok(owned) } else { owned.grow(&lo, &hi).map_err(outside) }
    }
}

/// The entry of dimension `d` at one grid rank.
fn export(dist: &Distribution, d: usize, rank: usize) -> Result<DimDict> {
    let (map, boundary) = (dist.map(d), (dist.boundary().0[d], dist.boundary().1[d]));
    if !map.is_block() && (dist.periodic(d) || boundary != (0, 0)) {
        let given = format!("a map, {map}, with one of them");
        return Err(Refusal::expected("boundary and periodicity only along block maps", given));
    }
    let entry =
        |kind| DimDict { size: map.size(), grid_size: map.parts() as i64, grid_rank: rank as i64, kind };
    match map {
        DimMap::Block { .. } => blocks(dist, d, rank, boundary),
        DimMap::Cyclic(cyclic) => match (block_size(cyclic), map.as_block()) {
            (Some(block_size), _) => {
                let start = cyclic.set(rank).iter().next().unwrap_or(map.size());
                Ok(entry(Kind::Cyclic { start, block_size }))
            }
            (None, Some(block)) => {
                let owned = block.owned(rank);
                let (start, stop) = (owned.start, owned.end);
                Ok(entry(Kind::Block { start, stop, padding: (0, 0), periodic: false }))
            }
            (None, None) => Ok(entry(listed(map, rank))),
        },
        DimMap::Unstructured(_) | DimMap::Replicated { .. } | DimMap::Custom(_) => {
            Ok(entry(listed(map, rank)))
        }
    }
}

/// The block size by which the protocol can say a cyclic map: that of the map, or what a slice of it made of
/// it. Coordinate `i` goes to part `(phase + step * i) / block` modulo the parts.
fn block_size(cyclic: &Cyclic) -> Option<i64> {
    let (block, parts, (phase, step)) = (cyclic.block_size(), cyclic.parts() as i64, cyclic.phase());
    // The number of different parts that steps of single parts lead to before they repeat.
    let reached = parts / greatest_divisor(step % parts, parts);
    match block {
        _ if block % step == 0 && phase % block < step => Some(block / step),
        1 if reached == parts || cyclic.size() <= reached => Some(1),
        _ => None,
    }
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    if a == 0 { b } else { greatest_divisor(b % a, a) }
}

fn listed(map: &DimMap, rank: usize) -> Kind {
    match map {
        DimMap::Unstructured(lists) => {
            let labels = lists.held(rank).iter().filter_map(|&g| lists.label(g));
            Kind::Unstructured { indices: labels.collect(), one_to_one: lists.one_to_one() }
        }
        _ => {
            let indices = map.owned_set(rank).iter().collect();
            Kind::Unstructured { indices, one_to_one: !map.has_copies() }
        }
    }
}

/// The halo widths that each grid rank of a block dimension says. The protocol wants equal widths on both
/// sides of a seam, so that is the narrower of the two; a ring's ends copy no more than the part at the other
/// end owns.
fn halos(dist: &Distribution, d: usize) -> Vec<(i64, i64)> {
    let (map, last) = (dist.map(d), dist.map(d).parts() - 1);
    // One part per grid rank that stores something along the other dimensions: an empty part has no halo.
    let filled =
        |e: usize| (0..dist.map(e).parts()).find(|&rank| dist.map(e).count(rank) > 0).unwrap_or(0) as i64;
    let mut at: Vec<i64> = (0..dist.rank()).map(filled).collect();
    let mut declared = |rank: usize| {
        at[d] = rank as i64;
        let region = dist.stored(dist.grid().part(&at).unwrap_or_default());
        let owned = map.owned(rank);
        (owned.start - region.start()[d], region.stop()[d] - owned.end)
    };
    let mut widths: Vec<(i64, i64)> = (0..=last).map(&mut declared).collect();
    for right in 1..=last {
        let common = widths[right - 1].1.min(widths[right].0);
        (widths[right - 1].1, widths[right].0) = (common, common);
    }
    widths[0].0 = widths[0].0.min(map.count(last));
    widths[last].1 = widths[last].1.min(map.count(0));
    widths
}

/// The entry of a block map, with halo and boundary as padding.
fn blocks(dist: &Distribution, d: usize, rank: usize, boundary: (i64, i64)) -> Result<DimDict> {
    let (map, periodic) = (dist.map(d), dist.periodic(d));
    let last = map.parts() - 1;
    let halos = halos(dist, d);
    // Where a ring is written as a line, the copies at its ends count.
    let (before, after) = if periodic { (halos[0].0, halos[last].1) } else { (0, 0) };
    let entry = |rank: usize| {
        let (owned, (lo, hi)) = (map.owned(rank), halos[rank]);
        let (start, stop) = (owned.start - lo + before, owned.end + hi + before);
        let lo = lo + if rank == 0 { boundary.0 } else { 0 };
        let hi = hi + if rank == last { boundary.1 } else { 0 };
        let kind = Kind::Block { start, stop, padding: (lo, hi), periodic };
        let size = map.size() + before + after;
        DimDict { size, grid_size: map.parts() as i64, grid_rank: rank as i64, kind }
    };
    for rank in [0, last] {
        let dim = entry(rank);
        let Kind::Block { padding: (lo, hi), .. } = dim.kind else { continue };
        if lo + hi > dim.extent() {
            let expected = format!("padding of at most {}, what grid rank {rank} stores", dim.extent());
            let Refusal { reason, .. } = Refusal::expected(expected, lo + hi);
            let remedy = "declare a narrower boundary, or redistribute to fewer and larger parts";
            return Err(Refusal::new(format!("{reason}; {remedy}")).under_key("padding"));
        }
    }
    Ok(entry(rank))
}
