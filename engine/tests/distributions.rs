//! Division of dimensions and of arrays: points, maps of one dimension, grids, views, and distributions as
//! text.

#![allow(clippy::unwrap_used)]

use std::hash::{DefaultHasher, Hash, Hasher};

use partita::index::{
    Along, COORDINATE_LIMIT, DimMap, Distribution, ErrorKind, Index, MAX_PARTS, ProcessGrid, Region,
};

#[test]
fn equality_and_order_look_at_the_rank_too() {
    assert_eq!(Index::from([1, 2]), Index::new(&[1, 2]).unwrap());
    assert_ne!(Index::from([1]), Index::from([1, 0]));
    assert!(Index::from([1, 2]) < Index::from([2, 0]));
    assert_eq!(Index::from([]).len(), 0);
}

#[test]
fn eight_dimensions_are_accepted_and_nine_are_an_error() {
    assert_eq!(Index::new(&[7; 8]).unwrap().len(), 8);
    let error = Index::new(&[7; 9]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Rank);
    assert_eq!(
        error.to_string(),
        "Index: expected at most 8 dimensions, given 9; merge dimensions or use several arrays"
    );
}

#[test]
fn display() {
    assert_eq!(Index::from([3, -4]).to_string(), "(3, -4)");
    assert_eq!(Index::zeros(0).to_string(), "()");
}

#[test]
fn rules_of_rules_are_rules() {
    let outer = Along::Dim { dim: 1, offset: 9, step: -2 };
    assert_eq!(outer.at(&[7, 3]), 3);
    assert_eq!(outer.then(1, 3).at(&[7, 3]), 10);
    assert_eq!(Along::Pinned(4).then(1, 3), Along::Pinned(13));
    assert_eq!((outer.span(1, 4), Along::Pinned(4).span(0, 9)), ((3, 8), (4, 5)));
}

fn counts(map: &DimMap) -> Vec<i64> {
    (0..map.parts()).map(|part| map.count(part)).collect()
}

/// The division of the coordinates from `start` to before `stop`.
fn cut(map: &DimMap, start: i64, stop: i64) -> DimMap {
    let whole = Distribution::builder(&[map.size()]).map(0, map.clone()).build().unwrap();
    whole.restricted(&Region::new(&[start], &[stop]).unwrap()).unwrap().map(0).clone()
}

#[test]
fn extra_elements_go_to_the_last_parts() {
    let even = |size, parts| counts(&DimMap::even(size, parts).unwrap());
    assert_eq!(even(8, 4), [2, 2, 2, 2]);
    assert_eq!(even(8, 3), [2, 3, 3]);
    assert_eq!(even(3, 5), [0, 0, 1, 1, 1]);
    assert_eq!(even(0, 2), [0, 0]);
}

#[test]
fn irregular_bounds_and_empty_parts() {
    let map = DimMap::irregular(&[0, 0, 3, 3, 5, 5]).unwrap();
    assert_eq!(counts(&map), [0, 3, 0, 2, 0]);
    let owners: Vec<_> = (-1..6).map(|i| map.owner(i)).collect();
    assert_eq!(owners, [None, Some(1), Some(1), Some(1), Some(3), Some(3), None]);
    assert_eq!(map.to_local(4), Some((3, 1)));
    assert_eq!((map.to_global(3, 1), map.to_global(3, 2), map.to_global(9, 0)), (Some(4), None, None));
    assert_eq!((map.owners(2..4), map.owners(-9..9), map.owners(4..4)), (1..4, 1..4, 0..0));
}

#[test]
fn impossible_bounds_are_refused() {
    for bounds in [&[][..], &[0], &[1, 2], &[0, 3, 2], &[0, i64::MAX]] {
        assert!(DimMap::irregular(bounds).is_err(), "{bounds:?}");
    }
    assert!(
        DimMap::even(-1, 2).is_err() && DimMap::even(i64::MAX, 2).is_err() && DimMap::even(4, 0).is_err()
    );
    let error = DimMap::irregular(&[0, 3, 2]).unwrap_err().to_string();
    assert_eq!(
        error,
        "block bounds: expected ascending bounds, given 2 after 3 as the end of part 1; \
         list 0, then where each part stops, up to the size"
    );
}

