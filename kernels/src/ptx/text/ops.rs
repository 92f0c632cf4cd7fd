//! The instructions of the body, one IR operation at a time. It knows nothing of points: loads and
//! coordinates have their registers before it starts.
//!
//! The remainder of floats is exact: long division of the mantissas, a few bits at a time.

use crate::dtype::{DType, Kind, Scalar};
use crate::ir::{BinaryOp, CompareOp, Inst, Op, UnaryOp};
use crate::ptx::text::parameters::{Class, Field, arithmetic, class};
use crate::ptx::text::writer::PtxWriter;
impl PtxWriter<'_> {
    pub(super) fn instruction(&mut self, inst: &Inst, to: &str) {
        let kernel = self.kernel;
        let dtype = inst.dtype;
        match &inst.op {
            Op::Const(scalar) => self.constant(to, *scalar),
            Op::Argument(n) => self.argument(*n, dtype, to),
            Op::Coord(_) | Op::Load { .. } => unreachable!("the loop around the body defines these"),
            Op::Unary(op, a) => self.unary(*op, kernel.body[a.index()].dtype, to, &self.name(*a)),
            Op::Binary(op, a, b) => self.binary(*op, dtype, to, &self.name(*a), &self.name(*b)),
            Op::Compare(op, a, b) => {
                let of = kernel.body[a.index()].dtype;
                self.compare(*op, of, to, &self.name(*a), &self.name(*b));
            }
            Op::Select(c, a, b) => {
                self.select(dtype, to, [&self.name(*a), &self.name(*b)], &self.name(*c));
            }
            Op::Fma(a, b, c) => {
                let (a, b, c) = (self.name(*a), self.name(*b), self.name(*c));
                self.op(&format!("fma.rn.{} {to}, {a}, {b}, {c}", arithmetic(dtype)));
            }
            Op::Cast(a) => self.cast(kernel.body[a.index()].dtype, dtype, to, &self.name(*a)),
            Op::Bitcast(a) => self.bitcast(kernel.body[a.index()].dtype, dtype, to, &self.name(*a)),
            Op::Math1(..) | Op::Math2(..) => unreachable!("math::expand ran first"),
        }
    }

    fn argument(&mut self, n: u32, dtype: DType, to: &str) {
        let from = self.field(Field::Argument(n, dtype));
        match dtype {
            DType::Bool => self.op(&format!("setp.ne.u32 {to}, {from}, 0")),
            _ => self.op(&format!("mov.{} {to}, {from}", class(dtype).name())),
        }
    }

    /// `to = if c { a } else { b }`
    pub(crate) fn select(&mut self, dtype: DType, to: &str, [a, b]: [&str; 2], c: &str) {
        match class(dtype) {
            Class::Pred => {
                let yes = self.set(Class::Pred, "and.pred", &[c, a]);
                let not = self.set(Class::Pred, "not.pred", &[c]);
                let no = self.set(Class::Pred, "and.pred", &[&not, b]);
                self.op(&format!("or.pred {to}, {yes}, {no}"));
            }
            class => self.op(&format!("selp.{} {to}, {a}, {b}, {c}", class.name())),
        }
    }

    /// Wraps a 32-bit result, in place, to the narrower integer it stands for.
    pub(crate) fn wrap(&mut self, dtype: DType, to: &str) {
        match dtype {
            DType::I8 => self.op(&format!("bfe.s32 {to}, {to}, 0, 8")),
            DType::I16 => self.op(&format!("bfe.s32 {to}, {to}, 0, 16")),
            DType::U8 => self.op(&format!("and.b32 {to}, {to}, 0xff")),
            DType::U16 => self.op(&format!("and.b32 {to}, {to}, 0xffff")),
            _ => {}
        }
    }

    fn unary(&mut self, op: UnaryOp, dtype: DType, to: &str, a: &str) {
        match (op, dtype.kind()) {
            (UnaryOp::IsNan, _) => self.is_nan(dtype, to, a),
            (_, Kind::Bool) => self.op(&format!("not.pred {to}, {a}")),
            (_, Kind::Int | Kind::Uint) => {
                match op {
                    UnaryOp::Not => self.op(&format!("not.{} {to}, {a}", class(dtype).name())),
                    UnaryOp::Abs if dtype.kind() == Kind::Uint => {
                        self.op(&format!("mov.{} {to}, {a}", class(dtype).name()));
                    }
                    UnaryOp::Abs => self.op(&format!("abs.{} {to}, {a}", arithmetic(dtype))),
                    _ if class(dtype) == Class::B64 => self.op(&format!("neg.s64 {to}, {a}")),
                    _ => self.op(&format!("neg.s32 {to}, {a}")),
                }
                self.wrap(dtype, to);
            }
            (_, Kind::Float) if class(dtype) == Class::B16 => self.unary_half(op, dtype, to, a),
            (_, Kind::Float) => {
                let kind = arithmetic(dtype);
                self.op(&format!("{}.{kind} {to}, {a}", float_unary(op, kind)));
            }
        }
    }

    fn unary_half(&mut self, op: UnaryOp, dtype: DType, to: &str, a: &str) {
        match op {
            UnaryOp::Neg => self.op(&format!("xor.b16 {to}, {a}, 0x8000")),
            UnaryOp::Abs => self.op(&format!("and.b16 {to}, {a}, 0x7FFF")),
            _ => {
                let wide = self.widen(dtype, a);
                let result = self.set(Class::F32, &format!("{}.f32", float_unary(op, "f32")), &[&wide]);
                self.round(dtype, to, &result);
            }
        }
    }

    fn is_nan(&mut self, dtype: DType, to: &str, a: &str) {
        match dtype {
            DType::F16 | DType::BF16 => {
                let infinity = if dtype == DType::F16 { "0x7C00" } else { "0x7F80" };
                let bits = self.set(Class::B16, "and.b16", &[a, "0x7FFF"]);
                self.op(&format!("setp.gt.u16 {to}, {bits}, {infinity}"));
            }
            _ => self.op(&format!("setp.nan.{} {to}, {a}, {a}", arithmetic(dtype))),
        }
    }

    /// `to = a op b`; `to` may be one of them.
    pub(crate) fn binary(&mut self, op: BinaryOp, dtype: DType, to: &str, a: &str, b: &str) {
        match (op, dtype.kind()) {
            (_, Kind::Bool) => self.bool_binary(op, to, a, b),
            (_, Kind::Int | Kind::Uint) => self.int_binary(op, dtype, to, a, b),
            (BinaryOp::Min | BinaryOp::Max, Kind::Float) => self.extreme(op, dtype, to, a, b),
            (_, Kind::Float) if class(dtype) == Class::B16 => {
                let (a, b) = (self.widen(dtype, a), self.widen(dtype, b));
                let result = self.temp(Class::F32);
                self.float_binary(op, DType::F32, &result, &a, &b);
                self.round(dtype, to, &result);
            }
            (_, Kind::Float) => self.float_binary(op, dtype, to, a, b),
        }
    }

    fn float_binary(&mut self, op: BinaryOp, dtype: DType, to: &str, a: &str, b: &str) {
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Rem => return self.remainder(dtype, to, a, b),
            BinaryOp::Min | BinaryOp::Max => unreachable!("chosen by comparison"),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                unreachable!("verify refuses bitwise operations on floats")
            }
        };
        self.op(&format!("{name}.rn.{} {to}, {a}, {b}", arithmetic(dtype)));
    }

    /// Minimum or maximum of floats: the first operand if it is better or NaN, else the second.
    fn extreme(&mut self, op: BinaryOp, dtype: DType, to: &str, a: &str, b: &str) {
        let better = if op == BinaryOp::Min { "lt" } else { "gt" };
        let kind = arithmetic(dtype);
        let (x, y) = match class(dtype) {
            Class::B16 => (self.widen(dtype, a), self.widen(dtype, b)),
            _ => (a.to_owned(), b.to_owned()),
        };
        let nan = self.set(Class::Pred, &format!("setp.nan.{kind}"), &[&x, &x]);
        let first = self.set(Class::Pred, &format!("setp.{better}.or.{kind}"), &[&x, &y, &nan]);
        self.op(&format!("selp.{} {to}, {a}, {b}, {first}", class(dtype).name()));
    }

    fn bool_binary(&mut self, op: BinaryOp, to: &str, a: &str, b: &str) {
        let name = match op {
            BinaryOp::And | BinaryOp::Min => "and",
            BinaryOp::Or | BinaryOp::Max => "or",
            _ => "xor",
        };
        self.op(&format!("{name}.pred {to}, {a}, {b}"));
    }

    fn int_binary(&mut self, op: BinaryOp, dtype: DType, to: &str, a: &str, b: &str) {
        let (kind, bits) = (arithmetic(dtype), class(dtype).name());
        match op {
            BinaryOp::Add => self.op(&format!("add.{kind} {to}, {a}, {b}")),
            BinaryOp::Sub => self.op(&format!("sub.{kind} {to}, {a}, {b}")),
            BinaryOp::Mul => self.op(&format!("mul.lo.{kind} {to}, {a}, {b}")),
            BinaryOp::Min => self.op(&format!("min.{kind} {to}, {a}, {b}")),
            BinaryOp::Max => self.op(&format!("max.{kind} {to}, {a}, {b}")),
            BinaryOp::And => self.op(&format!("and.{bits} {to}, {a}, {b}")),
            BinaryOp::Or => self.op(&format!("or.{bits} {to}, {a}, {b}")),
            BinaryOp::Xor => self.op(&format!("xor.{bits} {to}, {a}, {b}")),
            BinaryOp::Div => self.divide(dtype, to, a, b),
            BinaryOp::Rem => {
                let divisor = self.divisor(dtype, b).0;
                self.op(&format!("rem.{kind} {to}, {a}, {divisor}"));
            }
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, dtype, to, a, b),
        }
        self.wrap(dtype, to);
    }

    /// A divisor with 1 in place of 0 and -1, which leaves the remainder 0 as it should be, and the
    /// predicates that say "was 0" and, for signed types, "was -1".
    fn divisor(&mut self, dtype: DType, b: &str) -> (String, String, Option<String>) {
        let (kind, bits) = (arithmetic(dtype), class(dtype).name());
        let zero = self.set(Class::Pred, &format!("setp.eq.{kind}"), &[b, "0"]);
        if dtype.kind() == Kind::Uint {
            let divisor = self.set(class(dtype), &format!("selp.{bits}"), &["1", b, &zero]);
            return (divisor, zero, None);
        }
        let minus = self.set(Class::Pred, &format!("setp.eq.{kind}"), &[b, "-1"]);
        let either = self.set(Class::Pred, "or.pred", &[&zero, &minus]);
        let divisor = self.set(class(dtype), &format!("selp.{bits}"), &["1", b, &either]);
        (divisor, zero, Some(minus))
    }

    /// Division that gives 0 for `x / 0` and wraps `MIN / -1`.
    fn divide(&mut self, dtype: DType, to: &str, a: &str, b: &str) {
        let (kind, bits) = (arithmetic(dtype), class(dtype).name());
        let (divisor, zero, minus) = self.divisor(dtype, b);
        let mut quotient = self.set(class(dtype), &format!("div.{kind}"), &[a, &divisor]);
        if let Some(minus) = minus {
            let negated = self.set(class(dtype), &format!("neg.{kind}"), &[a]);
            quotient = self.set(class(dtype), &format!("selp.{bits}"), &[&negated, &quotient, &minus]);
        }
        self.op(&format!("selp.{bits} {to}, 0, {quotient}, {zero}"));
    }

    /// A shift by a count modulo the width; PTX alone would shift everything out.
    fn shift(&mut self, op: BinaryOp, dtype: DType, to: &str, a: &str, b: &str) {
        let mask = (8 * dtype.size_bytes() - 1).to_string();
        let mut count = b.to_owned();
        if class(dtype) == Class::B64 {
            count = self.set(Class::B32, "cvt.u32.u64", &[b]);
        }
        let count = self.set(Class::B32, "and.b32", &[&count, &mask]);
        match op {
            BinaryOp::Shl => self.op(&format!("shl.{} {to}, {a}, {count}", class(dtype).name())),
            _ => self.op(&format!("shr.{} {to}, {a}, {count}", arithmetic(dtype))),
        }
    }

    /// `to = a op b`
    pub(crate) fn compare(&mut self, op: CompareOp, dtype: DType, to: &str, a: &str, b: &str) {
        if dtype == DType::Bool {
            return self.bool_compare(op, to, a, b);
        }
        let name = match op {
            CompareOp::Eq => "eq",
            CompareOp::Ne if dtype.is_float() => "neu",
            CompareOp::Ne => "ne",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        let (a, b) = match class(dtype) {
            Class::B16 => (self.widen(dtype, a), self.widen(dtype, b)),
            _ => (a.to_owned(), b.to_owned()),
        };
        self.op(&format!("setp.{name}.{} {to}, {a}, {b}", arithmetic(dtype)));
    }

    fn bool_compare(&mut self, op: CompareOp, to: &str, a: &str, b: &str) {
        let (name, a, b) = match op {
            CompareOp::Ne => ("xor", a.to_owned(), b.to_owned()),
            CompareOp::Eq => ("xor", self.set(Class::Pred, "not.pred", &[a]), b.to_owned()),
            CompareOp::Lt => ("and", self.set(Class::Pred, "not.pred", &[a]), b.to_owned()),
            CompareOp::Le => ("or", self.set(Class::Pred, "not.pred", &[a]), b.to_owned()),
            CompareOp::Gt => ("and", a.to_owned(), self.set(Class::Pred, "not.pred", &[b])),
            CompareOp::Ge => ("or", a.to_owned(), self.set(Class::Pred, "not.pred", &[b])),
        };
        self.op(&format!("{name}.pred {to}, {a}, {b}"));
    }

    /// A register set to a constant.
    pub(crate) fn fresh(&mut self, scalar: Scalar) -> String {
        let to = self.temp(class(scalar.dtype));
        self.constant(&to, scalar);
        to
    }
}

