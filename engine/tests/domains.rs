//! Domains, loops over them by leaders and followers, and maps that users write.

#![allow(clippy::unwrap_used)]

mod kinds;
mod model;

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kinds::kinds_to;
use model::ModelArray;
use partita::index::{
    CustomMap, DimMap, Distribution, Domain, DomainKind, DomainMap, ErrorKind, Index, IndexRange,
    IterationChunk, MappedDomain, Region, Result, serial_write, zip,
};
use proptest::prelude::*;

fn range(start: i64, stop: i64, stride: i64) -> IndexRange {
    IndexRange::new(start, stop, stride).unwrap()
}

fn domain<const N: usize>(ranges: [(i64, i64, i64); N]) -> Domain {
    Domain::new(&ranges.map(|(start, stop, stride)| range(start, stop, stride))).unwrap()
}

fn mapped(dist: Distribution, indices: Domain) -> MappedDomain {
    MappedDomain::new(Arc::new(dist), indices)
}

fn ranges() -> impl Strategy<Value = IndexRange> {
    (-12..12i64, 0..9i64, prop_oneof![-4..0i64, 1..5i64])
        .prop_map(|(start, len, stride)| range(start, start + len * stride, stride))
}

/// Two to four ranges of one length, each with its own start and direction.
fn zipped() -> impl Strategy<Value = (Vec<Vec<IndexRange>>, Vec<i64>)> {
    let dims = prop::collection::vec(0..7i64, 1..=3);
    (dims, 2..5usize).prop_flat_map(|(shape, items)| {
        let range = |len: i64| {
            (-9..9i64, prop_oneof![-3..0i64, 1..4i64]).prop_map(move |(start, stride)| {
                IndexRange::new(start, start + len * stride, stride).unwrap()
            })
        };
        let one: Vec<_> = shape.iter().map(|&len| range(len)).collect();
        (prop::collection::vec(one, items), Just(shape))
    })
}

