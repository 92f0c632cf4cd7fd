//! Register allocation for straight-line code: when registers run out, the value whose next use is furthest
//! away is spilled (Belady). It runs between instruction selection and assembly.
//!
//! Values that are the same in every block are computed once per row and kept in the frame; registers that
//! the body leaves free hold the most used of them.

use iced_x86::{Code, Register};

use super::encodings::{self as t, at};
use super::target::IsaLevel;
use super::virtual_code::{
    Home, LastOperand, RegisterClass, Section, ValueId, VectorStore, VirtualCode, VirtualInstruction,
    VirtualValue, register,
};

/// `k0` cannot select lanes, `k1` selects those of a partial block.
const FIRST_MASK: usize = 2;
/// Set in the lanes of the block.
pub(super) const LANES: Register = Register::K1;
const MASKS: usize = 8;

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MachineOperand {
    Register(Register),
    /// Memory of a value of this class.
    Memory(Home, RegisterClass),
    /// One element of memory for all lanes.
    Broadcast(Home, RegisterClass),
    /// The number of the block's first lane.
    Index,
}

/// An instruction with its registers. Only what is stored has memory as its destination.
#[derive(Clone, Debug)]
pub(super) struct AllocatedInstruction {
    pub code: Code,
    pub dst: MachineOperand,
    pub args: Vec<MachineOperand>,
    pub immediate: Option<u8>,
    pub mask: Option<Register>,
    pub zeroing: bool,
    /// The code returns if the result is set in any lane.
    pub guard: bool,
}

impl AllocatedInstruction {
    /// Moves an operand to another.
    pub(super) fn moved(code: Code, dst: MachineOperand, from: MachineOperand) -> AllocatedInstruction {
        AllocatedInstruction {
            code,
            dst,
            args: vec![from],
            immediate: None,
            mask: None,
            zeroing: false,
            guard: false,
        }
    }

    /// Does it read an array?
    pub(super) fn reads_array(&self) -> bool {
        self.args.iter().any(|arg| matches!(arg, MachineOperand::Memory(Home::Array { .. }, _)))
    }
}

/// A value that is stored, in its register.
pub(super) struct StoreRegister {
    /// The instructions that read it again from the frame, when the stores before it are done.
    pub reloads: Vec<AllocatedInstruction>,
    pub register: Register,
    pub class: RegisterClass,
}

/// A section with its registers.
pub(super) struct AllocatedSection {
    pub instructions: Vec<AllocatedInstruction>,
    /// Per store, what it writes.
    pub stored: Vec<StoreRegister>,
}

/// See [`VirtualFold`].
pub(super) struct AllocatedFold {
    pub group: Option<AllocatedSection>,
    pub neutral: AllocatedSection,
    pub tree: AllocatedSection,
    pub last: AllocatedSection,
}

/// A body with its registers.
pub(super) struct AllocatedCode {
    /// Once per row, or per group of them.
    pub prologue: Vec<AllocatedInstruction>,
    /// Once per block.
    pub body: AllocatedSection,
    pub fold: Option<AllocatedFold>,
    /// Registers' worth of memory in the frame.
    pub slots: usize,
}

impl AllocatedCode {
    /// The cost of a block's loads and spills: a register that is not aligned counts two, since it mostly
    /// lies in two lines; constants, which each row reads, little.
    pub(super) fn reads(&self) -> f64 {
        let cost = |operand: &MachineOperand| match operand {
            MachineOperand::Memory(Home::Array { .. }, _) => 2.0,
            MachineOperand::Memory(Home::Slot(_), _) => 1.0,
            MachineOperand::Memory(..) | MachineOperand::Broadcast(..) => 0.5,
            MachineOperand::Register(_) | MachineOperand::Index => 0.0,
        };
        self.body
            .instructions
            .iter()
            .flat_map(|placed| placed.args.iter().chain([&placed.dst]))
            .map(cost)
            .sum()
    }
}

