//! The definition of the IR: what every operation and form means, point by point and as plainly as can be.
//!
//! [`run`] executes a launch on vectors of bit patterns. [`operations`] gives the result of one operation on
//! scalars, [`reduce`] folds. Every other execution of a kernel ([`crate::cpu`], PTX, WGSL) is tested against
//! this module and must give its bits (any NaN equals any NaN).
//!
//! Invariant: nothing here is fast, parallel or unsafe, and nothing is shared with the engines under test but the
//! mathematical functions of [`crate::math`], which are themselves written once for all.

pub mod operations;
mod reduce;

use crate::dtype::{DType, Scalar};
use crate::ir::{BinaryOp, Form, Inst, Kernel, Launch, Op};
use crate::verify::{LaunchError, Verified};
use operations::{binary, bitcast, cast, compare, fma, math1, math2, truth, unary};

/// The memory of one parameter: the bit pattern of each element, in the low bits.
pub type ElementBits = Vec<u64>;

/// Runs a launch on `memory`, one vector per parameter.
///
/// ```
/// use partita_kernels::{BinaryOp, Builder, DType, Launch, Scalar, View, interpret};
/// let mut k = Builder::new("remainder", 1);
/// let (a, b, c) = (k.input(DType::I32), k.input(DType::I32), k.output(DType::I32));
/// let (x, y) = (k.load(a, &[0]), k.load(b, &[0]));
/// let remainder = k.binary(BinaryOp::Rem, x, y);
/// let kernel = k.elementwise(&[(c, remainder)])?;
///
/// let int = |value| Scalar::from_i64(DType::I32, value).bits;
/// let mut memory = vec![vec![int(-7), int(7)], vec![int(3), int(0)], vec![0; 2]];
/// let view = View { offset: 0, strides: vec![1] };
/// let launch = Launch { extents: vec![2], origin: vec![0], views: vec![view; 3], arguments: vec![] };
/// interpret::run(&kernel, &launch, &mut memory)?;
/// assert_eq!(memory[2], [int(-1), int(0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Verified::check`]'s; nothing was written then.
pub fn run(kernel: &Verified, launch: &Launch, memory: &mut [ElementBits]) -> Result<(), LaunchError> {
    kernel.check_memory(launch, memory.len(), |p| memory[p].len())?;
    let kernel = kernel.kernel();
    match &kernel.form {
        Form::Elementwise { stores } => {
            for point in points(&launch.extents) {
                // All loads of a point come before its stores: a parameter may be both read and written there.
                let values = evaluate(kernel, launch, memory, &point);
                for store in stores {
                    let at = element(launch, store.param, &point);
                    memory[store.param as usize][at] = values[store.value.index()].bits;
                }
            }
        }
        Form::Reduce { axes, folds } => {
            for fold in folds {
                reduce::fold(kernel, launch, memory, axes, fold);
            }
        }
        Form::Gather { index, source, output } => {
            for point in points(&launch.extents) {
                let values = evaluate(kernel, launch, memory, &point);
                if let Some(from) = indexed(launch, memory, *source, values[index.index()]) {
                    let at = element(launch, *output, &point);
                    memory[*output as usize][at] = memory[*source as usize][from];
                }
            }
        }
        Form::Scatter { index, value, output, add } => {
            for point in points(&launch.extents) {
                let values = evaluate(kernel, launch, memory, &point);
                let value = values[value.index()];
                if let Some(to) = indexed(launch, memory, *output, values[index.index()]) {
                    let old = Scalar { dtype: value.dtype, bits: memory[*output as usize][to] };
                    let new = if *add { binary(BinaryOp::Add, old, value) } else { value };
                    memory[*output as usize][to] = new.bits;
                }
            }
        }
    }
    Ok(())
}

/// Every point of a region, in C order.
fn points(extents: &[usize]) -> Vec<Vec<usize>> {
    let mut points = vec![vec![]];
    for &extent in extents {
        points = points.iter().flat_map(|p| (0..extent).map(|k| [p.as_slice(), &[k]].concat())).collect();
    }
    points
}

/// The element of a parameter at a point: `offset + sum_k point_k * stride_k`.
fn element(launch: &Launch, param: u32, point: &[usize]) -> usize {
    let view = &launch.views[param as usize];
    let moved: i64 = point.iter().zip(&view.strides).map(|(&i, &s)| i as i64 * s).sum();
    (view.offset + moved) as usize
}

/// The element that an index value names, if it lies inside the parameter.
fn indexed(launch: &Launch, memory: &[ElementBits], param: u32, index: Scalar) -> Option<usize> {
    let offset = launch.views[param as usize].offset as usize;
    let index = if index.dtype == DType::U64 { i128::from(index.bits) } else { i128::from(index.to_i64()) };
    let inside = index >= 0 && index < memory[param as usize].len() as i128 - offset as i128;
    inside.then(|| offset + index as usize)
}

/// The values of all instructions at one point.
fn evaluate(kernel: &Kernel, launch: &Launch, memory: &[ElementBits], point: &[usize]) -> Vec<Scalar> {
    let mut values: Vec<Scalar> = Vec::with_capacity(kernel.body.len());
    for inst in &kernel.body {
        values.push(instruction(inst, &values, launch, memory, point));
    }
    values
}

fn instruction(
    inst: &Inst,
    values: &[Scalar],
    launch: &Launch,
    memory: &[ElementBits],
    point: &[usize],
) -> Scalar {
    let of = |value: &crate::ir::Value| values[value.index()];
    match &inst.op {
        Op::Const(scalar) => *scalar,
        Op::Argument(n) => launch.arguments[*n as usize],
        Op::Coord(dim) => {
            let dim = *dim as usize;
            Scalar::from_i64(inst.dtype, launch.origin[dim] + point[dim] as i64)
        }
        Op::Load { param, offsets } => {
            let strides = &launch.views[*param as usize].strides;
            let moved: i64 = offsets.iter().zip(strides).map(|(&d, &s)| i64::from(d) * s).sum();
            let at = (element(launch, *param, point) as i64 + moved) as usize;
            Scalar { dtype: inst.dtype, bits: memory[*param as usize][at] }
        }
        Op::Unary(op, a) => unary(*op, of(a)),
        Op::Binary(op, a, b) => binary(*op, of(a), of(b)),
        Op::Compare(op, a, b) => truth(compare(*op, of(a), of(b))),
        Op::Select(condition, yes, no) => {
            if of(condition).bits != 0 {
                of(yes)
            } else {
                of(no)
            }
        }
        Op::Fma(a, b, c) => fma(of(a), of(b), of(c)),
        Op::Cast(a) => cast(of(a), inst.dtype),
        Op::Bitcast(a) => bitcast(of(a), inst.dtype),
        Op::Math1(function, a) => math1(*function, of(a)),
        Op::Math2(function, a, b) => math2(*function, of(a), of(b)),
    }
}
