//! From kernels to machine code: one code per shape of launch, and one for several rows together where that
//! gains.
//!
//! Bodies with angles have two codes: one that is right for small angles only and returns where one is not,
//! and one that is right for all.

use super::assembler::encode;
use super::prefetch::prefetches;
use super::registers::{AllocatedCode, allocate};
use super::select::{ARGUMENT, ARGUMENTS, select, select_fold, twice};
use super::target::{FoldMemory, IsaLevel, LaunchShape, UnrollAndJam};
use super::virtual_code::{RowPointer, VirtualCode};
use crate::ir::{FoldOp, Form, Kernel, Launch, Value};
use crate::verify::{Footprint, Verified};

/// Machine code for rows, of the type `extern "sysv64" fn(table: *mut u64, pool: *const u64) -> usize`.
/// It returns how many lanes of a row it has done, of the last one, unless an angle is not small: then the
/// table says how many rows are left, that one included. The table's words are those of `words`.
pub struct MachineCode {
    /// The instructions. They can be anywhere.
    pub bytes: Vec<u8>,
    /// The arrays' addresses in the table, at the row's first lane.
    pub pointers: Vec<RowPointer>,
    /// The dimensions of the coordinates in the table, each of the row's first lane.
    pub coordinates: Vec<usize>,
    /// Rows that are computed together; the table counts such groups, and steps over them.
    pub rows: usize,
    /// Constants, and room for the arguments; see [`MachineCode::append_pool`].
    pool: Vec<u64>,
    /// Lanes of a block.
    pub lanes: usize,
    /// Of code that folds.
    pub fold: Option<FoldMemory>,
}

impl MachineCode {
    /// The pool of launches without arguments.
    pub fn constants(&self) -> &[u64] {
        &self.pool
    }

    /// Appends the pool of a launch with arguments.
    pub fn append_pool(&self, launch: &Launch, words: &mut Vec<u64>) {
        let first = words.len();
        words.extend_from_slice(&self.pool);
        let arguments = words[first + ARGUMENTS..].chunks_exact_mut(ARGUMENT);
        for (words, argument) in arguments.zip(&launch.arguments) {
            let is_long = argument.dtype.size_bytes() == 8;
            words.fill(if is_long { argument.bits } else { twice(argument.bits) });
        }
    }
}

/// Longer bodies are left to compiled loops.
const MAX_STEPS: usize = 4000;
/// So many stores and pointers fit into registers and tables.
const MAX_STORES: usize = 24;

/// So many folds at most in one code.
const MAX_FOLDS: usize = 4;

/// When rows are computed together.
struct Tuning {
    /// The numbers of rows that are tried.
    rows: [usize; 2],
    /// So many stores at most, of all rows.
    stores: usize,
    /// The least ratio of a single row's reads to the reads per row of such code, whose operands are in the
    /// caches: stars of 7 points (1.27) lose there, stars of 5 (1.43) and cubes (2 and more) gain.
    gain: f64,
    /// The same where outputs are too large for the caches, since only such code prefetches.
    gain_streaming: f64,
}

const TUNING: Tuning = Tuning { rows: [4, 2], stores: 8, gain: 1.3, gain_streaming: 1.1 };

/// A kernel as code is written for it.
pub struct CodeGenerator {
    level: IsaLevel,
    /// Mathematical functions spelled out.
    kernel: Verified,
    /// The same for small angles, with outputs that say whether they are.
    small: Option<Verified>,
    /// Dimensions along which rows may gain from being computed together.
    shared_dims: Vec<usize>,
}

/// The codes of a launch.
pub struct CodePair {
    /// Right for all values.
    pub full: MachineCode,
    /// Returns early where an angle is not small; to be tried first.
    pub small: Option<MachineCode>,
}

