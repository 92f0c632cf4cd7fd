//! Partition arithmetic in the words of the Dist dialect, with its published numbers, and against models that
//! look at every element.

#![allow(clippy::unwrap_used)]

mod exactly_once;

use exactly_once::CheckedPlan;
use partita::index::{
    Bounding, Distribution, Domain, Environment, ErrorKind, Index, IndexRange, Region, SectionSide,
    core_view, local_bounding_box, local_core, local_target_of_slice, required,
};
use partita::plan::Plan;
use proptest::prelude::*;

fn line(start: i64, size: i64) -> Region {
    Region::new(&[start], &[start + size]).unwrap()
}

fn view(offset: i64, size: i64, stride: i64) -> Domain {
    Domain::new(&[IndexRange::new(offset, offset + size * stride, stride).unwrap()]).unwrap()
}

fn place(region: &Region) -> (i64, i64) {
    (region.start()[0], region.extent(0))
}

/// Offset, size and stride per dimension.
fn slices(rank: usize) -> impl Strategy<Value = Domain> {
    prop::collection::vec((0..8i64, 0..7i64, 1..4i64), rank).prop_map(|dims| {
        let range = |(offset, size, stride): (i64, i64, i64)| {
            IndexRange::new(offset, offset + size * stride, stride).unwrap()
        };
        Domain::new(&dims.into_iter().map(range).collect::<Vec<_>>()).unwrap()
    })
}

fn boxes(rank: usize) -> impl Strategy<Value = Region> {
    prop::collection::vec((0..9i64, 0..7i64), rank).prop_map(|ends| {
        let start: Vec<i64> = ends.iter().map(|(start, _)| *start).collect();
        let stop: Vec<i64> = ends.iter().map(|(start, extent)| start + extent).collect();
        Region::new(&start, &stop).unwrap()
    })
}

fn cases() -> impl Strategy<Value = (Region, Domain, Region, Region)> {
    (1..=4usize).prop_flat_map(|rank| (boxes(rank), slices(rank), boxes(rank), boxes(rank)))
}

/// The view's elements that lie in the target, as global points.
fn wanted(view: &Domain, target: &Region) -> Vec<Index> {
    let inside = |point: &Index| {
        let order = |d: usize| view.dim(d).order(point[d]).unwrap();
        target.contains(&Index::from_fn(view.rank(), order))
    };
    view.iter().filter(inside).collect()
}

proptest! {
    #[test]
    fn targets_of_slices_agree_with_a_search_over_every_element((part, slice, _, _) in cases()) {
        let local = local_target_of_slice(&part, &slice).unwrap();
        let inside: Vec<Index> = slice.iter().filter(|point| part.contains(point)).collect();
        prop_assert_eq!(local.sizes.iter().product::<i64>(), inside.len() as i64);
        if let Some(first) = inside.first() {
            let in_slice = Index::from_fn(slice.rank(), |d| slice.dim(d).order(first[d]).unwrap());
            prop_assert_eq!(local.offsets_in_slice, in_slice);
            let in_part = Index::from_fn(slice.rank(), |d| first[d] - part.start()[d]);
            prop_assert_eq!(local.offsets_in_part, in_part);
            prop_assert_eq!(wanted(&slice, &local.target().unwrap()), inside);
        }
    }

    #[test]
    fn the_bounding_box_is_the_smallest_around_the_requested_cells((_, view, target, earlier) in cases()) {
        let bounding = local_bounding_box(&view, &target, None).unwrap();
        let points = wanted(&view, &target);
        prop_assert_eq!(bounding.is_empty(), points.is_empty());
        let around = |points: &[Index]| {
            let least = |d: usize| points.iter().map(|p| p[d]).min().unwrap();
            let most = |d: usize| points.iter().map(|p| p[d]).max().unwrap() + 1;
            let rank = view.rank();
            Region::new(&Index::from_fn(rank, least), &Index::from_fn(rank, most)).unwrap()
        };
        if !points.is_empty() {
            prop_assert_eq!(bounding, around(&points));
        }
        let hull = local_bounding_box(&view, &target, Some((&earlier, Bounding::Hull))).unwrap();
        let both: Vec<Index> = points.iter().copied().chain(earlier.points()).collect();
        prop_assert_eq!(hull.is_empty(), both.is_empty());
        prop_assert!(both.is_empty() || hull == around(&both));
        let inner = local_bounding_box(&view, &target, Some((&earlier, Bounding::Inner))).unwrap();
        let common: Vec<Index> = bounding.points().filter(|p| earlier.contains(p)).collect();
        prop_assert_eq!(inner.points().collect::<Vec<_>>(), common);
    }

    #[test]
    fn the_core_is_owned_and_never_grows((owned, view, target, earlier) in cases()) {
        let core = local_core(&owned, &view, &target, None).unwrap();
        let need = required(&view, &target).unwrap();
        prop_assert_eq!(core, owned.intersect(&need));
        let again = local_core(&owned, &view, &target, Some(&earlier)).unwrap();
        prop_assert!(earlier.contains_region(&again) && core.contains_region(&again));
        prop_assert_eq!(again.points().count(), core.points().filter(|p| earlier.contains(p)).count());
        prop_assert_eq!(local_core(&owned, &view, &target, Some(&core)).unwrap().points().count(),
            core.points().count());
    }
}

