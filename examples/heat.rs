//! Heat in a cube: the 3-D heat equation, explicit in time, cold walls, over eight parts. The
//! slowest mode has a closed form, which the result is checked against.

use std::f64::consts::PI;

use partita::operators::{Boundary, laplacian};
use partita::prelude::*;

const N: i64 = 49;
const STEPS: u64 = 500;
/// Diffusivity times the time step over the squared spacing; stable up to 1/6.
const RATE: f64 = 0.125;

fn mode(at: &[i64]) -> f64 {
    at.iter().map(|&i| (PI * i as f64 / (N - 1) as f64).sin()).product()
}

fn main() -> partita::Result<()> {
    let team = Team::local(8)?;
    let dist = Distribution::builder(&[N, N, N]).grid(&[2, 2, 2]).halo(&[1, 1, 1], &[1, 1, 1]).build()?;
    let start = Array::from_fn(&team, &dist, mode)?;
    println!("{dist}");

    let mut heat = Loop::new(vec![start], |state| {
        let u = &state[0];
        let next = u.slice(&s![1..-1, 1..-1, 1..-1]) + RATE * laplacian(u, &[1.0; 3], Boundary::Open);
        state[0].assign(&s![1..-1, 1..-1, 1..-1], &next)
    });
    heat.run(STEPS)?;

    // Each step multiplies this mode by 1 - 12 rate sin^2(pi h / 2).
    let decay = (1.0 - 12.0 * RATE * (PI / (2.0 * (N - 1) as f64)).sin().powi(2)).powi(STEPS as i32);
    let hottest = heat.state()[0].max(&[]).item::<f64>()?;
    let error = (hottest - decay).abs() / decay;
    println!("hottest cell {hottest:.12}, closed form {decay:.12}, relative error {error:.1e}");
    assert!(error < 1e-12);
    Ok(())
}