#[test]
fn equality_and_hash_compare_the_division() {
    let hash = |map: &DimMap| {
        let mut hasher = DefaultHasher::new();
        map.hash(&mut hasher);
        hasher.finish()
    };
    let even = DimMap::even(8, 3).unwrap();
    let listed = DimMap::irregular(&[0, 2, 5, 8]).unwrap();
    let window = cut(&DimMap::irregular(&[0, 3, 6, 12]).unwrap(), 1, 9);
    for other in [&listed, &window] {
        assert_eq!((&even, hash(&even)), (other, hash(other)));
    }
    assert_ne!(even, DimMap::irregular(&[0, 1, 5, 8]).unwrap());
    assert_ne!(even, DimMap::irregular(&[0, 2, 4, 8]).unwrap());
    assert_ne!(even, DimMap::even(8, 2).unwrap());
}

#[test]
fn even_owners_are_right_near_the_limits() {
    let map = DimMap::even(COORDINATE_LIMIT, MAX_PARTS).unwrap();
    for part in [0, 1, MAX_PARTS / 2, MAX_PARTS - 1] {
        let owned = map.owned(part);
        assert_eq!((map.owner(owned.start), map.owner(owned.end - 1)), (Some(part), Some(part)));
    }
    assert_eq!(map.owned(MAX_PARTS - 1).end, COORDINATE_LIMIT);
}

#[test]
fn windows_keep_owners() {
    let map = DimMap::even(10, 4).unwrap();
    let twice = cut(&cut(&map, 3, 9), 1, 5);
    assert_eq!(twice.size(), 4);
    for i in 0..4 {
        assert_eq!(twice.owner(i), map.owner(i + 4));
    }
    let reduced = Distribution::default_partition(3, &[9]).unwrap().reduced(&[0]).unwrap();
    assert_eq!(counts(reduced.map(0)), [1, 0, 0]);
    assert_eq!(*reduced.map(0), DimMap::irregular(&[0, 1, 1, 1]).unwrap());
    assert_eq!(counts(&cut(&map, 10, 10)), [0, 0, 0, 0]);
}

#[test]
fn parts_are_in_c_order() {
    let grid = ProcessGrid::new(&[2, 3, 4]).unwrap();
    assert_eq!(grid.parts(), 24);
    let mut part = 0;
    for i in 0..2 {
        for j in 0..3 {
            for k in 0..4 {
                assert_eq!(grid.part(&[i, j, k]).unwrap(), part);
                assert_eq!(grid.coordinate(part), Index::from([i, j, k]));
                part += 1;
            }
        }
    }
    assert_eq!(grid.part(&[2, 0, 0]).unwrap_err().kind, ErrorKind::Range);
    assert_eq!(grid.part(&[0, -1, 0]).unwrap_err().kind, ErrorKind::Range);
    assert_eq!(grid.part(&[0]).unwrap_err().kind, ErrorKind::Rank);
}

#[test]
fn parts_of_a_view_are_found_by_its_coordinates() {
    let grid = |shape: &[i64], strides: &[i64]| {
        *Distribution::builder(shape).grid(shape).grid_strides(strides).build().unwrap().grid()
    };
    // A grid of 2 x 3 turned on its side, with its rows upside down.
    let whole = ProcessGrid::new(&[2, 3]).unwrap();
    let view = grid(&[3, 1, 2], &[1, 6, -3]);
    for (part, at) in (0..6).map(|part| (part, whole.coordinate(part))) {
        assert_eq!(view.coordinate(part), Index::from([at[1], 0, 1 - at[0]]), "{part}");
        assert_eq!(view.part(&[at[1], 0, 1 - at[0]]).unwrap(), part);
    }
    assert_eq!(grid(&[2, 3], &[3, 1]), whole);
    assert_ne!(grid(&[2, 3], &[1, 2]), whole);
}

#[test]
fn neighbors_are_none_at_edges_and_wrap_where_periodic() {
    let grid = ProcessGrid::new(&[2, 3]).unwrap();
    assert_eq!(grid.neighbors(0, &[false, false]).unwrap(), [(None, Some(3)), (None, Some(1))]);
    assert_eq!(grid.neighbors(5, &[false, true]).unwrap(), [(Some(2), None), (Some(4), Some(3))]);
    let line = ProcessGrid::new(&[1]).unwrap();
    assert_eq!(line.neighbors(0, &[true]).unwrap(), [(Some(0), Some(0))]);
    assert!(line.neighbors(1, &[true]).is_err());
}

