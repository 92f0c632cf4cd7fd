//! Partial blocks with AVX2, at the ends of rows: masked loads and stores of numbers, byte by byte of bools.
//!
//! The register that no value has holds the mask, and then the operand. While a partial block runs, `PART` is
//! the negated number of its lanes, which addresses the mask in the pool.

use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};

use super::assembler::{Assembler, Encoded, PART, POOL, scale};
use super::encodings::{self as t, LaneLayout, at};
use super::select::WINDOW;
use super::target::IsaLevel;
use super::virtual_code::{Home, RegisterClass, register};

impl Assembler<'_> {
    /// Reads the lanes of a partial block of an array (AVX2).
    pub(super) fn load_part(&mut self, home: Home, class: RegisterClass) -> Result<Register, IcedError> {
        let scratch = self.scratch(class);
        let from = self.memory(home, class, false)?;
        match class {
            RegisterClass::Vector(width) => {
                self.part_mask(width)?;
                let code = at(&t::MASKED_LOAD, width, IsaLevel::Avx2);
                self.put(&Instruction::with3(code, scratch, scratch, from)?)?;
            }
            RegisterClass::Bytes | RegisterClass::Mask => {
                let clear = Code::VEX_Vpxor_xmm_xmm_xmmm128;
                self.put(&Instruction::with3(clear, scratch, scratch, scratch)?)?;
                self.each_byte(from, |from, n| {
                    Instruction::with4(Code::VEX_Vpinsrb_xmm_xmm_r32m8_imm8, scratch, scratch, from, n)
                })?;
            }
        }
        Ok(scratch)
    }

    /// Writes the lanes of a partial block to an array (AVX2).
    pub(super) fn store_part(&mut self, to: MemoryOperand, value: Register, class: RegisterClass) -> Encoded {
        match class {
            RegisterClass::Vector(width) => {
                let scratch = self.part_mask(width)?;
                let code = at(&t::MASKED_STORE, width, IsaLevel::Avx2);
                self.put(&Instruction::with3(code, to, scratch, value)?)
            }
            RegisterClass::Bytes | RegisterClass::Mask => {
                self.each_byte(to, |to, n| Instruction::with3(Code::VEX_Vpextrb_r32m8_xmm_imm8, to, value, n))
            }
        }
    }

    /// The register that no value has (AVX2).
    fn scratch(&self, class: RegisterClass) -> Register {
        register(class, self.steps.level.registers(), self.steps.level)
    }

    /// The lanes of a partial block as a mask, which ends the ones of the window (AVX2).
    pub(super) fn part_mask(&mut self, width: LaneLayout) -> Result<Register, IcedError> {
        let class = RegisterClass::Vector(width);
        let ends = 8 * WINDOW as i64 + 32;
        let window = MemoryOperand::new(POOL, PART, scale(class), ends, 1, false, Register::None);
        let code = at(&t::LOAD, width, IsaLevel::Avx2);
        let scratch = self.scratch(class);
        self.put(&Instruction::with2(code, scratch, window)?)?;
        Ok(scratch)
    }

    /// An instruction for each byte of a partial block (AVX2).
    fn each_byte(
        &mut self,
        first: MemoryOperand,
        instruction: impl Fn(MemoryOperand, i32) -> Result<Instruction, IcedError>,
    ) -> Encoded {
        let mut ends = Vec::new();
        for n in 0..self.steps.lanes as i32 {
            if n > 0 {
                self.put(&Instruction::with2(Code::Cmp_rm64_imm8, PART, -n)?)?;
                ends.push(self.forward(Code::Jge_rel32_64)?);
            }
            let mut byte = first;
            byte.displacement += i64::from(n);
            byte.displ_size = 1;
            self.put(&instruction(byte, n)?)?;
        }
        ends.into_iter().for_each(|end| self.land(end));
        Ok(())
    }
}