impl CodeGenerator {
    /// `None` if there is no code that is worth it.
    pub fn new(kernel: &Verified, level: IsaLevel) -> Option<CodeGenerator> {
        let small = crate::math::expand_small_angles(kernel);
        let dims = if small.is_some() { 0 } else { kernel.kernel().rank };
        let shared_dims = (0..dims).filter(|&dim| kernel.footprint().shares_along(dim)).collect();
        let prepared = CodeGenerator { level, kernel: crate::math::expand(kernel), small, shared_dims };
        let short = |kernel: &Verified| kernel.kernel().body.len() <= MAX_STEPS;
        let is_short = short(&prepared.kernel) && prepared.small.as_ref().is_none_or(short);
        is_short.then_some(prepared)
    }

    /// The kernel that shapes are of.
    pub fn kernel(&self) -> &Kernel {
        self.kernel.kernel()
    }

    /// The reads and writes of one point.
    pub fn footprint(&self) -> &Footprint {
        self.kernel.footprint()
    }

    /// Dimensions along which rows may gain from being computed together: neighbours read the same.
    pub fn shared_dims(&self) -> &[usize] {
        &self.shared_dims
    }

    /// The code for launches of a shape, if every instruction has some.
    pub fn write(&self, shape: &LaunchShape) -> Option<CodePair> {
        let guards = self.guards();
        let small = self.small.as_ref().and_then(|small| write(small.kernel(), shape, guards, self.level));
        Some(CodePair { full: write(self.kernel(), shape, guards, self.level)?, small })
    }

    /// The code that folds along rows what is stored, each store's number with its operation. Bodies with
    /// angles have none: their values are computed first, by the code that expects small ones.
    pub fn fold(&self, shape: &LaunchShape, folds: &[(FoldOp, usize)]) -> Option<MachineCode> {
        if self.small.is_some() || folds.is_empty() || folds.len() > MAX_FOLDS {
            return None;
        }
        let Form::Elementwise { stores } = &self.kernel().form else { return None };
        let folds: Vec<(FoldOp, Value)> = folds.iter().map(|&(op, n)| (op, stores[n].value)).collect();
        let steps = select_fold(self.kernel(), &folds, shape, self.level)?;
        let allocated = allocate(&steps);
        Some(finish(steps, &allocated, 1))
    }

    /// Code that computes several rows together, of the number that takes the fewest reads per row, if they
    /// are so many fewer that it gains.
    pub fn jam(&self, shape: &LaunchShape, jam: &UnrollAndJam) -> Option<MachineCode> {
        let select = |jam| select(self.kernel(), shape, self.guards(), jam, self.level);
        let gain = if jam.streams { TUNING.gain_streaming } else { TUNING.gain };
        let mut fewest = allocate(&select(None)?).reads() / gain;
        let mut best = None;
        for rows in TUNING.rows {
            let Some(mut steps) = select(Some((jam, rows))) else { continue };
            if jam.streams {
                steps.prefetches = prefetches(&steps, self.kernel(), jam, rows);
            }
            if steps.body.stores.len() > TUNING.stores {
                continue;
            }
            let allocated = allocate(&steps);
            let reads = allocated.reads() / rows as f64;
            if reads < fewest {
                fewest = reads;
                best = Some((steps, allocated, rows));
            }
        }
        best.map(|(steps, allocated, rows)| finish(steps, &allocated, rows))
    }

    /// Outputs from this parameter on say whether angles are small.
    fn guards(&self) -> usize {
        self.kernel().params.len()
    }
}

fn write(kernel: &Kernel, shape: &LaunchShape, guards: usize, level: IsaLevel) -> Option<MachineCode> {
    let steps = select(kernel, shape, guards, None, level)?;
    if steps.body.stores.len() > MAX_STORES {
        return None;
    }
    let allocated = allocate(&steps);
    Some(finish(steps, &allocated, 1))
}

fn finish(steps: VirtualCode, allocated: &AllocatedCode, rows: usize) -> MachineCode {
    let bytes = encode(&steps, allocated);
    let bytes = bytes.expect("instructions take the operands that they are given");
    let VirtualCode { pointers, coordinates, pool, lanes, fold, .. } = steps;
    MachineCode { bytes, pointers, coordinates, rows, pool, lanes, fold: fold.map(|fold| fold.memory) }
}