/// Gives registers to a body.
pub(super) fn allocate(steps: &VirtualCode) -> AllocatedCode {
    let mut values = steps.values.clone();
    let mut slots = 0;
    // Values that are the same in every block are computed once and go to the frame.
    let mut prologue = Allocator::new(steps.level, &steps.prologue, &[], values, slots, &[]);
    prologue.keeps = true;
    for (n, step) in steps.prologue.iter().enumerate() {
        prologue.step(n, step);
    }
    (values, slots) = (prologue.values, prologue.slots);
    let mut most_slots = slots;
    let mut placed = prologue.placed;
    // Whatever registers the body and its stores leave free hold what they read most often of the rest.
    let needed = |section: &Section| {
        let mut alone = allocated(steps.level, section, &values, slots, &[]);
        alone.stores(section);
        alone.most
    };
    let most = sections(steps).map(needed).max();
    let free = steps.level.registers().saturating_sub(most.unwrap_or(0));
    let residents = residents(steps, &values, free);
    for (n, &id) in residents.iter().enumerate() {
        let number = steps.level.registers() - 1 - n;
        let register = MachineOperand::Register(register(values[id].class, number, steps.level));
        placed.push(load(&values[id], register, steps.level));
    }
    let mut place = |section: &Section| {
        let mut section_allocator = allocated(steps.level, section, &values, slots, &residents);
        let stored = section_allocator.stores(section);
        most_slots = most_slots.max(section_allocator.slots);
        AllocatedSection { instructions: section_allocator.placed, stored }
    };
    let body = place(&steps.body);
    let fold = steps.fold.as_ref().map(|fold| AllocatedFold {
        group: fold.group.as_ref().map(&mut place),
        neutral: place(&fold.neutral),
        tree: place(&fold.tree),
        last: place(&fold.last),
    });
    AllocatedCode { prologue: placed, body, fold, slots: most_slots }
}

/// The sections of a block.
fn sections(steps: &VirtualCode) -> impl Iterator<Item = &Section> {
    let fold =
        steps.fold.iter().flat_map(|fold| fold.group.iter().chain([&fold.neutral, &fold.tree, &fold.last]));
    std::iter::once(&steps.body).chain(fold)
}

fn allocated(
    level: IsaLevel,
    section: &Section,
    values: &[VirtualValue],
    slots: usize,
    residents: &[ValueId],
) -> Allocator {
    let stores: Vec<ValueId> = section.stores.iter().map(|store| store.value).collect();
    let mut allocator =
        Allocator::new(level, &section.instructions, &stores, values.to_vec(), slots, residents);
    for (n, step) in section.instructions.iter().enumerate() {
        allocator.step(n, step);
    }
    allocator
}

/// The uniform vectors that the body reads, most often read first.
fn residents(steps: &VirtualCode, values: &[VirtualValue], free: usize) -> Vec<ValueId> {
    let mut uses = vec![0; values.len()];
    for section in sections(steps) {
        section.instructions.iter().flat_map(VirtualInstruction::reads).for_each(|id| uses[id] += 1);
        section.stores.iter().for_each(|store| uses[store.value] += 1);
    }
    let fits = |&id: &ValueId| {
        uses[id] > 0 && values[id].home.is_uniform() && matches!(values[id].class, RegisterClass::Vector(_))
    };
    let mut residents: Vec<ValueId> = (0..values.len()).filter(fits).collect();
    residents.sort_by_key(|&id| std::cmp::Reverse(uses[id]));
    residents.truncate(free);
    residents
}

/// Reads a value from its home.
fn load(value: &VirtualValue, to: MachineOperand, level: IsaLevel) -> AllocatedInstruction {
    let code = match value.class {
        RegisterClass::Vector(width) if value.home.is_broadcast() => at(&t::BROADCAST, width, level),
        RegisterClass::Vector(width) => at(&t::LOAD, width, level),
        RegisterClass::Bytes if level == IsaLevel::Avx2 => Code::VEX_Vmovdqu_xmm_xmmm128,
        RegisterClass::Bytes => Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128,
        RegisterClass::Mask => Code::VEX_Kmovw_kr_km16,
    };
    AllocatedInstruction::moved(code, to, MachineOperand::Memory(value.home, value.class))
}

/// Writes a register to the frame.
fn spill(class: RegisterClass, register: Register, slot: usize, level: IsaLevel) -> AllocatedInstruction {
    let code = match class {
        RegisterClass::Vector(width) => at(&t::STORE, width, level),
        RegisterClass::Bytes if level == IsaLevel::Avx2 => Code::VEX_Vmovdqu_xmmm128_xmm,
        RegisterClass::Bytes => Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm,
        RegisterClass::Mask => Code::VEX_Kmovw_m16_kr,
    };
    AllocatedInstruction::moved(
        code,
        MachineOperand::Memory(Home::Slot(slot), class),
        MachineOperand::Register(register),
    )
}

struct Allocator {
    level: IsaLevel,
    values: Vec<VirtualValue>,
    /// Per value, the steps that read it, the last first. Stores read behind the last step, one by one.
    uses: Vec<Vec<usize>>,
    register: Vec<Option<usize>>,
    /// Per register, the value in it: vectors, and masks.
    vectors: Vec<Option<ValueId>>,
    masks: [Option<ValueId>; MASKS],
    /// Registers from here on hold residents.
    residents: usize,
    /// Values that the step at hand needs where they are.
    locked: Vec<ValueId>,
    placed: Vec<AllocatedInstruction>,
    slots: usize,
    /// Every value goes to the frame.
    keeps: bool,
    /// The most vector registers that were in use at once.
    most: usize,
}

