//! Partita: distributed arrays on GPUs and hosts.
//!
//! One logical N-D array is divided into parts; each part lives in the memory of one device. You
//! write array code; the engine finds the halos, fuses the arithmetic into one generated kernel per
//! part and exchanges what is needed.
//!
//! ```
//! use partita::prelude::*;
//! # fn main() -> partita::Result<()> {
//! let team = Team::on(&[Device::host()], 4)?;
//! let dist = Distribution::builder(&[100, 100]).grid(&[2, 2]).build()?;
//! let mut u = Array::from_fn(&team, &dist, |at| (at[0] * at[1]) as f32)?;
//! let mean = 0.25
//!     * (u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1])
//!         + u.slice(&s![1..-1, ..-2]) + u.slice(&s![1..-1, 2..]));
//! u.assign(&s![1..-1, 1..-1], &mean)?;
//! assert_eq!(u.max(&[]).item::<f32>()?, 99.0 * 99.0);
//! # Ok(()) }
//! ```
//!
//! The modules, each using only those before it: [`index`] (which element lives where), [`plan`] (what must
//! move), [`device`] (memory and launches), [`wire`] (bytes between the ranks of a program), [`program`]
//! (work as data), [`team`] (which device of which rank holds which part), [`transport`] (how moves travel),
//! [`mod@array`] (what you use), [`operators`] (finite differences, boundaries, Fourier transforms and random
//! numbers, made of arrays), [`io`] (saved states). [`raw`] is the unsafe way to devices' memory and work,
//! for those who bring kernels of their own.
//!
//! Invariant: kernels never communicate; only plans and reductions do.

// The auto traits of arrays reach through the tasks of evaluations into the driver libraries.
#![recursion_limit = "256"]

pub mod array;
pub mod device;
pub mod index;
pub mod operators;
pub mod plan;
mod process;
pub mod program;
pub mod raw;
pub mod team;
pub mod transport;
pub mod wire;

pub use array::{Array, Loop, assign_all, eval_all, io};
pub use device::Device;
pub use error::{Error, Result};
pub use index::Distribution;
pub use operators::fourier;
pub use partita_kernels::{DType, FoldOp, Scalar};
pub use process::{config, error, interrupt, trace};
pub use team::Team;

/// What a program needs: `use partita::prelude::*`.
pub mod prelude {
    pub use crate::array::collective::{Collective, Partition};
    pub use crate::array::{Array, Element, Loop, assign_all, eval_all};
    pub use crate::device::{Device, DeviceKind};
    pub use crate::index::{Distribution, Region};
    pub use crate::team::Team;
    pub use crate::{DType, FoldOp, Scalar, s};
}

/// Compiles and runs the Rust programs of the project's README.md and of the crate's.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../README.md")]
struct Readme;
