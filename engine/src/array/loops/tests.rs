//! Loops from inside: where rounds begin, what a failing step leaves, and memory that comes back for
//! something else.
#![allow(clippy::unwrap_used)]

use crate::array::assign_all;
use crate::error::Error;
use crate::prelude::*;

#[test]
fn rounds_of_tiles_begin_wherever_a_run_does() {
    let step = |state: &mut [Array]| {
        let u = &state[0];
        let next = u.slice(&s![1..-1, .., ..-1]) + 0.5 * u.slice(&s![2.., .., 1..]);
        state[0].assign(&s![1..-1, .., ..-1], &(0.6 * next))
    };
    // Alone, and with an exchange in three steps.
    for parts in [1, 2] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let dist = Distribution::builder(&[40, 41, 601]).parts(parts).build().unwrap();
        let number = |at: &[i64]| ((at[0] * 7 + at[1] * at[2]) % 101) as f32;
        let start = || Array::from_fn(&team, &dist, number).unwrap();
        let mut state = vec![start()];
        let mut tiled = Loop::new(vec![start()], step).depth(3);
        let mut run = |count: u64, tiled: &mut Loop<_>| {
            (0..count).for_each(|_| step(&mut state).unwrap());
            assert!(tiled.state[0].to_vec::<f32>().unwrap() == state[0].to_vec::<f32>().unwrap());
        };
        tiled.run(23).unwrap();
        run(23, &mut tiled);
        assert!(tiled.explain().contains("tile by tile"), "{}", tiled.explain());
        for single in [0, 1, 1, 3, 1] {
            tiled.run(single).unwrap();
            // Two states take turns, so what repeats itself is six steps.
            let cycle = tiled.cycle.as_mut().unwrap();
            assert_eq!(cycle.replay(&team, &mut tiled.state, 6).unwrap(), 6, "{parts} {single}");
            assert_eq!(cycle.replay(&team, &mut tiled.state, 5).unwrap(), 1, "no more than asked for");
            run(single + 7, &mut tiled);
        }
        // With room for that, a round begins with the exchange, which is the step after the next.
        let cycle = tiled.cycle.as_mut().unwrap();
        let mut left = 12;
        let mut taken = Vec::new();
        while left > 0 {
            taken.push(cycle.replay(&team, &mut tiled.state, left).unwrap());
            left -= taken[taken.len() - 1];
        }
        let expected = if parts == 1 { vec![6, 6] } else { vec![1, 6, 1, 1, 1, 1, 1] };
        assert_eq!(taken, expected, "{parts}");
        run(12, &mut tiled);
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
                    return Err(Error::invalid("a step", "success", "none", "go on"));
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