#[test]
fn impossible_grids_are_refused() {
    for shape in [&[0][..], &[2, -1], &[1 << 20, 1 << 20], &[i64::MAX, i64::MAX]] {
        assert_eq!(ProcessGrid::new(shape).unwrap_err().kind, ErrorKind::Grid, "{shape:?}");
    }
    assert!(ProcessGrid::slabs(0, 1).is_err());
    assert!(ProcessGrid::slabs(0, 0).is_err());
    assert!(ProcessGrid::slabs(2, 9).is_err());
    assert_eq!(ProcessGrid::slabs(3, 0).unwrap().parts(), 3);
    assert!(ProcessGrid::balanced(0, &[3]).is_err());
    assert!(ProcessGrid::balanced(2, &[-3]).is_err());
}

#[test]
fn balanced_grids_have_the_smallest_cuts() {
    let grid = |parts, shape: &[i64]| ProcessGrid::balanced(parts, shape).unwrap().shape().to_vec();
    assert_eq!(grid(4, &[100, 100]), [2, 2]);
    assert_eq!(grid(6, &[100, 100]), [3, 2]);
    assert_eq!(grid(7, &[100, 100]), [7, 1]);
    assert_eq!(grid(4, &[10, 100]), [1, 4]);
    assert_eq!(grid(64, &[64, 64, 64]), [4, 4, 4]);
    assert_eq!(grid(2, &[8, 8]), [2, 1]);
    assert_eq!(grid(4, &[2, 1]), [4, 1]);
    assert_eq!(grid(4, &[0, 5]), [1, 4]);
    assert_eq!(grid(1, &[]), [0i64; 0]);
    assert_eq!(ProcessGrid::balanced(720_720, &[4096; 8]).unwrap().parts(), 720_720);
}

#[test]
fn balanced_agrees_with_trying_every_factorisation() {
    for (parts, shape) in [(12, [7i64, 30, 11]), (24, [5, 5, 5]), (30, [1, 2, 90]), (36, [16, 9, 100])] {
        let score = |grid: [i64; 3]| {
            let used: i64 = (0..3).map(|d| grid[d].min(shape[d])).product();
            let volume: i64 = shape.iter().product();
            let surface: i64 = (0..3).map(|d| (grid[d] - 1) * (volume / shape[d])).sum();
            (used, -surface, grid)
        };
        let all = (1..=parts).flat_map(|a| (1..=parts).map(move |b| (a, b)));
        let best = all
            .filter(|(a, b)| parts % (a * b) == 0)
            .map(|(a, b)| score([a, b, parts / (a * b)]))
            .max()
            .unwrap();
        let given = ProcessGrid::balanced(parts as usize, &shape).unwrap();
        assert_eq!(given.shape().to_vec(), best.2, "{parts} parts of {shape:?}");
    }
}

fn along(dim: usize, offset: i64, step: i64) -> Along {
    Along::Dim { dim, offset, step }
}

/// Every element of a view is where its cell is.
fn stays(dist: &Distribution, shape: &[i64], axes: &[Along]) {
    let view = dist.viewed(shape, axes).unwrap();
    assert_eq!((&view.shape()[..], view.parts()), (shape, dist.parts()));
    for at in view.global().points() {
        let cell: Vec<i64> = axes.iter().map(|along| along.at(&at)).collect();
        assert_eq!(view.owner(&at).unwrap(), dist.owner(&cell).unwrap(), "{axes:?} {at:?}");
    }
}