#[test]
fn an_environment_prints_team_offset_and_three_parts() {
    let dist = Distribution::builder(&[12, 5]).parts(3).halo(&[2, 0], &[1, 0]).build().unwrap();
    let parts = dist.parts_of(1).unwrap();
    assert_eq!(parts.len(), 3);
    assert!(parts.iter().all(|part| part.rank() == dist.rank()));
    let text: Vec<String> = parts.iter().map(|part| part.to_string()).collect();
    assert_eq!(text, ["[2:4, 0:5]", "[4:8, 0:5]", "[8:9, 0:5]"]);
    let env = Environment::of(&dist, 1, 7).unwrap();
    assert_eq!(env.to_string(), "#dist.dist_env<team = 7 loffs = 2,0 lparts = 2x5,4x5,1x5>");
}

#[test]
fn environment_of_the_third_of_4_members_over_44_elements() {
    let dist = Distribution::default_partition(4, &[44]).unwrap();
    let env = Environment::of(&dist, 2, 37416).unwrap();
    assert_eq!(env.to_string(), "#dist.dist_env<team = 37416 loffs = 22 lparts = 0,11,0>");
}

#[test]
fn parts_are_contiguous_and_so_is_their_concatenation() {
    let dist = Distribution::builder(&[23]).parts(5).halo(&[2], &[3]).build().unwrap();
    for part in 0..5 {
        let parts = dist.parts_of(part).unwrap();
        assert!(parts.windows(2).all(|pair| pair[0].stop() == pair[1].start()));
        let hull = parts.iter().fold(parts[1], |hull, part| hull.hull(part));
        assert_eq!(hull, dist.stored(part));
    }
}

#[test]
fn every_part_may_be_empty_even_the_owned_one() {
    let dist = Distribution::default_partition(4, &[44]).unwrap();
    // A view that misses what member 3 owns.
    let view = dist.restricted(&line(0, 20)).unwrap();
    let parts = view.parts_of(3).unwrap();
    assert!(parts.len() == 3 && parts.iter().all(Region::is_empty));
    let edge = Distribution::builder(&[8]).parts(2).halo(&[1], &[1]).build().unwrap();
    let sizes: Vec<i64> = edge.parts_of(0).unwrap().iter().map(|part| part.extent(0)).collect();
    assert_eq!(sizes, [0, 4, 1]);
}

#[test]
fn halo_cells_are_copies_of_cells_owned_by_other_parts() {
    let dist = Distribution::builder(&[9, 4]).parts(3).halo(&[1, 0], &[2, 0]).build().unwrap();
    let plan = Plan::halo(&dist, true).unwrap();
    for part in 0..3 {
        let sections = dist.sections(part).unwrap();
        let halo: i64 = sections.iter().filter(|s| s.outside() > 0).map(|s| s.region.volume().unwrap()).sum();
        let copied: u64 = plan.moves_to(part).iter().map(|m| m.elements()).sum();
        assert_eq!(halo, copied as i64);
        assert!(plan.moves_to(part).iter().all(|m| m.from_part != part));
    }
}

