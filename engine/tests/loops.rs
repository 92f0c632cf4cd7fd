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
    loop {
        // After a step that failed, the rest of its run.
        if run.steps() == end {
            let Some(steps) = ends.next() else { break };
            end += steps;
        }
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
        if (random.below(2) == 0 || is_refused)
            && let Some(found) = difference(run.state(), &model)
        {
            return Err(said(&format!("after {} steps: {found}", run.steps()), &run.explain()));
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

/// Starts operators on the state of a loop that computes an array in its place, and another one from side to
/// side, goes on, and finishes them.
fn start_on_a_state(team: &Team) {
    let rows = Partition::world(team).unwrap().cartesian(&[2, 1]).unwrap();
    let turn = Collective::repartition(&rows, &rows.cartesian(&[1, 2]).unwrap()).unwrap();
    let gather = Collective::allgather(&rows, &[0]).unwrap();
    let dist = Distribution::builder(&[40, 30]).grid(&[2, 1]).build().unwrap();
    let start = || Array::from_fn(team, &dist, |at| (31 * at[0] + at[1]) as f32).unwrap();
    let mut run = Loop::new(vec![start(), start()], |state| {
        let next = state[1].slice(&s![1..-1, ..]) * 0.5 + 1.0;
        state[0].assign(&s![1..-1, ..], &next)?;
        let next = state[1].slice(&s![.., ..-2]) * 0.5 + state[1].slice(&s![.., 2..]) * 0.25;
        state[1].assign(&s![.., 1..-1], &next)
    });
    run.run(10).unwrap();
    for steps in [1, 2, 5] {
        for (operator, array) in [(&turn, 0), (&gather, 0), (&turn, 1), (&gather, 1)] {
            let expected = cells(&operator.forward(&run.state()[array]).unwrap());
            let pending = operator.start(&run.state()[array]).unwrap();
            run.run(steps).unwrap();
            let given = cells(&pending.finish().unwrap());
            assert!(given == expected, "array {array}, {steps} steps of {}", run.steps());
        }
    }
    run.run(9).unwrap();
    assert!(run.is_replaying());
}

#[test]
fn what_was_started_on_a_state_sees_nothing_of_later_steps() {
    for device in devices() {
        start_on_a_state(&Team::on(std::slice::from_ref(&device), 2).unwrap());
    }
    let several: Vec<Device> =
        devices().into_iter().filter(|device| device.kind() == DeviceKind::Cuda).take(2).collect();
    if several.len() == 2 {
        start_on_a_state(&Team::on(&several, 2).unwrap());
    }
    for outcome in threads::run(2, |ranks| {
        start_on_a_state(&Team::over(&ranks, &[Device::host()], 1).unwrap());
    }) {
        outcome.unwrap();
    }
}

#[test]
fn a_loop_goes_on_where_a_failing_step_left_its_state() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[30, 8]).parts(2).build().unwrap();
    let start = || vec![Array::from_fn(&team, &dist, |at| (at[0] * at[1] + 1) as f32 / 240.0).unwrap()];
    // Other memory every time, or that it is in.
    let first = |state: &mut [Array]| {
        let next = state[0].slice(&s![..-2, ..]) * 0.5 + state[0].slice(&s![2.., ..]) * 0.25;
        state[0].assign(&s![1..-1, ..], &next)
    };
    let second = |state: &mut [Array]| {
        let edge = state[0].slice(&s![1..2, ..]) * 0.75;
        state[0].assign(&s![..1, ..], &edge)
    };
    for depth in [1, 3] {
        // Steps that are replayed are not called.
        let mut failed = 0;
        for fails in 1..9 {
            let (mut state, mut calls) = (start(), 0);
            let step = move |state: &mut [Array]| {
                calls += 1;
                first(state)?;
                if calls == fails {
                    return state[0].slice(&s![99..]).eval();
                }
                second(state)
            };
            let mut run = Loop::new(start(), step).depth(depth);
            let has_failed = run.run(20).is_err();
            failed += usize::from(has_failed);
            let done = run.steps();
            run.run(20 - done).unwrap();
            for at in 0..=20 {
                if has_failed && at == done {
                    first(&mut state).unwrap();
                }
                if at < 20 {
                    first(&mut state).unwrap();
                    second(&mut state).unwrap();
                }
            }
            let (given, expected) = (run.state()[0].to_bytes().unwrap(), state[0].to_bytes().unwrap());
            assert!(given == expected, "depth {depth}, call {fails}: {}", run.explain());
            assert!(run.is_replaying());
        }
        assert!(failed >= 3, "depth {depth}: {failed}");
    }
}

