//! The rules of MLIR's Dist dialect on arrays: sections of parts, and the targets, cores and bounding boxes
//! of slices as the planner chooses them (`Array::explain`), against the published numbers and a model.

#![allow(clippy::unwrap_used)]

mod dialect;
mod exactly_once;
mod found;
mod wires;

use dialect::{Rules, View, case, decided, planned};
use exactly_once::CheckedPlan;
use found::{cell, devices, ran};
use partita::array::{PartBoxes, Requested};
use partita::index::{Distribution, Index, Region, SectionSide, sections};
use partita::plan::Plan;
use partita::prelude::*;

fn line(start: i64, size: i64) -> Region {
    Region::new(&[start], &[start + size]).unwrap()
}

fn place(region: &Region) -> (i64, i64) {
    (region.start()[0], region.extent(0))
}

fn team(parts: usize) -> Team {
    Team::on(&[Device::host()], parts).unwrap()
}

/// An array whose parts end at these places.
fn cut(team: &Team, bounds: &[i64]) -> Array {
    let dist = Distribution::builder(&[bounds[bounds.len() - 1]]).bounds(0, bounds).build().unwrap();
    Array::from_fn(team, &dist, cell).unwrap()
}

fn of_part(array: &Array, part: usize) -> Option<PartBoxes> {
    decided(&planned(array)).into_iter().find(|boxes| boxes.part == part)
}

// The parts of arrays: what a member holds, and where it begins.

fn requested(array: &Array, boxes: &[Region]) -> Vec<(Option<Index>, Vec<Region>)> {
    let sections = |got: &Requested| got.sections().map(|section| section.region).collect::<Vec<Region>>();
    array.request(boxes).unwrap().iter().map(|got| (got.offset(), sections(got))).collect()
}

fn owned(array: &Array) -> Vec<Region> {
    let dist = array.distribution().unwrap();
    (0..dist.parts()).map(|part| dist.owned(part)).collect()
}

fn stored(array: &Array) -> Vec<Region> {
    let dist = array.distribution().unwrap();
    (0..dist.parts()).map(|part| dist.stored(part)).collect()
}

fn on(dist: &Distribution) -> Array {
    Array::from_fn(&team(dist.parts()), dist, cell).unwrap()
}

#[test]
fn members_hold_a_left_halo_their_own_cells_and_a_right_halo() {
    // The third of four members: offset 22, parts 0, 11 and 0.
    let u = on(&Distribution::default_partition(4, &[44]).unwrap());
    let (offset, parts) = &requested(&u, &owned(&u))[2];
    assert_eq!(offset.unwrap()[..], [22]);
    assert_eq!(parts.iter().map(|part| part.extent(0)).collect::<Vec<_>>(), [0, 11, 0]);
    // Of two members, as the dialect's example means it: offsets 0 and 22.
    let pair = on(&Distribution::default_partition(2, &[44]).unwrap());
    let offsets: Vec<i64> =
        requested(&pair, &owned(&pair)).iter().map(|(offset, _)| offset.unwrap()[0]).collect();
    assert_eq!(offsets, [0, 22]);
    // In two dimensions: offset (22, 0), and nothing but 11 x 55 own cells.
    let plane = on(&Distribution::default_partition(4, &[44, 55]).unwrap());
    let (offset, parts) = &requested(&plane, &owned(&plane))[2];
    assert_eq!((&offset.unwrap()[..], parts.len()), (&[22, 0][..], 9));
    let filled: Vec<Index> = parts.iter().filter(|part| !part.is_empty()).map(Region::extents).collect();
    assert_eq!(filled, [Index::new(&[11, 55]).unwrap()]);
}

#[test]
fn parts_are_contiguous_and_so_is_their_concatenation() {
    let u = on(&Distribution::builder(&[23]).parts(5).halo(&[2], &[3]).build().unwrap());
    for ((_, parts), stored) in requested(&u, &stored(&u)).iter().zip(stored(&u)) {
        assert!(parts.len() == 3 && parts.windows(2).all(|pair| pair[0].stop() == pair[1].start()));
        assert_eq!(parts.iter().fold(parts[1], |hull, part| hull.hull(part)), stored);
    }
}

