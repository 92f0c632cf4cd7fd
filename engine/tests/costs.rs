//! Cost of queries: with a million parts and a billion coordinates they are formulas or searches, and
//! descriptions do not grow with the arrays they describe.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use partita::index::{Cyclic, DimMap, Distribution, DistributionBuilder, Members, ProcessGrid, Region};

/// The slowest of a few runs of `query` over arguments spread over `0..size`, in nanoseconds per call.
fn nanoseconds(size: i64, query: impl Fn(i64) -> i64) -> f64 {
    let calls = 20_000;
    let begin = Instant::now();
    let sum = (0..calls).fold(0i64, |sum, k| sum.wrapping_add(query(k * 7_919_777 % size)));
    std::hint::black_box(sum);
    begin.elapsed().as_nanos() as f64 / calls as f64
}

#[test]
fn questions_about_a_million_parts_cost_no_more_than_a_search() {
    let (size, parts) = (1_000_000_000i64, 1_000_000usize);
    let listed: Vec<i64> = (0..=parts as i64).map(|p| p * 1000).collect();
    for (name, map) in [
        ("even block", DimMap::even(size, parts).unwrap()),
        ("irregular block", DimMap::irregular(&listed).unwrap()),
        ("cyclic", DimMap::cyclic(size, parts, 1).unwrap()),
        ("block-cyclic", DimMap::cyclic(size, parts, 7).unwrap()),
        ("replicated", DimMap::replicated(size, parts).unwrap()),
    ] {
        let times = [
            nanoseconds(size, |g| map.owner(g).unwrap() as i64),
            nanoseconds(size, |g| map.to_local(g).unwrap().1),
            nanoseconds(parts as i64, |p| map.count(p as usize)),
            nanoseconds(parts as i64, |p| map.to_global(p as usize, map.count(p as usize) - 1).unwrap()),
            nanoseconds(size, |g| map.from_packed(g).unwrap()),
            nanoseconds(parts as i64, |p| {
                map.formula(p as usize).unwrap().global(map.owned(p as usize).start)
            }),
            nanoseconds(size, |g| map.held_below((g % parts as i64) as usize, g).unwrap()),
        ];
        println!(
            "{name}: owner, to_local, count, to_global, from_packed, formula, held_below take {times:.0?} ns"
        );
        // Far below anything that looks at every part, however busy the machine is.
        assert!(times.iter().all(|&time| time < 20_000.0), "{name}: {times:?}");
    }
}

#[test]
fn building_over_a_hundred_thousand_parts_takes_milliseconds() {
    let parts = 100_000;
    let bounds: Vec<i64> = (0..=parts as i64).map(|p| p * 10_000).collect();
    let time = |build: &dyn Fn() -> Distribution| {
        let once = || {
            let begin = Instant::now();
            let dist = build();
            (begin.elapsed(), dist.parts())
        };
        (0..25).map(|_| once()).min().unwrap().0
    };
    let of = || Distribution::builder(&[1_000_000_000]).parts(parts);
    let grid = ProcessGrid::new(&[parts as i64]).unwrap();
    let times = [
        time(&|| of().build().unwrap()),
        time(&|| of().halo(&[2], &[2]).build().unwrap()),
        time(&|| Distribution::builder(&[1_000_000_000]).bounds(0, &bounds).build().unwrap()),
        time(&|| of().cyclic(0, 5).build().unwrap()),
        time(&|| of().grid(grid.shape()).cyclic(0, 5).build().unwrap().packed()),
    ];
    println!("even, with halo, irregular, cyclic, packed cyclic: {times:?}");
    assert!(times.iter().all(|time| time.as_millis() < 10), "{times:?}");
}

