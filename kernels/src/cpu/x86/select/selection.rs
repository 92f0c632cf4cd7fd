//! Instruction selection: walks a body, finds the arrays and offsets of loads and stores, and chooses
//! instructions. Rows that are computed together go through the body instruction by instruction; what two of
//! them load is one value.

use iced_x86::Code;

use crate::cpu::x86::encodings::{self as t, Encodings, LaneLayout, at};
use crate::cpu::x86::target::{IsaLevel, LaunchShape, OperandLayout, UnrollAndJam};
use crate::cpu::x86::virtual_code::{
    Home, LastOperand, RegisterClass, RowPointer, Section, ValueId, VectorStore, VirtualCode,
    VirtualInstruction, VirtualValue,
};
use crate::dtype::{DType, Scalar};
use crate::ir::{Form, Inst, Kernel, Op, Store, Value};

/// Words of the pool: sixteen bytes of 1; 0, 1, .. as 4-byte and as 8-byte lanes; masks; the launch's
/// arguments, each as a register's worth of lanes of AVX2.
pub(super) const ONES: usize = 0;
const COUNTED: usize = 2;
const COUNTED_LONG: usize = 10;
/// The first argument; constants follow the last.
pub(in crate::cpu::x86) const ARGUMENTS: usize = 26;
/// Words of an argument.
pub(in crate::cpu::x86) const ARGUMENT: usize = 4;
/// 32 bytes of ones, then 32 of zeros: the masks of a partial block are cut out here.
pub(in crate::cpu::x86) const WINDOW: usize = 18;

/// The steps of an elementwise kernel without mathematical functions, or `None` if something in it has no
/// instructions here. `jam` has how many rows go together, and where they lie.
///
/// The outputs from parameter `guards` on are not stored: where one of them is false, the code returns.
pub(in crate::cpu::x86) fn select(
    kernel: &Kernel,
    shape: &LaunchShape,
    guards: usize,
    jam: Option<(&UnrollAndJam, usize)>,
    level: IsaLevel,
) -> Option<VirtualCode> {
    let Form::Elementwise { stores } = &kernel.form else { return None };
    let is_guard = |store: &&Store| store.param as usize >= guards;
    let mut selection = Selection::new(kernel, shape, jam.map(|(jam, _)| jam), level);
    selection.guards = stores.iter().filter(is_guard).map(|guard| guard.value).collect();
    let live = live(kernel);
    let rows = jam.map_or(1, |(_, rows)| rows);
    for (n, inst) in kernel.body.iter().enumerate().filter(|&(n, _)| live[n]) {
        for row in 0..rows {
            selection.row = row;
            let id = match selection.like_the_first(inst) {
                true => selection.ids[n][0],
                false => selection.instruction(inst)?,
            };
            selection.ids[n].push(id);
        }
        if stores.iter().filter(is_guard).any(|guard| guard.value.index() == n) {
            selection.ids[n].clone().into_iter().for_each(|id| selection.guard(id));
        }
    }
    // Loads that are stored unchanged are read before anything is written.
    let here = vec![0; kernel.rank];
    let mut stored = Vec::new();
    for store in stores.iter().filter(|store| !is_guard(store)) {
        for row in 0..rows {
            selection.row = row;
            let value = selection.stored(store.value)?;
            let (pointer, bytes) = selection.place(store.param as usize, &here)?;
            stored.push(VectorStore { value, to: Home::Array { pointer, bytes } });
        }
    }
    selection.steps.body.stores = stored;
    (!selection.lacks).then_some(selection.steps)
}

fn pool(arguments: usize) -> Vec<u64> {
    let ones = [0x0101_0101_0101_0101; 2];
    let pairs = (0..8).map(|n| (2 * n) | ((2 * n + 1) << 32));
    let mut pool: Vec<u64> =
        ones.into_iter().chain(pairs).chain(0..8).chain([u64::MAX; 4]).chain([0; 4]).collect();
    pool.resize(ARGUMENTS + ARGUMENT * arguments, 0);
    pool
}

/// Four bytes, twice.
pub(in crate::cpu::x86) fn twice(bits: u64) -> u64 {
    bits & 0xffff_ffff | bits << 32
}

pub(super) fn live(kernel: &Kernel) -> Vec<bool> {
    let mut live = vec![false; kernel.body.len()];
    kernel.roots().into_iter().for_each(|root| live[root.index()] = true);
    for n in (0..kernel.body.len()).rev() {
        if live[n] {
            kernel.body[n].op.operands().for_each(|value| live[value.index()] = true);
        }
    }
    live
}

