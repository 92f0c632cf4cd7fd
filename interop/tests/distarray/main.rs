//! `__distarray__`: the published examples with a verdict on each, every rule by its number, and generated
//! descriptions, valid and malformed.

#![allow(clippy::unwrap_used)]

mod alone;
mod generate;
#[path = "../malformed/mod.rs"]
mod malformed;
mod published;
mod round_trips;
mod rules;
mod together;

use generate::{Set, set};
use malformed::{Random, anything, places, replace};
use partita_interop::distarray::{PartDescription, parse_all, to_distribution, validate};
use partita_interop::value::Result;

const EACH: usize = 180;

fn read_all(set: &Set) -> Result<()> {
    parse_all(&set.parts).map(|_| ())
}

#[test]
fn every_malformed_description_is_rejected_at_its_fault() {
    // A fault of one description is found in it alone, and in the set by part.
    let all: Vec<_> = [alone::ALONE, together::TOGETHER].concat();
    malformed::run("distarray", EACH, &all, set, read_all);
    for (kind, &(name, mutate)) in alone::ALONE.iter().enumerate() {
        let mut random = Random::new(1000 + kind as u64);
        for _ in 0..50 {
            let mut case = set(&mut random);
            let Some(part) = mutate(&mut case, &mut random).and_then(|fault| fault.part) else { continue };
            let (valid, reason) = validate(&case.parts[part]);
            assert!(!valid && reason.starts_with("__distarray__: "), "{name}: {reason}");
        }
    }
}

#[test]
fn every_valid_description_is_accepted_and_each_part_holds_the_described_cells() {
    let mut random = Random::new(7);
    let (mut descriptions, mut sets) = (0, 0);
    while descriptions < 20_000 {
        let case = set(&mut random);
        let parts = parse_all(&case.parts).unwrap_or_else(|e| panic!("{e}\n{case:?}"));
        let dist = to_distribution(&parts).unwrap_or_else(|e| panic!("{e}\n{case:?}"));
        for (part, said) in parts.iter().enumerate() {
            let (shape, stored) = (said.shape(), dist.stored(part));
            assert!(
                shape == stored.extents().to_vec() || (stored.is_empty() && shape.contains(&0)),
                "{case:?}"
            );
            for (d, (column, held)) in case.columns.iter().zip(dist.owned_set(part).unwrap()).enumerate() {
                let mut names: Vec<i64> = column.owned.concat();
                names.sort_unstable();
                names.dedup();
                let held: Vec<i64> = held.iter().map(|g| names[g as usize]).collect();
                assert_eq!(held, column.owned[case.rank(part, d)], "{case:?}");
            }
        }
        let again: Vec<PartDescription> =
            (0..dist.parts()).map(|part| PartDescription::from_distribution(&dist, part).unwrap()).collect();
        let back = to_distribution(&again).unwrap();
        // Where no part stores anything, there is no halo to be described.
        let same = if dist.global().is_empty() { back.same_layout(&dist) } else { back == dist };
        assert!(same, "{back:?} is not {dist:?}: {case:?}");
        descriptions += case.parts.len();
        sets += 1;
    }
    println!("ran: distarray-valid {descriptions}");
    println!("ran: distarray-valid-sets {sets}");
}

#[test]
fn arbitrary_objects_are_rejected_or_read_without_a_panic() {
    let mut random = Random::new(11);
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut case = set(&mut random);
        let part = random.among(0..=case.parts.len() as i64 - 1) as usize;
        for _ in 0..random.among(1..=3) {
            let place = random.among(0..=places(&mut case.parts[part]) as i64 - 1) as usize;
            let new = anything(&mut random, 3);
            replace(&mut case.parts[part], place, new);
        }
        let (valid, reason) = validate(&case.parts[part]);
        assert_eq!(valid, reason.is_empty());
        if let Ok(parts) = parse_all(&case.parts) {
            let _ = to_distribution(&parts);
        } else {
            refused += 1;
        }
    }
    println!("ran: distarray-arbitrary {refused}");
    assert!(refused > 15_000);
}