#[test]
fn finding_ranks_among_a_million_members_is_a_search() {
    let size = 1_000_000;
    let all = Members::world(size).unwrap();
    let odd = all.inclusive(&(0..size).filter(|id| id % 2 == 1).rev().collect::<Vec<_>>()).unwrap();
    let begin = Instant::now();
    let union = odd.union(&all).unwrap();
    println!("the union of {} and {size} members takes {:?}", odd.size(), begin.elapsed());
    assert_eq!((union.size(), union.ids()[0], union.ids()[size - 1]), (size, size - 1, size - 2));
    let time = nanoseconds(size as i64, |id| union.rank_of(id as usize).unwrap() as i64);
    println!("rank_of takes {time:.0} ns");
    assert!(time < 20_000.0 && begin.elapsed().as_secs() < 5, "{time}");
    assert_eq!(
        (union.rank_of(size - 1), union.rank_of(0), union.rank_of(size)),
        (Some(0), Some(size / 2), None)
    );
}

#[test]
fn formulas_agree_with_their_maps() {
    let all = |map: &DimMap, what: &str| {
        for part in 0..map.parts() {
            for packed in map.owned(part) {
                let by_formula = map.formula(part).map(|formula| formula.global(packed));
                assert_eq!(by_formula, map.from_packed(packed), "{what}: {packed} of part {part}");
            }
        }
    };
    let (mut with, mut without) = (0, 0);
    for size in [0, 1, 7, 23, 60] {
        for parts in 1..5usize {
            all(&DimMap::even(size, parts).unwrap(), "block");
            all(&DimMap::replicated(size, parts).unwrap(), "replicated");
            for block in 1..6 {
                let whole = DimMap::cyclic(size, parts, block).unwrap();
                all(&whole, "cyclic");
                let whole = Distribution::builder(&[size]).map(0, whole).build().unwrap();
                for (start, step) in [(0, 1), (1, 1), (4, 1), (0, 2), (3, 2), (1, 3), (2, 4), (0, 5), (1, 6)]
                {
                    let slice = Region::new(&[start.min(size)], &[size]).unwrap();
                    let slice = whole.strided(&slice, &[step]).unwrap();
                    let what = format!("{size} over {parts} in blocks of {block}, {start}.. by {step}");
                    // Either all parts have one or none has.
                    match slice.map(0).formula(0) {
                        Some(_) => all(slice.map(0), &what),
                        None => assert!((0..parts).all(|part| slice.map(0).formula(part).is_none())),
                    }
                    let counter = if slice.map(0).formula(0).is_some() { &mut with } else { &mut without };
                    *counter += 1;
                }
            }
        }
    }
    assert!(with > 3 * without && without > 0, "{with} slices with a formula and {without} without");
}

#[test]
fn a_cyclic_map_of_any_size_is_a_few_numbers() {
    assert!(size_of::<Cyclic>() <= 48 && size_of::<DimMap>() <= 64, "{}", size_of::<DimMap>());
}

#[test]
fn a_distribution_over_a_hundred_thousand_parts_holds_no_more_than_its_description_says() {
    // All that it holds is in its debug text: a few numbers, or one per part, whatever the number of cells.
    let parts = 100_000;
    let text = |size: i64, of: fn(DistributionBuilder) -> DistributionBuilder| {
        format!("{:?}", of(Distribution::builder(&[size, 3]).parts(parts)).build().unwrap()).len()
    };
    for size in [1_000_000, 1_000_000_000_000] {
        assert!(text(size, |b| b) < 1000 && text(size, |b| b.cyclic(0, 5)) < 1000);
        assert!(text(size, |b| b.halo(&[1, 0], &[1, 0]).periodic(&[true, false])) < 1000);
    }
    let bounds =
        |size: i64| -> Vec<i64> { (0..=parts as i64).map(|part| part * (size / parts as i64)).collect() };
    let listed = |size: i64| {
        let builder = Distribution::builder(&[size]).bounds(0, &bounds(size));
        format!("{:?}", builder.build().unwrap()).len()
    };
    let (short, long) = (listed(1_000_000), listed(1_000_000_000_000));
    assert!(short > parts && long < 4 * short, "{short} {long}");
}
