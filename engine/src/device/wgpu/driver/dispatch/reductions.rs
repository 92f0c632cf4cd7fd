//! The dispatches of a reduction: the blocks of folded values that each pass takes, and the places of partial
//! results.
//!
//! The values that fold into one kept point are numbered as the definition does
//! ([`partita_kernels::Footprint::fold_order`]). 2^k values from a multiple of 2^k on are a *block*, a
//! subtree of the fold. One pass folds a block as large as bindings and partial results allow; of a larger
//! one both halves are folded first. So results do not depend on what a binding holds.
//!
//! Partial results of one block, one per kept point, are neighbours. A pass reads one of two buffers, the
//! *sides*, and writes the other.

use partita_kernels::wgsl::layout::{CHUNK, Header, MAX_STEPS};
use partita_kernels::{Launch, Verified};

use super::pieces::{
    Bounds, PARTIAL_BYTES, Pass, Piece, Planner, TooWide, Window, Work, boxed, is_folded, too_big, windows,
};

/// Invocations that keep a large adapter busy; beyond that each folds more.
const BUSY: u64 = 1 << 19;
/// Most partial results of a pass.
const MOST_PARTIALS: u64 = 1 << 24;
/// Kept points from which on neighbouring invocations read neighbouring kept points of partial results.
const WIDE: u64 = 32;

/// The limits of a pass of a reduction.
pub(super) fn bounds(bounds: Bounds, folded: u64, workgroup_size: u32) -> Bounds {
    let capacity = capacity(&bounds);
    let max_kept = capacity / (u64::from(levels(folded)) + 2);
    let threads = bounds.max_groups.saturating_mul(u64::from(workgroup_size)).min(1 << 31);
    Bounds { max_points: usize::MAX, max_kept: max_kept.min(threads) as usize, ..bounds }
}

/// Partial results that a buffer holds.
fn capacity(bounds: &Bounds) -> u64 {
    (bounds.max_binding_bytes / PARTIAL_BYTES).min(MOST_PARTIALS)
}

/// The dispatches of the reduction of one kept box.
pub(super) fn plan(
    planner: &Planner,
    kernel: &Verified,
    piece: &Piece,
    bounds: &Bounds,
    work: &mut Work,
) -> Result<(), TooWide> {
    let launch = &piece.launch;
    let order = kernel.footprint().fold_order(launch);
    let folded = order.iter().map(|&dim| launch.extents[dim] as u64).product();
    let kept = kernel.kernel().kept_points(launch) as u64;
    let is_across = is_across(kernel, launch);
    let mut fold =
        Reduction { planner, kernel, bounds, piece, order, kept, folded, scratch: 0, is_across, work };
    fold.plan()
}

/// Whether neighbouring invocations should read neighbouring folded values, not neighbouring kept points.
fn is_across(kernel: &Verified, launch: &Launch) -> bool {
    let params = &kernel.kernel().params;
    let loaded = |&p: &usize| kernel.footprint().is_loaded(p as u32);
    let bytes = |dim: usize| {
        let of = |p: usize| launch.views[p].strides[dim].unsigned_abs() * params[p].dtype.size_bytes() as u64;
        (0..params.len()).filter(loaded).map(of).max()
    };
    let least = |folded: bool| {
        let dims = (0..launch.extents.len()).filter(|&k| launch.extents[k] > 1);
        dims.filter(|&k| is_folded(kernel.kernel(), k) == folded).map(bytes).min()
    };
    match (least(true), least(false)) {
        (Some(folded), Some(kept)) => folded < kept,
        (folded, _) => folded.is_some(),
    }
}

/// Levels of the tree over so many values.
fn levels(values: u64) -> u32 {
    values.max(1).next_power_of_two().ilog2()
}

/// The values numbered from `index << level` on, `1 << level` of them.
#[derive(Clone, Copy)]
struct Block {
    level: u32,
    index: u64,
}

/// The beginning of the partial results of neighbouring blocks.
#[derive(Clone, Copy)]
struct PartialPlace {
    side: usize,
    first: u64,
}

/// The division of values among the invocations of a pass.
#[derive(Clone, Copy)]
struct PassShape {
    log_threads: u32,
    steps: u64,
    /// Blocks that come out, per kept point.
    blocks: u64,
}

/// Values that one pass can read.
struct BlockPass {
    /// A box of the launch around the values.
    launch: Launch,
    windows: Vec<Option<Window>>,
    /// Their numbers within the box.
    numbers: std::ops::Range<u64>,
    shape: PassShape,
}

struct Reduction<'a> {
    planner: &'a Planner<'a>,
    kernel: &'a Verified,
    bounds: &'a Bounds,
    piece: &'a Piece,
    /// The folded dimensions, the last one fastest.
    order: Vec<usize>,
    kept: u64,
    /// Values that fold into one kept point.
    folded: u64,
    /// From here on partial results of a pass may be; results of halves are below.
    scratch: u64,
    is_across: bool,
    work: &'a mut Work,
}