#[test]
fn every_part_may_be_empty_even_the_owned_one() {
    let u = on(&Distribution::default_partition(4, &[44]).unwrap());
    // A view that misses what member 3 owns.
    let view = View::line(0, 20, 1).of(&u) + 1.0;
    assert_eq!(of_part(&view, 3), None);
    let (offset, parts) = &requested(&u, &[line(0, 0), line(0, 0), line(0, 0), line(2, 3)])[3];
    assert_eq!((offset.unwrap()[0], parts[1].is_empty()), (2, true));
    assert_eq!(requested(&u, &[line(0, 0); 4])[3].0, None);
    let edge = on(&Distribution::builder(&[12]).parts(3).halo(&[1], &[1]).build().unwrap());
    let (_, parts) = &requested(&edge, &stored(&edge))[0];
    assert_eq!(parts.iter().map(|part| part.extent(0)).collect::<Vec<_>>(), [0, 4, 1]);
}

#[test]
fn halo_cells_are_copies_of_cells_owned_by_other_parts() {
    let dist = Distribution::builder(&[9, 4]).parts(3).halo(&[1, 0], &[2, 0]).build().unwrap();
    let plan = Plan::halo(&dist, true).unwrap();
    let u = on(&dist);
    for (part, got) in u.request(&stored(&u)).unwrap().iter().enumerate() {
        let halo = got.sections().enumerate().filter(|(_, section)| section.outside() > 0);
        let mut cells = 0;
        for (k, section) in halo {
            let expected: Vec<f32> = section.region.points().map(|at| cell(&at)).collect();
            assert_eq!(got.to_vec::<f32>(k).unwrap(), expected, "{part}: {section}");
            assert!(section.region.points().all(|at| dist.owner(&at).unwrap() != part));
            cells += expected.len() as u64;
        }
        assert_eq!(cells, plan.moves_to(part).iter().map(|m| m.elements()).sum::<u64>());
        assert!(plan.moves_to(part).iter().all(|m| m.from_part != part));
    }
}

#[test]
fn the_offset_belongs_to_the_first_part() {
    let u = on(&Distribution::builder(&[44]).parts(4).halo(&[3], &[0]).build().unwrap());
    let got = requested(&u, &stored(&u));
    assert_eq!((got[2].0.unwrap()[0], got[2].1[1].start()[0]), (19, 22));
    assert_eq!((got[0].0.unwrap()[0], place(&got[2].1[0])), (0, (19, 3)));
}

#[test]
fn arrays_without_dimensions_have_one_part_and_no_offsets() {
    for rank in 0..=4 {
        let dist =
            Distribution::builder(&vec![3; rank]).parts(if rank == 0 { 1 } else { 3 }).build().unwrap();
        let u = on(&dist);
        let got = requested(&u, &owned(&u));
        assert!(got.iter().all(|(offset, _)| offset.unwrap().rank() == rank), "an offset per dimension");
        // One part, else three per dimension.
        assert!(got.iter().all(|(_, parts)| parts.len() == 3usize.pow(rank as u32)));
        assert!(got.iter().flat_map(|(_, parts)| parts).all(|part| part.rank() == rank));
        let whole = u.request(&owned(&u)).unwrap();
        let own = whole[0].sections().position(|section| section.outside() == 0).unwrap();
        assert_eq!(whole[0].to_vec::<f32>(own).unwrap()[0], cell(&vec![0; rank]));
    }
}

