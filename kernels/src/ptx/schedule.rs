//! [`Schedule`]: the entries that a kernel's text offers, and how much each thread of them computes. From the
//! footprint alone: sizes and strides come later, with the launch.

use std::collections::BTreeSet;

use super::columns::StreamingPlan;
use super::limits::{MAX_INSTRUCTIONS, MAX_SHARED_BYTES};
use super::text::PtxTarget;
use crate::ir::{Access, Form, Kernel, Offsets, Op};
use crate::verify::{Footprint, LoadRow, ParamFootprint, Verified};

/// The entries that the text of a kernel offers beside `pointwise`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Schedule {
    pub vector: Option<Vectors>,
    /// A vector in each of several planes of a stencil.
    pub planes: Option<Planes>,
    /// Planes of a stencil that reads more than that one after the other.
    pub streaming: Option<StreamingPlan>,
    /// Transposed inputs may go through shared memory: points of a square that a thread computes.
    pub transpose: Option<usize>,
    /// Transposed inputs may be others' mirror images: arrays that are loaded then.
    pub mirrored: Option<usize>,
    /// Of a reduction.
    pub folds: FoldPlans,
}

impl Schedule {
    pub(crate) fn of(kernel: &Verified, target: &PtxTarget, plain: PlainLimits) -> Schedule {
        let vector = Vectors::of(kernel);
        let widest = vector.as_ref().map(|vector| vector.lanes);
        let planes = vector.as_ref().and_then(|vector| Planes::of(kernel, vector, plain));
        let planes = planes.or_else(|| Planes::of_many_arrays(kernel));
        let reads_across = (1..kernel.kernel().rank).any(|dim| kernel.footprint().reads_along(dim - 1));
        let widest = widest.filter(|_| planes.is_none() && reads_across);
        let streaming = widest.and_then(|lanes| StreamingPlan::of(kernel, lanes, target));
        let transpose = turns(kernel);
        let mirrored = transpose.and_then(|_| mirrored_sources(kernel));
        Schedule { vector, planes, streaming, transpose, mirrored, folds: FoldPlans::of(kernel) }
    }
}

/// Instructions of a body that is bound by memory alone. If it also reads few rows, one vector per thread
/// keeps 32 KiB of each under way on a multiprocessor, and that is too little.
const SHORT: usize = 24;

/// So few rows.
const FEW_ROWS: usize = 2;

/// The most arrays of a thread that computes 16 bytes of results: more would fill its registers. Of more it
/// computes one point.
const MANY_ARRAYS: usize = 12;

/// Bytes of the widest load there is.
const VECTOR_BYTES: usize = 16;

/// Several neighbouring points per thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Vectors {
    /// Points of a thread: the widest element type then fills 16 bytes.
    pub lanes: usize,
    /// Vectors of a thread, a block apart from each other.
    pub vectors: usize,
    /// Blocks that must fit side by side; 0 if the assembler decides.
    pub blocks: u32,
    pub rows: Vec<VectorRow>,
}

/// The elements of one row of a parameter that the points of a thread read.
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
        if has_many_arrays(footprint) {
            return None;
        }
        let lanes = VECTOR_BYTES / widest(footprint)?;
        if lanes * kernel.body.len() > MAX_INSTRUCTIONS {
            return None;
        }
        let rows = rows(footprint, lanes);
        // Of 16-bit elements even one vector takes many registers, and of 8 bytes two do.
        let few = if lanes <= 4 { FEW_ROWS } else { 1 };
        let vectors = if rows.len() <= few && kernel.body.len() <= SHORT { 2 } else { 1 };
        let blocks = if lanes == 2 && rows.len() > 1 { 5 } else { 0 };
        Some(Vectors { lanes, vectors, blocks, rows })
    }

    /// Parameters whose elements must be neighbours: a point reads its own along the last dimension.
    pub(crate) fn sideways(&self) -> impl Iterator<Item = u32> {
        self.rows.iter().filter(|row| row.is_sideways(self.lanes)).map(|row| row.param)
    }
}

fn used(footprint: &Footprint) -> impl Iterator<Item = &ParamFootprint> {
    footprint.params().iter().filter(|p| p.is_stored || p.radius.is_some())
}

/// Bytes of the widest element.
fn widest(footprint: &Footprint) -> Option<usize> {
    used(footprint).map(|param| param.size).max()
}

