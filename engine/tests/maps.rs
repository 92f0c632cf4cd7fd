//! Every kind of dimension map against a table of owners made by dealing coordinates one by one, and the
//! worked examples of the protocols that they implement.

#![allow(clippy::unwrap_used)]

mod kinds;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use kinds::{Kind, kinds, mixed};
use partita::index::{
    COORDINATE_LIMIT, DimMap, Distribution, ErrorKind, Index, IndexRange, IndexSet, MAX_PARTS, Region,
    Unstructured,
};
use partita::plan::Plan;
use proptest::prelude::*;

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn counts(map: &DimMap) -> Vec<i64> {
    (0..map.parts()).map(|part| map.count(part)).collect()
}

fn set(map: &DimMap, part: usize) -> Vec<i64> {
    map.owned_set(part).iter().collect()
}

proptest! {
    #[test]
    fn every_map_kind_agrees_with_explicit_lists(kind in kinds()) {
        let (map, lists) = (kind.build(), kind.lists());
        let size = kind.size();
        prop_assert_eq!((map.parts(), map.size()), (lists.len(), size));
        let mut packed = 0;
        for (part, list) in lists.iter().enumerate() {
            prop_assert_eq!(map.count(part), list.len() as i64);
            prop_assert_eq!(&set(&map, part), list);
            let ranges: Vec<i64> =
                map.owned_set(part).ranges().iter().flat_map(IndexRange::iter).collect();
            prop_assert_eq!(&ranges, list);
            prop_assert_eq!(map.owned(part), packed..packed + list.len() as i64);
            for (local, &global) in list.iter().enumerate() {
                prop_assert_eq!(map.to_global(part, local as i64), Some(global));
                prop_assert_eq!(map.local_at(part, global), Some(local as i64));
                prop_assert_eq!(map.owned_set(part).position(global), Some(local as i64));
                prop_assert_eq!(map.from_packed(packed), Some(global));
                packed += 1;
            }
            prop_assert_eq!(map.to_global(part, list.len() as i64), None);
            prop_assert_eq!(map.to_global(part, -1), None);
        }
        prop_assert_eq!(map.packed_size(), packed);
        prop_assert_eq!(map.has_copies(), packed > size);
        for global in 0..size {
            let holders: Vec<usize> = (0..lists.len()).filter(|&p| lists[p].contains(&global)).collect();
            prop_assert_eq!(map.holders(global), holders.clone());
            prop_assert_eq!(map.owner(global), Some(holders[0]));
            let (part, local) = map.to_local(global).unwrap();
            prop_assert_eq!(map.to_global(part, local), Some(global));
            prop_assert_eq!(map.from_packed(map.to_packed(global).unwrap()), Some(global));
        }
        for outside in [-1, size] {
            prop_assert!(map.owner(outside).is_none() && map.to_local(outside).is_none());
            prop_assert!(map.to_packed(outside).is_none() && map.holders(outside).is_empty());
        }
        prop_assert!(map.from_packed(-1).is_none() && map.from_packed(packed).is_none());
        let blocks = map.packed();
        prop_assert!(blocks.is_block() && counts(&blocks) == counts(&map));
        prop_assert_eq!(map.is_block(), map == blocks && map.is_block());
        prop_assert_eq!(hash(&map), hash(&kind.build()));
    }

    #[test]
    fn slices_and_strided_views_keep_every_element_on_its_part(
        kind in kinds(), a in 0..30i64, b in 0..30i64, step in 1..5i64,
        c in 0..30i64, e in 0..30i64, again in 1..4i64,
    ) {
        let size = kind.size();
        let (start, stop) = (a.min(b).min(size), a.max(b).min(size));
        let dist = Distribution::builder(&[size]).map(0, kind.build()).build().unwrap();
        let view = dist.strided(&Region::new(&[start], &[stop]).unwrap(), &[step]).unwrap();
        let picked: Vec<i64> = (start..stop).step_by(step as usize).collect();
        prop_assert_eq!(view.shape()[0], picked.len() as i64);
        let same = |view: &Distribution, picked: &[i64]| {
            picked.iter().enumerate().all(|(i, &g)| {
                view.holders(&[i as i64]).unwrap() == dist.holders(&[g]).unwrap()
            })
        };
        prop_assert!(same(&view, &picked));
        for part in 0..view.parts() {
            let order: Vec<i64> = set(view.map(0), part).iter().map(|&i| picked[i as usize]).collect();
            let all = set(dist.map(0), part);
            let expected: Vec<i64> = all.into_iter().filter(|g| picked.contains(g)).collect();
            prop_assert_eq!(order, expected);
            prop_assert_eq!(view.map(0).count(part), set(view.map(0), part).len() as i64);
        }
        // A slice of a slice.
        let size = picked.len() as i64;
        let (start, stop) = (c.min(e).min(size), c.max(e).min(size));
        let second = view.strided(&Region::new(&[start], &[stop]).unwrap(), &[again]).unwrap();
        let twice: Vec<i64> =
            (start..stop).step_by(again as usize).map(|i| picked[i as usize]).collect();
        prop_assert_eq!(second.shape()[0], twice.len() as i64);
        prop_assert!(same(&second, &twice));
    }

    #[test]
    fn different_map_kinds_per_dimension_up_to_four_dimensions(kinds in mixed()) {
        let shape: Vec<i64> = kinds.iter().map(Kind::size).collect();
        let described = kinds.iter().enumerate();
        let dist = described
            .fold(Distribution::builder(&shape), |b, (d, kind)| b.map(d, kind.build()))
            .build()
            .unwrap();
        let lists: Vec<Vec<Vec<i64>>> = kinds.iter().map(Kind::lists).collect();
        let grid: Vec<i64> = lists.iter().map(|lists| lists.len() as i64).collect();
        prop_assert_eq!(&dist.grid().shape()[..], &grid[..]);
        let packed = dist.packed();
        prop_assert_eq!(packed.is_block(), true);
        let mut stored = 0;
        for part in 0..dist.parts() {
            let (at, owned) = (dist.grid().coordinate(part), dist.owned(part));
            prop_assert_eq!(packed.owned(part), owned);
            prop_assert_eq!(packed.stored(part), dist.stored(part));
            stored += owned.volume().unwrap();
            for (local, cell) in Region::from_shape(&owned.extents()).unwrap().points().zip(owned.points()) {
                let global = dist.to_global(part, &local).unwrap();
                let expected = Index::from_fn(dist.rank(), |d| lists[d][at[d] as usize][local[d] as usize]);
                prop_assert_eq!(global, expected);
                let held = |d: usize| dist.map(d).from_packed(cell[d]).unwrap();
                prop_assert_eq!(Index::from_fn(dist.rank(), held), expected);
                prop_assert!(dist.holders(&global).unwrap().contains(&part));
            }
            let sets = dist.owned_set(part).unwrap();
            let lengths: Vec<i64> = sets.iter().map(IndexSet::len).collect();
            prop_assert_eq!(&lengths[..], &owned.extents()[..]);
        }
        let cells = dist.global().volume().unwrap();
        prop_assert_eq!(stored, packed.global().volume().unwrap());
        prop_assert!(stored == cells || dist.has_copies() && stored > cells);
        for point in dist.global().points() {
            let (part, local) = dist.to_local(&point).unwrap();
            prop_assert_eq!(part, dist.owner(&point).unwrap());
            prop_assert_eq!(part, dist.holders(&point).unwrap()[0]);
            prop_assert_eq!(dist.to_global(part, &local).unwrap(), point);
            let place = Index::from_fn(dist.rank(), |d| dist.map(d).to_packed(point[d]).unwrap());
            prop_assert_eq!(packed.owner(&place).unwrap(), part);
        }
        prop_assert!(dist.same_layout(&dist.clone()) && packed.packed() == packed);
    }

    #[test]
    fn maps_are_equal_when_every_part_owns_the_same(a in kinds(), b in kinds()) {
        let same = a.lists() == b.lists();
        let listed = |kind: &Kind| matches!(kind, Kind::Lists(_));
        prop_assert_eq!(a.build(), a.build());
        // Lists are only compared with lists.
        if listed(&a) == listed(&b) {
            prop_assert_eq!(a.build() == b.build(), same, "{:?} {:?}", a, b);
        }
        prop_assert!(a.build() != b.build() || hash(&a.build()) == hash(&b.build()));
    }

    #[test]
    fn packed_coordinates_are_what_plans_see(kinds in mixed()) {
        let shape: Vec<i64> = kinds.iter().map(Kind::size).collect();
        let described = kinds.iter().enumerate();
        let dist = described
            .fold(Distribution::builder(&shape), |b, (d, kind)| b.map(d, kind.build()))
            .build()
            .unwrap();
        let packed = dist.packed();
        let gather = Plan::gather(&packed, &packed.global()).unwrap();
        let moved: u64 = gather.moves().iter().map(|m| m.elements()).sum();
        prop_assert_eq!(moved as i64, packed.global().volume().unwrap());
        prop_assert_eq!(Plan::gather(&dist, &dist.global()).is_ok(), dist.is_block());
    }
}

