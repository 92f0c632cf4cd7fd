//! Short exact sequences for operations that AVX2 has no instruction for.
//!
//! Without code at that level remain only conversions of 8-byte integers to 4-byte floats: by way of 8-byte
//! floats they would round twice.

use iced_x86::Code;

use super::masks::{NOT_BELOW, ORDERED};
use super::selection::Selection;
use crate::cpu::x86::encodings::{self as t, LaneLayout};
use crate::cpu::x86::virtual_code::{Home, LastOperand, RegisterClass, ValueId, VirtualInstruction};
use crate::dtype::{DType, Kind};

const LONGS: LaneLayout = LaneLayout::Longs;
/// The bits of 2^52, which leaves the low bits of an 8-byte float to an integer below it.
const TWO_52: u64 = 0x4330_0000_0000_0000;
/// The bits of 2^84, and of it and 2^63, which do so for the upper half of an integer.
const TWO_84: u64 = 0x4530_0000_0000_0000;
const TWO_84_AND_63: u64 = 0x4530_0000_8000_0000;

impl Selection<'_> {
    /// Both halves of a register of 4-byte lanes.
    pub(super) fn both_halves(&mut self, a: ValueId) -> [ValueId; 2] {
        [0, 1].map(|half| {
            let dst = self.value(RegisterClass::Vector(LaneLayout::HalfWords), Home::Nowhere);
            let step = VirtualInstruction::new(Code::VEX_Vextracti128_xmmm128_ymm_imm8, dst, &[a]);
            self.push(VirtualInstruction { immediate: Some(half), last: LastOperand::Register, ..step })
        })
    }

    /// The low 4 bytes of each 8-byte lane.
    pub(super) fn low_halves(&mut self, a: ValueId) -> ValueId {
        let [low, high] = self.both_halves(a);
        let dst = self.value(RegisterClass::Vector(LaneLayout::HalfWords), Home::Nowhere);
        let step = VirtualInstruction::new(Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8, dst, &[low, high]);
        self.push(VirtualInstruction { immediate: Some(0x88), last: LastOperand::Register, ..step })
    }

    /// The low 8 bytes of products of 8-byte integers.
    pub(super) fn multiply_longs(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let half = self.constant(32, LONGS);
        let [high_a, high_b] = [a, b].map(|id| self.op(&t::SHR, LONGS, &[id, half]));
        let first = self.either(&t::MUL_LOW_HALVES, LONGS, &[high_a, b]);
        let second = self.either(&t::MUL_LOW_HALVES, LONGS, &[high_b, a]);
        let both = self.either(&t::IADD, LONGS, &[first, second]);
        let upper = self.op(&t::SHL, LONGS, &[both, half]);
        let lower = self.either(&t::MUL_LOW_HALVES, LONGS, &[a, b]);
        self.either(&t::IADD, LONGS, &[lower, upper])
    }

    /// The larger of 8-byte integers, or the smaller.
    pub(super) fn extreme_longs(&mut self, a: ValueId, b: ValueId, kind: Kind, largest: bool) -> ValueId {
        let greater = self.greater(a, b, kind, LONGS);
        let (no, yes) = if largest { (b, a) } else { (a, b) };
        self.blend(greater, no, yes, LONGS)
    }

    /// All bits of the lanes that are negative 8-byte integers.
    fn negative(&mut self, a: ValueId) -> ValueId {
        let zero = self.constant(0, LONGS);
        self.op(&t::GREATER, LONGS, &[zero, a])
    }

    pub(super) fn absolute_longs(&mut self, a: ValueId) -> ValueId {
        let negative = self.negative(a);
        let turned = self.either(&t::XOR, LONGS, &[a, negative]);
        self.op(&t::ISUB, LONGS, &[turned, negative])
    }

    /// Shifts signed 8-byte integers to the right.
    pub(super) fn shift_signed_longs(&mut self, a: ValueId, count: ValueId) -> ValueId {
        let negative = self.negative(a);
        let turned = self.either(&t::XOR, LONGS, &[a, negative]);
        let shifted = self.op(&t::SHR, LONGS, &[turned, count]);
        self.either(&t::XOR, LONGS, &[shifted, negative])
    }

    /// Unsigned 4-byte integers as 4-byte floats: halves of 16 bits are exact, and their sum rounds once.
    pub(super) fn words_to_floats(&mut self, a: ValueId, width: LaneLayout) -> ValueId {
        let count = self.constant(16, width);
        let low = self.constant(0xffff, width);
        let upper = self.op(&t::SHR, width, &[a, count]);
        let lower = self.either(&t::AND, width, &[a, low]);
        let [upper, lower] = [upper, lower].map(|half| self.op(&t::FROM_INT, width, &[half]));
        let factor = self.number(DType::F32, 65536.0, width);
        let upper = self.either(&t::MUL, width, &[upper, factor]);
        self.either(&t::ADD, width, &[upper, lower])
    }

    /// 8-byte integers as 8-byte floats: either half is exact, and their sum rounds once.
    pub(super) fn longs_to_floats(&mut self, a: ValueId, kind: Kind) -> ValueId {
        let bias = if kind == Kind::Int { TWO_84_AND_63 } else { TWO_84 };
        let (count, half) = (self.constant(32, LONGS), self.constant(0xffff_ffff, LONGS));
        let upper = self.op(&t::SHR, LONGS, &[a, count]);
        let bias_bits = self.constant(bias, LONGS);
        let upper = self.either(&t::XOR, LONGS, &[upper, bias_bits]);
        let both = f64::from_bits(bias) + f64::from_bits(TWO_52);
        let both = self.number(DType::F64, both, LONGS);
        let upper = self.op(&t::SUB, LONGS, &[upper, both]);
        let lower = self.either(&t::AND, LONGS, &[a, half]);
        let bits = self.constant(TWO_52, LONGS);
        let lower = self.either(&t::OR, LONGS, &[lower, bits]);
        self.either(&t::ADD, LONGS, &[upper, lower])
    }

    /// 4-byte floats as unsigned 4-byte integers, which saturate; 0 of NaN.
    pub(super) fn floats_to_words(&mut self, a: ValueId, width: LaneLayout) -> ValueId {
        let (zero, sign) = (self.constant(0, width), self.constant(1 << 31, width));
        let half = self.number(DType::F32, f64::powi(2.0, 31), width);
        let most = self.number(DType::F32, f64::powi(2.0, 32), width);
        // The second operand if the first is NaN.
        let positive = self.op(&t::MAX, width, &[a, zero]);
        let upper = self.with(&t::COMPARE, width, &[positive, half], NOT_BELOW);
        let taken = self.either(&t::AND, width, &[upper, half]);
        let rest = self.op(&t::SUB, width, &[positive, taken]);
        let rest = self.op(&t::TO_INT, width, &[rest]);
        let bit = self.either(&t::AND, width, &[upper, sign]);
        let number = self.either(&t::XOR, width, &[rest, bit]);
        let beyond = self.with(&t::COMPARE, width, &[positive, most], NOT_BELOW);
        self.either(&t::OR, width, &[number, beyond])
    }

    /// 8-byte floats as unsigned 4-byte integers, which saturate; 0 of NaN.
    pub(super) fn doubles_to_words(&mut self, a: ValueId) -> ValueId {
        let zero = self.constant(0, LONGS);
        let most = self.number(DType::F64, f64::from(u32::MAX), LONGS);
        let positive = self.op(&t::MAX, LONGS, &[a, zero]);
        let within = self.op(&t::MIN, LONGS, &[positive, most]);
        let whole = self.with(&t::ROUND, LONGS, &[within], super::arithmetic::TO_ZERO);
        let bits = self.whole_bits(whole, f64::from_bits(TWO_52));
        self.low_halves(bits)
    }

    /// The bits of a whole float and of 2^52 (or somewhat more, for negative ones): its low 32 bits are the
    /// integer's.
    fn whole_bits(&mut self, whole: ValueId, bias: f64) -> ValueId {
        let bias = self.number(DType::F64, bias, LONGS);
        self.either(&t::ADD, LONGS, &[whole, bias])
    }

    /// 8-byte floats as 8-byte integers, which saturate; 0 of NaN.
    pub(super) fn doubles_to_longs(&mut self, a: ValueId, kind: Kind) -> ValueId {
        let signed = kind == Kind::Int;
        let limit = self.number(DType::F64, f64::powi(2.0, if signed { 63 } else { 64 }), LONGS);
        let least = self.number(DType::F64, if signed { -f64::powi(2.0, 63) } else { 0.0 }, LONGS);
        // The second operand if the first is NaN.
        let bounded = self.op(&t::MAX, LONGS, &[a, least]);
        let whole = self.with(&t::ROUND, LONGS, &[bounded], super::arithmetic::TO_ZERO);
        // Both halves are whole, and exact.
        let [down, up] = [-32, 32].map(|power| self.number(DType::F64, f64::powi(2.0, power), LONGS));
        let upper = self.either(&t::MUL, LONGS, &[whole, down]);
        let upper = self.with(&t::ROUND, LONGS, &[upper], super::arithmetic::DOWN);
        let scaled = self.either(&t::MUL, LONGS, &[upper, up]);
        let lower = self.op(&t::SUB, LONGS, &[whole, scaled]);
        let two_52 = f64::from_bits(TWO_52);
        let upper = self.whole_bits(upper, if signed { 1.5 * two_52 } else { two_52 });
        let lower = self.whole_bits(lower, two_52);
        let (count, half) = (self.constant(32, LONGS), self.constant(0xffff_ffff, LONGS));
        let upper = self.op(&t::SHL, LONGS, &[upper, count]);
        let lower = self.either(&t::AND, LONGS, &[lower, half]);
        let number = self.either(&t::OR, LONGS, &[upper, lower]);
        let beyond = self.compare_floats(a, limit, LONGS, NOT_BELOW);
        let most = self.constant(if signed { u64::MAX >> 1 } else { u64::MAX }, LONGS);
        let number = self.blend(beyond, number, most, LONGS);
        if !signed {
            return number;
        }
        let is_number = self.compare_floats(a, a, LONGS, ORDERED);
        self.only_where(is_number, number, LONGS)
    }

    /// Unsigned 4-byte integers as 8-byte floats.
    pub(super) fn words_to_doubles(&mut self, a: ValueId) -> ValueId {
        let longs = self.convert(Code::VEX_Vpmovzxdq_ymm_xmmm128, LONGS, a, LastOperand::Memory);
        let (bits, bias) =
            (self.constant(TWO_52, LONGS), self.number(DType::F64, f64::from_bits(TWO_52), LONGS));
        let biased = self.either(&t::OR, LONGS, &[longs, bits]);
        self.op(&t::SUB, LONGS, &[biased, bias])
    }
}
