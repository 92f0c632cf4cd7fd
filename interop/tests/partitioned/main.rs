//! `__partitioned__`: the drafts' examples with a verdict on each, every rule by its number, conversion to
//! `__distarray__` and back, and generated descriptions, valid and malformed.

#![allow(clippy::unwrap_used)]

mod examples;
mod generate;
#[path = "../malformed/mod.rs"]
mod malformed;
mod mutants;

use generate::case;
use malformed::{Random, anything, places, replace};
use partita_interop::partitioned::{Description, validate};

const EACH: usize = 200;

#[test]
fn every_malformed_partitioned_description_is_rejected_at_its_fault() {
    malformed::run("partitioned", EACH, mutants::MUTATORS, case, |case| {
        let read = Description::parse(&case.value);
        if let Err(refusal) = &read {
            assert!(refusal.protocol.starts_with("__partitioned__"), "{refusal}");
        }
        read
    });
}

#[test]
fn every_valid_description_is_accepted_with_its_boxes() {
    let mut random = Random::new(5);
    const CASES: usize = 12_000;
    for _ in 0..CASES {
        let case = case(&mut random);
        let read = Description::parse(&case.value).unwrap_or_else(|e| panic!("{e}: {case:?}"));
        assert_eq!(read.dialect, case.dialect, "{case:?}");
        let dist = read.to_distribution().unwrap_or_else(|e| panic!("{e}: {case:?}"));
        for part in 0..dist.parts() {
            let at = read.position(part);
            let region = dist.owned(part);
            for (d, ends) in case.bounds.iter().enumerate() {
                let drawn = (ends[at[d] as usize], ends[at[d] as usize + 1]);
                assert_eq!((region.start()[d], region.stop()[d]), drawn, "{case:?}");
            }
        }
    }
    println!("ran: partitioned-valid {CASES}");
}

#[test]
fn arbitrary_objects_as_partitioned_are_rejected_or_read_without_a_panic() {
    let mut random = Random::new(13);
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut value = case(&mut random).value;
        for _ in 0..random.among(1..=3) {
            let place = random.among(0..=places(&mut value) as i64 - 1) as usize;
            let new = anything(&mut random, 3);
            replace(&mut value, place, new);
        }
        let (valid, reason) = validate(&value);
        assert_eq!(valid, reason.is_empty());
        refused += usize::from(!valid);
        if let Ok(read) = Description::parse(&value) {
            let _ = read.to_distribution().map(|dist| dist.parts());
        }
    }
    println!("ran: partitioned-arbitrary {refused}");
    assert!(refused > 10_000);
}