#[test]
fn the_size_is_the_product_of_the_shape_and_one_for_a_scalar() {
    let scalar = Distribution::builder(&[]).build().unwrap();
    assert_eq!((scalar.rank(), scalar.global().volume().unwrap()), (0, 1));
    assert_eq!(scalar.packed(), scalar);
    let dist = Distribution::builder(&[4, 5, 6]).grid(&[1, 2, 3]).cyclic(1, 2).build().unwrap();
    assert_eq!(dist.global().volume().unwrap(), 120);
}

#[test]
fn negative_sizes_and_empty_grids_are_errors() {
    for kind in ["c", "r", "b"] {
        let build = |size: i64, parts: usize| match kind {
            "c" => DimMap::cyclic(size, parts, 1),
            "r" => DimMap::replicated(size, parts),
            _ => DimMap::even(size, parts),
        };
        assert!(build(0, 1).is_ok() && build(5, 3).is_ok());
        assert_eq!(build(-1, 1).unwrap_err().kind, ErrorKind::Size);
        assert_eq!(build(5, 0).unwrap_err().kind, ErrorKind::Grid);
        assert_eq!(build(5, MAX_PARTS + 1).unwrap_err().kind, ErrorKind::Grid);
    }
    assert_eq!(DimMap::unstructured(&[], true).unwrap_err().kind, ErrorKind::Grid);
}

