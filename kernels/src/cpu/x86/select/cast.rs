//! The instructions of casts, which saturate where types are narrower. A cast of a number that was clamped
//! before needs no instructions that saturate: value ranges of floats, from the instructions that make them,
//! tell.

use iced_x86::Code;

use super::masks::{NOT_BELOW, NOT_EQUAL, ORDERED};
use super::selection::Selection;
use crate::cpu::x86::encodings::{self as t, at};
use crate::cpu::x86::target::IsaLevel;
use crate::cpu::x86::virtual_code::{LastOperand, ValueId};
use crate::dtype::{DType, Kind};
use crate::ir::{BinaryOp, CompareOp, Kernel, Op, UnaryOp, Value};

impl Selection<'_> {
    pub(super) fn cast(&mut self, value: Value, to: DType) -> Option<ValueId> {
        let (a, from) = (self.id(value), self.dtype(value));
        self.class(from)?;
        self.class(to)?;
        match (from.kind(), to.kind()) {
            _ if from == to => Some(a),
            (Kind::Bool, _) => {
                let width = self.width(to)?;
                let (no, yes) = (self.constant(0, width), self.number(to, 1.0, width));
                Some(self.blend(a, no, yes, width))
            }
            (Kind::Float, Kind::Bool) => {
                let width = self.width(from)?;
                let zero = self.constant(0, width);
                Some(self.compare_floats(a, zero, width, NOT_EQUAL))
            }
            (_, Kind::Bool) => {
                let width = self.width(from)?;
                Some(self.nonzero(a, width))
            }
            (Kind::Float, Kind::Float) => self.float_to_float(a, to),
            (Kind::Float, _) => self.float_to_int(value, from, to),
            (_, Kind::Float) => self.int_to_float(a, from, to),
            (_, _) => self.int_to_int(a, from, to),
        }
    }

    fn float_to_float(&mut self, a: ValueId, to: DType) -> Option<ValueId> {
        let code = match (to, self.steps.level) {
            (DType::F64, IsaLevel::Avx512) => Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
            (DType::F64, IsaLevel::Avx2) => Code::VEX_Vcvtps2pd_ymm_xmmm128,
            (_, IsaLevel::Avx512) => Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
            (_, IsaLevel::Avx2) => Code::VEX_Vcvtpd2ps_xmm_ymmm256,
        };
        let width = self.width(to)?;
        Some(self.convert(code, width, a, LastOperand::Element))
    }

    fn int_to_int(&mut self, a: ValueId, from: DType, to: DType) -> Option<ValueId> {
        let width = self.width(to)?;
        Some(match (from.size_bytes(), to.size_bytes()) {
            (4, 8) => {
                let code = match (from.kind(), self.steps.level) {
                    (Kind::Int, IsaLevel::Avx512) => Code::EVEX_Vpmovsxdq_zmm_k1z_ymmm256,
                    (Kind::Int, IsaLevel::Avx2) => Code::VEX_Vpmovsxdq_ymm_xmmm128,
                    (_, IsaLevel::Avx512) => Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
                    (_, IsaLevel::Avx2) => Code::VEX_Vpmovzxdq_ymm_xmmm128,
                };
                self.convert(code, width, a, LastOperand::Memory)
            }
            (8, 4) if self.steps.level == IsaLevel::Avx2 => self.low_halves(a),
            (8, 4) => self.convert(Code::EVEX_Vpmovqd_ymmm256_k1z_zmm, width, a, LastOperand::Register),
            _ => a,
        })
    }

    fn int_to_float(&mut self, a: ValueId, from: DType, to: DType) -> Option<ValueId> {
        let width = self.width(to)?;
        let signed = from.kind() == Kind::Int;
        let sizes = (from.size_bytes(), to.size_bytes(), signed);
        let code = match self.steps.level {
            IsaLevel::Avx512 => match sizes {
                (4, 8, true) => Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
                (4, 8, false) => Code::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er,
                (8, 4, true) => Code::EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er,
                (8, 4, false) => Code::EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er,
                (_, _, true) => at(&t::FROM_INT, width, IsaLevel::Avx512),
                (_, _, false) => at(&t::FROM_UINT, width, IsaLevel::Avx512),
            },
            IsaLevel::Avx2 => match sizes {
                (4, 8, true) => Code::VEX_Vcvtdq2pd_ymm_xmmm128,
                (4, 8, false) => return Some(self.words_to_doubles(a)),
                (8, 4, _) => return None,
                (8, 8, _) => return Some(self.longs_to_floats(a, from.kind())),
                (_, _, true) => at(&t::FROM_INT, width, IsaLevel::Avx2),
                (_, _, false) => return Some(self.words_to_floats(a, width)),
            },
        };
        Some(self.convert(code, width, a, LastOperand::Element))
    }

    /// Truncates, saturates, and makes 0 of NaN.
    fn float_to_int(&mut self, value: Value, from: DType, to: DType) -> Option<ValueId> {
        let a = self.id(value);
        let (narrow, width) = (self.width(from)?, self.width(to)?);
        let signed = to.kind() == Kind::Int;
        let sizes = (from.size_bytes(), to.size_bytes(), signed);
        let code = match self.steps.level {
            IsaLevel::Avx512 => match sizes {
                (4, 8, true) => Code::EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae,
                (4, 8, false) => Code::EVEX_Vcvttps2uqq_zmm_k1z_ymmm256b32_sae,
                (8, 4, true) => Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae,
                (8, 4, false) => Code::EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae,
                (_, _, true) => at(&t::TO_INT, width, IsaLevel::Avx512),
                (_, _, false) => at(&t::TO_UINT, width, IsaLevel::Avx512),
            },
            IsaLevel::Avx2 => match sizes {
                (4, 8, _) => {
                    let double = self.float_to_float(a, DType::F64)?;
                    return Some(self.doubles_to_longs(double, to.kind()));
                }
                (8, 8, _) => return Some(self.doubles_to_longs(a, to.kind())),
                (8, 4, false) => return Some(self.doubles_to_words(a)),
                (8, 4, true) => Code::VEX_Vcvttpd2dq_xmm_ymmm256,
                (_, _, true) => at(&t::TO_INT, width, IsaLevel::Avx2),
                (_, _, false) => return Some(self.floats_to_words(a, width)),
            },
        };
        let zero = self.constant(0, narrow);
        if !signed {
            // The second operand, 0, if the first is NaN. What is too large gives all bits set.
            let positive = self.op(&t::MAX, narrow, &[a, zero]);
            return Some(self.convert(code, width, positive, LastOperand::Element));
        }
        let bits = 8 * to.size_bytes() as i32;
        let limit = f64::powi(2.0, bits - 1);
        let range = range(self.kernel, &self.guards, value);
        if range.is_below(limit) && !range.nan {
            return Some(self.convert(code, width, a, LastOperand::Element));
        }
        // Numbers that are too small or too large give the least integer.
        let beyond = self.number(from, limit, narrow);
        let most = self.constant((1u64 << (bits - 1)) - 1, width);
        let number = self.compare_floats(a, a, narrow, ORDERED);
        let near = self.convert_where(number, code, width, a);
        if range.is_below(limit) {
            return Some(near);
        }
        let above = self.compare_floats(a, beyond, narrow, NOT_BELOW);
        Some(self.blend(above, near, most, width))
    }
}

