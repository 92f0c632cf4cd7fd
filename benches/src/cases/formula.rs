//! The formulas of the workloads, each written once and read in three ways: over arrays it is what is
//! measured, over f64 numbers what one cell must be, over a trace what peers compute and how many operations
//! a cell costs.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Sub};

use partita::array::{IntoSpan, Span};
use partita::prelude::*;
use serde::Serialize;

/// The numbers that formulas calculate with.
pub trait Number:
    Clone
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn sin(self) -> Self;
}

/// The inputs as one cell of the result sees them.
pub trait Cells {
    type Value: Number;
    /// The cell of input `array` at this distance; the last axis comes last, leading zeros are ignored.
    fn at(&self, array: usize, offset: [i64; 3]) -> Self::Value;
}

/// The three readings of a formula.
#[derive(Clone, Copy)]
pub struct Formula {
    pub over_arrays: fn(&Windows) -> Vec<Array>,
    pub of_a_cell: fn(&Numbers) -> Vec<f64>,
    pub traced: for<'a> fn(&'a Trace) -> Vec<Traced<'a>>,
}

/// The three readings of one generic function.
macro_rules! formula {
    ($name:path) => {
        $crate::cases::formula::Formula {
            over_arrays: |c| $name(c),
            of_a_cell: |c| $name(c),
            traced: |c| $name(&c),
        }
    };
}
pub(crate) use formula;

// ---- the readings ----

impl Number for Array {
    fn sqrt(self) -> Array {
        Array::sqrt(&self)
    }
    fn exp(self) -> Array {
        Array::exp(&self)
    }
    fn sin(self) -> Array {
        Array::sin(&self)
    }
}

/// Arrays seen through windows that are `reach` smaller on every side.
pub struct Windows<'a> {
    pub inputs: &'a [Array],
    pub reach: i64,
}

impl Cells for Windows<'_> {
    type Value = Array;
    fn at(&self, array: usize, offset: [i64; 3]) -> Array {
        let input = &self.inputs[array];
        let rank = input.rank();
        let span = |d: usize| {
            let by = offset[3 - rank + d];
            (self.reach + by..input.shape()[d] - self.reach + by).into_span()
        };
        let spans: Vec<Span> = (0..rank).map(span).collect();
        input.slice(&spans)
    }
}

impl Number for f64 {
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    fn sin(self) -> f64 {
        f64::sin(self)
    }
}

/// Plain numbers, looked up by array and offset.
pub struct Numbers<'a>(pub &'a dyn Fn(usize, [i64; 3]) -> f64);

impl Cells for Numbers<'_> {
    type Value = f64;
    fn at(&self, array: usize, offset: [i64; 3]) -> f64 {
        (self.0)(array, offset)
    }
}

/// One operation: `cell` of an array at an offset, `number`, an operator or a function of earlier steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step(pub &'static str, pub Arguments);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Arguments {
    Cell(usize, [i64; 3]),
    Number([f64; 1]),
    Places(Vec<usize>),
}

/// Writes single operations down, none twice.
#[derive(Default)]
pub struct Trace(RefCell<Vec<Step>>);

/// The place of a step in a trace.
#[derive(Clone, Copy)]
pub struct Traced<'a>(&'a Trace, usize);

impl Trace {
    fn step(&self, name: &'static str, arguments: Arguments) -> Traced<'_> {
        let (mut steps, step) = (self.0.borrow_mut(), Step(name, arguments));
        let place = steps.iter().position(|known| *known == step).unwrap_or(steps.len());
        if place == steps.len() {
            steps.push(step);
        }
        Traced(self, place)
    }
}

impl<'a> Cells for &'a Trace {
    type Value = Traced<'a>;
    fn at(&self, array: usize, offset: [i64; 3]) -> Traced<'a> {
        self.step("cell", Arguments::Cell(array, offset))
    }
}

impl<'a> Traced<'a> {
    fn of_two(self, name: &'static str, other: Traced<'a>) -> Traced<'a> {
        self.0.step(name, Arguments::Places(vec![self.1, other.1]))
    }

    fn of_one(self, name: &'static str) -> Traced<'a> {
        self.0.step(name, Arguments::Places(vec![self.1]))
    }

    fn number(self, value: f64) -> Traced<'a> {
        self.0.step("number", Arguments::Number([value]))
    }
}