#[test]
fn the_product_of_the_grid_is_the_number_of_parts() {
    let dist = Distribution::builder(&[9, 9, 9]).grid(&[2, 3, 2]).cyclic(0, 1).replicated(2).build().unwrap();
    assert_eq!(dist.parts(), 12);
    let wrong = Distribution::builder(&[9, 9]).parts(5).grid(&[2, 3]).cyclic(0, 1).build().unwrap_err();
    assert_eq!(wrong.kind, ErrorKind::Grid);
    let map = DimMap::cyclic(9, 3, 1).unwrap();
    let wrong = Distribution::builder(&[9]).grid(&[2]).map(0, map.clone()).build().unwrap_err();
    let text = "distribution: expected a map of 9 coordinates over 2 parts in dimension 0, given a map, \
                cyclic, of 9 over 3; make the map, the shape and the grid agree";
    assert_eq!(wrong.to_string(), text);
    // Without a grid the map's parts count.
    assert_eq!(Distribution::builder(&[4, 9]).map(1, map).build().unwrap().grid().shape()[..], [1, 3]);
}

#[test]
fn halo_cells_are_stored_and_not_owned() {
    let dist = Distribution::builder(&[12, 9])
        .grid(&[3, 2])
        .halo(&[2, 1], &[1, 1])
        .periodic(&[true, false])
        .build()
        .unwrap();
    let plan = Plan::halo(&dist, true).unwrap();
    assert!(!plan.moves().is_empty());
    for m in plan.moves() {
        assert!(dist.owned(m.to_part).intersect(&m.to).is_empty());
        assert!(dist.owned(m.from_part).contains_region(&m.from));
    }
    // Only the adjoint touches what is owned.
    for m in plan.adjoint().moves() {
        assert!(dist.owned(m.to_part).contains_region(&m.to));
    }
}

#[test]
fn a_cyclic_part_owns_a_range_strided_by_the_number_of_parts() {
    for size in 0..20 {
        for parts in 1..6usize {
            let map = DimMap::cyclic(size, parts, 1).unwrap();
            for part in 0..parts {
                let expected: Vec<i64> = (part as i64..size).step_by(parts).collect();
                assert_eq!(set(&map, part), expected);
                let owned = map.owned_set(part);
                let IndexSet::Range(range) = &owned else { panic!("{owned:?}") };
                assert_eq!((range.stride(), range.first()), (parts as i64, (part as i64).min(size)));
            }
        }
    }
}

#[test]
fn one_block_per_part_is_a_block_map_and_smaller_blocks_are_block_cyclic() {
    let ceil = DimMap::cyclic(10, 4, 3).unwrap();
    let block = DimMap::irregular(&[0, 3, 6, 9, 10]).unwrap();
    assert_eq!((&ceil, hash(&ceil)), (&block, hash(&block)));
    assert_eq!(ceil.as_block().unwrap(), block);
    assert_eq!(DimMap::cyclic(12, 4, 3).unwrap(), DimMap::even(12, 4).unwrap());
    let fine = DimMap::cyclic(12, 3, 2).unwrap();
    assert_eq!(set(&fine, 1), [2, 3, 8, 9]);
    assert!(fine.as_block().is_none() && fine != DimMap::even(12, 3).unwrap());
    assert_ne!(fine, DimMap::cyclic(12, 3, 1).unwrap());
}

