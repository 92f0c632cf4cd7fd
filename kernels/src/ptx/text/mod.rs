//! The text of one entry: its lines, registers and parameters, and the instructions for values, memory and
//! points. Entries are put together from these.

mod ops;
mod parameters;
mod points;
mod writer;

pub(crate) use parameters::{
    Address, Class, Field, FoldField, MAX_BLOCK_BYTES, ParameterBlock, Quantity, arithmetic, class, partial,
    quantities, register, size_bits,
};
pub(crate) use points::Point;
pub use writer::{Entry, LazyEntry, PtxTarget};
pub(crate) use writer::{PtxWriter, THREADS, slots};