#[test]
fn the_offset_belongs_to_the_first_part() {
    let dist = Distribution::builder(&[44]).parts(4).halo(&[3], &[0]).build().unwrap();
    assert_eq!(dist.local_offsets(2).unwrap()[..], [19]);
    assert_eq!(dist.owned(2).start()[..], [22]);
    assert_eq!(dist.local_offsets(0).unwrap()[..], [0]);
}

#[test]
fn a_zero_dimensional_environment_has_no_parts_and_no_offsets() {
    let dist = Distribution::builder(&[]).build().unwrap();
    let env = Environment::of(&dist, 0, 1).unwrap();
    assert_eq!(env.to_string(), "#dist.dist_env<team = 1>");
}

#[test]
fn environment_in_two_dimensions() {
    let dist = Distribution::default_partition(4, &[44, 55]).unwrap();
    let env = Environment::of(&dist, 2, 1).unwrap();
    assert_eq!(env.to_string(), "#dist.dist_env<team = 1 loffs = 22,0 lparts = 0x0,11x55,0x0>");
}

#[test]
fn sizes_of_an_environment_may_be_unknown_but_not_its_team() {
    let known = Environment::of(&Distribution::default_partition(4, &[44]).unwrap(), 2, 37416).unwrap();
    let open = known.dynamic();
    assert_eq!(open.to_string(), "#dist.dist_env<team = 37416 loffs = ? lparts = ?,?,?>");
    let mut mixed = known.clone();
    mixed.local_parts[1][0] = None;
    assert_eq!(mixed.to_string(), "#dist.dist_env<team = 37416 loffs = 22 lparts = 0,?,0>");
    assert!(known.fits(&open) && open.fits(&mixed) && mixed.fits(&known));
    let mut other = mixed.clone();
    other.local_offsets[0] = Some(11);
    assert!(!other.fits(&known) && other.fits(&open));
    assert!(!Environment { team: 1, ..open.clone() }.fits(&open));
}

#[test]
fn faces_edges_and_corners_have_names_and_an_order() {
    let dist = Distribution::builder(&[9, 9, 9]).grid(&[3, 3, 3]).halo(&[1; 3], &[1; 3]).build().unwrap();
    let sections = dist.sections(13).unwrap();
    assert_eq!(sections.len(), 27);
    let names: Vec<String> = sections.iter().map(|section| section.to_string()).collect();
    assert_eq!(names[..4], ["corner 0- 1- 2-", "edge 0- 1-", "corner 0- 1- 2+", "edge 0- 2-"]);
    assert_eq!((&names[4][..], &names[13][..], &names[26][..]), ("face 0-", "owned", "corner 0+ 1+ 2+"));
    let kinds = [1, 6, 12, 8];
    for (outside, count) in kinds.into_iter().enumerate() {
        assert_eq!(sections.iter().filter(|section| section.outside() == outside).count(), count);
    }
    let mut cells: Vec<Index> = sections.iter().flat_map(|section| section.region.points()).collect();
    cells.sort_unstable();
    assert_eq!(cells, dist.stored(13).points().collect::<Vec<_>>());
    let plane = Distribution::builder(&[4, 4]).grid(&[2, 2]).halo(&[1, 1], &[1, 1]).build().unwrap();
    let corner = plane.sections(0).unwrap().pop().unwrap();
    assert_eq!(
        (corner.sides.clone(), corner.to_string()),
        (vec![SectionSide::Upper; 2], "corner 0+ 1+".into())
    );
    assert_eq!(corner.region, Region::new(&[2, 2], &[3, 3]).unwrap());
    let line = Distribution::builder(&[4]).halo(&[1], &[1]).periodic(&[true]).build().unwrap();
    let names: Vec<String> = line.sections(0).unwrap().iter().map(|section| section.to_string()).collect();
    assert_eq!(names, ["face 0-", "owned", "face 0+"]);
    assert_eq!(dist.parts_of(13).unwrap_err().kind, ErrorKind::Halo);
}

