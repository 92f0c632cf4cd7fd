//! Random steps in a `Loop` against a model that computes one element after the other, bit for bit: several
//! arrays, windows, faces, types and ranks; runs of any length with looks at the state in between.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "loops/case.rs"]
mod case;
mod found;

use std::cell::Cell;

use case::{Case, Model, Random};
use found::{devices, ran};
use partita::prelude::*;
use partita::wire::threads;

/// Seeds of one run; `PARTITA_LOOP_SEEDS=first..last` takes others.
fn seeds(default: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let given = std::env::var("PARTITA_LOOP_SEEDS").ok();
    let bounds = given.as_deref().and_then(|text| text.split_once(".."));
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("PARTITA_LOOP_SEEDS: `{text}`"));
    bounds.map_or(default, |(first, last)| number(first)..number(last))
}

fn cells(array: &Array) -> Vec<f64> {
    match array.dtype() {
        DType::F64 => array.to_vec().unwrap(),
        _ => array.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
    }
}

/// Where state and model differ first.
fn difference(state: &[Array], model: &[Model]) -> Option<String> {
    state.iter().zip(model).enumerate().find_map(|(k, (array, model))| {
        let given = cells(array);
        let differs = |(a, b): (&f64, &f64)| a.to_bits() != b.to_bits();
        let at = given.iter().zip(&model.cells).position(differs)?;
        Some(format!("array {k}, element {at}: {} instead of {}", given[at], model.cells[at]))
    })
}

fn on_purpose() -> partita::Error {
    let (expected, given) = ("a step that succeeds".to_owned(), "one that fails on purpose".to_owned());
    partita::Error::Invalid { operation: "a step", expected, given, remedy: "go on" }
}

/// What cases came to.
#[derive(Default)]
struct Seen {
    cases: usize,
    replayed: usize,
    deep: usize,
    tiled: usize,
}

/// Runs a case; what is wrong with it.
fn check(seed: u64, team: &Team, seen: &mut Seen) -> Result<(), String> {
    let case = Case::new(seed);
    let random = &mut Random::new(seed ^ 0x5eed);
    let (mut model, calls) = (case.model(), Cell::new(0));
    let mut run = Loop::new(case.arrays(team), |state| {
        calls.set(calls.get() + 1);
        let fails = case.fails.filter(|&(call, _)| call == calls.get()).map(|(_, changes)| changes);
        let changes = &case.changes[..fails.unwrap_or(case.changes.len())];
        changes.iter().try_for_each(|change| change.in_arrays(state))?;
        if fails.is_some() { Err(on_purpose()) } else { Ok(()) }
    });
    if case.depth > 1 {
        run = run.depth(case.depth);
    }
    let said = |what: &str, run: &str| format!("seed {seed}, {what}: {run}\n{case:?}");
    let mut held: Option<(Vec<Array>, Vec<Model>)> = None;
    let (mut ends, mut end) = (case.runs.iter(), 0);
    while run.steps() < end || ends.next().map(|steps| end += steps).is_some() {
        let before = run.steps();
        let outcome = run.run(end - before);
        for _ in before..run.steps() {
            case.changes.iter().for_each(|change| change.in_model(&mut model));
        }
        if let Some((state, model)) = held.take()
            && let Some(found) = difference(&state, &model)
        {
            return Err(said(&format!("an earlier value: {found}"), &run.explain()));
        }
        let is_refused = match outcome.map_err(|error| error.to_string()) {
            Ok(()) => false,
            Err(error) if error == on_purpose().to_string() => {
                let changes = case.fails.map_or(0, |(_, changes)| changes);
                case.changes[..changes].iter().for_each(|change| change.in_model(&mut model));
                false
            }
            Err(error) if error.contains("share an exchange") => true,
            Err(error) => return Err(said("error", &error)),
        };
        // Whoever reads waits, and whoever holds a value has it moved.
        if random.below(2) == 0 || is_refused {
            if let Some(found) = difference(run.state(), &model) {
                return Err(said(&format!("after {} steps: {found}", run.steps()), &run.explain()));
            }
        }
        if is_refused {
            return Ok(());
        }
        if random.below(4) == 0 {
            held = Some((run.state().to_vec(), model.clone()));
        }
    }
    if let Some(found) = difference(run.state(), &model) {
        return Err(said(&format!("in the end: {found}"), &run.explain()));
    }
    seen.cases += 1;
    seen.replayed += usize::from(run.is_replaying());
    seen.deep += usize::from(run.steps_per_exchange() > 1);
    seen.tiled += usize::from(run.explain().contains("tile by tile"));
    Ok(())
}

