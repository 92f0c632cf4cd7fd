//! Constructors of plans for boxes that parts need: halos and fetches. Each cuts the needed box along each
//! dimension by owner and takes the product of the dimensions. No part is compared with all others.

use super::moves::{Move, MoveOp, Plan};
use crate::index::{Distribution, ErrorKind, IndexError, ProcessGrid, Region, Result};

/// An interval of one dimension that one grid coordinate owns, and the place where it is needed.
#[derive(Clone, Copy)]
struct OwnedInterval {
    coordinate: usize,
    from: (i64, i64),
    /// What to add to a source coordinate to get the one it is needed at.
    shift: i64,
    /// Whether it is needed outside what the needing part owns in this dimension.
    outside: bool,
}

impl Plan {
    /// Fills every halo cell of every part from its owner; where periodic, possibly from the part itself.
    /// Without `corners`, only cells that are outside the part's own in exactly one dimension.
    pub fn halo(dist: &Distribution, corners: bool) -> Result<Plan> {
        dist.check_block("Plan::halo")?;
        halo(dist, corners, |d, at| Ok(dist.dim(d).stored(at)))
    }

    /// The same for narrower widths `lo` and `hi` than the declared halo.
    pub fn halo_widths(dist: &Distribution, lo: &[i64], hi: &[i64], corners: bool) -> Result<Plan> {
        dist.check_block("Plan::halo_widths")?;
        if lo.len() != dist.rank() || hi.len() != dist.rank() || lo.iter().chain(hi).any(|&width| width < 0) {
            return Err(halo_error(
                format!("{} widths of at least 0 on either side", dist.rank()),
                format!("lo {lo:?}, hi {hi:?}"),
            ));
        }
        halo(dist, corners, |d, at| {
            let (stored, reach) = (dist.dim(d).stored(at), dist.dim(d).reach(at, lo[d], hi[d]));
            if stored.0 <= reach.0 && reach.1 <= stored.1 {
                return Ok(reach);
            }
            let (declared_lo, declared_hi) = dist.halo();
            Err(halo_error(
                format!("at most the declared widths, {declared_lo} and {declared_hi}"),
                format!("({}, {}) at grid coordinate {at} of dimension {d}", lo[d], hi[d]),
            ))
        })
    }

    /// The same, of each part's own halo as much as lies within these widths.
    pub(crate) fn halo_within(dist: &Distribution, lo: &[i64], hi: &[i64], corners: bool) -> Result<Plan> {
        dist.check_block("Plan::halo_within")?;
        halo(dist, corners, |d, at| {
            let (stored, reach) = (dist.dim(d).stored(at), dist.dim(d).reach(at, lo[d], hi[d]));
            Ok((stored.0.max(reach.0), stored.1.min(reach.1)))
        })
    }

    /// Part `p` gets the cells `needs[p]`, its own among them, for instance into a fresh buffer. Where a
    /// dimension is periodic, a need may reach past the ends as far as it likes.
    pub fn fetch(dist: &Distribution, needs: &[Region]) -> Result<Plan> {
        if needs.len() != dist.parts() {
            return Err(IndexError::new(
                ErrorKind::Plan,
                "Plan::fetch",
                format!("{} regions, one per part", dist.parts()),
                needs.len().to_string(),
                "use an empty region for a part that needs nothing",
            ));
        }
        fetch("Plan::fetch", dist, needs)
    }

    /// What part `p` needs of `needs[p]` from others. What it owns itself stays where it is, and is not
    /// moved. Needs may overlap, be empty, or miss what the part owns.
    pub fn repartition(dist: &Distribution, needs: &[Region]) -> Result<Plan> {
        let Plan { from_parts, to_parts, mut moves } = Plan::fetch(dist, needs)?;
        moves.retain(|m| m.from_part != m.to_part || m.from != m.to);
        Ok(Plan { from_parts, to_parts, moves })
    }

    /// The cells of `root_region`, wherever they are owned, go to the one part of the destination.
    pub fn gather(dist: &Distribution, root_region: &Region) -> Result<Plan> {
        fetch("Plan::gather", dist, std::slice::from_ref(root_region))
    }
}