impl Allocator {
    fn new(
        level: IsaLevel,
        steps: &[VirtualInstruction],
        stores: &[ValueId],
        values: Vec<VirtualValue>,
        slots: usize,
        residents: &[ValueId],
    ) -> Self {
        let mut uses = vec![Vec::new(); values.len()];
        for (n, &id) in stores.iter().enumerate().rev() {
            uses[id].push(steps.len() + n);
        }
        for (n, step) in steps.iter().enumerate().rev() {
            step.reads().for_each(|id| uses[id].push(n));
        }
        let mut register = vec![None; values.len()];
        for (n, &id) in residents.iter().enumerate() {
            register[id] = Some(level.registers() - 1 - n);
        }
        Allocator {
            level,
            values,
            uses,
            register,
            vectors: vec![None; level.registers()],
            masks: [None; MASKS],
            residents: level.registers() - residents.len(),
            locked: Vec::new(),
            placed: Vec::new(),
            slots,
            keeps: false,
            most: 0,
        }
    }

    fn operand(&self, id: ValueId) -> Option<MachineOperand> {
        self.register[id]
            .map(|number| MachineOperand::Register(register(self.values[id].class, number, self.level)))
    }

    /// The next step after `at` that reads a value.
    fn next_use(&self, id: ValueId, at: usize) -> Option<usize> {
        self.uses[id].iter().rev().copied().find(|&n| n > at)
    }

    /// Ends the lives of values that no step after `at` reads.
    fn release(&mut self, ids: &[ValueId], at: usize) {
        for &id in ids {
            if self.next_use(id, at).is_none() {
                self.vacate(id);
            }
        }
    }

    fn is_resident(&self, id: ValueId) -> bool {
        !matches!(self.values[id].class, RegisterClass::Mask)
            && self.register[id].is_some_and(|number| number >= self.residents)
    }

    fn vacate(&mut self, id: ValueId) {
        if self.is_resident(id) {
            return;
        }
        if let Some(number) = self.register[id].take() {
            match self.values[id].class {
                RegisterClass::Mask => self.masks[number] = None,
                RegisterClass::Vector(_) | RegisterClass::Bytes => self.vectors[number] = None,
            }
        }
    }

    /// A register for a value, from another value if none is free.
    fn take(&mut self, id: ValueId, at: usize) -> MachineOperand {
        let class = self.values[id].class;
        let (file, range) = match class {
            RegisterClass::Mask => (&self.masks[..], FIRST_MASK..MASKS),
            RegisterClass::Vector(_) | RegisterClass::Bytes => (&self.vectors[..], 0..self.residents),
        };
        let number = match range.clone().find(|&number| file[number].is_none()) {
            Some(number) => number,
            None => {
                let held = range.filter_map(|number| Some((number, file[number]?)));
                let (number, other) = held
                    .filter(|(_, other)| !self.locked.contains(other))
                    .max_by_key(|&(_, other)| self.next_use(other, at).unwrap_or(usize::MAX))
                    .expect("an instruction has fewer operands than there are registers");
                self.evict(other);
                number
            }
        };
        match class {
            RegisterClass::Mask => self.masks[number] = Some(id),
            RegisterClass::Vector(_) | RegisterClass::Bytes => {
                self.vectors[number] = Some(id);
                self.most = self.most.max(self.vectors.iter().flatten().count());
            }
        }
        self.register[id] = Some(number);
        self.locked.push(id);
        MachineOperand::Register(register(class, number, self.level))
    }

    /// Takes a value's register, having kept what cannot be read elsewhere.
    fn evict(&mut self, id: ValueId) {
        self.keep(id);
        self.vacate(id);
    }

    /// Writes a value to the frame, unless it can be read elsewhere.
    fn keep(&mut self, id: ValueId) {
        let class = self.values[id].class;
        if let (Home::Nowhere, Some(number)) = (self.values[id].home, self.register[id]) {
            self.values[id].home = Home::Slot(self.slots);
            let register = register(class, number, self.level);
            self.placed.push(spill(class, register, self.slots, self.level));
            self.slots += 1;
        }
    }

    /// The register of a value, which is read from its home if it has none.
    fn ensure(&mut self, id: ValueId, at: usize) -> MachineOperand {
        self.locked.push(id);
        if let Some(operand) = self.operand(id) {
            return operand;
        }
        let operand = self.take(id, at);
        self.placed.push(load(&self.values[id], operand, self.level));
        operand
    }

