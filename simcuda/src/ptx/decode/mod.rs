//! One body on its way from statements to steps: its names, its slots and the checks of operands. The
//! instructions themselves are in the modules below.

mod atomic;
mod compute;
mod flow;
mod memory;

use super::lexer::Wrong;
use super::program::{Array, Entry, Guard, Op, Place, SPECIALS, Slot, Space, Step, Threads};
use super::types::{Class, Header, Type};
use std::collections::HashMap;

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand<'a> {
    Name(&'a str),
    /// `d|p`
    Pair(&'a str, &'a str),
    Integer(i128),
    Single(u32),
    Double(u64),
    Address(&'a str, i32),
    Vector(Vec<Operand<'a>>),
}

/// An instruction as written.
pub(crate) struct Instruction<'a, 'i> {
    pub line: u32,
    pub name: &'a str,
    pub modifiers: &'i [&'a str],
    pub operands: &'i [Operand<'a>],
    /// A predicate, and whether it is negated.
    pub guard: Option<(&'a str, bool)>,
}

#[derive(Clone, Copy)]
struct Register {
    place: Place,
    kind: Type,
}

/// A body while it is read.
pub(crate) struct Body<'a> {
    header: Header,
    block: &'a str,
    params: u32,
    /// Declared names; of `%f<8>` the prefix and the count.
    singles: HashMap<&'a str, Type>,
    ranges: HashMap<&'a str, (u64, Type)>,
    /// Registers that some instruction named; only these have slots.
    used: HashMap<&'a str, Register>,
    constants: HashMap<u64, Place>,
    arrays: Vec<Array>,
    labels: HashMap<&'a str, u32>,
    /// Branches to labels: the step, its line, the label.
    branches: Vec<(usize, u32, &'a str)>,
    slots: Vec<Slot>,
    code: Vec<Step>,
    lines: Vec<u32>,
    /// Of the instruction that is being read.
    line: u32,
    guard: Guard,
}

type Parsed<T> = Result<T, String>;

impl<'a> Body<'a> {
    pub(crate) fn new(header: Header, block: &'a str, params: u32) -> Body<'a> {
        Body {
            header,
            block,
            params,
            singles: HashMap::new(),
            ranges: HashMap::new(),
            used: HashMap::new(),
            constants: HashMap::new(),
            arrays: Vec::new(),
            labels: HashMap::new(),
            branches: Vec::new(),
            slots: vec![Slot::Special; SPECIALS.len()],
            code: Vec::new(),
            lines: Vec::new(),
            line: 0,
            guard: Guard::Always,
        }
    }

    pub(crate) fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// Declares one register, or `count` numbered ones.
    pub(crate) fn declare(&mut self, name: &'a str, count: Option<u64>, kind: Type) -> Parsed<()> {
        let known = match count {
            None => self.is_taken(name) || self.singles.insert(name, kind).is_some(),
            Some(_) if name.ends_with(|c: char| c.is_ascii_digit()) => {
                return Err(format!("`{name}<>`: a numbered register's name may not end with a digit"));
            }
            Some(count) => self.ranges.insert(name, (count, kind)).is_some(),
        };
        if known { Err(format!("`{name}` is declared twice")) } else { Ok(()) }
    }

    pub(crate) fn share(&mut self, name: &'a str, array: Array) -> Parsed<()> {
        if self.is_taken(name) {
            return Err(format!("`{name}` is declared twice"));
        }
        self.arrays.push(array);
        Ok(())
    }

    fn is_taken(&self, name: &str) -> bool {
        self.kind_of(name).is_some() || self.array(name).is_some() || name == self.block
    }

    pub(crate) fn label(&mut self, name: &'a str) -> Parsed<()> {
        if name.contains(['.', '%', ':']) {
            return Err(format!("`{name}` is no name for a label"));
        }
        match self.labels.insert(name, self.code.len() as u32) {
            Some(_) => Err(format!("label `{name}` stands here twice")),
            None => Ok(()),
        }
    }

    pub(crate) fn instruction(&mut self, instruction: &Instruction<'a, '_>) -> Parsed<()> {
        self.line = instruction.line;
        self.guard = match instruction.guard {
            None => Guard::Always,
            Some((name, negated)) => {
                let place = self.register(name, Type::Pred)?;
                if negated { Guard::Unless(place) } else { Guard::If(place) }
            }
        };
        match instruction.name {
            "ld" => self.load(instruction),
            "st" => self.store(instruction),
            "cp" => self.copy(instruction),
            "bra" => self.branch(instruction),
            "ret" | "exit" => self.leave(instruction),
            "bar" => self.barrier(instruction),
            "shfl" => self.shuffle(instruction),
            "vote" | "match" => self.lanes(instruction),
            "atom" | "red" => self.change(instruction),
            "fence" | "membar" => self.fence(instruction),
            "activemask" => self.active_mask(instruction),
            _ => self.compute(instruction),
        }
    }

    /// The finished entry; its name and threads are left to the caller.
    pub(crate) fn finish(mut self) -> Result<Entry, Wrong> {
        // Running over the end is leaving.
        self.guard = Guard::Always;
        self.push(Op::Exit);
        for (step, line, label) in &self.branches {
            let to = *self.labels.get(label).ok_or_else(|| (*line, format!("no label `{label}`")))?;
            self.code[*step].does = Op::Branch { to };
        }
        let waits = |step: &Step| matches!(step.does, Op::Barrier | Op::Shuffle { .. });
        Ok(Entry {
            name: String::new(),
            params: self.params,
            threads: Threads::Any,
            shared: self.arrays,
            waits: self.code.iter().any(waits),
            meets: self.code.iter().any(|step| match step.does {
                Op::StrongLoad { .. } | Op::StrongStore { .. } | Op::Fence => true,
                Op::Change(change) => change.space == Space::Global,
                _ => false,
            }),
            code: self.code,
            lines: self.lines,
            slots: self.slots,
        })
    }

    fn push(&mut self, does: Op) {
        self.code.push(Step { guard: self.guard, does });
        self.lines.push(self.line);
    }

    fn slot(&mut self, slot: Slot) -> Place {
        self.slots.push(slot);
        (self.slots.len() - 1) as Place
    }

    /// A slot for a value between two steps of one instruction.
    fn temporary(&mut self, kind: Type) -> Place {
        self.slot(Slot::Register(kind))
    }

    fn constant(&mut self, value: u64) -> Place {
        if let Some(place) = self.constants.get(&value) {
            return *place;
        }
        let place = self.slot(Slot::Constant(value));
        self.constants.insert(value, place);
        place
    }

    fn array(&self, name: &str) -> Option<&Array> {
        self.arrays.iter().find(|array| array.name == name)
    }

    /// The type of a declared register.
    fn kind_of(&self, name: &str) -> Option<Type> {
        if let Some(kind) = self.singles.get(name) {
            return Some(*kind);
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &name[prefix.len()..];
        let (count, kind) = self.ranges.get(prefix)?;
        let canonical = number == "0" || !number.starts_with('0');
        (canonical && number.parse::<u64>().ok()? < *count).then_some(*kind)
    }

    fn any_register(&mut self, name: &'a str) -> Parsed<Register> {
        if let Some(register) = self.used.get(name) {
            return Ok(*register);
        }
        let kind = self.kind_of(name).ok_or_else(|| format!("no register `{name}` is declared"))?;
        let register = Register { place: self.slot(Slot::Register(kind)), kind };
        self.used.insert(name, register);
        Ok(register)
    }

    /// The slot of a register that an instruction uses as `kind`.
    fn register(&mut self, name: &'a str, kind: Type) -> Parsed<Place> {
        let register = self.any_register(name)?;
        if kind.accepts(register.kind) {
            Ok(register.place)
        } else {
            Err(mismatch(name, register.kind, kind))
        }
    }

    fn result(&mut self, operand: &Operand<'a>, kind: Type) -> Parsed<Place> {
        match operand {
            Operand::Name(name) => self.register(name, kind),
            other => Err(format!("the result must be a register, not {other:?}")),
        }
    }

    /// The slot of an operand that is read as `kind`: a register or a number.
    fn source(&mut self, operand: &Operand<'a>, kind: Type) -> Parsed<Place> {
        match operand {
            Operand::Name(name) => self.register(name, kind),
            number => {
                let value = number_bits(number, kind)?;
                Ok(self.constant(value))
            }
        }
    }
}

fn mismatch(name: &str, register: Type, wanted: Type) -> String {
    format!("register `{name}` is .{}, which does not serve as .{}", register.name(), wanted.name())
}

/// A number as bits of type `kind`. PTX would cut what does not fit; here it is refused.
fn number_bits(operand: &Operand, kind: Type) -> Parsed<u64> {
    let bits = kind.bits();
    match (operand, kind.class()) {
        (Operand::Integer(value), Class::Pred) => match value {
            0 | 1 => Ok(*value as u64),
            _ => Err(format!("{value} is no predicate")),
        },
        (Operand::Integer(value), Class::Bits | Class::Unsigned | Class::Signed) => {
            let fits = *value >= -(1 << (bits - 1)) && *value < 1 << bits;
            if fits {
                Ok(*value as u64 & kind.mask())
            } else {
                Err(format!("{value} does not fit .{}", kind.name()))
            }
        }
        (Operand::Single(value), Class::Bits | Class::Float) if bits == 32 => Ok(*value as u64),
        (Operand::Double(value), Class::Bits | Class::Float) if bits == 64 => Ok(*value),
        (other, _) => Err(format!("{other:?} does not serve as .{}", kind.name())),
    }
}

/// An instruction's operands, if there are `N` of them.
fn exactly<'o, 'a, const N: usize>(instruction: &Instruction<'a, 'o>) -> Parsed<&'o [Operand<'a>; N]> {
    instruction
        .operands
        .try_into()
        .map_err(|_| format!("`{}` takes {N} operands, not {}", instruction.name, instruction.operands.len()))
}

/// The type that a list of modifiers ends with, and the modifiers before it.
fn typed<'a, 'i>(instruction: &Instruction<'a, 'i>) -> Parsed<(&'i [&'a str], Type)> {
    let kind = instruction.modifiers.split_last().and_then(|(last, rest)| Some((rest, Type::named(last)?)));
    kind.ok_or_else(|| unknown(instruction))
}

fn unknown(instruction: &Instruction) -> String {
    let modifiers: String = instruction.modifiers.iter().flat_map(|modifier| [".", modifier]).collect();
    format!("`{}{modifiers}` is no instruction of this subset", instruction.name)
}
