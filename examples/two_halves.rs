//! A program that uses MPI itself, by rsmpi: two halves of the world compute the heat in a rod each, with
//! another mode, and the second one's ranks agree on their time between steps. Both compare their result
//! with the closed form. `cargo build --features partita/mpi --example two_halves`, then
//! `mpirun -n 4 target/debug/examples/two_halves`.

use std::f64::consts::PI;
use std::time::Instant;

use mpi::collective::SystemOperation;
use mpi::environment::initialize_with_threading;
use mpi::topology::Color;
use mpi::{Threading, traits::*};
use partita::prelude::*;
// The crate `mpi`, which a program of its own names among its dependencies.
use partita::wire::mpi::rsmpi as mpi;

const N: i64 = 400;
const STEPS: u64 = 100;
const RATE: f64 = 0.25;

fn main() -> partita::Result<()> {
    let Some((universe, _)) = initialize_with_threading(Threading::Serialized) else {
        unreachable!("nothing has initialised MPI before")
    };
    let world = universe.world();
    let side = world.rank() % 2;
    let Some(half) = world.split_by_color(Color::with_value(side)) else { unreachable!("a color each") };

    let team = Team::from_communicator(&half, 2)?;
    let dist = Distribution::builder(&[N]).parts(team.size()).halo(&[1], &[1]).build()?;
    let angle = f64::from(side + 1) * PI / (N - 1) as f64;
    let rod = Array::from_fn(&team, &dist, |at| (angle * at[0] as f64).sin())?;
    let mut heat = Loop::new(vec![rod], |state| {
        let u = &state[0];
        let (left, right) = (u.slice(&s![..-2]), u.slice(&s![2..]));
        let middle = u.slice(&s![1..-1]);
        let next = &middle + RATE * (left + right - 2.0 * &middle);
        state[0].assign(&s![1..-1], &next)
    });
    let mut slowest = 0.0;
    for _ in 0..4 {
        let begin = Instant::now();
        heat.run(STEPS)?;
        if side == 1 {
            half.all_reduce_into(&begin.elapsed().as_secs_f64(), &mut slowest, SystemOperation::max());
        }
    }

    let decay = (1.0 - 4.0 * RATE * (angle / 2.0).sin().powi(2)).powi(4 * STEPS as i32);
    let error =
        (heat.state()[0].slice(&s![N / 8]).item::<f64>()? / decay - (angle * (N / 8) as f64).sin()).abs();
    let mut errors = vec![0.0; world.size() as usize];
    world.all_gather_into(&error, &mut errors[..]);
    if world.rank() == 0 {
        println!("{} ranks in two halves, errors {errors:?}", world.size());
    }
    assert!(errors.iter().all(|&error| error < 1e-11));
    Ok(())
}