pub(super) struct Selection<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) shape: &'k LaunchShape,
    /// The layout of the rows that are computed together.
    jam: Option<&'k UnrollAndJam>,
    /// Which of them; of blocks that follow each other in a row, which of these.
    pub(super) row: usize,
    /// Lanes between such blocks.
    pub(super) apart: usize,
    /// Booleans that are true, or what comes after them is not stored.
    pub(super) guards: Vec<Value>,
    /// Some values have 8 bytes.
    pub(super) long: bool,
    /// The level lacks an instruction.
    pub(super) lacks: bool,
    /// Per value of the kernel, one of each row.
    pub(super) ids: Vec<Vec<ValueId>>,
    pub(super) steps: VirtualCode,
}

impl<'k> Selection<'k> {
    pub(super) fn new(
        kernel: &'k Kernel,
        shape: &'k LaunchShape,
        jam: Option<&'k UnrollAndJam>,
        level: IsaLevel,
    ) -> Selection<'k> {
        let used = kernel.body.iter().zip(live(kernel)).filter(|(_, live)| *live);
        let long = used.map(|(inst, _)| inst).any(|inst| inst.dtype.size_bytes() == 8);
        Selection {
            kernel,
            shape,
            jam,
            row: 0,
            apart: 0,
            guards: Vec::new(),
            long,
            lacks: false,
            ids: vec![Vec::new(); kernel.body.len()],
            steps: VirtualCode {
                level,
                lanes: level.register_bytes() / if long { 8 } else { 4 },
                values: Vec::new(),
                prologue: Vec::new(),
                body: Section::default(),
                fold: None,
                prefetches: Vec::new(),
                pointers: Vec::new(),
                coordinates: Vec::new(),
                pool: pool(kernel.arguments.len()),
            },
        }
    }

    pub(super) fn class(&self, dtype: DType) -> Option<RegisterClass> {
        match dtype {
            DType::Bool => Some(self.mask_class()),
            DType::F32 | DType::I32 | DType::U32 if self.long => {
                Some(RegisterClass::Vector(LaneLayout::HalfWords))
            }
            DType::F32 | DType::I32 | DType::U32 => Some(RegisterClass::Vector(LaneLayout::Words)),
            DType::F64 | DType::I64 | DType::U64 => Some(RegisterClass::Vector(LaneLayout::Longs)),
            DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::F16 | DType::BF16 => None,
        }
    }

    /// The layout of numbers in a register.
    pub(super) fn width(&self, dtype: DType) -> Option<LaneLayout> {
        match self.class(dtype)? {
            RegisterClass::Vector(width) if dtype != DType::Bool => Some(width),
            RegisterClass::Vector(_) | RegisterClass::Bytes | RegisterClass::Mask => None,
        }
    }

    pub(super) fn dtype(&self, value: Value) -> DType {
        self.kernel.body[value.index()].dtype
    }

    pub(super) fn id(&self, value: Value) -> ValueId {
        *self.ids[value.index()].get(self.row).expect("operands come before their users")
    }

    /// Is an instruction's value the first row's, because what it reads is?
    fn like_the_first(&self, inst: &Inst) -> bool {
        let shared = |value: Value| self.id(value) == self.ids[value.index()][0];
        let varies = match inst.op {
            Op::Load { .. } => true,
            Op::Coord(dim) => self.rows_apart(dim as usize) > 0,
            _ => false,
        };
        self.row > 0 && !varies && inst.op.operands().into_iter().all(shared)
    }

    pub(super) fn value(&mut self, class: RegisterClass, home: Home) -> ValueId {
        self.steps.values.push(VirtualValue { class, home, uniform: home.is_uniform() });
        self.steps.values.len() - 1
    }

    /// Adds an instruction, to the prologue if all it reads is the same in every block.
    pub(super) fn push(&mut self, step: VirtualInstruction) -> ValueId {
        let uniform = !step.index && !step.guard && step.reads().all(|id| self.steps.values[id].uniform);
        let dst = step.dst;
        self.lacks |= step.code == Code::INVALID;
        self.steps.values[dst].uniform = uniform;
        if uniform {
            self.steps.prologue.push(step)
        } else {
            self.steps.body.instructions.push(step)
        }
        dst
    }

    pub(super) fn step(
        &mut self,
        row: &Encodings,
        width: LaneLayout,
        args: &[ValueId],
    ) -> VirtualInstruction {
        let dst = self.value(RegisterClass::Vector(width), Home::Nowhere);
        VirtualInstruction::new(at(row, width, self.steps.level), dst, args)
    }

    pub(super) fn op(&mut self, row: &Encodings, width: LaneLayout, args: &[ValueId]) -> ValueId {
        let step = self.step(row, width, args);
        self.push(step)
    }

    /// An operation whose operands may change places.
    pub(super) fn either(&mut self, row: &Encodings, width: LaneLayout, args: &[ValueId]) -> ValueId {
        let step = VirtualInstruction { swaps: true, ..self.step(row, width, args) };
        self.push(step)
    }

    pub(super) fn with(
        &mut self,
        row: &Encodings,
        width: LaneLayout,
        args: &[ValueId],
        immediate: u8,
    ) -> ValueId {
        let step = VirtualInstruction { immediate: Some(immediate), ..self.step(row, width, args) };
        self.push(step)
    }

    /// A conversion between widths.
    pub(super) fn convert(&mut self, code: Code, to: LaneLayout, a: ValueId, last: LastOperand) -> ValueId {
        let dst = self.value(RegisterClass::Vector(to), Home::Nowhere);
        self.push(VirtualInstruction { last, ..VirtualInstruction::new(code, dst, &[a]) })
    }

    /// The same bits in every lane; with AVX2, which has no operands that are broadcast, a register's worth.
    pub(super) fn constant(&mut self, bits: u64, width: LaneLayout) -> ValueId {
        let both = match width {
            LaneLayout::Words | LaneLayout::HalfWords => twice(bits),
            LaneLayout::Longs => bits,
        };
        let word = match self.steps.level {
            IsaLevel::Avx512 => self.words(&[bits]),
            IsaLevel::Avx2 => self.words(&[both; 4]),
        };
        self.in_pool(word, width)
    }

    /// The same word in every lane.
    fn in_pool(&mut self, word: usize, width: LaneLayout) -> ValueId {
        let home = match self.steps.level {
            IsaLevel::Avx512 => Home::Pool(word),
            IsaLevel::Avx2 => Home::Lanes(word),
        };
        self.at_home(RegisterClass::Vector(width), home)
    }

    /// The place of these words in the pool, not among the arguments, whose words are empty yet.
    fn words(&mut self, words: &[u64]) -> usize {
        let first = ARGUMENTS + ARGUMENT * self.kernel.arguments.len();
        let known = self.steps.pool[first..].windows(words.len()).position(|known| known == words);
        known.map_or_else(
            || {
                self.steps.pool.extend(words);
                self.steps.pool.len() - words.len()
            },
            |n| first + n,
        )
    }

    /// The value that can be read there.
    pub(super) fn at_home(&mut self, class: RegisterClass, home: Home) -> ValueId {
        let known = |v: &VirtualValue| v.home == home && v.class == class;
        match self.steps.values.iter().position(known) {
            Some(id) => id,
            None => self.value(class, home),
        }
    }

    pub(super) fn number(&mut self, dtype: DType, value: f64, width: LaneLayout) -> ValueId {
        self.constant(Scalar::from_f64(dtype, value).bits, width)
    }

    fn pointer(&mut self, param: usize, offsets: Vec<i32>) -> usize {
        let pointer = RowPointer { param, offsets };
        match self.steps.pointers.iter().position(|p| *p == pointer) {
            Some(n) => n,
            None => {
                self.steps.pointers.push(pointer);
                self.steps.pointers.len() - 1
            }
        }
    }

    pub(super) fn instruction(&mut self, inst: &Inst) -> Option<ValueId> {
        let dtype = inst.dtype;
        match &inst.op {
            Op::Const(scalar) => self.uniform(dtype, None, scalar.bits),
            Op::Argument(n) => self.uniform(dtype, Some(*n as usize), 0),
            Op::Coord(dim) => self.coordinate(*dim as usize, dtype),
            Op::Load { param, offsets } => self.load(*param as usize, offsets, dtype),
            Op::Unary(op, a) => self.unary(*op, self.id(*a), self.dtype(*a)),
            Op::Binary(op, a, b) => self.binary(*op, self.id(*a), self.id(*b), dtype),
            Op::Compare(op, a, b) => self.compare(*op, self.id(*a), self.id(*b), self.dtype(*a)),
            Op::Select(c, a, b) => {
                let (c, a, b) = (self.id(*c), self.id(*a), self.id(*b));
                if dtype == DType::Bool {
                    return Some(self.select_bools(c, a, b));
                }
                let width = self.width(dtype)?;
                Some(self.blend(c, b, a, width))
            }
            Op::Fma(a, b, c) => {
                let (args, width) = ([self.id(*a), self.id(*b), self.id(*c)], self.width(dtype)?);
                let step = VirtualInstruction { tied: true, swaps: true, ..self.step(&t::FMA, width, &args) };
                Some(self.push(step))
            }
            Op::Cast(a) => self.cast(*a, dtype),
            Op::Bitcast(a) => self.class(dtype).map(|_| self.id(*a)),
            Op::Math1(..) | Op::Math2(..) => None,
        }
    }

    /// A constant or an argument.
    fn uniform(&mut self, dtype: DType, argument: Option<usize>, bits: u64) -> Option<ValueId> {
        let width = match dtype {
            DType::Bool => self.width(DType::I32)?,
            _ => self.width(dtype)?,
        };
        let id = match argument {
            Some(n) => self.in_pool(ARGUMENTS + ARGUMENT * n, width),
            None => self.constant(bits, width),
        };
        Some(if dtype == DType::Bool { self.nonzero(id, width) } else { id })
    }

    fn coordinate(&mut self, dim: usize, dtype: DType) -> Option<ValueId> {
        let width = self.width(dtype)?;
        let n = self.steps.coordinates.iter().position(|&d| d == dim).unwrap_or_else(|| {
            self.steps.coordinates.push(dim);
            self.steps.coordinates.len() - 1
        });
        // Its word comes behind the pointers, whose number is known in the end.
        let mut first = self.at_home(RegisterClass::Vector(width), Home::Table(n));
        let apart = self.row * self.rows_apart(dim);
        if apart > 0 {
            let row = self.constant(apart as u64, width);
            first = self.op(&t::IADD, width, &[first, row]);
        }
        if !self.shape.along(dim) {
            return Some(first);
        }
        let counted = if width == LaneLayout::Longs { COUNTED_LONG } else { COUNTED };
        let counted = self.at_home(RegisterClass::Vector(width), Home::Lanes(counted));
        let first = self.op(&t::IADD, width, &[first, counted]);
        let index = self.index(width);
        Some(self.either(&t::IADD, width, &[index, first]))
    }

    /// The growth of a coordinate from row to row, or from block to block.
    fn rows_apart(&self, dim: usize) -> usize {
        match self.jam {
            Some(jam) => usize::from(jam.dim == dim),
            None if self.shape.along(dim) => self.apart,
            None => 0,
        }
    }

    /// The number of the block's first lane, in every lane.
    fn index(&mut self, width: LaneLayout) -> ValueId {
        let code = at(&t::INDEX, width, self.steps.level);
        match self.steps.level {
            IsaLevel::Avx512 => {
                let dst = self.value(RegisterClass::Vector(width), Home::Nowhere);
                self.push(VirtualInstruction { index: true, ..VirtualInstruction::new(code, dst, &[]) })
            }
            IsaLevel::Avx2 => {
                let dst = self.value(RegisterClass::Vector(LaneLayout::HalfWords), Home::Nowhere);
                let first =
                    self.push(VirtualInstruction { index: true, ..VirtualInstruction::new(code, dst, &[]) });
                let step = VirtualInstruction {
                    last: LastOperand::Register,
                    ..self.step(&t::BROADCAST_LANE, width, &[first])
                };
                self.push(step)
            }
        }
    }

    /// The row of a parameter, or its neighbour at these offsets: a pointer, and the bytes from it.
    fn place(&mut self, param: usize, offsets: &[i32]) -> Option<(usize, i32)> {
        let size = self.kernel.params[param].dtype.size_bytes() as i64;
        let mut apart = offsets.to_vec();
        let away = match self.jam {
            Some(jam) => {
                apart[jam.dim] = apart[jam.dim].checked_add(self.row as i32)?;
                let far = jam.strides[param].iter().zip(&apart);
                let away: Option<i64> = far.map(|(&s, &d)| s.checked_mul(d.into())).sum();
                apart.fill(0);
                away?
            }
            None if self.shape.layouts[param] == OperandLayout::Broadcast => 0,
            None => {
                let along = self.shape.unit.map_or(0, |dim| std::mem::take(&mut apart[dim]));
                i64::from(along) + (self.row * self.apart) as i64
            }
        };
        let bytes = i32::try_from(away.checked_mul(size)?).ok()?;
        Some((self.pointer(param, apart), bytes))
    }

    fn load(&mut self, param: usize, offsets: &[i32], dtype: DType) -> Option<ValueId> {
        let (pointer, bytes) = self.place(param, offsets)?;
        if self.shape.layouts[param] == OperandLayout::Broadcast {
            let width = self.width(dtype)?;
            return Some(self.at_home(RegisterClass::Vector(width), Home::Element { pointer, bytes }));
        }
        let home = Home::Array { pointer, bytes };
        if dtype != DType::Bool {
            let class = self.class(dtype)?;
            return Some(self.at_home(class, home));
        }
        Some(self.load_bools(home))
    }

    /// The value that a store writes: bools as bytes, and loads in a register.
    pub(super) fn stored(&mut self, value: Value) -> Option<ValueId> {
        let id = self.id(value);
        let dtype = self.dtype(value);
        match self.class(dtype)? {
            _ if dtype == DType::Bool => Some(self.bool_bytes(id)),
            RegisterClass::Vector(width) if matches!(self.steps.values[id].home, Home::Array { .. }) => {
                let step =
                    VirtualInstruction { last: LastOperand::Memory, ..self.step(&t::LOAD, width, &[id]) };
                Some(self.push(step))
            }
            RegisterClass::Vector(_) | RegisterClass::Bytes | RegisterClass::Mask => Some(id),
        }
    }
}
