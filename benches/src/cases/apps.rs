//! Whole programs, measured per step: what users wait for, with their launches, exchanges and reductions.
//!
//! The formulas of three of them are also read over f64 numbers, on a block around the centre that shrinks by
//! the stencil's reach with every step; the fourth, conjugate gradients, is checked by what must hold of it.

use anyhow::{Result, ensure};
use partita::array::{IntoSpan, Span};
use partita::prelude::*;

use crate::cases::bound::{array, element, seed, to_f64};
use crate::cases::formula::{self, Formula, Numbers, Windows, formula};
use crate::results::record::Record;
use crate::sample::{Effort, samples};

/// A program.
pub struct App {
    pub name: &'static str,
    pub text: &'static str,
    rank: usize,
    /// Arrays that a step must read or write once.
    arrays: f64,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A stencil, whose state starts as `offset + scale * element` per array.
    Stencil { formula: Formula, reach: i64, start: &'static [(f64, f64)], advance: Advance },
    /// Conjugate gradients for the 7-point Laplacian with zeros around.
    Gradients,
}

/// What a step does with the formula's values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Advance {
    /// They are assigned to the inner cells of the state.
    Assign,
    /// The same, and the sum of the squared changes is computed.
    AssignWithNorm,
    /// They are assigned to the second array, which changes places with the first.
    Leap,
}

pub const APPS: &[App] = &[
    App {
        name: "jacobi",
        text: "2-D Jacobi steps, each with the norm of the change",
        rank: 2,
        arrays: 2.0,
        kind: Kind::Stencil {
            formula: formula!(formula::jacobi),
            reach: 1,
            start: &[(0.0, 1.0)],
            advance: Advance::AssignWithNorm,
        },
    },
    App {
        name: "reaction",
        text: "Gray-Scott in 3-D: two species",
        rank: 3,
        arrays: 4.0,
        kind: Kind::Stencil {
            formula: formula!(formula::gray_scott),
            reach: 1,
            start: &[(0.5, 0.5), (0.0, 0.25)],
            advance: Advance::Assign,
        },
    },
    App {
        name: "shot",
        text: "acoustic wave of order 8 in space, speed per cell",
        rank: 3,
        arrays: 4.0,
        kind: Kind::Stencil {
            formula: formula!(formula::wave),
            reach: 4,
            start: &[(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)],
            advance: Advance::Leap,
        },
    },
    App {
        name: "gradients",
        text: "conjugate gradients, 7 points, nothing read back",
        rank: 3,
        // q = A p; x and r; p: each of x, r, p, q read and written, p and r read for their products.
        arrays: 10.0,
        kind: Kind::Gradients,
    },
];

/// Steps after which results are compared.
const COMPARED_STEPS: u64 = 3;
/// A program under way; a step of it may be recorded and replayed.
type Step = Box<dyn FnMut(&mut [Array]) -> partita::Result<()>>;

struct Running {
    steps: Loop<Step>,
    team: Team,
}

impl App {
    fn start(&self, device: &Device, dtype: DType, extent: i64, parts: usize) -> Result<Running> {
        let team = Team::on(std::slice::from_ref(device), parts)?;
        let shape = vec![extent; self.rank];
        let state = match self.kind {
            Kind::Stencil { start, .. } => {
                let dist = Distribution::builder(&shape).parts(parts).build()?;
                let started = |(k, &(offset, scale)): (usize, &(f64, f64))| {
                    Ok(array(&team, &dist, dtype, seed(0, k))? * scale + offset)
                };
                let mut state = start.iter().enumerate().map(started).collect::<Result<Vec<Array>>>()?;
                state.push(state[0].slice(&vec![(0..1).into_span(); self.rank]));
                state
            }
            Kind::Gradients => gradients_start(&team, dtype, &shape)?,
        };
        eval_all(&state.iter().collect::<Vec<_>>())?;
        Ok(Running { steps: Loop::new(state, self.step()), team })
    }

    fn step(&self) -> Step {
        match self.kind {
            Kind::Stencil { formula, reach, start, advance } => {
                let arrays = start.len();
                Box::new(move |state| stencil_step(formula, reach, arrays, advance, state))
            }
            Kind::Gradients => Box::new(gradients_step),
        }
    }

    pub fn measure(
        &self,
        device: &Device,
        dtype: DType,
        (plane, cube): (i64, i64),
        parts: usize,
        effort: &Effort,
        copy_gb_s: Option<f64>,
    ) -> Result<Record> {
        let extent = if self.rank == 2 { plane } else { cube };
        let mut running = self.start(device, dtype, extent, parts)?;
        running.steps.run(COMPARED_STEPS)?;
        let error = self.check(&running.steps, extent)?;
        let seconds = samples(effort, &mut |times| {
            running.steps.run(times as u64)?;
            Ok(running.team.wait()?)
        })?;
        let points = (extent as f64).powi(self.rank as i32);
        let record = Record::of_time("A1", self.name, device.name(), seconds);
        Ok(Record { dtype: dtype.to_string(), points, error: Some(error), ..record }
            .moving(self.arrays * points * dtype.size_bytes() as f64, copy_gb_s))
    }