/// The operation on f32 or f64 without its type; conversions name the type twice.
fn float_unary(op: UnaryOp, kind: &str) -> String {
    match op {
        UnaryOp::Neg => "neg".into(),
        UnaryOp::Abs => "abs".into(),
        UnaryOp::Sqrt => "sqrt.rn".into(),
        UnaryOp::Floor => format!("cvt.rmi.{kind}"),
        UnaryOp::Ceil => format!("cvt.rpi.{kind}"),
        UnaryOp::Trunc => format!("cvt.rzi.{kind}"),
        UnaryOp::Round => format!("cvt.rni.{kind}"),
        UnaryOp::Not | UnaryOp::IsNan => unreachable!("not a float result"),
    }
}

impl PtxWriter<'_> {
    /// An f16 or bf16 as f32, exactly.
    pub(crate) fn widen(&mut self, dtype: DType, a: &str) -> String {
        if dtype == DType::F16 {
            return self.set(Class::F32, "cvt.f32.f16", &[a]);
        }
        let low = self.set(Class::B32, "cvt.u32.u16", &[a]);
        let bits = self.set(Class::B32, "shl.b32", &[&low, "16"]);
        self.set(Class::F32, "mov.b32", &[&bits])
    }

    /// An f32 rounded to f16 or bf16.
    pub(crate) fn round(&mut self, dtype: DType, to: &str, a: &str) {
        match dtype {
            DType::F16 => self.op(&format!("cvt.rn.f16.f32 {to}, {a}")),
            _ if self.target.sm >= 80 => self.op(&format!("cvt.rn.bf16.f32 {to}, {a}")),
            _ => self.round_bf16(to, a),
        }
    }

    /// Rounding to bf16 by integers: half a unit less the parity of the last kept bit is added.
    fn round_bf16(&mut self, to: &str, a: &str) {
        let bits = self.set(Class::B32, "mov.b32", &[a]);
        let odd = self.set(Class::B32, "bfe.u32", &[&bits, "16", "1"]);
        let sum = self.set(Class::B32, "add.u32", &[&bits, &odd]);
        let sum = self.set(Class::B32, "add.u32", &[&sum, "0x7fff"]);
        let high = self.set(Class::B32, "shr.u32", &[&sum, "16"]);
        let nan = self.set(Class::Pred, "setp.nan.f32", &[a, a]);
        let high = self.set(Class::B32, "selp.b32", &["0x7fff", &high, &nan]);
        self.op(&format!("cvt.u16.u32 {to}, {high}"));
    }

    /// Conversion by value.
    pub(crate) fn cast(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        if from == to_dtype {
            return self.copy(from, to, a);
        }
        match (from.kind(), to_dtype.kind()) {
            (_, _) if class(from) == Class::B16 => {
                let wide = self.widen(from, a);
                self.cast(DType::F32, to_dtype, to, &wide);
            }
            (Kind::Bool, Kind::Bool) => self.copy(from, to, a),
            (Kind::Bool, _) => {
                let [one, zero] = [1, 0].map(|n| self.fresh(Scalar::from_i64(to_dtype, n)));
                self.select(to_dtype, to, [&one, &zero], a);
            }
            (Kind::Int | Kind::Uint, Kind::Bool) => {
                self.op(&format!("setp.ne.{} {to}, {a}, 0", arithmetic(from)));
            }
            (Kind::Int | Kind::Uint, Kind::Int | Kind::Uint) => self.int_to_int(from, to_dtype, to, a),
            (Kind::Int | Kind::Uint, Kind::Float) => self.int_to_float(from, to_dtype, to, a),
            (Kind::Float, Kind::Bool) => {
                let zero = self.fresh(Scalar::from_i64(from, 0));
                self.op(&format!("setp.neu.{} {to}, {a}, {zero}", arithmetic(from)));
            }
            (Kind::Float, Kind::Int | Kind::Uint) => self.float_to_int(from, to_dtype, to, a),
            (Kind::Float, Kind::Float) => self.float_to_float(from, to_dtype, to, a),
        }
    }

    /// `to = a`
    pub(crate) fn copy(&mut self, dtype: DType, to: &str, a: &str) {
        self.op(&format!("mov.{} {to}, {a}", class(dtype).name()));
    }

    fn int_to_int(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        match (class(from), class(to_dtype)) {
            (Class::B32, Class::B64) if from.kind() == Kind::Int => {
                self.op(&format!("cvt.s64.s32 {to}, {a}"));
            }
            (Class::B32, Class::B64) => self.op(&format!("cvt.u64.u32 {to}, {a}")),
            (Class::B64, Class::B32) => self.op(&format!("cvt.u32.u64 {to}, {a}")),
            _ => self.copy(to_dtype, to, a),
        }
        self.wrap(to_dtype, to);
    }

    /// Integers reach f16 and bf16 through f32, as the interpreter's do.
    fn int_to_float(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        if class(to_dtype) == Class::B16 {
            let wide = self.set(Class::F32, &format!("cvt.rn.f32.{}", arithmetic(from)), &[a]);
            return self.round(to_dtype, to, &wide);
        }
        self.op(&format!("cvt.rn.{}.{} {to}, {a}", arithmetic(to_dtype), arithmetic(from)));
    }

    /// Truncates and saturates; a conversion to 32 or 64 bits does both by definition, but what it makes
    /// of NaN depends on the types, so that is decided here.
    fn float_to_int(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        let (kind, bits) = (arithmetic(to_dtype), class(to_dtype).name());
        let mut whole = self.set(class(to_dtype), &format!("cvt.rzi.{kind}.{}", arithmetic(from)), &[a]);
        if to_dtype.size_bytes() < 4 {
            let least = Scalar::from_f64(to_dtype, f64::NEG_INFINITY).to_i64().to_string();
            let most = Scalar::from_f64(to_dtype, f64::INFINITY).to_i64().to_string();
            whole = self.set(Class::B32, &format!("min.{kind}"), &[&whole, &most]);
            if to_dtype.kind() == Kind::Int {
                whole = self.set(Class::B32, &format!("max.{kind}"), &[&whole, &least]);
            }
        }
        let nan = self.set(Class::Pred, &format!("setp.nan.{}", arithmetic(from)), &[a, a]);
        self.op(&format!("selp.{bits} {to}, 0, {whole}, {nan}"));
    }

    fn float_to_float(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        match (from, to_dtype) {
            (DType::F64, DType::F32) => self.op(&format!("cvt.rn.f32.f64 {to}, {a}")),
            (DType::F64, DType::F16) => self.op(&format!("cvt.rn.f16.f64 {to}, {a}")),
            (DType::F64, _) => {
                let odd = self.odd_f32(a);
                self.round(to_dtype, to, &odd);
            }
            (_, DType::F64) => self.op(&format!("cvt.f64.f32 {to}, {a}")),
            _ => self.round(to_dtype, to, a),
        }
    }

    /// f64 to f32, rounded to odd: a later rounding to bf16 is then as good as one.
    fn odd_f32(&mut self, a: &str) -> String {
        let cut = self.set(Class::F32, "cvt.rz.f32.f64", &[a]);
        let back = self.set(Class::F64, "cvt.f64.f32", &[&cut]);
        let inexact = self.set(Class::Pred, "setp.neu.f64", &[&back, a]);
        let sticky = self.set(Class::B32, "selp.b32", &["1", "0", &inexact]);
        let bits = self.set(Class::B32, "mov.b32", &[&cut]);
        let bits = self.set(Class::B32, "or.b32", &[&bits, &sticky]);
        self.set(Class::F32, "mov.b32", &[&bits])
    }

    /// Reinterpretation of the bits between types of one width.
    pub(crate) fn bitcast(&mut self, from: DType, to_dtype: DType, to: &str, a: &str) {
        match (class(from), class(to_dtype)) {
            (Class::B32, Class::B16) => self.op(&format!("cvt.u16.u32 {to}, {a}")),
            (Class::B16, Class::B32) if to_dtype.kind() == Kind::Int => {
                self.op(&format!("cvt.s32.s16 {to}, {a}"));
            }
            (Class::B16, Class::B32) => self.op(&format!("cvt.u32.u16 {to}, {a}")),
            (x, y) if x == y => {
                self.copy(from, to, a);
                self.wrap(to_dtype, to);
            }
            (x, _) => self.op(&format!("mov.b{} {to}, {a}", 8 * x.bytes())),
        }
    }
}

