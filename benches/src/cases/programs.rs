//! A1 and T1: whole programs, measured per step, and stencils whose steps share an exchange.
//!
//! A program's step is compared with its formula over f64 numbers in the middle of the arrays; conjugate
//! gradients are checked by what must hold of them, shared exchanges by the bits of single steps.

use anyhow::{Result, ensure};
use partita::array::{IntoSpan, Span};
use partita::prelude::*;
use serde_json::{Value, json};

use crate::cases::bound::{array, element, sampled_indices, seed, to_f64, unflatten};
use crate::cases::case::{Case, On, Work};
use crate::cases::formula::{self, Formula, HERE, Numbers, Windows, formula};
use crate::cases::workload::Sizes;

/// A program, whose arrays start as `offset + scale * element`.
#[derive(Clone, Copy)]
pub struct App {
    pub name: &'static str,
    text: &'static str,
    rank: usize,
    /// Arrays that a step must read or write once.
    arrays: f64,
    formula: Formula,
    reach: i64,
    start: &'static [(f64, f64)],
    advance: Advance,
}

/// The use of the formula's values by a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Advance {
    /// They are assigned to the inner cells of the state.
    Assign,
    /// The same, and the sum of the squared changes is computed.
    AssignWithNorm,
    /// They are assigned to the second array, which changes places with the first.
    Leap,
    /// They are the product of the matrix with the search direction.
    Gradients,
}

pub const APPS: &[App] = &[
    App {
        name: "jacobi",
        text: "2-D Jacobi steps, each with the norm of the change",
        rank: 2,
        arrays: 2.0,
        formula: formula!(formula::jacobi),
        reach: 1,
        start: &[(0.0, 1.0)],
        advance: Advance::AssignWithNorm,
    },
    App {
        name: "reaction",
        text: "Gray-Scott in 3-D: two species",
        rank: 3,
        arrays: 4.0,
        formula: formula!(formula::gray_scott),
        reach: 1,
        start: &[(0.5, 0.5), (0.0, 0.25)],
        advance: Advance::Assign,
    },
    App {
        name: "shot",
        text: "acoustic wave of order 8 in space, speed per cell",
        rank: 3,
        arrays: 4.0,
        formula: formula!(formula::wave),
        reach: 4,
        start: &[(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)],
        advance: Advance::Leap,
    },
    App {
        name: "gradients",
        text: "conjugate gradients, 7 points, nothing read back",
        rank: 3,
        // q = A p; x and r; p: each of x, r, p, q read and written, p and r read for their products.
        arrays: 10.0,
        formula: formula!(formula::minus_laplacian),
        reach: 1,
        start: &[(0.0, 1.0)],
        advance: Advance::Gradients,
    },
];

/// Names, axes, and so many steps that share an exchange and, on the host, a tile's way through memory.
const BLOCKINGS: &[(&str, &str, usize, usize)] = &[
    ("deep1", "7-point steps, an exchange in each", 3, 1),
    ("deep2", "the same, 2 steps share an exchange and a tile's way through memory", 3, 2),
    ("deep4", "the same, 4 steps", 3, 4),
    ("deep8", "the same, 8 steps", 3, 8),
    ("plane1", "5-point steps in 2-D, an exchange in each", 2, 1),
    ("plane4", "the same, 4 steps share an exchange and a tile's way through memory", 2, 4),
    ("plane8", "the same, 8 steps", 2, 8),
];

