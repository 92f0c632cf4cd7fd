//! Instructions that only compute: arithmetic, logic, comparisons, conversions and moves.

use super::{Body, Instruction, Operand, Parsed, exactly, mismatch, typed, unknown};
use crate::ptx::program::{Op, Place, SPECIALS};
use crate::ptx::semantics::{Function, Semantics, comparison, conversion, logic, rule};
use crate::ptx::types::{Class, Type};

impl<'a> Body<'a> {
    pub(super) fn compute(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        match (instruction.name, instruction.operands) {
            ("setp", _) => self.compare(instruction),
            ("cvt", _) => self.convert(instruction),
            ("cvta", _) => self.address_to_global(instruction),
            ("mov", [to, Operand::Vector(from)]) => self.pack(instruction, to, from),
            ("mov", [Operand::Vector(to), from]) => self.unpack(instruction, to, from),
            // The parameter is at the beginning of its own space.
            ("mov", [to, Operand::Name(name)]) if self.array(name).is_some() || *name == self.block => {
                self.address_of(instruction, to, name)
            }
            ("mov", [to, Operand::Name(name)]) if SPECIALS.contains(name) => {
                self.special(instruction, to, name)
            }
            _ => self.plain(instruction),
        }
    }

    fn emit(&mut self, f: Function, d: Place, [a, b, c]: [Place; 3]) {
        self.push(Op::Compute { f, d, a, b, c });
    }

    fn plain(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let (modifiers, kind) = typed(instruction)?;
        self.allow_bf16x2(instruction.name, kind)?;
        let rule = rule(instruction.name, modifiers, kind).ok_or_else(|| unknown(instruction))?;
        let (first, rest) = match instruction.operands.split_first() {
            Some((first, rest)) if rest.len() == rule.operands.len() => (first, rest),
            _ => {
                let count = rule.operands.len() + 1;
                return Err(format!("`{}` takes {count} operands", instruction.name));
            }
        };
        let d = self.result(first, rule.result)?;
        let mut places = [0; 3];
        for ((place, operand), kind) in places.iter_mut().zip(rest).zip(&rule.operands) {
            *place = self.source(operand, *kind)?;
        }
        match rule.semantics {
            Semantics::Total(f) => self.emit(f, d, places),
            Semantics::Partial(f) => self.push(Op::Divide { f, d, a: places[0], b: places[1] }),
        }
        Ok(())
    }

    /// `setp.CMP.T p, a, b;` or `setp.CMP.BOOL.T p|q, a, b, c;`
    fn compare(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let (modifiers, kind) = typed(instruction)?;
        let (name, join) = match modifiers {
            [name] => (*name, None),
            [name, join] => (*name, Some(logic(join).ok_or_else(|| unknown(instruction))?)),
            _ => return Err(unknown(instruction)),
        };
        let f = comparison(name, kind).ok_or_else(|| unknown(instruction))?;
        let (to, a, b, c) = match (instruction.operands, join) {
            ([to, a, b], None) => (to, a, b, None),
            ([to, a, b, c], Some(join)) => (to, a, b, Some((join, c))),
            _ => return Err("setp takes p, a, b and, with a boolean operation, one predicate".into()),
        };
        let (a, b) = (self.source(a, kind)?, self.source(b, kind)?);
        let joined = match c {
            Some((join, c)) => Some((join, self.source(c, Type::Pred)?)),
            None => None,
        };
        match to {
            Operand::Pair(p, q) => {
                let (p, q) = (self.register(p, Type::Pred)?, self.register(q, Type::Pred)?);
                self.compare_both(f, [a, b], joined, [p, q])
            }
            single => {
                let p = self.result(single, Type::Pred)?;
                self.compare_one(f, [a, b], joined, p);
            }
        }
        Ok(())
    }

    fn compare_one(&mut self, f: Function, [a, b]: [Place; 2], joined: Option<(Function, Place)>, p: Place) {
        match joined {
            None => self.emit(f, p, [a, b, 0]),
            Some((join, c)) => {
                let met = self.temporary(Type::Pred);
                self.emit(f, met, [a, b, 0]);
                self.emit(join, p, [met, c, 0]);
            }
        }
    }