pub(crate) fn has_many_arrays(footprint: &Footprint) -> bool {
    used(footprint).count() > MANY_ARRAYS
}

impl VectorRow {
    /// Neighbours beside the vector are read.
    fn is_sideways(&self, lanes: usize) -> bool {
        self.positions.iter().any(|p| !(0..lanes as i32).contains(p))
    }
}

/// The most planes of a thread, and the most rows where these are its planes.
const MOST_PLANES: usize = 4;
const MOST_ROWS: usize = 2;

/// Which stencils are computed as plain vectors: those whose threads load no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlainLimits {
    /// Registers of 32 bits that what a thread loads may fill.
    pub words: usize,
    /// Loads of an array for each vector of a thread.
    pub loads: usize,
}

impl PlainLimits {
    /// Four blocks of 128 threads fit side by side, five of fields of radius 1; two fields of 13 points, and
    /// three of 9 in 2-D, are within. Of more loads L1 is the limit, and streaming is faster.
    pub const DEFAULT: PlainLimits = PlainLimits { words: 88, loads: 11 };
}

/// Instructions of all planes: some 16 KiB of code.
const MOST_COMPUTED: usize = 1200;

/// Several planes of one vector per thread, all of whose loads are under way at once. What planes of a thread
/// read in common it loads once; everything else that threads read in common comes from L1 and L2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Planes {
    /// Points of a thread in a plane.
    pub lanes: usize,
    /// Planes of a thread.
    pub count: usize,
    /// The dimension of the kernel that each slot of the grid counts; x is last.
    pub slots: Vec<usize>,
    /// The slot across planes: the first; or, of two slots, or if only they are read across, rows.
    pub walk: usize,
    /// All arrays are laid out alike: so many that each one's place would fill the registers.
    pub alike: bool,
    /// Rows of all planes; offsets are those from the point in the first.
    pub rows: Vec<VectorRow>,
}

impl Planes {
    fn of(verified: &Verified, vector: &Vectors, plain: PlainLimits) -> Option<Planes> {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let x = kernel.rank - 1;
        let along = (0..x).find(|&dim| footprint.reads_along(dim))?;
        let moved =
            |param: usize| footprint.loads().iter().any(|l| l.param as usize == param && !l.is_at_point());
        let in_place = |p: &(usize, &ParamFootprint)| p.1.is_in_place;
        let mut written = footprint.params().iter().enumerate().filter(in_place).peekable();
        // A thread that has moved leaves out, by planes, what others write.
        let least = if written.peek().is_some() { 2 } else { 1 };
        if written.any(|(p, _)| moved(p)) {
            return None;
        }
        let slots: Vec<usize> = match along + 1 == x {
            true => (0..=x).collect(),
            false => std::iter::once(along).chain((0..=x).filter(|&dim| dim != along)).collect(),
        };
        let walk = if along + 1 == x { along } else { 0 };
        let most = if along + 1 == x { MOST_ROWS } else { MOST_PLANES };
        let plan = |count: usize| {
            let rows = rows_of_planes(&vector.rows, along, count);
            Planes { lanes: vector.lanes, count, slots: slots.clone(), walk, alike: false, rows }
        };
        let plans = (0..).map(|n| most >> n).take_while(|&count| count >= least).map(plan);
        let computed = kernel.body.len() * vector.lanes;
        let PlainLimits { words, loads } = plain;
        let mut fitting = plans.filter(|plan| {
            plan.words(kernel) <= words && (computed * plan.count <= MOST_COMPUTED || plan.count == 1)
        });
        let mut params = 0..kernel.params.len() as u32;
        fitting.next().filter(|plan| params.all(|param| plan.loads(param) <= loads * plan.count))
    }

    /// One point, of 16-bit elements, too: so arrays of any phase take this entry. With the two points of a
    /// word, D3Q19 of f16 took 79 registers and spilled some; with one it takes 44.
    fn of_many_arrays(verified: &Verified) -> Option<Planes> {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let is_elementwise = matches!(kernel.form, Form::Elementwise { .. });
        let in_place = footprint.params().iter().any(|param| param.is_in_place);
        if !is_elementwise || kernel.rank == 0 || in_place || !has_many_arrays(footprint) {
            return None;
        }
        let (slots, rows) = ((0..kernel.rank).collect(), rows(footprint, 1));
        Some(Planes { lanes: 1, count: 1, slots, walk: 0, alike: true, rows })
    }