    /// Compares the state after the first steps; the largest error.
    fn check(&self, steps: &Loop<Step>, extent: i64) -> Result<f64> {
        match self.kind {
            Kind::Stencil { formula, reach, start, advance } => {
                let block = Block::new(self.rank, extent, reach, start, steps.state()[0].dtype());
                block.compare(self.name, formula, reach, advance, steps)
            }
            Kind::Gradients => gradients_check(steps.state(), extent),
        }
    }
}

fn stencil_step(
    formula: Formula,
    reach: i64,
    arrays: usize,
    advance: Advance,
    state: &mut [Array],
) -> partita::Result<()> {
    let spans: Vec<Span> = vec![(reach..-reach).into_span(); state[0].rank()];
    let values = (formula.over_arrays)(&Windows { inputs: &state[..arrays], reach });
    match advance {
        Advance::Assign => {
            let mut pairs: Vec<(&mut Array, &Array)> = state.iter_mut().zip(&values).collect();
            partita::array::assign_all(&mut pairs, &spans)
        }
        Advance::AssignWithNorm => {
            let change = &values[0] - state[0].slice(&spans);
            state[arrays] = (&change * &change).sum(&[]);
            state[arrays].eval()?;
            state[0].assign(&spans, &values[0])
        }
        Advance::Leap => {
            state[1].assign(&spans, &values[0])?;
            state.swap(0, 1);
            Ok(())
        }
    }
}

/// A block of cells around the centre, in f64.
struct Block {
    rank: usize,
    side: i64,
    /// Global coordinate of its first cell, along every axis.
    first: i64,
    arrays: Vec<Vec<f64>>,
}

impl Block {
    /// Wide enough to leave 3 cells along each axis after the compared steps.
    fn new(rank: usize, extent: i64, reach: i64, start: &[(f64, f64)], dtype: DType) -> Block {
        let side = (2 * reach * COMPARED_STEPS as i64 + 3).min(extent);
        let mut block = Block { rank, side, first: (extent - side) / 2, arrays: Vec::new() };
        let cells = side.pow(rank as u32);
        for (k, &(offset, scale)) in start.iter().enumerate() {
            let cell = |flat| offset + scale * element(dtype, seed(0, k), block.global(flat, extent) as u64);
            block.arrays.push((0..cells).map(cell).collect());
        }
        block
    }

    fn cell(&self, flat: i64) -> Vec<i64> {
        let along = |d: usize| flat / self.side.pow((self.rank - 1 - d) as u32) % self.side;
        (0..self.rank).map(along).collect()
    }

    /// The position in the whole array.
    fn global(&self, flat: i64, extent: i64) -> i64 {
        self.cell(flat).iter().fold(0, |position, at| position * extent + at + self.first)
    }

    /// The formula at every cell at least `margin` from the block's faces; the others keep `old`.
    fn step(&self, formula: Formula, margin: i64, old: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut new = old.to_vec();
        for flat in 0..self.side.pow(self.rank as u32) {
            let cell = self.cell(flat);
            if cell.iter().any(|&at| at < margin || at >= self.side - margin) {
                continue;
            }
            let lookup = |array: usize, offset: [i64; 3]| {
                let by = &offset[3 - self.rank..];
                let position = cell.iter().zip(by).fold(0, |p, (at, by)| p * self.side + at + by);
                self.arrays[array][position as usize]
            };
            for (output, value) in (formula.of_a_cell)(&Numbers(&lookup)).into_iter().enumerate() {
                new[output][flat as usize] = value;
            }
        }
        new
    }

    fn compare(
        mut self,
        name: &str,
        formula: Formula,
        reach: i64,
        advance: Advance,
        steps: &Loop<Step>,
    ) -> Result<f64> {
        for step in 1..=COMPARED_STEPS as i64 {
            let new = match advance {
                Advance::Assign | Advance::AssignWithNorm => self.step(formula, reach * step, &self.arrays),
                Advance::Leap => {
                    // The formula's only value belongs into the second array, which then becomes the first.
                    let old = [vec![self.arrays[1].clone()], self.arrays[1..].to_vec()].concat();
                    let mut new = self.step(formula, reach * step, &old);
                    new[1] = self.arrays[0].clone();
                    new
                }
            };
            self.arrays = new;
        }
        let margin = reach * COMPARED_STEPS as i64;
        let state = steps.state();
        let allowed = tolerance(state[0].dtype());
        let mut worst = 0f64;
        for (array, expected) in self.arrays.iter().enumerate() {
            let given = to_f64(&state[array])?;
            for flat in 0..expected.len() as i64 {
                if self.cell(flat).iter().any(|&at| at < margin || at >= self.side - margin) {
                    continue;
                }
                let given = given[self.global(flat, state[array].shape()[0]) as usize];
                let expected = expected[flat as usize];
                let error = (given - expected).abs() / expected.abs().max(1.0);
                ensure!(
                    error <= allowed,
                    "{name}: array {array}, cell {:?} of the block: expected {expected}, given {given}",
                    self.cell(flat)
                );
                worst = worst.max(error);
            }
        }
        Ok(worst)
    }
}

