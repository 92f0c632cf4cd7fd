//! Folds within the loop over blocks: values are combined in adjacent pairs, level by level, as
//! [`crate::interpret`] defines.
//!
//! Values go to the lowest level of a tree in memory ([`FoldMemory`]). When a level is full, as many
//! registers as these have lanes, they are folded to one register, which goes to the next level. Where the
//! lowest level is empty, so many blocks are folded without it. When a result is due, what is missing of each
//! level is neutral. So values that follow each other fold together wherever rows end.

use iced_x86::{Code, Instruction, Register};

use super::assembler::{
    Assembler, BlockKind, ELSEWHERE, Encoded, FILL, INDEX, LAST, LEVEL, Label, PART, memory,
};
use super::encodings::{self as t, at};
use super::registers::{AllocatedCode, AllocatedFold, AllocatedSection};
use super::target::{FoldMemory, IsaLevel, words};
use super::virtual_code::{RegisterClass, Section, VirtualFold, register};

/// A word of a level, or of the first one.
fn level_word(base: Register, word: usize) -> iced_x86::MemoryOperand {
    memory(base, 8 * word as i64)
}

impl Assembler<'_> {
    pub(super) fn begin_fold(&mut self) -> Encoded {
        self.word(LEVEL, words::FOLD)?;
        self.put(&Instruction::with2(Code::Mov_r64_rm64, FILL, level_word(LEVEL, FoldMemory::COUNT))?)
    }

    pub(super) fn end_fold(&mut self) -> Encoded {
        self.put(&Instruction::with2(Code::Mov_rm64_r64, level_word(LEVEL, FoldMemory::COUNT), FILL)?)
    }

    /// The blocks of a row.
    pub(super) fn folded_blocks(
        &mut self,
        allocated: &AllocatedCode,
        fold: &VirtualFold,
        registers: &AllocatedFold,
    ) -> Encoded {
        let (lanes, full) = (self.steps.lanes as i32, fold.memory.full() as i32);
        self.put(&Instruction::with2(Code::Xor_r64_rm64, INDEX, INDEX)?)?;
        self.word(LAST, words::LANES)?;
        self.put(&Instruction::with2(Code::Sub_rm64_imm8, LAST, lanes)?)?;
        self.label(Label::Main);
        let level_is_full = match (&fold.group, &registers.group) {
            (Some(group), Some(placed)) => Some(self.groups(fold, group, placed)?),
            _ => None,
        };
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, INDEX, LAST)?)?;
        let rest = self.forward(Code::Jg_rel32_64)?;
        let top = self.at;
        self.body(allocated, BlockKind::Whole)?;
        self.stores(&self.steps.body, &allocated.body, BlockKind::Whole)?;
        self.put(&Instruction::with2(Code::Add_rm64_imm8, INDEX, lanes)?)?;
        self.put(&Instruction::with2(Code::Add_rm64_imm8, FILL, lanes)?)?;
        self.put(&Instruction::with2(Code::Cmp_rm64_imm32, FILL, full)?)?;
        let flush = self.forward(Code::Jge_rel32_64)?;
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, INDEX, LAST)?)?;
        self.put(&Instruction::with_branch(Code::Jle_rel32_64, top as u64)?)?;
        self.land(rest);
        self.put(&Instruction::with2(Code::Lea_r64_m, PART, memory(LAST, i64::from(lanes)))?)?;
        self.put(&Instruction::with2(Code::Sub_r64_rm64, PART, INDEX)?)?;
        self.jump(Code::Je_rel32_64, Label::Next)?;
        self.select_part()?;
        self.body(allocated, BlockKind::Partial)?;
        self.stores(&self.steps.body, &allocated.body, BlockKind::Whole)?;
        // It was negated with AVX2.
        let add = match self.steps.level {
            IsaLevel::Avx512 => Code::Add_r64_rm64,
            IsaLevel::Avx2 => Code::Sub_r64_rm64,
        };
        self.put(&Instruction::with2(add, INDEX, PART)?)?;
        self.put(&Instruction::with2(add, FILL, PART)?)?;
        self.put(&Instruction::with2(Code::Cmp_rm64_imm32, FILL, full)?)?;
        self.jump(Code::Jl_rel32_64, Label::Next)?;
        self.land(flush);
        self.flush(fold, registers, level_is_full)?;
        self.label(Label::Next);
        self.result(fold, registers)
    }

    /// Groups of blocks while the lowest level is empty; the jumps from where the next level is full.
    fn groups(
        &mut self,
        fold: &VirtualFold,
        group: &Section,
        placed: &AllocatedSection,
    ) -> Result<usize, iced_x86::IcedError> {
        let full = fold.memory.full() as i32;
        self.put(&Instruction::with2(Code::Test_rm64_r64, FILL, FILL)?)?;
        let filled = self.forward(Code::Jne_rel32_64)?;
        let top = self.at;
        let last = i64::from(self.steps.lanes as i32 - full);
        self.put(&Instruction::with2(Code::Lea_r64_m, ELSEWHERE, memory(LAST, last))?)?;
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, INDEX, ELSEWHERE)?)?;
        let few = self.forward(Code::Jg_rel32_64)?;
        for instruction in &placed.instructions {
            self.instruction(instruction, BlockKind::Whole)?;
        }
        self.put(&Instruction::with2(Code::Add_rm64_imm32, INDEX, full)?)?;
        self.append(fold, group, placed)?;
        self.put(&Instruction::with2(Code::Cmp_rm64_imm32, FILL, full)?)?;
        let level_is_full = self.forward(Code::Jge_rel32_64)?;
        self.put(&Instruction::with2(Code::Mov_rm64_r64, level_word(LEVEL, FoldMemory::COUNT), FILL)?)?;
        self.put(&Instruction::with2(Code::Mov_r64_rm64, LEVEL, ELSEWHERE)?)?;
        self.put(&Instruction::with2(Code::Xor_r64_rm64, FILL, FILL)?)?;
        self.put(&Instruction::with_branch(Code::Jmp_rel32_64, top as u64)?)?;
        self.land(filled);
        self.land(few);
        Ok(level_is_full)
    }

    /// Writes a section's registers behind the values of the next level, which is the level then. The first
    /// level is `ELSEWHERE` then.
    fn append(&mut self, fold: &VirtualFold, section: &Section, placed: &AllocatedSection) -> Encoded {
        let bytes = fold.memory.level_bytes as i32;
        self.put(&Instruction::with2(Code::Add_rm64_imm32, LEVEL, bytes)?)?;
        self.put(&Instruction::with2(Code::Mov_r64_rm64, FILL, level_word(LEVEL, FoldMemory::COUNT))?)?;
        self.stores(section, placed, BlockKind::Whole)?;
        self.put(&Instruction::with2(Code::Add_rm64_imm8, FILL, self.steps.lanes as i32)?)?;
        self.word(ELSEWHERE, words::FOLD)?;
        let top = level_word(ELSEWHERE, FoldMemory::TOP);
        self.put(&Instruction::with2(Code::Cmp_rm64_r64, top, LEVEL)?)?;
        let lower = self.forward(Code::Jae_rel32_64)?;
        self.put(&Instruction::with2(Code::Mov_rm64_r64, top, LEVEL)?)?;
        self.land(lower);
        Ok(())
    }

    /// Folds the lowest level, which is full, and every level that becomes full by that.
    fn flush(
        &mut self,
        fold: &VirtualFold,
        registers: &AllocatedFold,
        level_is_full: Option<usize>,
    ) -> Encoded {
        let full = fold.memory.full() as i32;
        let count = level_word(LEVEL, FoldMemory::COUNT);
        self.put(&Instruction::with2(Code::Sub_rm64_imm32, FILL, full)?)?;
        self.put(&Instruction::with2(Code::Mov_rm64_r64, count, FILL)?)?;
        let again = self.at;
        self.section(&registers.tree)?;
        self.append(fold, &fold.tree, &registers.tree)?;
        // Values beyond the lowest level's are the beginning of its next ones.
        for (&(first, size), store) in fold.memory.values.iter().zip(&registers.tree.stored) {
            let (RegisterClass::Vector(width), below) = (store.class, fold.memory.level_bytes) else {
                unreachable!("numbers are folded")
            };
            let scratch = register(store.class, 0, self.steps.level);
            let to = first as i64 - below as i64;
            let from = memory(LEVEL, to + (fold.memory.full() * size) as i64);
            let (load, write) =
                (at(&t::LOAD, width, self.steps.level), at(&t::STORE, width, self.steps.level));
            self.put(&Instruction::with2(load, scratch, from)?)?;
            self.put(&Instruction::with2(write, memory(LEVEL, to), scratch)?)?;
        }
        self.put(&Instruction::with2(Code::Cmp_rm64_imm32, FILL, full)?)?;
        let done = self.forward(Code::Jl_rel32_64)?;
        if let Some(end) = level_is_full {
            self.land(end);
        }
        self.put(&Instruction::with2(Code::Mov_rm64_imm32, count, 0)?)?;
        self.put(&Instruction::with_branch(Code::Jmp_rel32_64, again as u64)?)?;
        self.land(done);
        self.put(&Instruction::with2(Code::Mov_rm64_r64, count, FILL)?)?;
        self.put(&Instruction::with2(Code::Mov_r64_rm64, LEVEL, ELSEWHERE)?)?;
        self.put(&Instruction::with2(Code::Mov_r64_rm64, FILL, count)?)?;
        self.jump(Code::Jmp_rel32_64, Label::Main)
    }

    /// Behind a row: folds the whole tree to a result per fold, if they are due, and empties it.
    fn result(&mut self, fold: &VirtualFold, registers: &AllocatedFold) -> Encoded {
        let count = level_word(LEVEL, FoldMemory::COUNT);
        let lanes = self.steps.lanes as i32;
        self.word(ELSEWHERE, words::FOLD)?;
        self.word(PART, words::ROWS)?;
        let due = level_word(ELSEWHERE, FoldMemory::DUE);
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, PART, due)?)?;
        let not_due = self.forward(Code::Ja_rel32_64)?;

        let level = self.at;
        self.word(ELSEWHERE, words::FOLD)?;
        let top = level_word(ELSEWHERE, FoldMemory::TOP);
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, LEVEL, top)?)?;
        let is_top = self.forward(Code::Je_rel32_64)?;
        self.put(&Instruction::with2(Code::Test_rm64_r64, FILL, FILL)?)?;
        let empty = self.forward(Code::Je_rel32_64)?;
        self.fill(fold, registers)?;
        self.section(&registers.tree)?;
        self.append(fold, &fold.tree, &registers.tree)?;
        let next = self.forward(Code::Jmp_rel32_64)?;
        self.land(empty);
        let bytes = fold.memory.level_bytes as i32;
        self.put(&Instruction::with2(Code::Add_rm64_imm32, LEVEL, bytes)?)?;
        self.put(&Instruction::with2(Code::Mov_r64_rm64, FILL, count)?)?;
        self.land(next);
        self.put(&Instruction::with2(Code::Mov_rm64_imm32, count, 0)?)?;
        self.put(&Instruction::with_branch(Code::Jmp_rel32_64, level as u64)?)?;

        self.land(is_top);
        self.put(&Instruction::with2(Code::Cmp_rm64_imm8, FILL, lanes)?)?;
        let many = self.forward(Code::Jg_rel32_64)?;
        self.neutral(fold, registers)?;
        let one = self.forward(Code::Jmp_rel32_64)?;
        self.land(many);
        self.fill(fold, registers)?;
        self.section(&registers.tree)?;
        self.put(&Instruction::with2(Code::Xor_r64_rm64, FILL, FILL)?)?;
        self.stores(&fold.tree, &registers.tree, BlockKind::Whole)?;
        self.land(one);
        self.section(&registers.last)?;
        self.stores(&fold.last, &registers.last, BlockKind::Whole)?;
        self.word(ELSEWHERE, words::FOLD)?;
        for (n, &(first, size)) in fold.memory.values.iter().enumerate() {
            let result = level_word(ELSEWHERE, FoldMemory::RESULTS + n);
            let from = memory(LEVEL, first as i64);
            let (load, store, value) = match size {
                8 => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, LAST),
                _ => (Code::Mov_r32_rm32, Code::Mov_rm32_r32, Register::R9D),
            };
            self.put(&Instruction::with2(Code::Mov_r64_rm64, PART, result)?)?;
            self.put(&Instruction::with2(load, value, from)?)?;
            self.put(&Instruction::with2(store, memory(PART, 0), value)?)?;
            self.put(&Instruction::with2(Code::Add_rm64_imm8, result, size as i32)?)?;
        }
        self.put(&Instruction::with2(Code::Mov_r64_rm64, LEVEL, ELSEWHERE)?)?;
        self.put(&Instruction::with2(Code::Xor_r64_rm64, FILL, FILL)?)?;
        self.put(&Instruction::with2(Code::Mov_rm64_r64, count, FILL)?)?;
        self.put(&Instruction::with2(Code::Mov_rm64_r64, top, LEVEL)?)?;
        self.land(not_due);
        Ok(())
    }

    fn section(&mut self, placed: &AllocatedSection) -> Encoded {
        placed.instructions.iter().try_for_each(|instruction| self.instruction(instruction, BlockKind::Whole))
    }

    /// A register of neutral elements behind a level's values.
    fn neutral(&mut self, fold: &VirtualFold, registers: &AllocatedFold) -> Encoded {
        self.section(&registers.neutral)?;
        self.stores(&fold.neutral, &registers.neutral, BlockKind::Whole)
    }

    /// Fills a level up with neutral elements.
    fn fill(&mut self, fold: &VirtualFold, registers: &AllocatedFold) -> Encoded {
        let full = fold.memory.full() as i32;
        self.put(&Instruction::with2(Code::Cmp_rm64_imm32, FILL, full)?)?;
        let done = self.forward(Code::Jge_rel32_64)?;
        let top = self.at;
        self.neutral(fold, registers)?;
        self.put(&Instruction::with2(Code::Add_rm64_imm8, FILL, self.steps.lanes as i32)?)?;
        self.put(&Instruction::with2(Code::Cmp_rm64_imm32, FILL, full)?)?;
        self.put(&Instruction::with_branch(Code::Jl_rel32_64, top as u64)?)?;
        self.land(done);
        Ok(())
    }
}
