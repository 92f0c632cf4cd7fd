//! Atomic operations and fences, through which threads of different blocks meet. Their scope is the device's,
//! or the system's.

use super::memory::{StateSpace, width};
use super::{Body, Instruction, Operand, Parsed, unknown};
use crate::ptx::program::{Change, Op, Space};
use crate::ptx::semantics::{Function, Semantics, logic, rule};
use crate::ptx::types::{Class, Type};

impl<'a> Body<'a> {
    /// `atom{.sem}{.scope}.space.op.type d, [a], b{, c};`, and `red` without `d`.
    pub(super) fn change(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let none = || unknown(instruction);
        let (acquires, releases, rest) = match instruction.modifiers {
            ["relaxed", rest @ ..] => (false, false, rest),
            ["acquire", rest @ ..] if instruction.name == "atom" => (true, false, rest),
            ["release", rest @ ..] => (false, true, rest),
            ["acq_rel", rest @ ..] if instruction.name == "atom" => (true, true, rest),
            rest => (false, false, rest),
        };
        let named = rest.len() < instruction.modifiers.len();
        let (space, operation, kind) = match rest {
            ["gpu" | "sys", "global", operation, kind] => (Space::Global, *operation, *kind),
            ["global", operation, kind] if !named => (Space::Global, *operation, *kind),
            ["shared", operation, kind] if !named => (Space::Shared, *operation, *kind),
            _ => return Err(none()),
        };
        let kind = Type::named(kind).filter(|kind| kind.bits() >= 32).ok_or_else(none)?;
        let f = atomic(operation, kind).ok_or_else(none)?;
        let (to, operands) = match (instruction.name, instruction.operands) {
            ("atom", [to, rest @ ..]) => (Some(to), rest),
            ("red", rest) if !matches!(operation, "exch" | "cas") => (None, rest),
            _ => return Err(none()),
        };
        let (base, offset, values) = match operands {
            [Operand::Address(base, offset), values @ ..]
                if values.len() == 1 + usize::from(operation == "cas") =>
            {
                (*base, *offset, values)
            }
            _ => return Err(none()),
        };
        let state = if space == Space::Shared { StateSpace::Shared } else { StateSpace::Global };
        let at = self.at(state, base, offset)?;
        let d = to.map(|to| self.result(to, kind)).transpose()?;
        let b = self.source(&values[0], kind)?;
        let c = values.get(1).map_or(Ok(b), |value| self.source(value, kind))?;
        let value = width(kind, kind);
        self.push(Op::Change(Change { space, at, value, d, f, b, c, acquires, releases }));
        Ok(())
    }

    /// `fence.acq_rel.gpu;` and `membar.gl;`
    pub(super) fn fence(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        match (instruction.name, instruction.modifiers, instruction.operands) {
            ("fence", ["acq_rel" | "sc", "gpu" | "sys"], []) | ("membar", ["gl" | "sys"], []) => {
                self.push(Op::Fence);
                Ok(())
            }
            _ => Err(unknown(instruction)),
        }
    }
}

/// What memory becomes: of integers and bits alone, whose order does not matter or is part of the program.
fn atomic(operation: &str, kind: Type) -> Option<Function> {
    match (operation, kind.class()) {
        ("exch", Class::Bits) => Some(|_, b, _| b),
        ("cas", Class::Bits) => Some(|old, b, c| if old == b { c } else { old }),
        ("and" | "or" | "xor", Class::Bits) => logic(operation),
        ("add" | "min" | "max", Class::Unsigned)
        | ("min" | "max", Class::Signed)
        | ("add", Class::Signed)
            if kind != Type::S64 || operation != "add" =>
        {
            match rule(operation, &[], kind)?.semantics {
                Semantics::Total(f) => Some(f),
                Semantics::Partial(_) => None,
            }
        }
        _ => None,
    }
}