pub fn cases() -> impl Iterator<Item = Case> {
    let apps = APPS.iter().map(|app| Case {
        group: "A1",
        name: app.name,
        text: app.text,
        is_typed: true,
        measure: Box::new(|on| {
            let mut running = Running::new(app, on)?;
            let points = (running.extent as f64).powi(app.rank as i32);
            let bytes = app.arrays * points * on.dtype.size_bytes() as f64;
            on.record(("A1", app.name), points, bytes, &mut running)
        }),
    });
    let blockings = BLOCKINGS.iter().map(|&(name, text, rank, depth)| Case {
        group: "T1",
        name,
        text,
        is_typed: true,
        measure: Box::new(move |on| {
            let shape = on.sizes.shape(rank);
            // Or fewer parts, where they would be thin.
            let team = on.team(on.parts.min((shape[0] / ROWS).max(1) as usize))?;
            let steps = blocked(&team, on.dtype, &shape, depth)?;
            let points = shape.iter().map(|&extent| extent as f64).product();
            let bytes = 2.0 * points * on.dtype.size_bytes() as f64;
            on.record(("T1", name), points, bytes, &mut Blocked { steps, team, rank, depth })
        }),
    });
    apps.chain(blockings)
}

/// A step, which may be recorded and replayed.
type Step = Box<dyn FnMut(&mut [Array]) -> partita::Result<()>>;

/// A program under way.
struct Running {
    app: App,
    extent: i64,
    steps: Loop<Step>,
    team: Team,
    /// Steps so far.
    taken: usize,
}

/// Conjugate gradients are checked after at most so many steps: rounding takes the residual away from the
/// true one, and from being orthogonal, a little in each.
const CHECKED_STEPS: usize = 3;

/// Cells along each axis of the middle that is compared.
const COMPARED: i64 = 3;

impl App {
    /// For peers: the formula, and how the program starts.
    pub fn description(&self, sizes: &Sizes) -> Value {
        json!({
            "formula": self.formula.steps(), "rank": self.rank, "reach": self.reach, "start": self.start,
            "shape": sizes.shape(self.rank),
        })
    }

    fn step(self) -> Step {
        match self.advance {
            Advance::Gradients => Box::new(gradients_step),
            _ => Box::new(move |state| self.stencil_step(state)),
        }
    }

    fn stencil_step(&self, state: &mut [Array]) -> partita::Result<()> {
        let (reach, arrays) = (self.reach, self.start.len());
        let spans: Vec<Span> = vec![(reach..-reach).into_span(); self.rank];
        let values = (self.formula.over_arrays)(&Windows { inputs: &state[..arrays], reach });
        match self.advance {
            Advance::Leap => {
                state[1].assign(&spans, &values[0])?;
                state.swap(0, 1);
                return Ok(());
            }
            Advance::AssignWithNorm => {
                let change = &values[0] - state[0].slice(&spans);
                state[arrays] = (&change * &change).sum(&[]);
                state[arrays].eval()?;
            }
            Advance::Assign | Advance::Gradients => {}
        }
        let mut pairs: Vec<(&mut Array, &Array)> = state.iter_mut().zip(&values).collect();
        assign_all(&mut pairs, &spans)
    }
}

impl Running {
    fn new(app: &App, on: &On) -> Result<Running> {
        let team = on.team(on.parts)?;
        let shape = on.sizes.shape(app.rank);
        let dist = Distribution::builder(&shape).parts(on.parts).build()?;
        let state = Running::start(app, &team, &dist, on.dtype)?;
        Ok(Running { app: *app, extent: shape[0], steps: Loop::new(state, app.step()), team, taken: 0 })
    }

    fn start(app: &App, team: &Team, dist: &Distribution, dtype: DType) -> Result<Vec<Array>> {
        let started = |(k, &(offset, scale)): (usize, &(f64, f64))| {
            Ok(array(team, dist, dtype, seed(0, k))? * scale + offset)
        };
        let mut state = app.start.iter().enumerate().map(started).collect::<Result<Vec<Array>>>()?;
        match app.advance {
            Advance::Gradients => state = gradients_start(&state[0])?,
            // Holds the norm.
            _ => state.push(state[0].slice(&vec![(0..1).into_span(); app.rank])),
        }
        eval_all(&state.iter().collect::<Vec<_>>())?;
        Ok(state)
    }

    /// The middle of the program's arrays, and so many cells around it.
    fn middle(&self, side: i64, around: i64) -> Result<Vec<Vec<f64>>> {
        let first = (self.extent - side) / 2;
        let spans = vec![(first - around..first + side + around).into_span(); self.app.rank];
        self.steps.state()[..self.app.start.len()].iter().map(|array| to_f64(&array.slice(&spans))).collect()
    }
}

