//! A pass of a Fourier transform: one kernel per part that reads `radix` pairs and stores as many, each where
//! the next pass finds it in order. Nothing is contracted and the order of operations is fixed, so a
//! transform has the same bits on every device, however its lines are divided.
//!
//! The formulas: J. Cooley and J. Tukey, "An Algorithm for the Machine Calculation of Complex Fourier
//! Series", Mathematics of Computation 19 (1965); the order of cells is T. Stockham's, "High-speed
//! convolution and correlation", AFIPS 28 (1966), which leaves results in order without a permutation.

use std::f64::consts::TAU;
use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, UnaryOp, Value};

use crate::array::lower::body::KernelBody;
use crate::array::lower::compute::{Compute, KernelStore};
use crate::array::lower::graph::NodeId;
use crate::array::lower::lowerer::{Lowerer, kernel_task};
use crate::array::lower::steps::list::ResultMemory;
use crate::array::memory::storage::Pitch;
use crate::array::record::expr::{Butterflies, Expr, FourierLines, Map, NodeLayout, WholeOp, spliced};
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};

/// Real and imaginary part.
type Pair = (Value, Value);

impl Lowerer<'_> {
    /// All passes along a dimension that is not divided, over computed operands. The first reads its operand
    /// as it is, the others see what those before have stored in another shape.
    pub fn fourier(&mut self, node: NodeId, lines: &FourierLines, operands: &[NodeId]) -> Result<()> {
        let FourierLines { axis, radices, is_inverse, scale } = lines;
        let (whole, dtype) = (*self.graph.shape(node), self.graph.dtype(node));
        let (mut found, mut left, mut done) = (operands[0], whole[*axis], 1);
        for (at, &radix) in radices.iter().enumerate() {
            left /= radix as i64;
            let shape = Index::new(&spliced(&whole, *axis, &[radix as i64, left, done]))?;
            let Some(dist) = self.graph.distribution(found)?.reshaped(&shape)? else {
                unreachable!("a dimension that is not divided splits")
            };
            let scale = scale.filter(|_| at + 1 == radices.len());
            let pass = Butterflies { radix, from: *axis, span: 1, is_inverse: *is_inverse, scale };
            let turned = pass.result(&dist)?;
            if at > 0 {
                let expr = Expr::Reshaped { base: found };
                found = self.graph.push(shape, dtype, expr, NodeLayout::known(dist));
            }
            let operands = [Some(found), operands.get(at + 1).copied()].into_iter().flatten().collect();
            let expr = Expr::Whole(WholeOp::Butterflies(pass), operands);
            found = self.graph.push(turned.shape(), dtype, expr, NodeLayout::known(turned));
            done *= radix as i64;
        }
        self.reshape(node, found)
    }

    /// One pass. As many outputs as the devices bind share a kernel; each kernel reads all inputs.
    pub fn butterflies(&mut self, node: NodeId, pass: Butterflies, operands: &[NodeId]) -> Result<()> {
        self.mark_unsupported("the step transforms an array");
        let (dist, dtype) = (self.graph.distribution(node)?, self.graph.dtype(node));
        let (rank, moved) = (dist.rank(), pass.from + pass.span);
        let outputs: Vec<(usize, usize)> = (0..pass.radix).flat_map(|k| [(k, 0), (k, 1)]).collect();
        let window = |&(k, part): &(usize, usize)| {
            Region::from_fn(rank, |d| match d {
                d if d == moved => (k as i64, k as i64 + 1),
                d if d + 1 == rank => (part as i64, part as i64 + 1),
                d => (0, dist.shape()[d]),
            })
        };
        let frame = Arc::new(dist.restricted(&window(&(0, 0)))?);
        let is_line = self.graph.rank(operands[0]) < rank;
        let input = |cell| if is_line { pass.input_of_line(&dist, cell) } else { pass.input(rank, cell) };
        let room = self.team.max_params().saturating_sub(operands.len()).max(1);
        let mut kernels = Vec::new();
        for group in outputs.chunks(room) {
            let mut body = KernelBody::new("butterflies", &frame, operands.len());
            let mut inputs = Vec::with_capacity(pass.radix);
            for j in 0..pass.radix {
                let load = |part| body.load(self.graph, operands[0], input((j, part)));
                inputs.push(pair(load)?);
            }
            let mut found = transformed(&mut body.builder, dtype, &inputs, pass.is_inverse);
            if let Some(&factors) = operands.get(1) {
                for (k, value) in found.iter_mut().enumerate().skip(1) {
                    let load = |part| body.load(self.graph, factors, pass.factor(rank, (k, part)));
                    let factor = pair(load)?;
                    *value = rotated(&mut body.builder, *value, factor, pass.is_inverse);
                }
            }
            if let Some(scale) = pass.scale {
                let scale = body.builder.constant(scale);
                found.iter_mut().for_each(|value| *value = scaled(&mut body.builder, *value, scale));
            }
            let values = group.iter().map(|&(k, part)| [found[k].0, found[k].1][part]).collect();
            let stores = group.iter().map(|at| KernelStore { result: 0, window: Some(window(at)) }).collect();
            let accesses = self.accesses(&body.leaves, &frame)?;
            kernels.push(kernel_task((body, values), accesses, &vec![dtype; group.len()], (&frame, stores))?);
        }
        // Packed: the next pass sees it in another shape, without a copy.
        let result = ResultMemory::fresh(node, dtype, &dist, Pitch::Packed);
        self.push_compute(Compute { results: vec![result], kernels })
    }
}