#[test]
fn elements_stay_with_their_parts() {
    for grid in [[2, 3, 2], [1, 4, 3], [12, 1, 1], [3, 1, 4]] {
        let dist = Distribution::builder(&[7, 6, 9]).grid(&grid).build().unwrap();
        // Transposed, flipped, in steps.
        stays(&dist, &[9, 7, 6], &[along(1, 0, 1), along(2, 0, 1), along(0, 0, 1)]);
        stays(&dist, &[3, 3, 3], &[along(1, 6, -3), along(2, 5, -2), along(0, 1, 3)]);
        // A view of a view: the grid's strides already count down.
        let view = dist.viewed(&[9, 6, 7], &[along(2, 6, -1), along(1, 0, 1), along(0, 8, -1)]).unwrap();
        stays(&view, &[7, 2, 5], &[along(2, 8, -2), along(1, 4, -2), along(0, 0, 1)]);
        stays(&view, &[1, 6], &[along(0, 3, 1), along(1, 5, -1), Along::Pinned(6)]);
        // Dropped and new dimensions.
        for at in 0..6 {
            stays(&dist, &[9, 1, 7], &[along(2, 6, -1), Along::Pinned(at), along(0, 0, 1)]);
            stays(&dist, &[3], &[Along::Pinned(at), Along::Pinned(5 - at), along(0, 8, -4)]);
            stays(&view, &[6, 1], &[Along::Pinned(8 - at), along(0, 5, -1), Along::Pinned(at)]);
            stays(&dist, &[1], &[Along::Pinned(at), Along::Pinned(at), Along::Pinned(at)]);
        }
        stays(&dist, &[], &[Along::Pinned(5), Along::Pinned(0), Along::Pinned(3)]);
    }
    let single = Distribution::builder(&[3, 4]).build().unwrap();
    assert_eq!(single.viewed(&[], &[Along::Pinned(0); 2]).unwrap().rank(), 0);
}

#[test]
fn diagonals_stay_where_their_dimensions_are_beside_each_other() {
    for grid in [[3, 2], [2, 4], [1, 5], [5, 1]] {
        let dist = Distribution::builder(&[8, 11]).grid(&grid).build().unwrap();
        for offset in 0..4 {
            stays(&dist, &[8], &[along(0, 0, 1), along(0, offset, 1)]);
            stays(&dist, &[4], &[along(0, 1, 2), along(0, offset, 2)]);
        }
    }
}

#[test]
fn other_maps_keep_what_they_can() {
    let maps = [
        DimMap::cyclic(10, 3, 2).unwrap(),
        DimMap::unstructured(&[vec![5, 1], vec![0, 9, 2], vec![3, 4, 6, 7, 8]], true).unwrap(),
    ];
    for map in maps {
        let dist = Distribution::builder(&[4, 10]).grid(&[2, 3]).map(1, map).build().unwrap();
        stays(&dist, &[4, 4], &[along(1, 3, -1), along(0, 0, 3)]);
        stays(&dist, &[4], &[Along::Pinned(2), along(0, 1, 2)]);
        stays(&dist, &[4], &[along(0, 3, -1), Along::Pinned(7)]);
        let flipped = dist.viewed(&[4, 10], &[along(0, 0, 1), along(1, 9, -1)]).unwrap();
        assert_eq!(*flipped.map(1), DimMap::even(10, 3).unwrap());
    }
}

#[test]
fn small_maps_show_every_cell() {
    let dist = Distribution::builder(&[3, 8]).grid(&[2, 2]).halo(&[1, 0], &[1, 2]).build().unwrap();
    let facts = "shape (3, 8), 4 parts in grid (2, 2), halo (1, 0) (1, 2), boundary (0, 0) (0, 0), \
                 periodic (no, no)";
    assert_eq!(dist.to_string(), format!("{facts}\n00001111\n22223333\n22223333"));
    let line = Distribution::default_partition(12, &[12]).unwrap().to_string();
    assert_eq!(line.lines().nth(1).unwrap(), " 0  1  2  3  4  5  6  7  8  9 10 11");
}

#[test]
fn large_maps_stay_within_64_by_16() {
    for parts in [1, 10, 11, 1000, 100_000] {
        let dist = Distribution::default_partition(parts, &[1_000_000, 3_000_000]).unwrap().to_string();
        let map: Vec<&str> = dist.lines().skip(1).collect();
        assert_eq!(map.len(), 16);
        assert!(map.iter().all(|line| (59..=64).contains(&line.len())), "{dist}");
    }
    assert_eq!(Distribution::default_partition(2, &[0, 5]).unwrap().to_string().lines().count(), 1);
    assert_eq!(Distribution::default_partition(2, &[3, 3, 3]).unwrap().to_string().lines().count(), 13);
    let deep = Distribution::default_partition(2, &[1 << 20, 9, 9, 3]).unwrap().to_string();
    assert_eq!(deep.lines().count(), 1 + 4 * 10);
    assert_eq!(deep.lines().nth(31), Some("slice (917504, 0):"));
    assert_eq!(Distribution::default_partition(1, &[]).unwrap().to_string().lines().count(), 1);
}