proptest! {
    #[test]
    fn ranges_agree_with_their_element_lists(a in ranges(), b in ranges(), by in -9..9i64) {
        let (xs, ys): (Vec<i64>, Vec<i64>) = (a.iter().collect(), b.iter().collect());
        prop_assert_eq!(a.len(), xs.len() as i64);
        prop_assert_eq!((a.low(), a.high()), (xs.iter().min().copied(), xs.iter().max().copied()));
        for i in -60..60 {
            let order = xs.iter().position(|&x| x == i).map(|p| p as i64);
            prop_assert_eq!((a.order(i), a.contains(i)), (order, order.is_some()));
        }
        let common: Vec<i64> = xs.iter().copied().filter(|x| ys.contains(x)).collect();
        prop_assert_eq!(a.intersect(&b).iter().collect::<Vec<_>>(), common);
        prop_assert_eq!(a == b, xs == ys);
        let moved: Vec<i64> = xs.iter().map(|x| x + by).collect();
        prop_assert_eq!(a.shift(by).unwrap().iter().collect::<Vec<_>>(), moved);
    }

    #[test]
    fn densify_and_undensify_are_inverse_and_keep_the_order(whole in ranges(), cut in ranges()) {
        let sub = cut.intersect(&whole);
        let dense = whole.positions(&sub).unwrap();
        let orders: Vec<i64> = sub.iter().map(|i| whole.order(i).unwrap()).collect();
        prop_assert_eq!(dense.iter().collect::<Vec<_>>(), orders);
        prop_assert_eq!(whole.at(&dense).unwrap(), sub);
        prop_assert_eq!(whole.positions(&whole).unwrap(), range(0, whole.len(), 1));
        prop_assert_eq!(whole.positions(&cut).is_ok(), cut.iter().all(|i| whole.contains(i)));
        let (w, s) = (Domain::new(&[whole, cut]).unwrap(), Domain::new(&[sub, cut]).unwrap());
        let dense = w.densify(&s).unwrap();
        prop_assert_eq!(w.undensify(&dense).unwrap(), s);
    }

    #[test]
    fn zipping_any_maps_gives_the_serial_result(
        (items, shape) in zipped(), seed in prop::collection::vec(kinds_to(12), 3), blocks in 1..4i64,
    ) {
        let domains: Vec<Domain> = items.iter().map(|ranges| Domain::new(ranges).unwrap()).collect();
        let grids: Vec<i64> = shape.iter().zip(&seed).map(|(_, kind)| kind.lists().len() as i64).collect();
        // The items are divided by different maps: blocks, cyclic, block-cyclic, replicated, in turn.
        let dist = |item: usize| {
            let start = Distribution::builder(&shape).grid(&grids);
            (0..shape.len())
                .fold(start, |b, d| match (item + d) % 4 {
                    0 => b,
                    1 => b.cyclic(d, 1),
                    2 => b.cyclic(d, blocks + 1),
                    _ => b.replicated(d),
                })
                .build()
                .unwrap()
        };
        for turn in 0..4 {
            let mapped: Vec<MappedDomain> = domains
                .iter()
                .enumerate()
                .map(|(item, indices)| mapped(dist(item + turn), indices.clone()))
                .collect();
            let items: Vec<&MappedDomain> = mapped.iter().collect();
            let mut parallel = Vec::new();
            zip(&items, |part, indices| {
                assert_eq!(part, items[0].index_to_part(&indices[0]).unwrap());
                parallel.push(indices.to_vec());
            })
            .unwrap();
            let mut walks: Vec<_> = domains.iter().map(Domain::iter).collect();
            let mut serial: Vec<Vec<Index>> = std::iter::from_fn(|| {
                walks.iter_mut().map(Iterator::next).collect::<Option<Vec<Index>>>()
            })
            .collect();
            parallel.sort();
            serial.sort();
            prop_assert_eq!(&parallel, &serial);
        }
    }

    #[test]
    fn parallel_iterators_of_every_kind_cover_every_index_once(kind in kinds_to(20), stride in 1..4i64) {
        let size = kind.size();
        let dist = Distribution::builder(&[size]).map(0, kind.build()).build().unwrap();
        let whole = mapped(dist.clone(), domain([(5, 5 - size * stride, -stride)]));
        let mut seen = HashMap::new();
        whole
            .for_each(|part, index| {
                assert!(seen.insert(*index, part).is_none());
            })
            .unwrap();
        prop_assert_eq!(seen.len() as i64, size);
        for (index, part) in seen {
            prop_assert_eq!(whole.index_to_part(&index).unwrap(), part);
            let order = whole.indices().index_order(&index).unwrap();
            prop_assert_eq!(dist.owner(&[order]).unwrap(), part);
        }
    }

    #[test]
    fn resizing_keeps_the_values_of_common_indices(
        before in prop::collection::vec(ranges(), 2), after in prop::collection::vec(ranges(), 2),
    ) {
        let (before, after) = (Domain::new(&before).unwrap(), Domain::new(&after).unwrap());
        let dist = Distribution::builder(&before.shape()).grid(&[2, 2]).cyclic(1, 2).build().unwrap();
        let mut array = ModelArray::new(&mapped(dist, before.clone()), |index| 100 * index[0] + index[1] + 7);
        array.resize(after.clone());
        prop_assert_eq!(array.domain.indices(), &after);
        prop_assert_eq!(array.domain.version(), 1);
        for index in after.iter() {
            let expected = if before.member(&index) { 100 * index[0] + index[1] + 7 } else { 0 };
            prop_assert_eq!(array.read(&index), expected);
            prop_assert_eq!(array.lives_at(&index), array.domain.index_to_part(&index).ok());
        }
    }
}

/// A user's map with the required methods only: the last dimension is dealt in halves, the rest left alone.
#[derive(Debug, Default)]
struct Halves {
    leaders: AtomicUsize,
}

impl DomainMap for Halves {
    fn name(&self) -> &str {
        "halves"
    }

    fn parts(&self) -> usize {
        2
    }

