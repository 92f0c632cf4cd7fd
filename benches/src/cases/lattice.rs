//! A lattice Boltzmann step as a formula: 19 populations per cell, which stream and collide.

use crate::cases::formula::{Cells, HERE, Number, shell, star};

/// The directions in which populations travel: none, along an axis, along two.
fn directions() -> Vec<[i64; 3]> {
    std::iter::once(HERE).chain(star(3, 1)).chain(shell(3, 2)).collect()
}

/// Weights of the equilibrium, by how many axes a direction goes along.
const WEIGHTS: [f64; 3] = [1.0 / 3.0, 1.0 / 18.0, 1.0 / 36.0];
/// The part of the way to the equilibrium that a collision goes.
const RELAXATION: f64 = 0.8;

fn total<T: Number>(values: impl Iterator<Item = T>) -> T {
    values.reduce(|total, value| total + value).expect("there are directions")
}

/// D3Q19 with one relaxation time: populations come from their neighbours and collide. Opposite directions
/// share what they have in common. P. L. Bhatnagar, E. P. Gross, M. Krook (1954); Y. H. Qian, D. d'Humieres,
/// P. Lallemand, Lattice BGK models for Navier-Stokes equation (1992).
pub fn d3q19<C: Cells>(c: &C) -> Vec<C::Value> {
    let directions = directions();
    let come: Vec<C::Value> = directions.iter().enumerate().map(|(k, by)| c.at(k, by.map(|d| -d))).collect();
    let density = total(come.iter().cloned());
    let momentum = [0, 1, 2].map(|d| {
        let towards = |sign| {
            let moving = directions.iter().zip(&come).filter(move |(by, _)| by[d] == sign);
            total(moving.map(|(_, value)| value.clone()))
        };
        towards(1) - towards(-1)
    });
    let velocity = momentum.map(|momentum| momentum / density.clone());
    let squared = total(velocity.iter().map(|v| v.clone() * v.clone()));
    let resting = squared * -1.5 + 1.0;
    let weighted = WEIGHTS.map(|weight| density.clone() * (RELAXATION * weight));
    let kept = |k: usize| come[k].clone() * (1.0 - RELAXATION);
    let mut after: Vec<Option<C::Value>> = vec![None; directions.len()];
    for (k, by) in directions.iter().enumerate() {
        let axes: Vec<usize> = (0..3).filter(|&d| by[d] != 0).collect();
        let weighted = weighted[axes.len()].clone();
        let Some((&first, others)) = axes.split_first() else {
            after[k] = Some(kept(k) + resting.clone() * weighted);
            continue;
        };
        if by[first] < 0 {
            continue;
        }
        let across = others.iter().fold(velocity[first].clone(), |across, &d| {
            if by[d] > 0 { across + velocity[d].clone() } else { across - velocity[d].clone() }
        });
        let even = (across.clone() * across.clone() * 4.5 + resting.clone()) * weighted.clone();
        let odd = across * weighted * 3.0;
        let opposite = by.map(|d| -d);
        let back = directions.iter().position(|other| *other == opposite).expect("each has an opposite");
        after[k] = Some(kept(k) + even.clone() + odd.clone());
        after[back] = Some(kept(back) + even - odd);
    }
    after.into_iter().map(|value| value.expect("each direction or its opposite was computed")).collect()
}

#[cfg(test)]
mod tests {
    use partita::prelude::*;

    use super::*;
    use crate::cases::formula::Windows;

    /// A torus of `side` cells along each axis with a population per direction, none like another.
    fn torus(side: i64) -> Vec<Vec<f64>> {
        let cells = side.pow(3) as usize;
        (0..19).map(|k| (0..cells).map(|at| 0.5 + 0.4 * ((7 * k + 13 * at) as f64).sin()).collect()).collect()
    }

    fn place(at: [i64; 3], side: i64) -> usize {
        at.iter().fold(0, |flat, at| flat * side + at.rem_euclid(side)) as usize
    }

    fn cells(side: i64) -> impl Iterator<Item = [i64; 3]> {
        (0..side.pow(3)).map(move |flat| [flat / side / side, flat / side % side, flat % side])
    }

    /// Straight loops, as books have them: collide everywhere, then send each population on its way.
    fn plain_step(old: &[Vec<f64>], side: i64) -> Vec<Vec<f64>> {
        let come = |k: usize, at: [i64; 3]| {
            let from = [0, 1, 2].map(|d| at[d] - directions()[k][d]);
            old[k][place(from, side)]
        };
        let mut new = old.to_vec();
        for at in cells(side) {
            let (mut density, mut momentum) = (0.0, [0.0; 3]);
            for (k, by) in directions().iter().enumerate() {
                density += come(k, at);
                for d in 0..3 {
                    momentum[d] += by[d] as f64 * come(k, at);
                }
            }
            let u = momentum.map(|m| m / density);
            let square: f64 = u.iter().map(|u| u * u).sum();
            for (k, by) in directions().iter().enumerate() {
                let axes = by.iter().filter(|&&d| d != 0).count();
                let along: f64 = (0..3).map(|d| by[d] as f64 * u[d]).sum();
                let calm = WEIGHTS[axes]
                    * density
                    * (1.0 + 3.0 * along + 9.0 / 2.0 * along * along - 3.0 / 2.0 * square);
                let arrived = come(k, at);
                new[k][place(at, side)] = arrived + RELAXATION * (calm - arrived);
            }
        }
        new
    }

    /// Mass, and momentum along each axis.
    fn conserved(state: &[Vec<f64>]) -> [f64; 4] {
        let mut all = [0.0; 4];
        for (by, values) in directions().iter().zip(state) {
            let sum: f64 = values.iter().sum();
            all[0] += sum;
            (0..3).for_each(|d| all[d + 1] += by[d] as f64 * sum);
        }
        all
    }

    #[test]
    fn the_lattice_is_that_of_plain_loops_and_loses_nothing() {
        const SIDE: i64 = 5;
        assert_eq!(directions().len(), 19);
        let team = Team::on(&[Device::host()], 2).expect("team");
        let (mut state, start) = (torus(SIDE), conserved(&torus(SIDE)));
        for step in 1..=4 {
            // With a rim of what lies on the other side.
            let wide = SIDE + 2;
            let dist =
                Distribution::builder(&[wide; 3]).parts(2).halo(&[1; 3], &[1; 3]).build().expect("dist");
            let rimmed = |values: &Vec<f64>| {
                let cell = |at: &[i64]| values[place([at[0] - 1, at[1] - 1, at[2] - 1], SIDE)];
                Array::from_fn(&team, &dist, cell).expect("array")
            };
            let inputs: Vec<Array> = state.iter().map(rimmed).collect();
            let given = d3q19(&Windows { inputs: &inputs, reach: 1 });
            eval_all(&given.iter().collect::<Vec<_>>()).expect("compute");
            let given: Vec<Vec<f64>> = given.iter().map(|a| a.to_vec::<f64>().expect("read")).collect();
            state = plain_step(&state, SIDE);
            for (k, (given, expected)) in given.iter().zip(&state).enumerate() {
                for (given, expected) in given.iter().zip(expected) {
                    assert!(
                        (given - expected).abs() < 1e-14,
                        "step {step}, direction {k}: {given} {expected}"
                    );
                }
            }
            for (now, first) in conserved(&given).into_iter().zip(start) {
                assert!((now - first).abs() < 1e-10, "step {step}: {now} of {first}");
            }
        }
        let moved = torus(SIDE).iter().zip(&state).any(|(a, b)| (a[0] - b[0]).abs() > 0.01);
        assert!(moved, "nothing happened");
    }
}