impl Butterflies {
    /// The distribution of the result, of an operand's.
    pub fn result(self, operand: &Distribution) -> Result<Distribution> {
        let Butterflies { from, span, .. } = self;
        debug_assert_eq!(operand.grid().shape()[from], 1, "a pass reads all cells of its dimension");
        let place = |d: usize| match d {
            d if d == from => from + span,
            d if d > from && d <= from + span => d - 1,
            d => d,
        };
        let (mut shape, mut axes) = (operand.shape(), Vec::with_capacity(operand.rank()));
        for (d, &extent) in operand.shape().iter().enumerate() {
            shape[place(d)] = extent;
            axes.push(Along::same(place(d)));
        }
        Ok(operand.viewed(&shape, &axes)?)
    }

    /// The map to cell `j` of the operand, of the point whose other coordinates are the result's.
    fn input(self, rank: usize, (j, part): (usize, usize)) -> Map {
        let at = |dim: usize, offset: usize| Along::Dim { dim, offset: offset as i64, step: 1 };
        Map::from_fn(rank, |d| match d {
            d if d == self.from => at(self.from + self.span, j),
            d if d > self.from && d <= self.from + self.span => Along::same(d - 1),
            d if d + 1 == rank => at(d, part),
            d => Along::same(d),
        })
    }

    /// The same of an operand whose lines are not split yet: in the first pass, of a result on this
    /// distribution.
    fn input_of_line(self, result: &Distribution, (j, part): (usize, usize)) -> Map {
        let (rank, left) = (result.rank(), result.shape()[self.from]);
        Map::from_fn(rank - 2, |d| match d {
            d if d == self.from => Along::Dim { dim: d, offset: j as i64 * left, step: 1 },
            d if d + 3 == rank => Along::Dim { dim: rank - 1, offset: part as i64, step: 1 },
            d if d < self.from => Along::same(d),
            d => Along::same(d + 2),
        })
    }

    /// The map to the factors of cell `k`, behind a dimension of one cell.
    fn factor(self, rank: usize, (k, part): (usize, usize)) -> Map {
        let at = |dim: usize, offset: usize| Along::Dim { dim, offset: offset as i64, step: 1 };
        Map::from_fn(self.span + 3, |d| match d {
            0 => Along::Pinned(0),
            1 => at(self.from + self.span, k - 1),
            d if d < self.span + 2 => Along::same(self.from + d - 2),
            _ => at(rank - 1, part),
        })
    }
}

fn pair(mut load: impl FnMut(usize) -> Result<Value>) -> Result<Pair> {
    Ok((load(0)?, load(1)?))
}

