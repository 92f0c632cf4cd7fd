//! Properties of regions, grids and distributions, and the worked examples of the protocols that they
//! implement.

#![allow(clippy::unwrap_used)]

mod layouts;

use std::hash::{DefaultHasher, Hash, Hasher};

use layouts::layouts;
use partita::index::{COORDINATE_LIMIT, Distribution, ErrorKind, Index, IndexError, ProcessGrid, Region};
use proptest::prelude::*;

fn region<const N: usize>(start: [i64; N], stop: [i64; N]) -> Region {
    Region::new(&start, &stop).unwrap()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Mostly large enough to overlap, now and then nothing.
fn extents() -> impl Strategy<Value = i64> {
    prop_oneof![1 => Just(0i64), 15 => 1..6i64]
}

prop_compose! {
    fn boxes(rank: usize)(ends in prop::collection::vec((-2..3i64, extents()), rank)) -> Region {
        let start: Vec<i64> = ends.iter().map(|(start, _)| *start).collect();
        let stop: Vec<i64> = ends.iter().map(|(start, extent)| start + extent).collect();
        Region::new(&start, &stop).unwrap()
    }
}

fn box_pairs() -> impl Strategy<Value = (Region, Region)> {
    prop_oneof![1 => Just(0usize), 8 => 1..=4usize].prop_flat_map(|rank| (boxes(rank), boxes(rank)))
}

proptest! {
    #[test]
    fn box_algebra_agrees_with_sets_of_points((a, b) in box_pairs()) {
        let points: Vec<Index> = a.points().collect();
        prop_assert_eq!(points.len() as i64, a.volume().unwrap());
        prop_assert_eq!(points.is_empty(), a.is_empty());
        prop_assert!(points.is_sorted() && points.iter().all(|p| a.contains(p)));

        let common: Vec<Index> = points.iter().copied().filter(|p| b.contains(p)).collect();
        prop_assert_eq!(a.intersect(&b).points().collect::<Vec<_>>(), common.clone());
        prop_assert_eq!(b.contains_region(&a), common.len() == points.len());

        let pieces = a.subtract(&b);
        prop_assert!(pieces.len() <= (2 * a.rank()).max(1) && pieces.iter().all(|piece| !piece.is_empty()));
        let mut left: Vec<Index> = pieces.iter().flat_map(Region::points).collect();
        left.sort_unstable();
        let expected: Vec<Index> = points.iter().copied().filter(|p| !b.contains(p)).collect();
        prop_assert_eq!(left, expected);

        let hull = a.hull(&b);
        prop_assert!(hull.contains_region(&a) && hull.contains_region(&b));
        prop_assert_eq!(hull.is_empty(), a.is_empty() && b.is_empty());
        for d in 0..a.rank() {
            // Without its first or its last layer the hull no longer covers both.
            let along = |by: i64| Index::from_fn(a.rank(), |e| if e == d { by } else { 0 });
            let smaller = [(-1, 0), (0, -1)].map(|(lo, hi)| hull.grow(&along(lo), &along(hi)).unwrap());
            let covers = |r: &Region| r.contains_region(&a) && r.contains_region(&b);
            prop_assert!(hull.is_empty() || !smaller.iter().any(covers));
        }
    }

    #[test]
    fn growth_is_undone((a, _) in box_pairs(), w in 0..4i64) {
        let (lo, hi) = (vec![w; a.rank()], vec![-w; a.rank()]);
        prop_assert_eq!(a.grow(&lo, &lo).unwrap().grow(&hi, &hi).unwrap(), a);
        prop_assert_eq!(a.shift(&lo).unwrap().shift(&hi).unwrap(), a);
    }

    #[test]
    fn every_cell_has_exactly_one_owner_and_counts_sum_to_the_size(layout in layouts()) {
        let dist = layout.build();
        let owned: Vec<Region> = (0..dist.parts()).map(|part| dist.owned(part)).collect();
        let counts: i64 = owned.iter().map(|region| region.volume().unwrap()).sum();
        prop_assert_eq!(counts, dist.global().volume().unwrap());
        for point in dist.global().points() {
            let owner = dist.owner(&point).unwrap();
            let owners: Vec<usize> = (0..dist.parts()).filter(|&part| owned[part].contains(&point)).collect();
            prop_assert_eq!(owners, [owner]);
        }
        let edge = |side: fn(&layouts::Dim) -> i64| layout.dims.iter().map(side).collect::<Vec<i64>>();
        let edges = [edge(|dim| dim.edges.0), edge(|dim| dim.edges.1)].map(|at| Index::new(&at).unwrap());
        prop_assert_eq!(dist.boundary(), edges.into());
        for (d, dim) in layout.dims.iter().enumerate() {
            let bounds: Vec<i64> = (0..dim.parts()).map(|part| dist.map(d).owned(part).start).collect();
            prop_assert_eq!(&bounds, &dim.bounds[..dim.parts()]);
            let mut outside = vec![0; dist.rank()];
            outside[d] = dim.size();
            prop_assert_eq!(dist.owner(&outside).unwrap_err().kind, ErrorKind::Range);
            outside[d] = -1;
            prop_assert!(dist.owner(&outside).is_err());
        }
    }

    #[test]
    fn local_and_global_indices_are_inverses(layout in layouts()) {
        let dist = layout.build();
        for point in dist.global().points() {
            let (part, local) = dist.to_local(&point).unwrap();
            prop_assert_eq!(part, dist.owner(&point).unwrap());
            prop_assert_eq!(dist.to_global(part, &local).unwrap(), point);
        }
        for part in 0..dist.parts() {
            let (owned, stored) = (dist.owned(part), dist.stored(part));
            let locals = Region::from_shape(&stored.extents()).unwrap();
            for (cell, local) in stored.points().zip(locals.points()) {
                let point = dist.to_global(part, &local).unwrap();
                prop_assert!(dist.global().contains(&point));
                for d in 0..dist.rank() {
                    let turns = cell[d] - point[d];
                    prop_assert!(turns == 0 || dist.periodic(d) && turns % dist.shape()[d] == 0);
                }
                prop_assert_eq!(owned.contains(&cell), dist.to_local(&point).unwrap() == (part, local));
            }
            let mut beyond = stored.extents();
            if let Some(last) = beyond.last_mut() {
                *last += 1;
                prop_assert!(dist.to_global(part, &beyond).is_err());
            }
        }
    }

    #[test]
    fn stored_is_owned_plus_halo_clipped_at_open_edges(layout in layouts()) {
        let dist = layout.build();
        for part in 0..dist.parts() {
            let (owned, stored, at) = (dist.owned(part), dist.stored(part), dist.grid().coordinate(part));
            if owned.is_empty() {
                prop_assert_eq!(stored, owned);
                continue;
            }
            for (d, dim) in layout.dims.iter().enumerate() {
                let (lo, hi) = dim.halo[if dim.uniform { 0 } else { at[d] as usize }];
                let (start, stop) = (owned.start()[d] - lo, owned.stop()[d] + hi);
                let cut = (start.max(0), stop.min(dim.size()));
                let expected = if dim.periodic { (start, stop) } else { cut };
                prop_assert_eq!((stored.start()[d], stored.stop()[d]), expected);
            }
            let (lo, hi) = dist.halo();
            prop_assert!(dist.reach(part, &lo, &hi).unwrap().contains_region(&stored));
        }
    }

    #[test]
    fn a_halo_wider_than_the_neighbor_is_an_error(layout in layouts()) {
        for (d, dim) in layout.dims.iter().enumerate() {
            let (lo, hi) = dim.uniform_room();
            for (lo, hi, fits) in [(lo, hi, true), (lo + 1, hi, false), (lo, hi + 1, false)] {
                let mut changed = layout.clone();
                changed.dims[d].uniform = true;
                changed.dims[d].halo[0] = (lo, hi);
                // Without any neighbour on a side there is nothing to be too wide for.
                let rooms: Vec<_> = (0..dim.parts()).map(|part| dim.room(part)).collect();
                let alone = rooms.iter().all(|room| *room == (None, None));
                match changed.builder().build() {
                    Ok(_) => prop_assert!(fits || alone),
                    Err(error) => prop_assert!(!fits && !alone && error.kind == ErrorKind::Halo, "{}", error),
                }
            }
        }
    }

    #[test]
    fn a_slice_is_owned_where_its_cells_are(
        layout in layouts(),
        cut in prop::collection::vec((0..9i64, 0..9i64), 4),
    ) {
        let dist = layout.build();
        let ends = |d: usize| {
            let size = dist.shape()[d];
            let (a, b) = (cut[d].0.min(size), cut[d].1.min(size));
            (a.min(b), a.max(b))
        };
        let start: Vec<i64> = (0..dist.rank()).map(|d| ends(d).0).collect();
        let stop: Vec<i64> = (0..dist.rank()).map(|d| ends(d).1).collect();
        let slice = Region::new(&start, &stop).unwrap();
        let view = dist.restricted(&slice).unwrap();
        prop_assert_eq!((view.shape(), view.grid()), (slice.extents(), dist.grid()));
        for point in view.global().points() {
            let there = Index::from_fn(dist.rank(), |d| point[d] + start[d]);
            prop_assert_eq!(view.owner(&point).unwrap(), dist.owner(&there).unwrap());
        }
        for part in 0..dist.parts() {
            let expected = dist.owned(part).intersect(&slice);
            let shifted = view.owned(part).shift(&start).unwrap();
            prop_assert_eq!(view.stored(part), view.owned(part));
            prop_assert_eq!(shifted.is_empty(), expected.is_empty());
            prop_assert!(expected.is_empty() || shifted == expected);
        }
        for d in 0..dist.rank() {
            prop_assert_eq!(view.periodic(d), dist.periodic(d) && slice.extent(d) == dist.shape()[d]);
        }
        prop_assert!(dist.restricted(&dist.global()).unwrap().same_layout(&dist));
    }

    #[test]
    fn reductions_keep_the_grid_and_the_first_coordinate_gets_them(layout in layouts(), mask in 0..16usize) {
        let dist = layout.build();
        let axes: Vec<usize> = (0..dist.rank()).filter(|d| mask >> d & 1 == 1).collect();
        let reduced = dist.reduced(&axes).unwrap();
        prop_assert_eq!(reduced.grid(), dist.grid());
        for part in 0..dist.parts() {
            let (at, before, after) = (dist.grid().coordinate(part), dist.owned(part), reduced.owned(part));
            for d in 0..dist.rank() {
                let kept = (before.start()[d], before.stop()[d]);
                let range = (after.start()[d], after.stop()[d]);
                let dropped = if at[d] == 0 { (0, 1) } else { (1, 1) };
                prop_assert_eq!(range, if axes.contains(&d) { dropped } else { kept });
            }
        }
        prop_assert_eq!(reduced.halo(), (Index::zeros(dist.rank()), Index::zeros(dist.rank())));
    }

    #[test]
    fn neighbors_are_mutual(layout in layouts()) {
        let dist = layout.build();
        for part in 0..dist.parts() {
            for (d, (left, right)) in dist.neighbors(part).unwrap().into_iter().enumerate() {
                let at = dist.grid().coordinate(part)[d];
                prop_assert_eq!(left.is_none(), at == 0 && !dist.periodic(d));
                prop_assert_eq!(right.is_none(), at + 1 == dist.grid().shape()[d] && !dist.periodic(d));
                for (there, back) in [(left, 1), (right, 0)] {
                    let Some(there) = there else { continue };
                    let pair = dist.neighbors(there).unwrap()[d];
                    prop_assert_eq!([pair.0, pair.1][back], Some(part));
                }
            }
        }
    }

    #[test]
    fn distributions_are_equal_when_they_divide_alike(layout in layouts()) {
        let dist = layout.build();
        let mut listed = layout.clone();
        listed.dims.iter_mut().for_each(|dim| dim.listed = true);
        prop_assert_eq!(&listed.build(), &dist);
        prop_assert_eq!(hash(&listed.build()), hash(&dist));
        for d in 0..dist.rank() {
            let mut other = layout.clone();
            other.dims[d].periodic ^= true;
            other.dims.iter_mut().for_each(|dim| (dim.halo, dim.edges) = (vec![(0, 0); dim.parts()], (0, 0)));
            let other = other.build();
            prop_assert!(other != dist && other.same_layout(&dist));
        }
    }
}

fn owned_1d(parts: usize, size: i64) -> Vec<(i64, i64)> {
    let dist = Distribution::default_partition(parts, &[size]).unwrap();
    (0..parts).map(|part| (dist.owned(part).start()[0], dist.owned(part).extent(0))).collect()
}

#[test]
fn the_default_partition_gives_extras_to_the_last_parts() {
    assert_eq!(owned_1d(4, 8).iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 2, 2, 2]);
    assert_eq!(owned_1d(3, 8).iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 3, 3]);
    for parts in 1..40 {
        for size in 0..100 {
            let counts: Vec<i64> = owned_1d(parts, size).iter().map(|(_, count)| *count).collect();
            assert!(
                counts.is_sorted() && counts[parts - 1] - counts[0] <= 1,
                "{size} over {parts}: {counts:?}"
            );
        }
    }
}

