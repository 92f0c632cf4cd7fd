//! What a kernel's text offers: which entries, and how much each thread of them computes. From the footprint
//! alone: sizes and strides come later, with the launch.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Access, Form, Kernel, Offsets};
use crate::verify::Verified;
use crate::verify::footprint::{Footprint, LoadRow, row_and_column};

/// What the text of a kernel offers beside the entry `pointwise`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Schedule {
    pub vector: Option<Vectors>,
    /// Planes of a stencil one after the other.
    pub streaming: Option<StreamingPlan>,
    /// Transposed inputs may go through shared memory.
    pub transpose: bool,
    /// Of a reduction.
    pub fold: FoldPlan,
}

impl Schedule {
    pub(crate) fn of(kernel: &Verified) -> Schedule {
        let vector = Vectors::of(kernel);
        let streaming = vector.as_ref().and_then(|vector| StreamingPlan::of(kernel, vector));
        Schedule { vector, streaming, transpose: is_transposed(kernel), fold: FoldPlan::of(kernel) }
    }
}

/// Instructions that the fast path may repeat in all: more would cost compile time, and such a kernel
/// is bound by arithmetic.
const MAX_INSTRUCTIONS: usize = 4096;

/// Instructions of a body that is bound by memory alone. If it also reads a single row, one vector per
/// thread keeps 32 KiB of loads under way on a multiprocessor, and two are needed.
const SHORT: usize = 16;

/// Bytes of the widest load there is.
const VECTOR_BYTES: usize = 16;

/// Several neighbouring points per thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Vectors {
    /// Points of a thread: the widest element type then fills 16 bytes.
    pub lanes: usize,
    /// Vectors of a thread, a block apart from each other.
    pub vectors: usize,
    pub rows: Vec<VectorRow>,
}

/// What the points of a thread read of one row of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct VectorRow {
    pub param: u32,
    /// Offsets of the row; 0 in the last dimension.
    pub offsets: Offsets,
    /// Elements read, counted from the thread's first point.
    pub positions: BTreeSet<i32>,
}

impl Vectors {
    fn of(verified: &Verified) -> Option<Vectors> {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let Form::Elementwise { stores } = &kernel.form else { return None };
        if kernel.rank == 0 || stores.is_empty() {
            return None;
        }
        let used = footprint.params().iter().filter(|p| p.is_stored || p.radius.is_some());
        let widest = used.map(|p| p.size).max()?;
        let lanes = VECTOR_BYTES / widest;
        if lanes * kernel.body.len() > MAX_INSTRUCTIONS {
            return None;
        }
        let rows = rows(footprint, lanes);
        let vectors = if rows.len() == 1 && kernel.body.len() <= SHORT { 2 } else { 1 };
        Some(Vectors { lanes, vectors, rows })
    }

    /// Parameters of which a point reads its neighbours along the last dimension.
    pub(crate) fn sideways(&self) -> impl Iterator<Item = u32> {
        let lanes = 0..self.lanes as i32;
        self.rows.iter().filter(move |r| r.positions.iter().any(|p| !lanes.contains(p))).map(|r| r.param)
    }
}

impl VectorRow {
    /// Instructions that load it where it is aligned.
    fn loads(&self, lanes: usize) -> usize {
        runs(&self.positions, lanes).len()
    }
}

/// The rows of a parameter and the position of each load in its row.
fn rows(footprint: &Footprint, lanes: usize) -> Vec<VectorRow> {
    let vector = |column: i32| (0..lanes as i32).map(move |lane| lane + column);
    let row = |row: &LoadRow| VectorRow {
        param: row.param,
        offsets: row.offsets.clone(),
        positions: row.columns.iter().flat_map(|&column| vector(column)).collect(),
    };
    footprint.rows().iter().map(row).collect()
}

