//! The meaning of a body at one point, and which elements a point addresses.

use super::operations::{binary, bitcast, cast, compare, fma, math1, math2, truth, unary};
use crate::dtype::{DType, Scalar};
use crate::ir::{BinaryOp, Inst, Kernel, Launch, Math2, Op, UnaryOp, Value};

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
    flush: bool,
) -> Vec<Scalar> {
    let mut values: Vec<Scalar> = Vec::with_capacity(kernel.body.len());
    for inst in &kernel.body {
        values.push(instruction(inst, &values, launch, memory, point, flush));
    }
    values
}

/// A subnormal f32 as a zero of its sign.
fn flushed(value: Scalar, flush: bool) -> Scalar {
    let is_subnormal = flush && value.dtype == DType::F32 && f32::from_bits(value.bits as u32).is_subnormal();
    Scalar { bits: if is_subnormal { value.bits & 1 << 31 } else { value.bits }, ..value }
}

/// A binary operation, by which subnormals may be flushed.
pub(super) fn combine(op: BinaryOp, a: Scalar, b: Scalar, flush: bool) -> Scalar {
    let flush = flush && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
    flushed(binary(op, flushed(a, flush), flushed(b, flush)), flush)
}

/// The result of a mathematical function, which narrow types compute in f32.
fn of_function(value: Scalar, flush: bool) -> Scalar {
    let single = cast(value, DType::F32);
    if value.dtype == DType::BF16 { cast(flushed(single, flush), DType::BF16) } else { flushed(value, flush) }
}

fn instruction(
    inst: &Inst,
    values: &[Scalar],
    launch: &Launch,
    memory: &[ElementBits],
    point: &[usize],
    flush: bool,
) -> Scalar {
    let of = |value: &Value| values[value.index()];
    let zeroed = |value: &Value| flushed(of(value), flush);
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
        Op::Unary(UnaryOp::Sqrt, a) => unary(UnaryOp::Sqrt, zeroed(a)),
        Op::Unary(op, a) => unary(*op, of(a)),
        Op::Binary(op, a, b) => combine(*op, of(a), of(b), flush),
        Op::Compare(op, a, b) => truth(compare(*op, of(a), of(b))),
        Op::Select(condition, yes, no) => {
            if of(condition).bits != 0 {
                of(yes)
            } else {
                of(no)
            }
        }
        Op::Fma(a, b, c) => flushed(fma(zeroed(a), zeroed(b), zeroed(c)), flush),
        Op::Cast(a) => cast(of(a), inst.dtype),
        Op::Bitcast(a) => bitcast(of(a), inst.dtype),
        Op::Math1(function, a) => of_function(math1(*function, of(a)), flush),
        Op::Math2(Math2::Pow, a, b) => of_function(math2(Math2::Pow, of(a), of(b)), flush),
        Op::Math2(function, a, b) => {
            let [a, b] = [a, b].map(|value| of_function(of(value), flush));
            of_function(math2(*function, a, b), flush)
        }
    }
}