#[test]
fn default_partition_matches_published_values() {
    assert_eq!(owned_1d(8, 31)[7], (27, 4));
    assert_eq!(owned_1d(8, 32)[7], (28, 4));
    assert_eq!(owned_1d(8, 33)[7], (28, 5));
    assert_eq!(owned_1d(8, 31)[..3], [(0, 3), (3, 4), (7, 4)]);
    let square = Distribution::default_partition(2, &[8, 8]).unwrap();
    assert_eq!(square.owned(1), region([4, 0], [8, 8]));
    let flat = Distribution::default_partition(2, &[1, 7]).unwrap();
    assert_eq!(flat.owned(0).extents(), Index::from([0, 7]));
}

#[test]
fn blocks_are_adjacent_and_may_be_irregular() {
    let dist = Distribution::builder(&[10]).bounds(0, &[0, 1, 5, 5, 10]).build().unwrap();
    assert_eq!(dist.parts(), 4);
    for part in 1..4 {
        assert_eq!(dist.owned(part - 1).stop(), dist.owned(part).start());
    }
    assert!(dist.owned(2).is_empty());
}

#[test]
fn padding_of_parts_with_a_boundary() {
    let padding = [(4, 1), (1, 2), (2, 3), (3, 0)];
    // The first and last widths are boundary: they count in the size, and are owned.
    let halo: Vec<(i64, i64)> = (0..4)
        .map(|part| {
            (if part == 0 { 0 } else { padding[part].0 }, if part == 3 { 0 } else { padding[part].1 })
        })
        .collect();
    let dist = Distribution::builder(&[24])
        .bounds(0, &[0, 8, 12, 17, 24])
        .halo_per_part(0, &halo)
        .boundary(&[4], &[0])
        .build()
        .unwrap();
    let stored: Vec<_> = (0..4).map(|part| dist.stored(part).to_string()).collect();
    assert_eq!(stored, ["[0:9]", "[7:14]", "[10:20]", "[14:24]"]);
    let counts: i64 = (0..4).map(|part| dist.owned(part).volume().unwrap()).sum();
    assert_eq!((counts, dist.halo()), (24, (Index::from([3]), Index::from([3]))));
    assert_eq!(dist.boundary(), (Index::from([4]), Index::from([0])));
}

