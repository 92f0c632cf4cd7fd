//! The kernel IR.
//!
//! # How to read a kernel
//!
//! A [`Kernel`] is a list of scalar instructions and a [`Form`]. The **form owns the loop**: it
//! says which points of an N-D region are visited and what becomes of the values. The **body** is
//! the same straight line of instructions for every point. There are no loops, branches, barriers
//! or pointers in the body, so a kernel is easy to verify, hash, print, interpret and translate.
//!
//! Evaluation of one point: instructions run in order; each defines one [`Value`], named by its
//! position in the list, and may only use earlier ones (SSA). No instruction has a side effect;
//! all effects are in the form, after the body. Points are visited in any order and in parallel,
//! which is why a parameter that is both read and written may only be read at the point itself.
//!
//! Memory: each [`Param`] is an array the launch supplies together with a [`View`]: an element
//! offset and a stride per dimension. `Load { param, offset: d }` at point `i` reads element
//! `view.offset + sum_k (i_k + d_k) * view.strides_k`. A stencil is several loads with static
//! offsets; a transposition, a broadcast (stride 0) or the packing of a box is only another view.
//! Shapes and strides are launch arguments, never part of the kernel, so one compiled kernel
//! serves every part of a distributed array.
//!
//! ```text
//! kernel blur rank=1 (in p0: f32, out p1: f32)
//!   %0 = load p0[-1] : f32
//!   %1 = load p0[1] : f32
//!   %2 = add %0 %1 : f32
//!   %3 = const 0.5:f32
//!   %4 = mul %2 %3 : f32
//!   elementwise p1 = %4
//! ```
//!
//! # What the operations mean
//!
//! [`crate::interpret`] is the definition; the rules worth knowing:
//! - floats: `+ - * / sqrt` and conversions round to nearest even, subnormals are kept ([`Subnormals`]
//!   has devices that do otherwise). Nothing is contracted; [`Op::Fma`] is explicit. f16 and bf16 compute in
//!   f32 and round after each operation.
//! - integers wrap. `x / 0` and `x % 0` are 0, `MIN / -1` is `MIN`; division truncates. Shift counts
//!   are taken modulo the width.
//! - `min` and `max` return NaN if either operand is NaN; of -0 and 0 they return the second operand.
//! - casts from float to integer truncate, saturate, and turn NaN into 0; to bool they test `!= 0`.
//!   Integers convert to f16 and bf16 through f32; f64 converts to them directly, rounded once.
//! - folds combine adjacent pairs, level by level; those of f16 and bf16 accumulate in f32 and round once at
//!   the end. An argument fold over an empty region gives the neutral value and index 0.
//! - scans go along each line, one value after the other, each step rounded to the type.
//! - loads, stores, gathers and copies move bits.
//! - comparisons with NaN are false, `ne` is true. NaN is recognised by its bits, never by `x != x`.
//! - NaN payloads are not specified: a NaN result is some NaN.
//!
//! # What a form must provide
//!
//! A new form is a variant of [`Form`]; the matches named here are exhaustive, so the compiler lists what is
//! missing.
//!
//! | what | where | which match |
//! |---|---|---|
//! | the rules of its values and parameters | [`crate::verify`] | `check_form` |
//! | its values, name, indexed parameter | `walk` | `roots`, `map`, `name`, `indexed_param`, `kept_points` |
//! | its text | `print` | `Display for Form` |
//! | its meaning | [`mod@crate::interpret`] | `run` |
//! | what a point reads and writes | [`crate::verify`] | by `indexed_param` and each [`Access`] |
//! | its loop on the CPU | [`crate::cpu`] | `Program::run` |
//! | its entries and grids in PTX | [`crate::ptx`] | `emit`, `Module::plan` |
//! | its stages in WGSL | [`crate::wgsl`] | `stages` |
//! | cases that every device runs | `kernels/tests/wgsl/cases.rs` | |
//!
//! Invariant: nothing here depends on devices, arrays or parts. Kernels never communicate.

pub(crate) mod branches;
mod kernel;
mod print;
mod walk;

pub use kernel::*;
