//! The PTX writer: from a verified kernel to PTX text, and from a launch to grids.
//!
//! A [`Module`] has a few entry points, each a complete way to run the kernel: `pointwise` visits one point
//! per thread, whatever the strides; `vector` moves 16 bytes at a time; `planes` computes a vector in each of
//! several planes of a stencil; `streaming` takes the planes of one that reads many neighbours one after the
//! other and keeps what the next ones need in registers; `transpose` goes through shared memory; `mirrored`
//! does so for arrays that are read at a point and at its mirror image, each once; `batched_copy` visits many
//! boxes in one launch; `scan` walks one line per thread; `fold`, `fold_runs`, `fold_columns` and `tree` are
//! the passes of a reduction. Each has a text of its own, so that only what is used is written and compiled.
//! [`Module::plan`] picks entries, cuts the region into grids and fills in their parameters: the *block*,
//! which the text reads with `ld.param`. [`Module::together`] makes launches over several boxes one grid,
//! whose entry reads a block of several. All of it is pure: text and numbers.
//!
//! Registers: bool as `.pred`; integers up to 32 bits as `.b32`, sign- or
//! zero-extended after every operation; i64 and u64 as `.b64`; f32 and f64 as themselves; f16 and
//! bf16 as their 16 bits, widened to f32 for each operation and rounded after it; neighbouring points are
//! added, subtracted and multiplied as two halves of a word. In memory bool is a byte, 0 or 1. Value `%3` of
//! the kernel is register `%v3`, or `%v3_1` for the second of several points of one thread.
//!
//! Bits: every float operation is written with `.rn` and without `.ftz`, so it is IEEE 754's and the
//! interpreter's; `ptxas` contracts nothing that says `.rn`. What PTX leaves open or defines otherwise
//! (division by zero, shifts beyond the width, minimum and maximum, NaN to integer) is decided by
//! explicit comparisons.
//!
//! Stages: `text` (one entry: its registers, parameters, instructions), `schedule` (which entries a kernel's
//! text offers; `columns`: how it streams), `entries` (one file or folder per entry), [`emit`], `launch`
//! (from a launch to grids).
//!
//! Invariant: text and numbers only. Nothing here knows a driver, streams or memory.

mod columns;
mod emit;
mod entries;
mod launch;
mod limits;
mod schedule;
mod text;

pub use emit::{PtxUnsupported, emit, emit_within};
pub use launch::{Facts, Grid, LaunchPlan, Module, Span};
pub use schedule::PlainLimits;
pub use text::{Entry, LazyEntry, PtxTarget};
