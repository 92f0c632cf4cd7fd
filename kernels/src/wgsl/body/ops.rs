//! One instruction of the body to one line of WGSL.

use crate::dtype::{DType, Kind};
use crate::ir::{BinaryOp, CompareOp, Inst, Op, UnaryOp, Value};
use crate::wgsl::routines::Routine;
use crate::wgsl::types::int;
use crate::wgsl::writer::Writer;

impl Writer<'_> {
    /// Appends `let vN = ...;` for every instruction, except loads of coordinates' indices.
    pub(in crate::wgsl) fn body(&mut self) {
        for at in 0..self.kernel.body.len() {
            let inst = self.kernel.body[at].clone();
            let text = self.instruction(at, &inst);
            self.line(&format!("let v{at} = {text};"));
        }
    }

    fn instruction(&mut self, at: usize, inst: &Inst) -> String {
        let name = |value: &Value| format!("v{}", value.0);
        let of = |value: &Value| self.kernel.body[value.index()].dtype;
        match &inst.op {
            Op::Const(scalar) => self.constant(*scalar),
            Op::Argument(n) => self.argument(*n, inst.dtype),
            Op::Coord(dim) => self.coordinate(*dim as usize, inst.dtype),
            Op::Load { param, offsets } => {
                let delta = self.layout.load(*param, offsets, self.kernel.params.len());
                let delta = delta.map_or(String::new(), |at| format!(" + {}", self.signed(at)));
                self.line(&format!("let a{at} = bitcast<u32>(e{param}{delta});"));
                self.load_element(*param, &format!("a{at}"))
            }
            Op::Unary(op, a) => self.unary(*op, of(a), &name(a)),
            Op::Binary(op, a, b) => {
                let dtype = inst.dtype;
                if dtype.is_float() {
                    self.float_binary(*op, dtype, &name(a), &name(b))
                } else {
                    self.int_binary(*op, dtype, &name(a), &name(b))
                }
            }
            Op::Compare(op, a, b) => compare(*op, of(a), &name(a), &name(b)),
            Op::Select(c, a, b) => format!("select({}, {}, {})", name(b), name(a), name(c)),
            Op::Fma(a, b, c) => self.fma(inst.dtype, &name(a), &name(b), &name(c)),
            Op::Cast(a) => {
                let text = self.cast(of(a), inst.dtype, &name(a));
                self.unknown(of(a), inst.dtype, text)
            }
            Op::Bitcast(a) => {
                let text = self.bitcast(of(a), inst.dtype, &name(a));
                self.unknown(of(a), inst.dtype, text)
            }
            Op::Math1(..) | Op::Math2(..) => unreachable!("math::expand ran first"),
        }
    }

    fn coordinate(&self, dim: usize, dtype: DType) -> String {
        let at = self.layout.origin(dim);
        if dtype == DType::I32 {
            return format!("({} + bitcast<i32>(i{dim}))", self.signed(at));
        }
        let origin = format!("((u64({}) << 32u) | u64({}))", self.word(at + 1), self.word(at));
        format!("bitcast<i64>({origin} + u64(i{dim}))")
    }

    /// Rounds or wraps an f32 or 32-bit integer result to the type it stands for.
    pub(in crate::wgsl) fn narrow(&mut self, dtype: DType, text: String) -> String {
        match dtype {
            DType::F16 => format!("{}({text})", self.call(Routine::RoundF16)),
            DType::BF16 => format!("{}({text})", self.call(Routine::RoundBf16)),
            DType::I8 => format!("(({text} << 24u) >> 24u)"),
            DType::I16 => format!("(({text} << 16u) >> 16u)"),
            DType::U8 => format!("({text} & 0xffu)"),
            DType::U16 => format!("({text} & 0xffffu)"),
            _ => text,
        }
    }

    /// The condition "is NaN" for a float value.
    pub(in crate::wgsl) fn nan(&mut self, dtype: DType, a: &str) -> String {
        let routine = if dtype == DType::F64 { Routine::Nan64 } else { Routine::Nan32 };
        format!("{}({a})", self.call(routine))
    }

    fn unary(&mut self, op: UnaryOp, dtype: DType, a: &str) -> String {
        let float = dtype.is_float();
        let bits = |text: &str, mask32: &str, mask64: &str| match dtype {
            DType::F64 => format!("bitcast<f64>(bitcast<u64>({a}) {text} {mask64})"),
            _ => format!("bitcast<f32>(bitcast<u32>({a}) {text} {mask32})"),
        };
        match op {
            UnaryOp::Neg if float => bits("^", "0x80000000u", "0x8000000000000000lu"),
            UnaryOp::Neg => self.narrow(dtype, format!("({} - {a})", int(dtype, 0))),
            UnaryOp::Abs if float => bits("&", "0x7fffffffu", "0x7ffffffffffffffflu"),
            UnaryOp::Abs if dtype.kind() == Kind::Uint => a.to_owned(),
            UnaryOp::Abs => {
                let zero = int(dtype, 0);
                self.narrow(dtype, format!("select({a}, {zero} - {a}, {a} < {zero})"))
            }
            UnaryOp::Not if dtype == DType::Bool => format!("!{a}"),
            UnaryOp::Not => self.narrow(dtype, format!("(~{a})")),
            UnaryOp::Sqrt if dtype != DType::F64 && !self.target.exact_sqrt => {
                let root = format!("{}({a})", self.call(Routine::Sqrt32));
                self.narrow(dtype, root)
            }
            UnaryOp::Sqrt => self.narrow(dtype, format!("sqrt({a})")),
            UnaryOp::Floor => format!("floor({a})"),
            UnaryOp::Ceil => format!("ceil({a})"),
            UnaryOp::Trunc => format!("trunc({a})"),
            UnaryOp::Round => format!("round({a})"),
            UnaryOp::IsNan => self.nan(dtype, a),
        }
    }

    /// A float whose bits the driver cannot know.
    fn hide(&mut self, dtype: DType, text: &str) -> String {
        let routine = if dtype == DType::F64 { Routine::Hide64 } else { Routine::Hide32 };
        format!("{}({text})", self.call(routine))
    }

    /// A float operand that the driver cannot recognise.
    fn operand(&mut self, dtype: DType, text: &str) -> String {
        let routine = if dtype == DType::F64 { Routine::Operand64 } else { Routine::Operand32 };
        format!("{}({text})", self.call(routine))
    }

    /// A float made of an integer or a bool: of those a driver may know that they are zero, as `x - x` is.
    fn unknown(&mut self, from: DType, to: DType, text: String) -> String {
        if to.is_float() && !from.is_float() { self.hide(to, &text) } else { text }
    }

    pub(in crate::wgsl) fn float_binary(&mut self, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
        let symbol = match op {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Min | BinaryOp::Max => {
                let nan = self.nan(dtype, a);
                let less = if op == BinaryOp::Min { "<" } else { ">" };
                return format!("select({b}, {a}, {a} {less} {b} || {nan})");
            }
            BinaryOp::Rem => {
                let routine = if dtype == DType::F64 { Routine::Rem64 } else { Routine::Rem32 };
                let rest = format!("{}({a}, {b})", self.call(routine));
                return self.narrow(dtype, rest);
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                unreachable!("verify refuses bitwise operations on floats")
            }
        };
        if op == BinaryOp::Div && dtype != DType::F64 && !self.target.exact_division {
            let quotient = format!("{}({a}, {b})", self.call(Routine::Div32));
            return self.narrow(dtype, quotient);
        }
        if self.target.strict_floats {
            return self.narrow(dtype, format!("({a} {symbol} {b})"));
        }
        // A hidden result cannot be contracted into a later sum, nor be cancelled by what made it.
        let right = self.operand(dtype, b);
        let text = self.hide(dtype, &format!("({a} {symbol} {right})"));
        self.narrow(dtype, text)
    }

    pub(in crate::wgsl) fn int_binary(&mut self, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
        if dtype == DType::Bool {
            return match op {
                BinaryOp::And | BinaryOp::Min => format!("({a} & {b})"),
                BinaryOp::Or | BinaryOp::Max => format!("({a} | {b})"),
                _ => format!("({a} != {b})"),
            };
        }
        let text = match op {
            BinaryOp::Add => format!("({a} + {b})"),
            BinaryOp::Sub => format!("({a} - {b})"),
            BinaryOp::Mul => format!("({a} * {b})"),
            BinaryOp::Div | BinaryOp::Rem => self.divide(op, dtype, a, b),
            BinaryOp::Min => format!("select({b}, {a}, {a} < {b})"),
            BinaryOp::Max => format!("select({b}, {a}, {a} > {b})"),
            BinaryOp::And => format!("({a} & {b})"),
            BinaryOp::Or => format!("({a} | {b})"),
            BinaryOp::Xor => format!("({a} ^ {b})"),
            BinaryOp::Shl | BinaryOp::Shr => {
                let mask = int(dtype, 8 * dtype.size_bytes() as i64 - 1);
                let symbol = if op == BinaryOp::Shl { "<<" } else { ">>" };
                format!("({a} {symbol} u32({b} & {mask}))")
            }
        };
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Shl => {
                self.narrow(dtype, text)
            }
            _ => text,
        }
    }

    /// Integer division that never traps: the divisor is made harmless first. The remainder is
    /// computed from the quotient because drivers disagree on `%` of negative numbers.
    fn divide(&mut self, op: BinaryOp, dtype: DType, a: &str, b: &str) -> String {
        let (zero, one) = (int(dtype, 0), int(dtype, 1));
        let overflows = match dtype {
            DType::I32 => format!(" || ({b} == -1i && {a} == {})", int(dtype, i64::from(i32::MIN))),
            DType::I64 => format!(" || ({b} == -1li && {a} == {})", int(dtype, i64::MIN)),
            _ => String::new(),
        };
        let divisor = format!("select({b}, {one}, {b} == {zero}{overflows})");
        match op {
            BinaryOp::Div => format!("select({a} / {divisor}, {zero}, {b} == {zero})"),
            _ => format!("select({a} - ({a} / {divisor}) * {divisor}, {zero}, {b} == {zero})"),
        }
    }

    fn fma(&mut self, dtype: DType, a: &str, b: &str, c: &str) -> String {
        if dtype == DType::F64 || self.target.exact_fma {
            format!("fma({a}, {b}, {c})")
        } else {
            format!("{}({a}, {b}, {c})", self.call(Routine::Fma32))
        }
    }
}

/// A comparison. `a != b` is never written for floats: naga makes it false for NaN.
pub(in crate::wgsl) fn compare(op: CompareOp, dtype: DType, a: &str, b: &str) -> String {
    if dtype == DType::Bool {
        return match op {
            CompareOp::Eq => format!("({a} == {b})"),
            CompareOp::Ne => format!("({a} != {b})"),
            CompareOp::Lt => format!("(!{a} & {b})"),
            CompareOp::Le => format!("(!{a} | {b})"),
            CompareOp::Gt => format!("({a} & !{b})"),
            CompareOp::Ge => format!("({a} | !{b})"),
        };
    }
    match op {
        CompareOp::Eq => format!("({a} == {b})"),
        CompareOp::Ne => format!("!({a} == {b})"),
        CompareOp::Lt => format!("({a} < {b})"),
        CompareOp::Le => format!("({a} <= {b})"),
        CompareOp::Gt => format!("({a} > {b})"),
        CompareOp::Ge => format!("({a} >= {b})"),
    }
}