/// Covers positions with runs that are aligned to their own length, as long as possible.
pub(crate) fn runs(positions: &BTreeSet<i32>, lanes: usize) -> Vec<(i32, usize)> {
    let mut left = positions.clone();
    let mut runs = Vec::new();
    while let Some(&first) = left.first() {
        let mut len = lanes as i32;
        while first % len != 0 || !(first..first + len).all(|p| left.contains(&p)) {
            len /= 2;
        }
        left.retain(|p| !(first..first + len).contains(p));
        runs.push((first, len as usize));
    }
    runs
}

/// A position in the name of a register.
pub(crate) fn place_name(position: i32) -> String {
    if position < 0 { format!("m{}", -position) } else { position.to_string() }
}

/// Loads of one vector of one parameter that streaming must save to be worth its registers: more than a
/// stencil of 5 or 7 points has to offer, whose neighbours the second-level cache serves well.
const MIN_SAVED: usize = 4;

/// Registers of 32 bits that may be filled with elements: the body needs some, and a multiprocessor
/// should hold two blocks at least.
const MAX_KEPT: usize = 96;

/// Rows that are aligned together: those of a parameter at one distance from the point, on either side,
/// where rows need not be whole vectors apart. The plane makes no difference.
pub(crate) type Group = (u32, Vec<u32>);

/// How a kernel streams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StreamingPlan {
    /// Points of a thread in a plane.
    pub lanes: usize,
    /// The dimension of the kernel that is walked along.
    pub along: usize,
    /// Registers of the longest ring, and copies of the body.
    pub period: usize,
    /// What is loaded in each plane.
    pub streams: Vec<KeptRow>,
}

/// A row that is loaded in each plane, and for how many planes each of its elements is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeptRow {
    pub row: VectorRow,
    pub planes: BTreeMap<i32, usize>,
}

impl StreamingPlan {
    /// The walk that saves the most loads, if one is worth it.
    fn of(verified: &Verified, vector: &Vectors) -> Option<StreamingPlan> {
        let kernel = verified.kernel();
        let narrower = |along: usize| {
            let lanes = (0..).map(|n| vector.lanes >> n).take_while(|&lanes| lanes > 0);
            lanes
                .map(|lanes| StreamingPlan::along(verified.footprint(), along, lanes))
                .find(|streaming| streaming.fits(verified))
        };
        let plans = (0..kernel.rank.saturating_sub(1)).rev().filter_map(narrower);
        let best = plans.max_by_key(|streaming| streaming.saved(kernel, vector))?;
        (best.saved(kernel, vector) >= MIN_SAVED).then_some(best)
    }

    /// Each element is loaded in the first plane that reads it.
    fn along(footprint: &Footprint, along: usize, lanes: usize) -> StreamingPlan {
        let mut read: BTreeMap<(u32, Offsets, i32), (i32, i32)> = BTreeMap::new();
        for site in footprint.loads() {
            let (mut column, last) = row_and_column(&site.offsets);
            let plane = std::mem::take(&mut column[along]);
            for lane in 0..lanes as i32 {
                let planes = read.entry((site.param, column.clone(), lane + last)).or_insert((plane, plane));
                *planes = (planes.0.min(plane), planes.1.max(plane));
            }
        }
        let mut streams: Vec<KeptRow> = Vec::new();
        for ((param, mut offsets, position), (lowest, highest)) in read {
            offsets[along] = highest;
            let at = streams.iter().position(|s| s.row.param == param && s.row.offsets == offsets);
            let at = at.unwrap_or_else(|| {
                let row = VectorRow { param, offsets, positions: Default::default() };
                streams.push(KeptRow { row, planes: BTreeMap::new() });
                streams.len() - 1
            });
            streams[at].row.positions.insert(position);
            streams[at].planes.insert(position, (highest - lowest) as usize + 1);
        }
        let period = streams.iter().flat_map(|s| s.planes.values().copied()).max().unwrap_or(1);
        StreamingPlan { lanes, along, period, streams }
    }

