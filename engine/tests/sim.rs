//! Exchanges on the simulated wire: for every schedule and fault, each halo cell has its owner's current
//! value or every remaining rank gets an error. Nothing else is written, and no rank waits for ever.
#![allow(clippy::unwrap_used)]

mod simulated;
mod spmd;

use partita::prelude::*;
use partita::wire::{CollectiveSignature, Ranks};
use partita::{Error, Result};
use simulated::{PlantedFault, SimTrace, run};

/// Seeds of the exchanges, and of the programs on arrays, which take longer.
const SEEDS: u64 = 10_000;
const ARRAY_SEEDS: u64 = 40;

const POISON: u64 = u64::MAX;

/// What a cell of rank `owner` holds at a step.
fn version(owner: usize, step: u64) -> u64 {
    1000 * step + owner as u64
}

/// Who sends to whom in a step: the same everywhere, and different in every step of the first three.
fn is_planned(seed: u64, step: u64, from: usize, to: usize) -> bool {
    let mix = (seed ^ (step % 3) << 32 ^ (from as u64) << 8 ^ to as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    from != to && mix >> 61 < 5
}

/// Five exchanges of versions among ranks; the cells that a rank finds wrong at their end.
fn exchanges(ranks: &Ranks, seed: u64) -> Result<Vec<String>> {
    let (me, count) = (ranks.rank(), ranks.count());
    let others = || (0..count).filter(|&rank| rank != me);
    let mut wrong = Vec::new();
    for step in 0..5 {
        let mut halo = vec![[POISON; 2]; count];
        ranks.begin_collective(&CollectiveSignature::new("exchange", &(seed, step % 3)))?;
        for from in others().filter(|&from| is_planned(seed, step, from, me)) {
            ranks.post_receive(from, 8)?;
            ranks.post_receive(from, 8)?;
        }
        for to in others().filter(|&to| is_planned(seed, step, me, to)) {
            for half in 0..2 {
                ranks.send(to, 8, |_, out| {
                    out.copy_from_slice(&(version(me, step) + 100 * half).to_le_bytes());
                    Ok(())
                })?;
            }
        }
        for from in others().filter(|&from| is_planned(seed, step, from, me)) {
            for cell in &mut halo[from] {
                ranks.receive(from, 8, |_, bytes| {
                    *cell = u64::from_le_bytes(bytes.try_into().unwrap());
                    Ok(())
                })?;
            }
        }
        ranks.wait_all()?;
        for from in others() {
            let planned = is_planned(seed, step, from, me);
            for (half, &cell) in halo[from].iter().enumerate() {
                let expected = if planned { version(from, step) + 100 * half as u64 } else { POISON };
                if cell != expected {
                    wrong.push(format!("step {step}: {cell} where {expected} belongs"));
                }
            }
        }
    }
    Ok(wrong)
}

fn exchange_run(seed: u64, plant: PlantedFault) -> (Vec<Result<Vec<String>>>, SimTrace) {
    let ranks = 2 + (seed % 3) as usize;
    let (ends, trace) = run(ranks, seed, plant, |ranks| exchanges(&ranks, seed));
    (ends.into_iter().map(|end| end.unwrap()).collect(), trace)
}

#[test]
fn every_halo_has_its_owners_version_under_every_schedule() {
    let mut events = 0;
    for seed in 0..SEEDS {
        let (ends, trace) = exchange_run(seed, PlantedFault::Nothing);
        for (rank, end) in ends.into_iter().enumerate() {
            let wrong = end.unwrap_or_else(|error| panic!("seed {seed}, rank {rank}: {error}"));
            assert!(wrong.is_empty(), "seed {seed}, rank {rank}: {wrong:?}");
        }
        assert!(trace.took.as_secs() < 1, "seed {seed}: somebody waited for {:?}", trace.took);
        events += trace.events;
        if seed % 50 == 0 {
            assert_eq!(exchange_run(seed, PlantedFault::Nothing).1, trace, "seed {seed} gave two runs");
        }
    }
    assert_ne!(exchange_run(1, PlantedFault::Nothing).1.hash, exchange_run(4, PlantedFault::Nothing).1.hash);
    println!("{events} events");
    println!("ran: sim-seeds {SEEDS}");
}

/// A planted fault is found: some rank errs or sees a wrong cell, and nobody goes on with the wrong cells
/// alone.
fn is_found(seed: u64, plant: PlantedFault) -> Option<bool> {
    let (ends, trace) = exchange_run(seed, plant);
    let victim = trace.planted?;
    let named = |end: &Result<Vec<String>>| match end {
        Err(Error::Rank { .. }) => true,
        Err(other) => panic!("seed {seed}, {plant:?}: {other}"),
        Ok(wrong) => !wrong.is_empty(),
    };
    let others = || ends.iter().enumerate().filter(|(rank, _)| *rank != victim).map(|(_, end)| end);
    Some(match plant {
        // Ranks that still waited for the victim have found out, and notified all ranks that were there.
        PlantedFault::Crash | PlantedFault::Stop => others().all(|end| named(end) || end.is_ok()),
        _ => ends.iter().any(named),
    })
}

#[test]
fn every_class_of_planted_fault_is_found() {
    let plants = [
        PlantedFault::Short,
        PlantedFault::Stale,
        PlantedFault::Overtaken,
        PlantedFault::Twice,
        PlantedFault::Lost,
    ];
    for plant in plants {
        let runs: Vec<(u64, bool)> =
            (0..300).filter_map(|seed| Some((seed, is_found(seed, plant)?))).collect();
        let missed: Vec<u64> = runs.iter().filter(|(_, found)| !found).map(|(seed, _)| *seed).collect();
        println!("{plant:?}: {} of {} found", runs.len() - missed.len(), runs.len());
        // A message that comes twice as the last of its pair is never received, and so harms nobody.
        let harmless = if plant == PlantedFault::Twice { runs.len() / 2 } else { 0 };
        assert!(runs.len() >= 50 && missed.len() <= harmless, "{plant:?}: missed by seeds {missed:?}");
        println!("ran: sim-planted {}", runs.len());
    }
}

#[test]
fn a_rank_that_crashes_or_stops_ends_all_others_with_an_error() {
    for plant in [PlantedFault::Crash, PlantedFault::Stop] {
        let mut ran = 0;
        let mut errors = 0;
        for seed in 0..400 {
            let (ends, trace) = exchange_run(seed, plant);
            let Some(victim) = trace.planted else { continue };
            // The deadline is 30 s, and the others learn of it at once.
            assert!(trace.took.as_secs() < 35, "seed {seed}, {plant:?}: {:?}", trace.took);
            for (rank, end) in ends.iter().enumerate().filter(|(rank, _)| *rank != victim) {
                match end {
                    Err(Error::Rank { .. }) => errors += 1,
                    Ok(wrong) => assert!(wrong.is_empty(), "seed {seed}, rank {rank}: {wrong:?}"),
                    Err(other) => panic!("seed {seed}, rank {rank}: {other}"),
                }
            }
            assert_eq!(exchange_run(seed, plant).1, trace, "seed {seed} gave two runs");
            ran += 1;
        }
        println!("{plant:?}: {ran} runs, {errors} ranks ended with an error");
        assert!(ran > 200 && errors > ran, "{plant:?}: {errors} errors in {ran} runs");
        println!("ran: sim-crashes {ran}");
    }
}

#[test]
fn programs_on_arrays_read_the_same_under_every_schedule() {
    let mut ran = 0;
    let device = Device::host();
    for (name, program) in spmd::PROGRAMS.iter().filter(|(name, _)| *name != "between kinds") {
        let alone: Vec<Vec<u8>> = (2..=3)
            .map(|count| program(&Team::on(std::slice::from_ref(&device), count).unwrap()).unwrap())
            .collect();
        for seed in 0..ARRAY_SEEDS / 8 {
            let count = 2 + (seed % 2) as usize;
            let (ends, _) = run(count, seed, PlantedFault::Nothing, |ranks| {
                program(&Team::over(&ranks, std::slice::from_ref(&device), 1)?)
            });
            for end in ends {
                assert!(end.unwrap().unwrap() == alone[count - 2], "{name}, seed {seed}");
                ran += 1;
            }
        }
    }
    println!("ran: sim-programs {ran}");
}
