//! Random arrays: the numbers that the package for Python has always drawn, the same on every layout and
//! device, and their moments.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use found::{devices, grids, ran};
use partita::index::DimMap;
use partita::operators::random::Generator;
use partita::prelude::*;

type Draw = fn(&mut Generator, &Team, &Distribution) -> partita::Result<Array>;

const DRAWS: [(&str, Draw); 9] = [
    ("words", |g, team, dist| g.words(team, dist, DType::U32)),
    ("normal f64", |g, team, dist| g.normal(team, dist, DType::F64)),
    ("wide integers", |g, team, dist| g.integers(team, dist, i64::MIN, 1 << 61)),
    ("uniform f32", |g, team, dist| g.uniform(team, dist, DType::F32)),
    ("uniform f16", |g, team, dist| g.uniform(team, dist, DType::F16)),
    ("normal f32", |g, team, dist| g.normal(team, dist, DType::F32)),
    ("uniform f64", |g, team, dist| g.uniform(team, dist, DType::F64)),
    ("exponential f32", |g, team, dist| g.exponential(team, dist, DType::F32)),
    ("integers", |g, team, dist| g.integers(team, dist, -5, 12)),
];

/// The first eight numbers of two seeds, as Python's tests wrote them down for good.
#[test]
fn numbers_are_those_that_python_draws() {
    let team = Team::local(2).unwrap();
    let dist = Distribution::default_partition(2, &[8]).unwrap();
    let golden = include_str!("data/random_numbers.txt");
    // The second one is 2^70 + 3.
    for (seed, words) in [("7", &[7][..]), ("1180591620717411303427", &[3, 0, 64])] {
        let draws: [(&str, Draw); 9] = [
            ("random float16", |g, team, dist| g.uniform(team, dist, DType::F16)),
            ("random float32", |g, team, dist| g.uniform(team, dist, DType::F32)),
            ("random float64", |g, team, dist| g.uniform(team, dist, DType::F64)),
            ("standard_exponential float32", |g, team, dist| g.exponential(team, dist, DType::F32)),
            ("standard_exponential float64", |g, team, dist| g.exponential(team, dist, DType::F64)),
            ("standard_normal float32", |g, team, dist| g.normal(team, dist, DType::F32)),
            ("standard_normal float64", |g, team, dist| g.normal(team, dist, DType::F64)),
            ("integers int64", |g, team, dist| g.integers(team, dist, 3, 100)),
            ("integers wide", |g, team, dist| g.integers(team, dist, -(1 << 60), 1 << 62)),
        ];
        for (label, draw) in draws {
            let drawn = draw(&mut Generator::from_words(words), &team, &dist).unwrap();
            let size = drawn.dtype().size_bytes();
            let bytes = drawn.to_bytes().unwrap();
            let hex = |number: &[u8]| {
                let bits = number.iter().rev().fold(0, |bits: u64, &byte| bits << 8 | u64::from(byte));
                format!(" {bits:x}")
            };
            let line = format!("{seed} {label}:{}", bytes.chunks(size).map(hex).collect::<String>());
            assert!(golden.lines().any(|one| one == line), "{line}");
        }
    }
}

#[test]
fn numbers_are_the_same_on_every_layout_and_device() {
    let shape = [9, 7];
    let one = Team::on(&[Device::host()], 1).unwrap();
    let whole = Distribution::default_partition(1, &shape).unwrap();
    for device in devices() {
        let mut cases = 0;
        for (name, draw) in DRAWS {
            let expected = draw(&mut Generator::new(3), &one, &whole).unwrap().to_bytes().unwrap();
            for parts in [1, 2, 3, 4] {
                let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
                let blocks =
                    grids(parts).into_iter().map(|grid| Distribution::builder(&shape).grid(&grid).build());
                let cyclic = DimMap::cyclic(shape[0], parts, 2).unwrap();
                let dealt = Distribution::builder(&shape).map(0, cyclic).build();
                for dist in blocks.chain([dealt]) {
                    let drawn = draw(&mut Generator::new(3), &team, &dist.unwrap());
                    match drawn.and_then(|array| array.to_bytes()) {
                        Ok(drawn) => assert!(drawn == expected, "{name} in {parts} parts on {device:?}"),
                        // Some adapters have no 64-bit floats.
                        Err(partita::Error::Unsupported { .. }) if name.contains("f64") => continue,
                        Err(error) => panic!("{name} in {parts} parts on {device:?}: {error}"),
                    }
                    cases += 1;
                }
            }
        }
        ran("random-layouts", &device, cases);
    }
}

/// Means and variances within five standard errors.
#[test]
fn moments_are_those_of_the_distributions() {
    let (team, n) = (Team::local(3).unwrap(), 90_000);
    let dist = Distribution::default_partition(3, &[n]).unwrap();
    let mut g = Generator::new(11);
    let drawn = [
        (g.uniform(&team, &dist, DType::F64).unwrap(), 0.5, 1.0 / 12.0, 1.0 / 80.0),
        (g.normal(&team, &dist, DType::F64).unwrap(), 0.0, 1.0, 3.0),
        (g.exponential(&team, &dist, DType::F64).unwrap(), 1.0, 1.0, 9.0),
        (g.integers(&team, &dist, -8, 9).unwrap().cast(DType::F64), 0.0, 24.0, 1032.0),
    ];
    for (array, mean, variance, fourth) in drawn {
        let values = array.to_vec::<f64>().unwrap();
        let moment = |power| values.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n as f64;
        let error = |of: f64| 5.0 * (of / n as f64).sqrt();
        assert!(moment(1).abs() < error(variance), "mean {}", moment(1) + mean);
        let spread: f64 = fourth - variance * variance;
        assert!((moment(2) - variance).abs() < error(spread), "variance {}", moment(2));
    }
}

#[test]
fn more_elements_than_32_bits_count_have_numbers_of_their_own() {
    let team = Team::local(1).unwrap();
    let dist = Distribution::default_partition(1, &[1 << 33]).unwrap();
    let words = Generator::new(1).words(&team, &dist, DType::U32).unwrap();
    let at = |start: i64| words.slice(&s![start..start + 4]).to_vec::<u32>().unwrap();
    let (first, later) = (at(0), at(1 << 32));
    assert!(first.iter().zip(&later).all(|(a, b)| a != b), "{first:?} {later:?}");
}

#[test]
fn streams_and_draws_differ_and_errors_say_what_to_do() {
    let team = Team::local(1).unwrap();
    let dist = Distribution::default_partition(1, &[4]).unwrap();
    let mut g = Generator::new(1);
    let mut other = g.branch().unwrap();
    let all = [g.bits(), g.bits(), other.bits(), other.bits(), Generator::new(2).bits()];
    assert!((0..5).all(|i| (0..i).all(|j| all[i] != all[j])), "{all:?}");
    let mut same = Generator::from_state(g.state());
    assert_eq!(same.bits(), g.bits());
    assert_eq!(same.branch().unwrap().bits(), g.branch().unwrap().bits());
    assert_eq!(same.spawned(3).bits(), g.spawned(3).bits());
    let said = |result: partita::Result<Array>| result.unwrap_err().to_string();
    let text = said(g.uniform(&team, &dist, DType::I32));
    assert_eq!(text, "random: expected a type of floats, given i32; use `integers`");
    let text = said(g.integers(&team, &dist, 3, 3));
    assert_eq!(text, "integers: expected low below high, given 3 and 3; exchange them");
}