macro_rules! traced {
    ($($trait:ident $method:ident $name:literal),*) => {$(
        impl<'a> $trait for Traced<'a> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.of_two($name, other)
            }
        }

        impl<'a> $trait<f64> for Traced<'a> {
            type Output = Self;
            fn $method(self, other: f64) -> Self {
                self.of_two($name, self.number(other))
            }
        }
    )*};
}
traced!(Add add "+", Sub sub "-", Mul mul "*", Div div "/");

impl Number for Traced<'_> {
    fn sqrt(self) -> Self {
        self.of_one("sqrt")
    }
    fn exp(self) -> Self {
        self.of_one("exp")
    }
    fn sin(self) -> Self {
        self.of_one("sin")
    }
}

impl Formula {
    /// All operations in order, and the places of the outputs.
    pub fn steps(&self) -> (Vec<Step>, Vec<usize>) {
        let trace = Trace::default();
        let outputs = (self.traced)(&trace).iter().map(|value| value.1).collect();
        (trace.0.into_inner(), outputs)
    }
}

// ---- the formulas ----

pub const HERE: [i64; 3] = [0, 0, 0];
/// The part of a neighbour's difference that a diffusion step takes over.
const DIFFUSION: f64 = 0.1;
/// Second derivatives of order 4 and 8: the centre, then by distance.
const ORDER4: [f64; 3] = [-5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0];
const ORDER8: [f64; 5] = [-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0];

pub fn copy<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![c.at(0, HERE)]
}

pub fn scale<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![c.at(0, HERE) * 1.5]
}

pub fn triad<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![c.at(0, HERE) + c.at(1, HERE) * 1.5]
}

/// No two of a, b and the result lie alike relative to 16 bytes.
pub fn offset<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![c.at(0, [0, 0, 1]) + c.at(1, [0, 0, -1]) * 1.5]
}

pub fn add<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![c.at(0, HERE) + c.at(1, HERE)]
}

pub fn add_twice<C: Cells>(c: &C) -> Vec<C::Value> {
    let sum = c.at(0, HERE) + c.at(1, HERE);
    vec![sum.clone(), sum]
}

pub fn fused8<C: Cells>(c: &C) -> Vec<C::Value> {
    let (a, b) = (c.at(0, HERE), c.at(1, HERE));
    let length = (a.clone() * a.clone() + b.clone() * b.clone()).sqrt();
    vec![length * (a.clone() - b.clone()) + a / b]
}

pub fn expsin<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![c.at(0, HERE).exp() * c.at(1, HERE).sin()]
}

pub fn product<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![c.at(0, HERE) * c.at(1, HERE)]
}

pub fn square<C: Cells>(c: &C) -> Vec<C::Value> {
    let a = c.at(0, HERE);
    vec![a.clone() * a]
}

/// A chain of 32 multiplications and additions, to find out how much arithmetic fits.
pub fn polynomial<C: Cells>(c: &C) -> Vec<C::Value> {
    let a = c.at(0, HERE);
    vec![(0..32).fold(a.clone(), |x, _| x * a.clone() + 0.25)]
}

/// The sum of at least one value.
fn total<T: Number>(values: impl Iterator<Item = T>) -> T {
    values.reduce(|total, value| total + value).expect("a stencil has neighbours")
}

fn sum<C: Cells>(c: &C, array: usize, offsets: impl Iterator<Item = [i64; 3]>) -> C::Value {
    total(offsets.map(|offset| c.at(array, offset)))
}

/// Neighbours along the last `rank` axes, `distance` away.
pub fn star(rank: usize, distance: i64) -> impl Iterator<Item = [i64; 3]> {
    (3 - rank..3).flat_map(move |d| {
        [-distance, distance].map(|by| {
            let mut offset = HERE;
            offset[d] = by;
            offset
        })
    })
}