#[test]
fn the_partial_block_belongs_to_the_next_part_in_cyclic_order() {
    // The published rule, for the comparison only: full blocks by rank, and the rest with rank 0.
    let published = |size: i64, block: i64, parts: i64, part: i64| {
        let full = (size / block - 1 - part).div_euclid(parts) + 1;
        full * block + if part == 0 { size % block } else { 0 }
    };
    assert_eq!([published(3, 2, 2, 0), published(3, 2, 2, 1)], [3, 0]);
    let mut wrong = 0;
    for size in 0..20 {
        for block in 1..5 {
            for parts in 1..5usize {
                let map = DimMap::cyclic(size, parts, block).unwrap();
                let mut dealt = vec![0; parts];
                for g in 0..size {
                    let part = (g / block) as usize % parts;
                    dealt[part] += 1;
                    assert_eq!(map.owner(g), Some(part));
                }
                assert_eq!(counts(&map), dealt, "{size} in blocks of {block} over {parts}");
                let theirs: Vec<i64> =
                    (0..parts as i64).map(|part| published(size, block, parts as i64, part)).collect();
                wrong += theirs.iter().zip(&dealt).filter(|(a, b)| a != b).count();
            }
        }
    }
    assert_eq!(wrong, 130);
    assert_eq!(counts(&DimMap::cyclic(3, 2, 2).unwrap()), [2, 1]);
}

#[test]
fn a_errata_ii_a_block_may_be_empty_and_its_bounds_equal() {
    let map = DimMap::irregular(&[0, 4, 4, 9]).unwrap();
    assert_eq!((map.count(1), map.owned(1)), (0, 4..4));
}

#[test]
fn a_errata_iii_sliced_and_empty_cyclic_parts_start_where_they_start() {
    // Part 1 of the slice begins with element 0: not at `rank * block_size`.
    let dist = Distribution::builder(&[9]).parts(3).cyclic(0, 1).build().unwrap();
    let view = dist.restricted(&Region::new(&[1], &[8]).unwrap()).unwrap();
    let starts: Vec<i64> = (0..3).map(|part| set(view.map(0), part)[0]).collect();
    assert_eq!(starts, [2, 0, 1]);
    let short = DimMap::cyclic(2, 3, 1).unwrap();
    let IndexSet::Range(nothing) = short.owned_set(2) else { panic!("not a range") };
    assert!(nothing.is_empty() && nothing.first() == short.size());
}

#[test]
fn a_errata_iv_v_widths_are_pairs_and_sizes_are_checked() {
    let line = || Distribution::builder(&[9]).parts(3);
    assert!(line().halo_per_part(0, &[(0, 1), (1, 1), (1, 0)]).build().is_ok());
    assert_eq!(Distribution::builder(&[-9]).build().unwrap_err().kind, ErrorKind::Size);
    let other = Distribution::builder(&[8]).map(0, DimMap::cyclic(9, 3, 1).unwrap()).build();
    assert_eq!(other.unwrap_err().kind, ErrorKind::Bounds);
}

#[test]
fn unstructured_labels_may_be_negative_unordered_and_sparse() {
    let names = [vec![40, -7], vec![], vec![3, 1_000_000_000_000, -8]];
    let map = Unstructured::labelled(&names, true).unwrap();
    assert_eq!((map.size(), map.parts()), (5, 3));
    let labels: Vec<i64> = (0..5).map(|g| map.label(g).unwrap()).collect();
    assert_eq!(labels, [-8, -7, 3, 40, 1_000_000_000_000]);
    for (part, list) in names.iter().enumerate() {
        for (local, &name) in list.iter().enumerate() {
            let position = map.position(name).unwrap();
            assert_eq!(map.to_local(position), Some((part, local as i64)));
            assert_eq!(map.label(map.held(part)[local]), Some(name));
        }
    }
    assert!(map.position(4).is_none() && map.label(5).is_none() && map.label(-1).is_none());
    let twice = Unstructured::labelled(&[vec![1], vec![5, 2, 5]], false).unwrap_err().to_string();
    let text = "unstructured map: expected different coordinates in every list, given 5 twice in the list \
                of part 1; list every coordinate of a part once";
    assert_eq!(twice, text);
    let gapped = DimMap::unstructured(&[vec![0, 1], vec![3, 4]], true).unwrap_err().to_string();
    assert!(gapped.contains("3 in the list of part 1, and 2 in none"), "{gapped}");
    assert!(DimMap::unstructured(&[vec![0, -1]], true).unwrap_err().to_string().contains("-1 in the list"));
}