/// Every value lies in `low..=high`, or is NaN, where it can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatRange {
    pub low: f64,
    pub high: f64,
    pub nan: bool,
}

/// So many instructions back.
const DEPTH: usize = 8;
/// Numbers beyond may round to infinity, in any type.
const FINITE: f64 = 1e38;

impl FloatRange {
    const ALL: FloatRange = FloatRange { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    /// Bounds that may be infinite are.
    fn new(low: f64, high: f64, nan: bool) -> FloatRange {
        if low.is_nan() || high.is_nan() {
            return FloatRange::ALL;
        }
        let low = if low.abs() < FINITE { low } else { f64::NEG_INFINITY };
        FloatRange { low, high: if high.abs() < FINITE { high } else { f64::INFINITY }, nan }
    }

    /// Is every number of it far enough below this magnitude that no rounding reaches it?
    pub(super) fn is_below(self, limit: f64) -> bool {
        self.low.abs().max(self.high.abs()) <= limit / 2.0
    }
}

/// The range of a value. Of the booleans in `guards`, all can be taken to be true.
pub(super) fn range(kernel: &Kernel, guards: &[Value], value: Value) -> FloatRange {
    RangeAnalysis { kernel, guards }.of(value, DEPTH)
}

struct RangeAnalysis<'k> {
    kernel: &'k Kernel,
    guards: &'k [Value],
}

