//! Assembles a program: loads of the table's words, the loops over rows and over blocks, partial blocks, and
//! the bytes of every instruction. It follows register allocation and is the last stage.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, OpKind, Register};

use super::encodings::{self as t, LaneLayout, at};
use super::registers::{
    AllocatedCode, AllocatedInstruction, AllocatedSection, LANES, MachineOperand, StoreRegister,
};
use super::target::{IsaLevel, words};
use super::virtual_code::{Home, Prefetch, RegisterClass, Section, VectorStore, VirtualCode};

/// The row's table and the pool, as the calling convention passes them.
const TABLE: Register = Register::RDI;
pub(super) const POOL: Register = Register::RSI;
/// The number of the block's first lane.
pub(super) const INDEX: Register = Register::RAX;
const INDEX_LOW: Register = Register::EAX;
/// Lanes of a partial block.
pub(super) const PART: Register = Register::RDX;
const PART_LOW: Register = Register::EDX;
/// The last lane at which a whole block begins.
pub(super) const LAST: Register = Register::R9;
/// A pointer that has no register of its own.
pub(super) const ELSEWHERE: Register = Register::R10;
const ELSEWHERE_LOW: Register = Register::R10D;
/// Pointers that have; the callee keeps those after the fourth.
const POINTERS_HELD: [Register; 8] = [
    Register::RCX,
    Register::R8,
    Register::R11,
    Register::RBX,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];
const FREE: usize = 3;
/// Of code that folds, instead of the last two pointers: the address of a level, and how many values it has.
pub(super) const LEVEL: Register = Register::R14;
pub(super) const FILL: Register = Register::R15;
/// Bytes of a slot.
const SLOT: i64 = 64;

/// The kind of stores of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Whole,
    /// By non-temporal stores.
    NonTemporal,
    /// The lanes of `k1`.
    Partial,
}

/// A place in the code that jumps go to.
#[derive(Clone, Copy)]
pub(super) enum Label {
    Row,
    Main,
    NonTemporal,
    Rest,
    Partial,
    Next,
    Exit,
}

/// Writes the program.
pub(super) fn encode(steps: &VirtualCode, allocated: &AllocatedCode) -> Result<Vec<u8>, IcedError> {
    let mut writer = Assembler {
        steps,
        encoder: Encoder::try_new(64)?,
        at: 0,
        labels: [0; 7],
        jumps: Vec::new(),
        near_jumps: Vec::new(),
    };
    writer.rows(allocated)?;
    let mut bytes = writer.encoder.take_buffer();
    let labels = writer.labels;
    let jumps = writer.jumps.into_iter().map(|(end, label)| (end, labels[label as usize]));
    for (end, to) in jumps.chain(writer.near_jumps) {
        let far = to as i32 - end as i32;
        bytes[end - 4..end].copy_from_slice(&far.to_le_bytes());
    }
    Ok(bytes)
}

pub(super) struct Assembler<'s> {
    pub(super) steps: &'s VirtualCode,
    encoder: Encoder,
    /// Bytes written.
    pub(super) at: usize,
    labels: [usize; 7],
    /// Ends of jumps, and where they go.
    jumps: Vec<(usize, Label)>,
    near_jumps: Vec<(usize, usize)>,
}

pub(super) type Encoded = Result<(), IcedError>;

