//! Writes machine code for x86-64 processors with AVX-512: the body of an elementwise kernel over one row.
//!
//! A body is a straight line, and so is its code: a block of 16 lanes (8, if some value has 8 bytes) goes
//! through all instructions, every value in a register, before the next block begins; the last lanes are a
//! block under a mask. `select` chooses instructions, `allocate` gives them registers, `encode`
//! writes bytes. The interpreter is the definition: the code gives its bits, and a kernel with anything that
//! has no instructions here (types of 1 and 2 bytes, integer division, folds, gathers) has no code.
//!
//! Not here: which rows there are, memory that can be executed, and whoever calls it; see
//! `interpret::machine`.

mod allocate;
mod encode;
mod select;
mod steps;
mod table;

use crate::ir::{Kernel, Launch, Op, Value};
use crate::verify::Verified;

pub use steps::Pointer;

/// What code depends on of a launch: the same code serves all launches of one shape.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// The dimension along which neighbours lie side by side in every array that is no splat. A load at an
    /// offset along it reads from the pointer of its neighbour.
    pub unit: Option<usize>,
    /// Dimensions whose coordinates grow from lane to lane.
    pub along: Vec<usize>,
    /// Per parameter: it gives the same element to every lane.
    pub splats: Vec<bool>,
}

impl Shape {
    fn along(&self, dim: usize) -> bool {
        self.along.contains(&dim)
    }
}

/// Machine code for rows, of the type `extern "sysv64" fn(table: *const u64, pool: *const u64) -> usize`,
/// which returns how many lanes it has done. The table's words are: the lanes of the row, at least 1; how
/// many of them lie before a cache line of the outputs begins, fewer than a block, or 0; not 0 if outputs
/// go past the caches, which from then on begin a cache line at every block; the pointers; the coordinates.
pub struct Written {
    /// The instructions. They can be anywhere.
    pub bytes: Vec<u8>,
    /// The arrays' addresses in the table, at the row's first lane.
    pub pointers: Vec<Pointer>,
    /// The dimensions of the coordinates in the table, each of the row's first lane.
    pub coordinates: Vec<usize>,
    /// Constants, and room for the arguments; see [`Written::pool`].
    pool: Vec<u64>,
    /// Lanes of a block.
    pub lanes: usize,
}

impl Written {
    /// The pool of a launch.
    pub fn pool(&self, launch: &Launch) -> Vec<u64> {
        let mut pool = self.pool.clone();
        for (word, argument) in pool[select::ARGUMENTS..].iter_mut().zip(&launch.arguments) {
            *word = argument.bits;
        }
        pool
    }
}

/// Longer bodies are left to the interpreter.
const MAX_STEPS: usize = 4000;
/// So many stores and pointers fit into registers and tables.
const MAX_STORES: usize = 24;

/// A kernel as code is written for it.
pub struct Prepared {
    /// Mathematical functions spelled out.
    kernel: Verified,
    /// The same for small angles, with outputs that say whether they are.
    small: Option<Verified>,
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
    pub fn new(kernel: &Verified) -> Option<Prepared> {
        let body = &kernel.kernel().body;
        // What only moves is bound by memory.
        let loads = |root: Value| matches!(body[root.index()].op, Op::Load { .. });
        if kernel.kernel().roots().into_iter().all(loads) {
            return None;
        }
        let small = crate::math::expand_small_angles(kernel);
        let prepared = Prepared { kernel: crate::math::expand(kernel), small };
        let short = |kernel: &Verified| kernel.kernel().body.len() <= MAX_STEPS;
        let is_short = short(&prepared.kernel) && prepared.small.as_ref().is_none_or(short);
        is_short.then_some(prepared)
    }

    /// The kernel that shapes are of.
    pub fn kernel(&self) -> &Kernel {
        self.kernel.kernel()
    }

    /// The code for launches of a shape, if every instruction has some.
    pub fn write(&self, shape: &Shape) -> Option<Pair> {
        let guards = self.kernel().params.len();
        let small = self.small.as_ref().and_then(|small| write(small.kernel(), shape, guards));
        Some(Pair { full: write(self.kernel(), shape, guards)?, small })
    }
}

fn write(kernel: &Kernel, shape: &Shape, guards: usize) -> Option<Written> {
    let steps = select::select(kernel, shape, guards)?;
    if steps.stores.len() > MAX_STORES {
        return None;
    }
    let bytes = encode::encode(&steps, &allocate::allocate(&steps));
    let bytes = bytes.expect("instructions take the operands that they are given");
    let steps::Steps { pointers, coordinates, pool, lanes, .. } = steps;
    Some(Written { bytes, pointers, coordinates, pool, lanes })
}