/// The halo plan for parts that reach over `reach(d, coordinate)` in dimension `d`.
fn halo(
    dist: &Distribution,
    corners: bool,
    reach: impl Fn(usize, usize) -> Result<(i64, i64)>,
) -> Result<Plan> {
    let intervals = |d: usize, at: usize| -> Result<Vec<OwnedInterval>> {
        let (owned, reach) = (dist.dim(d).owned(at), reach(d, at)?);
        let mut intervals = Vec::new();
        if owned.0 < owned.1 {
            push_intervals(&mut intervals, dist, d, (reach.0, owned.0), true);
            intervals.push(OwnedInterval { coordinate: at, from: owned, shift: 0, outside: false });
            push_intervals(&mut intervals, dist, d, (owned.1, reach.1), true);
        }
        Ok(intervals)
    };
    // Intervals depend on one grid coordinate only, so they are found once for all parts that share it.
    let intervals: Vec<Vec<Vec<OwnedInterval>>> = (0..dist.rank())
        .map(|d| (0..dist.map(d).parts()).map(|at| intervals(d, at)).collect::<Result<_>>())
        .collect::<Result<_>>()?;
    let mut moves = Vec::new();
    for part in 0..dist.parts() {
        let at = dist.grid().coordinate(part);
        let lists: Vec<&[OwnedInterval]> =
            (0..dist.rank()).map(|d| &intervals[d][at[d] as usize][..]).collect();
        push_moves(&mut moves, dist.grid(), part, &lists, |outside| {
            outside == 1 || (corners && outside > 1)
        })?;
    }
    Plan::new(dist.parts(), dist.parts(), moves)
}

fn fetch(operation: &'static str, dist: &Distribution, needs: &[Region]) -> Result<Plan> {
    dist.check_block(operation)?;
    let mut moves = Vec::new();
    for (part, need) in needs.iter().enumerate() {
        check_need(operation, dist, part, need)?;
        let lists: Vec<Vec<OwnedInterval>> = (0..dist.rank())
            .map(|d| {
                let mut list = Vec::new();
                push_intervals(&mut list, dist, d, (need.start()[d], need.stop()[d]), false);
                list
            })
            .collect();
        let lists: Vec<&[OwnedInterval]> = lists.iter().map(|list| &list[..]).collect();
        push_moves(&mut moves, dist.grid(), part, &lists, |_| true)?;
    }
    Plan::new(dist.parts(), needs.len(), moves)
}

/// Refuses a need that the array cannot satisfy.
fn check_need(operation: &'static str, dist: &Distribution, part: usize, need: &Region) -> Result<()> {
    let within = |d: usize| {
        let size = dist.map(d).size();
        let reachable = dist.periodic(d) && size > 0;
        reachable || (0 <= need.start()[d] && need.stop()[d] <= size)
    };
    if need.rank() == dist.rank() && (need.is_empty() || (0..dist.rank()).all(within)) {
        return Ok(());
    }
    Err(IndexError::new(
        ErrorKind::Range,
        operation,
        format!("regions inside {}, except along periodic dimensions", dist.global()),
        format!("{need} for part {part}"),
        "clip the region to the array",
    ))
}

/// Cuts `needed` along dimension `d` by owner, and by how often it wraps round.
fn push_intervals(
    list: &mut Vec<OwnedInterval>,
    dist: &Distribution,
    d: usize,
    needed: (i64, i64),
    outside: bool,
) {
    let (map, size) = (dist.map(d), dist.map(d).size());
    if needed.0 >= needed.1 || size == 0 {
        return;
    }
    for turn in needed.0.div_euclid(size)..=(needed.1 - 1).div_euclid(size) {
        let shift = turn * size;
        let (start, stop) = ((needed.0 - shift).max(0), (needed.1 - shift).min(size));
        for coordinate in map.owners(start..stop) {
            let owned = map.owned(coordinate);
            let from = (owned.start.max(start), owned.end.min(stop));
            if from.0 < from.1 {
                list.push(OwnedInterval { coordinate, from, shift, outside });
            }
        }
    }
}

/// One move for every combination of intervals, one per dimension, of which `keep` likes the number outside.
fn push_moves(
    moves: &mut Vec<Move>,
    grid: &ProcessGrid,
    to_part: usize,
    lists: &[&[OwnedInterval]],
    keep: impl Fn(usize) -> bool,
) -> Result<()> {
    let lengths: Vec<i64> = lists.iter().map(|list| list.len() as i64).collect();
    for choice in Region::from_shape(&lengths)?.points() {
        let chosen = |d: usize| &lists[d][choice[d] as usize];
        if !keep((0..lists.len()).filter(|&d| chosen(d).outside).count()) {
            continue;
        }
        moves.push(Move {
            from_part: grid.part_at(|d| chosen(d).coordinate as i64),
            to_part,
            from: Region::from_fn(lists.len(), |d| chosen(d).from),
            to: Region::from_fn(lists.len(), |d| {
                let OwnedInterval { from, shift, .. } = chosen(d);
                (from.0 + shift, from.1 + shift)
            }),
            subsets: None,
            op: MoveOp::Copy,
        });
    }
    Ok(())
}

fn halo_error(expected: String, given: String) -> IndexError {
    let remedy = "declare a wider halo, or use Plan::fetch into a larger buffer";
    IndexError::new(ErrorKind::Halo, "Plan::halo_widths", expected, given, remedy)
}