impl Reduction<'_> {
    fn plan(&mut self) -> Result<(), TooWide> {
        let (whole, start) =
            (Block { level: levels(self.folded), index: 0 }, PartialPlace { side: 0, first: 0 });
        if self.folded == 0 {
            self.finish(start, 0);
            return Ok(());
        }
        match self.leaf(whole) {
            Ok(leaf) => {
                let mut place = start;
                let mut blocks = leaf.shape.blocks;
                self.reduce(&leaf, place);
                while blocks > self.fan_in() {
                    let to = PartialPlace { side: 1 - place.side, ..start };
                    (blocks, place) = (self.tree(place, blocks, to), to);
                }
                self.finish(place, blocks);
            }
            Err(wide) if whole.level == 0 => return Err(wide),
            Err(_) => {
                self.scratch = u64::from(whole.level + 1) * self.kept;
                self.halves(whole, start)?;
                self.finish(start, 2);
            }
        }
        Ok(())
    }

    /// Folds a block, so that one partial result per kept point is in place.
    fn fold(&mut self, block: Block, to: PartialPlace) -> Result<(), TooWide> {
        let leaf = match self.leaf(block) {
            Ok(leaf) => leaf,
            Err(wide) if block.level == 0 => return Err(wide),
            Err(_) => {
                let halves = PartialPlace { side: 1 - to.side, ..to };
                if self.halves(block, halves)? {
                    self.tree(halves, 2, to);
                    return Ok(());
                }
                // An odd last block goes up unchanged.
                return self.fold(Block { level: block.level - 1, index: 2 * block.index }, to);
            }
        };
        let mut passes = 0;
        let mut blocks = leaf.shape.blocks;
        while blocks > 1 {
            blocks = self.tree_shape(blocks).blocks;
            passes += 1;
        }
        let place = |left: usize| match left {
            0 => to,
            _ => PartialPlace { side: (to.side + left) % 2, first: self.scratch },
        };
        let places: Vec<PartialPlace> = (0..=passes).rev().map(place).collect();
        self.reduce(&leaf, places[0]);
        let mut blocks = leaf.shape.blocks;
        for pair in places.windows(2) {
            blocks = self.tree(pair[0], blocks, pair[1]);
        }
        Ok(())
    }

    /// Folds both halves of a block, if there are values in the second.
    fn halves(&mut self, block: Block, to: PartialPlace) -> Result<bool, TooWide> {
        let [left, right] =
            [0, 1].map(|side| Block { level: block.level - 1, index: 2 * block.index + side });
        let is_whole = right.index << right.level < self.folded;
        if is_whole {
            self.fold(left, to)?;
            self.fold(right, PartialPlace { first: to.first + self.kept, ..to })?;
        }
        Ok(is_whole)
    }

    /// The pass over a block, if bindings and partial results hold it.
    fn leaf(&self, block: Block) -> Result<BlockPass, TooWide> {
        let first = block.index << block.level;
        let last = (first + (1 << block.level)).min(self.folded) - 1;
        let launch = &self.piece.launch;
        let (mut start, mut extents) = (vec![0; launch.extents.len()], launch.extents.clone());
        // Dimensions in which first and last value have the same coordinate, then one in which they have not;
        // faster ones are whole.
        let (mut values, mut base) = (self.folded, 0);
        for &dim in &self.order {
            values /= launch.extents[dim] as u64;
            let [low, high] = [first, last].map(|at| at / values % launch.extents[dim] as u64);
            (start[dim], extents[dim]) = (low as usize, (high - low + 1) as usize);
            base += low * values;
            if low != high {
                break;
            }
        }
        let launch = boxed(launch, &start, &extents);
        let beyond = TooWide { param: 0, bytes: 0 };
        match too_big(self.kernel, &launch, self.bounds) {
            Some(wide) => return Err(wide),
            None if launch.points() as u64 / self.kept >= 1 << 31 => return Err(beyond),
            None => {}
        }
        let room = capacity(self.bounds) - self.scratch;
        let shape = self.shape(last - first + 1, self.is_across).filter(|s| s.blocks * self.kept <= room);
        let shape = shape.ok_or(beyond)?;
        let windows = windows(self.kernel, &launch, self.bounds);
        Ok(BlockPass { launch, windows, numbers: first - base..last + 1 - base, shape })
    }

    /// The division of so many values of each kept point among invocations, if the adapter has so many.
    fn shape(&self, values: u64, is_across: bool) -> Option<PassShape> {
        let size = u64::from(self.workgroup_size());
        let threads = values.div_ceil(CHUNK.into()).next_power_of_two().min(if is_across { size } else { 1 });
        let blocks = |steps: u64| values.div_ceil(u64::from(CHUNK) * threads * steps);
        let invocations = |steps: u64| (blocks(steps) * self.kept).saturating_mul(threads);
        let most = self.bounds.max_groups.saturating_mul(size).min(1 << 31);
        let room = capacity(self.bounds) - self.scratch;
        let is_enough = |steps: u64| {
            invocations(steps) <= BUSY.min(most) && blocks(steps) * self.kept <= room || blocks(steps) == 1
        };
        let mut steps = 1;
        while steps < u64::from(MAX_STEPS) && !is_enough(steps) {
            steps *= 2;
        }
        let shape = PassShape { log_threads: threads.ilog2(), steps, blocks: blocks(steps) };
        (invocations(steps) <= most).then_some(shape)
    }

    /// The shape of a pass over partial results.
    fn tree_shape(&self, previous: u64) -> PassShape {
        let threads = if self.kept < WIDE { u64::from(self.workgroup_size()) } else { 1 };
        let threads = previous.div_ceil(CHUNK.into()).next_power_of_two().min(threads);
        let chunks = previous.div_ceil(u64::from(CHUNK) * threads).next_power_of_two();
        let steps = chunks.min(MAX_STEPS.into());
        PassShape {
            log_threads: threads.ilog2(),
            steps,
            blocks: previous.div_ceil(u64::from(CHUNK) * threads * steps),
        }
    }

    /// Most partial results per kept point that the last pass folds.
    fn fan_in(&self) -> u64 {
        let threads = if self.kept < WIDE { self.workgroup_size() } else { 1 };
        u64::from(CHUNK * MAX_STEPS * threads)
    }

    fn workgroup_size(&self) -> u32 {
        self.planner.shader.stages[0].workgroup_size
    }

    fn reduce(&mut self, leaf: &BlockPass, to: PartialPlace) {
        let mut divisors = vec![1; leaf.launch.extents.len()];
        let mut values = 1;
        for &dim in self.order.iter().rev() {
            divisors[dim] = values as u32;
            values *= leaf.launch.extents[dim];
        }
        let numbers = leaf.numbers.start as u32..leaf.numbers.end as u32;
        let mut pass = self.pass(0, leaf.shape, numbers, [to, to]);
        pass.divisors = divisors;
        self.push(pass, &leaf.launch, &leaf.windows);
    }

    /// Folds partial results into fewer; how many.
    fn tree(&mut self, from: PartialPlace, previous: u64, to: PartialPlace) -> u64 {
        let shape = self.tree_shape(previous);
        let pass = self.pass(1, shape, 0..previous as u32, [from, to]);
        self.push(pass, &self.piece.launch, &self.piece.windows);
        shape.blocks
    }

    fn finish(&mut self, from: PartialPlace, previous: u64) {
        let shape = self.tree_shape(previous.max(1));
        let pass = self.pass(2, shape, 0..previous as u32, [from, from]);
        self.push(pass, &self.piece.launch, &self.piece.windows);
    }

    fn push(&mut self, pass: Pass, launch: &Launch, windows: &[Option<Window>]) {
        let end = u64::from(pass.header.partials_out) + u64::from(pass.header.limit);
        self.work.partials = self.work.partials.max(end as usize);
        self.work.dispatches.push(self.planner.dispatch(pass, launch, windows));
    }

    fn pass(
        &self,
        stage: usize,
        shape: PassShape,
        numbers: std::ops::Range<u32>,
        places: [PartialPlace; 2],
    ) -> Pass {
        let items = shape.blocks * self.kept;
        let groups = (items << shape.log_threads).div_ceil(u64::from(self.workgroup_size()));
        let groups = self.planner.groups(groups);
        let header = Header {
            groups: [groups[0], groups[1]],
            limit: items as u32,
            kept: self.kept as u32,
            first: numbers.start,
            end: numbers.end,
            log_threads: shape.log_threads,
            steps: shape.steps as u32,
            partials_in: places[0].first as u32,
            partials_out: places[1].first as u32,
            ..Header::default()
        };
        Pass { stage, groups, header, divisors: Vec::new(), sides: places.map(|place| place.side) }
    }
}

