//! The WGSL writer: from a verified kernel to the shaders of its stages.
//!
//! One kernel becomes one stage, or three for a reduction (reduce, tree, finish). A stage is a
//! complete shader with one entry point, the list of what the device binds, and nothing else.
//! Extents, strides, offsets and scalar arguments arrive in a small uniform buffer, the *launch
//! block*, whose layout is in [`layout`]; so one shader serves every part of an array.
//!
//! How values live in registers: bool as `bool`; i8, i16, i32 as `i32`; u8, u16, u32 as `u32`; f16,
//! bf16, f32 as `f32`; 64-bit types as themselves. Narrow values are wrapped or rounded after every
//! operation. In memory types below 32 bits are packed in `u32` words.
//!
//! Bits: WGSL lets a driver contract, reorder and assume away NaN and infinity. An adapter whose
//! driver gets the decoration `NoContraction` (SPIR-V) sets [`WgslTarget::strict_floats`]. For all others
//! the writer hides float operands and results behind integer arithmetic with a zero that only the launch
//! knows.
//! For every adapter, constants that compilers fold wrongly are words of the launch block ([`layout`]), and
//! floats made of integers are hidden, so that no driver knows a zero, an infinity or NaN when it compiles.
//!
//! Invariant: text only. Nothing here knows wgpu, buffers or windows.

mod body;
mod emit;
pub mod layout;
mod pointwise;
mod reduce;
mod routines;
mod shader;
mod types;
mod writer;

pub use emit::emit;
pub use shader::{Binding, Shader, Stage, WgslTarget, WgslUnsupported};
