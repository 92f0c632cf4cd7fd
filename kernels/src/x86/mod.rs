//! Writes machine code for x86-64 processors with AVX-512: the body of an elementwise kernel over rows.
//!
//! A body is a straight line, and so is its code: a block of 16 lanes (8, if some value has 8 bytes) goes
//! through all instructions, every value in a register, before the next block begins; the last lanes are a
//! block under a mask. Where rows read the same neighbours, several go through the body together (compilers
//! say unroll and jam), and each neighbour is read once. Of a row every second element may be seen
//! (`seconds`). `select` chooses instructions, with `arithmetic` and `cast`, `ahead` what memory is asked for
//! in time, `allocate` gives registers, `encode` writes bytes. The interpreter is the definition: the code
//! gives its bits, and a kernel with anything that has no instructions here (types of 1 and 2 bytes, integer
//! division, folds, gathers) has no code.
//!
//! Not here: where rows are, memory that can be executed, and whoever calls it; see
//! `cpu::machine`.

mod allocate;
mod arithmetic;
mod cast;
mod encode;
mod isa;
mod listing;
mod masks;
mod prefetch;
mod range;
mod select;
mod sequences;
mod steps;
mod table;

use crate::footprint::Footprint;
use crate::ir::{Kernel, Launch};
use crate::verify::Verified;

pub use isa::IsaLevel;
pub use listing::listing;
pub use steps::Pointer;

use allocate::Allocated;
use steps::Steps;

/// What code depends on of a launch: the same code serves all launches of one shape.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The dimension along which neighbours lie side by side in every array that is no splat. A load at an
    /// offset along it reads from the pointer of its neighbour.
    pub unit: Option<usize>,
    /// Dimensions whose coordinates grow from lane to lane.
    pub along: Vec<usize>,
    /// Of each parameter.
    pub lying: Vec<Lying>,
}

/// How neighbours of a row lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lying {
    /// Side by side.
    Row,
    /// They are one element.
    Splat,
}

impl Shape {
    fn along(&self, dim: usize) -> bool {
        self.along.contains(&dim)
    }
}

/// Unroll-and-jam: neighbouring rows of a launch whose blocks go through the body together, so that what
/// several of them read is read once. The code has the distances between the rows in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnrollAndJam {
    /// The dimension of the launch from row to row.
    pub dim: usize,
    /// Per parameter and dimension, in elements.
    pub strides: Vec<Vec<i64>>,
    /// The outputs bypass the caches: operands come from memory, too, and are prefetched.
    pub streams: bool,
}

/// Machine code for rows, of the type `extern "sysv64" fn(table: *mut u64, pool: *const u64) -> usize`.
/// It returns how many lanes of a row it has done, of the last one, unless an angle is not small: then the
/// table says how many rows are left, that one included. The table's words are those of [`words`].
pub struct Written {
    /// The instructions. They can be anywhere.
    pub bytes: Vec<u8>,
    /// The arrays' addresses in the table, at the row's first lane.
    pub pointers: Vec<Pointer>,
    /// The dimensions of the coordinates in the table, each of the row's first lane.
    pub coordinates: Vec<usize>,
    /// Rows that are computed together; the table counts such groups, and steps over them.
    pub rows: usize,
    /// Constants, and room for the arguments; see [`Written::pool`].
    pool: Vec<u64>,
    /// Lanes of a block.
    pub lanes: usize,
}

impl Written {
    /// The pool of launches without arguments.
    pub fn constants(&self) -> &[u64] {
        &self.pool
    }

    /// The pool of a launch with arguments.
    pub fn pool(&self, launch: &Launch) -> Vec<u64> {
        let mut pool = self.pool.clone();
        for (word, argument) in pool[select::ARGUMENTS..].iter_mut().zip(&launch.arguments) {
            *word = argument.bits;
        }
        pool
    }
}

/// Words of the table, which code changes as it goes: the pointers, as many steps from row to row in bytes,
/// the coordinates, as many steps of those.
pub mod words {
    /// Lanes of a row, at least 1.
    pub const LANES: usize = 0;
    /// Rows that are left, or groups of them, at least 1.
    pub const ROWS: usize = 1;
    /// Not 0 if blocks begin with a cache line of the outputs, all of which begin one at the same lane.
    pub const LINES: usize = 2;
    /// Not 0 if outputs go past the caches; lines then, too.
    pub const STREAM: usize = 3;
    /// The first pointer.
    pub const POINTERS: usize = 4;
}