#[test]
fn padding_defaults_to_zero_and_is_never_negative() {
    let dist = Distribution::default_partition(3, &[9, 9]).unwrap();
    assert_eq!(dist.halo(), (Index::zeros(2), Index::zeros(2)));
    assert_eq!((dist.boundary(), dist.stored(1)), (dist.halo(), dist.owned(1)));
    let line = || Distribution::builder(&[9]).parts(3);
    for builder in [line().halo(&[-1], &[0]), line().halo_per_part(0, &[(0, 0), (0, -1), (0, 0)])] {
        assert_eq!(builder.build().unwrap_err().kind, ErrorKind::Halo);
    }
    assert!(line().boundary(&[0], &[-1]).build().is_err());
    assert!(dist.with_halo(&[0, -1], &[0, 0]).is_err());
    assert_eq!(dist.with_halo(&[1, 0], &[2, 0]).unwrap().stored(1), region([2, 0], [8, 9]));
}

#[test]
fn halo_widths_are_limited_by_nonempty_neighbors_only() {
    let over_five = |halo: i64| Distribution::builder(&[3]).parts(5).halo(&[halo], &[halo]).build();
    assert_eq!(over_five(1).unwrap().stored(4), region([1], [3]));
    assert_eq!(
        over_five(2).unwrap_err().to_string(),
        "halo: expected at most the 1 cells that grid coordinate 2 owns, \
         given 2 at grid coordinate 3 in dimension 0; \
         use a narrower halo, or fewer and larger parts"
    );
    // The last part may own less than the halo if nobody reads that far from it: only its own lower halo is
    // wide.
    let bounds = [0, 4, 5];
    let uneven = |lo: i64, hi: i64| Distribution::builder(&[5]).bounds(0, &bounds).halo(&[lo], &[hi]).build();
    assert!(uneven(4, 1).is_ok() && uneven(4, 2).is_err() && uneven(5, 0).is_err());
}

