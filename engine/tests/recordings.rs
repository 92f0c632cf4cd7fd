//! Programs that record without reading are divided into stages, so that no value is computed repeatedly.
//! Counted in launches and instructions, against the same program with `eval` in each step.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::cell::Cell;
use std::time::Instant;

use found::{devices, ran};
use partita::array::record;
use partita::prelude::*;
use partita::program::Op;
use partita::wire::threads;

/// What a program launches: how many kernels, and instructions times cells in all of them.
#[derive(Clone, Copy, Debug)]
struct Work {
    launches: usize,
    instructions: usize,
}

fn work(program: impl FnOnce() -> partita::Result<()>) -> Work {
    let mut work = Work { launches: 0, instructions: 0 };
    for command in record(program).unwrap() {
        if let Op::Launch { job, .. } = &command.op {
            let cells: usize = job.launch.extents.iter().product();
            work.launches += 1;
            // Plain numbers are the same at all cells: however many a kernel has, they count as one.
            let body = &job.program.kernel().kernel().body;
            let is_number =
                |inst: &&partita_kernels::Inst| matches!(inst.op, partita_kernels::Op::Argument(_));
            let numbers = body.iter().filter(is_number).count();
            work.instructions += cells * (body.len() - numbers + numbers.min(1));
        }
    }
    work
}

fn averaged(u: &Array) -> Array {
    0.5 * (u + u.roll(&[1]))
}

/// Advection with limited slopes: four rolls a step.
fn limited(u: &Array) -> Array {
    let (left, right) = (u - u.roll(&[1]), u.roll(&[-1]) - u);
    let smaller = left.abs().less(right.abs()).select(&left, &right);
    let slope = (&left * &right).greater(0.0).select(&smaller, &(&smaller * 0.0));
    let flux = u + 0.375 * &slope;
    u - 0.25 * (&flux - flux.roll(&[1]))
}

/// A system of three equations, one value of each per cell.
fn lorenz(state: [Array; 3]) -> [Array; 3] {
    let [x, y, z] = &state;
    let slopes = [(y - x) * 10.0, x * (28.0 - z) - y, x * y - z * (8.0 / 3.0)];
    [x + &slopes[0] * 0.001, y + &slopes[1] * 0.001, z + &slopes[2] * 0.001]
}

fn team(parts: usize) -> Team {
    Team::on(&[Device::host()], parts).unwrap()
}

fn line(team: &Team, size: i64) -> Array {
    let dist = Distribution::builder(&[size]).parts(team.size()).build().unwrap();
    Array::from_fn(team, &dist, |at| ((at[0] * 37) % 101) as f64 / 101.0).unwrap()
}

fn matrix(team: &Team, size: i64) -> Array {
    let dist = Distribution::builder(&[size, size]).grid(&[team.size() as i64, 1]).build().unwrap();
    Array::from_fn(team, &dist, |at| 1.0 / (1 + at[0] + 2 * at[1]) as f64).unwrap()
}

/// A step of the power iteration: `w = A v`, `v = w / |w|`.
fn powered(a: &Array, v: &Array) -> Array {
    let size = a.shape()[0];
    let w = (a * v.transpose(&[1, 0])).sum(&[1]);
    assert_eq!(w.shape()[..], [size, 1]);
    &w / (&w * &w).sum(&[]).sqrt()
}

/// What the program takes that never reads, and what its twin takes that computes in every step; both give
/// the same.
fn both(steps: usize, start: &Array, step: impl Fn(&Array) -> Array) -> [Work; 2] {
    let run = |eager: bool| {
        let mut u = start.clone();
        let work = work(|| {
            for _ in 0..steps {
                u = step(&u);
                if eager {
                    u.eval()?;
                }
            }
            u.eval()
        });
        (work, u)
    };
    let ((lazy, u), (eager, v)) = (run(false), run(true));
    assert_eq!(u.to_vec::<f64>().unwrap(), v.to_vec::<f64>().unwrap());
    println!("{steps} steps: {lazy:?}; with eval in each: {eager:?}");
    [lazy, eager]
}