    /// Registers of a ring that keeps this many planes: a divisor of the period, so that each copy of the
    /// body always meets the same ones.
    fn ring(&self, planes: usize) -> usize {
        (planes..=self.period).find(|ring| self.period.is_multiple_of(*ring)).unwrap_or(self.period)
    }

    fn fits(&self, verified: &Verified) -> bool {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let words = |s: &KeptRow| {
            let wide = footprint.params()[s.row.param as usize].size.div_ceil(4);
            s.planes.values().map(|&planes| wide * self.ring(planes)).sum::<usize>()
        };
        let computed = kernel.body.len() - footprint.loads().len();
        self.streams.iter().map(words).sum::<usize>() <= MAX_KEPT
            && computed * self.lanes * self.period <= MAX_INSTRUCTIONS
    }

    /// Loads per vector of the other entry that streaming saves, for the parameter where it saves most.
    fn saved(&self, kernel: &Kernel, vector: &Vectors) -> usize {
        let here = |p: u32| self.streams.iter().map(|s| &s.row).filter(move |r| r.param == p);
        let there = |p: u32| vector.rows.iter().filter(move |r| r.param == p);
        let saved = |p: u32| {
            let loads: usize = there(p).map(|r| r.loads(vector.lanes)).sum();
            let streamed: usize = here(p).map(|r| r.loads(self.lanes)).sum();
            loads.saturating_sub(streamed * (vector.lanes / self.lanes))
        };
        (0..kernel.params.len() as u32).map(saved).max().unwrap_or(0)
    }

    /// The stream and the plane of it that a load reads at a position: 0 is the newest.
    pub(crate) fn source(&self, param: u32, offsets: &Offsets, position: i32) -> (usize, usize) {
        let same = |row: &VectorRow| {
            let others = row.offsets.iter().zip(offsets).enumerate();
            row.param == param && others.filter(|(k, _)| *k != self.along).all(|(_, (a, b))| a == b)
        };
        let at = self.streams.iter().position(|s| same(&s.row) && s.planes.contains_key(&position));
        let at = at.expect("every load has its stream");
        (at, (self.streams[at].row.offsets[self.along] - offsets[self.along]) as usize)
    }

    /// The rows that this one is aligned with.
    pub(crate) fn group(&self, row: &VectorRow) -> Group {
        let distance = |(k, d): (usize, &i32)| if k == self.along { 0 } else { d.unsigned_abs() };
        (row.param, row.offsets.iter().enumerate().map(distance).collect())
    }

    /// Something of this parameter is loaded in this plane: in those before the first, only what is kept
    /// long enough to be read.
    pub(crate) fn loads_in(&self, param: u32, plane: i32) -> bool {
        let kept = |s: &KeptRow| s.planes.values().any(|&planes| planes as i32 > -plane);
        self.streams.iter().any(|s| s.row.param == param && kept(s))
    }

    /// The register of an element that is loaded in a plane, counted from the walk's first.
    pub(crate) fn element(&self, stream: usize, position: i32, plane: i32) -> String {
        let name = format!("%w{stream}_{}", place_name(position));
        match self.ring(self.streams[stream].planes[&position]) {
            1 => name,
            ring => format!("{name}_{}", plane.rem_euclid(ring as i32)),
        }
    }
}

/// Slots of streaming: the walk, and at least x and y.
pub(crate) fn streaming_slots(kernel: &Kernel) -> usize {
    kernel.rank.max(3)
}

/// Points along each side of a square of the entry `transpose`.
pub(crate) const SIDE: usize = 32;

/// Points of a square that a thread computes.
pub(crate) const TURNS: usize = 4;

/// Static shared memory of a block.
const MAX_SHARED_BYTES: usize = 48 << 10;

/// Elements from one row of a square in shared memory to the next: an odd number keeps the threads
/// that read a column out of each other's banks.
pub(crate) const PITCH: usize = SIDE + 1;