#[test]
fn one_to_one_is_verified() {
    let lists = [vec![2, 0], vec![1, 2]];
    let error = DimMap::unstructured(&lists, true).unwrap_err().to_string();
    let text = "unstructured map: expected every coordinate in one list, as one_to_one promises, given 2 in \
                the lists of parts 0 and 1; list it once, or do not promise one_to_one";
    assert_eq!(error, text);
    let map = DimMap::unstructured(&[vec![2, 0], vec![1]], true).unwrap();
    let DimMap::Unstructured(lists) = &map else { panic!("{map:?}") };
    assert!(lists.one_to_one() && !map.has_copies());
}

#[test]
fn copies_are_readable_on_every_holder_and_written_at_the_owner() {
    let map = DimMap::unstructured(&[vec![2], vec![1, 2], vec![0, 2, 1]], false).unwrap();
    assert_eq!((map.size(), map.packed_size(), map.has_copies()), (3, 6, true));
    // The first part that lists a coordinate owns it; all that list it hold it.
    assert_eq!((map.owner(2), map.holders(2)), (Some(0), vec![0, 1, 2]));
    assert_eq!((map.owner(1), map.holders(1)), (Some(1), vec![1, 2]));
    let mut packed: Vec<i64> = (0..6).map(|place| 100 * map.from_packed(place).unwrap()).collect();
    let write = |packed: &mut Vec<i64>, global: i64, value: i64| {
        packed[map.to_packed(global).unwrap() as usize] = value;
        for part in map.holders(global) {
            let place = map.owned(part).start + map.local_at(part, global).unwrap();
            packed[place as usize] = value;
        }
    };
    write(&mut packed, 2, -1);
    for part in 0..3 {
        let read = map.owned(part).start + map.local_at(part, 2).unwrap();
        assert_eq!(packed[read as usize], -1);
    }
    assert_eq!(packed, [-1, 100, -1, 0, -1, 100]);
}

#[test]
fn one_part_is_the_whole_dimension_for_every_kind() {
    let whole = DimMap::even(7, 1).unwrap();
    for map in [DimMap::cyclic(7, 1, 1), DimMap::cyclic(7, 1, 3), DimMap::replicated(7, 1)] {
        let map = map.unwrap();
        assert_eq!((&map, hash(&map)), (&whole, hash(&whole)));
    }
    let listed = DimMap::unstructured(&[(0..7).collect()], true).unwrap();
    assert_eq!(set(&listed, 0), set(&whole, 0));
}

#[test]
fn an_empty_part_in_all_four_map_kinds() {
    // The size is 0, for every kind.
    for map in [DimMap::even(0, 2), DimMap::cyclic(0, 2, 3), DimMap::replicated(0, 2)] {
        let map = map.unwrap();
        assert_eq!((counts(&map), map.owner(0), map.packed_size()), (vec![0, 0], None, 0));
    }
    // The start is the size, for blocks and cyclic maps.
    assert_eq!(DimMap::irregular(&[0, 5, 5]).unwrap().owned(1), 5..5);
    let cyclic = DimMap::cyclic(5, 3, 4).unwrap();
    assert_eq!((counts(&cyclic), cyclic.owned(2)), (vec![4, 1, 0], 5..5));
    // Start and stop are equal, for blocks.
    assert_eq!(DimMap::irregular(&[0, 2, 2, 5]).unwrap().count(1), 0);
    // The list is empty.
    let lists = DimMap::unstructured(&[vec![], vec![1, 0], vec![]], true).unwrap();
    assert_eq!((counts(&lists), lists.owner(0)), (vec![0, 2, 0], Some(1)));
    let none = DimMap::unstructured(&[vec![], vec![]], false).unwrap();
    assert_eq!((none.size(), none.packed_size(), none.from_packed(0)), (0, 0, None));
    let dist = Distribution::builder(&[5, 2]).map(0, cyclic).map(1, lists).build().unwrap();
    let empty = (0..dist.parts()).filter(|&part| dist.owned(part).is_empty()).count();
    assert_eq!((dist.parts(), empty), (9, 7));
}

