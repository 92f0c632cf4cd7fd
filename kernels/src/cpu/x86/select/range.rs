//! Value ranges of floats, from the instructions that make them. A cast of a number that was clamped before
//! needs no instructions that saturate.

use crate::ir::{BinaryOp, CompareOp, Kernel, Op, UnaryOp, Value};

/// Every value lies in `low..=high`, or is NaN, where it can be.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu::x86) struct FloatRange {
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
    pub(in crate::cpu::x86) fn is_below(self, limit: f64) -> bool {
        self.low.abs().max(self.high.abs()) <= limit / 2.0
    }
}

/// What a value can be. Of the booleans in `guards`, all can be taken to be true.
pub(in crate::cpu::x86) fn range(kernel: &Kernel, guards: &[Value], value: Value) -> FloatRange {
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

    /// What a value can be where a comparison gave `outcome`.
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
