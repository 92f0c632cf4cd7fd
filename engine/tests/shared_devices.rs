//! Threads whose teams share devices: evaluations exclude each other wherever they use the same memory. Run
//! under ThreadSanitizer by `cargo xtask sanitize`, where a missing lock shows as a data race.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Barrier;
use std::thread;

use partita::prelude::*;

const THREADS: usize = 4;
const ROUNDS: usize = 12;

/// Blocks with a halo of one cell, which is stale in a new array.
fn blocks(parts: usize) -> Distribution {
    Distribution::builder(&[8 * parts as i64, 16])
        .grid(&[parts as i64, 1])
        .halo(&[1, 0], &[1, 0])
        .build()
        .unwrap()
}

/// The sum of both neighbours along dimension 0, of an array whose elements are 100 times their row.
fn sums_of_neighbours(parts: usize) -> Vec<f32> {
    let rows = 1..8 * parts - 1;
    rows.flat_map(|row| [200.0 * row as f32; 16]).collect()
}

#[test]
fn equal_teams_made_apart_refresh_the_halos_of_one_array() {
    let device = Device::host();
    for round in 0..ROUNDS {
        let parts = 2 + round % 3;
        let team = || Team::on(std::slice::from_ref(&device), parts).unwrap();
        let shared = Array::from_fn(&team(), &blocks(parts), |at| 100.0 * at[0] as f32).unwrap();
        let begin = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    // The team of the first operand, this thread's own, is the result's.
                    let own = Array::zeros(&team(), &blocks(parts), DType::F32).unwrap();
                    begin.wait();
                    let sum = own.slice(&s![1..-1]) + shared.slice(&s![..-2]) + shared.slice(&s![2..]);
                    assert_eq!(sum.to_vec::<f32>().unwrap(), sums_of_neighbours(parts), "round {round}");
                });
            }
        });
    }
}

#[test]
fn threads_assign_to_arrays_of_their_own_while_others_read_what_they_were_made_of() {
    let device = Device::host();
    let team = || Team::on(std::slice::from_ref(&device), 3).unwrap();
    let shared = Array::from_fn(&team(), &blocks(3), |at| 100.0 * at[0] as f32).unwrap();
    let begin = Barrier::new(THREADS);
    thread::scope(|scope| {
        for k in 0..THREADS {
            let mut own = shared.clone();
            let (shared, begin, team) = (&shared, &begin, &team);
            scope.spawn(move || {
                begin.wait();
                for _ in 0..ROUNDS {
                    let apart = Array::zeros(&team(), &blocks(3), DType::F32).unwrap();
                    let next = apart.slice(&s![1..-1]) + own.slice(&s![..-2]) + (k as f64);
                    own.assign(&s![1..-1], &next).unwrap();
                }
                assert_eq!(own.get(&[0, 0]).unwrap().to_f64(), 0.0);
                let sum = shared.slice(&s![..-2]) + shared.slice(&s![2..]);
                assert_eq!(sum.to_vec::<f32>().unwrap(), sums_of_neighbours(3));
            });
        }
    });
}
