//! Partita's kernels: the IR, its meaning, and its translations.
//!
//! A [`Kernel`] is a straight line of scalar instructions inside one of five loop forms (start with the essay
//! in [`ir`]). [`build`] makes one, [`verify`] checks it and works out its footprint, [`simplify()`]
//! shortens it. [`interpret`] is the definition: what each operation and form means. [`cpu`] runs kernels on
//! the host, with machine code from [`cpu::x86`]; [`ptx`] writes them for NVIDIA GPUs and [`wgsl`] for WebGPU
//! adapters. [`math`] holds every mathematical function, written once, [`random`] the mapping of random
//! numbers.
//!
//! Invariants: this crate depends on no device, array or distribution. Unsafe code is in [`cpu`] alone.

#![deny(unsafe_code)]

pub mod build;
#[allow(unsafe_code)]
pub mod cpu;
pub mod dtype;
pub mod interpret;
pub mod ir;
pub mod math;
pub mod ptx;
pub mod random;
pub mod verify;
pub mod wgsl;

pub use build::{Builder, simplify};
pub use dtype::{DType, Kind, Scalar};
pub use ir::{
    Access, BinaryOp, CompareOp, Fold, FoldOp, Form, Inst, Kernel, Launch, MAX_RANK, Math1, Math2, Op, Param,
    Scan, Store, Subnormals, UnaryOp, Value, View,
};
pub use random::Draw;
pub use verify::Footprint;
pub use verify::{LaunchError, Verified, VerifyError};