fn no_more_than_twice([lazy, eager]: [Work; 2]) {
    // Storing fewer values is worth computing some of them for several readers.
    let cost = |work: Work| work.instructions + 10_000 * work.launches;
    assert!(lazy.launches <= eager.launches, "{lazy:?} {eager:?}");
    assert!(lazy.instructions <= 2 * eager.instructions, "{lazy:?} {eager:?}");
    assert!(cost(lazy) <= 2 * cost(eager), "{lazy:?} {eager:?}");
}

#[test]
fn averaging_with_a_roll_costs_what_its_steps_cost() {
    no_more_than_twice(both(800, &line(&team(1), 1000), averaged));
    no_more_than_twice(both(100, &line(&team(3), 100), averaged));
}

#[test]
fn limited_advection_costs_what_its_steps_cost() {
    for parts in [1, 4] {
        no_more_than_twice(both(64, &line(&team(parts), 257), limited));
    }
}

fn column(team: &Team, size: i64) -> Array {
    let dist = Distribution::builder(&[size, 1]).grid(&[team.size() as i64, 1]).build().unwrap();
    Array::from_fn(team, &dist, |_| 1.0f64).unwrap()
}

#[test]
fn a_power_iteration_computes_each_reduction_once() {
    for parts in [1, 2] {
        let team = team(parts);
        let a = matrix(&team, 30);
        no_more_than_twice(both(200, &column(&team, 30), |v| powered(&a, v)));
    }
}

/// The shortest of ten runs, in seconds: other tests run beside.
fn seconds(mut program: impl FnMut()) -> f64 {
    let mut once = || {
        let begin = Instant::now();
        program();
        begin.elapsed().as_secs_f64()
    };
    (0..10).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Name, number of steps, first state and step.
type Program<'a> = (&'static str, usize, &'a Array, &'a dyn Fn(&Array) -> Array);

#[test]
fn planning_takes_time_that_is_linear_in_the_steps() {
    let team = team(1);
    let (a, v, u) = (matrix(&team, 30), column(&team, 30), line(&team, 257));
    let programs: [Program; 3] = [
        ("averages", 400, &u, &averaged),
        ("advection", 64, &u, &limited),
        ("power iteration", 100, &v, &|v| powered(&a, v)),
    ];
    // None is so short that its tasks are cached.
    for (name, steps, start, step) in programs {
        let lazy = |steps: usize| {
            seconds(|| {
                let mut u = start.clone();
                (0..steps).for_each(|_| u = step(&u));
                u.eval().unwrap();
            })
        };
        let (few, many) = (lazy(steps), lazy(4 * steps));
        println!("{name}: {steps} steps {:.1} ms, 4 times as many {:.1} ms", few * 1e3, many * 1e3);
        // Linear is 4, quadratic 16. Before recordings were divided, a power iteration of 200 steps took 100
        // times as long as with `eval` in each step.
        assert!(many < 8.0 * few, "{name}: {few} {many}");
    }
}

#[test]
fn a_million_operations_take_linear_time_and_a_shallow_stack() {
    let u = line(&team(1), 4);
    let begin = Instant::now();
    let mut sum = u.clone();
    for _ in 0..1_000_000 {
        sum = &sum + &u;
    }
    let chain = begin.elapsed();
    let expected: Vec<f64> =
        u.to_vec::<f64>().unwrap().iter().map(|x| (0..1_000_000).fold(*x, |sum, _| sum + x)).collect();
    assert_eq!(sum.to_vec::<f64>().unwrap(), expected);
    println!("a chain of a million additions: {chain:?}, read after {:?}", begin.elapsed());
    // Sums of neighbours, from a million values down to one.
    let begin = Instant::now();
    let mut level: Vec<Array> = (0..1 << 19).map(|k| &u * f64::from(k % 7)).collect();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| &pair[0] + &pair[1]).collect();
    }
    let recorded = begin.elapsed();
    let total: i64 = (0..1i64 << 19).map(|k| k % 7).sum();
    let tree = level.remove(0).to_vec::<f64>().unwrap();
    println!("a tree of a million operations: recorded in {recorded:?}, read after {:?}", begin.elapsed());
    for (sum, x) in tree.iter().zip(u.to_vec::<f64>().unwrap()) {
        assert!((sum - x * total as f64).abs() <= 1e-9 * x * total as f64, "{sum} {x}");
    }
    // Some seconds each; what takes quadratic time takes many minutes.
    assert!(chain.as_secs() < 150 && begin.elapsed().as_secs() < 150, "{chain:?} {:?}", begin.elapsed());
}

