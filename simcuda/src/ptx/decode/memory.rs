//! Loads and stores.

use super::{Body, Instruction, Operand, Parsed, exactly, mismatch, unknown};
use crate::ptx::program::{At, Op, Space, Vector, Width};
use crate::ptx::types::{Class, Type};

/// The modifiers of an access.
struct Access {
    space: StateSpace,
    cached: bool,
    count: u8,
    kind: Type,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum StateSpace {
    Param,
    Global,
    Shared,
}

impl<'a> Body<'a> {
    pub(super) fn load(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        if let Some((acquires, kind)) = strong(instruction, "acquire")? {
            let (to, at) = self.strong_operands(instruction)?;
            let (d, register) = self.loaded(to, kind)?;
            self.push(Op::StrongLoad { at, value: width(kind, register), d, acquires });
            return Ok(());
        }
        let access = self.access(instruction, &["cs", "cg"])?;
        let [to, from] = exactly(instruction)?;
        let Operand::Address(base, offset) = from else {
            return Err(format!("expected an address in brackets, not {from:?}"));
        };
        if access.space == StateSpace::Param {
            return self.load_param(&access, to, base, *offset);
        }
        let at = self.at(access.space, base, *offset)?;
        let (d, register) = self.elements(to, &access, Body::loaded)?;
        let from = match (access.space, access.cached) {
            (StateSpace::Shared, _) => Space::Shared,
            (_, true) => Space::Constant,
            (_, false) => Space::Global,
        };
        self.push(Op::Load { from, at, value: width(access.kind, register), d });
        Ok(())
    }

    /// The value and the address of a strong load or store.
    fn strong_operands<'o>(&mut self, instruction: &Instruction<'a, 'o>) -> Parsed<(&'o Operand<'a>, At)> {
        match (instruction.name, instruction.operands) {
            ("ld", [value, Operand::Address(base, offset)])
            | ("st", [Operand::Address(base, offset), value]) => {
                Ok((value, self.at(StateSpace::Global, base, *offset)?))
            }
            _ => Err(unknown(instruction)),
        }
    }

    fn load_param(&mut self, access: &Access, to: &Operand<'a>, base: &'a str, offset: i32) -> Parsed<()> {
        if base != self.block {
            // A register that holds an address of the parameter's space.
            if self.array(base).is_some() || !base.starts_with('%') {
                return Err(format!("`{base}` is not the parameter `{}`", self.block));
            }
            let at = self.at(access.space, base, offset)?;
            let (d, register) = self.loaded(to, access.kind)?;
            self.push(Op::ParamAt { d, at, value: width(access.kind, register) });
            return Ok(());
        }
        let offset = u32::try_from(offset).map_err(|_| "a parameter's offset is not negative".to_string())?;
        let (d, register) = self.loaded(to, access.kind)?;
        self.push(Op::Param { d, offset, value: width(access.kind, register) });
        Ok(())
    }

    pub(super) fn store(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        if let Some((releases, kind)) = strong(instruction, "release")? {
            let (from, at) = self.strong_operands(instruction)?;
            let (a, register) = self.stored(from, kind)?;
            self.push(Op::StrongStore { at, value: width(kind, register), a, releases });
            return Ok(());
        }
        let access = self.access(instruction, &["cs", "cg", "wt"])?;
        let [to, from] = exactly(instruction)?;
        let Operand::Address(base, offset) = to else {
            return Err(format!("expected an address in brackets, not {to:?}"));
        };
        if access.space == StateSpace::Param || access.cached {
            return Err(unknown(instruction));
        }
        let at = self.at(access.space, base, *offset)?;
        let (a, register) = self.elements(from, &access, Body::stored)?;
        let to = match access.space {
            StateSpace::Shared => Space::Shared,
            StateSpace::Param | StateSpace::Global => Space::Global,
        };
        self.push(Op::Store { to, at, value: width(access.kind, register), a });
        Ok(())
    }

    /// `cp.async.cg.shared.global [to], [from], bytes;` and what waits for such copies.
    pub(super) fn copy(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let bytes: &[i128] = match (instruction.modifiers, instruction.operands) {
            (["async", "commit_group"], []) => {
                self.push(Op::Commit);
                return Ok(());
            }
            (["async", "wait_group"], [Operand::Integer(groups)]) => {
                let but = u32::try_from(*groups).map_err(|_| "a number of groups is not negative")?;
                self.push(Op::WaitCopies { but: Some(but) });
                return Ok(());
            }
            (["async", "wait_all"], []) => {
                self.push(Op::WaitCopies { but: None });
                return Ok(());
            }
            (["async", "cg", "shared", "global"], _) => &[16],
            (["async", "ca", "shared", "global"], _) => &[4, 8, 16],
            _ => return Err(unknown(instruction)),
        };
        let [Operand::Address(to, to_offset), Operand::Address(from, from_offset), Operand::Integer(n)] =
            exactly(instruction)?
        else {
            return Err(unknown(instruction));
        };
        if !bytes.contains(n) {
            return Err(format!("this copy moves {bytes:?} bytes, not {n}"));
        }
        let to = self.at(StateSpace::Shared, to, *to_offset)?;
        let from = self.at(StateSpace::Global, from, *from_offset)?;
        self.push(Op::Copy { to, from, bytes: *n as u8 });
        Ok(())
    }

