//! The instructions of operations and comparisons. The rules of the IR that one instruction does not have
//! (NaN in `min`, counts modulo the width) are a few instructions here. Not here: casts.

use iced_x86::Code;

use super::select::Selection;
use super::steps::Id;
use super::table::{self as t, Row, Width};
use crate::dtype::{DType, Kind};
use crate::ir::{BinaryOp, CompareOp, UnaryOp};

/// The comparison of floats that is true where one is NaN.
pub(super) const UNORDERED: u8 = 3;
/// Immediates of rounding, without exceptions.
const NEAREST: u8 = 8;
const DOWN: u8 = 9;
const UP: u8 = 10;
const TO_ZERO: u8 = 11;

impl Selection<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, a: Id, dtype: DType) -> Option<Id> {
        if dtype == DType::Bool {
            return Some(self.masks(Code::VEX_Knotw_kr_kr, &[a]));
        }
        let width = self.width(dtype)?;
        let float = dtype.is_float();
        let sign = 1u64 << (8 * dtype.size_bytes() - 1);
        Some(match op {
            UnaryOp::Neg if float => {
                let sign = self.constant(sign, width);
                self.either(&t::XOR, width, &[a, sign])
            }
            UnaryOp::Neg => {
                let zero = self.constant(0, width);
                self.op(&t::ISUB, width, &[zero, a])
            }
            UnaryOp::Abs if float => {
                let rest = self.constant(sign - 1, width);
                self.either(&t::AND, width, &[a, rest])
            }
            UnaryOp::Abs if dtype.kind() == Kind::Uint => a,
            UnaryOp::Abs => self.op(&t::IABS, width, &[a]),
            UnaryOp::Not => {
                let all = self.constant(sign | (sign - 1), width);
                self.either(&t::XOR, width, &[a, all])
            }
            UnaryOp::Sqrt => self.op(&t::SQRT, width, &[a]),
            UnaryOp::Floor => self.with(&t::ROUND, width, &[a], DOWN),
            UnaryOp::Ceil => self.with(&t::ROUND, width, &[a], UP),
            UnaryOp::Trunc => self.with(&t::ROUND, width, &[a], TO_ZERO),
            UnaryOp::Round => self.with(&t::ROUND, width, &[a], NEAREST),
            UnaryOp::IsNan => self.test(&t::COMPARE, width, &[a, a], Some(UNORDERED)),
        })
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Id, b: Id, dtype: DType) -> Option<Id> {
        match dtype.kind() {
            Kind::Bool => self.binary_bool(op, a, b),
            Kind::Float => self.binary_float(op, a, b, self.width(dtype)?),
            Kind::Int | Kind::Uint => self.binary_int(op, a, b, dtype, self.width(dtype)?),
        }
    }

    fn binary_bool(&mut self, op: BinaryOp, a: Id, b: Id) -> Option<Id> {
        let code = match op {
            BinaryOp::And | BinaryOp::Min => Code::VEX_Kandw_kr_kr_kr,
            BinaryOp::Or | BinaryOp::Max => Code::VEX_Korw_kr_kr_kr,
            BinaryOp::Xor => Code::VEX_Kxorw_kr_kr_kr,
            _ => return None,
        };
        Some(self.masks(code, &[a, b]))
    }

    fn binary_float(&mut self, op: BinaryOp, a: Id, b: Id, width: Width) -> Option<Id> {
        let least = |this: &mut Self, row: &Row| {
            // The instruction gives the second operand if either is NaN.
            let least = this.op(row, width, &[a, b]);
            let nan = this.test(&t::COMPARE, width, &[a, a], Some(UNORDERED));
            this.blend(nan, least, a, width)
        };
        Some(match op {
            BinaryOp::Add => self.either(&t::ADD, width, &[a, b]),
            BinaryOp::Sub => self.op(&t::SUB, width, &[a, b]),
            BinaryOp::Mul => self.either(&t::MUL, width, &[a, b]),
            BinaryOp::Div => self.op(&t::DIV, width, &[a, b]),
            BinaryOp::Min => least(self, &t::MIN),
            BinaryOp::Max => least(self, &t::MAX),
            _ => return None,
        })
    }

    fn binary_int(&mut self, op: BinaryOp, a: Id, b: Id, dtype: DType, width: Width) -> Option<Id> {
        let signed = dtype.kind() == Kind::Int;
        let pick = |yes: &'static Row, no: &'static Row| if signed { yes } else { no };
        let shift = |this: &mut Self, row: &Row| {
            let most = this.constant(8 * dtype.size_bytes() as u64 - 1, width);
            let count = this.either(&t::AND, width, &[b, most]);
            this.op(row, width, &[a, count])
        };
        Some(match op {
            BinaryOp::Add => self.either(&t::IADD, width, &[a, b]),
            BinaryOp::Sub => self.op(&t::ISUB, width, &[a, b]),
            BinaryOp::Mul => self.either(&t::IMUL, width, &[a, b]),
            BinaryOp::Min => self.either(pick(&t::SMIN, &t::UMIN), width, &[a, b]),
            BinaryOp::Max => self.either(pick(&t::SMAX, &t::UMAX), width, &[a, b]),
            BinaryOp::And => self.either(&t::AND, width, &[a, b]),
            BinaryOp::Or => self.either(&t::OR, width, &[a, b]),
            BinaryOp::Xor => self.either(&t::XOR, width, &[a, b]),
            BinaryOp::Shl => shift(self, &t::SHL),
            BinaryOp::Shr => shift(self, pick(&t::SAR, &t::SHR)),
            BinaryOp::Div | BinaryOp::Rem => return None,
        })
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: Id, b: Id, dtype: DType) -> Option<Id> {
        use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
        if dtype == DType::Bool {
            let not = |this: &mut Self, a: Id| this.masks(Code::VEX_Knotw_kr_kr, &[a]);
            let (code, a, b) = match op {
                Eq => (Code::VEX_Kxnorw_kr_kr_kr, a, b),
                Ne => (Code::VEX_Kxorw_kr_kr_kr, a, b),
                Lt => (Code::VEX_Kandnw_kr_kr_kr, a, b),
                Gt => (Code::VEX_Kandnw_kr_kr_kr, b, a),
                Le => (Code::VEX_Korw_kr_kr_kr, not(self, a), b),
                Ge => (Code::VEX_Korw_kr_kr_kr, not(self, b), a),
            };
            return Some(self.masks(code, &[a, b]));
        }
        let width = self.width(dtype)?;
        let (row, immediate) = match (dtype.kind(), op) {
            (Kind::Float, Eq) => (&t::COMPARE, 0),
            (Kind::Float, Ne) => (&t::COMPARE, 4),
            (Kind::Float, Lt) => (&t::COMPARE, 17),
            (Kind::Float, Le) => (&t::COMPARE, 18),
            (Kind::Float, Ge) => (&t::COMPARE, 29),
            (Kind::Float, Gt) => (&t::COMPARE, 30),
            (kind, op) => {
                let row = if kind == Kind::Int { &t::SCOMPARE } else { &t::UCOMPARE };
                let immediate = match op {
                    Eq => 0,
                    Lt => 1,
                    Le => 2,
                    Ne => 4,
                    Ge => 5,
                    Gt => 6,
                };
                (row, immediate)
            }
        };
        Some(self.test(row, width, &[a, b], Some(immediate)))
    }
}