impl RangeAnalysis<'_> {
    fn op(&self, value: Value) -> &Op {
        &self.kernel.body[value.index()].op
    }

    fn of(&self, value: Value, depth: usize) -> FloatRange {
        let made = match depth {
            0 => FloatRange::ALL,
            _ => self.made(value, depth - 1),
        };
        self.guards.iter().fold(made, |range, &guard| match *self.op(guard) {
            Op::Compare(CompareOp::Lt, size, limit) => match (self.op(size), self.op(limit)) {
                (Op::Unary(UnaryOp::Abs, of), Op::Const(limit)) if *of == value => {
                    let limit = limit.to_f64();
                    FloatRange::new(range.low.max(-limit), range.high.min(limit), false)
                }
                _ => range,
            },
            _ => range,
        })
    }

    /// By its instruction.
    fn made(&self, value: Value, depth: usize) -> FloatRange {
        let of = |value: &Value| self.of(*value, depth);
        match self.op(value) {
            Op::Const(scalar) if scalar.dtype.is_float() => {
                let number = scalar.to_f64();
                FloatRange::new(number, number, number.is_nan())
            }
            Op::Unary(op, a) => {
                let FloatRange { low, high, nan } = of(a);
                match op {
                    UnaryOp::Round | UnaryOp::Trunc | UnaryOp::Floor | UnaryOp::Ceil => {
                        FloatRange::new(low.floor(), high.ceil(), nan)
                    }
                    UnaryOp::Abs => FloatRange::new(0.0, low.abs().max(high.abs()), nan),
                    UnaryOp::Neg => FloatRange::new(-high, -low, nan),
                    UnaryOp::Not | UnaryOp::Sqrt | UnaryOp::IsNan => FloatRange::ALL,
                }
            }
            Op::Binary(BinaryOp::Min, a, b) => {
                let (a, b) = (of(a), of(b));
                FloatRange::new(a.low.min(b.low), a.high.min(b.high), a.nan || b.nan)
            }
            Op::Binary(BinaryOp::Max, a, b) => {
                let (a, b) = (of(a), of(b));
                FloatRange::new(a.low.max(b.low), a.high.max(b.high), a.nan || b.nan)
            }
            Op::Binary(BinaryOp::Mul, a, b) => product(of(a), of(b)),
            Op::Select(condition, yes, no) => {
                let yes = self.under(*condition, true, *yes, depth);
                let no = self.under(*condition, false, *no, depth);
                FloatRange::new(yes.low.min(no.low), yes.high.max(no.high), yes.nan || no.nan)
            }
            _ => FloatRange::ALL,
        }
    }

    /// The range of a value, given that a comparison gave `outcome`.
    fn under(&self, condition: Value, outcome: bool, value: Value, depth: usize) -> FloatRange {
        let range = self.of(value, depth);
        let (small, large) = match *self.op(condition) {
            Op::Compare(CompareOp::Lt | CompareOp::Le, a, b) => (a, b),
            Op::Compare(CompareOp::Gt | CompareOp::Ge, a, b) => (b, a),
            _ => return range,
        };
        let (is_small, other) = match (value == small, value == large) {
            (true, false) => (outcome, large),
            (false, true) => (!outcome, small),
            _ => return range,
        };
        // Every comparison with NaN is false.
        let bound = self.of(other, depth);
        let nan = range.nan && !outcome;
        match (is_small, bound.nan) {
            (_, true) => range,
            (true, false) => FloatRange::new(range.low, range.high.min(bound.high), nan),
            (false, false) => FloatRange::new(range.low.max(bound.low), range.high, nan),
        }
    }
}

/// The product with a number that is neither 0 nor infinite.
fn product(a: FloatRange, b: FloatRange) -> FloatRange {
    let constant =
        |r: FloatRange| (r.low == r.high && r.low != 0.0 && r.low.is_finite() && !r.nan).then_some(r.low);
    let (factor, other) = match (constant(a), constant(b)) {
        (_, Some(factor)) => (factor, a),
        (Some(factor), None) => (factor, b),
        (None, None) => return FloatRange::ALL,
    };
    let (first, last) = (factor * other.low, factor * other.high);
    FloatRange::new(first.min(last), first.max(last), other.nan)
}
