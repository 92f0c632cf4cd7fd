//! Programs that record and never read: what they compute is divided by itself, so that no value is computed
//! again and again. Counted in launches and instructions, against the same program with `eval` in each step.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::time::{Duration, Instant};

use found::{devices, ran};
use partita::array::Padding;
use partita::index::DimMap;
use partita::prelude::*;
use partita::program::{Command, record};
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
        if let Command::Launch { job, .. } = command {
            let cells: usize = job.launch.extents.iter().product();
            work.launches += 1;
            work.instructions += cells * job.program.kernel().kernel().body.len();
        }
    }
    work
}

/// A step, and the state after it.
type Step = fn(&Array) -> Array;

fn averaged(u: &Array) -> Array {
    0.5 * (u + u.roll(&[1]))
}

/// Advection with limited slopes: four rolls a step.
fn limited(u: &Array) -> Array {
    let (left, right) = (u - u.roll(&[-1]), u.roll(&[1]) - u);
    let smaller = left.abs().less(right.abs()).select(&left, &right);
    let slope = (&left * &right).greater(0.0).select(&smaller, &(&smaller * 0.0));
    let flux = u + 0.375 * &slope;
    u - 0.25 * (&flux - flux.roll(&[-1]))
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
    assert!(lazy.launches <= 2 * eager.launches, "{lazy:?} {eager:?}");
    // A launch takes longer than some thousand instructions.
    let cost = |work: Work| work.instructions + 2000 * work.launches;
    assert!(cost(lazy) <= 2 * cost(eager), "{lazy:?} {eager:?}");
    // No cell takes more instructions than a kernel that stores every second value, by a small number.
    assert!(lazy.instructions <= 8 * eager.instructions, "{lazy:?} {eager:?}");
}

#[test]
fn averaging_with_a_roll_costs_what_its_steps_cost() {
    no_more_than_twice(both(800, &line(&team(1), 1000), averaged));
    no_more_than_twice(both(100, &line(&team(3), 100), averaged));
}

#[test]
fn limited_advection_costs_what_its_steps_cost() {
    for parts in [1, 4] {
        let [lazy, eager] = both(64, &line(&team(parts), 257), limited);
        no_more_than_twice([lazy, eager]);
        assert!(lazy.instructions <= 2 * eager.instructions, "{lazy:?} {eager:?}");
    }
}

#[test]
fn a_power_iteration_computes_each_reduction_once() {
    for parts in [1, 2] {
        let team = team(parts);
        let a = matrix(&team, 30);
        let column = Distribution::builder(&[30, 1]).grid(&[parts as i64, 1]).build().unwrap();
        let v = Array::from_fn(&team, &column, |_| 1.0f64).unwrap();
        let [lazy, eager] = both(200, &v, |v| powered(&a, v));
        no_more_than_twice([lazy, eager]);
        assert!(lazy.instructions <= 2 * eager.instructions, "{lazy:?} {eager:?}");
    }
}
