//! Partita's kernels: text in, text out.
//!
//! A [`Kernel`] is a straight line of scalar instructions inside one of four loop forms (start
//! with the essay in [`ir`]). [`build`] makes one, [`verify`] proves it well formed, [`mod@simplify`]
//! shortens it, [`mod@print`] shows it, [`interpret`] defines and runs it on the host, [`wgsl`] writes it for
//! WebGPU adapters, [`ptx`] for NVIDIA's GPUs and [`x86`] for the host's processor. [`math`] holds every
//! mathematical function, written once.
//!
//! Invariant: this crate knows no device, no array and no distribution. Unsafe code is allowed in
//! [`interpret`] alone.

#![deny(unsafe_code)]

pub mod build;
pub mod dtype;
pub mod exact;
#[allow(unsafe_code)]
pub mod interpret;
pub mod ir;
pub mod math;
pub mod print;
pub mod ptx;
pub mod simplify;
pub mod verify;
mod walk;
pub mod wgsl;
pub mod x86;

pub use build::Builder;
pub use dtype::{DType, Kind, Scalar};
pub use ir::{
    Access, BinaryOp, CompareOp, Fold, FoldOp, Form, Inst, Kernel, Launch, MAX_RANK, Math1, Math2, Op, Param,
    Store, UnaryOp, Value, View,
};
pub use simplify::simplify;
pub use verify::{LaunchError, Verified, VerifyError};