#[test]
fn faces_edges_and_corners_have_names_and_an_order() {
    let dist = Distribution::builder(&[9, 9, 9]).grid(&[3, 3, 3]).halo(&[1; 3], &[1; 3]).build().unwrap();
    let u = on(&dist);
    let got = &u.request(&stored(&u)).unwrap()[13];
    let names: Vec<String> = got.sections().map(|section| section.to_string()).collect();
    assert_eq!(names[..4], ["corner 0- 1- 2-", "edge 0- 1-", "corner 0- 1- 2+", "edge 0- 2-"]);
    assert_eq!((&names[4][..], &names[13][..], &names[26][..]), ("face 0-", "owned", "corner 0+ 1+ 2+"));
    let kinds = [1, 6, 12, 8];
    for (outside, count) in kinds.into_iter().enumerate() {
        assert_eq!(got.sections().filter(|section| section.outside() == outside).count(), count);
    }
    let mut cells: Vec<Index> = got.sections().flat_map(|section| section.region.points()).collect();
    cells.sort_unstable();
    assert_eq!(cells, dist.stored(13).points().collect::<Vec<_>>());
    let plane = Distribution::builder(&[4, 4]).grid(&[2, 2]).halo(&[1, 1], &[1, 1]).build().unwrap();
    let corner = sections(&plane.owned(0), &plane.stored(0)).unwrap().pop().unwrap();
    assert_eq!(
        (&corner.sides[..], corner.to_string()),
        (&[SectionSide::Upper; 2][..], "corner 0+ 1+".into())
    );
    assert_eq!(corner.region, Region::new(&[2, 2], &[3, 3]).unwrap());
    let ring = Distribution::builder(&[4]).halo(&[1], &[1]).periodic(&[true]).build().unwrap();
    let names = sections(&ring.owned(0), &ring.stored(0)).unwrap();
    assert_eq!(
        names.iter().map(|section| section.to_string()).collect::<Vec<_>>(),
        ["face 0-", "owned", "face 0+"]
    );
}

#[test]
fn default_partition_in_zero_to_three_dimensions() {
    // What the members compute of an array without a distribution of its own, as offsets and sizes.
    let targets = |n: usize, shape: &[i64]| -> Vec<Option<(Vec<i64>, Vec<i64>)>> {
        let said = planned(&(on(&Distribution::default_partition(n, shape).unwrap()) + 1.0));
        let of = |id: usize| said.boxes.iter().find(|boxes| boxes.part == id).map(|boxes| boxes.target);
        (0..n).map(|id| of(id).map(|at| (at.start().to_vec(), at.extents().to_vec()))).collect()
    };
    let sizes = |n: usize| targets(n, &[8]).into_iter().map(|at| at.unwrap().1[0]).collect::<Vec<i64>>();
    assert_eq!((sizes(3), sizes(4)), (vec![2, 3, 3], vec![2, 2, 2, 2]));
    let of_8 = |size: i64, id: usize| targets(8, &[size])[id].clone().map(|at| (at.0[0], at.1[0])).unwrap();
    assert_eq!([31, 32, 33].map(|size| of_8(size, 7)), [(27, 4), (28, 4), (28, 5)]);
    assert_eq!([2, 1, 0].map(|id| of_8(31, id)), [(7, 4), (3, 4), (0, 3)]);
    assert_eq!(targets(2, &[8, 8])[1], Some((vec![4, 0], vec![4, 8])));
    // One row goes to the last member.
    assert_eq!(targets(2, &[1, 7]), [None, Some((vec![0, 0], vec![1, 7]))]);
    assert_eq!(targets(3, &[8, 2, 5])[0], Some((vec![0, 0, 0], vec![2, 2, 5])));
    // Memory of one cell.
    assert_eq!(targets(1, &[]), [Some((vec![0], vec![1]))]);
}

#[test]
fn requests_may_overlap_be_empty_or_remote_and_move_no_owned_cells() {
    let u = on(&Distribution::default_partition(4, &[16]).unwrap());
    let memory = |u: &Array, part: usize| u.places().unwrap()[part].as_ref().unwrap().allocation.id;
    let (requests, before) = ([line(0, 10), line(2, 0), line(0, 4), line(6, 10)], u.team().messages());
    for (part, got) in u.request(&requests).unwrap().iter().enumerate() {
        let cells = (0..3).flat_map(|k| got.to_vec::<f32>(k).unwrap()).collect::<Vec<f32>>();
        assert_eq!(cells, requests[part].points().map(|at| cell(&at)).collect::<Vec<f32>>());
        let own = got.sections().position(|section| section.outside() == 0 && !section.region.is_empty());
        assert!(own.is_none_or(|k| got.place(k).unwrap().allocation.id == memory(&u, part)));
    }
    // Two to member 0, one to member 2, two to member 3.
    assert_eq!(u.team().messages() - before, 5);
    assert!(u.request(&requests[..3]).is_err());
    assert!(u.request(&[line(0, 17), line(0, 0), line(0, 0), line(0, 0)]).is_err());
}

