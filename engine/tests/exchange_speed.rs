//! Speed of plans on one device as a fraction of a copy of the same bytes in the same run. Run it alone:
//! `cargo test --release -p partita --test exchange_speed -- --ignored --nocapture`.
#![allow(missing_docs, clippy::unwrap_used)]

mod raw_access;

use std::time::Instant;

use partita::plan::Plan;
use partita::prelude::*;
use partita::transport::{Exchange, Field, lower};

/// The least seconds of some turns, taken in turns so that a disturbance meets all.
fn seconds(team: &Team, exchanges: &[&Exchange], turns: usize) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; exchanges.len()];
    for _ in 0..turns {
        for (least, exchange) in least.iter_mut().zip(exchanges) {
            let start = Instant::now();
            exchange.commands().try_for_each(raw_access::run).unwrap();
            team.wait().unwrap();
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    least
}

fn prepared(team: &Team, from: &Distribution, to: &Distribution) -> (Exchange, Vec<Array>) {
    let zeros = |dist: &Distribution| Array::zeros(team, dist, DType::F32).unwrap();
    let (a, b) = (zeros(from), zeros(to));
    let (here, there) = (a.places().unwrap(), b.places().unwrap());
    let plan = Plan::redistribute(from, to).unwrap();
    let field = Field { plan: &plan, from: &here, to: &there, dtype: DType::F32 };
    (lower(&[field]).unwrap(), vec![a, b])
}

#[test]
#[ignore = "measures, and wants the machine to itself"]
fn repartition_as_a_fraction_of_copying() {
    let team = Team::on(&[Device::host()], 4).unwrap();
    for n in [1024, 4096, 8192] {
        let grid = |rows, columns| Distribution::builder(&[n, n]).grid(&[rows, columns]).build().unwrap();
        let cyclic = Distribution::builder(&[n, n]).grid(&[4, 1]).cyclic(0, 1).build().unwrap();
        let dealt = Distribution::builder(&[n, n]).grid(&[1, 4]).cyclic(1, 16).build().unwrap();
        let shifted = Distribution::builder(&[n, n]).grid(&[4, 1]).bounds(0, &[0, n / 8, n / 2, n - 7, n]);
        let shifted = shifted.build().unwrap();
        let slabs = grid(4, 1);
        let cases = [
            ("slab to slab of other bounds", &slabs, &shifted),
            ("slab to slab across", &slabs, &grid(1, 4)),
            ("slab across to slab", &grid(1, 4), &slabs),
            ("slab to pencil", &slabs, &grid(2, 2)),
            ("pencil to slab", &grid(2, 2), &slabs),
            ("slab to cyclic rows", &slabs, &cyclic),
            ("slab to block-cyclic columns", &slabs, &dealt),
        ];
        let (copy, _kept) = prepared(&team, &slabs, &slabs);
        for (name, from, to) in cases {
            let (exchange, _arrays) = prepared(&team, from, to);
            let least = seconds(&team, &[&copy, &exchange], 9);
            let speed = 8.0 * (n * n) as f64 / least[0] / 1e9;
            println!(
                "{n}x{n} f32 {name}: {:.2} of copying ({speed:.1} GB/s), {} launches",
                least[0] / least[1],
                exchange.commands().count()
            );
        }
    }
}

#[test]
#[ignore = "measures, and wants the machine to itself"]
fn halos_of_many_small_parts() {
    for (n, parts) in [(64, 16), (512, 16), (2048, 16)] {
        let team = Team::on(&[Device::host()], parts).unwrap();
        let dist = Distribution::builder(&[n, n]).grid(&[4, 4]).halo(&[1, 1], &[1, 1]).build().unwrap();
        let a = Array::zeros(&team, &dist, DType::F32).unwrap();
        let places = a.places().unwrap();
        let plan = Plan::halo(&dist, true).unwrap();
        let field = Field { plan: &plan, from: &places, to: &places, dtype: DType::F32 };
        let exchange = lower(&[field]).unwrap();
        let least = seconds(&team, &[&exchange], 50)[0];
        let moves = plan.moves().len();
        println!(
            "halo of {n}x{n} over 4x4 parts: {:.2} us, {moves} moves, {} launches, {:.3} us per move",
            1e6 * least,
            exchange.commands().count(),
            1e6 * least / moves as f64
        );
    }
}
