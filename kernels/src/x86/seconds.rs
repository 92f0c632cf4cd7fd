//! Rows of which every second element is seen: read by two registers whose elements are put together, and
//! written under a mask, so that those between keep their values. What lies between may be read with the
//! rest, but nothing behind the last element: the second register of a block begins where the first one's
//! last element is, which lies between.

use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};

use super::allocate::LANES;
use super::encode::{Block, ELSEWHERE, ELSEWHERE_LOW, INDEX, POOL, Writer};
use super::select::{ARGUMENTS, EVENS, Selection};
use super::steps::{Class, Home, Id, Last, Step, Stored};
use super::table::{self as t, Width};

/// The first of a block's two registers, and the second.
pub(super) const HALVES: [usize; 2] = [0, 1];

impl Selection<'_> {
    /// The lanes of a row of seconds, from so many bytes behind a pointer on.
    pub(super) fn load_seconds(&mut self, pointer: usize, bytes: i32, width: Width) -> Id {
        let class = Class::Vector(width);
        let [low, high] = HALVES.map(|half| self.at_home(class, Home::Seconds { pointer, bytes, half }));
        let known = |step: &&Step| step.args.first() == Some(&low) && step.last == Last::Register;
        if let Some(step) = self.steps.body.iter().find(known) {
            return step.dst;
        }
        let lanes = self.steps.lanes as u64;
        // Of both registers, whose lanes are numbered one after the other.
        let evens = (0..lanes).map(|n| if 2 * n < lanes { 2 * n } else { 2 * n + 1 });
        let evens = self.numbers(evens.collect(), width);
        let step =
            Step { last: Last::Register, tied: true, ..self.step(&t::PERMUTE2, width, &[low, evens, high]) };
        self.push(step)
    }

    /// What both registers of a row of seconds hold if a value's lanes are written there.
    pub(super) fn store_seconds(
        &mut self,
        value: Id,
        pointer: usize,
        bytes: i32,
        width: Width,
    ) -> [Stored; 2] {
        let lanes = self.steps.lanes as u64;
        HALVES.map(|half| {
            let places = (0..lanes).map(|n| (n + half as u64 * (lanes - 1)) / 2);
            let places = self.numbers(places.collect(), width);
            let value = self.op(&t::PERMUTE, width, &[places, value]);
            Stored { value, home: Home::Seconds { pointer, bytes, half } }
        })
    }

    /// A number for each lane.
    fn numbers(&mut self, lanes: Vec<u64>, width: Width) -> Id {
        let words: Vec<u64> = match width {
            Width::Longs => lanes,
            Width::Words | Width::HalfWords => lanes.chunks(2).map(|two| two[0] | two[1] << 32).collect(),
        };
        // Not among the arguments, whose words are empty yet.
        let first = ARGUMENTS + self.kernel.arguments.len();
        let known = self.steps.pool[first..].windows(words.len()).position(|known| known == words);
        let at = known.map_or(self.steps.pool.len(), |n| first + n);
        if known.is_none() {
            self.steps.pool.extend(words);
        }
        self.at_home(Class::Vector(width), Home::Lanes(at))
    }
}

type Written = Result<(), IcedError>;

impl Writer<'_> {
    /// Selects, of one of a block's two registers, the lanes that are elements of the block.
    pub(super) fn select_seconds(&mut self, half: usize) -> Written {
        let low = ELSEWHERE_LOW;
        self.put(&Instruction::with2(Code::VEX_Kmovw_r32_kr, low, LANES)?)?;
        let evens = MemoryOperand::with_base_displ(POOL, 8 * EVENS as i64);
        self.put(&Instruction::with3(Code::VEX_Pdep_r32_r32_rm32, low, low, evens)?)?;
        if half > 0 {
            let first = self.steps.lanes as i32 - 1;
            self.put(&Instruction::with2(Code::Shr_rm32_imm8, low, first)?)?;
        }
        self.put(&Instruction::with2(Code::VEX_Kmovw_kr_r32, LANES, low)?)
    }

    /// Selects the lanes of a block again.
    pub(super) fn select_block(&mut self, block: Block) -> Written {
        match block {
            Block::Whole | Block::Stream => self.select_all(),
            Block::Part => self.select_part(),
        }
    }

    /// Where one of a block's two registers is.
    pub(super) fn seconds(
        &mut self,
        pointer: usize,
        bytes: i32,
        half: usize,
        size: u32,
    ) -> Result<(Register, u32, i64), IcedError> {
        let bytes = i64::from(bytes) + (half * (self.steps.lanes - 1)) as i64 * i64::from(size);
        let base = self.pointer(pointer)?;
        if size < 8 {
            return Ok((base, 2 * size, bytes));
        }
        // There is no scale of 16.
        let once = MemoryOperand::with_base_index_scale(base, INDEX, 8);
        self.put(&Instruction::with2(Code::Lea_r64_m, ELSEWHERE, once)?)?;
        Ok((ELSEWHERE, 8, bytes))
    }
}
