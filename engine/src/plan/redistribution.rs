//! Constructors of plans: between any two distributions of one shape, and for boxes that parts need, halos
//! among them. No part is compared with all others.

use crate::index::{Along, Distribution, ErrorKind, Index, IndexError, Region, Result};
use crate::plan::moves::Plan;
use crate::plan::scope::{Near, Recipe, Scope};

impl Plan {
    /// The moves from the cells that parts of `from` own to those that parts of `to` hold, copies and cells
    /// that stay included. Both sides are packed coordinates, in which every distribution is blocks.
    ///
    /// If several parts have a cell, its owner sends it, unless the receiving part has it itself: parts
    /// of one number are taken to be at one member if both sides have as many.
    pub fn redistribute(from: &Distribution, to: &Distribution) -> Result<Plan> {
        let alike = from.parts() == to.parts();
        Plan::between(from, to, |part| alike.then_some(part))
    }

    /// The same where `near(q)` is the part of `from` at the member that holds part `q` of `to`, if there is
    /// one. Which members the parts are at is otherwise the caller's business.
    pub fn between(
        from: &Distribution,
        to: &Distribution,
        near: impl Fn(usize) -> Option<usize>,
    ) -> Result<Plan> {
        Scope::All.between(from, to, &near)
    }

    /// Every part of `to` gets what it needs of `from`, in the order in which it goes through it: the
    /// shifted, pinned, exchanged, flipped dimensions of an operand, at their destination; of strided ones
    /// no more than the strides select. `axes` has one entry per dimension of `from`, and so have
    /// the boxes at the destination: along each they are packed coordinates of the dimension of `to` that it
    /// names, and coordinate 0 of pinned ones.
    pub fn aligned(
        from: &Distribution,
        to: &Distribution,
        axes: &[Along],
        near: impl Fn(usize) -> Option<usize>,
    ) -> Result<Plan> {
        Scope::All.aligned(from, to, axes, &near)
    }

    /// Part `p` gets the box `needs[p]` of global coordinates, whatever the maps of `from`: one box for all
    /// that a part reads of it. `near` as in [`Plan::between`]. As in [`Plan::fetch`], needs may reach past
    /// the ends of periodic dimensions.
    pub fn boxes(
        from: &Distribution,
        needs: &[Region],
        near: impl Fn(usize) -> Option<usize>,
    ) -> Result<Plan> {
        Scope::All.boxes(from, needs, &near)
    }

    /// Fills every halo cell of every part from its owner; where periodic, possibly from the part itself.
    /// Without `corners`, only cells that are outside the part's own in exactly one dimension.
    pub fn halo(dist: &Distribution, corners: bool) -> Result<Plan> {
        Scope::All.halo(dist, corners)
    }

    /// The same for narrower widths `lo` and `hi` than the declared halo.
    pub fn halo_widths(dist: &Distribution, lo: &[i64], hi: &[i64], corners: bool) -> Result<Plan> {
        Scope::All.halo_widths(dist, lo, hi, corners)
    }

    /// Part `p` gets the cells `needs[p]`, its own among them, for instance into a fresh buffer. Where a
    /// dimension is periodic, a need may reach past the ends as far as it likes.
    pub fn fetch(dist: &Distribution, needs: &[Region]) -> Result<Plan> {
        Scope::All.fetch(dist, needs)
    }

    /// The cells of `root_region`, wherever they are owned, go to the one part of the destination.
    pub fn gather(dist: &Distribution, root_region: &Region) -> Result<Plan> {
        fetch(Scope::All, "Plan::gather", dist, std::slice::from_ref(root_region))
    }
}

