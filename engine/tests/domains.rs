//! Domains, loops over them by leaders and followers, and maps that users write.

#![allow(clippy::unwrap_used)]

mod found;
mod kinds;
mod model;
mod pairs;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use found::devices;
use kinds::{Kind, kinds_to};
use model::{Draw, Model};
use pairs::over;
use partita::index::{Chunk, ErrorKind, Index};
use partita::prelude::*;
use proptest::prelude::*;

fn range(start: i64, stop: i64, stride: i64) -> IndexRange {
    IndexRange::new(start, stop, stride).unwrap()
}

fn domain<const N: usize>(ranges: [(i64, i64, i64); N]) -> Domain {
    Domain::new(&ranges.map(|(start, stop, stride)| range(start, stop, stride))).unwrap()
}

fn ranges() -> impl Strategy<Value = IndexRange> {
    (-12..12i64, 0..9i64, prop_oneof![-4..0i64, 1..5i64])
        .prop_map(|(start, len, stride)| range(start, start + len * stride, stride))
}

/// One small map per dimension, for up to three dimensions.
fn mixtures() -> impl Strategy<Value = Vec<Kind>> {
    prop_oneof![
        prop::collection::vec(kinds_to(20), 1),
        prop::collection::vec(kinds_to(7), 2),
        prop::collection::vec(kinds_to(4), 3),
    ]
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

    /// The leader is the domain's own; followers are domains of other bounds and strides.
    #[test]
    fn leaders_of_all_kinds_of_maps_cover_every_index_once_and_followers_go_with_them(
        kinds in mixtures(), seed in any::<u64>(),
    ) {
        let (dist, mut draw) = (over(&kinds.iter().map(Kind::build).collect::<Vec<_>>()), Draw(seed));
        let [whole, second, third] = [0; 3].map(|_| draw.domain(&dist.shape()));
        let (mut owners, mut zipped) = (HashMap::new(), Vec::new());
        for Chunk { part, places } in whole.chunks(&dist).unwrap() {
            let [first, second, third] =
                [&whole, &second, &third].map(|domain| domain.undensify(&places).unwrap());
            prop_assert_eq!(whole.densify(&first).unwrap(), places);
            for ((index, two), three) in first.iter().zip(second.iter()).zip(third.iter()) {
                prop_assert!(owners.insert(index, part).is_none());
                prop_assert_eq!(whole.owner(&dist, &index).unwrap(), part);
                prop_assert_eq!(dist.owner(&whole.place(&index).unwrap()).unwrap(), part);
                zipped.push((index, two, three));
            }
        }
        let serial = whole.iter().zip(second.iter()).zip(third.iter()).map(|((a, b), c)| (a, b, c));
        let mut serial: Vec<_> = serial.collect();
        prop_assert_eq!(owners.len(), serial.len());
        zipped.sort();
        serial.sort();
        prop_assert_eq!(zipped, serial);
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

/// What each part's memory has is what the leader places there.
#[test]
fn chunks_are_where_the_elements_are() {
    for device in devices() {
        for seed in 0..if device.kind() == DeviceKind::Host { 60 } else { 6 } {
            let mut draw = Draw(seed);
            let team = Team::on(std::slice::from_ref(&device), 1 + draw.below(7) as usize).unwrap();
            let shape = [draw.between(1, 9), draw.between(1, 9)];
            let (dist, whole) = (draw.dist(&shape, team.size()), draw.domain(&shape));
            // Numbers that come once.
            let array = Array::from_fn(&team, &dist, |at| (at[0] * 100 + at[1]) as i32).unwrap().over(&whole);
            let memory: Vec<Vec<i32>> =
                (0..team.size()).map(|part| array.part_to_vec(part).unwrap()).collect();
            let dist = array.distribution().unwrap();
            for Chunk { part, places } in array.domain().chunks(&dist).unwrap() {
                for (at, index) in places.iter().zip(whole.undensify(&places).unwrap().iter()) {
                    let value = (at[0] * 100 + at[1]) as i32;
                    assert!(memory[part].contains(&value), "{device:?} {dist} {index}");
                    assert_eq!(array.get_at(&index).unwrap(), value.into());
                }
            }
        }
    }
}

/// The parts wait for each other inside the loop, which a loop that takes one after the other would never
/// end.
#[test]
fn parts_run_their_chunks_at_the_same_time_on_threads_of_their_own() {
    let team = Team::on(&[Device::host()], 5).unwrap();
    let dist = Distribution::builder(&[12]).parts(5).cyclic(0, 1).build().unwrap();
    let (array, model) = Model::made(&team, &dist, &domain([(8, -4, -1)]), 1);
    let follower = domain([(100, 136, 3)]);
    let (seen, inside) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let begun = Mutex::new(HashSet::new());
    for_each_chunk(&team, &array.domain(), &dist, |chunk, indices| {
        if begun.lock().unwrap().insert(chunk.part) {
            inside.fetch_add(1, Ordering::SeqCst);
            let late = Instant::now() + Duration::from_secs(10);
            while inside.load(Ordering::SeqCst) < 5 {
                assert!(Instant::now() < late, "the parts do not run together");
                thread::yield_now();
            }
        }
        let others = follower.undensify(&chunk.places)?;
        let each = indices.iter().zip(others.iter()).map(|(index, other)| (index, other, chunk.part));
        seen.lock().unwrap().extend(each.map(|entry| (thread::current().id(), entry)));
        Ok(())
    })
    .unwrap();
    let mut seen = seen.into_inner().unwrap();
    let threads: HashMap<usize, HashSet<ThreadId>> =
        seen.iter().fold(HashMap::new(), |mut threads, entry| {
            threads.entry(entry.1.2).or_insert_with(HashSet::new).insert(entry.0);
            threads
        });
    let different: HashSet<ThreadId> = threads.values().flatten().copied().collect();
    assert!(threads.values().all(|ids| ids.len() == 1) && !different.contains(&thread::current().id()));
    assert_eq!((threads.len(), different.len()), (5, 5));
    seen.sort_by_key(|(_, entry)| entry.1);
    let expected = model.domain.iter().zip(follower.iter()).enumerate();
    let expected: Vec<_> = expected.map(|(place, (index, other))| (index, other, place % 5)).collect();
    assert_eq!(seen.iter().map(|(_, entry)| *entry).collect::<Vec<_>>(), expected);
}

#[test]
fn the_error_of_the_first_part_that_fails_is_the_loops_and_the_others_end() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    let dist = Distribution::default_partition(4, &[8]).unwrap();
    let whole = domain([(0, 8, 1)]);
    let ended = AtomicUsize::new(0);
    let failed = for_each_chunk(&team, &whole, &dist, |chunk, indices| {
        ended.fetch_add(1, Ordering::SeqCst);
        let index = indices.nth(0).unwrap()[0];
        // Part 2 fails first.
        thread::sleep(Duration::from_millis(if chunk.part == 1 { 50 } else { 0 }));
        if chunk.part == 0 { Ok(()) } else { whole.place(&[100 + index]).map(|_| ()).map_err(Into::into) }
    });
    assert!(failed.unwrap_err().to_string().contains("given (102)"));
    assert_eq!(ended.into_inner(), 4);
    let nothing = |_: &Chunk, _: &Domain| panic!("must not run");
    let error = for_each_chunk(&team, &domain([(0, 9, 1)]), &dist, nothing).unwrap_err().to_string();
    assert!(error.contains("a distribution of shape (9), given (8)"), "{error}");
    let three = Distribution::default_partition(3, &[8]).unwrap();
    assert!(for_each_chunk(&team, &whole, &three, nothing).is_err());
}

#[test]
fn domains_of_one_part_or_without_indices_or_dimensions_have_leaders_too() {
    let layout = Distribution::builder(&[2, 3]).build().unwrap();
    let whole = domain([(0, 2, 1), (3, 0, -1)]);
    let chunks = whole.chunks(&layout).unwrap();
    assert_eq!((chunks.len(), chunks[0].part), (1, 0));
    assert_eq!(whole.undensify(&chunks[0].places).unwrap(), whole);
    let none = Distribution::default_partition(3, &[0]).unwrap();
    assert!(domain([(5, 5, 1)]).chunks(&none).unwrap().is_empty());
}

#[test]
fn a_follower_takes_any_places_in_its_own_order() {
    let whole = domain([(3, -1, -1), (0, 12, 2)]);
    // No leader makes these: every third column, backwards.
    let strange = domain([(1, 3, 1), (5, -1, -3)]);
    let walk: Vec<Index> = whole.undensify(&strange).unwrap().iter().collect();
    assert_eq!(walk, [[2, 10], [2, 4], [1, 10], [1, 4]].map(Index::from));
    assert!(whole.undensify(&domain([(0, 5, 1), (0, 1, 1)])).is_err());
    assert!(whole.undensify(&domain([(0, 1, 1)])).is_err());
}

#[test]
fn distributions_are_equal_when_they_divide_alike() {
    let of = |parts| Distribution::default_partition(parts, &[4]).unwrap();
    assert_eq!(of(2), of(2));
    assert_ne!(of(2), of(4));
    assert!(format!("{:?}", of(2).clone()).starts_with("Distribution {"));
    assert_eq!(of(2), Distribution::builder(&[4]).bounds(0, &[0, 2, 4]).build().unwrap());
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

/// The document's own order: block, cyclic, block-cyclic and strided domains, each of them as the leader.
#[test]
fn zipping_block_cyclic_shifted_and_strided_arrays_matches_the_published_order() {
    let team = Team::on(&[Device::host()], 3).unwrap();
    let line = || Distribution::builder(&[8]).parts(3);
    let dists = [line(), line().cyclic(0, 1), line().cyclic(0, 2), line()].map(|dist| dist.build().unwrap());
    let domains = [(0, 8, 1), (1, 9, 1), (100, 108, 1), (14, -1, -2)].map(|range| domain([range]));
    let serial: Vec<i32> = (0..8).map(|i| (i + 1) * 1000 + (100 + i) + (14 - 2 * i)).collect();
    let arrays: Vec<Array> = domains
        .iter()
        .zip(&dists)
        .map(|(domain, dist)| {
            let (first, stride) = (domain.dim(0).first(), domain.dim(0).stride());
            Array::from_fn(&team, dist, |at| (first + at[0] * stride) as i32).unwrap().over(domain)
        })
        .collect();
    let [_, cyclic, blocks, strided] = &arrays[..] else { unreachable!() };
    for (leader, dist) in domains.iter().zip(&dists) {
        let sum = Mutex::new([0; 8]);
        for_each_chunk(&team, leader, dist, |chunk, indices| {
            let followers: Vec<Domain> =
                domains.iter().map(|domain| domain.undensify(&chunk.places)).collect::<Result<_, _>>()?;
            assert!(followers.contains(indices));
            for k in 0..indices.num_indices() {
                let at = |follower: usize| followers[follower].nth(k).unwrap()[0] as i32;
                sum.lock().unwrap()[at(0) as usize] = at(1) * 1000 + at(2) + at(3);
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(sum.into_inner().unwrap()[..], serial[..]);
    }
    // The same in arithmetic, with each of them first.
    let sums = [
        cyclic * 1000 + blocks + strided,
        blocks + strided + cyclic * 1000,
        strided + cyclic * 1000 + blocks,
        &arrays[0] - &arrays[0] + (cyclic * 1000 + blocks + strided),
    ];
    for (sum, first) in sums.into_iter().zip([1, 2, 3, 0]) {
        assert_eq!((sum.domain(), sum.to_vec::<i32>().unwrap()), (domains[first].clone(), serial.clone()));
    }
}

#[test]
fn an_array_over_a_domain_is_read_and_printed_in_the_domains_order() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[4]).parts(2).cyclic(0, 1).build().unwrap();
    let whole = domain([(6, -2, -2)]);
    let (array, model) = Model::made(&team, &dist, &whole, 0);
    assert_eq!((array.to_vec::<i32>().unwrap(), model.list()), (vec![6, 4, 2, 0], vec![6, 4, 2, 0]));
    assert_eq!((array.to_string(), array.domain().to_string()), ("[6, 4, 2, 0]".into(), "{6:-1:-2}".into()));
    let parts = [0, 1].map(|part| array.part_to_vec::<i32>(part).unwrap());
    assert_eq!(parts, [[6, 2], [4, 0]]);
    let visited: Vec<(usize, Vec<i64>)> = whole
        .chunks(&dist)
        .unwrap()
        .iter()
        .map(|chunk| (chunk.part, whole.undensify(&chunk.places).unwrap().iter().map(|i| i[0]).collect()))
        .collect();
    let joined: Vec<i64> = visited.iter().flat_map(|(_, indices)| indices.clone()).collect();
    assert_eq!(joined, [6, 2, 4, 0]);
}

#[test]
fn the_owner_of_an_index_is_the_part_it_maps_to() {
    let dist = Distribution::builder(&[5, 4]).grid(&[2, 3]).cyclic(0, 2).cyclic(1, 1).build().unwrap();
    let whole = domain([(10, 5, -1), (0, 8, 2)]);
    let counts = whole.iter().fold([0; 6], |mut counts, index| {
        counts[whole.owner(&dist, &index).unwrap()] += 1;
        counts
    });
    assert_eq!(counts.iter().sum::<i32>(), 20);
    let error = whole.owner(&dist, &[10, 1]).unwrap_err().to_string();
    assert!(error.contains("an index of {10:5:-1, 0:7:2}, given (10, 1)"), "{error}");
    assert!(whole.owner(&dist, &[10]).is_err());
    let other = Distribution::default_partition(6, &[5, 5]).unwrap();
    assert_eq!(whole.owner(&other, &[10, 0]).unwrap_err().kind, ErrorKind::Size);
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
    let slice = d.intersect(&domain([(0, 8, 2), (0, 8, 1)])).unwrap();
    assert_eq!(slice, domain([(4, 5, 1), (5, 0, -4)]));
    assert_eq!(d.shift(&[1, -1]).unwrap(), domain([(2, 9, 3), (8, -1, -4)]));
}

/// Chapel's: the indices inside and outside of an end, more at both, moved, in steps.
#[test]
fn domains_grow_shrink_move_and_step() {
    let line = domain([(-2, 8, 3)]);
    let all = |domain: Domain| domain.iter().map(|index| index[0]).collect::<Vec<i64>>();
    assert_eq!(all(line.clone()), [-2, 1, 4, 7]);
    assert_eq!(all(line.expand(&[1]).unwrap()), [-5, -2, 1, 4, 7, 10]);
    assert_eq!(all(line.expand(&[-1]).unwrap()), [1, 4]);
    assert_eq!(all(line.expand(&[-3]).unwrap()), []);
    assert_eq!(
        (all(line.interior(&[2]).unwrap()), all(line.interior(&[-1]).unwrap())),
        (vec![4, 7], vec![-2])
    );
    assert_eq!(
        (all(line.exterior(&[2]).unwrap()), all(line.exterior(&[-1]).unwrap())),
        (vec![10, 13], vec![-5])
    );
    assert_eq!((line.interior(&[0]).unwrap(), line.exterior(&[0]).unwrap()), (line.clone(), line.clone()));
    assert!(
        line.interior(&[5]).unwrap_err().to_string().contains("at most the 4 indices of -2:8:3, given 5")
    );
    assert_eq!((all(line.by(&[2]).unwrap()), all(line.by(&[-2]).unwrap())), (vec![-2, 4], vec![7, 1]));
    assert_eq!(all(line.shift(&[-7]).unwrap()), [-9, -6, -3, 0]);
    // The same of a sequence that goes down: the high end is where it begins.
    let down = domain([(7, -3, -3)]);
    assert_eq!(
        (all(down.interior(&[2]).unwrap()), all(down.interior(&[-1]).unwrap())),
        (vec![7, 4], vec![-2])
    );
    assert_eq!(
        (all(down.exterior(&[2]).unwrap()), all(down.exterior(&[-1]).unwrap())),
        (vec![13, 10], vec![-5])
    );
    assert_eq!(all(down.expand(&[1]).unwrap()), [10, 7, 4, 1, -2, -5]);
    assert_eq!(all(down.by(&[-1]).unwrap()), [-2, 1, 4, 7]);
    assert!(line.by(&[0]).is_err() && line.expand(&[1, 1]).is_err() && line.by(&[i64::MIN]).is_err());
    for far in [i64::MAX / 2, i64::MAX, i64::MIN] {
        assert!(line.exterior(&[far]).is_err() && line.interior(&[far]).is_err(), "{far}");
        assert!(far < 0 || line.expand(&[far]).is_err());
        assert!(far > 0 || line.expand(&[far]).is_err(), "it would begin too far away");
    }
    let none = domain([(3, 3, 1)]);
    assert_eq!((all(none.expand(&[1]).unwrap()), all(none.by(&[-1]).unwrap())), (vec![2, 3], vec![]));
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
        let held = |d: usize| dist.map(d).from_packed(dist.map(d).to_packed(point[d]).unwrap());
        assert!((0..2).all(|d| held(d) == Some(point[d])));
    }
    let sum: i64 = (0..4).map(|part| dist.owned(part).volume().unwrap()).sum();
    assert_eq!(sum, 36);
    assert_eq!(map.owned_set(0).iter().collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
    // Slices keep the parts of their elements.
    let view = dist.strided(&Region::new(&[1, 0], &[8, 4]).unwrap(), &[2, 1]).unwrap();
    assert_eq!(view.map(0).owned_set(1).iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    let error = map.resized(10).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Missing);
    assert!(error.to_string().contains("`resized`") && error.to_string().contains("`parity`"));
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
    let map = DimMap::custom(Arc::new(Parity(4))).unwrap();
    assert_eq!((map.kind(), map.to_string()), ("parity", "parity".to_owned()));
    let dist = Distribution::builder(&[4]).map(0, map).build().unwrap();
    assert!(dist.to_string().contains("maps (parity)"));
    assert!(dist.with_halo(&[1], &[1]).unwrap_err().to_string().contains("whose map is parity"));
}