#[test]
fn expressions_of_twice_the_size_take_twice_the_launches() {
    let launches = |steps: usize| {
        let u = line(&team(1), 4);
        let sum = (0..steps).fold(u.clone(), |sum, _| &sum + &u);
        work(|| sum.eval()).launches
    };
    // None of these is so long that a part is computed while it is recorded.
    assert_eq!((launches(1000), launches(8000)), (1, 5));
}

#[test]
fn a_chain_that_nobody_reads_is_computed_in_between() {
    let team = team(2);
    let u = line(&team, 10);
    let mut v = u.clone();
    let recording = work(|| {
        (0..20_000).for_each(|_| v = &v * 0.5 + &u);
        Ok(())
    });
    assert!(recording.launches > 0, "40,000 recorded operations");
    let rest = work(|| v.eval());
    assert!(rest.launches > 0 && rest.instructions < recording.instructions, "{recording:?} {rest:?}");
    let limit = |x: &f64| (0..20_000).fold(*x, |v, _| v * 0.5 + x);
    let limits: Vec<f64> = u.to_vec::<f64>().unwrap().iter().map(limit).collect();
    assert_eq!(v.to_vec::<f64>().unwrap(), limits);
    // Views alone compute nothing, however many.
    let mut turned = u.clone();
    let views = work(|| {
        (0..20_000).for_each(|_| turned = turned.flip(0));
        Ok(())
    });
    assert_eq!(views.launches, 0);
    assert_eq!(turned.to_vec::<f64>().unwrap(), u.to_vec::<f64>().unwrap());
    (turned.clone() + 1.0).eval().unwrap();
}

#[test]
fn states_of_several_arrays_are_computed_once() {
    let start = || {
        let team = team(2);
        [0.1, 0.2, 0.3].map(|x| line(&team, 16) + x)
    };
    let run = |eager: bool| {
        let mut state = start();
        let work = work(|| {
            for _ in 0..3000 {
                state = lorenz(state.clone());
                if eager {
                    eval_all(&state.iter().collect::<Vec<_>>())?;
                }
            }
            eval_all(&state.iter().collect::<Vec<_>>())
        });
        (work, state.map(|x| x.to_vec::<f64>().unwrap()))
    };
    let ((lazy, a), (eager, b)) = (run(false), run(true));
    println!("three equations: {lazy:?}; with eval in each step: {eager:?}");
    assert_eq!(a, b);
    assert!(lazy.instructions <= 2 * eager.instructions, "{lazy:?} {eager:?}");
    assert!(10 * lazy.launches <= eager.launches, "{lazy:?} {eager:?}");
}

#[test]
fn what_is_divided_gives_the_same_bits_on_all_parts_and_devices() {
    for device in devices() {
        let mut cases = 0;
        for (step, steps) in [(averaged as fn(&Array) -> Array, 40), (limited, 12)] {
            let mut expected: Option<Vec<f64>> = None;
            for parts in 1..=8 {
                let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
                for periodic in [false, true] {
                    let dist =
                        Distribution::builder(&[53]).parts(parts).periodic(&[periodic]).build().unwrap();
                    let u = Array::from_fn(&team, &dist, |at| ((at[0] * 37) % 101) as f64 / 101.0).unwrap();
                    let found = (0..steps).fold(u, |u, _| step(&u)).to_vec::<f64>().unwrap();
                    assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "{device:?} {parts}");
                    cases += 1;
                }
            }
        }
        ran("recordings", &device, cases);
    }
}