#[test]
fn environments_of_two_devices_name_their_device() {
    let dist = Distribution::default_partition(2, &[44]).unwrap();
    let text: Vec<String> = (0..2)
        .map(|member| {
            let env = Environment::of(&dist, member, 1).unwrap();
            Environment { device: Some(format!("sycl:gpu:{member}")), ..env }.to_string()
        })
        .collect();
    // The published example gives offset 22 and global size 22 to both; these are the numbers it means.
    assert_eq!(
        text,
        [
            "#dist.dist_env<team = 1 loffs = 0 lparts = 0,22,0>, #region.gpu_env<device = \"sycl:gpu:0\">",
            "#dist.dist_env<team = 1 loffs = 22 lparts = 0,22,0>, #region.gpu_env<device = \"sycl:gpu:1\">",
        ]
    );
}

#[test]
fn an_array_is_described_by_its_offset_and_parts() {
    let parts = [line(19, 3), line(22, 11), line(33, 0)];
    let env = Environment::new(1, &[19], &parts).unwrap();
    assert_eq!(env.to_string(), "#dist.dist_env<team = 1 loffs = 19 lparts = 3,11,0>");
    for (offset, parts) in [
        (22, parts),
        (19, [line(19, 3), line(23, 10), line(33, 0)]),
        (19, [line(19, 4), line(22, 11), line(33, 0)]),
    ] {
        assert_eq!(Environment::new(1, &[offset], &parts).unwrap_err().kind, ErrorKind::Bounds);
    }
    assert!(Environment::new(1, &[19], &parts[..2]).is_err());
}

#[test]
fn there_is_one_local_offset_per_dimension() {
    for rank in 0..=4 {
        let dist = Distribution::default_partition(1, &vec![3; rank]).unwrap();
        assert_eq!(dist.local_offsets(0).unwrap().len(), rank);
    }
    assert!(Distribution::default_partition(2, &[3]).unwrap().local_offsets(2).is_err());
}

#[test]
fn a_zero_dimensional_array_has_one_part_and_others_three() {
    let count = |shape: &[i64]| Distribution::default_partition(1, shape).unwrap().parts_of(0).unwrap().len();
    assert_eq!((count(&[]), count(&[5]), count(&[0]), count(&[2, 2, 2])), (1, 3, 3, 3));
}

#[test]
fn default_partition_in_zero_to_three_dimensions() {
    let owned = |n: usize, id: usize, shape: &[i64]| {
        let owned = Distribution::default_partition(n, shape).unwrap().owned(id);
        (owned.start().to_vec(), owned.extents().to_vec())
    };
    assert_eq!((0..3).map(|id| owned(3, id, &[8]).1[0]).collect::<Vec<_>>(), [2, 3, 3]);
    assert_eq!((0..4).map(|id| owned(4, id, &[8]).1[0]).collect::<Vec<_>>(), [2, 2, 2, 2]);
    assert_eq!(owned(8, 7, &[33]), (vec![28], vec![5]));
    assert_eq!(owned(2, 1, &[8, 8]), (vec![4, 0], vec![4, 8]));
    assert_eq!(owned(2, 0, &[1, 7]).1, [0, 7]);
    assert_eq!(owned(3, 0, &[8, 2, 5]), (vec![0, 0, 0], vec![2, 2, 5]));
}

#[test]
fn repartition_requests_may_overlap_be_empty_or_remote() {
    let dist = Distribution::default_partition(4, &[16]).unwrap();
    let requests = [line(0, 10), line(2, 0), line(0, 4), line(6, 10)];
    let plan = Plan::repartition(&dist, &requests).unwrap();
    let others = |part: usize| requests[part].subtract(&dist.owned(part));
    let needs: Vec<Vec<Region>> = (0..4).map(others).collect();
    plan.check_exactly_once(&dist, &needs).unwrap();
    assert!(Plan::repartition(&dist, &requests[..3]).is_err());
    assert!(Plan::repartition(&dist, &[line(0, 17), line(0, 0), line(0, 0), line(0, 0)]).is_err());
}

