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
    let kernel = kernel.kernel();
    let mut builder = Builder::like(kernel);
    let mut renamed: Vec<Option<Value>> = vec![None; kernel.body.len()];
    let live = live(kernel);
    for (at, inst) in kernel.body.iter().enumerate() {
        if live[at] {
            let op = inst.op.map(|value| renamed[value.index()].unwrap_or(value));
            renamed[at] = Some(rewrite(&mut builder, op, inst.dtype));
        }
    }
    let form = kernel.form.map(|value| renamed[value.index()].unwrap_or(value));
    let shorter = builder.finish(form).expect("rewriting keeps every rule of the IR");
    drop_dead(shorter)
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

/// An identity may leave its operands unused: renumber what is still live.
fn drop_dead(kernel: Verified) -> Verified {
    let live = live(kernel.kernel());
    if live.iter().all(|&l| l) {
        return kernel;
    }
    let old = kernel.kernel();
    let mut builder = Builder::like(old);
    let mut renamed = vec![Value(0); old.body.len()];
    for (at, inst) in old.body.iter().enumerate() {
        if live[at] {
            renamed[at] = builder.emit(inst.op.map(|value| renamed[value.index()]), inst.dtype);
        }
    }
    let form = old.form.map(|value| renamed[value.index()]);
    builder.finish(form).expect("removing unused instructions keeps every rule of the IR")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn body_after(build: impl FnOnce(&mut Builder, Value) -> Value) -> usize {
        let mut k = Builder::new("t", 1);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let x = k.load(input, &[0]);
        let y = build(&mut k, x);
        simplify(&k.elementwise(&[(output, y)]).unwrap()).kernel().body.len()
    }

    #[test]
    fn identities_remove_instructions() {
        let one = |k: &mut Builder, x| {
            let one = k.float(DType::F32, 1.0);
            k.binary(BinaryOp::Mul, x, one)
        };
        assert_eq!(body_after(one), 1);
        assert_eq!(
            body_after(|k, x| {
                let n = k.unary(UnaryOp::Neg, x);
                k.unary(UnaryOp::Neg, n)
            }),
            1
        );
    }

    #[test]
    fn what_would_change_bits_stays() {
        for (op, value) in [(BinaryOp::Add, 0.0), (BinaryOp::Mul, 0.0), (BinaryOp::Sub, -0.0)] {
            let kept = body_after(|k, x| {
                let c = k.float(DType::F32, value);
                k.binary(op, x, c)
            });
            assert_eq!(kept, 3, "{op:?} {value}");
        }
    }
}
