//! The instructions of operations and comparisons, with the IR's rules that no single instruction has: NaN in
//! `min` and `max`, shift counts modulo the width.

use super::masks::{MaskOp, NOT_BELOW, NOT_EQUAL, UNORDERED};
use super::selection::Selection;
use crate::cpu::x86::encodings::{self as t, Encodings, LaneLayout};
use crate::cpu::x86::target::IsaLevel;
use crate::cpu::x86::virtual_code::ValueId;
use crate::dtype::{DType, Kind};
use crate::ir::{BinaryOp, CompareOp, UnaryOp};

/// Immediates of rounding, without exceptions.
const NEAREST: u8 = 8;
pub(super) const DOWN: u8 = 9;
const UP: u8 = 10;
pub(super) const TO_ZERO: u8 = 11;

impl Selection<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, a: ValueId, dtype: DType) -> Option<ValueId> {
        if dtype == DType::Bool {
            return Some(self.mask_not(a));
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
            UnaryOp::Abs if self.lacks_longs(width) => self.absolute_longs(a),
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
            UnaryOp::IsNan => self.compare_floats(a, a, width, UNORDERED),
        })
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: ValueId, b: ValueId, dtype: DType) -> Option<ValueId> {
        match dtype.kind() {
            Kind::Bool => self.binary_bool(op, a, b),
            Kind::Float => self.binary_float(op, a, b, self.width(dtype)?),
            Kind::Int | Kind::Uint => self.binary_int(op, a, b, dtype, self.width(dtype)?),
        }
    }

    /// Does the level lack most operations on 8-byte integers?
    fn lacks_longs(&self, width: LaneLayout) -> bool {
        width == LaneLayout::Longs && self.steps.level == IsaLevel::Avx2
    }

    fn binary_bool(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> Option<ValueId> {
        let op = match op {
            BinaryOp::And | BinaryOp::Min => MaskOp::And,
            BinaryOp::Or | BinaryOp::Max => MaskOp::Or,
            BinaryOp::Xor => MaskOp::Xor,
            _ => return None,
        };
        Some(self.mask_op(op, a, b))
    }

    fn binary_float(&mut self, op: BinaryOp, a: ValueId, b: ValueId, width: LaneLayout) -> Option<ValueId> {
        let least = |this: &mut Self, row: &Encodings| {
            // The instruction gives the second operand if either is NaN.
            let least = this.op(row, width, &[a, b]);
            let nan = this.compare_floats(a, a, width, UNORDERED);
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

    fn binary_int(
        &mut self,
        op: BinaryOp,
        a: ValueId,
        b: ValueId,
        dtype: DType,
        width: LaneLayout,
    ) -> Option<ValueId> {
        let signed = dtype.kind() == Kind::Int;
        let pick = |yes: &'static Encodings, no: &'static Encodings| if signed { yes } else { no };
        let modulo = |this: &mut Self| {
            let most = this.constant(8 * dtype.size_bytes() as u64 - 1, width);
            this.either(&t::AND, width, &[b, most])
        };
        let sequences = self.lacks_longs(width);
        Some(match op {
            BinaryOp::Mul if sequences => self.multiply_longs(a, b),
            BinaryOp::Min if sequences => self.extreme_longs(a, b, dtype.kind(), false),
            BinaryOp::Max if sequences => self.extreme_longs(a, b, dtype.kind(), true),
            BinaryOp::Add => self.either(&t::IADD, width, &[a, b]),
            BinaryOp::Sub => self.op(&t::ISUB, width, &[a, b]),
            BinaryOp::Mul => self.either(&t::IMUL, width, &[a, b]),
            BinaryOp::Min => self.either(pick(&t::SMIN, &t::UMIN), width, &[a, b]),
            BinaryOp::Max => self.either(pick(&t::SMAX, &t::UMAX), width, &[a, b]),
            BinaryOp::And => self.either(&t::AND, width, &[a, b]),
            BinaryOp::Or => self.either(&t::OR, width, &[a, b]),
            BinaryOp::Xor => self.either(&t::XOR, width, &[a, b]),
            BinaryOp::Shl => {
                let count = modulo(self);
                self.op(&t::SHL, width, &[a, count])
            }
            BinaryOp::Shr => {
                let count = modulo(self);
                match sequences && signed {
                    true => self.shift_signed_longs(a, count),
                    false => self.op(pick(&t::SAR, &t::SHR), width, &[a, count]),
                }
            }
            BinaryOp::Div | BinaryOp::Rem => return None,
        })
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: ValueId, b: ValueId, dtype: DType) -> Option<ValueId> {
        use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
        if dtype == DType::Bool {
            return Some(match op {
                Eq => {
                    let differ = self.mask_op(MaskOp::Xor, a, b);
                    self.mask_not(differ)
                }
                Ne => self.mask_op(MaskOp::Xor, a, b),
                Lt => self.mask_op(MaskOp::AndNot, a, b),
                Gt => self.mask_op(MaskOp::AndNot, b, a),
                Le | Ge => {
                    let (less, other) = if op == Le { (a, b) } else { (b, a) };
                    let not = self.mask_not(less);
                    self.mask_op(MaskOp::Or, not, other)
                }
            });
        }
        let width = self.width(dtype)?;
        let predicate = match op {
            _ if !dtype.is_float() => return Some(self.compare_ints(op, a, b, dtype.kind(), width)),
            Eq => 0,
            Ne => NOT_EQUAL,
            Lt => 17,
            Le => 18,
            Ge => NOT_BELOW,
            Gt => 30,
        };
        Some(self.compare_floats(a, b, width, predicate))
    }
}