#[test]
fn what_others_hold_keeps_its_value() {
    let team = team(3);
    let u = line(&team, 30);
    let values = |u: &Array| u.to_vec::<f64>().unwrap();
    // Handles of values within the expression, read before and after.
    let (mut v, mut held) = (u.clone(), Vec::new());
    for k in 0..20 {
        v = limited(&v);
        if k % 3 == 0 {
            held.push((k, v.clone()));
        }
    }
    let said = v.explain().unwrap();
    assert!(said.kernels.len() > 5, "{said}");
    assert!(
        held.iter().all(|(_, inner)| !inner.explain().unwrap().kernels.is_empty()),
        "nothing was computed"
    );
    v.eval().unwrap();
    let mut eager = u.clone();
    for k in 0..20 {
        eager = limited(&eager);
        eager.eval().unwrap();
        if let Some((_, inner)) = held.iter().find(|(at, _)| *at == k) {
            assert_eq!(values(inner), values(&eager), "step {k}");
        }
    }
    assert_eq!(values(&v), values(&eager));
    // Assignments see the old elements, whatever is stored in between.
    let mut w = u.clone();
    let next = (0..6).fold(w.clone(), |w, _| limited(&w));
    w.assign(&s![3..20], &next.slice(&s![3..20])).unwrap();
    assert_eq!(values(&w)[3..20], values(&next)[3..20]);
    assert_eq!(values(&w)[..3], values(&u)[..3]);
}

#[test]
fn slices_that_are_rolled_and_joined_arrays_are_divided_too() {
    for (parts, periodic) in [(1, false), (3, false), (3, true)] {
        let team = team(parts);
        let dist = Distribution::builder(&[40]).parts(parts).periodic(&[periodic]).build().unwrap();
        let u = Array::from_fn(&team, &dist, |at| ((at[0] * 7) % 11) as f64).unwrap();
        let step = |u: &Array| {
            let inner = u.slice(&s![1..-1]);
            let turned = (inner.roll(&[1]) + inner.roll(&[-1]) + &inner) * 0.25;
            Array::concatenate(&[&u.slice(&s![..1]), &turned, &u.slice(&s![-1..])], 0)
        };
        let [lazy, eager] = both(60, &u, step);
        assert!(lazy.launches <= 2 * eager.launches, "{lazy:?} {eager:?}");
        assert!(lazy.instructions <= 2 * eager.instructions, "{lazy:?} {eager:?}");
    }
}

#[test]
fn an_operation_that_computes_carries_the_error() {
    let u = line(&team(1), 4);
    let wrong = u.slice(&s![..3]) + u.slice(&s![..2]);
    let mut v = u.clone();
    // The error is within the expression, and no call looks for it.
    for k in 0..10_000 {
        v = if k == 5 { &v + &wrong } else { &v + &u };
    }
    let error = v.eval().unwrap_err().to_string();
    assert!(error.contains("broadcast"), "{error}");
    assert!(u.to_vec::<f64>().is_ok());
}

#[test]
fn steps_of_a_loop_may_record_so_much_that_a_part_is_computed() {
    let step = |state: &mut [Array]| {
        let mut next = state[0].clone();
        (0..5000).for_each(|_| next = &next * 0.5 + &state[0] * 0.5);
        state[0] = next;
        state[0].eval()
    };
    let u = line(&team(2), 12);
    let mut run = Loop::new(vec![u.clone()], step);
    run.run(6).unwrap();
    let expected = u.to_vec::<f64>().unwrap();
    let found = run.state()[0].to_vec::<f64>().unwrap();
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    assert!(run.is_replaying());
}

/// The element that a replayed step takes at an index: negative ones count from the end.
fn taken(line: &[f32], index: i32) -> f32 {
    let size = line.len() as i32;
    line[(if index < 0 { index + size } else { index }).clamp(0, size - 1) as usize]
}

