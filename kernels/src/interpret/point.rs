//! The meaning of a body at one point, and which elements a point addresses.

use super::operations::{binary, bitcast, cast, compare, fma, math1, math2, truth, unary};
use crate::dtype::{DType, Scalar};
use crate::ir::{Inst, Kernel, Launch, Op, Value};

/// The memory of one parameter: the bit pattern of each element, in the low bits.
pub type ElementBits = Vec<u64>;

/// Every point of a region, in C order.
pub(super) fn points(extents: &[usize]) -> Vec<Vec<usize>> {
    let mut points = vec![vec![]];
    for &extent in extents {
        points = points.iter().flat_map(|p| (0..extent).map(|k| [p.as_slice(), &[k]].concat())).collect();
    }
    points
}

/// The element of a parameter at a point: `offset + sum_k point_k * stride_k`.
pub(super) fn element(launch: &Launch, param: u32, point: &[usize]) -> usize {
    let view = &launch.views[param as usize];
    let moved: i64 = point.iter().zip(&view.strides).map(|(&i, &s)| i as i64 * s).sum();
    (view.offset + moved) as usize
}

/// The element that an index value names, if it lies inside the parameter.
pub(super) fn indexed(launch: &Launch, memory: &[ElementBits], param: u32, index: Scalar) -> Option<usize> {
    let offset = launch.views[param as usize].offset as usize;
    let index = if index.dtype == DType::U64 { i128::from(index.bits) } else { i128::from(index.to_i64()) };
    let inside = index >= 0 && index < memory[param as usize].len() as i128 - offset as i128;
    inside.then(|| offset + index as usize)
}

/// The values of all instructions at one point.
pub(super) fn evaluate(
    kernel: &Kernel,
    launch: &Launch,
    memory: &[ElementBits],
    point: &[usize],
) -> Vec<Scalar> {
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
    let of = |value: &Value| values[value.index()];
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