    /// The last operand of a step, in memory if that serves.
    fn last(&mut self, id: ValueId, step: &VirtualInstruction, at: usize) -> MachineOperand {
        let VirtualValue { home, class, .. } = self.values[id];
        let broadcast = home.is_broadcast();
        // An array's lanes beyond a partial block may not be touched, and a mask can say only one thing.
        let masked = step.mask.is_some() && matches!(home, Home::Array { .. });
        let allowed = match step.last {
            LastOperand::Register => false,
            LastOperand::Memory => !broadcast && !masked,
            LastOperand::Element => !masked && (!broadcast || self.level == IsaLevel::Avx512),
        };
        let again = !home.is_uniform() || matches!(home, Home::Slot(_));
        let again = again && self.next_use(id, at).is_some();
        if self.register[id].is_some() || !allowed || again || home == Home::Nowhere {
            return self.ensure(id, at);
        }
        if broadcast { MachineOperand::Broadcast(home, class) } else { MachineOperand::Memory(home, class) }
    }

    fn step(&mut self, at: usize, step: &VirtualInstruction) {
        self.locked.clear();
        let mut args = step.args.clone();
        let ends = |this: &Self, id: ValueId| this.next_use(id, at).is_none();
        if step.swaps {
            let held = |id: ValueId| self.register[id].is_some();
            let swap = match (held(args[0]), held(args[1])) {
                // The one in memory last; a register that ends first, if it becomes the result.
                (false, true) => !step.tied,
                (true, true) => step.tied && !ends(self, args[0]) && ends(self, args[1]),
                (true, false) => false,
                (false, false) => !step.tied && ends(self, args[0]) && !ends(self, args[1]),
            };
            if swap {
                args.swap(0, 1);
            }
        }
        self.locked.extend(step.mask);
        self.locked.extend(args.iter().copied().filter(|&id| self.register[id].is_some()));
        let count = args.len();
        let mut operands: Vec<MachineOperand> = Vec::with_capacity(count);
        for (n, &id) in args.iter().enumerate() {
            let operand = if n + 1 == count { self.last(id, step, at) } else { self.ensure(id, at) };
            operands.push(operand);
        }
        if step.index {
            operands.push(MachineOperand::Index);
        }
        if step.guard && self.level == IsaLevel::Avx512 {
            operands.push(MachineOperand::Register(LANES));
        }
        let mask = step.mask.map(|id| self.ensure(id, at)).map(|operand| match operand {
            MachineOperand::Register(register) => register,
            MachineOperand::Memory(..) | MachineOperand::Broadcast(..) | MachineOperand::Index => {
                unreachable!("ensured operands are registers")
            }
        });
        let dst = if step.tied {
            self.tied(at, step, &args, &mut operands)
        } else {
            let reads: Vec<ValueId> = step.reads().collect();
            self.release(&reads, at);
            self.take(step.dst, at)
        };
        self.placed.push(AllocatedInstruction {
            code: step.code,
            dst,
            args: operands,
            immediate: step.immediate,
            mask,
            zeroing: step.zeroing,
            guard: step.guard,
        });
        if self.keeps {
            self.keep(step.dst);
        }
        self.release(&[step.dst], at);
    }

    /// The registers of what is stored, one value after the other: those that have none are read from the
    /// frame when earlier ones are written.
    fn stores(&mut self, section: &Section) -> Vec<StoreRegister> {
        let held = |(n, store): (usize, &VectorStore)| {
            self.locked.clear();
            let (at, first) = (section.instructions.len() + n, self.placed.len());
            self.ensure(store.value, at);
            let reloads = self.placed.split_off(first);
            let class = self.values[store.value].class;
            let number = self.register[store.value].expect("ensured");
            self.release(&[store.value], at);
            StoreRegister { reloads, register: register(class, number, self.level), class }
        };
        section.stores.iter().enumerate().map(held).collect()
    }

    /// The first operand's register, or a copy of it where it is needed again. It is no operand then.
    fn tied(
        &mut self,
        now: usize,
        step: &VirtualInstruction,
        args: &[ValueId],
        operands: &mut Vec<MachineOperand>,
    ) -> MachineOperand {
        let first = operands.remove(0);
        let again = args[1..].contains(&args[0]) || self.next_use(args[0], now).is_some();
        let dst = if again || self.is_resident(args[0]) {
            let copy = self.take(step.dst, now);
            let RegisterClass::Vector(width) = self.values[step.dst].class else {
                unreachable!("instructions that replace an operand are on vectors")
            };
            self.placed.push(AllocatedInstruction::moved(at(&t::LOAD, width, self.level), copy, first));
            copy
        } else {
            let number = self.register[args[0]].expect("ensured");
            self.vacate(args[0]);
            self.vectors[number] = Some(step.dst);
            self.register[step.dst] = Some(number);
            first
        };
        let reads: Vec<ValueId> = step.reads().collect();
        self.release(&reads, now);
        dst
    }
}