/// Cells of the cube around the centre that differ from it along `axes` axes, of the last `rank`.
pub fn shell(rank: usize, axes: usize) -> impl Iterator<Item = [i64; 3]> {
    let cube = (-1..=1).flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [z, y, x])));
    cube.filter(move |offset| {
        offset[..3 - rank].iter().all(|&by| by == 0) && offset.iter().filter(|&&by| by != 0).count() == axes
    })
}

/// `u + k * (neighbours - count * u)`.
fn diffusion<C: Cells>(c: &C, array: usize, rank: usize, k: f64) -> C::Value {
    let centre = c.at(array, HERE);
    let around = sum(c, array, star(rank, 1));
    centre.clone() + (around - centre * (2 * rank) as f64) * k
}

/// A second derivative along three axes of any order.
fn laplacian<C: Cells>(c: &C, array: usize, weights: &[f64]) -> C::Value {
    let centre = c.at(array, HERE) * (3.0 * weights[0]);
    (1..weights.len()).fold(centre, |total, k| total + sum(c, array, star(3, k as i64)) * weights[k])
}

pub fn stencil5<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![diffusion(c, 0, 2, DIFFUSION)]
}

/// The mean of the four neighbours.
pub fn jacobi<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![sum(c, 0, star(2, 1)) * 0.25]
}

/// Seven points, positive definite.
pub fn minus_laplacian<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![c.at(0, HERE) * 6.0 - sum(c, 0, star(3, 1))]
}

pub fn stencil9<C: Cells>(c: &C) -> Vec<C::Value> {
    let (edges, corners) = (sum(c, 0, shell(2, 1)), sum(c, 0, shell(2, 2)));
    vec![c.at(0, HERE) * 0.4 + edges * 0.1 + corners * 0.05]
}

pub fn stencil7<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![diffusion(c, 0, 3, DIFFUSION)]
}

pub fn stencil13<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![laplacian(c, 0, &ORDER4)]
}

pub fn stencil25<C: Cells>(c: &C) -> Vec<C::Value> {
    vec![laplacian(c, 0, &ORDER8)]
}

pub fn stencil27<C: Cells>(c: &C) -> Vec<C::Value> {
    let around =
        sum(c, 0, shell(3, 1)) * 0.05 + sum(c, 0, shell(3, 2)) * 0.02 + sum(c, 0, shell(3, 3)) * 0.01;
    vec![c.at(0, HERE) * 0.38 + around]
}

/// Two species that diffuse and react.
pub fn gray_scott<C: Cells>(c: &C) -> Vec<C::Value> {
    let (u, v) = (c.at(0, HERE), c.at(1, HERE));
    let reaction = u.clone() * v.clone() * v.clone();
    let fed = (u.clone() * -1.0 + 1.0) * 0.035;
    let next_u = diffusion(c, 0, 3, 0.16) - reaction.clone() + fed;
    let next_v = diffusion(c, 1, 3, 0.08) + reaction - v * 0.1;
    vec![next_u, next_v]
}

/// Pressure now, pressure before, and the squared speed of sound per cell.
pub fn wave<C: Cells>(c: &C) -> Vec<C::Value> {
    let propagated = laplacian(c, 0, &ORDER8) * c.at(2, HERE);
    vec![c.at(0, HERE) * 2.0 - c.at(1, HERE) + propagated * 0.1]
}

/// Heat in a material whose conductivity changes from cell to cell.
pub fn heat<C: Cells>(c: &C) -> Vec<C::Value> {
    let (u, k) = (c.at(0, HERE), c.at(1, HERE));
    let flow = |offset| (c.at(1, offset) + k.clone()) * (c.at(0, offset) - u.clone());
    vec![u.clone() + total(star(3, 1).map(flow)) * (0.5 * DIFFUSION)]
}