/// Longer bodies are left to the interpreter.
const MAX_STEPS: usize = 4000;
/// So many stores and pointers fit into registers and tables.
const MAX_STORES: usize = 24;
/// When rows are computed together.
struct Tuning {
    /// The numbers of rows that are tried.
    rows: [usize; 2],
    /// So many stores at most, of all rows.
    stores: usize,
    /// How many times the reads per row a single row must have, whose operands are in the caches: stars of 7
    /// points (1.27) lose there, stars of 5 (1.43) and cubes (2 and more) gain.
    gain: f64,
    /// The same where outputs bypass the caches, since only such code prefetches.
    gain_streaming: f64,
}

const TUNING: Tuning = Tuning { rows: [4, 2], stores: 8, gain: 1.3, gain_streaming: 1.1 };

/// A kernel as code is written for it.
pub struct Prepared {
    level: IsaLevel,
    /// Mathematical functions spelled out.
    kernel: Verified,
    /// The same for small angles, with outputs that say whether they are.
    small: Option<Verified>,
    /// Dimensions along which rows may gain from being computed together.
    alike: Vec<usize>,
}

/// The codes of a launch.
pub struct Pair {
    /// Right for all values.
    pub full: Written,
    /// Returns early where an angle is not small; to be tried first.
    pub small: Option<Written>,
}

impl Prepared {
    /// `None` if there is no code that is worth it.
    pub fn new(kernel: &Verified, level: IsaLevel) -> Option<Prepared> {
        let small = crate::math::expand_small_angles(kernel);
        let dims = if small.is_some() { 0 } else { kernel.kernel().rank };
        let alike = (0..dims).filter(|&dim| kernel.footprint().shares_along(dim)).collect();
        let prepared = Prepared { level, kernel: crate::math::expand(kernel), small, alike };
        let short = |kernel: &Verified| kernel.kernel().body.len() <= MAX_STEPS;
        let is_short = short(&prepared.kernel) && prepared.small.as_ref().is_none_or(short);
        is_short.then_some(prepared)
    }

    /// The kernel that shapes are of.
    pub fn kernel(&self) -> &Kernel {
        self.kernel.kernel()
    }

    /// What one point reads and writes.
    pub fn footprint(&self) -> &Footprint {
        self.kernel.footprint()
    }

    /// Is all that is stored just what was loaded?
    pub fn only_moves(&self) -> bool {
        self.kernel.footprint().copies().is_some()
    }

    /// Dimensions along which rows may gain from being computed together: neighbours read the same.
    pub fn alike(&self) -> &[usize] {
        &self.alike
    }

    /// The code for launches of a shape, if every instruction has some.
    pub fn write(&self, shape: &Shape) -> Option<Pair> {
        let guards = self.guards();
        let small = self.small.as_ref().and_then(|small| write(small.kernel(), shape, guards, self.level));
        Some(Pair { full: write(self.kernel(), shape, guards, self.level)?, small })
    }

    /// Code that computes several rows together, of the number that takes the fewest reads per row, if they
    /// are so many fewer that it gains.
    pub fn jam(&self, shape: &Shape, jam: &UnrollAndJam) -> Option<Written> {
        self.jammed(shape, jam).map(|(steps, allocated, rows)| finish(steps, &allocated, rows))
    }

    /// The same as instructions, with their registers and the number of rows.
    fn jammed(&self, shape: &Shape, jam: &UnrollAndJam) -> Option<(Steps, Allocated, usize)> {
        let select = |jam| select::select(self.kernel(), shape, self.guards(), jam, self.level);
        let gain = if jam.streams { TUNING.gain_streaming } else { TUNING.gain };
        let mut fewest = allocate::allocate(&select(None)?).reads() / gain;
        let mut best = None;
        for rows in TUNING.rows {
            let Some(steps) = select(Some((jam, rows))) else { continue };
            if steps.stores.len() > TUNING.stores {
                continue;
            }
            let allocated = allocate::allocate(&steps);
            let reads = allocated.reads() / rows as f64;
            if reads < fewest {
                fewest = reads;
                best = Some((steps, allocated, rows));
            }
        }
        best
    }

    /// Outputs from this parameter on say whether angles are small.
    fn guards(&self) -> usize {
        self.kernel().params.len()
    }
}

fn write(kernel: &Kernel, shape: &Shape, guards: usize, level: IsaLevel) -> Option<Written> {
    let steps = select::select(kernel, shape, guards, None, level)?;
    if steps.stores.len() > MAX_STORES {
        return None;
    }
    let allocated = allocate::allocate(&steps);
    Some(finish(steps, &allocated, 1))
}

fn finish(steps: Steps, allocated: &Allocated, rows: usize) -> Written {
    let bytes = encode::encode(&steps, allocated);
    let bytes = bytes.expect("instructions take the operands that they are given");
    let Steps { pointers, coordinates, pool, lanes, .. } = steps;
    Written { bytes, pointers, coordinates, rows, pool, lanes }
}
