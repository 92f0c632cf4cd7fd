//! Makes kernels shorter without changing a bit of their results: identities, shared instructions,
//! dead code.
//!
//! Only identities that hold for every bit pattern are used: `x * 1`, `x - 0` and `x + (-0)` for
//! floats; not `x + 0` (it turns -0 into 0) and not `x * 0` (NaN, infinity, the sign).

use crate::build::Builder;
use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{BinaryOp, Kernel, Op, UnaryOp, Value};
use crate::verify::Verified;

/// An equal kernel with as few instructions as the rules find.
pub fn simplify(kernel: &Verified) -> Verified {
    let shorter = rebuilt(kernel.kernel(), rewrite);
    // An identity may leave its operands unused.
    if live(shorter.kernel()).contains(&false) {
        return rebuilt(shorter.kernel(), |builder, op, dtype| builder.emit(op, dtype));
    }
    shorter
}

/// The kernel with each instruction that the form needs built anew.
fn rebuilt(kernel: &Kernel, build: impl Fn(&mut Builder, Op, DType) -> Value) -> Verified {
    let mut builder = Builder::like(kernel);
    let mut renamed = vec![Value(0); kernel.body.len()];
    let live = live(kernel);
    for (at, inst) in kernel.body.iter().enumerate().filter(|(at, _)| live[*at]) {
        renamed[at] = build(&mut builder, inst.op.map(|value| renamed[value.index()]), inst.dtype);
    }
    let form = kernel.form.map(|value| renamed[value.index()]);
    builder.finish(form).expect("rewriting keeps every rule of the IR")
}

/// Which instructions the form needs.
fn live(kernel: &Kernel) -> Vec<bool> {
    let mut live = vec![false; kernel.body.len()];
    for root in kernel.roots() {
        live[root.index()] = true;
    }
    for at in (0..kernel.body.len()).rev() {
        if live[at] {
            for value in kernel.body[at].op.operands() {
                live[value.index()] = true;
            }
        }
    }
    live
}

fn rewrite(builder: &mut Builder, op: Op, dtype: DType) -> Value {
    let constant = |builder: &Builder, value: Value| match builder.inst(value).op {
        Op::Const(scalar) => Some(scalar),
        _ => None,
    };
    match op {
        Op::Binary(binary, a, b) => {
            let (left, right) = (constant(builder, a), constant(builder, b));
            if let Some(same) = identity(binary, dtype, (a, left), (b, right)) {
                return same;
            }
        }
        Op::Select(c, yes, no) => match constant(builder, c) {
            Some(scalar) => return if scalar.bits != 0 { yes } else { no },
            None if yes == no => return yes,
            None => {}
        },
        Op::Unary(outer @ (UnaryOp::Neg | UnaryOp::Not), a) => {
            if let Op::Unary(inner, x) = builder.inst(a).op
                && inner == outer
            {
                return x;
            }
        }
        Op::Cast(a) if builder.dtype(a) == dtype => return a,
        Op::Bitcast(a) if builder.dtype(a) == dtype => return a,
        _ => {}
    }
    builder.emit(op, dtype)
}

type Operand = (Value, Option<Scalar>);

/// The operand that `a op b` is bound to equal, if there is one.
fn identity(op: BinaryOp, dtype: DType, (a, left): Operand, (b, right): Operand) -> Option<Value> {
    let is = |scalar: Option<Scalar>, value: f64| scalar == Some(Scalar::from_f64(dtype, value));
    let float = dtype.kind() == Kind::Float;
    let zero_of_sum = if float { -0.0 } else { 0.0 };
    match op {
        BinaryOp::Mul if is(left, 1.0) => Some(b),
        BinaryOp::Mul | BinaryOp::Div if is(right, 1.0) => Some(a),
        BinaryOp::Add if is(left, zero_of_sum) => Some(b),
        BinaryOp::Add if is(right, zero_of_sum) => Some(a),
        BinaryOp::Sub if is(right, 0.0) => Some(a),
        BinaryOp::Mul if !float && is(left, 0.0) => Some(a),
        BinaryOp::Mul if !float && is(right, 0.0) => Some(b),
        BinaryOp::And | BinaryOp::Or if a == b => Some(a),
        BinaryOp::Shl | BinaryOp::Shr if is(right, 0.0) => Some(a),
        _ => None,
    }
}