/// The discrete Fourier transform of the pairs `x`, with the roots `exp(-2 pi i j k / radix)` or, of an
/// inverse one, their conjugates; not scaled.
fn transformed(code: &mut Builder, dtype: DType, x: &[Pair], is_inverse: bool) -> Vec<Pair> {
    match x.len() {
        2 => vec![sum(code, x[0], x[1]), difference(code, x[0], x[1])],
        n if n % 2 == 0 => {
            // Transforms of the even and the odd ones; half of the roots are the other half's negatives.
            let [even, odd] = [0, 1].map(|first| {
                let half: Vec<Pair> = x.iter().skip(first).step_by(2).copied().collect();
                transformed(code, dtype, &half, is_inverse)
            });
            let turn = |code: &mut Builder, (k, value): (usize, &Pair)| {
                by_root(code, dtype, *value, (k, n), is_inverse)
            };
            let odd: Vec<Pair> = odd.iter().enumerate().map(|pair| turn(code, pair)).collect();
            let mut both = |join: fn(&mut Builder, Pair, Pair) -> Pair| -> Vec<Pair> {
                even.iter().zip(&odd).map(|(a, b)| join(code, *a, *b)).collect()
            };
            let low = both(sum);
            low.into_iter().chain(both(difference)).collect()
        }
        n => odd_length(code, dtype, x, n, is_inverse),
    }
}

/// Of an odd number of pairs, by sums and differences of those that share their roots' real parts.
fn odd_length(code: &mut Builder, dtype: DType, x: &[Pair], n: usize, is_inverse: bool) -> Vec<Pair> {
    let half = n / 2;
    let sums: Vec<Pair> = (1..=half).map(|j| sum(code, x[j], x[n - j])).collect();
    let differences: Vec<Pair> = (1..=half).map(|j| difference(code, x[j], x[n - j])).collect();
    let first = sums.iter().fold(x[0], |all, &next| sum(code, all, next));
    let mut results = vec![first; n];
    for k in 1..=half {
        let (mut even, mut odd) = (x[0], None);
        for j in 1..=half {
            let angle = TAU * ((j * k) % n) as f64 / n as f64;
            let [cos, sin] = [angle.cos(), angle.sin()].map(|value| code.float(dtype, value));
            let (by_cos, by_sin) = (scaled(code, sums[j - 1], cos), scaled(code, differences[j - 1], sin));
            even = sum(code, even, by_cos);
            odd = Some(odd.map_or(by_sin, |odd| sum(code, odd, by_sin)));
        }
        let Some((re, im)) = odd else { continue };
        // `-i` times what the sines gave.
        let minus_re = code.unary(UnaryOp::Neg, re);
        let turned = (im, minus_re);
        let (a, b) = (sum(code, even, turned), difference(code, even, turned));
        (results[k], results[n - k]) = if is_inverse { (b, a) } else { (a, b) };
    }
    results
}

/// A pair times `exp(-2 pi i k / n)`, or its conjugate, for `k` below `n / 2`.
fn by_root(
    code: &mut Builder,
    dtype: DType,
    (re, im): Pair,
    (k, n): (usize, usize),
    is_inverse: bool,
) -> Pair {
    match (k, is_inverse) {
        (0, _) => (re, im),
        (k, true) if 4 * k == n => (code.unary(UnaryOp::Neg, im), re),
        (k, false) if 4 * k == n => (im, code.unary(UnaryOp::Neg, re)),
        _ => {
            let (sin, cos) = (-TAU * k as f64 / n as f64).sin_cos();
            let factor = (code.float(dtype, cos), code.float(dtype, sin));
            rotated(code, (re, im), factor, is_inverse)
        }
    }
}

/// The product of a pair and a factor, or its conjugate.
fn rotated(code: &mut Builder, (re, im): Pair, (cos, sin): Pair, conjugated: bool) -> Pair {
    let [a, b, c, d] =
        [(re, cos), (im, sin), (re, sin), (im, cos)].map(|(x, y)| code.binary(BinaryOp::Mul, x, y));
    let (first, second) =
        if conjugated { (BinaryOp::Add, BinaryOp::Sub) } else { (BinaryOp::Sub, BinaryOp::Add) };
    (code.binary(first, a, b), code.binary(second, d, c))
}

fn scaled(code: &mut Builder, (re, im): Pair, by: Value) -> Pair {
    (code.binary(BinaryOp::Mul, re, by), code.binary(BinaryOp::Mul, im, by))
}

fn sum(code: &mut Builder, a: Pair, b: Pair) -> Pair {
    (code.binary(BinaryOp::Add, a.0, b.0), code.binary(BinaryOp::Add, a.1, b.1))
}

fn difference(code: &mut Builder, a: Pair, b: Pair) -> Pair {
    (code.binary(BinaryOp::Sub, a.0, b.0), code.binary(BinaryOp::Sub, a.1, b.1))
}
