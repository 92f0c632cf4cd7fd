//! Plans carried out on host arrays: every cell holds its own global position, halos and fresh buffers hold
//! poison, and what arrives is compared with the formula. The poison is looked at first, so that a check that
//! cannot fail would be seen.

#![allow(clippy::unwrap_used)]

mod divisions;
mod exactly_once;
mod layouts;

use divisions::kinds;
use exactly_once::{CheckedPlan, halo_needs, halo_regions};
use layouts::{layout_pairs, layouts};
use partita::index::{DimMap, Distribution, ErrorKind, Index, Region};
use partita::plan::{AxisSubset, Move, MoveOp, Pairs, Plan};
use proptest::prelude::*;

const POISON: i64 = -1;

fn region<const N: usize>(start: [i64; N], stop: [i64; N]) -> Region {
    Region::new(&start, &stop).unwrap()
}

/// The C-order position of a cell in the global array, modulo whole turns.
fn formula(dist: &Distribution, point: &[i64]) -> i64 {
    (0..dist.rank()).fold(0, |sum, d| sum * dist.shape()[d] + point[d].rem_euclid(dist.shape()[d]))
}

/// One host array per part.
#[derive(Clone)]
struct Arrays {
    regions: Vec<Region>,
    values: Vec<Vec<i64>>,
}

impl Arrays {
    fn new(regions: Vec<Region>, value: impl Fn(usize, &Index) -> i64) -> Arrays {
        let fill = |(part, region): (usize, &Region)| region.points().map(|p| value(part, &p)).collect();
        let values = regions.iter().enumerate().map(fill).collect();
        Arrays { regions, values }
    }

    fn cell(&mut self, part: usize, point: &[i64]) -> &mut i64 {
        let region = &self.regions[part];
        assert!(region.contains(point), "part {part} does not hold {point:?}");
        let at = (0..region.rank()).fold(0, |at, d| at * region.extent(d) + point[d] - region.start()[d]);
        &mut self.values[part][at as usize]
    }

    fn apply(&mut self, plan: &Plan, source: &mut Arrays) {
        for m in plan.moves() {
            for (from, to) in m.cells() {
                let value = *source.cell(m.from_part, &from);
                match m.op {
                    MoveOp::Copy => *self.cell(m.to_part, &to) = value,
                    MoveOp::Add => *self.cell(m.to_part, &to) += value,
                }
            }
        }
    }

    fn dot(&self, other: &Arrays) -> i64 {
        let flat = |arrays: &Arrays| arrays.values.concat();
        flat(self).iter().zip(flat(other)).map(|(a, b)| a * b).sum()
    }
}

fn owned(dist: &Distribution) -> Vec<Region> {
    (0..dist.parts()).map(|part| dist.owned(part)).collect()
}

fn stored(dist: &Distribution) -> Vec<Region> {
    (0..dist.parts()).map(|part| dist.stored(part)).collect()
}

fn owned_arrays(dist: &Distribution) -> Arrays {
    Arrays::new(owned(dist), |_, point| formula(dist, point))
}

fn volume<'a>(regions: impl IntoIterator<Item = &'a Region>) -> i64 {
    regions.into_iter().map(|region| region.volume().unwrap()).sum()
}

fn elements(plan: &Plan) -> i64 {
    plan.moves().iter().map(|m| m.elements() as i64).sum()
}

/// In how many dimensions a point lies outside a region.
fn outside(region: &Region, point: &[i64]) -> usize {
    (0..region.rank()).filter(|&d| !(region.start()[d]..region.stop()[d]).contains(&point[d])).count()
}