    fn divide(&self, whole: &Domain) -> Result<Vec<IterationChunk>> {
        self.leaders.fetch_add(1, Ordering::Relaxed);
        let last = whole.rank() - 1;
        let len = whole.shape()[last];
        let piece = |part: usize| {
            let (start, stop) = if part == 0 { (0, len / 2) } else { (len / 2, len) };
            let mut ranges: Vec<IndexRange> = whole.shape().iter().map(|&n| range(0, n, 1)).collect();
            ranges[last] = range(start, stop, 1);
            Ok(IterationChunk { part, dense: Domain::new(&ranges)? })
        };
        (0..2).map(piece).collect()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Halves {
    /// A method that the interface does not know.
    fn leaders_so_far(&self) -> usize {
        self.leaders.load(Ordering::Relaxed)
    }
}

/// A user's map of one dimension with the required methods only: even coordinates and odd ones.
#[derive(Debug)]
struct Parity(i64);

impl CustomMap for Parity {
    fn name(&self) -> &str {
        "parity"
    }
    fn size(&self) -> i64 {
        self.0
    }
    fn parts(&self) -> usize {
        2
    }
    fn count(&self, part: usize) -> i64 {
        (self.0 + 1 - part as i64) / 2
    }
    fn to_local(&self, global: i64) -> (usize, i64) {
        (global as usize % 2, global / 2)
    }
    fn to_global(&self, part: usize, local: i64) -> i64 {
        2 * local + part as i64
    }
}

#[test]
fn an_array_has_a_domain_and_a_domain_has_a_distribution() {
    let dist = Distribution::default_partition(2, &[4]).unwrap();
    let domain = mapped(dist, domain([(1, 5, 1)]));
    let array: ModelArray<i64> = ModelArray::new(&domain, |index| index[0]);
    assert_eq!((domain.map().unwrap().parts(), array.values()), (2, vec![1, 2, 3, 4]));
}

#[test]
fn layouts_on_one_part_use_the_same_interface() {
    let layout = mapped(Distribution::builder(&[2, 3]).build().unwrap(), domain([(0, 2, 1), (3, 0, -1)]));
    let chunks = layout.leader().unwrap();
    assert_eq!((chunks.len(), chunks[0].part), (1, 0));
    assert_eq!(layout.follower(&chunks[0].dense).unwrap(), *layout.indices());
}

#[test]
fn a_custom_map_is_reached_by_downcast() {
    let domain = MappedDomain::new(Arc::new(Halves::default()), domain([(0, 4, 1)]));
    domain.leader().unwrap();
    let map = domain.map().unwrap().as_any().downcast_ref::<Halves>().unwrap();
    assert_eq!(map.leaders_so_far(), 1);
    assert!(domain.map().unwrap().as_any().downcast_ref::<Distribution>().is_none());
}

#[test]
fn a_clone_is_equal_and_independent_and_prints_itself() {
    let map: Arc<dyn DomainMap> = Arc::new(Distribution::default_partition(2, &[4]).unwrap());
    let copy = map.duplicate().unwrap();
    assert!(copy.equal(&*map) && !Arc::ptr_eq(&copy, &map));
    let domain = MappedDomain::new(map.clone(), domain([(1, 5, 1)]));
    assert!(format!("{map:?}").starts_with("Distribution {"), "{map:?}");
    assert_eq!(domain.indices().to_string(), "{1:5}");
    let shown = format!("{domain:?}");
    assert!(
        ["MappedDomain", "version: 0", "Distribution"].iter().all(|word| shown.contains(word)),
        "{shown}"
    );
}

#[test]
fn maps_are_equal_when_they_divide_alike() {
    let of =
        |parts: usize| mapped(Distribution::default_partition(parts, &[4]).unwrap(), domain([(0, 4, 1)]));
    assert_eq!(of(2), of(2));
    assert_ne!(of(2), of(4));
    // A map that does not say is equal to itself only.
    let halves: Arc<dyn DomainMap> = Arc::new(Halves::default());
    let over = |map: &Arc<dyn DomainMap>| MappedDomain::new(map.clone(), domain([(0, 4, 1)]));
    assert_eq!(over(&halves), over(&halves));
    assert_ne!(over(&halves), MappedDomain::new(Arc::new(Halves::default()), domain([(0, 4, 1)])));
}

#[test]
fn a_domain_has_rank_strides_and_a_map() {
    let domain = mapped(Distribution::builder(&[3, 2]).build().unwrap(), domain([(1, 7, 2), (5, 3, -1)]));
    assert_eq!((domain.indices().rank(), domain.indices().stride()), (2, Index::from([2, -1])));
    assert_eq!(domain.map().unwrap().name(), "distribution");
}

#[test]
fn non_rectangular_domains_are_errors() {
    let map: Arc<dyn DomainMap> = Arc::new(Halves::default());
    let make = |kind| MappedDomain::of_kind(kind, map.clone(), domain([(0, 4, 1)]));
    assert!(make(DomainKind::Rectangular).is_ok());
    for kind in [DomainKind::Associative, DomainKind::Opaque, DomainKind::Sparse] {
        let error = make(kind).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert!(error.to_string().contains(&format!("{kind:?} over the map `halves`")));
    }
}

#[test]
fn one_map_serves_domains_of_any_rank_and_stride() {
    let map: Arc<dyn DomainMap> = Arc::new(Halves::default());
    for indices in [domain([(0, 4, 1)]), domain([(9, 0, -2)])] {
        assert_eq!(MappedDomain::new(map.clone(), indices.clone()).indices(), &indices);
    }
    let plane = MappedDomain::new(map.clone(), domain([(0, 2, 1), (0, 3, 1)]));
    let mut count = 0;
    plane.for_each(|_, _| count += 1).unwrap();
    assert_eq!(count, 6);
}

#[test]
fn indices_of_a_domain_are_ranges_and_can_be_set() {
    let mut domain_a = mapped(Distribution::builder(&[3]).parts(2).build().unwrap(), domain([(1, 7, 2)]));
    assert_eq!(domain_a.indices().dims(), [range(1, 7, 2)]);
    let kept = domain_a.set_indices(domain([(3, 12, 1)])).unwrap();
    assert_eq!(domain_a.indices().dims(), [range(3, 12, 1)]);
    assert_eq!(kept.iter().map(|i| i[0]).collect::<Vec<_>>(), [3, 5]);
    let ranges = [range(0, 5, 1)];
    domain_a.set_indices(Domain::new(&ranges).unwrap()).unwrap();
    assert_eq!((domain_a.indices().dims(), domain_a.version()), (&ranges[..], 2));
}

#[test]
fn assigning_a_domain_of_another_rank_is_an_error() {
    let mut line = mapped(Distribution::builder(&[3]).build().unwrap(), domain([(0, 3, 1)]));
    let before = line.clone();
    let error = line.set_indices(domain([(0, 3, 1), (0, 2, 1)])).unwrap_err();
    assert_eq!((error.kind, line == before, line.version()), (ErrorKind::Rank, true, 0));
}

#[test]
fn iteration_is_in_default_order_and_scalar_in_one_dimension() {
    let scalars: Vec<i64> = domain([(8, 0, -3)]).dim(0).iter().collect();
    assert_eq!(scalars, [8, 5, 2]);
    let tuples: Vec<Index> = domain([(8, 0, -3), (1, 3, 1)]).iter().collect();
    assert_eq!(tuples[..3], [Index::from([8, 1]), Index::from([8, 2]), Index::from([5, 1])]);
    assert_eq!(domain([]).iter().collect::<Vec<_>>(), [Index::zeros(0)]);
}

#[test]
fn only_the_leader_of_the_first_operand_runs() {
    let (a, b) = (Arc::new(Halves::default()), Arc::new(Halves::default()));
    let first = MappedDomain::new(a.clone(), domain([(0, 5, 1)]));
    let second = MappedDomain::new(b.clone(), domain([(10, 0, -2)]));
    let mut pairs = Vec::new();
    zip(&[&first, &second], |part, indices| pairs.push((part, indices[0][0], indices[1][0]))).unwrap();
    assert_eq!(pairs, [(0, 0, 10), (0, 1, 8), (1, 2, 6), (1, 3, 4), (1, 4, 2)]);
    assert_eq!((a.leaders_so_far(), b.leaders_so_far()), (1, 0));
}

#[test]
fn a_follower_iterates_any_range_in_default_order() {
    let dist = Distribution::builder(&[4, 6]).grid(&[2, 2]).cyclic(1, 2).build().unwrap();
    let whole = mapped(dist, domain([(3, -1, -1), (0, 12, 2)]));
    // No leader makes this one: every third column, backwards.
    let strange = domain([(1, 3, 1), (5, -1, -3)]);
    let walk: Vec<Index> = whole.follower(&strange).unwrap().iter().collect();
    assert_eq!(walk, [[2, 10], [2, 4], [1, 10], [1, 4]].map(Index::from));
    assert!(whole.follower(&domain([(0, 5, 1), (0, 1, 1)])).is_err());
    assert!(whole.follower(&domain([(0, 1, 1)])).is_err());
}

#[test]
fn the_range_of_a_whole_domain_counts_from_zero() {
    let whole = domain([(9, 0, -3), (2, 9, 2)]);
    assert_eq!(whole.densify(&whole).unwrap(), domain([(0, 3, 1), (0, 4, 1)]));
    let sub = domain([(6, 0, -3), (8, 3, -4)]);
    assert_eq!(whole.densify(&sub).unwrap(), domain([(1, 3, 1), (3, 0, -2)]));
    let error = whole.densify(&domain([(9, 0, -3), (3, 4, 1)])).unwrap_err().to_string();
    assert!(error.contains("in dimension 1"), "{error}");
}

#[test]
fn zipping_block_cyclic_shifted_and_strided_domains_matches_the_published_order() {
    let of = |b: partita::index::DistributionBuilder, indices: Domain| mapped(b.build().unwrap(), indices);
    let line = || Distribution::builder(&[8]).parts(3);
    let block = of(line(), domain([(0, 8, 1)]));
    let cyclic = of(line().cyclic(0, 1), domain([(1, 9, 1)]));
    let blocks = of(line().cyclic(0, 2), domain([(100, 108, 1)]));
    let strided = of(line(), domain([(14, -1, -2)]));
    let items = [&block, &cyclic, &blocks, &strided];
    for first in 0..4 {
        let mut order = items;
        order.swap(0, first);
        let mut sum = [0i64; 8];
        zip(&order, |_, indices| {
            let mut at = indices.to_vec();
            at.swap(0, first);
            sum[at[0][0] as usize] = at[1][0] * 1000 + at[2][0] + at[3][0];
        })
        .unwrap();
        let serial: Vec<i64> = (0..8).map(|i| (i + 1) * 1000 + (100 + i) + (14 - 2 * i)).collect();
        assert_eq!(&sum[..], &serial[..]);
    }
}

#[test]
fn zipping_different_shapes_is_an_error() {
    let of = |n: i64| mapped(Distribution::default_partition(2, &[n]).unwrap(), domain([(0, n, 1)]));
    let error = zip(&[&of(4), &of(5)], |_, _| panic!("must not run")).unwrap_err().to_string();
    assert_eq!(error, "zip: expected domains of shape (4), given (5); slice them to one shape");
}

/// A map whose standalone loop differs from its leader's.
#[derive(Debug)]
struct Alone;

impl DomainMap for Alone {
    fn name(&self) -> &str {
        "alone"
    }
    fn parts(&self) -> usize {
        1
    }
    fn divide(&self, whole: &Domain) -> Result<Vec<IterationChunk>> {
        Ok(vec![IterationChunk { part: 0, dense: whole.densify(whole)? }])
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn standalone(&self, whole: &Domain) -> Option<Result<Vec<IterationChunk>>> {
        let all = whole.dim(0).len();
        let one = |at: i64| Ok(IterationChunk { part: 0, dense: Domain::new(&[range(at, at + 1, 1)])? });
        Some((0..all).rev().map(one).collect())
    }
    fn links_distribution(&self) -> bool {
        false
    }
}

#[test]
fn the_standalone_iterator_yields_the_same_elements() {
    let domain = MappedDomain::new(Arc::new(Alone), domain([(0, 4, 1)]));
    let (mut alone, mut zipped) = (Vec::new(), Vec::new());
    domain.for_each(|_, index| alone.push(index[0])).unwrap();
    zip(&[&domain], |_, indices| zipped.push(indices[0][0])).unwrap();
    assert_eq!((alone, zipped), (vec![3, 2, 1, 0], vec![0, 1, 2, 3]));
}

#[test]
fn one_member_writes_a_domain_in_index_order() {
    let indices = domain([(1, 3, 1), (9, 0, -4)]);
    let value = |index: &Index| (10 * index[0] + index[1]).to_string();
    let write = |value: Option<&dyn Fn(&Index) -> String>| {
        let mut text = String::new();
        (0..3).for_each(|member| serial_write(member, &indices, value, &mut text).unwrap());
        text
    };
    assert_eq!(write(None), "{1:3, 9:0:-4}");
    assert_eq!(write(Some(&value)), "19 15 11\n29 25 21");
}

#[test]
fn a_domain_array_iterates_in_the_order_of_its_domain() {
    let dist = Distribution::builder(&[4]).parts(2).cyclic(0, 1).build().unwrap();
    let domain = mapped(dist, domain([(6, -2, -2)]));
    let array = ModelArray::new(&domain, |index| index[0] as f64 / 2.0);
    assert_eq!(array.domain, domain);
    let mut visited = Vec::new();
    domain.for_each(|part, index| visited.push((part, array.read(index)))).unwrap();
    assert_eq!(visited, [(0, 3.0), (0, 1.0), (1, 2.0), (1, 0.0)]);
}

#[test]
fn element_access_reads_and_writes() {
    let domain = mapped(Distribution::default_partition(3, &[6]).unwrap(), domain([(1, 7, 1)]));
    let mut array = ModelArray::new(&domain, |index| index[0]);
    *array.access(&[5]) += 40;
    assert_eq!(array.values(), [1, 2, 3, 4, 45, 6]);
    assert!(domain.index_to_part(&[7]).is_err() && domain.index_to_part(&[1, 1]).is_err());
}

#[test]
fn the_owner_of_an_index_is_the_part_it_maps_to() {
    let dist = Distribution::builder(&[5, 4]).grid(&[2, 3]).cyclic(0, 2).cyclic(1, 1).build().unwrap();
    let domain = mapped(dist, domain([(10, 5, -1), (0, 8, 2)]));
    let array = ModelArray::new(&domain, |_| 0u8);
    for index in domain.indices().iter() {
        assert_eq!(array.lives_at(&index), domain.index_to_part(&index).ok());
    }
    let error = domain.index_to_part(&[10, 1]).unwrap_err().to_string();
    assert!(error.contains("an index of {10:5:-1, 0:7:2}, given [10, 1]"), "{error}");
}

#[test]
fn queries_of_strided_domains() {
    let d = domain([(1, 8, 3), (9, 0, -4)]);
    assert_eq!((d.dim(1), d.dims().len(), d.rank()), (range(9, 0, -4), 2, 2));
    assert_eq!((d.low().unwrap(), d.high().unwrap()), ([1, 1].into(), [7, 9].into()));
    assert_eq!((d.stride(), d.num_indices(), d.shape()), ([3, -4].into(), 9, [3, 3].into()));
    assert!(d.member(&[4, 5]) && !d.member(&[4, 4]) && !d.member(&[10, 5]) && !d.member(&[4]));
    for (position, index) in d.iter().enumerate() {
        assert_eq!(d.index_order(&index), Some(position as i64));
        assert_eq!(d.nth(position as i64), Some(index));
    }
    assert_eq!((d.index_order(&[2, 9]), d.nth(9), d.nth(-1)), (None, None, None));
    let empty = domain([(3, 3, 1), (0, 2, 1)]);
    assert_eq!((empty.low(), empty.num_indices(), empty.iter().count()), (None, 0, 0));
    // Slicing, and changes of rank.
    let slice = d.intersect(&domain([(0, 8, 2), (0, 8, 1)])).unwrap();
    assert_eq!(slice, domain([(4, 5, 1), (5, 0, -4)]));
    assert_eq!(d.fixed(0, 4).unwrap(), domain([(9, 0, -4)]));
    assert!(d.fixed(0, 5).is_err() && d.fixed(2, 1).is_err());
    assert_eq!(d.shift(&[1, -1]).unwrap(), domain([(2, 9, 3), (8, -1, -4)]));
}

#[test]
fn a_map_may_opt_out_of_being_linked() {
    let domain = MappedDomain::new(Arc::new(Alone), domain([(0, 4, 1)]));
    assert!(domain.map().is_none());
    assert_eq!(domain.leader().unwrap().len(), 1);
}

#[test]
fn a_map_with_only_required_methods_works_and_other_calls_name_the_missing_method() {
    let domain = MappedDomain::new(Arc::new(Halves::default()), domain([(0, 4, 1)]));
    let mut parts = Vec::new();
    domain.for_each(|part, index| parts.push((part, index[0]))).unwrap();
    assert_eq!(parts, [(0, 0), (0, 1), (1, 2), (1, 3)]);
    let error = domain.index_to_part(&[1]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Missing);
    assert_eq!(
        error.to_string(),
        "custom map: expected the method `index_to_part`, given the map `halves`, which does not have it; \
         implement the method, or do without what needs it"
    );
    let map = domain.map().unwrap();
    assert!(map.duplicate().unwrap_err().to_string().contains("`duplicate`"));
}

#[test]
fn a_one_dimensional_map_with_only_required_methods_works_in_distributions() {
    let map = DimMap::custom(Arc::new(Parity(9))).unwrap();
    let DimMap::Custom(custom) = &map else { panic!("not custom") };
    custom.check().unwrap();
    let dist = Distribution::builder(&[9, 4]).grid(&[2, 2]).map(0, map.clone()).cyclic(1, 1).build().unwrap();
    for point in dist.global().points() {
        let (part, local) = dist.to_local(&point).unwrap();
        assert_eq!(dist.to_global(part, &local).unwrap(), point);
        assert_eq!(dist.from_packed(&dist.to_packed(&point).unwrap()).unwrap(), point);
    }
    let sum: i64 = (0..4).map(|part| dist.owned(part).volume().unwrap()).sum();
    assert_eq!(sum, 36);
    assert_eq!(map.owned_set(0).iter().collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
    // Slices keep the parts of their elements.
    let view = dist.strided(&Region::new(&[1, 0], &[8, 4]).unwrap(), &[2, 1]).unwrap();
    assert_eq!(view.map(0).owned_set(1).iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    for (method, error) in
        [("beside", map.beside(0, false).unwrap_err()), ("resized", map.resized(10).unwrap_err())]
    {
        assert_eq!(error.kind, ErrorKind::Missing);
        assert!(error.to_string().contains(&format!("`{method}`")) && error.to_string().contains("`parity`"));
    }
    assert_ne!(map, DimMap::custom(Arc::new(Parity(9))).unwrap());
    assert_eq!(map, map.clone());
}

/// Counts that are wrong in one way or another.
#[derive(Debug)]
struct Wrong(i64, i64);

impl CustomMap for Wrong {
    fn name(&self) -> &str {
        "wrong"
    }
    fn size(&self) -> i64 {
        4
    }
    fn parts(&self) -> usize {
        2
    }
    fn count(&self, part: usize) -> i64 {
        [self.0, self.1][part]
    }
    fn to_local(&self, global: i64) -> (usize, i64) {
        (0, global)
    }
    fn to_global(&self, _: usize, local: i64) -> i64 {
        local
    }
}

#[test]
fn users_maps_that_contradict_themselves_are_refused() {
    let make = |a, b| DimMap::custom(Arc::new(Wrong(a, b)));
    let text = make(5, -1).unwrap_err().to_string();
    assert!(text.contains("-1 for part 1 from the map `wrong`"), "{text}");
    let text = make(1, 2).unwrap_err().to_string();
    assert!(text.contains("counts that sum to the size 4, given a sum of 3"), "{text}");
    let text = make(2, 2).unwrap_err().to_string();
    assert!(text.contains("coordinate 0 at position 0 of part 1, given position 0 of part 0"), "{text}");
}

#[test]
fn domains_too_large_to_count_are_refused() {
    let wide = range(0, 1 << 40, 1);
    assert_eq!(Domain::new(&[wide, wide]).unwrap_err().kind, ErrorKind::Size);
    assert!(Domain::new(&[range(0, 1, 1); 9]).is_err());
    assert!(IndexRange::new(0, i64::MAX, 1).is_err() && IndexRange::new(0, 5, 0).is_err());
    assert!(IndexRange::new(0, 5, i64::MIN).is_err());
    assert!(range(0, 5, 1).shift(i64::MAX).is_err());
    let (a, b) = (range(0, 1 << 61, (1 << 31) + 11), range(5, 1 << 61, (1 << 31) - 1));
    assert!(a.intersect(&b).iter().all(|i| a.contains(i) && b.contains(i)));
}

#[test]
fn error_messages_name_the_type_of_a_map() {
    // Chapel suggests six class names per map; here an author writes one type, and names it once.
    let domain = MappedDomain::new(Arc::new(Halves::default()), domain([(0, 4, 1)]));
    assert!(domain.index_to_part(&[0]).unwrap_err().given.contains("`halves`"));
    let map = DimMap::custom(Arc::new(Parity(4))).unwrap();
    assert_eq!((map.kind(), map.to_string()), ("parity", "parity".to_owned()));
    let dist = Distribution::builder(&[4]).map(0, map).build().unwrap();
    assert!(dist.to_string().contains("maps (parity)"));
    assert!(dist.with_halo(&[1], &[1]).unwrap_err().to_string().contains("whose map is parity"));
}
