//! Bools as masks: opmask registers with AVX-512, vectors whose lanes are all ones or all zeros with AVX2.
//!
//! With AVX2 every mask has the widest lanes of its kernel, so that two masks always combine; comparisons of
//! narrower values widen their result, and what selects narrower values narrows it.

use iced_x86::Code;

use super::selection::{ONES, Selection};
use crate::cpu::x86::encodings::{self as t, LaneLayout, at};
use crate::cpu::x86::target::IsaLevel;
use crate::cpu::x86::virtual_code::{Home, LastOperand, RegisterClass, ValueId, VirtualInstruction};
use crate::dtype::Kind;
use crate::ir::CompareOp;

/// The comparison of floats that is true where one is NaN.
pub(super) const UNORDERED: u8 = 3;
/// The comparison of floats that is true where none is NaN.
pub(super) const ORDERED: u8 = 7;
/// The comparison of floats that is true where they differ, or one is NaN.
pub(super) const NOT_EQUAL: u8 = 4;
/// The comparison of floats that is true where the first is not below the second.
pub(super) const NOT_BELOW: u8 = 29;

/// An operation on two masks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MaskOp {
    And,
    Or,
    Xor,
    /// The second one's bits that the first has not.
    AndNot,
}

impl Selection<'_> {
    /// The register class of bools.
    pub(super) fn mask_class(&self) -> RegisterClass {
        match self.steps.level {
            IsaLevel::Avx512 => RegisterClass::Mask,
            IsaLevel::Avx2 => RegisterClass::Vector(self.widest()),
        }
    }

    fn widest(&self) -> LaneLayout {
        if self.long { LaneLayout::Longs } else { LaneLayout::Words }
    }

    pub(super) fn mask_op(&mut self, op: MaskOp, a: ValueId, b: ValueId) -> ValueId {
        let (code, forms) = match op {
            MaskOp::And => (Code::VEX_Kandw_kr_kr_kr, &t::AND),
            MaskOp::Or => (Code::VEX_Korw_kr_kr_kr, &t::OR),
            MaskOp::Xor => (Code::VEX_Kxorw_kr_kr_kr, &t::XOR),
            MaskOp::AndNot => (Code::VEX_Kandnw_kr_kr_kr, &t::AND_NOT),
        };
        match self.steps.level {
            IsaLevel::Avx512 => self.opmask(code, &[a, b]),
            IsaLevel::Avx2 => self.op(forms, self.widest(), &[a, b]),
        }
    }

    /// `a` where the condition is set, else `b`.
    pub(super) fn select_bools(&mut self, condition: ValueId, a: ValueId, b: ValueId) -> ValueId {
        let yes = self.mask_op(MaskOp::And, condition, a);
        let no = self.mask_op(MaskOp::AndNot, condition, b);
        self.mask_op(MaskOp::Or, yes, no)
    }

    pub(super) fn mask_not(&mut self, a: ValueId) -> ValueId {
        match self.steps.level {
            IsaLevel::Avx512 => self.opmask(Code::VEX_Knotw_kr_kr, &[a]),
            IsaLevel::Avx2 => self.not(a, self.widest()),
        }
    }

    /// An operation on opmask registers.
    fn opmask(&mut self, code: Code, args: &[ValueId]) -> ValueId {
        let dst = self.value(RegisterClass::Mask, Home::Nowhere);
        self.push(VirtualInstruction {
            last: LastOperand::Register,
            ..VirtualInstruction::new(code, dst, args)
        })
    }

    /// A comparison or a test that writes an opmask register.
    fn opmask_of(
        &mut self,
        forms: &t::Encodings,
        width: LaneLayout,
        args: &[ValueId],
        immediate: Option<u8>,
    ) -> ValueId {
        let dst = self.value(RegisterClass::Mask, Home::Nowhere);
        self.push(VirtualInstruction {
            immediate,
            ..VirtualInstruction::new(at(forms, width, IsaLevel::Avx512), dst, args)
        })
    }

    /// All bits of each lane the other way round.
    pub(super) fn not(&mut self, a: ValueId, width: LaneLayout) -> ValueId {
        let all = self.constant(u64::MAX, width);
        self.either(&t::XOR, width, &[a, all])
    }

    /// Compares floats by a predicate of the instruction.
    pub(super) fn compare_floats(
        &mut self,
        a: ValueId,
        b: ValueId,
        width: LaneLayout,
        predicate: u8,
    ) -> ValueId {
        match self.steps.level {
            IsaLevel::Avx512 => self.opmask_of(&t::COMPARE, width, &[a, b], Some(predicate)),
            IsaLevel::Avx2 => {
                let lanes = self.with(&t::COMPARE, width, &[a, b], predicate);
                self.widened(lanes, width)
            }
        }
    }

    pub(super) fn compare_ints(
        &mut self,
        op: CompareOp,
        a: ValueId,
        b: ValueId,
        kind: Kind,
        width: LaneLayout,
    ) -> ValueId {
        use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
        if self.steps.level == IsaLevel::Avx512 {
            let forms = if kind == Kind::Int { &t::SCOMPARE } else { &t::UCOMPARE };
            let predicate = match op {
                Eq => 0,
                Lt => 1,
                Le => 2,
                Ne => 4,
                Ge => 5,
                Gt => 6,
            };
            return self.opmask_of(forms, width, &[a, b], Some(predicate));
        }
        let lanes = match op {
            Eq | Ne => self.either(&t::EQUAL, width, &[a, b]),
            Gt | Le => self.greater(a, b, kind, width),
            Lt | Ge => self.greater(b, a, kind, width),
        };
        let lanes = if matches!(op, Ne | Le | Ge) { self.not(lanes, width) } else { lanes };
        self.widened(lanes, width)
    }

    /// All bits of a lane where an integer is greater than another (AVX2).
    pub(super) fn greater(&mut self, a: ValueId, b: ValueId, kind: Kind, width: LaneLayout) -> ValueId {
        if kind == Kind::Int {
            return self.op(&t::GREATER, width, &[a, b]);
        }
        // Unsigned numbers are in the order of signed ones with the other sign bit.
        let sign = self.constant(if width == LaneLayout::Longs { 1 << 63 } else { 1 << 31 }, width);
        let [a, b] = [a, b].map(|id| self.either(&t::XOR, width, &[id, sign]));
        self.op(&t::GREATER, width, &[a, b])
    }

    /// A mask of the lanes that are not 0.
    pub(super) fn nonzero(&mut self, a: ValueId, width: LaneLayout) -> ValueId {
        match self.steps.level {
            IsaLevel::Avx512 => self.opmask_of(&t::TEST, width, &[a, a], None),
            IsaLevel::Avx2 => {
                let zero = self.constant(0, width);
                self.compare_ints(CompareOp::Ne, a, zero, Kind::Int, width)
            }
        }
    }

    /// Returns from the code unless a mask is set in every lane of the block.
    pub(super) fn guard(&mut self, mask: ValueId) {
        let step = match self.steps.level {
            IsaLevel::Avx512 => {
                let dst = self.value(RegisterClass::Mask, Home::Nowhere);
                VirtualInstruction {
                    last: LastOperand::Register,
                    ..VirtualInstruction::new(Code::VEX_Kandnw_kr_kr_kr, dst, &[mask])
                }
            }
            IsaLevel::Avx2 => {
                let width = self.widest();
                let all = self.constant(u64::MAX, width);
                self.step(&t::XOR, width, &[mask, all])
            }
        };
        self.push(VirtualInstruction { guard: true, ..step });
    }

    /// The mask of lanes that are all ones or all zeros.
    fn widened(&mut self, lanes: ValueId, width: LaneLayout) -> ValueId {
        match width {
            LaneLayout::HalfWords => {
                self.convert(Code::VEX_Vpmovsxdq_ymm_xmmm128, LaneLayout::Longs, lanes, LastOperand::Memory)
            }
            LaneLayout::Words | LaneLayout::Longs => lanes,
        }
    }

    /// A mask as lanes of this width (AVX2).
    fn lanes_of(&mut self, mask: ValueId, width: LaneLayout) -> ValueId {
        if width == LaneLayout::HalfWords { self.low_halves(mask) } else { mask }
    }

    /// `yes` where the mask is set, else `no`.
    pub(super) fn blend(&mut self, mask: ValueId, no: ValueId, yes: ValueId, width: LaneLayout) -> ValueId {
        let mask = match self.steps.level {
            IsaLevel::Avx512 => mask,
            IsaLevel::Avx2 => self.lanes_of(mask, width),
        };
        let step = VirtualInstruction { mask: Some(mask), ..self.step(&t::BLEND, width, &[no, yes]) };
        self.push(step)
    }

    /// A conversion where the mask is set, else 0.
    pub(super) fn convert_where(&mut self, mask: ValueId, code: Code, to: LaneLayout, a: ValueId) -> ValueId {
        match self.steps.level {
            IsaLevel::Avx512 => {
                let dst = self.value(RegisterClass::Vector(to), Home::Nowhere);
                self.push(VirtualInstruction {
                    mask: Some(mask),
                    zeroing: true,
                    ..VirtualInstruction::new(code, dst, &[a])
                })
            }
            IsaLevel::Avx2 => {
                let all = self.convert(code, to, a, LastOperand::Element);
                self.only_where(mask, all, to)
            }
        }
    }

    /// A value where the mask is set, else 0 (AVX2).
    pub(super) fn only_where(&mut self, mask: ValueId, value: ValueId, width: LaneLayout) -> ValueId {
        let lanes = self.lanes_of(mask, width);
        self.either(&t::AND, width, &[value, lanes])
    }

    /// The mask of bools in memory.
    pub(super) fn load_bools(&mut self, home: Home) -> ValueId {
        let bytes = self.value(RegisterClass::Bytes, home);
        match self.steps.level {
            IsaLevel::Avx512 => {
                let dst = self.value(RegisterClass::Mask, Home::Nowhere);
                let code = Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128;
                self.push(VirtualInstruction {
                    last: LastOperand::Memory,
                    ..VirtualInstruction::new(code, dst, &[bytes, bytes])
                })
            }
            IsaLevel::Avx2 => {
                let width = self.widest();
                let step = VirtualInstruction {
                    last: LastOperand::Memory,
                    ..self.step(&t::FROM_BYTES, width, &[bytes])
                };
                let numbers = self.push(step);
                let zero = self.constant(0, width);
                self.op(&t::GREATER, width, &[numbers, zero])
            }
        }
    }

    /// A mask as bytes of 0 and 1.
    pub(super) fn bool_bytes(&mut self, mask: ValueId) -> ValueId {
        if self.steps.level == IsaLevel::Avx512 {
            let ones = self.at_home(RegisterClass::Bytes, Home::Lanes(ONES));
            let dst = self.value(RegisterClass::Bytes, Home::Nowhere);
            let step = VirtualInstruction::new(Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128, dst, &[ones]);
            return self.push(VirtualInstruction {
                mask: Some(mask),
                zeroing: true,
                last: LastOperand::Memory,
                ..step
            });
        }
        let shorts = if self.long {
            let words = self.low_halves(mask);
            self.bytes_op(Code::VEX_Vpackssdw_xmm_xmm_xmmm128, &[words, words])
        } else {
            let [low, high] = self.both_halves(mask);
            self.bytes_op(Code::VEX_Vpackssdw_xmm_xmm_xmmm128, &[low, high])
        };
        let bytes = self.bytes_op(Code::VEX_Vpacksswb_xmm_xmm_xmmm128, &[shorts, shorts]);
        self.bytes_op(Code::VEX_Vpabsb_xmm_xmmm128, &[bytes])
    }

    fn bytes_op(&mut self, code: Code, args: &[ValueId]) -> ValueId {
        let dst = self.value(RegisterClass::Bytes, Home::Nowhere);
        self.push(VirtualInstruction {
            last: LastOperand::Register,
            ..VirtualInstruction::new(code, dst, args)
        })
    }
}