#[test]
fn replayed_indices_that_leave_the_array_take_its_first_or_last_element() {
    const SIZE: i64 = 23;
    for device in devices() {
        for parts in [1, 3] {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let dist = Distribution::builder(&[SIZE]).parts(parts).build().unwrap();
            let calls = Cell::new(0);
            // One list of indices goes up, another down.
            let step = |state: &mut [Array]| {
                calls.set(calls.get() + 1);
                let taken = state[0].take(&state[1])? + state[0].take(&state[2])? * 0.5;
                state[0] = taken * 0.5;
                (state[1], state[2]) = (&state[1] + 1, &state[2] - 1);
                Ok(())
            };
            let mut line: Vec<f32> = (0..SIZE).map(|k| (5 * k % 17) as f32).collect();
            let up: Vec<i32> = (0..SIZE as i32).map(|k| 4 * k % 9 - 2).collect();
            let down: Vec<i32> = (0..SIZE as i32).map(|k| 1 - 3 * k % 8).collect();
            let indices = [&up, &down].map(|list| Array::from_slice(&team, &dist, list).unwrap());
            let mut state = vec![Array::from_slice(&team, &dist, &line).unwrap()];
            state.extend(indices);
            let mut run = Loop::new(state, step);
            for (steps, shift) in [(9, 0), (1, 9), (35, 10)] {
                run.run(steps).unwrap();
                assert!(run.is_replaying() && calls.get() <= 9, "{device:?}: {}", run.explain());
                for k in shift..shift + steps as i32 {
                    let next = |(up, down)| 0.5 * (taken(&line, up + k) + 0.5 * taken(&line, down - k));
                    line = up.iter().copied().zip(down.iter().copied()).map(next).collect();
                }
                assert_eq!(run.state()[0].to_vec::<f32>().unwrap(), line, "{device:?}, {parts} parts");
            }
            // In bounds until the step was replayed, out of bounds on either side in the end.
            let is_outside = |k: i32| {
                let all = up.iter().map(|i| i + k).chain(down.iter().map(|i| i - k));
                all.filter(|&i| i < -SIZE as i32 || i >= SIZE as i32).count()
            };
            assert_eq!((is_outside(9), is_outside(44)), (0, 2 * SIZE as usize));
            // What is recorded is checked.
            let error = run.state()[0].take(&run.state()[1]).unwrap_err().to_string();
            assert!(error.contains("indices from -23 to 22"), "{error}");
            ran("clamped-indices", &device, parts);
        }
    }
}

#[test]
fn steps_that_share_exchanges_may_be_divided() {
    let start = |team: &Team| {
        let dist = Distribution::builder(&[60]).parts(team.size()).periodic(&[true]).build().unwrap();
        Array::from_fn(team, &dist, |at| ((at[0] * 7) % 11) as f64).unwrap()
    };
    let step = |state: &mut [Array]| {
        state[0] = (0..3).fold(state[0].clone(), |u, _| limited(&u));
        state[0].eval()
    };
    let team = team(3);
    let mut run = Loop::new(vec![start(&team)], step).depth(2);
    match run.run(8) {
        Ok(()) => {
            let mut u = start(&team);
            for _ in 0..24 {
                u = limited(&u);
                u.eval().unwrap();
            }
            assert_eq!(run.state()[0].to_vec::<f64>().unwrap(), u.to_vec::<f64>().unwrap());
        }
        Err(error) => assert!(error.to_string().contains("share an exchange"), "{error}"),
    }
}

#[test]
fn all_ranks_compute_at_the_same_operation() {
    let program = |team: &Team| {
        let (u, a) = (line(team, 40), matrix(team, 12));
        let mut v = u.clone();
        for _ in 0..300 {
            v = limited(&v);
        }
        // So long that parts of it are computed on the way.
        let mut w = u.clone();
        for _ in 0..9000 {
            w = &w * 0.5 + w.roll(&[1]) * 0.25;
        }
        let x = (0..300).fold(column(team, 12), |x, _| powered(&a, &x));
        Ok::<_, partita::Error>([v.to_vec::<f64>()?, w.to_vec::<f64>()?, x.to_vec::<f64>()?])
    };
    let alone = program(&team(3)).unwrap();
    for result in threads::run(3, |ranks| program(&Team::over(&ranks, &[Device::host()], 1)?)) {
        assert_eq!(result.unwrap().unwrap(), alone);
    }
}
