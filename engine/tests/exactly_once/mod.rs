//! The check of plans by counting arrivals. It computes the expected arrivals by subtracting boxes or by
//! visiting every cell, and so independently of the constructors.
#![allow(dead_code, missing_docs)]

use partita::index::{Distribution, ErrorKind, Index, IndexError, Region, Result};
use partita::plan::{Move, MoveOp, Plan};

pub trait CheckedPlan {
    /// Checks that every cell of `needs[q]` arrives at part `q` exactly once and nothing else does, that it
    /// is sent by the part that owns it, and that it is the right cell: its place in the destination is its
    /// place in `source`, modulo whole turns of periodic dimensions. For plans of copies; check an adjoint
    /// before it is one.
    fn check_exactly_once(&self, source: &Distribution, needs: &[Vec<Region>]) -> Result<()>;

    /// Checks that every cell that a part of `to` holds arrives there exactly once, from a part of `from`
    /// that holds it. Where both are blocks this compares boxes; otherwise it looks at every cell, and takes
    /// as long.
    fn check_redistribution(&self, from: &Distribution, to: &Distribution) -> Result<()>;
}

impl CheckedPlan for Plan {
    fn check_exactly_once(&self, source: &Distribution, needs: &[Vec<Region>]) -> Result<()> {
        if (self.from_parts(), self.to_parts()) != (source.parts(), needs.len()) {
            return Err(plan_error(
                format!("{} sending and {} receiving parts", source.parts(), needs.len()),
                format!("{} and {}", self.from_parts(), self.to_parts()),
            ));
        }
        for m in self.moves() {
            check_move(source, m)?;
        }
        needs
            .iter()
            .enumerate()
            .try_for_each(|(part, needs)| check_arrivals(part, needs, self.moves_to(part)))
    }

    fn check_redistribution(&self, from: &Distribution, to: &Distribution) -> Result<()> {
        if from.is_block() && to.is_block() {
            let needs: Vec<Vec<Region>> = (0..to.parts()).map(|part| vec![to.owned(part)]).collect();
            return self.check_exactly_once(from, &needs);
        }
        if (self.from_parts(), self.to_parts()) != (from.parts(), to.parts()) {
            let expected = format!("{} sending and {} receiving parts", from.parts(), to.parts());
            return Err(plan_error(expected, format!("{} and {}", self.from_parts(), self.to_parts())));
        }
        (0..to.parts()).try_for_each(|part| check_cells(from, to, part, self.moves_to(part)))
    }
}

/// What every part needs so that its whole halo is filled.
pub fn halo_needs(dist: &Distribution, corners: bool) -> Vec<Vec<Region>> {
    let needs = |part| halo_regions(&dist.owned(part), &dist.stored(part), corners);
    (0..dist.parts()).map(needs).collect()
}

/// The cells of `stored` around `owned`, which lies inside it, as disjoint boxes; without `corners`, only
/// those that are outside `owned` in exactly one dimension.
pub fn halo_regions(owned: &Region, stored: &Region, corners: bool) -> Vec<Region> {
    if corners {
        return stored.subtract(owned);
    }
    let slab = |d: usize, start: i64, stop: i64| {
        let (mut from, mut to) = (*owned.start(), *owned.stop());
        (from[d], to[d]) = (start, stop);
        Region::new(&from, &to).expect("within `stored`")
    };
    let sides = |d: usize| {
        let (inner, outer) = ((owned.start()[d], owned.stop()[d]), (stored.start()[d], stored.stop()[d]));
        [slab(d, outer.0, inner.0), slab(d, inner.1, outer.1)]
    };
    (0..owned.rank()).flat_map(sides).filter(|slab| !slab.is_empty()).collect()
}