#[test]
fn a_periodic_dimension_of_one_part_is_its_own_neighbor() {
    let ring = |halo: i64| Distribution::builder(&[4]).halo(&[halo], &[halo]).periodic(&[true]).build();
    let dist = ring(4).unwrap();
    assert_eq!(dist.stored(0), region([-4], [8]));
    assert_eq!(dist.to_global(0, &[0]).unwrap(), Index::from([0]));
    assert_eq!(dist.to_global(0, &[9]).unwrap(), Index::from([1]));
    assert_eq!(dist.neighbors(0).unwrap(), [(Some(0), Some(0))]);
    assert_eq!(ring(5).unwrap_err().kind, ErrorKind::Halo);
    let edge = Distribution::builder(&[4]).periodic(&[true]).boundary(&[1], &[0]).build();
    assert_eq!(edge.unwrap_err().kind, ErrorKind::Halo);
}

#[test]
fn whole_dimensions_and_empty_parts_are_valid() {
    let whole = Distribution::builder(&[3, 4]).build().unwrap();
    assert_eq!((whole.parts(), whole.owned(0)), (1, whole.global()));
    let empty = Distribution::builder(&[0, 4]).grid(&[2, 2]).halo(&[1, 1], &[1, 1]).build().unwrap();
    assert!((0..4).all(|part| empty.owned(part).is_empty() && empty.stored(part).is_empty()));
    assert!(empty.owner(&[0, 0]).is_err());
}

