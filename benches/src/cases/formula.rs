//! The formulas of the workloads, each written once and read in three ways: over arrays it is what is
//! measured, over f64 numbers what one cell must be, over counters how many operations a cell costs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::{Add, Div, Mul, Sub};

use partita::array::{IntoSpan, Span};
use partita::prelude::*;

/// What formulas calculate with.
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
    pub counted: for<'a> fn(&'a Counter) -> Vec<Counted<'a>>,
}

/// The three readings of one generic function.
macro_rules! formula {
    ($name:path) => {
        $crate::cases::formula::Formula {
            over_arrays: |c| $name(c),
            of_a_cell: |c| $name(c),
            counted: |c| $name(&c),
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

/// Counts operations and distinct cells read. A value that is used twice is computed once.
#[derive(Default)]
pub struct Counter {
    pub operations: Cell<u32>,
    pub cells: RefCell<BTreeSet<(usize, [i64; 3])>>,
}

/// A value nobody computes.
#[derive(Clone, Copy)]
pub struct Counted<'a>(&'a Counter);

impl Counted<'_> {
    fn one_more(self) -> Self {
        self.0.operations.set(self.0.operations.get() + 1);
        self
    }
}

impl<'a> Cells for &'a Counter {
    type Value = Counted<'a>;
    fn at(&self, array: usize, offset: [i64; 3]) -> Counted<'a> {
        self.cells.borrow_mut().insert((array, offset));
        Counted(self)
    }
}

macro_rules! counted {
    ($($trait:ident $method:ident),*) => {$(
        impl<T> $trait<T> for Counted<'_> {
            type Output = Self;
            fn $method(self, _: T) -> Self {
                self.one_more()
            }
        }
    )*};
}
counted!(Add add, Sub sub, Mul mul, Div div);

impl Number for Counted<'_> {
    fn sqrt(self) -> Self {
        self.one_more()
    }
    fn exp(self) -> Self {
        self.one_more()
    }
    fn sin(self) -> Self {
        self.one_more()
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

/// The sum of the values at `offsets`, of which there is at least one.
fn sum<C: Cells>(c: &C, array: usize, offsets: impl IntoIterator<Item = [i64; 3]>) -> C::Value {
    let values = offsets.into_iter().map(|offset| c.at(array, offset));
    values.reduce(|total, value| total + value).expect("a stencil has neighbours")
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
    let flows = star(3, 1).map(flow).reduce(|total, value| total + value).expect("a cell has neighbours");
    vec![u.clone() + flows * (0.5 * DIFFUSION)]
}