fn example(kind: &str, size: i64) -> DimMap {
    match kind {
        "b" => DimMap::even(size, 2),
        "irregular b" => DimMap::irregular(&[0, 1, 1, size]),
        "c" => DimMap::cyclic(size, 3, 1),
        "bc" => DimMap::cyclic(size, 2, 2),
        _ => DimMap::unstructured(&[vec![3, 0], (4..size).rev().chain([1, 2]).collect()], true),
    }
    .unwrap()
}

#[test]
fn ownership_over_all_pairs_of_map_kinds() {
    let names = ["b", "irregular b", "c", "bc", "u"];
    let mut owners = HashSet::new();
    for a in names {
        for b in names {
            let (first, second) = (example(a, 7), example(b, 5));
            let dist = Distribution::builder(&[7, 5]).map(0, first.clone()).map(1, second.clone());
            let dist = dist.build().unwrap();
            for point in dist.global().points() {
                let at = [first.owner(point[0]).unwrap() as i64, second.owner(point[1]).unwrap() as i64];
                assert_eq!(dist.owner(&point).unwrap(), dist.grid().part(&at).unwrap(), "{a} x {b}");
                owners.insert((a, b, dist.owner(&point).unwrap()));
            }
        }
    }
    assert!(owners.len() > 25);
    let cube = Distribution::builder(&[5, 6, 7]).grid(&[2, 2, 2]).cyclic(0, 1).cyclic(2, 1).build().unwrap();
    assert_eq!(cube.owner(&[1, 2, 3]).unwrap(), 5);
    assert_eq!(cube.owner(&[4, 3, 6]).unwrap(), 2);
    assert_eq!(cube.to_local(&[3, 4, 5]).unwrap(), (7, Index::from([1, 1, 2])));
}

#[test]
fn parts_with_the_same_grid_coordinate_agree_along_that_dimension() {
    let dist = Distribution::builder(&[7, 8, 5])
        .grid(&[2, 3, 2])
        .cyclic(0, 2)
        .map(2, DimMap::unstructured(&[vec![4, 0], vec![1, 3, 2]], true).unwrap())
        .build()
        .unwrap();
    for part in 0..dist.parts() {
        for other in 0..dist.parts() {
            let (a, b) = (dist.grid().coordinate(part), dist.grid().coordinate(other));
            let (mine, theirs) = (dist.owned_set(part).unwrap(), dist.owned_set(other).unwrap());
            for d in 0..3 {
                assert_eq!(a[d] == b[d], mine[d] == theirs[d]);
            }
        }
    }
}

#[test]
fn sparse_labels_and_dense_coordinates_in_one_array() {
    let names = [vec![900, 17], vec![-4]];
    let rows = DimMap::Unstructured(Unstructured::labelled(&names, true).unwrap());
    let dist = Distribution::builder(&[3, 4]).map(0, rows).build().unwrap();
    assert_eq!(dist.grid().shape()[..], [2, 1]);
    let DimMap::Unstructured(lists) = dist.map(0) else { panic!("not lists") };
    let row = lists.position(900).unwrap();
    assert_eq!((row, dist.to_local(&[row, 2]).unwrap()), (2, (0, Index::from([0, 2]))));
}

#[test]
fn labels_stay_with_their_coordinates_in_slices() {
    let names = [vec![40, -7, 11], vec![], vec![3, 500, -8]];
    let map = Unstructured::labelled(&names, true).unwrap();
    let whole = Distribution::builder(&[6]).map(0, DimMap::Unstructured(map)).build().unwrap();
    for (start, stop, step, kept) in [
        (0, 6, 1, &[-8, -7, 3, 11, 40, 500][..]),
        (1, 5, 1, &[-7, 3, 11, 40]),
        (1, 6, 2, &[-7, 11, 500]),
        (2, 2, 1, &[]),
    ] {
        let slice = whole.strided(&Region::new(&[start], &[stop]).unwrap(), &[step]).unwrap();
        let DimMap::Unstructured(lists) = slice.map(0) else { panic!("not lists") };
        let labels: Vec<i64> = (0..lists.size()).map(|g| lists.label(g).unwrap()).collect();
        assert_eq!(labels, kept);
        for &name in kept {
            let (was, now) =
                (whole.map(0).owner(start + step * lists.position(name).unwrap()), lists.position(name));
            assert_eq!(slice.map(0).owner(now.unwrap()), was, "{name}");
            assert!(was.is_some_and(|part| names[part].contains(&name)));
        }
        assert!(lists.position(4).is_none() && lists.one_to_one());
        // A slice of the slice, too.
        if kept.len() > 2 {
            let inner = slice.restricted(&Region::new(&[1], &[2]).unwrap()).unwrap();
            let DimMap::Unstructured(inner) = inner.map(0) else { panic!("not lists") };
            assert_eq!((inner.size(), inner.label(0)), (1, Some(kept[1])));
        }
    }
}