#[test]
fn an_array_without_dimensions_is_on_one_part() {
    let dist = Distribution::builder(&[]).build().unwrap();
    assert_eq!((dist.parts(), dist.owner(&[]).unwrap()), (1, 0));
    assert_eq!(dist.to_local(&[]).unwrap(), (0, Index::zeros(0)));
    assert_eq!(Distribution::default_partition(2, &[]).unwrap().owner(&[]).unwrap(), 0);
    assert_eq!(Distribution::default_partition(0, &[]).unwrap_err().kind, ErrorKind::Grid);
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let kind = |result: Result<Distribution, IndexError>| result.unwrap_err().kind;
    let of = Distribution::builder;
    assert_eq!(kind(of(&[8]).parts(0).build()), ErrorKind::Grid);
    assert_eq!(kind(of(&[8, 8]).parts(5).grid(&[2, 2]).build()), ErrorKind::Grid);
    assert_eq!(kind(of(&[8, 8]).grid(&[2, 0]).build()), ErrorKind::Grid);
    assert_eq!(kind(of(&[8, 8]).grid(&[2]).build()), ErrorKind::Rank);
    assert_eq!(kind(of(&[8]).halo(&[1, 1], &[1]).build()), ErrorKind::Rank);
    assert_eq!(kind(of(&[8]).periodic(&[]).build()), ErrorKind::Rank);
    assert_eq!(kind(of(&[1; 9]).build()), ErrorKind::Rank);
    assert_eq!(kind(of(&[-8]).build()), ErrorKind::Size);
    assert_eq!(kind(of(&[i64::MAX]).build()), ErrorKind::Size);
    assert_eq!(kind(of(&[1 << 40, 1 << 40]).build()), ErrorKind::Size);
    assert_eq!(kind(of(&[1 << 61]).halo(&[1 << 61], &[1 << 61]).periodic(&[true]).build()), ErrorKind::Size);
    assert_eq!(kind(of(&[8]).bounds(0, &[0, 5, 3, 8]).build()), ErrorKind::Bounds);
    assert_eq!(kind(of(&[8]).bounds(0, &[0, 5]).build()), ErrorKind::Bounds);
    assert_eq!(kind(of(&[8]).grid(&[3]).bounds(0, &[0, 5, 8]).build()), ErrorKind::Bounds);
    assert_eq!(kind(of(&[8]).bounds(1, &[0, 8]).build()), ErrorKind::Range);
    assert_eq!(kind(of(&[8]).parts(2).halo_per_part(0, &[(1, 1)]).build()), ErrorKind::Halo);
    assert_eq!(kind(of(&[8]).boundary(&[5], &[4]).build()), ErrorKind::Halo);
    let dist = of(&[8]).parts(2).build().unwrap();
    assert_eq!(kind(dist.restricted(&region([0], [9]))), ErrorKind::Range);
    assert_eq!(kind(dist.restricted(&region([0, 0], [1, 1]))), ErrorKind::Rank);
    assert_eq!(kind(dist.reduced(&[1])), ErrorKind::Range);
    assert_eq!(kind(dist.reduced(&[0, 0])), ErrorKind::Range);
    assert!(dist.check_part(2).is_err() && dist.neighbors(2).is_err() && dist.to_global(2, &[0]).is_err());
    assert_eq!(
        of(&[8, 8]).parts(5).grid(&[2, 2]).build().unwrap_err().to_string(),
        "process grid: expected a grid of 5 parts, given (2, 2), which has 4; \
         make the product of the grid equal to the number of parts"
    );
}