#[test]
fn memory_that_comes_back_in_another_type_keeps_its_order() {
    // As many bytes in twice the rows: what one frees the other takes.
    let team = Team::on(&[Device::host()], 1).unwrap();
    let dist = |rows: i64| Distribution::builder(&[rows, 700]).build().unwrap();
    let step = |state: &mut [Array]| {
        for array in state.iter_mut() {
            let next = array.slice(&s![2.., ..]) * 0.5 + array.slice(&s![..-2, ..]) * 0.25;
            array.assign(&s![1..-1, ..], &next)?;
        }
        Ok(())
    };
    let number = |at: &[i64]| ((at[0] * 31 + at[1]) % 1009) as f64;
    let start = || {
        let narrow = Array::from_fn(&team, &dist(1200), |at| number(at) as f32).unwrap();
        vec![narrow, Array::from_fn(&team, &dist(600), number).unwrap()]
    };
    let (mut state, mut run) = (start(), Loop::new(start(), step).depth(4));
    run.run(40).unwrap();
    (0..40).for_each(|_| step(&mut state).unwrap());
    for (given, expected) in run.state().iter().zip(&state) {
        assert!(given.to_bytes().unwrap() == expected.to_bytes().unwrap(), "{}", run.explain());
    }
}

#[test]
fn a_plane_beside_a_cube_is_computed_once_by_tiles() {
    let team = Team::on(&[Device::host()], 1).unwrap();
    let cube = Distribution::builder(&[60, 61, 301]).build().unwrap();
    let plane = Distribution::builder(&[60, 9]).build().unwrap();
    let step = |state: &mut [Array]| {
        let next = state[0].slice(&s![1..-1, 1.., ..]) * 0.5 + state[0].slice(&s![2.., ..-1, ..]) * 0.25;
        state[0].assign(&s![1..-1, 1.., ..], &next)?;
        let next = state[1].slice(&s![1..-1, ..]) * 0.5 + state[1].slice(&s![2.., ..]) * 0.25;
        state[1].assign(&s![1..-1, ..], &next)
    };
    let number = |at: &[i64]| (at.iter().fold(7, |sum, c| 31 * sum + c) % 1009) as f32;
    let start = || [&cube, &plane].map(|dist| Array::from_fn(&team, dist, number).unwrap()).to_vec();
    let (mut state, mut run) = (start(), Loop::new(start(), step).depth(4));
    run.run(30).unwrap();
    (0..30).for_each(|_| step(&mut state).unwrap());
    assert!(run.explain().contains("tile by tile"), "{}", run.explain());
    for (given, expected) in run.state().iter().zip(&state) {
        assert!(given.to_bytes().unwrap() == expected.to_bytes().unwrap());
    }
}

#[test]
fn parts_of_a_line_go_by_tiles_between_two_exchanges() {
    let team = Team::on(&[Device::host()], 2).unwrap();
    let dist = Distribution::builder(&[500_000]).parts(2).build().unwrap();
    let step = |state: &mut [Array]| {
        let next = state[0].slice(&s![2..]) * 0.5 + state[0].slice(&s![..-2]) * 0.25;
        state[0].assign(&s![1..-1], &next)
    };
    let start = || vec![Array::from_fn(&team, &dist, |at| (at[0] % 1009) as f64).unwrap()];
    let (mut state, mut run) = (start(), Loop::new(start(), step).depth(4));
    run.run(30).unwrap();
    (0..30).for_each(|_| step(&mut state).unwrap());
    assert!(run.explain().contains("tile by tile"), "{}", run.explain());
    assert!(run.state()[0].to_bytes().unwrap() == state[0].to_bytes().unwrap());
}

#[test]
fn small_windows_of_several_arrays_are_an_evaluation_each_in_every_step() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    let dist = |shape: &[i64]| Distribution::builder(shape).grid(&[4, 1][..shape.len()]).build().unwrap();
    // Further cells of the window than its own memory has room for: it is written in_fresh_memory.
    let step = |state: &mut [Array]| {
        let (u, w) = (&state[0], &state[2]);
        let near = u.slice(&s![54..95, 3..4]) * 0.25 + w.slice(&s![55..96, 1..2]) * 0.5;
        let far = u.slice(&s![57..98, 1..2]) * 0.25 + w.slice(&s![56..97, 4..5]) * 0.5;
        let [u, _, w] = state else { unreachable!("three arrays") };
        assign_all(&mut [(u, &near), (w, &far)], &s![55..96, 2..3])?;
        state[1] = &state[1] * 0.25;
        let left = state[0].slice(&s![.., 0..1]) * 0.5 + state[0].slice(&s![.., 1..2]) * 0.25;
        state[0].assign(&s![.., 0..1], &left)?;
        let inside = state[1].slice(&s![1..-1]) * 0.75;
        state[1].assign(&s![1..-1], &inside)
    };
    let number = |at: &[i64]| (at.iter().fold(7, |sum, c| 31 * sum + c) % 1009) as f64;
    let shapes: [&[i64]; 3] = [&[110, 12], &[110], &[110, 12]];
    let start = || shapes.map(|shape| Array::from_fn(&team, &dist(shape), number).unwrap()).to_vec();
    let (mut state, mut run) = (start(), Loop::new(start(), step).depth(3));
    run.run(20).unwrap();
    (0..20).for_each(|_| step(&mut state).unwrap());
    for (given, expected) in run.state().iter().zip(&state) {
        assert!(given.to_bytes().unwrap() == expected.to_bytes().unwrap());
    }
    assert!(!run.explain().contains("lacks"), "{}", run.explain());
}