    /// Whether a thread may have to move, so that its points are inside.
    pub(crate) fn moves(&self) -> bool {
        self.lanes > 1
    }

    /// Loads of an array by a thread.
    fn loads(&self, param: u32) -> usize {
        let rows = self.rows.iter().filter(|row| row.param == param);
        rows.map(|row| runs(&row.positions, self.lanes).len()).sum()
    }

    /// Registers of 32 bits that they fill.
    fn words(&self, kernel: &Kernel) -> usize {
        let words = |row: &VectorRow| {
            let dtype = kernel.params[row.param as usize].dtype;
            match dtype.is_integer() {
                true => row.positions.len() * dtype.size_bytes().div_ceil(4),
                false => (row.positions.len() * dtype.size_bytes()).div_ceil(4),
            }
        };
        self.rows.iter().map(words).sum()
    }
}

/// The rows that several planes along a dimension read, each once.
fn rows_of_planes(of_one: &[VectorRow], along: usize, count: usize) -> Vec<VectorRow> {
    let mut rows: Vec<VectorRow> = Vec::new();
    for plane in 0..count as i32 {
        for row in of_one {
            let mut row = row.clone();
            row.offsets[along] += plane;
            match rows.iter_mut().find(|other| other.param == row.param && other.offsets == row.offsets) {
                Some(other) => other.positions.extend(&row.positions),
                None => rows.push(row),
            }
        }
    }
    rows
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

/// Points along each side of a square of the entry `transpose`.
pub(crate) const SIDE: usize = 32;

/// Points of a square that a thread computes; of narrow types twice as many, so that enough bytes are
/// under way.
pub(crate) const TURNS: usize = 4;

/// Elements from one row of a square in shared memory to the next: an odd number keeps the threads
/// that read a column out of each other's banks.
pub(crate) const PITCH: usize = SIDE + 1;

/// Points of a thread of the entry `transpose`, if every input is read at the point itself and their squares
/// fit in shared memory.
fn turns(verified: &Verified) -> Option<usize> {
    let (kernel, footprint) = (verified.kernel(), verified.footprint());
    let sizes = || turnable(footprint).map(|p| kernel.params[p as usize].dtype.size_bytes());
    let shared = sizes().map(|size| SIDE * PITCH * size).sum::<usize>();
    let turns = if sizes().max()? <= 2 { 2 * TURNS } else { TURNS };
    let is_possible = matches!(kernel.form, Form::Elementwise { .. })
        && kernel.rank >= 2
        && (1..=MAX_SHARED_BYTES).contains(&shared)
        && kernel.body.len() * turns <= MAX_INSTRUCTIONS
        && footprint.is_pointwise();
    is_possible.then_some(turns)
}

/// The number of sources that the entry `mirrored` loads: half of the inputs, rounded up, as the others are
/// their twins. All inputs have one type, and two squares of each source fit in shared memory.
fn mirrored_sources(verified: &Verified) -> Option<usize> {
    let (kernel, footprint) = (verified.kernel(), verified.footprint());
    let dtypes: Vec<_> = turnable(footprint).map(|p| kernel.params[p as usize].dtype).collect();
    let (sources, size) = (dtypes.len().div_ceil(2), dtypes.first()?.size_bytes());
    let is_possible = dtypes.len() >= 2
        && dtypes.iter().all(|dtype| *dtype == dtypes[0])
        && footprint.params().iter().all(|param| !param.is_in_place)
        && sources * 2 * SIDE * PITCH * size <= MAX_SHARED_BYTES
        && 2 * kernel.body.len() * TURNS <= MAX_INSTRUCTIONS;
    is_possible.then_some(sources)
}

/// Parameters that may be transposed.
pub(crate) fn turnable(footprint: &Footprint) -> impl Iterator<Item = u32> {
    let params = footprint.params().iter().zip(0..);
    params.filter(|(p, _)| p.radius.is_some() && !p.is_in_place).map(|(_, p)| p)
}

/// Bytes that a thread of a reduction has under way at once: twice as many where one address serves them all.
const BYTES_UNDER_WAY: usize = 64;

/// Blocks of a reduction with a short body that fit side by side: each thread then has 64 registers.
const FOLDING_BLOCKS: u32 = 4;

/// Registers of the values of a thread in one group.
const VALUE_REGISTERS: usize = 64;

/// Instructions that all repetitions of the body may have together.
const MAX_REPEATED: usize = 512;

/// The plans by which the threads of a reduction take their values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FoldPlans {
    pub any: FoldPlan,
    /// For runs that are one aligned load each.
    pub aligned: FoldPlan,
    /// Of kept points that share a word, where these lie closer together than folded ones.
    pub columns: Option<FoldPlan>,
    /// Blocks that must fit side by side; 0 if the assembler decides.
    pub blocks: u32,
}