    /// Both results come last and together: either may be an operand, or the guard.
    fn compare_both(
        &mut self,
        f: Function,
        [a, b]: [Place; 2],
        joined: Option<(Function, Place)>,
        pq: [Place; 2],
    ) {
        let (met, unmet) = (self.temporary(Type::Pred), self.temporary(Type::Pred));
        self.emit(f, met, [a, b, 0]);
        self.emit(|a, _, _| a ^ 1, unmet, [met, 0, 0]);
        if let Some((join, c)) = joined {
            self.emit(join, met, [met, c, 0]);
            self.emit(join, unmet, [unmet, c, 0]);
        }
        self.push(Op::Moves { d: pq[0], e: pq[1], a: met, b: unmet });
    }

    fn convert(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        let [to, from] = exactly(instruction)?;
        let (modifiers, to_kind, from_kind) = match instruction.modifiers {
            [modifiers @ .., to, from] => (modifiers, Type::named(to), Type::named(from)),
            _ => return Err(unknown(instruction)),
        };
        let (Some(to_kind), Some(from_kind)) = (to_kind, from_kind) else {
            return Err(unknown(instruction));
        };
        self.allow_bf16(to_kind, from_kind)?;
        let (d, register) = match to {
            Operand::Name(name) => {
                let register = self.any_register(name)?;
                if !to_kind.accepts_wider(register.kind) {
                    return Err(mismatch(name, register.kind, to_kind));
                }
                (register.place, register.kind)
            }
            other => return Err(format!("the result must be a register, not {other:?}")),
        };
        let a = match from {
            Operand::Name(name) if SPECIALS.contains(name) => special_place(name),
            Operand::Name(name) => self.wide_register(name, from_kind)?,
            number => self.source(number, from_kind)?,
        };
        let conversion =
            conversion(modifiers, to_kind, from_kind, register).ok_or_else(|| unknown(instruction))?;
        let order = self.constant(conversion.order);
        self.emit(conversion.function, d, [a, order, 0]);
        Ok(())
    }

    /// `bf16` came to `cvt` step by step.
    fn allow_bf16(&self, to: Type, from: Type) -> Parsed<()> {
        let target = self.header.target;
        match (to, from) {
            (_, Type::BF16) => Err("conversions from bf16 are not in this subset: shift by 16".into()),
            (Type::BF16, Type::F32) if target < 80 => {
                Err(format!("cvt to bf16 needs sm_80, not sm_{target}"))
            }
            _ => Ok(()),
        }
    }

    /// `fma` on two bf16 came before `add`, `sub` and `mul`.
    fn allow_bf16x2(&self, name: &str, kind: Type) -> Parsed<()> {
        let (target, version) = if name == "fma" { (80, 70) } else { (90, 78) };
        let header = &self.header;
        let early = kind == Type::BF16X2 && (header.target < target || header.version < version);
        if early {
            return Err(format!("{name} of bf16x2 needs sm_{target} and PTX {version}"));
        }
        Ok(())
    }

    /// A register that may be wider than the value read from it.
    pub(super) fn wide_register(&mut self, name: &'a str, kind: Type) -> Parsed<Place> {
        let register = self.any_register(name)?;
        let fits = kind.accepts_wider(register.kind);
        if fits { Ok(register.place) } else { Err(mismatch(name, register.kind, kind)) }
    }

    fn address_to_global(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        match instruction.modifiers {
            ["to", "global", "u64"] => {}
            _ => return Err(unknown(instruction)),
        }
        let [to, from] = exactly(instruction)?;
        let d = self.result(to, Type::U64)?;
        let a = match from {
            Operand::Name(name) => self.register(name, Type::U64)?,
            other => return Err(format!("cvta converts a register, not {other:?}")),
        };
        self.emit(|a, _, _| a, d, [a, 0, 0]);
        Ok(())
    }

