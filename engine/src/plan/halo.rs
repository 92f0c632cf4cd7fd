//! Constructors of plans for boxes that parts need: halos and fetches. Each cuts the needed box along each
//! dimension by owner and takes the product of the dimensions. No part is compared with all others.

use super::moves::{Move, Plan};
use super::redistribution::{SourceOverlap, box_overlaps, cross};
use crate::index::{Distribution, ErrorKind, IndexError, Region, Result};

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
    let overlaps = |d: usize, at: usize| -> Result<Vec<SourceOverlap>> {
        let (owned, reach) = (dist.dim(d).owned(at), reach(d, at)?);
        if owned.0 == owned.1 {
            return Ok(Vec::new());
        }
        let pieces = [(reach.0, owned.0), owned, (owned.1, reach.1)];
        let cut = pieces.into_iter().map(|needed| box_overlaps(dist, d, needed, None));
        Ok(cut.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    };
    // Overlaps depend on one grid coordinate only, so they are found once for all parts that share it.
    let overlaps: Vec<Vec<Vec<SourceOverlap>>> = (0..dist.rank())
        .map(|d| (0..dist.map(d).parts()).map(|at| overlaps(d, at)).collect::<Result<_>>())
        .collect::<Result<_>>()?;
    let mut moves = Vec::new();
    for part in 0..dist.parts() {
        let (at, owned) = (dist.grid().coordinate(part), dist.owned(part));
        let needed: Vec<&[SourceOverlap]> =
            (0..dist.rank()).map(|d| &overlaps[d][at[d] as usize][..]).collect();
        let is_outside =
            |m: &Move, d: usize| m.to.start()[d] < owned.start()[d] || m.to.start()[d] >= owned.stop()[d];
        let mut all = Vec::new();
        cross(&mut all, dist, part, &needed)?;
        all.retain(|m| match (0..dist.rank()).filter(|&d| is_outside(m, d)).count() {
            0 => false,
            1 => true,
            _ => corners,
        });
        moves.append(&mut all);
    }
    Plan::new(dist.parts(), dist.parts(), moves)
}

fn fetch(operation: &'static str, dist: &Distribution, needs: &[Region]) -> Result<Plan> {
    dist.check_block(operation)?;
    for (part, need) in needs.iter().enumerate() {
        check_need(operation, dist, part, need)?;
    }
    Plan::boxes(dist, needs, |_| None)
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

fn halo_error(expected: String, given: String) -> IndexError {
    let remedy = "declare a wider halo, or use Plan::fetch into a larger buffer";
    IndexError::new(ErrorKind::Halo, "Plan::halo_widths", expected, given, remedy)
}
