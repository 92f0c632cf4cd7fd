//! A `Loop` whose step panics, a `depth` that is not possible, and constants that change between steps.
#![allow(missing_docs, clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use partita::index::{CustomMap, DimMap};
use partita::prelude::*;

fn team(parts: usize) -> Team {
    Team::on(&[Device::host()], parts).unwrap()
}

fn ramp(team: &Team, size: i64) -> Array {
    let dist = Distribution::builder(&[size]).parts(team.size()).halo(&[1], &[1]).build().unwrap();
    Array::from_fn(team, &dist, |at| at[0] as f64).unwrap()
}

fn smooth(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let next = u.slice(&s![..-2]) * 0.25 + u.slice(&s![2..]) * 0.5;
    state[0].assign(&s![1..-1], &next)
}

fn again(start: &Array, steps: usize) -> Vec<f64> {
    let mut state = [start.clone()];
    (0..steps).for_each(|_| smooth(&mut state).unwrap());
    state[0].to_vec().unwrap()
}

/// What a thread may be left with is looked at by computing, reading and looping on it.
fn is_usable(team: &Team) {
    let u = ramp(team, 40);
    assert_eq!((&u + 1.0).to_vec::<f64>().unwrap()[3], 4.0);
    assert!(!u.sum(&[]).explain().unwrap().kernels.is_empty());
    let mut run = Loop::new(vec![u.clone()], smooth);
    run.run(20).unwrap();
    assert!(run.is_replaying());
    assert_eq!(run.state()[0].to_vec::<f64>().unwrap(), again(&u, 20));
}

#[test]
fn a_panic_in_a_step_leaves_the_thread_the_team_and_the_loop_usable() {
    let team = team(3);
    for (depth, call) in [(1, 1), (1, 2), (1, 3), (3, 2), (3, 4)] {
        let start = ramp(&team, 40);
        let (mut calls, mut done) = (0, 0);
        let mut run = Loop::new(vec![start.clone()], |state: &mut [Array]| {
            calls += 1;
            assert!(calls != call, "on purpose");
            smooth(state)
        });
        if depth > 1 {
            run = run.depth(depth);
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| run.run(30)));
        assert!(outcome.is_err(), "the step panics in call {call}");
        done += run.steps() as usize;
        is_usable(&team);
        assert_eq!(
            run.state()[0].to_vec::<f64>().unwrap(),
            again(&start, done),
            "depth {depth}, call {call}"
        );
        run.run(30).unwrap();
        assert_eq!(
            run.state()[0].to_vec::<f64>().unwrap(),
            again(&start, done + 30),
            "depth {depth}, call {call}"
        );
    }
}

#[test]
fn a_panic_in_a_function_of_the_index_leaves_the_thread_and_the_team_usable() {
    let team = team(2);
    let dist = Distribution::builder(&[10]).parts(2).build().unwrap();
    let made = catch_unwind(AssertUnwindSafe(|| {
        Array::from_fn(&team, &dist, |at| if at[0] < 7 { 1.0 } else { panic!("on purpose") })
    }));
    assert!(made.is_err());
    is_usable(&team);
}

/// Even indices on part 0 and odd ones on part 1; it panics when asked once more than it may be.
#[derive(Debug)]
struct Panics {
    left: std::sync::atomic::AtomicI64,
}

impl Panics {
    fn asked(&self) {
        let left = self.left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        assert!(left != 0, "on purpose");
    }
}

impl CustomMap for Panics {
    fn name(&self) -> &str {
        "panics"
    }

    fn size(&self) -> i64 {
        20
    }

    fn parts(&self) -> usize {
        2
    }

    fn count(&self, _part: usize) -> i64 {
        self.asked();
        10
    }

    fn to_global(&self, part: usize, local: i64) -> i64 {
        self.asked();
        2 * local + part as i64
    }

    fn to_local(&self, global: i64) -> (usize, i64) {
        self.asked();
        ((global % 2) as usize, global / 2)
    }
}

#[test]
fn a_panic_in_a_custom_map_leaves_the_thread_and_the_team_usable() {
    let team = team(2);
    let mut panics = 0;
    for asked in (0..400).step_by(7) {
        let work = || -> partita::Result<Vec<f64>> {
            let map = Arc::new(Panics { left: asked.into() });
            let dist = Distribution::builder(&[20]).map(0, DimMap::custom(map)?).grid(&[2]).build()?;
            let u = Array::from_fn(&team, &dist, |at| at[0] as f64)?;
            let v = u.slice(&s![1..]) + u.slice(&s![..-1]);
            v.explain()?;
            let mut run = Loop::new(vec![u], |state| {
                let next = &state[0] * 0.5;
                state[0].assign(&s![..], &next)
            });
            run.run(6)?;
            v.to_vec()
        };
        panics += usize::from(catch_unwind(AssertUnwindSafe(work)).is_err());
        is_usable(&team);
    }
    assert!(panics > 3, "{panics}");
}