#[test]
fn repartition_moves_no_owned_cells_and_reads_halos_from_owners() {
    let dist = Distribution::default_partition(3, &[9, 4]).unwrap();
    let needs: Vec<Region> = (0..3).map(|part| dist.reach(part, &[2, 0], &[1, 0]).unwrap()).collect();
    let plan = Plan::repartition(&dist, &needs).unwrap();
    assert_eq!(plan.moves().len(), 4);
    for m in plan.moves() {
        assert_ne!(m.from_part, m.to_part);
        assert!(dist.owned(m.from_part).contains_region(&m.from));
        assert!(m.to.intersect(&dist.owned(m.to_part)).is_empty());
    }
}

#[test]
fn redistribution_to_the_default_partition_equals_a_fetch_of_its_parts() {
    let odd = Distribution::builder(&[11]).bounds(0, &[0, 7, 8, 11]).build().unwrap();
    let plain = Distribution::default_partition(3, &[11]).unwrap();
    let needs: Vec<Region> = (0..3).map(|part| plain.owned(part)).collect();
    assert_eq!(Plan::redistribute(&odd, &plain).unwrap(), Plan::fetch(&odd, &needs).unwrap());
}

#[test]
fn local_target_has_offsets_in_the_part_and_in_the_slice() {
    // Member 1 of 2 owns 8..16; the slice takes 3, 6, 9, 12, 15.
    let local = local_target_of_slice(&line(8, 8), &view(3, 5, 3)).unwrap();
    assert_eq!((local.offsets_in_part[0], local.offsets_in_slice[0], local.sizes[0]), (1, 2, 3));
    let before = local_target_of_slice(&line(8, 8), &view(0, 4, 2)).unwrap();
    assert_eq!((before.offsets_in_slice[0], before.sizes[0]), (4, 0));
    let after = local_target_of_slice(&line(8, 8), &view(16, 4, 1)).unwrap();
    assert_eq!((after.offsets_in_slice[0], after.sizes[0]), (0, 0));
    let nothing = local_target_of_slice(&line(8, 8), &view(9, 0, 1)).unwrap();
    assert_eq!(nothing.sizes[0], 0);
    let stepped = local_target_of_slice(&line(4, 2), &view(0, 4, 10)).unwrap();
    assert_eq!(stepped.sizes[0], 0);
    let down = Domain::new(&[IndexRange::new(9, 0, -1).unwrap()]).unwrap();
    let error = local_target_of_slice(&line(0, 9), &down).unwrap_err().to_string();
    assert!(error.contains("strides above 0, given -1 in dimension 0"), "{error}");
    assert_eq!(local_target_of_slice(&line(0, 9), &view(0, 1, 1)).unwrap().target().unwrap(), line(0, 1));
}

#[test]
fn bounding_boxes_match_published_values() {
    // View offset and size, target offset and size, and the box.
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
        let given = local_bounding_box(&view(of.0, of.1, 1), &line(target.0, target.1), None).unwrap();
        assert_eq!(place(&given), expected, "{of:?} | {target:?}");
    }
}

#[test]
fn bounding_boxes_with_an_earlier_box_match_published_values() {
    let hull = |of: (i64, i64), target: (i64, i64), earlier: (i64, i64)| {
        let earlier = line(earlier.0, earlier.1);
        let view = view(of.0, of.1, 1);
        let given = local_bounding_box(&view, &line(target.0, target.1), Some((&earlier, Bounding::Hull)));
        place(&given.unwrap())
    };
    assert_eq!(hull((1, 7), (4, 4), (4, 4)), (4, 4));
    assert_eq!(hull((0, 8), (4, 0), (4, 4)), (4, 4));
    assert_eq!(hull((1, 3), (0, 4), (0, 5)), (0, 5));
    assert_eq!(hull((1, 7), (2, 2), (1, 0)), (3, 2));
    assert_eq!(hull((0, 1), (0, 1), (3, 2)), (0, 5));
    assert_eq!(hull((7, 8), (0, 1), (0, 5)), (0, 8));
    let inner = |earlier: Region| {
        local_bounding_box(&view(1, 7, 1), &line(2, 2), Some((&earlier, Bounding::Inner))).unwrap()
    };
    assert_eq!(place(&inner(line(0, 4))), (3, 1));
    assert!(inner(line(6, 2)).is_empty());
}

