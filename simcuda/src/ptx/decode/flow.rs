//! Instructions that leave the straight line, or wait for other threads.

use super::{Body, Instruction, Operand, Parsed, exactly, unknown};
use crate::ptx::program::{Op, ShuffleMode};
use crate::ptx::types::Type;

impl<'a> Body<'a> {
    pub(super) fn branch(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        match instruction.modifiers {
            [] | ["uni"] => {}
            _ => return Err(unknown(instruction)),
        }
        let [Operand::Name(label)] = exactly(instruction)? else {
            return Err("a branch goes to a label".into());
        };
        self.branches.push((self.code.len(), self.line, label));
        self.push(Op::Branch { to: 0 });
        Ok(())
    }

    pub(super) fn leave(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let [] = exactly(instruction)?;
        if !instruction.modifiers.is_empty() {
            return Err(unknown(instruction));
        }
        self.push(Op::Exit);
        Ok(())
    }

    pub(super) fn barrier(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        match (instruction.modifiers, instruction.operands) {
            (["sync"], [Operand::Integer(0)]) => {
                self.push(Op::Barrier);
                Ok(())
            }
            _ => Err(format!("{}: only `bar.sync 0` is", unknown(instruction))),
        }
    }

    /// `shfl.sync.MODE.b32 d|p, a, b, c, mask;`
    pub(super) fn shuffle(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let mode = match instruction.modifiers {
            ["sync", "up", "b32"] => ShuffleMode::Up,
            ["sync", "down", "b32"] => ShuffleMode::Down,
            ["sync", "bfly", "b32"] => ShuffleMode::Butterfly,
            ["sync", "idx", "b32"] => ShuffleMode::Index,
            _ => return Err(unknown(instruction)),
        };
        let [to, a, b, c, mask] = exactly(instruction)?;
        let (d, p) = match to {
            Operand::Pair(d, p) => (self.register(d, Type::B32)?, Some(self.register(p, Type::Pred)?)),
            single => (self.result(single, Type::B32)?, None),
        };
        let a = self.source(a, Type::B32)?;
        let (b, c) = (self.source(b, Type::U32)?, self.source(c, Type::U32)?);
        let mask = self.source(mask, Type::U32)?;
        self.push(Op::Shuffle { mode, d, p, a, b, c, mask });
        Ok(())
    }

    /// `vote.sync.ballot.b32 d, p, mask;` and `match.any.sync.b32 d, a, mask;`
    pub(super) fn lanes(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let (mode, kind) = match (instruction.name, instruction.modifiers) {
            ("vote", ["sync", "ballot", "b32"]) => (ShuffleMode::Ballot, Type::Pred),
            ("match", ["any", "sync", "b32"]) => (ShuffleMode::Match, Type::B32),
            _ => return Err(unknown(instruction)),
        };
        let [to, a, mask] = exactly(instruction)?;
        let (d, a) = (self.result(to, Type::B32)?, self.source(a, kind)?);
        let (mask, none) = (self.source(mask, Type::U32)?, self.constant(0));
        self.push(Op::Shuffle { mode, d, p: None, a, b: none, c: none, mask });
        Ok(())
    }

    pub(super) fn active_mask(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let ["b32"] = instruction.modifiers else {
            return Err(unknown(instruction));
        };
        let [to] = exactly(instruction)?;
        let d = self.result(to, Type::B32)?;
        self.push(Op::ActiveMask { d });
        Ok(())
    }
}
