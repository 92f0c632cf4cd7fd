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
//! # Guide
//!
//! **Devices.** [`Device::host`] is the processor, [`Device::cuda`] and [`Device::wgpu`] list GPUs, and
//! [`Device::all`] all of them. [`Team::local`] takes the devices that the environment variable
//! `PARTITA_DEVICE` names (`auto`, `host`, `cuda`, `wgpu`); [`Team::on`] takes those that you pass.
//!
//! **Teams and distributions.** A [`Team`] has one member per part, and says which device holds it. A
//! [`Distribution`] says which part owns which elements: blocks by default, or cyclic, replicated, listed
//! or your own map. An [`Array`] is a team, a distribution and a value. Indices are i64, and numbers below
//! 0 in [`s!`] count from the end.
//!
//! **Laziness.** Arithmetic, slices, reductions, other shapes and distributions are recorded. Reading
//! ([`Array::to_vec`], [`Array::item`], [`Array::get`]), [`Array::eval`] and [`Array::assign`] compute;
//! [`eval_all`] and [`assign_all`] compute several arrays in one pass over memory. A recorded operation that
//! cannot be done gives an array that carries the [`Error`]: [`Array::recorded`] and the call that computes
//! return it. [`Array::explain`] shows the kernels and the bytes between parts before anything runs.
//!
//! **Values.** A value never changes. [`Array::assign`] and `+=` give the handle a new value; clones and
//! recorded expressions keep the old one.
//!
//! **Domains.** Elements may have indices of one's own choice, also negative and strided ones:
//! [`Array::over`] a [`Domain`](index::Domain). Views and results keep them; [`Array::at`] and
//! [`array::by_index`] go by them. `examples/channel.rs` computes on a staggered grid.
//!
//! **Loops.** [`Loop`] runs a time step again and again: it records the first steps and replays their
//! commands without the host's work. The step must do the same every time; numbers that change go through
//! [`Loop::with_numbers`].
//!
//! ```
//! # use partita::prelude::*;
//! # let team = Team::on(&[Device::host()], 2)?;
//! let u = Array::coordinate(&team, &Distribution::default_partition(2, &[64])?, 0, DType::F32)?;
//! let mut smooth = Loop::new(vec![u], |state| {
//!     let u = &state[0];
//!     let mean = (u.slice(&s![..-2]) + 2 * u.slice(&s![1..-1]) + u.slice(&s![2..])) / 4;
//!     state[0].assign(&s![1..-1], &mean)
//! });
//! smooth.run(100)?;
//! assert_eq!(smooth.state()[0].get(&[10])?, 10.0f32.into());
//! # Ok::<(), partita::Error>(())
//! ```
//!
//! **Numbers.** Operands of one operation have one dtype; a plain number takes the array's (see
//! [`array::Operand`]). Integers wrap around; division truncates towards zero; division by zero gives 0;
//! sums of integers have 64 bits. Arithmetic gives the same bits on every device and every number of parts;
//! sums of floats depend on the number of parts, and [`Array::sum_reproducible`] does not.
//!
//! **Threads.** Arrays are `Send` and `Sync`. Threads that use one team take turns.
//!
//! **Several processes.** [`Team::world`] spans the processes of a job that `torchrun`, `mpirun`, SLURM or
//! `python -m partita launch` started; [`Team::connect`] takes addresses. Every operation that computes or
//! reads elements is collective: all ranks call it in the same order. Ranks that `mpirun` started use an
//! MPI library that is found when the program runs, otherwise TCP; the feature `mpi` links one.
//!
//! # Modules
//!
//! [`mod@array`], [`operators`] (finite differences, boundaries, Fourier transforms, random numbers) and
//! [`io`] (saved states) are what programs use; [`index`] describes distributions, [`device`] devices,
//! [`wire`] how processes find each other. [`raw`] is the unsafe way to the memory and the work of devices,
//! for kernels of your own. Modules that are not shown here belong to the engine and may change in any
//! version.
//!
//! Rust 1.95 or newer; a newer one comes in a minor version only, and never one younger than three months.

// The auto traits of arrays reach through the tasks of evaluations into the driver libraries.
#![recursion_limit = "256"]

#[macro_use]
mod process;

pub mod array;
pub mod device;
pub mod index;
pub mod operators;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod program;
pub mod raw;
pub mod team;
#[doc(hidden)]
pub mod transport;
pub mod wire;

// Types of other crates in the signatures here.
pub use {bytemuck, half};

pub use array::{Array, Loop, assign_all, eval_all, explain_all, io};
pub use device::Device;
pub use error::{Error, Result};
pub use index::Distribution;
pub use operators::fourier;
pub use partita_kernels::{DType, FoldOp, Scalar};
pub use process::{config, error, interrupt, trace};
pub use team::Team;

/// Names that most programs need: `use partita::prelude::*`.
pub mod prelude {
    pub use crate::array::collective::{Collective, Partition};
    pub use crate::array::{Array, Element, Loop, NewAxis, Operand, Padding};
    pub use crate::array::{assign_all, by_index, eval_all, for_each_chunk};
    pub use crate::device::{Device, DeviceKind};
    pub use crate::index::{CustomMap, DimMap, Distribution, Domain, IndexRange, Region};
    pub use crate::operators::{self, Boundary, Side};
    pub use crate::team::Team;
    pub use crate::{DType, Error, FoldOp, Result, Scalar, s};
}

/// Compiles and runs the Rust programs of the project's README.md, to which `PROJECT.md` is a link that a
/// package holds as a file, and of the crate's.
#[cfg(doctest)]
#[doc = include_str!("../PROJECT.md")]
#[doc = include_str!("../README.md")]
struct Readme;