/// `u[1:-1] + u[:-2] + u[2:]` of 16 elements over a team, by the dialect's steps: one target per member, one
/// box around all views, one repartition, and equal bounds for all operands.
fn three_shifted_views(parts: usize) -> (Vec<i64>, usize) {
    let dist = Distribution::default_partition(parts, &[16]).unwrap();
    let values: Vec<i64> = (0..16).map(|i| i * i * i).collect();
    let views = [view(1, 14, 1), view(0, 14, 1), view(2, 14, 1)];
    // The target: where the result's elements lie, which is where view 0 lies.
    let target = |part: usize| local_target_of_slice(&dist.owned(part), &views[0]).unwrap().target().unwrap();
    let need = |part: usize| {
        views.iter().fold(line(0, 0), |sum, view| {
            local_bounding_box(view, &target(part), Some((&sum, Bounding::Hull))).unwrap()
        })
    };
    let needs: Vec<Region> = (0..parts).map(need).collect();
    let plan = Plan::repartition(&dist, &needs).unwrap();
    let mut result = values.clone();
    for part in 0..parts {
        let have = |i: i64| {
            let moved = plan.moves_to(part).iter().any(|m| m.to.contains(&[i]));
            assert!(dist.owned(part).contains(&[i]) != moved, "element {i} of part {part}");
            values[i as usize]
        };
        let compute = |at: i64| views.iter().map(|view| have(view.dim(0).nth(at).unwrap())).sum::<i64>();
        let target = target(part);
        for at in target.start()[0]..target.stop()[0] {
            result[1 + at as usize] = compute(at);
        }
    }
    (result, plan.moves().len())
}

#[test]
fn one_target_is_shared_by_all_operands() {
    let dist = Distribution::default_partition(3, &[16]).unwrap();
    let result = view(1, 14, 1);
    let mut covered = vec![0; 14];
    for part in 0..3 {
        let target = local_target_of_slice(&dist.owned(part), &result).unwrap().target().unwrap();
        target.points().for_each(|at| covered[at[0] as usize] += 1);
    }
    assert_eq!(covered, [1; 14]);
}

#[test]
fn shifted_views_share_a_core_inside_what_every_member_owns() {
    let views = [view(1, 14, 1), view(0, 14, 1), view(2, 14, 1)];
    for parts in 1..6 {
        let dist = Distribution::default_partition(parts, &[16]).unwrap();
        for part in 0..parts {
            let owned = dist.owned(part);
            let target = local_target_of_slice(&owned, &views[0]).unwrap().target().unwrap();
            let core = core_view(&owned, &views, &target).unwrap();
            assert!(target.contains_region(&core));
            for view in &views {
                assert!(owned.contains_region(&required(view, &core).unwrap()));
                assert_eq!(wanted(view, &core).len() as i64, core.extent(0));
            }
            // One element more on either side would need a halo or leave the target.
            let wider = core.grow(&[1], &[1]).unwrap();
            let fits = |bounds: Region| {
                let read = |view: &Domain| owned.contains_region(&required(view, &bounds).unwrap());
                target.contains_region(&bounds) && views.iter().all(read)
            };
            let (lower, upper) = (wider.split(0, core.stop()[0]).unwrap().0, wider.split(0, core.start()[0]));
            assert!(core.is_empty() || !fits(lower) && !fits(upper.unwrap().1));
        }
    }
}

#[test]
fn operations_on_views_take_one_repartition_and_local_work() {
    let serial: Vec<i64> = (0..16i64)
        .map(|i| if (1..15).contains(&i) { (i - 1..=i + 1).map(|k| k * k * k).sum() } else { i * i * i })
        .collect();
    for parts in 1..=16 {
        let (result, moves) = three_shifted_views(parts);
        assert_eq!(result, serial, "{parts} parts");
        // Two neighbours at most have what a member needs.
        assert!(moves <= 2 * (parts - 1), "{moves} moves over {parts} parts");
    }
}

#[test]
fn views_too_far_out_are_refused() {
    let far = view(1 << 61, 1, 1);
    assert!(required(&far, &line(1 << 61, 1 << 60)).is_err());
    assert_eq!(required(&far, &Region::from_shape(&[1, 1]).unwrap()).unwrap_err().kind, ErrorKind::Rank);
}