    /// Reads modifiers, in the order of the contract: space, `.nc`, caching, vector, type.
    fn access(&self, instruction: &Instruction, hints: &[&str]) -> Parsed<Access> {
        let none = || unknown(instruction);
        let (space, rest) = instruction.modifiers.split_first().ok_or_else(none)?;
        let (space, global) = match *space {
            "param" => (StateSpace::Param, false),
            "global" => (StateSpace::Global, true),
            "shared" => (StateSpace::Shared, false),
            _ => return Err(none()),
        };
        let take = |rest: &mut &[&str], found: bool| {
            *rest = &rest[found as usize..];
            found
        };
        let mut rest = rest;
        let first = rest.first().is_some_and(|word| global && *word == "nc");
        let cached = take(&mut rest, first);
        let hint = rest.first().copied().filter(|word| global && hints.contains(word));
        take(&mut rest, hint.is_some());
        let no_allocate = rest.first() == Some(&"L1::no_allocate") && global && hint.is_none();
        if take(&mut rest, no_allocate) && self.header.version < 74 {
            return Err("`.L1::no_allocate` needs PTX 7.4".into());
        }
        let count = match rest.first() {
            Some(&"v2") if space != StateSpace::Param => 2,
            Some(&"v4") if space != StateSpace::Param => 4,
            _ => 1,
        };
        take(&mut rest, count > 1);
        let kind = match rest {
            [kind] => Type::named(kind).filter(|kind| {
                !matches!(kind, Type::Pred | Type::F16 | Type::BF16 | Type::F16X2 | Type::BF16X2)
            }),
            _ => None,
        };
        let kind = kind.ok_or_else(none)?;
        if kind.bits() * count as u32 > 128 {
            return Err(format!("an access has at most 16 bytes, not {count} of .{}", kind.name()));
        }
        Ok(Access { space, cached, count, kind })
    }

    pub(super) fn at(&mut self, space: StateSpace, base: &'a str, offset: i32) -> Parsed<At> {
        if let Some(start) = self.array(base).map(|array| array.start) {
            if space != StateSpace::Shared {
                return Err(format!("`{base}` lies in another memory"));
            }
            return Ok(At { base: self.constant(start as u64), offset });
        }
        let register = self.any_register(base)?;
        let integer = !matches!(register.kind.class(), Class::Float | Class::Pred);
        let wide = match space {
            StateSpace::Shared => register.kind.bits() >= 32,
            StateSpace::Param | StateSpace::Global => register.kind.bits() == 64,
        };
        if integer && wide {
            Ok(At { base: register.place, offset })
        } else {
            Err(format!("register `{base}` is .{}, which holds no address here", register.kind.name()))
        }
    }

    /// The slots of an access's values, and the type of their registers.
    fn elements(
        &mut self,
        operand: &Operand<'a>,
        access: &Access,
        one: impl Fn(&mut Body<'a>, &Operand<'a>, Type) -> Parsed<(u32, Type)>,
    ) -> Parsed<(Vector, Type)> {
        let elements = match operand {
            Operand::Vector(elements) if access.count > 1 => elements.as_slice(),
            single if access.count == 1 => std::slice::from_ref(single),
            other => return Err(format!("expected a vector of {}, not {other:?}", access.count)),
        };
        if elements.len() != access.count as usize {
            return Err(format!("expected {} values, not {}", access.count, elements.len()));
        }
        let mut places = [0; 4];
        let mut register = access.kind;
        for (at, element) in elements.iter().enumerate() {
            let (place, kind) = one(self, element, access.kind)?;
            if at > 0 && kind.bits() != register.bits() {
                return Err("a vector's registers are of one width".into());
            }
            (places[at], register) = (place, kind);
        }
        Ok((Vector { count: access.count, places }, register))
    }

    fn loaded(&mut self, operand: &Operand<'a>, kind: Type) -> Parsed<(u32, Type)> {
        match operand {
            Operand::Name(name) => {
                let register = self.any_register(name)?;
                let fits = kind.accepts_wider(register.kind);
                if fits {
                    Ok((register.place, register.kind))
                } else {
                    Err(mismatch(name, register.kind, kind))
                }
            }
            other => Err(format!("a load goes to a register, not {other:?}")),
        }
    }

    fn stored(&mut self, operand: &Operand<'a>, kind: Type) -> Parsed<(u32, Type)> {
        match operand {
            Operand::Name(_) => self.loaded(operand, kind),
            number => Ok((self.source(number, kind)?, kind)),
        }
    }
}

pub(super) fn width(kind: Type, register: Type) -> Width {
    Width { bytes: (kind.bits() / 8) as u8, signed: kind.is_signed(), register: register.bits() as u8 }
}

/// Of `ld` or `st`, whether it is strong: whether it acquires or releases (`order`), and its type.
fn strong(instruction: &Instruction, order: &str) -> Parsed<Option<(bool, Type)>> {
    let (orders, kind) = match instruction.modifiers {
        [first, "gpu" | "sys", "global", kind] if *first == order => (true, kind),
        ["relaxed", "gpu" | "sys", "global", kind] | ["volatile", "global", kind] => (false, kind),
        [first, ..] if *first == order || matches!(*first, "relaxed" | "volatile") => {
            return Err(unknown(instruction));
        }
        _ => return Ok(None),
    };
    let kind = Type::named(kind).filter(|kind| kind.bits() >= 8 && kind.class() != Class::Packed);
    kind.map(|kind| Some((orders, kind))).ok_or_else(|| unknown(instruction))
}
