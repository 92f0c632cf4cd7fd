//! Machine code for x86-64 processors: the body of a kernel over rows, whose values are stored or folded, by
//! one writer at two ISA levels, AVX-512 and AVX2.
//!
//! A body is a straight line, and so is its code: a block of one register's lanes goes through all
//! instructions before the next block begins; `fold` combines its values with those of others. `select`
//! chooses instructions on values without registers (`virtual_code`), `registers` allocates registers and
//! spills, `assembler` writes the loops and the bytes, `generator` decides which codes a launch has.
//!
//! Invariants: code gives the bits of [`crate::interpret`] at both levels. It touches no element outside its
//! rows: the partial blocks at a row's ends are masked, by opmasks (AVX-512) or masked moves (AVX2). A kernel
//! has no code if anything in it has no instructions here:
//!
//! | without code | AVX-512 | AVX2 |
//! |---|---|---|
//! | types of 1 and 2 bytes except bool, integer `div` and `rem` | yes | yes |
//! | folds of bools, of indices and along outer dimensions, gathers, scatters | yes | yes |
//! | casts of 8-byte integers to `f32` | | yes |
//!
//! The layout of rows, and the memory that code is executed in, are `cpu::jit_cache`'s.

mod assembler;
mod encodings;
mod fold;
mod generator;
mod partial;
mod prefetch;
mod registers;
mod select;
mod target;
mod virtual_code;

pub use generator::{CodeGenerator, CodePair, MachineCode};
pub use target::{FoldMemory, IsaLevel, LaunchShape, OperandLayout, UnrollAndJam, words};
pub use virtual_code::RowPointer;
