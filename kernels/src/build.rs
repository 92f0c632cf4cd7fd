//! Kernels, built ([`Builder`]) and made shorter ([`simplify`]). Equal instructions are shared; mistakes are
//! found by [`crate::verify`], once, at the end. Shorter kernels give the same results to the bit:
//! identities, shared instructions, dead code.
//!
//! Only identities that hold for every bit pattern are used: `x * 1`, `x - 0` and `x + (-0)` for
//! floats; not `x + 0` (it turns -0 into 0) and not `x * 0` (NaN, infinity, the sign).

use std::collections::HashMap;

use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{
    Access, BinaryOp, CompareOp, Fold, Form, Inst, Kernel, Math1, Math2, Op, Param, Scan, Store, UnaryOp,
    Value,
};
use crate::verify::{Verified, VerifyError, verify};
/// A kernel under construction.
///
/// ```
/// use partita_kernels::{BinaryOp, Builder, DType};
/// let mut k = Builder::new("blur", 1);
/// let (input, output) = (k.input(DType::F32), k.output(DType::F32));
/// let (left, right) = (k.load(input, &[-1]), k.load(input, &[1]));
/// let sum = k.binary(BinaryOp::Add, left, right);
/// let half = k.float(DType::F32, 0.5);
/// let mean = k.binary(BinaryOp::Mul, sum, half);
/// let kernel = k.elementwise(&[(output, mean)])?;
/// assert_eq!(kernel.radius(input), [(-1, 1)]);
/// # Ok::<(), partita_kernels::VerifyError>(())
/// ```
pub struct Builder {
    name: String,
    rank: usize,
    params: Vec<Param>,
    arguments: Vec<DType>,
    body: Vec<Inst>,
    known: HashMap<Inst, Value>,
}

impl Builder {
    /// An empty kernel over a region of `rank` dimensions.
    pub fn new(name: &str, rank: usize) -> Builder {
        Builder {
            name: name.to_owned(),
            rank,
            params: Vec::new(),
            arguments: Vec::new(),
            body: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// A builder whose declarations are those of `kernel` and whose body is empty: for rewriting.
    pub fn like(kernel: &Kernel) -> Builder {
        Builder {
            params: kernel.params.clone(),
            arguments: kernel.arguments.clone(),
            ..Builder::new(&kernel.name, kernel.rank)
        }
    }

    fn param(&mut self, dtype: DType, access: Access) -> u32 {
        self.params.push(Param { dtype, access });
        (self.params.len() - 1) as u32
    }

    /// Declares an array that is read.
    pub fn input(&mut self, dtype: DType) -> u32 {
        self.param(dtype, Access::In)
    }

    /// Declares an array that is written.
    pub fn output(&mut self, dtype: DType) -> u32 {
        self.param(dtype, Access::Out)
    }

    /// Declares an array that is read at the point itself and written.
    pub fn inout(&mut self, dtype: DType) -> u32 {
        self.param(dtype, Access::InOut)
    }

    /// Declares the next scalar launch argument and gives its value.
    pub fn argument(&mut self, dtype: DType) -> Value {
        self.arguments.push(dtype);
        self.emit(Op::Argument((self.arguments.len() - 1) as u32), dtype)
    }

    /// The type of a value made by this builder.
    pub fn dtype(&self, value: Value) -> DType {
        self.body[value.index()].dtype
    }

    /// The instruction that defines a value of this builder.
    pub fn inst(&self, value: Value) -> &Inst {
        &self.body[value.index()]
    }

    /// Instructions so far.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// Appends an instruction, or finds the equal one that is there.
    pub fn emit(&mut self, op: Op, dtype: DType) -> Value {
        let inst = Inst { op, dtype };
        if let Some(&value) = self.known.get(&inst) {
            return value;
        }
        let value = Value(self.body.len() as u32);
        self.body.push(inst.clone());
        self.known.insert(inst, value);
        value
    }

    /// A constant.
    pub fn constant(&mut self, scalar: Scalar) -> Value {
        self.emit(Op::Const(scalar), scalar.dtype)
    }

    /// A constant rounded to `dtype`.
    pub fn float(&mut self, dtype: DType, value: f64) -> Value {
        self.constant(Scalar::from_f64(dtype, value))
    }

    /// A constant from an integer.
    pub fn int(&mut self, dtype: DType, value: i64) -> Value {
        self.constant(Scalar::from_i64(dtype, value))
    }

    /// The point's global coordinate in a dimension, as i32 or i64.
    pub fn coord(&mut self, dim: usize, dtype: DType) -> Value {
        self.emit(Op::Coord(dim as u32), dtype)
    }

    /// Reads a parameter at the point plus `offsets`.
    pub fn load(&mut self, param: u32, offsets: &[i32]) -> Value {
        let dtype = self.params[param as usize].dtype;
        self.emit(Op::Load { param, offsets: offsets.to_vec() }, dtype)
    }

    /// One operand; the result has its type (bool for `IsNan`).
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let dtype = if op == UnaryOp::IsNan { DType::Bool } else { self.dtype(a) };
        self.emit(Op::Unary(op, a), dtype)
    }

    /// Two operands of one type.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.emit(Op::Binary(op, a, b), self.dtype(a))
    }