/// The numbers that tell f32 from f64.
struct Width {
    /// `32` or `64`.
    bits: u32,
    /// Bits of the mantissa below its leading one.
    mantissa: u32,
    /// Exponent of the number 1.
    bias: i32,
    /// Quotient bits of one step: the remainder shifted by so many still fits.
    step: u32,
    whole: Class,
    float: Class,
}

const SINGLE: Width =
    Width { bits: 32, mantissa: 23, bias: 127, step: 8, whole: Class::B32, float: Class::F32 };
const DOUBLE: Width =
    Width { bits: 64, mantissa: 52, bias: 1023, step: 11, whole: Class::B64, float: Class::F64 };

impl Width {
    fn sign(&self) -> String {
        format!("0x{:x}", 1u64 << (self.bits - 1))
    }

    fn magnitude(&self) -> String {
        format!("0x{:x}", (1u64 << (self.bits - 1)) - 1)
    }

    fn infinity(&self) -> String {
        format!("0x{:x}", ((1u64 << (self.bits - 1)) - 1) >> self.mantissa << self.mantissa)
    }
}

impl PtxWriter<'_> {
    /// `to = a % b` with the sign of `a`, of f32 or f64.
    pub(crate) fn remainder(&mut self, dtype: DType, to: &str, a: &str, b: &str) {
        let w = if dtype == DType::F64 { DOUBLE } else { SINGLE };
        let bits = w.bits;
        let (done, small, finite) = (self.label("DONE"), self.label("SMALL"), self.label("FINITE"));
        let ab = self.set(w.whole, &format!("mov.b{bits}"), &[a]);
        let bb = self.set(w.whole, &format!("mov.b{bits}"), &[b]);
        let sign = self.set(w.whole, &format!("and.b{bits}"), &[&ab, &w.sign()]);
        let x = self.set(w.whole, &format!("and.b{bits}"), &[&ab, &w.magnitude()]);
        let y = self.set(w.whole, &format!("and.b{bits}"), &[&bb, &w.magnitude()]);

        // Infinity or NaN divided, and anything divided by zero or NaN, is NaN.
        let p = self.set(Class::Pred, &format!("setp.ge.u{bits}"), &[&x, &w.infinity()]);
        let p = self.set(Class::Pred, &format!("setp.gt.or.u{bits}"), &[&y, &w.infinity(), &p]);
        let p = self.set(Class::Pred, &format!("setp.eq.or.u{bits}"), &[&y, "0", &p]);
        self.op(&format!("@!{p} bra {finite}"));
        self.op(&format!("mov.b{bits} {to}, {}", w.magnitude()));
        self.op(&format!("bra {done}"));
        self.place(&finite);
        let less = self.set(Class::Pred, &format!("setp.lt.u{bits}"), &[&x, &y]);
        self.op(&format!("@{less} bra {small}"));

        let (mx, ex) = self.mantissa(&w, &x);
        let (my, ey) = self.mantissa(&w, &y);
        let rest = self.set(w.whole, &format!("rem.u{bits}"), &[&mx, &my]);
        let left = self.set(Class::B32, "sub.s32", &[&ex, &ey]);
        self.long_division(&w, &rest, &my, &left);

        // The remainder is `rest` units of the last place of `b`; both scalings are exact.
        let whole = self.set(w.float, &format!("cvt.rn.f{bits}.u{bits}"), &[&rest]);
        let unit = self.set(Class::B32, "sub.s32", &[&ey, &(w.bias + w.mantissa as i32).to_string()]);
        let half = self.set(Class::B32, "shr.s32", &[&unit, "1"]);
        let other = self.set(Class::B32, "sub.s32", &[&unit, &half]);
        let scaled = self.scale(&w, &whole, &half);
        let scaled = self.scale(&w, &scaled, &other);
        let result = self.set(w.whole, &format!("mov.b{bits}"), &[&scaled]);
        let result = self.set(w.whole, &format!("or.b{bits}"), &[&result, &sign]);
        self.op(&format!("mov.b{bits} {to}, {result}"));
        self.op(&format!("bra {done}"));
        self.place(&small);
        self.op(&format!("mov.f{bits} {to}, {a}"));
        self.place(&done);
    }

    /// Mantissa with its leading one in place, and biased exponent, of a positive number's bits.
    fn mantissa(&mut self, w: &Width, x: &str) -> (String, String) {
        let bits = w.bits;
        let one = format!("0x{:x}", 1u64 << w.mantissa);
        let below = format!("0x{:x}", (1u64 << w.mantissa) - 1);
        let tiny = self.set(Class::Pred, &format!("setp.lt.u{bits}"), &[x, &one]);
        // A subnormal number is shifted up, and its exponent counts by how far.
        let lead = self.set(Class::B32, &format!("clz.b{bits}"), &[x]);
        let lead = self.set(Class::B32, "sub.s32", &[&lead, &(bits - 1 - w.mantissa).to_string()]);
        let lead = self.set(Class::B32, "selp.b32", &[&lead, "0", &tiny]);
        let up = self.set(w.whole, &format!("shl.b{bits}"), &[x, &lead]);
        let m = self.set(w.whole, &format!("and.b{bits}"), &[&up, &below]);
        let m = self.set(w.whole, &format!("or.b{bits}"), &[&m, &one]);
        let e = self.set(w.whole, &format!("shr.u{bits}"), &[x, &w.mantissa.to_string()]);
        let e = if bits == 64 { self.set(Class::B32, "cvt.u32.u64", &[&e]) } else { e };
        let negative = self.set(Class::B32, "sub.s32", &["1", &lead]);
        let e = self.set(Class::B32, "selp.b32", &[&negative, &e, &tiny]);
        (m, e)
    }

    /// `rest = rest * 2^left mod divisor`
    fn long_division(&mut self, w: &Width, rest: &str, divisor: &str, left: &str) {
        let bits = w.bits;
        let (divide, divided) = (self.label("DIVIDE"), self.label("DIVIDED"));
        self.place(&divide);
        let p = self.set(Class::Pred, "setp.eq.u32", &[left, "0"]);
        let p = self.set(Class::Pred, &format!("setp.eq.or.u{bits}"), &[rest, "0", &p]);
        self.op(&format!("@{p} bra {divided}"));
        let by = self.set(Class::B32, "min.u32", &[left, &w.step.to_string()]);
        self.op(&format!("shl.b{bits} {rest}, {rest}, {by}"));
        self.op(&format!("rem.u{bits} {rest}, {rest}, {divisor}"));
        self.op(&format!("sub.u32 {left}, {left}, {by}"));
        self.op(&format!("bra {divide}"));
        self.place(&divided);
    }

    /// `x * 2^power`
    fn scale(&mut self, w: &Width, x: &str, power: &str) -> String {
        let bits = w.bits;
        let biased = self.set(Class::B32, "add.s32", &[power, &w.bias.to_string()]);
        let biased = if bits == 64 { self.set(Class::B64, "cvt.u64.u32", &[&biased]) } else { biased };
        let factor = self.set(w.whole, &format!("shl.b{bits}"), &[&biased, &w.mantissa.to_string()]);
        let factor = self.set(w.float, &format!("mov.b{bits}"), &[&factor]);
        self.set(w.float, &format!("mul.rn.f{bits}"), &[x, &factor])
    }
}