#[test]
fn redistribution_to_the_default_partition_equals_a_fetch_of_its_parts() {
    let odd = Distribution::builder(&[11]).bounds(0, &[0, 7, 8, 11]).build().unwrap();
    let plain = Distribution::default_partition(3, &[11]).unwrap();
    let needs: Vec<Region> = (0..3).map(|part| plain.owned(part)).collect();
    let plan = Plan::redistribute(&odd, &plain).unwrap();
    assert_eq!(plan, Plan::fetch(&odd, &needs).unwrap());
    plan.check_exactly_once(&odd, &needs.into_iter().map(|need| vec![need]).collect::<Vec<_>>()).unwrap();
}

// Targets, bounding boxes and cores as the planner decides them.

#[test]
fn local_targets_have_offsets_in_the_part_and_in_the_slice() {
    let team = team(3);
    let u = cut(&team, &[0, 8, 16, 24]);
    // Member 1 owns 8..16; the slice takes 3, 6, 9, 12, 15. In the slice its share is 2..5, in the part it
    // begins at 1.
    let local = of_part(&(View::line(3, 5, 3).of(&u) + 1.0), 1).unwrap();
    assert_eq!((place(&local.target), local.reads[0].start()[0] - 8), ((2, 3), 1));
    for (offset, size, stride) in [(0, 4, 2), (16, 4, 1)] {
        assert_eq!(of_part(&(View::line(offset, size, stride).of(&u) + 1.0), 1), None, "before or after");
    }
    let nothing = View::line(9, 0, 1).of(&u) + 1.0;
    assert!(nothing.explain().unwrap().kernels.iter().all(|kernel| kernel.boxes.is_empty()));
    // Between two elements of the slice.
    let v = cut(&team, &[0, 4, 6, 40]);
    assert_eq!(of_part(&(View::line(0, 4, 10).of(&v) + 1.0), 1), None);
}

/// The box that the second of three members reads of slices of `size` elements from these offsets on, if it
/// computes the elements of the result from `target.0` on, `target.1` of them or as many as there are.
fn bounding_box(offsets: &[i64], size: i64, target: (i64, i64)) -> Option<(i64, i64)> {
    let stop = target.0 + target.1;
    let team = team(3);
    let (a, c) = (cut(&team, &[0, 4, 8, 20]), cut(&team, &[0, target.0, stop, stop + size]));
    let sum = offsets.iter().map(|&offset| View::line(offset, size, 1).of(&a)).reduce(|sum, view| sum + view);
    let result = c.updated(&View::line(0, size, 1).spans(), &(sum.unwrap() + 1.0));
    let said = result.explain().unwrap();
    let boxes: Vec<&PartBoxes> = said.kernels.iter().flat_map(|kernel| &kernel.boxes).collect();
    boxes.iter().find(|boxes| boxes.part == 1).map(|boxes| place(&boxes.reads[0]))
}

#[test]
fn bounding_boxes_match_published_values() {
    // View offset and size, target offset and size, and the box; of empty ones the planner says nothing.
    let table = [
        ((0, 8), (4, 4), (4, 4)),
        ((1, 7), (4, 4), (5, 3)),
        ((0, 8), (4, 0), (4, 0)),
        ((1, 7), (0, 0), (1, 0)),
        ((1, 7), (2, 2), (3, 2)),
        ((0, 0), (4, 4), (4, 0)),
        ((1, 3), (0, 4), (1, 3)),
    ];
    for (of, target, expected) in table {
        let expected = Some(expected).filter(|expected| expected.1 > 0);
        assert_eq!(bounding_box(&[of.0], of.1, target), expected, "{of:?} | {target:?}");
    }
}