impl Work for Running {
    fn run(&mut self, times: usize) -> Result<()> {
        self.taken += times;
        self.steps.run(times as u64)?;
        Ok(self.team.wait()?)
    }

    /// Takes a step, and compares it with the formula over the numbers before; gradients start again.
    fn check(&mut self) -> Result<f64> {
        let App { name, rank, reach, formula, advance, .. } = self.app;
        if advance == Advance::Gradients {
            if self.taken > CHECKED_STEPS {
                let x = &self.steps.state()[0];
                let state = Running::start(&self.app, &self.team, &*x.distribution()?, x.dtype())?;
                (self.steps, self.taken) = (Loop::new(state, self.app.step()), 0);
                self.run(CHECKED_STEPS)?;
            }
            return gradients_check(self.steps.state(), self.extent);
        }
        let side = COMPARED.min(self.extent - 2 * reach);
        let before = self.middle(side, reach)?;
        self.run(1)?;
        let allowed = tolerance(self.steps.state()[0].dtype());
        let mut worst = 0f64;
        for (array, given) in self.middle(side, 0)?.into_iter().enumerate() {
            for (k, given) in given.into_iter().enumerate() {
                let cell = unflatten(k, &vec![side; rank]);
                let at = |array: usize, by: [i64; 3]| {
                    let along = cell.iter().zip(&by[3 - rank..]);
                    before[array]
                        [along.fold(0, |p, (at, by)| p * (side + 2 * reach) + at + reach + by) as usize]
                };
                let expected = match (advance, array) {
                    (Advance::Leap, 1) => at(0, HERE),
                    (Advance::Leap, 2) => at(2, HERE),
                    _ => (formula.of_a_cell)(&Numbers(&at))[array],
                };
                let error = (given - expected).abs() / expected.abs().max(1.0);
                ensure!(
                    error <= allowed,
                    "{name}: array {array}, cell {cell:?} of the middle: expected {expected}, given {given}"
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
fn gradients_start(b: &Array) -> Result<Vec<Array>> {
    let zeros = || Array::zeros(b.team(), &*b.distribution()?, b.dtype());
    let inner: Vec<Span> = s![1..-1].repeat(b.rank());
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

/// The recurrence's residual is the true one where it is compared, and orthogonal to the solution so far.
fn gradients_check(state: &[Array], extent: i64) -> Result<f64> {
    let (x, r) = (&state[0], &state[1]);
    let (dtype, n) = (x.dtype(), extent);
    let around = [0, -1, 1, -n, n, -n * n, n * n];
    let inner = [extent - 2; 3];
    let cell = |k: usize| unflatten(k, &inner).iter().fold(0, |flat, at| flat * n + at + 1);
    let cells: Vec<i64> =
        sampled_indices(inner.iter().product::<i64>() as usize, RESIDUALS).into_iter().map(cell).collect();
    let points: Vec<i64> = cells.iter().flat_map(|cell| around.map(|by| cell + by)).collect();
    let gathered = |array: &Array, at: &[i64]| to_f64(&array.gather(&[at.len() as i64], at));
    let (xs, rs) = (gathered(x, &points)?, gathered(r, &cells)?);
    let residual = |(k, cell): (usize, &i64)| {
        let x = &xs[k * around.len()..(k + 1) * around.len()];
        let applied = 6.0 * x[0] - x[1..].iter().sum::<f64>();
        (element(dtype, seed(0, 0), *cell as u64) - applied - rs[k]).abs()
    };
    let worst = cells.iter().enumerate().map(residual).fold(0f64, f64::max);
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let dot =
        |a: &Array, b: &Array| -> Result<f64> { Ok(to_f64(&(a.cast(wide) * b.cast(wide)).sum(&[]))?[0]) };
    let (product, norms) = (dot(r, x)?, (dot(r, r)?, dot(x, x)?));
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

/// Cells whose residual is compared.
const RESIDUALS: usize = 300;

/// Steps of one run: whole rounds of every depth.
const ROUND: usize = 8;
/// Rows that a part must have, so that the deepest halos fit.
const ROWS: i64 = 24;

/// Diffusion steps, of which `depth` share an exchange.
struct Blocked {
    steps: Loop<Step>,
    team: Team,
    rank: usize,
    depth: usize,
}

fn blocked(team: &Team, dtype: DType, shape: &[i64], depth: usize) -> Result<Loop<Step>> {
    let dist = Distribution::builder(shape).parts(team.size()).build()?;
    let step: Step = Box::new(|state| {
        let rank = state[0].rank();
        let formula = if rank == 2 { formula::stencil5 } else { formula::stencil7 };
        let next = formula(&Windows { inputs: &state[..1], reach: 1 });
        state[0].assign(&s![1..-1].repeat(rank), &next[0])
    });
    Ok(Loop::new(vec![array(team, &dist, dtype, seed(0, 0))?], step).depth(depth))
}

impl Work for Blocked {
    fn count(&self) -> usize {
        ROUND
    }

    fn run(&mut self, times: usize) -> Result<()> {
        self.steps.run((times * ROUND) as u64)?;
        Ok(self.team.wait()?)
    }

    /// The same bits as step by step, on small arrays.
    fn check(&mut self) -> Result<f64> {
        let shape = &[ROWS * self.team.size() as i64, 20, 20][..self.rank];
        let dtype = self.steps.state()[0].dtype();
        let after = |depth| {
            let mut steps = blocked(&self.team, dtype, shape, depth)?;
            // Some of them are replayed.
            steps.run(5 * ROUND as u64)?;
            Ok::<_, anyhow::Error>(steps.state()[0].to_bytes()?)
        };
        ensure!(
            after(self.depth)? == after(1)?,
            "{} steps per exchange: other bits than with one",
            self.depth
        );
        Ok(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_right_and_a_wrong_step_is_seen() {
        let host = Device::host();
        for app in APPS {
            for (dtype, parts) in [(DType::F32, 1), (DType::F64, 3)] {
                let mut running = Running::new(app, &On { dtype, parts, ..On::smoke(&host) }).expect("start");
                if app.advance == Advance::Gradients {
                    assert!(running.check().is_err(), "no step was taken");
                }
                for _ in 0..3 {
                    running.run(1).expect(app.name);
                    let error = running.check().expect(app.name);
                    assert!(error < tolerance(dtype), "{}: {error}", app.name);
                }
                if app.advance != Advance::Gradients {
                    running.app.formula = formula!(formula::copy);
                    assert!(running.check().is_err(), "{}: a step that changes nothing", app.name);
                }
            }
        }
    }

    #[test]
    fn the_norm_is_that_of_the_change() {
        let app = APPS.iter().find(|app| app.name == "jacobi").expect("in the table");
        let host = Device::host();
        let on = &On { dtype: DType::F64, parts: 2, ..On::smoke(&host) };
        let mut running = Running::new(app, on).expect("start");
        let before = to_f64(&running.steps.state()[0]).expect("read");
        running.run(1).expect("run");
        let after = to_f64(&running.steps.state()[0]).expect("read");
        let expected: f64 = before.iter().zip(&after).map(|(a, b)| (a - b) * (a - b)).sum();
        let given = running.steps.state()[1].item::<f64>().expect("one number");
        assert!((given - expected).abs() < 1e-12 * expected, "{given} {expected}");
    }

    #[test]
    fn every_depth_gives_the_same_bits() {
        let team = Team::on(&[Device::host()], 3).expect("a team");
        for &(name, _, rank, depth) in BLOCKINGS {
            let steps = blocked(&team, DType::F32, &[72, 20, 20][..rank], depth).expect(name);
            Blocked { steps, team: team.clone(), rank, depth }.check().expect(name);
        }
    }
}