#[test]
fn eight_dimensions_of_mixed_kinds_store_every_cell_once() {
    let builder = Distribution::builder(&[2; 8]).grid(&[2, 1, 2, 1, 2, 1, 1, 2]);
    let dist = builder.cyclic(0, 1).cyclic(2, 3).replicated(4).build().unwrap();
    assert!(Distribution::builder(&[2; 9]).build().is_err());
    let mut stored = vec![0i64; dist.packed().global().volume().unwrap() as usize];
    let strides: Vec<i64> = (0..8).map(|d| dist.packed().shape()[d + 1..].iter().product()).collect();
    let place = |packed: &Index| packed.iter().zip(&strides).map(|(a, b)| a * b).sum::<i64>() as usize;
    for point in dist.global().points() {
        let packed = Index::from_fn(8, |d| dist.map(d).to_packed(point[d]).unwrap());
        stored[place(&packed)] += point.iter().fold(1, |sum, i| 2 * sum + i);
    }
    let owned: HashSet<i64> = stored.iter().copied().filter(|&value| value > 0).collect();
    assert_eq!(owned, (256..512).collect());
}

#[test]
fn every_distribution_error_says_where_and_why() {
    let text = |builder: partita::index::DistributionBuilder| builder.build().unwrap_err().to_string();
    let of = Distribution::builder;
    let bounds = text(of(&[4, 8]).bounds(1, &[0, 5, 3, 8]));
    assert_eq!(
        bounds,
        "block bounds: expected ascending bounds, given 3 after 5 as the end of part 1 in dimension 1; \
         list 0, then where each part stops, up to the size"
    );
    let cyclic = text(of(&[4, 8]).parts(2).cyclic(0, 0));
    assert!(cyclic.contains("a block size of at least 1, given 0 in dimension 0"), "{cyclic}");
    let halo = text(of(&[4, 8]).grid(&[2, 2]).cyclic(1, 1).halo(&[0, 1], &[0, 0]));
    assert!(halo.contains("no halo along a dimension whose map is cyclic"), "{halo}");
    assert!(halo.contains("dimension 1"), "{halo}");
    assert!(text(of(&[4, -8])).contains("-8 in dimension 1"));
    assert!(text(of(&[1 << 40, 1 << 40])).contains("points"));
    assert!(text(of(&[8]).cyclic(3, 1)).contains("dimensions below 1, given 3"));
    let shape = [1 << 40];
    assert!(text(of(&shape).grid(&[1 << 30]).replicated(0)).contains("at each of 1073741824 parts"));
}

#[test]
fn operations_unsupported_by_a_map_kind_name_the_kind() {
    let dist = Distribution::builder(&[8, 8]).grid(&[2, 2]).cyclic(1, 2).build().unwrap();
    let error = Plan::halo(&dist, true).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    let text = "Plan::halo: expected block maps in every dimension, given a map, cyclic, in dimension 1; \
                use the packed distribution and packed coordinates, or redistribute first";
    assert_eq!(error.to_string(), text);
    assert!(Plan::redistribute(&dist.packed(), &dist).is_ok());
    assert!(dist.with_halo(&[1, 1], &[1, 1]).is_err() && dist.with_halo(&[1, 0], &[1, 0]).is_ok());
}

#[test]
fn tiles_cover_the_shape_exactly_and_halos_lie_outside() {
    // The published examples: 64 over 4, 8x8 over 2x2, 8x8 over 4x1.
    for (shape, grid) in [(&[64][..], &[4][..]), (&[8, 8], &[2, 2]), (&[8, 8], &[4, 1]), (&[7, 9], &[3, 2])] {
        let of = || Distribution::builder(shape).grid(grid);
        let dist = of().build().unwrap();
        let mut covered: Vec<Index> = Vec::new();
        dist.check_regular("partition tiling").unwrap();
        (0..dist.parts()).for_each(|part| covered.extend(dist.owned(part).points()));
        covered.sort_unstable();
        assert_eq!(covered, dist.global().points().collect::<Vec<_>>());
        let one = vec![1; shape.len()];
        let wide = of().halo(&one, &one).build().unwrap();
        wide.check_regular("partition tiling").unwrap();
        assert!((0..dist.parts()).all(|part| wide.owned(part) == dist.owned(part)));
    }
    let remainder = Distribution::builder(&[10]).bounds(0, &[0, 4, 8, 10, 10]).build().unwrap();
    remainder.check_regular("partition tiling").unwrap();
}