impl Assembler<'_> {
    pub(super) fn put(&mut self, instruction: &Instruction) -> Encoded {
        self.at += self.encoder.encode(instruction, self.at as u64)?;
        Ok(())
    }

    pub(super) fn label(&mut self, label: Label) {
        self.labels[label as usize] = self.at;
    }

    /// A jump forward, to where its end is landed.
    pub(super) fn forward(&mut self, code: Code) -> Result<usize, IcedError> {
        let far = Instruction::with_branch(code, self.at as u64)?;
        self.put(&far)?;
        Ok(self.at)
    }

    pub(super) fn land(&mut self, end: usize) {
        self.near_jumps.push((end, self.at));
    }

    pub(super) fn jump(&mut self, code: Code, to: Label) -> Encoded {
        let end = self.forward(code)?;
        self.jumps.push((end, to));
        Ok(())
    }

    /// Reads a word of the row's table.
    pub(super) fn word(&mut self, to: Register, word: usize) -> Encoded {
        self.put(&Instruction::with2(Code::Mov_r64_rm64, to, self::word(word))?)
    }

    fn held(&self) -> usize {
        let most = POINTERS_HELD.len() - if self.steps.fold.is_some() { 2 } else { 0 };
        self.steps.pointers.len().min(most)
    }

    fn rows(&mut self, allocated: &AllocatedCode) -> Encoded {
        let mut saved = POINTERS_HELD[FREE.min(self.held())..self.held()].to_vec();
        if allocated.fold.is_some() {
            saved.extend([LEVEL, FILL]);
        }
        for &register in &saved {
            self.put(&Instruction::with1(Code::Push_r64, register)?)?;
        }
        if allocated.slots > 0 {
            self.put(&Instruction::with1(Code::Push_r64, Register::RBP)?)?;
            self.put(&Instruction::with2(Code::Mov_r64_rm64, Register::RBP, Register::RSP)?)?;
            let bytes = SLOT as i32 * allocated.slots as i32;
            self.put(&Instruction::with2(Code::Sub_rm64_imm32, Register::RSP, bytes)?)?;
            self.put(&Instruction::with2(Code::And_rm64_imm8, Register::RSP, -64)?)?;
        }
        for (n, &register) in POINTERS_HELD[..self.held()].iter().enumerate() {
            self.word(register, words::POINTERS + n)?;
        }
        let fold = self.steps.fold.as_ref().zip(allocated.fold.as_ref());
        if fold.is_some() {
            self.begin_fold()?;
        }
        self.label(Label::Row);
        for placed in &allocated.prologue {
            self.instruction(placed, BlockKind::Whole)?;
        }
        match fold {
            Some((virtual_fold, fold)) => self.folded_blocks(allocated, virtual_fold, fold)?,
            None => {
                self.blocks(allocated)?;
                self.label(Label::Next);
            }
        }
        self.next()?;
        self.label(Label::Exit);
        if fold.is_some() {
            self.end_fold()?;
        }
        if allocated.slots > 0 {
            self.put(&Instruction::with(Code::Leaveq))?;
        }
        for &register in saved.iter().rev() {
            self.put(&Instruction::with1(Code::Pop_r64, register)?)?;
        }
        self.put(&Instruction::with(Code::VEX_Vzeroupper))?;
        self.put(&Instruction::with(Code::Retnq))
    }

    /// Moves on by a row, or by those that are computed together, if there are more.
    fn next(&mut self) -> Encoded {
        let (pointers, coordinates) = (self.steps.pointers.len(), self.steps.coordinates.len());
        let steps = words::POINTERS + pointers;
        for n in 0..pointers {
            match POINTERS_HELD[..self.held()].get(n) {
                Some(&register) => {
                    let step = word(steps + n);
                    self.put(&Instruction::with2(Code::Add_r64_rm64, register, step)?)?;
                }
                None => self.grow(words::POINTERS + n, steps + n)?,
            }
        }
        let first = steps + pointers;
        for n in 0..coordinates {
            self.grow(first + n, first + coordinates + n)?;
        }
        self.put(&Instruction::with2(Code::Sub_rm64_imm8, word(words::ROWS), 1)?)?;
        self.jump(Code::Jne_rel32_64, Label::Row)
    }

    /// Adds one word of the table to another.
    fn grow(&mut self, to: usize, step: usize) -> Encoded {
        self.word(ELSEWHERE, step)?;
        self.put(&Instruction::with2(Code::Add_rm64_r64, word(to), ELSEWHERE)?)
    }

    /// The number of lanes before a line of the outputs begins, in all of which that is the same.
    fn head(&mut self) -> Encoded {
        let wide = |store: &VectorStore| match self.steps.values[store.value].class {
            RegisterClass::Vector(width) => Some(width),
            RegisterClass::Bytes | RegisterClass::Mask => None,
        };
        let pointer = |store: &VectorStore| match store.to {
            Home::Array { pointer, .. } => Some(pointer),
            _ => None,
        };
        let wide = self.steps.body.stores.iter().find_map(|store| Some((pointer(store)?, wide(store)?)));
        self.put(&Instruction::with2(Code::Xor_r32_rm32, PART_LOW, PART_LOW)?)?;
        let Some((pointer, width)) = wide else { return Ok(()) };
        self.put(&Instruction::with2(Code::Cmp_rm64_imm8, word(words::ALIGNED), 0)?)?;
        self.jump(Code::Je_rel32_64, Label::Main)?;
        let pointer = self.pointer(pointer)?;
        self.put(&Instruction::with2(Code::Sub_r64_rm64, PART, pointer)?)?;
        let size = scale(RegisterClass::Vector(width)) as i32;
        self.put(&Instruction::with2(Code::And_rm32_imm32, PART_LOW, self.steps.lanes as i32 * size - 1)?)?;
        self.put(&Instruction::with2(Code::Shr_rm32_imm8, PART_LOW, size.trailing_zeros() as i32)?)?;
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, PART, word(words::LANES))?)?;
        self.put(&Instruction::with2(Code::Cmova_r64_rm64, PART, word(words::LANES))?)?;
        self.put(&Instruction::with2(Code::Test_rm64_r64, PART, PART)?)?;
        self.jump(Code::Jne_rel32_64, Label::Partial)
    }

    /// The lanes up to an aligned block of the outputs, if the table says so; whole blocks; the rest.
    fn blocks(&mut self, allocated: &AllocatedCode) -> Encoded {
        let lanes = self.steps.lanes as i32;
        self.put(&Instruction::with2(Code::Xor_r32_rm32, INDEX_LOW, INDEX_LOW)?)?;
        self.word(LAST, words::LANES)?;
        self.put(&Instruction::with2(Code::Sub_rm64_imm8, LAST, lanes)?)?;
        self.head()?;
        self.label(Label::Main);
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, INDEX, LAST)?)?;
        self.jump(Code::Jg_rel32_64, Label::Rest)?;
        self.select_all()?;
        self.put(&Instruction::with2(Code::Cmp_rm64_imm8, word(words::NON_TEMPORAL), 0)?)?;
        self.jump(Code::Jne_rel32_64, Label::NonTemporal)?;
        let top = self.at;
        self.block(allocated, BlockKind::Whole, top)?;
        self.jump(Code::Jmp_rel32_64, Label::Rest)?;
        self.label(Label::NonTemporal);
        self.block(allocated, BlockKind::NonTemporal, self.at)?;
        self.label(Label::Rest);
        self.put(&Instruction::with2(Code::Lea_r64_m, PART, memory(LAST, i64::from(lanes)))?)?;
        self.put(&Instruction::with2(Code::Sub_r64_rm64, PART, INDEX)?)?;
        self.jump(Code::Je_rel32_64, Label::Next)?;
        self.label(Label::Partial);
        self.select_part()?;
        self.body(allocated, BlockKind::Partial)?;
        self.stores(&self.steps.body, &allocated.body, BlockKind::Partial)?;
        let code = match self.steps.level {
            IsaLevel::Avx512 => Code::Add_r64_rm64,
            // It was negated.
            IsaLevel::Avx2 => Code::Sub_r64_rm64,
        };
        self.put(&Instruction::with2(code, INDEX, PART)?)?;
        self.put(&Instruction::with2(Code::Lea_r64_m, PART, memory(LAST, i64::from(lanes)))?)?;
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, INDEX, PART)?)?;
        self.jump(Code::Jl_rel32_64, Label::Main)
    }

    /// Selects all lanes of a block.
    fn select_all(&mut self) -> Encoded {
        if self.steps.level == IsaLevel::Avx2 {
            return Ok(());
        }
        let all = (1 << self.steps.lanes) - 1;
        self.put(&Instruction::with2(Code::Mov_r32_imm32, ELSEWHERE_LOW, all)?)?;
        self.put(&Instruction::with2(Code::VEX_Kmovw_kr_r32, LANES, ELSEWHERE_LOW)?)
    }

    /// Selects the lanes of a partial block: in `k1`, or by their negated number.
    pub(super) fn select_part(&mut self) -> Encoded {
        if self.steps.level == IsaLevel::Avx2 {
            return self.put(&Instruction::with1(Code::Neg_rm64, PART)?);
        }
        let low = ELSEWHERE_LOW;
        self.put(&Instruction::with2(Code::Mov_r32_imm32, low, -1)?)?;
        self.put(&Instruction::with3(Code::VEX_Bzhi_r32_rm32_r32, low, low, PART_LOW)?)?;
        self.put(&Instruction::with2(Code::VEX_Kmovw_kr_r32, LANES, low)?)
    }

    /// Whole blocks, as many as there are.
    fn block(&mut self, allocated: &AllocatedCode, block: BlockKind, top: usize) -> Encoded {
        self.body(allocated, block)?;
        self.stores(&self.steps.body, &allocated.body, block)?;
        self.put(&Instruction::with2(Code::Add_rm64_imm8, INDEX, self.steps.lanes as i32)?)?;
        self.put(&Instruction::with2(Code::Cmp_r64_rm64, INDEX, LAST)?)?;
        self.put(&Instruction::with_branch(Code::Jle_rel32_64, top as u64)?)
    }

    /// The instructions of a block, and between them, evenly, what it prefetches.
    pub(super) fn body(&mut self, allocated: &AllocatedCode, block: BlockKind) -> Encoded {
        let prefetches = &self.steps.prefetches;
        let mut done = 0;
        let instructions = &allocated.body.instructions;
        for (n, placed) in instructions.iter().enumerate() {
            self.instruction(placed, block)?;
            let due = (n + 1) * prefetches.len() / instructions.len();
            for &Prefetch { pointer, bytes, class } in &prefetches[done..due] {
                let line = self.memory(Home::Array { pointer, bytes }, class, false)?;
                self.put(&Instruction::with1(Code::Prefetcht1_m8, line)?)?;
            }
            done = due;
        }
        Ok(())
    }

    pub(super) fn stores(
        &mut self,
        section: &Section,
        allocated: &AllocatedSection,
        block: BlockKind,
    ) -> Encoded {
        for (store, held) in section.stores.iter().zip(&allocated.stored) {
            held.reloads.iter().try_for_each(|placed| self.instruction(placed, block))?;
            let &StoreRegister { register, class, .. } = held;
            let to = self.memory(store.to, class, false)?;
            if self.steps.level == IsaLevel::Avx2 && block == BlockKind::Partial {
                self.store_part(to, register, class)?;
                continue;
            }
            let code = store_code(class, block, self.steps);
            let mut instruction = Instruction::with2(code, to, register)?;
            if block == BlockKind::Partial {
                instruction.set_op_mask(LANES);
            }
            self.put(&instruction)?;
        }
        Ok(())
    }

    /// One instruction of a block. In a partial block, what reads an array reads only the lanes of `k1`.
    pub(super) fn instruction(&mut self, placed: &AllocatedInstruction, block: BlockKind) -> Encoded {
        let part = block == BlockKind::Partial && placed.reads_array();
        let bytes =
            matches!(placed.args[..], [MachineOperand::Memory(Home::Array { .. }, RegisterClass::Bytes)]);
        let avx2 = self.steps.level == IsaLevel::Avx2;
        let few = bytes && !part && !avx2 && self.steps.lanes == 8;
        let mut args = placed.args.clone();
        if let (true, Some(MachineOperand::Memory(home, class))) = (part && avx2, args.last().copied()) {
            args.pop();
            args.push(MachineOperand::Register(self.load_part(home, class)?));
        }
        // The mask that a blend selects by is its last operand.
        args.extend(placed.mask.filter(|_| avx2).map(MachineOperand::Register));
        let mut instruction = Instruction::default();
        instruction.set_code(if few { Code::EVEX_Vmovq_xmm_xmmm64 } else { placed.code });
        let mut count = 0;
        for operand in std::iter::once(&placed.dst).chain(&args) {
            self.operand(&mut instruction, count, *operand)?;
            count += 1;
        }
        if let Some(immediate) = placed.immediate {
            instruction.try_set_op_kind(count, OpKind::Immediate8)?;
            instruction.set_immediate8(immediate);
        }
        let to_mask = matches!(placed.dst, MachineOperand::Register(register) if register.is_k());
        match placed.mask {
            _ if avx2 => {}
            Some(mask) => {
                instruction.set_op_mask(mask);
                instruction.set_zeroing_masking(placed.zeroing);
            }
            None if part => {
                instruction.set_op_mask(LANES);
                // An instruction that replaces an operand keeps its lanes.
                instruction.set_zeroing_masking(!to_mask && !is_tied(placed.code));
            }
            None => {}
        }
        self.put(&instruction)?;
        match placed.dst {
            MachineOperand::Register(missed) if placed.guard => self.leave_if_set(missed, block),
            _ => Ok(()),
        }
    }

    /// Returns if a mask is set in any lane of the block.
    fn leave_if_set(&mut self, missed: Register, block: BlockKind) -> Encoded {
        match self.steps.level {
            IsaLevel::Avx512 => self.put(&Instruction::with2(Code::VEX_Kortestw_kr_kr, missed, missed)?)?,
            IsaLevel::Avx2 => {
                let width = if self.steps.lanes == 4 { LaneLayout::Longs } else { LaneLayout::Words };
                let lanes = if block == BlockKind::Partial { self.part_mask(width)? } else { missed };
                self.put(&Instruction::with2(Code::VEX_Vptest_ymm_ymmm256, missed, lanes)?)?;
            }
        }
        self.jump(Code::Jne_rel32_64, Label::Exit)
    }

    fn operand(&mut self, instruction: &mut Instruction, n: u32, operand: MachineOperand) -> Encoded {
        let memory = match operand {
            MachineOperand::Register(register) => {
                instruction.try_set_op_kind(n, OpKind::Register)?;
                return instruction.try_set_op_register(n, register);
            }
            MachineOperand::Index => {
                let long = instruction.code() == at(&t::INDEX, LaneLayout::Longs, self.steps.level);
                let index = if long { INDEX } else { INDEX_LOW };
                instruction.try_set_op_kind(n, OpKind::Register)?;
                return instruction.try_set_op_register(n, index);
            }
            MachineOperand::Memory(home, class) => self.memory(home, class, false)?,
            MachineOperand::Broadcast(home, class) => self.memory(home, class, true)?,
        };
        instruction.try_set_op_kind(n, OpKind::Memory)?;
        instruction.set_memory_base(memory.base);
        instruction.set_memory_index(memory.index);
        instruction.set_memory_index_scale(memory.scale);
        instruction.set_memory_displacement64(memory.displacement as u64);
        instruction.set_memory_displ_size(memory.displ_size);
        instruction.set_is_broadcast(memory.is_broadcast);
        Ok(())
    }

    /// The memory operand of a home. A pointer without a register is read from the table first.
    pub(super) fn memory(
        &mut self,
        home: Home,
        class: RegisterClass,
        broadcast: bool,
    ) -> Result<MemoryOperand, IcedError> {
        let (base, index, scale, bytes) = match home {
            Home::Nowhere => unreachable!("a value without a home is in a register"),
            Home::Slot(n) => (Register::RSP, Register::None, 1, SLOT * n as i64),
            Home::Pool(word) | Home::Lanes(word) => (POOL, Register::None, 1, 8 * word as i64),
            Home::Table(n) => {
                let word = words::POINTERS + 2 * self.steps.pointers.len() + n;
                (TABLE, Register::None, 1, 8 * word as i64)
            }
            Home::Array { pointer, bytes } => (self.pointer(pointer)?, INDEX, scale(class), i64::from(bytes)),
            Home::Element { pointer, bytes } => (self.pointer(pointer)?, Register::None, 1, i64::from(bytes)),
            Home::Level { bytes } => (LEVEL, Register::None, 1, i64::from(bytes)),
            Home::LevelEnd { bytes } => (LEVEL, FILL, scale(class), i64::from(bytes)),
        };
        Ok(MemoryOperand::new(base, index, scale, bytes, 1, broadcast, Register::None))
    }

    fn pointer(&mut self, n: usize) -> Result<Register, IcedError> {
        match POINTERS_HELD[..self.held()].get(n) {
            Some(&register) => Ok(register),
            None => {
                self.word(ELSEWHERE, words::POINTERS + n)?;
                Ok(ELSEWHERE)
            }
        }
    }
}