impl FoldPlans {
    fn of(verified: &Verified) -> FoldPlans {
        let of = |bytes| FoldPlan::of(verified, bytes);
        let kernel = verified.kernel();
        let results = kernel.params.iter().filter(|param| param.access != Access::In).count();
        let has_bytes = kernel.params.iter().any(|param| param.dtype.size_bytes() == 1);
        // Of several results, and of the many values of a word, the assembler would spill some.
        let fits = kernel.body.len() <= SHORT && results == 1 && !has_bytes;
        let blocks = if fits { FOLDING_BLOCKS } else { 0 };
        let loads = || verified.footprint().loads().iter();
        let are_halves = loads().all(|load| kernel.params[load.param as usize].dtype.size_bytes() == 2);
        let has_coordinates = kernel.body.iter().any(|inst| matches!(inst.op, Op::Coord(_)));
        let fits = fits && kernel.stores_of_folds().is_empty();
        let columns = fits && loads().len() > 0 && are_halves && !has_coordinates;
        let columns = columns.then(|| FoldPlan::of_columns(loads().len()));
        FoldPlans { any: of(BYTES_UNDER_WAY), aligned: of(2 * BYTES_UNDER_WAY), columns, blocks }
    }
}

/// Values of a thread in one group: `steps` runs of `run` neighbours each, both powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FoldPlan {
    /// Neighbours, which one load takes where they are aligned.
    pub run: usize,
    /// Runs, a run of each of the other lanes apart.
    pub steps: usize,
    /// Kept points of a thread, which lie side by side in one load.
    pub columns: usize,
}

impl FoldPlan {
    /// Of partial results, which lie one after the other: so many that one group has those of most folds.
    pub(crate) const TREE: FoldPlan = FoldPlan { run: 1, steps: 16, columns: 1 };

    /// Levels of the counter of groups of a share.
    pub(crate) const LEVELS: u32 = 5;

    /// The largest number of groups of a share.
    pub(crate) const MOST_GROUPS: u64 = 1 << FoldPlan::LEVELS;

    fn of(verified: &Verified, most_bytes: usize) -> FoldPlan {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let sizes = || footprint.loads().iter().map(|load| footprint.params()[load.param as usize].size);
        let stored =
            kernel.stores_of_folds().iter().map(|store| footprint.params()[store.param as usize].size);
        let widest = sizes().chain(stored).max().unwrap_or(4);
        let bytes: usize = sizes().sum();
        let at_most = |most: usize| 1 << most.max(1).ilog2();
        let repeated = at_most(MAX_REPEATED / kernel.body.len().max(1));
        let run = (VECTOR_BYTES / widest).min(repeated);
        let under_way = at_most(most_bytes / (run * bytes.max(1)));
        let outputs = kernel.params.iter().filter(|param| param.access != Access::In);
        let registers: usize = outputs.map(|param| param.dtype.size_bytes().div_ceil(4)).sum();
        let most = at_most(VALUE_REGISTERS / registers.max(1)).max(run);
        FoldPlan { run, steps: under_way.min(most / run).min(repeated / run), columns: 1 }
    }

    /// Two columns of 16 bits in a word, of which as many bytes are under way.
    fn of_columns(loads: usize) -> FoldPlan {
        FoldPlan { run: 1, steps: 1 << (BYTES_UNDER_WAY / (4 * loads)).max(1).ilog2(), columns: 2 }
    }

    /// Elements of one load: of a run, or of several columns.
    pub(crate) fn neighbours(self) -> usize {
        self.run * self.columns
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