/// Every input is read at the point itself, and their squares fit in shared memory.
fn is_transposed(verified: &Verified) -> bool {
    let (kernel, footprint) = (verified.kernel(), verified.footprint());
    let sizes = turnable(footprint).map(|p| kernel.params[p as usize].dtype.size_bytes());
    let shared = sizes.map(|size| SIDE * PITCH * size).sum::<usize>();
    matches!(kernel.form, Form::Elementwise { .. })
        && kernel.rank >= 2
        && (1..=MAX_SHARED_BYTES).contains(&shared)
        && kernel.body.len() * TURNS <= MAX_INSTRUCTIONS
        && footprint.is_pointwise()
}

/// Parameters that may be transposed.
pub(crate) fn turnable(footprint: &Footprint) -> impl Iterator<Item = u32> {
    let params = footprint.params().iter().zip(0..);
    params.filter(|(p, _)| p.radius.is_some() && !p.is_in_place).map(|(_, p)| p)
}

/// Bytes that a thread has under way at once.
const BYTES_UNDER_WAY: usize = 64;

/// Registers of the values that a thread combines by a tree.
const VALUE_REGISTERS: usize = 32;

/// Instructions that all repetitions of the body may have together.
const MAX_REPEATED: usize = 512;

/// Values of a thread in one group: `steps` runs of `run` neighbours each, both powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FoldPlan {
    /// Neighbours, which one load takes where they are aligned.
    pub run: usize,
    /// Runs, a run of each of the other lanes apart.
    pub steps: usize,
}

impl FoldPlan {
    /// Of partial results, which lie one after the other.
    pub(crate) const TREE: FoldPlan = FoldPlan { run: 1, steps: 4 };

    /// Levels of the counter of groups of a share.
    pub(crate) const LEVELS: u32 = 5;

    /// The largest number of groups of a share.
    pub(crate) const MOST_GROUPS: u64 = 1 << FoldPlan::LEVELS;

    fn of(verified: &Verified) -> FoldPlan {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let sizes = || footprint.loads().iter().map(|load| footprint.params()[load.param as usize].size);
        let widest = sizes().max().unwrap_or(4);
        let bytes: usize = sizes().sum();
        let at_most = |most: usize| 1 << most.max(1).ilog2();
        let repeated = at_most(MAX_REPEATED / kernel.body.len().max(1));
        let run = (VECTOR_BYTES / widest).min(repeated);
        let under_way = at_most(BYTES_UNDER_WAY / (run * bytes.max(1)));
        let outputs = kernel.params.iter().filter(|param| param.access != Access::In);
        let registers: usize = outputs.map(|param| param.dtype.size_bytes().div_ceil(4)).sum();
        let most = at_most(VALUE_REGISTERS / registers.max(1)).max(run);
        FoldPlan { run, steps: under_way.min(most / run).min(repeated / run) }
    }

    /// Values of a thread in one group.
    pub(crate) fn values(self) -> usize {
        self.run * self.steps
    }
}

/// Kept and folded slots of a reduction: at least one of each.
pub(crate) fn fold_slots(kernel: &Kernel) -> (usize, usize) {
    let Form::Reduce { axes, .. } = &kernel.form else { unreachable!("called for reductions") };
    let folded = axes.iter().filter(|&&a| a).count();
    ((axes.len() - folded).max(1), folded.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_covered_by_the_longest_aligned_runs() {
        let cover = |range: std::ops::Range<i32>| runs(&range.collect(), 4);
        assert_eq!(cover(0..4), [(0, 4)]);
        assert_eq!(cover(-1..5), [(-1, 1), (0, 4), (4, 1)]);
        assert_eq!(cover(-2..6), [(-2, 2), (0, 4), (4, 2)]);
        assert_eq!(cover(-4..8), [(-4, 4), (0, 4), (4, 4)]);
        assert_eq!(cover(1..5), [(1, 1), (2, 2), (4, 1)]);
    }
}