#[test]
fn bounding_boxes_of_several_views_match_published_values() {
    // Offsets of the views that make the earlier box, that box, the view that extends it, and the hull.
    let table = [
        (&[0, 1][..], (4, 4), (1, 7), (4, 4), (4, 4)),
        (&[0, 2], (0, 5), (1, 3), (0, 4), (0, 5)),
        (&[3, 4], (3, 2), (0, 1), (0, 1), (0, 5)),
        (&[0, 4], (0, 5), (7, 8), (0, 1), (0, 8)),
    ];
    for (before, earlier, of, target, hull) in table {
        assert_eq!(bounding_box(before, of.1, target), Some(earlier), "{before:?}");
        let all = [before, &[of.0]].concat();
        assert_eq!(bounding_box(&all, of.1, target), Some(hull), "{all:?}");
    }
    // An empty earlier box does not count, and neither does an empty share of a view.
    assert_eq!(bounding_box(&[1], 7, (2, 2)), Some((3, 2)));
    assert_eq!(bounding_box(&[0, 1], 7, (4, 0)), None);
}

/// What the core of the second of three members reads, which computes elements 2 and 3 of the slice `a[1..8]`
/// and owns `a[own.0..own.1]`.
fn inner(own: (i64, i64)) -> (i64, i64) {
    let team = team(3);
    let (a, c) = (cut(&team, &[0, own.0, own.1, 12]), cut(&team, &[0, 2, 4, 12]));
    let result = c.updated(&View::line(0, 7, 1).spans(), &(View::line(1, 7, 1).of(&a) + 1.0));
    let core = of_part(&result, 1).unwrap().core;
    (core.start()[0] + 1, core.extent(0))
}

#[test]
fn cores_are_what_is_owned_of_the_bounding_box() {
    // The box is 3..5: its intersection with 2..4, with 6..8, and all of it.
    assert_eq!(inner((2, 4)), (3, 1));
    assert_eq!(inner((6, 8)).1, 0);
    assert_eq!(inner((3, 5)), (3, 2));
}

#[test]
fn a_core_only_shrinks_with_every_operand() {
    let team = team(3);
    let (u, v) = (cut(&team, &[0, 5, 11, 16]), cut(&team, &[0, 4, 10, 18]));
    let views = [(&u, View::line(1, 14, 1)), (&u, View::line(0, 14, 1)), (&v, View::line(2, 14, 1))];
    let core = |upto: usize| -> Vec<Region> {
        let sum = views[..upto].iter().map(|(of, view)| view.of(of)).reduce(|sum, view| sum + view).unwrap();
        decided(&planned(&(sum + 1.0))).iter().map(|boxes| boxes.core).collect()
    };
    let (one, two, three) = (core(1), core(2), core(3));
    let targets: Vec<Region> = [(0, 4), (4, 6), (10, 4)].map(|(start, size)| line(start, size)).to_vec();
    // One after another in view coordinates: all of the target; where its left neighbour is owned; and where
    // the member owns the cell of the other array, too.
    assert_eq!(one, targets);
    assert_eq!(two.iter().map(place).collect::<Vec<_>>(), [(0, 4), (5, 5), (11, 3)]);
    assert_eq!(three.iter().map(place).collect::<Vec<_>>(), [(0, 2), (5, 3), (11, 3)]);
}

/// `u[1:-1] + u[:-2] + u[2:]` of 16 elements.
fn three_shifted_views(u: &Array) -> Array {
    [1, 0, 2]
        .map(|offset| View::line(offset, 14, 1).of(u))
        .into_iter()
        .reduce(|sum, view| sum + view)
        .unwrap()
}