pub(super) fn memory(base: Register, bytes: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(base, bytes)
}

/// A word of the table.
pub(super) fn word(word: usize) -> MemoryOperand {
    memory(TABLE, 8 * word as i64)
}

/// Bytes of a lane in memory.
pub(super) fn scale(class: RegisterClass) -> u32 {
    match class {
        RegisterClass::Vector(LaneLayout::Longs) => 8,
        RegisterClass::Vector(LaneLayout::Words | LaneLayout::HalfWords) => 4,
        RegisterClass::Bytes | RegisterClass::Mask => 1,
    }
}

fn is_tied(code: Code) -> bool {
    t::FMA.evex.contains(&code)
}

fn store_code(class: RegisterClass, block: BlockKind, steps: &VirtualCode) -> Code {
    match (class, steps.level) {
        (RegisterClass::Vector(width), level) if block == BlockKind::NonTemporal => {
            at(&t::NON_TEMPORAL_STORE, width, level)
        }
        (RegisterClass::Vector(width), level) => at(&t::STORE, width, level),
        (_, IsaLevel::Avx512) if block == BlockKind::Partial || steps.lanes == 16 => {
            Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm
        }
        (_, IsaLevel::Avx512) => Code::EVEX_Vmovq_xmmm64_xmm,
        (_, IsaLevel::Avx2) if steps.lanes == 8 => Code::VEX_Vmovq_xmmm64_xmm,
        (_, IsaLevel::Avx2) => Code::VEX_Vmovd_rm32_xmm,
    }
}
