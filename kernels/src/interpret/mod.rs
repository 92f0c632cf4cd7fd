//! The definition of the IR: what every operation and form means, point by point and as plainly as can be.
//!
//! [`run`] executes a launch on vectors of bit patterns. [`operations`] gives the result of one operation on
//! scalars; `reduce` folds, in the order that all executions share: adjacent pairs, level by level; scans
//! take one point of a line after the other. Every other execution of a kernel ([`crate::cpu`], PTX, WGSL) is
//! tested against this module and must give its bits (any NaN equals any NaN).
//!
//! Invariant: nothing here is fast, parallel or unsafe, and nothing is shared with the engines under test but
//! the mathematical functions of [`crate::math`], which are themselves written once for all.

pub mod operations;
mod point;
mod reduce;

use crate::dtype::Scalar;
use crate::ir::{BinaryOp, Form, Launch, Scan, Store};
use crate::verify::{LaunchError, Verified};
pub use point::ElementBits;
use point::{combine, element, evaluate, indexed, points};

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
pub fn run(verified: &Verified, launch: &Launch, memory: &mut [ElementBits]) -> Result<(), LaunchError> {
    run_as(verified, launch, memory, false)
}

/// The same where subnormals are [`Flushed`](crate::ir::Subnormals::Flushed).
///
/// # Errors
/// As [`run`].
pub fn run_flushed(
    verified: &Verified,
    launch: &Launch,
    memory: &mut [ElementBits],
) -> Result<(), LaunchError> {
    run_as(verified, launch, memory, true)
}

fn run_as(
    verified: &Verified,
    launch: &Launch,
    memory: &mut [ElementBits],
    flush: bool,
) -> Result<(), LaunchError> {
    verified.check_memory(launch, memory.len(), |p| memory[p].len())?;
    let kernel = verified.kernel();
    match &kernel.form {
        Form::Elementwise { stores } => store_points(verified, launch, memory, stores, flush),
        Form::Reduce { axes, folds, stores } => {
            store_points(verified, launch, memory, stores, flush);
            for fold in folds {
                reduce::fold(verified, launch, memory, axes, fold, flush);
            }
        }
        Form::Scan(scan) => scan_lines(verified, launch, memory, scan, flush),
        Form::Gather { index, source, output } => {
            for point in points(&launch.extents) {
                let values = evaluate(kernel, launch, memory, &point, flush);
                if let Some(from) = indexed(launch, memory, *source, values[index.index()]) {
                    let at = element(launch, *output, &point);
                    memory[*output as usize][at] = memory[*source as usize][from];
                }
            }
        }
        Form::Scatter { index, value, output, add } => {
            for point in points(&launch.extents) {
                let values = evaluate(kernel, launch, memory, &point, flush);
                let value = values[value.index()];
                if let Some(to) = indexed(launch, memory, *output, values[index.index()]) {
                    let old = Scalar { dtype: value.dtype, bits: memory[*output as usize][to] };
                    let new = if *add { combine(BinaryOp::Add, old, value, flush) } else { value };
                    memory[*output as usize][to] = new.bits;
                }
            }
        }
    }
    Ok(())
}

/// Every point's stores. All loads of a point come before them: a parameter may be both read and written
/// there.
fn store_points(
    verified: &Verified,
    launch: &Launch,
    memory: &mut [ElementBits],
    stores: &[Store],
    flush: bool,
) {
    for point in points(&launch.extents).iter().filter(|_| !stores.is_empty()) {
        let values = evaluate(verified.kernel(), launch, memory, point, flush);
        for store in stores {
            let at = element(launch, store.param, point);
            memory[store.param as usize][at] = values[store.value.index()].bits;
        }
    }
}

/// Each line from its first point on: start, then one value after the other.
fn scan_lines(verified: &Verified, launch: &Launch, memory: &mut [ElementBits], scan: &Scan, flush: bool) {
    let mut firsts = launch.extents.clone();
    let length = std::mem::replace(&mut firsts[scan.axis], 1);
    for first in points(&firsts) {
        let mut so_far = None;
        for i in 0..length {
            let mut point = first.clone();
            point[scan.axis] = i;
            let values = evaluate(verified.kernel(), launch, memory, &point, flush);
            let before = so_far.unwrap_or(values[scan.start.index()]);
            let after = combine(scan.op.step(), before, values[scan.value.index()], flush);
            let at = element(launch, scan.output, &point);
            memory[scan.output as usize][at] = if scan.exclusive { before.bits } else { after.bits };
            so_far = Some(after);
        }
    }
}