#[test]
fn uniform_halos_written_per_part_are_uniform() {
    let line = || Distribution::builder(&[9]).parts(3);
    let uniform = line().halo(&[1], &[2]).build().unwrap();
    assert_eq!(line().halo_per_part(0, &[(0, 2), (1, 2), (1, 0)]).build().unwrap(), uniform);
    assert_ne!(line().halo_per_part(0, &[(0, 2), (1, 1), (1, 0)]).build().unwrap(), uniform);
}

#[test]
fn a_balanced_grid_is_a_choice_for_a_distribution() {
    let grid = ProcessGrid::balanced(8, &[100, 200, 100]).unwrap();
    let dist = Distribution::builder(&[100, 200, 100]).grid(grid.shape()).build().unwrap();
    // (2, 2, 2) cuts as much surface; this one leaves the rows whole.
    assert_eq!(grid.shape()[..], [2, 4, 1]);
    assert_eq!(dist.owned(7), region([50, 150, 0], [100, 200, 100]));
}

#[test]
fn shapes_and_volumes() {
    let r = Region::from_shape(&[4, 9]).unwrap();
    assert_eq!((r.rank(), r.extents(), r.volume().unwrap()), (2, Index::from([4, 9]), 36));
    assert_eq!(r.to_string(), "[0:4, 0:9]");
    assert!(region([3], [3]).is_empty());
    assert_eq!(Region::from_shape(&[-1]).unwrap_err().kind, ErrorKind::Size);
    assert_eq!(Region::new(&[2], &[1]).unwrap_err().kind, ErrorKind::Size);
    assert_eq!(Region::new(&[2], &[1, 3]).unwrap_err().kind, ErrorKind::Rank);
    assert_eq!(Region::from_shape(&[1; 9]).unwrap_err().kind, ErrorKind::Rank);
}