#[test]
fn more_steps_than_can_be_counted_are_refused() {
    let mut run = Loop::new(vec![ramp(&team(2), 10)], smooth);
    run.run(5).unwrap();
    let error = run.run(u64::MAX).unwrap_err().to_string();
    assert!(error.starts_with("Loop::run: expected") && error.contains("18446744073709551615"), "{error}");
    assert_eq!(run.steps(), 5);
    run.run(5).unwrap();
}

#[test]
fn depths_without_end_are_refused_before_anything_runs() {
    let pointwise = |state: &mut [Array]| {
        state[0] = &state[0] * 0.5;
        Ok(())
    };
    for depth in [1 << 32, usize::MAX] {
        let began = Instant::now();
        let mut run = Loop::new(vec![ramp(&team(2), 10)], pointwise).depth(depth);
        let error = run.run(10).unwrap_err().to_string();
        assert!(error.starts_with("Loop::depth: expected") && error.contains(&depth.to_string()), "{error}");
        assert_eq!(run.steps(), 0);
        assert!(began.elapsed() < Duration::from_secs(1));
    }
    let began = Instant::now();
    let mut run = Loop::new(vec![ramp(&team(2), 10)], pointwise).depth(100_000);
    run.run(10).unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// Runs a step that is given its number, and says what the loop said after how many steps.
fn error_of(parts: usize, mut step: impl FnMut(&mut [Array], u64) -> partita::Result<()>) -> (String, u64) {
    let (mut calls, team) = (0, team(parts));
    let mut run = Loop::new(vec![ramp(&team, 12), ramp(&team, 12)], |state| {
        calls += 1;
        step(state, calls)
    });
    let error = run.run(100).err().map_or(String::new(), |error| error.to_string());
    let steps = run.steps();
    drop(run);
    assert!(error.is_empty() || calls == steps, "{steps} steps of {calls} calls");
    (error, steps)
}

#[test]
fn a_plain_number_that_changes_from_step_to_step_is_an_error_that_names_it() {
    for parts in [1, 3] {
        let (error, _) = error_of(parts, |state, k| {
            let next = &state[0] + k as f64;
            next.eval()?;
            state[0] = next;
            Ok(())
        });
        assert!(error.contains("1.0:f64") && error.contains("2.0:f64"), "{error}");
        assert!(error.contains("array 0 of the state") && error.contains("Loop::with_numbers"), "{error}");
        // In windows, in the array's own memory, in reductions; numbers without a trace in one of the steps.
        for first in [0, 1, 2, 10] {
            let (error, steps) = error_of(parts, |state, k| {
                let next = &state[1] * (k + first - 1) as f64;
                state[1].assign(&s![..], &next)
            });
            assert!(error.contains("array 1 of the state") && steps < 8, "{first}: {error}");
            let (error, steps) = error_of(parts, |state, k| {
                let next = state[0].slice(&s![..-2]) + (k + first - 1) as f64;
                state[0].assign(&s![1..-1], &next)
            });
            assert!(error.contains("array 0 of the state") && steps < 8, "{first}: {error}");
        }
        let (error, steps) = error_of(parts, |state, k| {
            let scale = (&state[0] * (1.0 / k as f64)).sum(&[]);
            state[1] = &state[1] + &scale;
            Ok(())
        });
        assert!(error.contains("does the same every time") && steps < 8, "{error}");
    }
}

#[test]
fn a_number_that_changes_is_an_error_where_steps_share_an_exchange() {
    let mut k = 0.0;
    let mut run = Loop::new(vec![ramp(&team(3), 60)], |state: &mut [Array]| {
        k += 1.0;
        let next = state[0].slice(&s![..-2]) * 0.25 + k;
        state[0].assign(&s![1..-1], &next)
    })
    .depth(3);
    let error = run.run(100).unwrap_err().to_string();
    assert!(error.contains("does the same every time"), "{error}");
}

#[test]
fn steps_whose_memory_never_comes_back_name_the_number_that_changes() {
    let mut held = Vec::new();
    let (error, steps) = error_of(2, |state, k| {
        state[0] = &state[0] + 0.5 * k as f64;
        state[0].eval()?;
        held.push(state[0].clone());
        Ok(())
    });
    assert!(error.contains("0.5:f64") && steps < 8, "{error}");
}

#[test]
fn steps_that_do_the_same_give_no_error() {
    // Two kernels that differ in a number alone; a captured array that changes; more than one memory.
    let team = team(3);
    let clock = ramp(&team, 1);
    let (error, steps) = error_of(3, |state, _| {
        state[0] = &state[0] * 0.5;
        state[1] = &state[1] * 0.25;
        let next = state[1].slice(&s![1..]) * 0.125;
        state[0].assign(&s![..-1], &next)
    });
    assert_eq!((error.as_str(), steps), ("", 100));
    let mut run = Loop::new(vec![ramp(&team, 12), clock.clone()], |state| {
        state[0] = &state[0] + &state[1];
        state[1] = &state[1] + 1.0;
        Ok(())
    });
    run.run(100).unwrap();
    assert_eq!(run.state()[0].to_vec::<f64>().unwrap()[2], 2.0 + 4950.0);
}