/// Small numbers without a pattern.
fn noise(seed: u64, part: usize, point: &[i64]) -> i64 {
    let mixed = point.iter().fold(seed ^ (part as u64) << 32, |state, &value| {
        (state ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    });
    (mixed.wrapping_mul(0xd134_2543_de82_ef95) >> 48) as i64 % 1000 - 500
}

/// Fills halos by the plan and compares all stored cells: those in `filled` have the formula, other halo
/// cells are still poisoned.
fn check_halo(
    dist: &Distribution,
    plan: &Plan,
    filled: impl Fn(usize, &Index) -> bool,
) -> Result<(), TestCaseError> {
    let mut before = Arrays::new(stored(dist), |part, point| {
        if dist.owned(part).contains(point) { formula(dist, point) } else { POISON }
    });
    let poisoned = before.values.concat().iter().filter(|&&value| value == POISON).count() as i64;
    prop_assert_eq!(poisoned, volume(&stored(dist)) - volume(&owned(dist)));
    let mut after = before.clone();
    after.apply(plan, &mut before);
    for part in 0..dist.parts() {
        for point in dist.stored(part).points() {
            let expected = filled(part, &point) || dist.owned(part).contains(&point);
            let expected = if expected { formula(dist, &point) } else { POISON };
            prop_assert_eq!(*after.cell(part, &point), expected, "part {} at {}", part, point);
        }
    }
    Ok(())
}

/// Needs without a pattern: somewhere in the array, past its ends where it is periodic, some of them empty.
fn random_needs(dist: &Distribution, parts: usize, seed: u64) -> Vec<Region> {
    let range = |part: usize, d: usize| {
        let size = dist.shape()[d];
        let raw = |salt| noise(seed, part, &[d as i64, salt]) + 500;
        if dist.periodic(d) && size > 0 {
            let start = raw(1) % (4 * size + 1) - 2 * size;
            return (start, start + raw(2) % (2 * size + 2));
        }
        let start = raw(1) % (size + 1);
        (start, start + raw(2) % (size - start + 1))
    };
    let need = |part| {
        let ranges: Vec<_> = (0..dist.rank()).map(|d| range(part, d)).collect();
        let (start, stop): (Vec<i64>, Vec<i64>) = ranges.into_iter().unzip();
        Region::new(&start, &stop).unwrap()
    };
    (0..parts).map(need).collect()
}

/// Carries out a plan into fresh, poisoned buffers and compares all of them with the formula.
fn check_fetch(dist: &Distribution, plan: &Plan, needs: &[Region]) -> Result<(), TestCaseError> {
    let mut fresh = Arrays::new(needs.to_vec(), |_, _| POISON);
    let expected = Arrays::new(needs.to_vec(), |_, point| formula(dist, point));
    prop_assert!(volume(needs) == 0 || fresh.values != expected.values);
    fresh.apply(plan, &mut owned_arrays(dist));
    prop_assert_eq!(fresh.values, expected.values);
    prop_assert_eq!(elements(plan), volume(needs));
    let lists: Vec<Vec<Region>> = needs.iter().map(|need| vec![*need]).collect();
    plan.check_exactly_once(dist, &lists).map_err(|error| TestCaseError::fail(error.to_string()))
}

/// `<F x, y> == <x, F* y>` for a plan into buffers of their own.
fn check_adjoint(plan: &Plan, from: Vec<Region>, to: Vec<Region>, seed: u64) -> Result<(), TestCaseError> {
    let mut x = Arrays::new(from.clone(), |part, point| noise(seed, part, point));
    let mut y = Arrays::new(to.clone(), |part, point| noise(!seed, part, point));
    let mut forward = Arrays::new(to, |_, _| 0);
    forward.apply(plan, &mut x);
    let mut back = Arrays::new(from, |_, _| 0);
    back.apply(&plan.adjoint(), &mut y);
    prop_assert_eq!(forward.dot(&y), x.dot(&back));
    Ok(())
}

proptest! {
    #[test]
    fn halos_with_corners_are_filled(layout in layouts()) {
        let dist = layout.build();
        let plan = Plan::halo(&dist, true).unwrap();
        check_halo(&dist, &plan, |_, _| true)?;
        plan.check_exactly_once(&dist, &halo_needs(&dist, true)).unwrap();
        prop_assert_eq!(elements(&plan), volume(&stored(&dist)) - volume(&owned(&dist)));
    }

    #[test]
    fn halos_without_corners_fill_faces_only(layout in layouts()) {
        let dist = layout.build();
        let plan = Plan::halo(&dist, false).unwrap();
        check_halo(&dist, &plan, |part, point| outside(&dist.owned(part), point) == 1)?;
        plan.check_exactly_once(&dist, &halo_needs(&dist, false)).unwrap();
    }

    #[test]
    fn narrower_halos_fill_what_is_asked(
        layout in layouts(),
        corners: bool,
        cut in prop::collection::vec((0..4i64, 0..4i64), 4),
    ) {
        let dist = layout.build();
        // The narrowest declared width of any part bounds what may be asked.
        let least = |d: usize, side: fn(&(i64, i64)) -> i64| {
            let dim = &layout.dims[d];
            if dim.uniform { side(&dim.halo[0]) } else { dim.halo.iter().map(side).min().unwrap() }
        };
        let lo: Vec<i64> = (0..dist.rank()).map(|d| cut[d].0.min(least(d, |w| w.0))).collect();
        let hi: Vec<i64> = (0..dist.rank()).map(|d| cut[d].1.min(least(d, |w| w.1))).collect();
        let plan = Plan::halo_widths(&dist, &lo, &hi, corners).unwrap();
        let reach = |part| dist.reach(part, &lo, &hi).unwrap();
        check_halo(&dist, &plan, |part, point| {
            reach(part).contains(point) && (corners || outside(&dist.owned(part), point) == 1)
        })?;
        let needs: Vec<Vec<Region>> =
            (0..dist.parts()).map(|part| halo_regions(&dist.owned(part), &reach(part), corners)).collect();
        plan.check_exactly_once(&dist, &needs).unwrap();
        let (full_lo, full_hi) = dist.halo();
        if layout.dims.iter().all(|dim| dim.uniform) {
            let full = Plan::halo_widths(&dist, &full_lo, &full_hi, corners).unwrap();
            prop_assert_eq!(full, Plan::halo(&dist, corners).unwrap());
        }
    }

    #[test]
    fn fetch_fills_any_needs(layout in layouts(), seed: u64) {
        let dist = layout.build();
        let needs = random_needs(&dist, dist.parts(), seed);
        check_fetch(&dist, &Plan::fetch(&dist, &needs).unwrap(), &needs)?;
    }

    #[test]
    fn gather_brings_a_region_together(layout in layouts(), seed: u64) {
        let dist = layout.build();
        for root in [random_needs(&dist, 1, seed)[0], dist.global()] {
            let plan = Plan::gather(&dist, &root).unwrap();
            prop_assert_eq!(plan.to_parts(), 1);
            check_fetch(&dist, &plan, &[root])?;
        }
    }

    #[test]
    fn redistribution_moves_every_cell_once((from, to) in layout_pairs()) {
        let (from, to) = (from.build(), to.build());
        let plan = Plan::redistribute(&from, &to).unwrap();
        prop_assert_eq!((plan.from_parts(), plan.to_parts()), (from.parts(), to.parts()));
        check_fetch(&from, &plan, &owned(&to))?;
        let stay = Plan::redistribute(&from, &from).unwrap();
        prop_assert!(stay.moves().iter().all(|m| m.from_part == m.to_part && m.from == m.to));
        // The way back is the same copies with their ends swapped.
        let back = Plan::redistribute(&to, &from).unwrap();
        let copies = plan.adjoint().moves().iter().map(|m| Move { op: MoveOp::Copy, ..m.clone() }).collect();
        prop_assert_eq!(back, Plan::new(to.parts(), from.parts(), copies).unwrap());
    }

    #[test]
    fn dot_tests_of_plans_between_distinct_buffers((from, to) in layout_pairs(), seed: u64) {
        let (from, to) = (from.build(), to.build());
        check_adjoint(&Plan::redistribute(&from, &to).unwrap(), owned(&from), owned(&to), seed)?;
        let needs = random_needs(&from, from.parts(), seed);
        check_adjoint(&Plan::fetch(&from, &needs).unwrap(), owned(&from), needs, seed)?;
        let plan = Plan::gather(&from, &from.global()).unwrap();
        check_adjoint(&plan, owned(&from), vec![from.global()], seed)?;
    }

    #[test]
    fn dot_test_of_halo_plans_in_place(layout in layouts(), corners: bool, seed: u64) {
        let dist = layout.build();
        let plan = Plan::halo(&dist, corners).unwrap();
        let mut x = Arrays::new(stored(&dist), |part, point| noise(seed, part, point));
        let mut y = Arrays::new(stored(&dist), |part, point| noise(!seed, part, point));
        let mut forward = x.clone();
        forward.apply(&plan, &mut x);
        let mut back = y.clone();
        back.apply(&plan.adjoint(), &mut y);
        for (part, halo) in halo_needs(&dist, corners).iter().enumerate() {
            for point in halo.iter().flat_map(Region::points) {
                *back.cell(part, &point) = 0;
            }
        }
        prop_assert_eq!(forward.dot(&y), x.dot(&back));
    }

    #[test]
    fn the_check_finds_any_single_fault(layout in layouts(), corners: bool, pick: prop::sample::Index) {
        let dist = layout.build();
        let (plan, needs) = (Plan::halo(&dist, corners).unwrap(), halo_needs(&dist, corners));
        if plan.moves().is_empty() {
            return Ok(());
        }
        let victim = pick.index(plan.moves().len());
        let m = plan.moves()[victim].clone();
        let one = Index::from_fn(dist.rank(), |d| i64::from(d == 0));
        let shifted = |region: &Region| region.shift(&one).unwrap();
        let next = (m.from_part + 1) % dist.parts();
        let mut faults = vec![
            vec![],
            vec![m.clone(), m.clone()],
            vec![Move { to: shifted(&m.to), ..m.clone() }],
            vec![Move { from: shifted(&m.from), ..m.clone() }],
            vec![Move { op: MoveOp::Add, ..m.clone() }],
        ];
        if next != m.from_part {
            faults.push(vec![Move { from_part: next, ..m.clone() }]);
        }
        for fault in faults {
            // Where a dimension has one cell, cells shifted by a whole turn are the same, but may be out of
            // place.
            let mut moves = plan.moves().to_vec();
            moves.splice(victim..victim + 1, fault);
            let wrong = Plan::new(dist.parts(), dist.parts(), moves).unwrap();
            let error = wrong.check_exactly_once(&dist, &needs).unwrap_err();
            prop_assert_eq!(error.kind, ErrorKind::Plan);
        }
    }

    #[test]
    fn plans_are_ordered_and_reproducible(layout in layouts(), seed: u64) {
        let dist = layout.build();
        let needs = random_needs(&dist, dist.parts(), seed);
        let plan = Plan::fetch(&dist, &needs).unwrap();
        let keys: Vec<_> = plan.moves().iter().map(|m| (m.to_part, m.from_part, m.to)).collect();
        prop_assert!(keys.is_sorted());
        let mut shuffled = plan.moves().to_vec();
        shuffled.reverse();
        let middle = shuffled.len() / 2;
        shuffled.rotate_left(middle);
        prop_assert_eq!(&Plan::new(plan.from_parts(), plan.to_parts(), shuffled).unwrap(), &plan);
        let arriving: usize = (0..plan.to_parts()).map(|part| plan.moves_to(part).len()).sum();
        let leaving = plan.moves().iter().filter(|m| m.from_part < plan.from_parts()).count();
        prop_assert_eq!((arriving, leaving), (plan.moves().len(), plan.moves().len()));
    }
}

#[test]
fn a_single_part_wraps_onto_itself() {
    let dist = Distribution::builder(&[3, 4]).halo(&[1, 4], &[0, 1]).periodic(&[true, true]).build().unwrap();
    let plan = Plan::halo(&dist, false).unwrap();
    let moves: Vec<_> = plan.moves().iter().map(|m| (m.from, m.to)).collect();
    assert_eq!(
        moves,
        [
            (region([2, 0], [3, 4]), region([-1, 0], [0, 4])),
            (region([0, 0], [3, 4]), region([0, -4], [3, 0])),
            (region([0, 0], [3, 1]), region([0, 4], [3, 5])),
        ]
    );
}

#[test]
fn halo_widths_may_differ_per_side_and_part() {
    let dist = Distribution::builder(&[24])
        .bounds(0, &[0, 8, 12, 17, 24])
        .halo_per_part(0, &[(0, 1), (1, 2), (2, 3), (3, 0)])
        .build()
        .unwrap();
    let plan = Plan::halo(&dist, true).unwrap();
    let counts: Vec<_> =
        plan.links().iter().map(|link| (link.from_part, link.to_part, link.elements)).collect();
    assert_eq!(counts, [(1, 0, 1), (0, 1, 1), (2, 1, 2), (1, 2, 2), (3, 2, 3), (2, 3, 3)]);
    assert!(Plan::halo_widths(&dist, &[1], &[1], true).is_ok());
    assert_eq!(Plan::halo_widths(&dist, &[2], &[1], true).unwrap_err().kind, ErrorKind::Halo);
}

#[test]
fn one_part_with_open_edges_needs_no_moves() {
    let dist = Distribution::builder(&[5, 5]).halo(&[2, 2], &[2, 2]).build().unwrap();
    assert!(Plan::halo(&dist, true).unwrap().moves().is_empty());
}

#[test]
fn a_halo_skips_parts_that_own_nothing() {
    let dist = Distribution::builder(&[6]).bounds(0, &[0, 3, 3, 3, 6]).halo(&[2], &[1]).build().unwrap();
    let plan = Plan::halo(&dist, true).unwrap();
    let moves: Vec<_> = plan.moves().iter().map(|m| (m.from_part, m.to_part, m.to)).collect();
    assert_eq!(moves, [(3, 0, region([3], [4])), (0, 3, region([1], [3]))]);
    // Widths declared for parts without cells do not matter either.
    let listed = Distribution::builder(&[6])
        .bounds(0, &[0, 3, 3, 3, 6])
        .halo_per_part(0, &[(0, 1), (0, 0), (9, 9), (2, 0)])
        .build()
        .unwrap();
    assert_eq!(Plan::halo(&listed, true).unwrap(), plan);
    assert_eq!(Plan::halo_widths(&listed, &[2], &[1], true).unwrap(), plan);
}

#[test]
fn impossible_needs_are_refused() {
    let dist = Distribution::builder(&[6]).parts(2).build().unwrap();
    let nothing = region([0], [0]);
    let kind = |needs: &[Region]| Plan::fetch(&dist, needs).unwrap_err().kind;
    assert_eq!(kind(&[nothing]), ErrorKind::Plan);
    assert_eq!(kind(&[nothing, region([5], [7])]), ErrorKind::Range);
    assert_eq!(kind(&[region([-1], [1]), nothing]), ErrorKind::Range);
    assert_eq!(kind(&[nothing, region([0, 0], [1, 1])]), ErrorKind::Range);
    assert!(Plan::fetch(&dist, &[nothing, region([90], [90])]).unwrap().moves().is_empty());
    let other = Distribution::default_partition(2, &[7]).unwrap();
    assert_eq!(Plan::redistribute(&dist, &other).unwrap_err().kind, ErrorKind::Size);
    assert_eq!(Plan::halo_widths(&dist, &[-1], &[0], true).unwrap_err().kind, ErrorKind::Halo);
    assert_eq!(Plan::halo_widths(&dist, &[1], &[0], true).unwrap_err().kind, ErrorKind::Halo);
    assert_eq!(Plan::halo_widths(&dist, &[0], &[1], true).unwrap_err().kind, ErrorKind::Halo);
    assert_eq!(Plan::halo_widths(&dist, &[0, 0], &[0], true).unwrap_err().kind, ErrorKind::Halo);
}

#[test]
fn the_check_says_what_is_wrong() {
    let dist = Distribution::builder(&[6]).parts(2).halo(&[1], &[1]).build().unwrap();
    let (plan, needs) = (Plan::halo(&dist, true).unwrap(), halo_needs(&dist, true));
    let complaint = |moves: Vec<Move>| {
        Plan::new(2, 2, moves).unwrap().check_exactly_once(&dist, &needs).unwrap_err().to_string()
    };
    let [a, b] = plan.moves() else { panic!("{plan}") };
    assert_eq!(
        complaint(vec![a.clone()]),
        "Plan::check_exactly_once: expected part 1 to get every cell it needs once, given nothing for [2:3]; \
         the plan was built for other distributions or needs"
    );
    assert!(complaint(vec![a.clone(), b.clone(), b.clone()]).contains("[2:3] from part 0 a second time"));
    assert!(
        complaint(vec![a.clone(), Move { from: b.to.shift(&[-1]).unwrap(), ..b.clone() }])
            .contains("its own place")
    );
    assert!(complaint(vec![a.clone(), Move { from_part: 1, ..b.clone() }]).contains("from its own [3:6]"));
    let more = Move { from: region([1], [3]), to: region([1], [3]), ..b.clone() };
    assert!(complaint(vec![a.clone(), more]).contains("[1:2] from part 0 although it needs none of it"));
    assert!(plan.check_exactly_once(&dist, &needs[..1]).is_err());
    // A whole turn is right only where the dimension is periodic.
    let turned = vec![Move { from: region([0], [3]), to: region([6], [9]), ..b.clone() }];
    let turned = Plan::new(2, 2, turned).unwrap();
    let error = turned.check_exactly_once(&dist, &[vec![], vec![region([6], [9])]]).unwrap_err();
    assert!(error.to_string().contains("its own place"), "{error}");
}

/// Trying all pairs of parts would be 10^10 comparisons here, far beyond what a test can wait for.
#[test]
fn plans_of_many_parts_take_less_than_quadratic_time() {
    let line = Distribution::builder(&[300_000]).parts(100_000).halo(&[1], &[1]).build().unwrap();
    assert_eq!(Plan::halo(&line, true).unwrap().moves().len(), 199_998);
    let square = Distribution::builder(&[400, 400])
        .grid(&[100, 100])
        .halo(&[1, 1], &[1, 1])
        .periodic(&[true, true])
        .build()
        .unwrap();
    let plan = Plan::halo(&square, true).unwrap();
    assert_eq!(plan.moves().len(), 80_000);
    plan.check_exactly_once(&square, &halo_needs(&square, true)).unwrap();
    let slabs = Distribution::default_partition(10_000, &[400, 400]).unwrap();
    assert_eq!(elements(&Plan::redistribute(&square, &slabs).unwrap()), 160_000);
    let all = Plan::gather(&square, &square.global()).unwrap();
    all.check_exactly_once(&square, &[vec![square.global()]]).unwrap();
    assert_eq!(all.moves().len(), 10_000);
}

fn line_of(map: DimMap) -> Distribution {
    Distribution::builder(&[map.size()]).grid(&[map.parts() as i64]).map(0, map).build().unwrap()
}

#[test]
fn redistribution_between_all_map_kinds_moves_every_cell_once() {
    let mut pairs = 0;
    for (size, parts) in [(0, 2), (1, 3), (4, 5), (5, 5), (6, 5), (17, 4), (40, 3), (41, 7)] {
        for from in kinds(size, parts) {
            for (to, others) in
                [parts, 1, 4].iter().flat_map(|&n| kinds(size, n).into_iter().map(move |k| (k, n)))
            {
                let (from, to) = (line_of(from.clone()), line_of(to));
                let plan = Plan::redistribute(&from, &to).unwrap();
                let what = format!("{} over {parts} to {} over {others}", from.map(0), to.map(0));
                plan.check_redistribution(&from, &to).unwrap_or_else(|error| panic!("{what}: {error}"));
                // Nobody is sent what it holds.
                let held = |m: &Move| m.from_part != m.to_part && parts == others && from == to;
                assert!(!plan.moves().iter().any(held), "{what}");
                pairs += 1;
            }
        }
    }
    println!("ran: plan-pairs {pairs}");
}

#[test]
fn the_adjoint_of_a_redistribution_is_the_reverse_redistribution() {
    for from in kinds(41, 3).into_iter().filter(|map| !map.has_copies()) {
        for to in kinds(41, 4).into_iter().filter(|map| !map.has_copies()) {
            let (from, to) = (line_of(from.clone()), line_of(to));
            let plan = Plan::redistribute(&from, &to).unwrap();
            let copies =
                plan.adjoint().moves().iter().map(|m| Move { op: MoveOp::Copy, ..m.clone() }).collect();
            let back = Plan::new(to.parts(), from.parts(), copies).unwrap();
            back.check_redistribution(&to, &from).unwrap();
            let packed = |dist: &Distribution| owned(&dist.packed());
            check_adjoint(&plan, packed(&from), packed(&to), 5).unwrap();
        }
    }
}

#[test]
fn dimensions_of_different_kinds_cross() {
    let mut seen = 0;
    for a in kinds(7, 2) {
        for b in kinds(11, 3) {
            for (c, d) in [(0, 4), (4, 0), (5, 7), (7, 8), (3, 6)] {
                let (c, d) = (kinds(7, 3).swap_remove(c), kinds(11, 2).swap_remove(d));
                let built = |a: &DimMap, b: &DimMap| {
                    let grid = [a.parts() as i64, b.parts() as i64];
                    let builder = Distribution::builder(&[7, 11]).grid(&grid);
                    builder.map(0, a.clone()).map(1, b.clone()).build().unwrap()
                };
                let (from, to) = (built(&a, &b), built(&c, &d));
                let plan = Plan::redistribute(&from, &to).unwrap();
                plan.check_redistribution(&from, &to).unwrap();
                let back = Plan::redistribute(&to, &from).unwrap();
                back.check_redistribution(&to, &from).unwrap();
                seen += plan.moves().iter().filter(|m| m.subsets.is_some()).count();
            }
        }
    }
    assert!(seen > 0);
}

/// A copy that the receiving part has itself is not sent, whoever owns it.
#[test]
fn copies_at_hand_are_not_sent() {
    let from = line_of(DimMap::replicated(12, 4).unwrap());
    let to = line_of(DimMap::even(12, 4).unwrap());
    assert_eq!(Plan::redistribute(&from, &to).unwrap().messages(), 0);
    assert_eq!(Plan::between(&from, &to, |_| None).unwrap().messages(), 3);
    // Along the other dimension the neighbour's copy is as good, and not everybody asks part 0.
    let table = |rows: DimMap, columns: DimMap| {
        let builder = Distribution::builder(&[6, 8]).grid(&[rows.parts() as i64, columns.parts() as i64]);
        builder.map(0, rows).map(1, columns).build().unwrap()
    };
    let from = table(DimMap::replicated(6, 2).unwrap(), DimMap::even(8, 2).unwrap());
    let to = table(DimMap::even(6, 4).unwrap(), DimMap::even(8, 1).unwrap());
    let plan = Plan::redistribute(&from, &to).unwrap();
    plan.check_redistribution(&from, &to).unwrap();
    assert_eq!(plan.messages(), 4);
    assert!(plan.moves().iter().all(|m| m.from_part / 2 == m.to_part / 2), "{plan}");
}

#[test]
fn what_repeats_is_said_once() {
    let subsets = |from: DimMap, to: DimMap| {
        let plan = Plan::redistribute(&line_of(from), &line_of(to)).unwrap();
        (
            plan.moves().len(),
            plan.moves()
                .iter()
                .filter(|m| matches!(m.subsets.as_deref(), Some([AxisSubset::List(_)])))
                .count(),
        )
    };
    let n = 1_000_000;
    let even = |parts| DimMap::even(n, parts).unwrap();
    let cyclic = |parts, block| DimMap::cyclic(n, parts, block).unwrap();
    assert_eq!(subsets(even(4), cyclic(4, 1)), (16, 0));
    // One for each of the 12 places in the common period, which no two of them share parts at.
    assert_eq!(subsets(cyclic(4, 1), cyclic(4, 3)), (12, 0));
    let (moves, lists) = subsets(even(4), cyclic(4, 1000));
    assert!(moves <= 48 && lists == 0, "{moves} moves, {lists} lists");
    let pairs = Pairs { from: vec![0, 5], to: vec![3, 0] };
    assert_eq!(AxisSubset::List(std::sync::Arc::new(pairs)).extents(), (6, 4));
}

#[test]
fn the_cell_by_cell_check_finds_faults() {
    let from = line_of(DimMap::cyclic(12, 3, 1).unwrap());
    let to = line_of(DimMap::even(12, 3).unwrap());
    let plan = Plan::redistribute(&from, &to).unwrap();
    for victim in 0..plan.moves().len() {
        let m = plan.moves()[victim].clone();
        let shift = |region: &Region| region.shift(&[1]).unwrap();
        let faults = [
            vec![],
            vec![m.clone(), m.clone()],
            vec![Move { to: shift(&m.to), ..m.clone() }],
            vec![Move { from: shift(&m.from), ..m.clone() }],
            vec![Move { op: MoveOp::Add, ..m.clone() }],
            vec![Move { from_part: (m.from_part + 1) % 3, ..m.clone() }],
        ];
        for fault in faults {
            let mut moves = plan.moves().to_vec();
            moves.splice(victim..victim + 1, fault);
            let wrong = Plan::new(3, 3, moves).unwrap();
            let error = wrong.check_redistribution(&from, &to).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Plan);
        }
    }
    let subsets = vec![AxisSubset::whole(3)].into();
    let m = Move { subsets: Some(subsets), ..plan.moves()[0].clone() };
    assert_eq!(Plan::new(3, 3, vec![m]).unwrap_err().kind, ErrorKind::Plan);
}

/// Ten thousand parts with few neighbours each, of several kinds.
#[test]
fn many_parts_of_any_kind_do_not_take_quadratic_time() {
    let parts = 10_000;
    let n = 40 * parts as i64;
    let even = line_of(DimMap::even(n, parts).unwrap());
    let fewer = line_of(DimMap::even(n, parts - 1).unwrap());
    let blocks = line_of(DimMap::cyclic(n, parts, 20).unwrap());
    let start = std::time::Instant::now();
    let plans = [
        Plan::redistribute(&even, &fewer).unwrap(),
        Plan::redistribute(&even, &blocks).unwrap(),
        Plan::redistribute(&blocks, &fewer).unwrap(),
    ];
    let seconds = start.elapsed().as_secs_f64();
    for plan in plans {
        assert!(plan.moves().len() < 5 * parts, "{} moves", plan.moves().len());
        assert_eq!(elements(&plan), n);
    }
    assert!(seconds < 10.0, "{seconds} s");
}