    /// The type of a move that packs `count` values, and of those values.
    fn packing(&self, instruction: &Instruction, count: usize) -> Parsed<(Type, Type)> {
        match (instruction.modifiers, count) {
            (["b32"], 2) => Ok((Type::B32, Type::B16)),
            (["b64"], 2) => Ok((Type::B64, Type::B32)),
            (["b64"], 4) => Ok((Type::B64, Type::B16)),
            _ => Err(format!("{}: no packing of {count} values", unknown(instruction))),
        }
    }

    /// PTX wants the elements of a vector in a move to be of one class.
    fn one_class(&mut self, elements: &[Operand<'a>]) -> Parsed<()> {
        let mut classes = Vec::new();
        for element in elements {
            if let Operand::Name(name) = element {
                classes.push(self.any_register(name)?.kind);
            }
        }
        match classes.windows(2).all(|pair| pair[0] == pair[1]) {
            true => Ok(()),
            false => Err("a move's vector holds registers of one type".into()),
        }
    }

    fn pack(
        &mut self,
        instruction: &Instruction<'a, '_>,
        to: &Operand<'a>,
        from: &[Operand<'a>],
    ) -> Parsed<()> {
        let (whole, part) = self.packing(instruction, from.len())?;
        self.one_class(from)?;
        let d = self.result(to, whole)?;
        let mut places = Vec::new();
        for element in from {
            places.push(self.source(element, part)?);
        }
        let join: Function = match part.bits() {
            16 => |a, b, _| a | b << 16,
            _ => |a, b, _| a | b << 32,
        };
        match places[..] {
            [a, b] => self.emit(join, d, [a, b, 0]),
            [a, b, c, e] => {
                let low = self.temporary(Type::B32);
                self.emit(join, low, [a, b, 0]);
                self.emit(|low, c, e| low | c << 32 | e << 48, d, [low, c, e]);
            }
            _ => return Err(unknown(instruction)),
        }
        Ok(())
    }

    fn unpack(
        &mut self,
        instruction: &Instruction<'a, '_>,
        to: &[Operand<'a>],
        from: &Operand<'a>,
    ) -> Parsed<()> {
        let (whole, part) = self.packing(instruction, to.len())?;
        self.one_class(to)?;
        let a = match from {
            Operand::Name(name) => self.register(name, whole)?,
            other => return Err(format!("a register is unpacked, not {other:?}")),
        };
        for (at, element) in (0..).zip(to) {
            let d = self.result(element, part)?;
            let by = self.constant(at * part.bits() as u64);
            let f: Function = match part.bits() {
                16 => |a, by, _| (a >> by) as u16 as u64,
                _ => |a, by, _| (a >> by) as u32 as u64,
            };
            self.emit(f, d, [a, by, 0]);
        }
        Ok(())
    }

    /// `mov.u32 d, name;` of a shared array, or of the parameter.
    fn address_of(&mut self, instruction: &Instruction<'a, '_>, to: &Operand<'a>, name: &str) -> Parsed<()> {
        let (modifiers, kind) = typed(instruction)?;
        let address =
            matches!(kind.class(), Class::Bits | Class::Unsigned | Class::Signed) && kind.bits() >= 32;
        if !address || !modifiers.is_empty() {
            return Err(format!("an address is no .{}", kind.name()));
        }
        let d = self.result(to, kind)?;
        let start = self.array(name).map_or(0, |array| array.start as u64);
        let a = self.constant(start);
        self.emit(|a, _, _| a, d, [a, 0, 0]);
        Ok(())
    }

    /// `mov.u32 d, %tid.x;`
    fn special(&mut self, instruction: &Instruction<'a, '_>, to: &Operand<'a>, name: &str) -> Parsed<()> {
        let (modifiers, kind) = typed(instruction)?;
        if !Type::U32.accepts(kind) || !modifiers.is_empty() {
            return Err(format!("`{name}` is .u32, not .{}", kind.name()));
        }
        let d = self.result(to, kind)?;
        self.emit(|a, _, _| a, d, [special_place(name), 0, 0]);
        Ok(())
    }
}

fn special_place(name: &str) -> Place {
    SPECIALS.iter().position(|known| *known == name).unwrap_or(0) as Place
}
