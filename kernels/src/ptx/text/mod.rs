//! The text of one entry: its lines, registers and parameters, and the instructions for values, memory and
//! points. Entries are put together from these.

mod casts;
mod memory;
mod ops;
mod parameters;
mod points;
mod remainder;
mod types;
mod writer;

pub(in crate::ptx) use parameters::{Field, MAX_BLOCK_BYTES, ParameterBlock, Quantity, Share, quantities};
pub(in crate::ptx) use points::{register, slots};
pub(in crate::ptx) use types::{Address, Class, arithmetic, class, partial, size_bits};
pub use writer::PtxTarget;
pub(in crate::ptx) use writer::{Entry, PtxWriter, THREADS};