/// Some hundred roundings of values near 1.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 0.05,
        DType::F64 => 1e-13,
        _ => 1e-4,
    }
}

/// x, r, p, q and r r: b is r at first, and zero in the rim.
fn gradients_start(team: &Team, dtype: DType, shape: &[i64]) -> Result<Vec<Array>> {
    let dist = Distribution::builder(shape).parts(team.size()).build()?;
    let zeros = || Array::zeros(team, &dist, dtype);
    let inner: Vec<Span> = s![1..-1].repeat(shape.len());
    let b = array(team, &dist, dtype, seed(0, 0))?;
    let mut r = zeros()?;
    r.assign(&inner, &b.slice(&inner))?;
    let squared = (&r * &r).sum(&[]);
    Ok(vec![zeros()?, r.clone(), r, zeros()?, squared])
}

/// M. R. Hestenes, E. Stiefel, Methods of conjugate gradients for solving linear systems (1952).
fn gradients_step(state: &mut [Array]) -> partita::Result<()> {
    let inner: Vec<Span> = s![1..-1].repeat(state[0].rank());
    let applied = formula::minus_laplacian(&Windows { inputs: &state[2..3], reach: 1 });
    state[3].assign(&inner, &applied[0])?;
    let (x, r, p, q, squared) = (&state[0], &state[1], &state[2], &state[3], &state[4]);
    // So that nothing divides by zero once the residual has vanished.
    let tiny = 1e-30;
    let alpha = squared / ((p * q).sum(&[]) + tiny);
    let (next_x, next_r) = (x + &alpha * p, r - &alpha * q);
    let next_squared = (&next_r * &next_r).sum(&[]);
    let next_p = &next_r + (&next_squared / (squared + tiny)) * p;
    eval_all(&[&next_x, &next_r, &next_p, &next_squared])?;
    (state[0], state[1], state[2], state[4]) = (next_x, next_r, next_p, next_squared);
    Ok(())
}

/// The recurrence's residual is the true one, and orthogonal to the solution so far.
fn gradients_check(state: &[Array], extent: i64) -> Result<f64> {
    let dtype = state[0].dtype();
    let (x, r) = (to_f64(&state[0])?, to_f64(&state[1])?);
    let n = extent as usize;
    let (mut worst, mut product, mut norms) = (0f64, 0f64, (0f64, 0f64));
    for z in 1..n - 1 {
        for y in 1..n - 1 {
            for c in (z * n + y) * n + 1..(z * n + y) * n + n - 1 {
                let around = x[c - 1] + x[c + 1] + x[c - n] + x[c + n] + x[c - n * n] + x[c + n * n];
                let true_residual = element(dtype, seed(0, 0), c as u64) - (6.0 * x[c] - around);
                worst = worst.max((true_residual - r[c]).abs());
                product += r[c] * x[c];
                norms = (norms.0 + r[c] * r[c], norms.1 + x[c] * x[c]);
            }
        }
    }
    let cosine = product.abs() / (norms.0.sqrt() * norms.1.sqrt()).max(f64::MIN_POSITIVE);
    let error = worst.max(cosine);
    ensure!(norms.1 > 0.0, "gradients: x is still zero");
    ensure!(
        error <= tolerance(dtype) * 10.0,
        "gradients: expected b - A x = r orthogonal to x, given a difference of {worst:.1e} and a cosine of \
         {cosine:.1e}"
    );
    Ok(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_right_and_a_wrong_state_is_seen() {
        for app in APPS {
            for (dtype, parts) in [(DType::F32, 1), (DType::F64, 3)] {
                let extent = 41;
                let mut running = app.start(&Device::host(), dtype, extent, parts).expect("start");
                assert!(app.check(&running.steps, extent).is_err(), "{}: no step was taken", app.name);
                running.steps.run(COMPARED_STEPS).expect(app.name);
                let error = app.check(&running.steps, extent).expect(app.name);
                assert!(error < tolerance(dtype), "{}: {error}", app.name);
                running.steps.run(1).expect(app.name);
                let still_right = app.check(&running.steps, extent).is_ok();
                assert_eq!(still_right, matches!(app.kind, Kind::Gradients), "{}: a step more", app.name);
            }
        }
    }

    #[test]
    fn the_norm_is_that_of_the_change() {
        let app = APPS.iter().find(|app| app.name == "jacobi").expect("in the table");
        let mut running = app.start(&Device::host(), DType::F64, 20, 2).expect("start");
        let before = to_f64(&running.steps.state()[0]).expect("read");
        running.steps.run(1).expect("run");
        let after = to_f64(&running.steps.state()[0]).expect("read");
        let expected: f64 = before.iter().zip(&after).map(|(a, b)| (a - b) * (a - b)).sum();
        let given = running.steps.state()[1].item::<f64>().expect("one number");
        assert!((given - expected).abs() < 1e-12 * expected, "{given} {expected}");
    }
}