#[test]
fn distributions_without_tiles_are_errors_with_a_reason() {
    let of = || Distribution::builder(&[3, 12]).grid(&[1, 3]);
    let lists: Vec<Vec<i64>> = (0..3).map(|part| (part..12).step_by(3).collect()).collect();
    for (builder, reason) in [
        (of().cyclic(1, 1), "a map, cyclic 1, in dimension 1"),
        (of().cyclic(1, 2), "a map, cyclic 2, in dimension 1"),
        (of().map(1, DimMap::unstructured(&lists, true).unwrap()), "a map, unstructured, in dimension 1"),
        (of().replicated(1), "a map, replicated, in dimension 1"),
        (of().bounds(1, &[0, 1, 7, 12]), "irregular bounds in dimension 1"),
        (of().bounds(1, &[0, 5, 7, 12]), "irregular bounds in dimension 1"),
    ] {
        let dist = builder.build().unwrap();
        let error = dist.check_regular("partition tiling").unwrap_err().to_string();
        let text = format!("partition tiling: expected a regular grid of blocks, given {reason}; ");
        assert!(error.starts_with(&text), "{error}");
    }
}

#[test]
fn replicated_and_single_part_maps_use_the_same_interface() {
    let dist = Distribution::builder(&[6, 3]).grid(&[2, 3]).replicated(1).build().unwrap();
    assert_eq!(dist.packed().shape()[..], [6, 9]);
    for part in 0..6 {
        let sets = dist.owned_set(part).unwrap();
        assert_eq!(sets[1].iter().collect::<Vec<_>>(), [0, 1, 2]);
    }
    assert_eq!(dist.holders(&[4, 1]).unwrap(), [3, 4, 5]);
    assert_eq!(dist.owner(&[4, 1]).unwrap(), 3);
    assert!(dist.has_copies() && !Distribution::builder(&[6]).build().unwrap().has_copies());
}

#[test]
fn sizes_near_the_limit_do_not_overflow() {
    for (block, parts) in [(1, MAX_PARTS), (COORDINATE_LIMIT, 2), (i64::MAX, MAX_PARTS), (1 << 61, 3)] {
        let map = DimMap::cyclic(COORDINATE_LIMIT, parts, block).unwrap();
        for global in [0, 1, 12_345_678_901, COORDINATE_LIMIT / 2, COORDINATE_LIMIT - 1] {
            let part = map.owner(global).unwrap();
            assert_eq!(part as i128, i128::from(global / block) % parts as i128, "{block} {parts}");
            let (_, local) = map.to_local(global).unwrap();
            assert_eq!(map.to_global(part, local), Some(global));
            assert_eq!(map.from_packed(map.to_packed(global).unwrap()), Some(global));
        }
        assert_eq!(map.packed_size(), COORDINATE_LIMIT);
    }
    let dist = Distribution::builder(&[COORDINATE_LIMIT]).parts(7).cyclic(0, 3).build().unwrap();
    let view = dist.strided(&dist.global(), &[1_000_003]).unwrap();
    let last = view.shape()[0] - 1;
    assert_eq!(view.owner(&[last]).unwrap(), dist.owner(&[last * 1_000_003]).unwrap());
    let (part, local) = view.to_local(&[last]).unwrap();
    assert_eq!(view.to_global(part, &local).unwrap()[0], last);
    assert!(DimMap::replicated(COORDINATE_LIMIT, 2).is_err() && DimMap::cyclic(i64::MAX, 2, 1).is_err());
}

/// Equal maps have the same meaning for another size, however they were written.
#[test]
fn even_blocks_are_a_rule_whoever_lists_them() {
    for bounds in [&[0, 2, 4, 7][..], &[0, 2, 4, 6], &[0, 0, 1, 2]] {
        let (map, size) = (DimMap::irregular(bounds).unwrap(), bounds[3]);
        assert_eq!(map, DimMap::even(size, 3).unwrap());
        assert_eq!(map.resized(11).unwrap(), DimMap::even(11, 3).unwrap());
    }
    let rows = Distribution::builder(&[7]).bounds(0, &[0, 2, 4, 7]).build().unwrap();
    assert_eq!(rows.resized(&[9]).unwrap().map(0), &DimMap::even(9, 3).unwrap());
    assert!(DimMap::irregular(&[0, 3, 5, 7]).unwrap().resized(8).is_err());
}