/// Depth and velocity of shallow water: h' + (h u)_x + (h v)_y = 0, u' + u u_x + v u_y + h_x = 0 and the same
/// of v, with a gravity of 1; central differences, and the mean of the neighbours for the old value. P. D.
/// Lax, Weak solutions of nonlinear hyperbolic equations and their numerical computation (1954).
pub fn shallow_water<C: Cells>(c: &C) -> Vec<C::Value> {
    const STEP: f64 = 0.05;
    let [[north, south], [west, east]] = [[[0, -1, 0], [0, 1, 0]], [[0, 0, -1], [0, 0, 1]]];
    let (u, v) = (c.at(1, HERE), c.at(2, HERE));
    let mean = |field| sum(c, field, star(2, 1)) * 0.25;
    let across = |field, [before, behind]: [[i64; 3]; 2]| c.at(field, behind) - c.at(field, before);
    let flow = |field, at| c.at(0, at) * c.at(field, at);
    let outflow = flow(1, east) - flow(1, west) + (flow(2, south) - flow(2, north));
    let next = |field, slope| {
        let carried = u.clone() * across(field, [west, east]) + v.clone() * across(field, [north, south]);
        mean(field) - (carried + slope) * STEP
    };
    vec![mean(0) - outflow * STEP, next(1, across(0, [west, east])), next(2, across(0, [north, south]))]
}

/// The directions in which populations travel: none, along an axis, along two.
fn directions() -> Vec<[i64; 3]> {
    std::iter::once(HERE).chain(star(3, 1)).chain(shell(3, 2)).collect()
}

/// Weights of the equilibrium, by how many axes a direction goes along.
const WEIGHTS: [f64; 3] = [1.0 / 3.0, 1.0 / 18.0, 1.0 / 36.0];
/// The part of the way to the equilibrium that a collision goes.
const RELAXATION: f64 = 0.8;

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
    use super::*;

    const SIDE: i64 = 5;

    /// Position on a torus of `SIDE` cells along each axis.
    fn place(at: [i64; 3]) -> usize {
        at.iter().fold(0, |flat, at| flat * SIDE + at.rem_euclid(SIDE)) as usize
    }

    fn cells() -> impl Iterator<Item = [i64; 3]> {
        (0..SIDE.pow(3)).map(|flat| [flat / SIDE / SIDE, flat / SIDE % SIDE, flat % SIDE])
    }

    /// Straight loops, as books have them: collide everywhere what came from the neighbours.
    fn plain_step(old: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let come = |k: usize, at: [i64; 3]| old[k][place([0, 1, 2].map(|d| at[d] - directions()[k][d]))];
        let mut new = old.to_vec();
        for at in cells() {
            let (mut density, mut momentum) = (0.0, [0.0; 3]);
            for (k, by) in directions().iter().enumerate() {
                density += come(k, at);
                (0..3).for_each(|d| momentum[d] += by[d] as f64 * come(k, at));
            }
            let u = momentum.map(|m| m / density);
            let square: f64 = u.iter().map(|u| u * u).sum();
            for (k, by) in directions().iter().enumerate() {
                let axes = by.iter().filter(|&&d| d != 0).count();
                let along: f64 = (0..3).map(|d| by[d] as f64 * u[d]).sum();
                let calm = WEIGHTS[axes] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square);
                new[k][place(at)] = come(k, at) + RELAXATION * (calm - come(k, at));
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
        assert_eq!(directions().len(), 19);
        let population =
            |k: usize| cells().map(move |at| 0.5 + 0.4 * ((7 * k + 13 * place(at)) as f64).sin());
        let start: Vec<Vec<f64>> = (0..19).map(|k| population(k).collect()).collect();
        let mut state = start.clone();
        for step in 1..=4 {
            let expected = plain_step(&state);
            let mut given = state.clone();
            for at in cells() {
                let lookup =
                    |array: usize, by: [i64; 3]| state[array][place([0, 1, 2].map(|d| at[d] + by[d]))];
                for (k, value) in d3q19(&Numbers(&lookup)).into_iter().enumerate() {
                    let error = (value - expected[k][place(at)]).abs();
                    assert!(error < 1e-14, "step {step}, direction {k}, cell {at:?}: {value}");
                    given[k][place(at)] = value;
                }
            }
            for (now, first) in conserved(&given).into_iter().zip(conserved(&start)) {
                assert!((now - first).abs() < 1e-10, "step {step}: {now} of {first}");
            }
            state = given;
        }
        assert!(start.iter().zip(&state).any(|(a, b)| (a[0] - b[0]).abs() > 0.01), "nothing happened");
    }
}