#[test]
fn a_zero_dimensional_region_is_one_point() {
    let r = Region::from_shape(&[]).unwrap();
    assert_eq!((r.volume().unwrap(), r.is_empty(), r.to_string()), (1, false, "[]".to_string()));
    assert_eq!(r.points().collect::<Vec<_>>(), [Index::zeros(0)]);
    assert!(r.contains(&[]) && !r.contains(&[0]));
    assert!(r.subtract(&r).is_empty());
}

#[test]
fn overflow_is_an_error() {
    assert!(Region::from_shape(&[i64::MAX]).is_err());
    let big = Region::from_shape(&[COORDINATE_LIMIT, 3]).unwrap();
    assert_eq!(big.volume().unwrap_err().kind, ErrorKind::Size);
    assert_eq!(region([0, 0], [COORDINATE_LIMIT, 0]).volume().unwrap(), 0);
    assert!(big.shift(&[i64::MAX, 0]).is_err() && big.shift(&[i64::MIN, 0]).is_err());
    assert!(big.grow(&[i64::MIN, 0], &[0, 0]).is_err());
    let wide = region([-COORDINATE_LIMIT], [-COORDINATE_LIMIT + 1]);
    let hull = wide.hull(&region([COORDINATE_LIMIT - 1], [COORDINATE_LIMIT]));
    assert_eq!(hull.extent(0), 2 * COORDINATE_LIMIT);
}

#[test]
fn intersection_hull_and_growth() {
    let (a, b) = (region([0, 2], [4, 9]), region([3, 0], [8, 5]));
    assert_eq!(a.intersect(&b), region([3, 2], [4, 5]));
    assert_eq!(a.hull(&b), region([0, 0], [8, 9]));
    assert!(a.intersect(&region([5, 0], [6, 9])).is_empty());
    assert_eq!(a.hull(&region([90, 90], [90, 95])), a);
    assert_eq!(region([7], [7]).hull(&region([1], [2])), region([1], [2]));
    assert_eq!(a.grow(&[1, 0], &[0, 2]).unwrap(), region([-1, 2], [4, 11]));
    assert_eq!(a.grow(&[-1, -1], &[-1, -1]).unwrap(), region([1, 3], [3, 8]));
    assert!(a.grow(&[-9, 0], &[-9, 0]).unwrap().is_empty());
    assert_eq!(a.shift(&[-1, 1]).unwrap(), region([-1, 3], [3, 10]));
}

#[test]
fn containment() {
    let a = region([0, 2], [4, 9]);
    assert!(a.contains(&[0, 2]) && !a.contains(&[4, 2]) && !a.contains(&[0, 1]));
    assert!(a.contains_region(&region([1, 3], [4, 9])) && !a.contains_region(&region([1, 3], [5, 9])));
    assert!(a.contains_region(&region([50, 50], [50, 60])));
}

#[test]
fn splits_and_differences() {
    let a = region([0, 0], [4, 4]);
    let rings = a.subtract(&region([1, 1], [3, 3]));
    assert_eq!(rings.len(), 4);
    assert_eq!(rings.iter().map(|r| r.volume().unwrap()).sum::<i64>(), 12);
    assert_eq!(a.subtract(&region([9, 9], [10, 10])), [a]);
    assert!(a.subtract(&a).is_empty());
}
