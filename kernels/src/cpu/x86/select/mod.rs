//! Instruction selection: from the IR to instructions on values that have no registers yet.
//!
//! `selection` walks a body; the other files have the instructions of operations, casts and bools, and the
//! sequences that stand for instructions that AVX2 lacks.

mod arithmetic;
mod cast;
mod fold;
mod masks;
mod selection;
mod sequences;

pub(super) use fold::select_fold;
pub(super) use selection::{ARGUMENT, ARGUMENTS, WINDOW, select, twice};