/// The constructors of [`Plan`], with the moves of this scope.
impl Scope<'_> {
    /// As [`Plan::between`].
    pub fn between(self, from: &Distribution, to: &Distribution, near: Near) -> Result<Plan> {
        if from.shape() != to.shape() {
            return Err(IndexError::new(
                ErrorKind::Size,
                "Plan::redistribute",
                format!("two distributions of one shape, {}", from.shape()),
                to.shape().to_string(),
                "slice or pad the array to the other shape first",
            ));
        }
        let axes: Vec<Along> = (0..to.rank()).map(Along::same).collect();
        self.aligned(from, to, &axes, near)
    }

    /// As [`Plan::aligned`].
    pub fn aligned(self, from: &Distribution, to: &Distribution, axes: &[Along], near: Near) -> Result<Plan> {
        Recipe::Aligned { from, to, axes, near }.plan(self)
    }

    /// As [`Plan::boxes`].
    pub fn boxes(self, from: &Distribution, needs: &[Region], near: Near) -> Result<Plan> {
        Recipe::Boxes { from, needs, near }.plan(self)
    }

    /// As [`Plan::halo`].
    pub fn halo(self, dist: &Distribution, corners: bool) -> Result<Plan> {
        dist.check_block("Plan::halo")?;
        let reach = |d: usize, at| Ok(dist.dim(d).stored(at));
        Recipe::Halo { dist, reach: &reach, widest: dist.halo(), corners }.plan(self)
    }

    /// As [`Plan::halo_widths`].
    pub fn halo_widths(self, dist: &Distribution, lo: &[i64], hi: &[i64], corners: bool) -> Result<Plan> {
        dist.check_block("Plan::halo_widths")?;
        if lo.len() != dist.rank() || hi.len() != dist.rank() || lo.iter().chain(hi).any(|&width| width < 0) {
            return Err(halo_error(
                format!("{} widths of at least 0 on either side", dist.rank()),
                format!("lo {lo:?}, hi {hi:?}"),
            ));
        }
        let reach = |d: usize, at| {
            let (stored, reach) = (dist.dim(d).stored(at), dist.dim(d).reach(at, lo[d], hi[d]));
            if stored.0 <= reach.0 && reach.1 <= stored.1 {
                return Ok(reach);
            }
            let (declared_lo, declared_hi) = dist.halo();
            Err(halo_error(
                format!("at most the declared widths, {declared_lo} and {declared_hi}"),
                format!("({}, {}) at grid coordinate {at} of dimension {d}", lo[d], hi[d]),
            ))
        };
        // Whichever parts there are.
        for d in 0..dist.rank() {
            (0..dist.map(d).parts()).try_for_each(|at| reach(d, at).map(drop))?;
        }
        let widest = (Index::new(lo)?, Index::new(hi)?);
        Recipe::Halo { dist, reach: &reach, widest, corners }.plan(self)
    }

    /// The same, of each part's own halo as much as lies within these widths.
    pub(crate) fn halo_within(
        self,
        dist: &Distribution,
        (lo, hi): (&Index, &Index),
        corners: bool,
    ) -> Result<Plan> {
        dist.check_block("Plan::halo_within")?;
        let reach = |d: usize, at| {
            let (stored, reach) = (dist.dim(d).stored(at), dist.dim(d).reach(at, lo[d], hi[d]));
            Ok((stored.0.max(reach.0), stored.1.min(reach.1)))
        };
        Recipe::Halo { dist, reach: &reach, widest: (*lo, *hi), corners }.plan(self)
    }

    /// As [`Plan::fetch`].
    pub fn fetch(self, dist: &Distribution, needs: &[Region]) -> Result<Plan> {
        if needs.len() != dist.parts() {
            return Err(IndexError::new(
                ErrorKind::Plan,
                "Plan::fetch",
                format!("{} regions, one per part", dist.parts()),
                needs.len().to_string(),
                "use an empty region for a part that needs nothing",
            ));
        }
        fetch(self, "Plan::fetch", dist, needs)
    }
}

fn fetch(scope: Scope, operation: &'static str, dist: &Distribution, needs: &[Region]) -> Result<Plan> {
    dist.check_block(operation)?;
    for (part, need) in needs.iter().enumerate() {
        check_need(operation, dist, part, need)?;
    }
    scope.boxes(dist, needs, &|_| None)
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
