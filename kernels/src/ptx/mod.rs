//! The PTX writer: from a verified kernel to PTX text, and from a launch to grids.
//!
//! A [`Module`] has a few entry points, each a complete way to run the kernel: `plain` visits one
//! point per thread, whatever the strides; `vector` moves 16 bytes at a time; `march` takes the planes of a
//! wide stencil one after the other and keeps what the next ones need in registers; `tile` transposes
//! through shared memory; `boxes` visits many boxes in one launch; `fold` and `finish` are the stages of a
//! reduction. [`Module::prepare`] picks
//! entries, cuts the region into grids and fills in their parameters: the *block*, which the text
//! reads with `ld.param`. All of it is pure: text and numbers.
//!
//! How values live in registers: bool as `.pred`; integers up to 32 bits as `.b32`, sign- or
//! zero-extended after every operation; i64 and u64 as `.b64`; f32 and f64 as themselves; f16 and
//! bf16 as their 16 bits, widened to f32 for each operation and rounded after it, so that copies move
//! bits. In memory bool is a byte, 0 or 1. Value `%3` of the kernel is register `%v3`, or `%v3_1` for the
//! second of several points of one thread.
//!
//! Bits: every float operation is written with `.rn` and without `.ftz`, so it is IEEE 754's and the
//! interpreter's; `ptxas` contracts nothing that says `.rn`. What PTX leaves open or defines otherwise
//! (division by zero, shifts beyond the width, minimum and maximum, NaN to integer) is decided by
//! explicit comparisons.
//!
//! Invariant: text and numbers only. Nothing here knows a driver, streams or memory.

mod block;
mod boxes;
mod casts;
mod combine;
mod exact;
mod folds;
mod launch;
mod march;
mod ops;
mod pointwise;
mod reduce;
mod region;
mod remainder;
mod schedule;
#[cfg(test)]
mod tests;
mod text;
mod tile;
mod types;
mod vector;

use std::fmt::Write;

use crate::ir::{Form, Launch};
use crate::math;
use crate::verify::Verified;
use block::Block;
use launch::Limits;
use schedule::Schedule;

/// The largest block of parameters that every driver takes, in bytes.
const MAX_BLOCK_BYTES: usize = 4096;

/// Threads of a full block.
const THREADS: u32 = 256;

/// What the writer must know of a GPU: compute capability times ten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// One of 75, 80, 90 and 100.
    pub sm: u32,
}

impl Target {
    /// The newest target this GPU runs; `None` below compute capability 7.5.
    pub fn of(major: i32, minor: i32) -> Option<Target> {
        let sm = match (major, minor) {
            (..7, _) | (7, ..5) => return None,
            (7, _) => 75,
            (8, _) => 80,
            (9, _) => 90,
            (10.., _) => 100,
        };
        Some(Target { sm })
    }

    fn version(self) -> &'static str {
        match self.sm {
            ..90 => "7.0",
            90..100 => "7.8",
            _ => "8.6",
        }
    }
}

/// A kernel that no module can be written for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "kernel {kernel} needs {bytes} bytes of launch parameters, at most {MAX_BLOCK_BYTES} can be passed; \
     split it into kernels of fewer arrays"
)]
pub struct Unsupported {
    /// The kernel's name.
    pub kernel: String,
    /// Bytes its launches would pass.
    pub bytes: usize,
}

/// A kernel as PTX, and how to launch it.
pub struct Module {
    /// The whole text.
    pub text: String,
    /// Names of its entry points.
    pub entries: Vec<&'static str>,
    /// The kernel in basic instructions, as it was written.
    kernel: Verified,
    /// The parameters of each entry.
    blocks: Vec<Block>,
    schedule: Schedule,
    limits: Limits,
}

/// Memory of one parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Address of element 0.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
}

/// What the schedule must know of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// How many blocks can run side by side, roughly eight times this.
    pub multiprocessors: u32,
}

/// One launch of one entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Index into [`Module::entries`].
    pub entry: usize,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// The bytes of the entry's one parameter.
    pub params: Vec<u8>,
}

/// One entry point: its name, its text and the parameters it reads.
struct Entry {
    name: &'static str,
    text: String,
    block: Block,
}

/// Writes a kernel as PTX.
///
/// # Errors
/// The kernel has so many parameters that a launch could not pass them.
pub fn emit(kernel: &Verified, target: &Target) -> Result<Module, Unsupported> {
    let verified = math::expand(kernel);
    let kernel = verified.kernel();
    let schedule = Schedule::of(&verified);
    let entries = match &kernel.form {
        Form::Reduce { .. } => reduce::entries(kernel, target),
        Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => {
            let mut entries = vec![pointwise::entry(kernel, target)];
            entries.extend(schedule.vector.as_ref().map(|plan| vector::entry(kernel, target, plan)));
            entries.extend(schedule.tile.then(|| tile::entry(kernel, target)));
            entries.extend(boxes::offers(&verified).then(|| boxes::entry(kernel, target)));
            let march = schedule.march.as_ref().map(|plan| march::entry(kernel, target, plan));
            entries.extend(march.filter(|entry| entry.block.bytes() <= MAX_BLOCK_BYTES));
            entries
        }
    };
    if let Some(bytes) = entries.iter().map(|e| e.block.bytes()).find(|&bytes| bytes > MAX_BLOCK_BYTES) {
        return Err(Unsupported { kernel: kernel.name.clone(), bytes });
    }
    let mut text = String::new();
    let _ = writeln!(text, "// {}", kernel.name);
    let _ = writeln!(text, ".version {}\n.target sm_{}\n.address_size 64", target.version(), target.sm);
    for entry in &entries {
        let _ = write!(text, "\n{}", entry.text);
    }
    Ok(Module {
        text,
        entries: entries.iter().map(|e| e.name).collect(),
        blocks: entries.into_iter().map(|e| e.block).collect(),
        kernel: verified,
        schedule,
        limits: Limits::DEVICE,
    })
}

impl Module {
    /// Bytes of scratch memory, aligned to 256, that a launch needs for partial results; 0 for most.
    pub fn scratch_bytes(&self, launch: &Launch, facts: Facts) -> u64 {
        launch::scratch_bytes(self, launch, facts)
    }

    /// The launches, in order on one stream, that carry out `launch`; none if there is nothing to do.
    /// `launch` must have passed [`Verified::check`] with this memory.
    pub fn prepare(&self, launch: &Launch, memory: &[Span], scratch: u64, facts: Facts) -> Vec<Grid> {
        launch::prepare(self, launch, memory, scratch, facts)
    }

    /// The launches, in any order, that carry out several launches of this kernel over boxes that have
    /// nothing to do with each other, each with its memory: one for as many as fit into a launch's
    /// parameters. `None` if the kernel is no copy or sum of two arrays, or a box is larger than a grid.
    /// Each must have passed [`Verified::check`].
    pub fn prepare_boxes(&self, boxes: &[(&Launch, &[Span])]) -> Option<Vec<Grid>> {
        boxes::prepare(self, boxes)
    }

    /// Pretends that grids are small, so that tests of a few thousand points cut regions too.
    #[doc(hidden)]
    pub fn shrink(&mut self) {
        self.limits = Limits::SMALL;
    }
}