    /// Two operands of one type; bool result.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.emit(Op::Compare(op, a, b), DType::Bool)
    }

    /// `if condition { yes } else { no }`
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.emit(Op::Select(condition, yes, no), self.dtype(yes))
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.emit(Op::Fma(a, b, c), self.dtype(a))
    }

    /// Conversion by value; none if the type is the same.
    pub fn cast(&mut self, a: Value, dtype: DType) -> Value {
        if self.dtype(a) == dtype { a } else { self.emit(Op::Cast(a), dtype) }
    }

    /// Reinterpretation of the bits.
    pub fn bitcast(&mut self, a: Value, dtype: DType) -> Value {
        if self.dtype(a) == dtype { a } else { self.emit(Op::Bitcast(a), dtype) }
    }

    /// A mathematical function.
    pub fn math1(&mut self, function: Math1, a: Value) -> Value {
        self.emit(Op::Math1(function, a), self.dtype(a))
    }

    /// A mathematical function of two operands.
    pub fn math2(&mut self, function: Math2, a: Value, b: Value) -> Value {
        self.emit(Op::Math2(function, a, b), self.dtype(a))
    }

    /// Finishes with any form.
    ///
    /// # Errors
    /// The first rule of the IR the kernel breaks.
    pub fn finish(self, form: Form) -> Result<Verified, VerifyError> {
        verify(Kernel {
            name: self.name,
            rank: self.rank,
            params: self.params,
            arguments: self.arguments,
            body: self.body,
            form,
        })
    }

    /// Finishes an elementwise kernel: `(output, value)` pairs.
    ///
    /// # Errors
    /// As [`Builder::finish`].
    pub fn elementwise(self, stores: &[(u32, Value)]) -> Result<Verified, VerifyError> {
        let stores = stores.iter().map(|&(param, value)| Store { param, value }).collect();
        self.finish(Form::Elementwise { stores })
    }

    /// Finishes a reduction over the dimensions marked in `axes`.
    ///
    /// # Errors
    /// As [`Builder::finish`].
    pub fn reduce(self, axes: &[bool], folds: &[Fold]) -> Result<Verified, VerifyError> {
        self.reduce_and_store(axes, folds, &[])
    }

    /// Finishes a reduction whose points also store: `(output, value)` pairs.
    ///
    /// # Errors
    /// As [`Builder::finish`].
    pub fn reduce_and_store(
        self,
        axes: &[bool],
        folds: &[Fold],
        stores: &[(u32, Value)],
    ) -> Result<Verified, VerifyError> {
        let stores = stores.iter().map(|&(param, value)| Store { param, value }).collect();
        self.finish(Form::Reduce { axes: axes.to_vec(), folds: folds.to_vec(), stores })
    }

    /// Finishes a scan.
    ///
    /// # Errors
    /// As [`Builder::finish`].
    pub fn scan(self, scan: Scan) -> Result<Verified, VerifyError> {
        self.finish(Form::Scan(scan))
    }

    /// Finishes a gather.
    ///
    /// # Errors
    /// As [`Builder::finish`].
    pub fn gather(self, index: Value, source: u32, output: u32) -> Result<Verified, VerifyError> {
        self.finish(Form::Gather { index, source, output })
    }

    /// Finishes a scatter.
    ///
    /// # Errors
    /// As [`Builder::finish`].
    pub fn scatter(
        self,
        index: Value,
        value: Value,
        output: u32,
        add: bool,
    ) -> Result<Verified, VerifyError> {
        self.finish(Form::Scatter { index, value, output, add })
    }
}

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
pub(crate) fn live(kernel: &Kernel) -> Vec<bool> {
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
