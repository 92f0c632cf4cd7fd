//! Custom maps that contradict themselves are errors: on construction if that is cheap to see, otherwise on
//! use, with the name of the map. They never cause a panic or an internal error.
#![allow(missing_docs, clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

use partita::index::{CustomMap, DimMap};
use partita::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Lie {
    /// Positions lead out of the dimension.
    FarAway,
    /// One position in the middle of a part does.
    OneFarAway,
    Negative,
    /// Counts grow.
    Count,
    /// Coordinates belong to a part that there is not.
    NoSuchPart,
    /// All coordinates are at one place.
    OnePlace,
    /// Positions of a part lead to one coordinate.
    OneCoordinate,
    /// The ranges given are longer than the count.
    LongSet,
}

const LIES: [Lie; 8] = [
    Lie::FarAway,
    Lie::OneFarAway,
    Lie::Negative,
    Lie::Count,
    Lie::NoSuchPart,
    Lie::OnePlace,
    Lie::OneCoordinate,
    Lie::LongSet,
];

/// Coordinates dealt out to four parts in turn, by a map that lies while a flag is set.
#[derive(Debug)]
struct Liar {
    size: i64,
    lie: Lie,
    lies: AtomicBool,
    calls: AtomicUsize,
}

impl Liar {
    fn new(size: i64, lie: Lie, lies: bool) -> Arc<Liar> {
        Arc::new(Liar { size, lie, lies: lies.into(), calls: AtomicUsize::new(0) })
    }

    fn tells(&self, lie: Lie) -> bool {
        self.calls.fetch_add(1, SeqCst);
        self.lies.load(SeqCst) && self.lie == lie
    }
}

impl CustomMap for Liar {
    fn name(&self) -> &str {
        "liar"
    }
    fn size(&self) -> i64 {
        self.size
    }
    fn parts(&self) -> usize {
        4
    }
    fn count(&self, part: usize) -> i64 {
        let true_count = (self.size + 3 - part as i64) / 4;
        if self.tells(Lie::Count) { true_count + 3 } else { true_count }
    }
    fn to_local(&self, global: i64) -> (usize, i64) {
        match (global as usize % 4, global / 4) {
            (part, at) if self.tells(Lie::NoSuchPart) => (part + 7, at),
            _ if self.tells(Lie::OnePlace) => (0, 0),
            place => place,
        }
    }
    fn to_global(&self, part: usize, local: i64) -> i64 {
        match 4 * local + part as i64 {
            global if self.tells(Lie::FarAway) => global + 1_000_000,
            _ if self.tells(Lie::OneFarAway) && local == self.size / 13 => 1_000_000,
            global if self.tells(Lie::Negative) => -1 - global,
            _ if self.tells(Lie::OneCoordinate) => part as i64,
            global => global,
        }
    }
    fn owned_set(&self, part: usize) -> Option<partita::index::IndexSet> {
        self.tells(Lie::LongSet).then(|| {
            let count = self.count(part) + 9;
            partita::index::IndexSet::List((0..count).map(|local| 4 * local + part as i64).collect())
        })
    }
}

#[test]
fn a_map_that_lies_is_refused_by_name_when_it_is_built() {
    // What building does not try, because it may take long, is found when it is used.
    for lie in LIES.into_iter().filter(|&lie| !matches!(lie, Lie::OneFarAway | Lie::LongSet)) {
        let refused = DimMap::custom(Liar::new(61, lie, true));
        let text = refused.map(drop).expect_err(&format!("{lie:?}")).to_string();
        assert!(text.contains("from the map `liar`"), "{lie:?}: {text}");
    }
    assert!(DimMap::custom(Liar::new(61, Lie::FarAway, false)).is_ok());
    assert!(DimMap::custom(Liar::new(0, Lie::FarAway, false)).is_ok());
}

#[test]
fn building_a_map_of_a_large_extent_is_cheap() {
    let (map, begin) = (Liar::new(1 << 40, Lie::FarAway, false), Instant::now());
    DimMap::custom(map.clone()).unwrap();
    assert!(map.calls.load(SeqCst) < 10_000 && begin.elapsed().as_secs() < 5);
    assert!(DimMap::custom(Liar::new(1 << 40, Lie::FarAway, true)).is_err());
}

/// What people do with arrays; each is a program of its own.
type Deed = (&'static str, fn(&Team, &Distribution) -> partita::Result<()>);

const DEEDS: &[Deed] = &[
    ("from_fn", |team, dist| Array::from_fn(team, dist, |at| at[0])?.to_vec::<i64>().map(drop)),
    ("coordinate", |team, dist| Array::coordinate(team, dist, 0, DType::F64)?.to_vec::<f64>().map(drop)),
    ("stencil", |team, dist| {
        let x = Array::zeros(team, dist, DType::F64)?;
        (x.slice(&s![2..]) - x.slice(&s![..-2]) * 0.5).to_vec::<f64>().map(drop)
    }),
    ("sum", |team, dist| (Array::zeros(team, dist, DType::F64)? + 1.0).sum(&[]).item::<f64>().map(drop)),
    ("assign", |team, dist| {
        let mut x = Array::zeros(team, dist, DType::F64)?;
        let y = Array::full(team, dist, Scalar::from_f64(DType::F64, 2.0))?;
        x.assign(&s![3..40], &y.slice(&s![3..40]))?;
        x.assign(&s![1..50; 3], &y.slice(&s![1..50; 3]))?;
        x.to_vec::<f64>().map(drop)
    }),
    ("redistribution", |team, dist| {
        let blocks = Distribution::builder(&[61]).parts(4).build()?;
        let there = Array::zeros(team, &blocks, DType::F64)?.redistribute(dist);
        there.redistribute(&blocks).to_vec::<f64>().map(drop)
    }),
    ("element", |team, dist| {
        let x = Array::zeros(team, dist, DType::F64)?;
        x.get(&[7])?;
        x.gather(&[3], &[60, 0, 17]).to_vec::<f64>().map(drop)
    }),
];

#[test]
fn a_map_that_lies_later_is_named_and_nothing_panics() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    for lie in LIES {
        let mut named = 0;
        for (deed, program) in DEEDS {
            let map = Liar::new(61, lie, false);
            let dist = Distribution::builder(&[61]).map(0, DimMap::custom(map.clone()).unwrap());
            let dist = dist.build().unwrap();
            program(&team, &dist).unwrap_or_else(|error| panic!("{deed}: an honest map: {error}"));
            map.lies.store(true, SeqCst);
            let ended = catch_unwind(AssertUnwindSafe(|| program(&team, &dist)));
            match ended.unwrap_or_else(|_| panic!("{lie:?}: {deed} panicked")) {
                Ok(()) => {}
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("from the map `liar`"), "{lie:?}: {deed}: {text}");
                    named += 1;
                }
            }
        }
        assert!(named > 0, "{lie:?}: nothing was noticed");
        println!("{lie:?}: named by {named} of {}", DEEDS.len());
    }
}