#[test]
fn shifted_views_share_a_target_and_a_core_and_take_one_repartition() {
    let views = [1, 0, 2].map(|offset| View::line(offset, 14, 1));
    for device in devices() {
        for parts in 1..=16 {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let dist = Distribution::default_partition(parts, &[16]).unwrap();
            let u = Array::from_fn(&team, &dist, |at| (at[0] * at[0] * at[0]) as f32).unwrap();
            // A chain of operations is one kernel with one target.
            let result = (three_shifted_views(&u) * 2.0 - 1.0).abs();
            let kernel = planned(&result);
            assert!(kernel.exchanges.len() <= 1, "one repartition");
            let mut covered = [0; 14];
            for boxes in decided(&kernel) {
                let owned = dist.owned(boxes.part);
                let rules = Rules::new((&owned, &views[0]), &[(owned, views.iter().collect())]);
                assert_eq!(Some(boxes.clone()), rules.boxes(boxes.part, false), "{parts} parts");
                boxes.target.points().for_each(|at| covered[at[0] as usize] += 1);
                // Equal bounds of all views lie inside what the member owns.
                let shifts = |at: Index| views.clone().map(|view| view.cell(&at));
                assert!(boxes.core.points().flat_map(shifts).all(|at| owned.contains(&at)));
            }
            assert_eq!(covered, [1; 14]);
            let before = team.messages();
            result.eval().unwrap();
            // Two neighbours at most have what a member needs.
            assert!(team.messages() - before <= 2 * (parts as u64 - 1));
            let cube = |i: i32| (i * i * i) as f32;
            let serial = |i: i32| (cube(i) + cube(i - 1) + cube(i + 1)) * 2.0 - 1.0;
            let serial: Vec<f32> = (1..15).map(serial).map(f32::abs).collect();
            assert_eq!(result.to_vec::<f32>().unwrap(), serial, "{parts} parts on {device:?}");
        }
    }
}

/// A halo is kept with its array: who reads it again, or less of it, sends nothing.
fn halo_reads(team: &Team) -> Result<Vec<u64>> {
    let dist = Distribution::default_partition(team.size(), &[24, 3])?;
    let mut u = Array::from_fn(team, &dist, cell)?;
    let mut sent = Vec::new();
    let mut count = |read: &mut dyn FnMut() -> Result<()>| {
        let before = team.messages();
        read()?;
        sent.push(team.messages() - before);
        Ok::<(), Error>(())
    };
    let near = |u: &Array| u.slice(&s![1..-1]) - u.slice(&s![..-2]) - u.slice(&s![2..]);
    count(&mut || near(&u).eval())?;
    count(&mut || near(&u).eval())?;
    count(&mut || (u.slice(&s![1..]) * u.slice(&s![..-1])).eval())?;
    count(&mut || (u.slice(&s![2..-2]) - u.slice(&s![..-4]) + u.slice(&s![4..])).eval())?;
    count(&mut || near(&u).eval())?;
    u.assign(
        &s![3, ..],
        &Array::zeros(team, &Distribution::default_partition(team.size(), &[3])?, DType::F32)?,
    )?;
    count(&mut || near(&u).eval())?;
    Ok(sent)
}

#[test]
fn halos_are_kept_with_the_array() {
    // Two inner edges, both ways: the first time, for a wider halo, and after an assignment.
    let expected = [4, 0, 0, 4, 0, 4];
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        assert_eq!(halo_reads(&team).unwrap(), expected, "{device:?}");
    }
    let (sent, _) = wires::counted(3, |ranks| halo_reads(&Team::over(ranks, &[Device::host()], 1)?));
    for sent in sent {
        assert_eq!(sent.unwrap(), expected);
    }
}

/// Every eighth case is computed, too, on every device.
#[test]
fn random_slices_have_the_targets_boxes_and_cores_of_the_rules() {
    let cases = std::env::var("PARTITA_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let (devices, mut local, mut halos, mut fetched) = (devices(), 0, 0, 0);
    for seed in 0..cases {
        let case = case(seed);
        let what = format!("seed {seed}: {:?} of {:?}", case.result, case.arrays);
        let kernel = planned(&case.recorded(&case.arrays(&Device::host())));
        case.check(&kernel, &what);
        match &kernel.exchanges[..] {
            [] => local += 1,
            all if all.iter().all(|exchange| exchange.what == "halo") => halos += 1,
            _ => fetched += 1,
        }
        for device in devices.iter().filter(|_| seed % 8 == 0) {
            let arrays = case.arrays(device);
            let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
            let values = case.recorded(&arrays).to_vec().unwrap();
            assert_eq!(bits(values), bits(case.serial()), "{device:?}, {what}");
        }
    }
    println!("of {cases} cases {local} are local, {halos} read halos and {fetched} fetch boxes");
    assert!(halos > cases / 5 && fetched > cases / 20 && local > cases / 20);
    ran("dist-slices", &Device::host(), cases as usize);
    devices.iter().for_each(|device| ran("computed-dist-slices", device, cases.div_ceil(8) as usize));
}
