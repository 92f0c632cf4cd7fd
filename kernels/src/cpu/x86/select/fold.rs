//! The instructions of folds: neighbouring lanes are combined in pairs, which two shuffles of two registers
//! bring together, so that a tree of as many registers as these have lanes gives one register of results, in
//! order.

use super::selection::{Selection, live};
use crate::cpu::x86::encodings::{self as t, LaneLayout};
use crate::cpu::x86::target::{FoldMemory, IsaLevel, LaunchShape};
use crate::cpu::x86::virtual_code::{
    Home, RegisterClass, Section, ValueId, VectorStore, VirtualCode, VirtualFold,
};
use crate::dtype::DType;
use crate::ir::{FoldOp, Kernel, Value};

/// Longer bodies go block by block only.
const GROUP_STEPS: usize = 24;

/// The steps that fold values of an elementwise kernel along rows, or `None` if something in it has no
/// instructions here.
pub(in crate::cpu::x86) fn select_fold(
    kernel: &Kernel,
    folds: &[(FoldOp, Value)],
    shape: &LaunchShape,
    level: IsaLevel,
) -> Option<VirtualCode> {
    let mut selection = Selection::new(kernel, shape, None, level);
    let lanes = selection.steps.lanes;
    let types: Vec<DType> = folds.iter().map(|&(_, value)| selection.dtype(value)).collect();
    let widths = types.iter().map(|&dtype| selection.width(dtype)).collect::<Option<Vec<_>>>()?;
    let sizes: Vec<usize> = types.iter().map(|dtype| dtype.size_bytes()).collect();
    let memory = FoldMemory::new(lanes, &sizes);
    selection.apart = lanes;
    selection.block(0)?;
    let end = |n: usize| Home::LevelEnd { bytes: memory.values[n].0 as i32 };
    let mut stores = Vec::new();
    for (n, &(_, value)) in folds.iter().enumerate() {
        stores.push(VectorStore { value: selection.stored(value)?, to: end(n) });
    }
    let body = selection.section(stores);
    let mut trees = Vec::new();
    let mut lasts = Vec::new();
    let mut neutrals = Vec::new();
    for (n, (&(op, _), (&width, &dtype))) in folds.iter().zip(widths.iter().zip(&types)).enumerate() {
        let (first, size) = memory.values[n];
        let level = |selection: &mut Selection<'_>, register: usize| {
            let home = Home::Level { bytes: (first + register * lanes * size) as i32 };
            selection.value(RegisterClass::Vector(width), home)
        };
        let mut pairs = Pairs { op, dtype, width, waiting: Vec::new() };
        for register in 0..lanes {
            let value = level(&mut selection, register);
            pairs.add(&mut selection, value)?;
        }
        trees.push(VectorStore { value: pairs.root(), to: end(n) });
        neutrals.push(VectorStore { value: selection.constant(op.neutral(dtype).bits, width), to: end(n) });
    }
    let tree = selection.section(trees);
    for (n, (&(op, _), (&width, &dtype))) in folds.iter().zip(widths.iter().zip(&types)).enumerate() {
        let home = Home::Level { bytes: memory.values[n].0 as i32 };
        let mut value = selection.value(RegisterClass::Vector(width), home);
        for height in 0..lanes.ilog2() as usize {
            value = selection.pair(op, dtype, width, height, value, value)?;
        }
        lasts.push(VectorStore { value, to: home });
    }
    let last = selection.section(lasts);
    let neutral = selection.section(neutrals);
    let group = (body.instructions.len() <= GROUP_STEPS).then(|| selection.group(folds, &memory));
    let group = match group {
        Some(group) => Some(group?),
        None => None,
    };
    let mut steps = selection.steps;
    steps.body = body;
    steps.fold = Some(VirtualFold { group, neutral, tree, last, memory });
    (!selection.lacks).then_some(steps)
}

impl Selection<'_> {
    /// The body of block number `row`.
    fn block(&mut self, row: usize) -> Option<()> {
        self.row = row;
        let (kernel, live) = (self.kernel, live(self.kernel));
        for (n, inst) in kernel.body.iter().enumerate().filter(|&(n, _)| live[n]) {
            let first = self.ids[n].first().copied().filter(|&id| self.steps.values[id].uniform);
            let id = match first {
                Some(id) => id,
                None => self.instruction(inst)?,
            };
            self.ids[n].truncate(row);
            self.ids[n].push(id);
        }
        Some(())
    }

    /// The instructions selected since the last section.
    fn section(&mut self, stores: Vec<VectorStore>) -> Section {
        let section = std::mem::take(&mut self.steps.body);
        Section { stores, ..section }
    }

    /// As many blocks as a register has lanes, and their trees.
    fn group(&mut self, folds: &[(FoldOp, Value)], memory: &FoldMemory) -> Option<Section> {
        let mut trees = Vec::new();
        for &(op, value) in folds {
            let dtype = self.dtype(value);
            trees.push(Pairs { op, dtype, width: self.width(dtype)?, waiting: Vec::new() });
        }
        for row in 0..memory.lanes {
            self.block(row)?;
            for (tree, &(_, value)) in trees.iter_mut().zip(folds) {
                let id = self.id(value);
                tree.add(self, id)?;
            }
        }
        let stores = trees.iter().zip(&memory.values).map(|(tree, &(first, _))| VectorStore {
            value: tree.root(),
            to: Home::LevelEnd { bytes: first as i32 },
        });
        let stores = stores.collect();
        Some(self.section(stores))
    }

    /// The lanes of `a` and then of `b` combined in pairs, where each lane has folded 2^`height` values.
    fn pair(
        &mut self,
        op: FoldOp,
        dtype: DType,
        width: LaneLayout,
        height: usize,
        a: ValueId,
        b: ValueId,
    ) -> Option<ValueId> {
        // Lanes of 16 bytes first; their parts are in order when these are exchanged.
        let within = if width == LaneLayout::Longs { 1 } else { 2 };
        let (shuffle, even, odd) = match (height < within, self.steps.level, width) {
            (true, _, LaneLayout::Longs) => (&t::SHUFFLE, 0x00, 0xff),
            (true, _, _) => (&t::SHUFFLE, 0x88, 0xdd),
            (false, IsaLevel::Avx2, _) => (&t::SHUFFLE_QUARTERS, 0x20, 0x31),
            (false, IsaLevel::Avx512, LaneLayout::HalfWords) => (&t::SHUFFLE_QUARTERS, 0x0, 0x3),
            (false, IsaLevel::Avx512, _) => (&t::SHUFFLE_QUARTERS, 0x88, 0xdd),
        };
        let even = self.with(shuffle, width, &[a, b], even);
        let odd = self.with(shuffle, width, &[a, b], odd);
        self.binary(op.step(), even, odd, dtype)
    }
}

/// Registers that are folded as they come: a binary counter of trees.
struct Pairs {
    op: FoldOp,
    dtype: DType,
    width: LaneLayout,
    /// Trees that wait for their neighbours, with their heights.
    waiting: Vec<(usize, ValueId)>,
}

impl Pairs {
    fn add(&mut self, selection: &mut Selection<'_>, value: ValueId) -> Option<()> {
        let (mut height, mut value) = (0, value);
        while let Some((_, left)) = self.waiting.pop_if(|(of, _)| *of == height) {
            value = selection.pair(self.op, self.dtype, self.width, height, left, value)?;
            height += 1;
        }
        self.waiting.push((height, value));
        Some(())
    }

    /// The tree of all, when they are as many as a register has lanes.
    fn root(&self) -> ValueId {
        self.waiting[0].1
    }
}