fn text_map(dist: &Distribution) -> Vec<String> {
    dist.to_string().lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn text_maps_draw_every_kind() {
    assert_eq!(
        text_map(&Distribution::builder(&[10]).parts(3).cyclic(0, 2).build().unwrap()),
        ["0011220011"]
    );
    let lists = DimMap::unstructured(&[vec![4, 0], vec![1, 3, 2]], true).unwrap();
    let mixed = Distribution::builder(&[4, 5]).grid(&[2, 2]).cyclic(0, 1).map(1, lists).build().unwrap();
    assert_eq!(text_map(&mixed), ["01110", "23332", "01110", "23332"]);
    assert!(mixed.to_string().lines().next().unwrap().ends_with(", maps (cyclic 1, unstructured)"));
    assert_eq!(
        text_map(&Distribution::builder(&[2, 3]).grid(&[2, 2]).replicated(1).build().unwrap()),
        ["000", "222"]
    );
    let cube = Distribution::builder(&[2, 2, 3]).grid(&[2, 1, 3]).build().unwrap();
    assert_eq!(text_map(&cube), ["slice (0):", "012", "012", "slice (1):", "345", "345"]);
}

/// What gives a value by a number panics where there is no such part, dimension or member, and says so; what
/// gives a `Result` gives an error.
#[test]
fn getters_by_number_panic_and_say_so_where_results_are_errors() {
    let sources = [
        include_str!("../src/index/distributions/distribution.rs"),
        include_str!("../src/index/distributions/process_grid.rs"),
        include_str!("../src/index/maps/dim_map.rs"),
        include_str!("../src/index/region.rs"),
        include_str!("../src/index/domain.rs"),
        include_str!("../src/team/handle.rs"),
    ];
    let mut getters = 0;
    for line in sources.iter().flat_map(|source| source.split("\n\n")) {
        let Some((docs, rest)) = line.split_once("pub fn ") else { continue };
        let head = rest.split('{').next().unwrap();
        let by_number = ["(&self, part: usize)", "(&self, d: usize)", "(&self, member: usize)"];
        if by_number.iter().any(|arguments| head.contains(arguments)) && !head.contains("Result<") {
            assert!(docs.contains("# Panics"), "{head}");
            getters += 1;
        }
    }
    assert!(getters >= 17, "{getters}");
    let dist = Distribution::builder(&[4, 6]).parts(2).halo(&[1, 0], &[1, 0]).build().unwrap();
    let panics: [(&str, &dyn Fn()); 10] = [
        ("owned", &|| {
            let _ = dist.owned(99);
        }),
        ("stored", &|| {
            let _ = dist.stored(2);
        }),
        ("halo_of", &|| {
            let _ = dist.halo_of(9);
        }),
        ("halo_per_part", &|| {
            let _ = dist.halo_per_part(9).is_some();
        }),
        ("map", &|| {
            let _ = dist.map(9).clone();
        }),
        ("periodic", &|| {
            let _ = dist.periodic(9);
        }),
        ("coordinate", &|| {
            let _ = dist.grid().coordinate(2);
        }),
        ("DimMap::owned", &|| {
            let _ = DimMap::replicated(4, 2).unwrap().owned(2);
        }),
        ("DimMap::owned_set", &|| {
            let _ = DimMap::cyclic(4, 2, 1).unwrap().owned_set(2);
        }),
        ("extent", &|| {
            let _ = dist.global().extent(2);
        }),
    ];
    for (name, get) in panics {
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(get)).is_err(), "{name}");
    }
    assert!(dist.owned_set(2).is_err() && dist.owner(&[4, 0]).is_err() && dist.neighbors(2).is_err());
    assert!(dist.reach(2, &[0, 0], &[0, 0]).is_err());
}