fn all(seeds: std::ops::Range<u64>, device: &Device) -> Seen {
    let (mut seen, mut wrong) = (Seen::default(), Vec::new());
    for seed in seeds {
        let team = Team::on(std::slice::from_ref(device), Case::new(seed).parts).unwrap();
        wrong.extend(check(seed, &team, &mut seen).err());
        assert!(wrong.len() < 4, "{}", wrong.join("\n\n"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let Seen { cases, replayed, deep, tiled } = seen;
    println!("{device:?}: {cases} cases, {replayed} replayed, {deep} deep, {tiled} tiled");
    seen
}

#[test]
fn random_steps_in_a_loop_are_what_a_model_computes() {
    for device in devices() {
        let seeds = seeds(if device.kind() == DeviceKind::Host { 0..200 } else { 0..25 });
        let seen = all(seeds, &device);
        ran("random-loops", &device, seen.cases);
    }
}

#[test]
fn random_steps_are_the_same_by_small_tiles_on_several_threads() {
    // A process has one size of tiles and one number of threads.
    let name = "random_steps_in_a_loop_are_what_a_model_computes";
    let mut tiled = 0;
    for (bytes, threads) in [("4000", "3"), ("16000", "2")] {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", name, "--nocapture"]).env("PARTITA_TEST_DEVICES", "host");
        let ended = again.env("PARTITA_TILE_BYTES", bytes).env("PARTITA_THREADS", threads).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && said.contains("1 passed"), "{bytes}, {threads} threads: {said}");
        let line = said.lines().find_map(|line| line.strip_suffix(" tiled")).unwrap();
        tiled += line.rsplit(' ').next().unwrap().parse::<usize>().unwrap();
    }
    ran("random-loops-tiled", &Device::host(), tiled);
}

#[test]
fn random_steps_over_ranks_are_what_a_model_computes() {
    for seed in seeds(0..40) {
        let parts = Case::new(seed).parts;
        for outcome in threads::run(parts, |ranks| {
            let team = Team::over(&ranks, &[Device::host()], 1).unwrap();
            check(seed, &team, &mut Seen::default())
        }) {
            let outcome = outcome.unwrap();
            assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
        }
    }
}

#[test]
fn what_was_started_on_a_state_sees_nothing_of_later_steps() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let rows = Partition::world(&team).unwrap().cartesian(&[2, 1]).unwrap();
        let turn = Collective::repartition(&rows, &rows.cartesian(&[1, 2]).unwrap()).unwrap();
        let dist = Distribution::builder(&[40, 30]).grid(&[2, 1]).build().unwrap();
        let u = Array::from_fn(&team, &dist, |at| (31 * at[0] + at[1]) as f32).unwrap();
        let mut run = Loop::new(vec![u], |state| {
            let next = state[0].slice(&s![..-2, ..]) * 0.5 + state[0].slice(&s![2.., ..]) * 0.25;
            state[0].assign(&s![1..-1, ..], &next)
        });
        run.run(10).unwrap();
        for steps in [1, 2, 5] {
            let expected = cells(&run.state()[0]);
            let pending = turn.start(&run.state()[0]).unwrap();
            run.run(steps).unwrap();
            assert!(cells(&pending.finish().unwrap()) == expected, "{device:?}, {steps} steps");
        }
        run.run(6).unwrap();
        assert!(run.is_replaying(), "{device:?}");
    }
}