#[cfg(test)]
mod tests {
    use partita_kernels::wgsl::{WgslTarget, emit};
    use partita_kernels::{Builder, DType, Fold, FoldOp, Launch, View};

    use super::super::{Limits, plan};

    #[test]
    fn a_sum_of_up_to_2_28_values_takes_two_dispatches() {
        let mut k = Builder::new("sum", 1);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let value = k.load(input, &[0]);
        let kernel = k.reduce(&[true], &[Fold::Value { op: FoldOp::Sum, value, output }]).unwrap();
        let limits = Limits {
            max_binding_bytes: i32::MAX as u64 & !15,
            max_groups: 65_535,
            offset_alignment: 256,
            workgroup_size: 256,
        };
        for unroll in [1, 16] {
            let shader = emit(&kernel, &WgslTarget { unroll, ..WgslTarget::CAUTIOUS }).unwrap();
            for (values, dispatches) in [(1, 2), (16_385, 2), (1 << 28, 2), ((1 << 28) + 1, 3)] {
                let views = [1, 0].map(|stride| View { offset: 0, strides: vec![stride] }).to_vec();
                let launch = Launch { extents: vec![values], origin: vec![0], views, arguments: vec![] };
                let work = plan(&kernel, &shader, &launch, &[values as u64, 1], &limits).unwrap();
                assert_eq!(work.dispatches.len(), dispatches, "{values} values");
            }
        }
    }
}