/// Looks at every cell that arrives at a part.
fn check_cells(from: &Distribution, to: &Distribution, part: usize, moves: &[Move]) -> Result<()> {
    let held = to.owned(part);
    let mut arrived = vec![false; held.volume()? as usize];
    for m in moves {
        let given = from.owned(m.from_part);
        for (here, there) in m.cells() {
            let what = || format!("{here} of part {} to {there} of part {part}", m.from_part);
            if m.op != MoveOp::Copy || !given.contains(&here) || !held.contains(&there) {
                let expected = "copies of cells that both parts hold";
                return Err(plan_error(expected, format!("{:?} of {}", m.op, what())));
            }
            let cell = |dist: &Distribution, at: &Index| -> Vec<Option<i64>> {
                (0..dist.rank()).map(|d| dist.map(d).from_packed(at[d])).collect()
            };
            if cell(from, &here) != cell(to, &there) {
                return Err(plan_error("every cell to arrive at its own place", what()));
            }
            if std::mem::replace(&mut arrived[position(&held, &there)], true) {
                return Err(plan_error(format!("part {part} to get every cell it needs once"), what()));
            }
        }
    }
    let Some(missing) = arrived.iter().position(|&done| !done) else { return Ok(()) };
    let expected = format!("part {part} to get every cell it needs once");
    Err(plan_error(expected, format!("nothing for its cell number {missing}")))
}

/// The number of a point in a box, in C order.
fn position(region: &Region, point: &Index) -> usize {
    let next = |at: i64, d: usize| at * region.extent(d) + point[d] - region.start()[d];
    (0..region.rank()).fold(0, next) as usize
}

fn check_move(source: &Distribution, m: &Move) -> Result<()> {
    let given = || format!("{} of part {} to {} of part {}", m.from, m.from_part, m.to, m.to_part);
    if m.subsets.is_some() {
        return Err(plan_error("whole boxes", format!("subsets of {}", given())));
    }
    if m.op != MoveOp::Copy {
        return Err(plan_error("copies", format!("an addition, {}", given())));
    }
    let owned = source.owned(m.from_part);
    if m.from.rank() != owned.rank() || !owned.contains_region(&m.from) {
        return Err(plan_error(format!("part {} to send from its own {owned}", m.from_part), given()));
    }
    let in_place = |d: usize| {
        let shift = m.to.start()[d] - m.from.start()[d];
        shift == 0 || (source.periodic(d) && shift % source.map(d).size() == 0)
    };
    if (0..owned.rank()).all(in_place) {
        return Ok(());
    }
    Err(plan_error("every cell to arrive at its own place, modulo whole turns", given()))
}

fn check_arrivals(part: usize, needs: &[Region], moves: &[Move]) -> Result<()> {
    let mut needed: Vec<Region> = Vec::new();
    for need in needs {
        let fresh = subtract_all(vec![*need], &needed);
        needed.extend(fresh);
    }
    let mut missing = needed.clone();
    for m in moves {
        if let Some(surplus) = subtract_all(vec![m.to], &missing).first() {
            let twice = needed.iter().any(|need| !need.intersect(surplus).is_empty());
            let which = if twice { "a second time" } else { "although it needs none of it" };
            let given = format!("{surplus} from part {} {which}", m.from_part);
            return Err(plan_error(format!("part {part} to get every cell it needs once"), given));
        }
        missing = subtract_all(missing, std::slice::from_ref(&m.to));
    }
    match missing.first() {
        None => Ok(()),
        Some(gap) => {
            let expected = format!("part {part} to get every cell it needs once");
            Err(plan_error(expected, format!("nothing for {gap}")))
        }
    }
}

/// The points of `boxes` in none of `others`. Empty boxes vanish.
fn subtract_all(boxes: Vec<Region>, others: &[Region]) -> Vec<Region> {
    let boxes = boxes.into_iter().filter(|region| !region.is_empty()).collect();
    others.iter().fold(boxes, |boxes: Vec<Region>, other| {
        boxes.iter().flat_map(|region| region.subtract(other)).collect()
    })
}

fn plan_error(expected: impl Into<String>, given: String) -> IndexError {
    let remedy = "the plan was built for other distributions or needs";
    IndexError::new(ErrorKind::Plan, "Plan::check_exactly_once", expected, given, remedy)
}
