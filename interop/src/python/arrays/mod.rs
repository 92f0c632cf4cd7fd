//! Arrays: handles, the engine's operations by name, conversions of Python's numbers, random
//! streams, and loops.

pub mod array;
pub mod convert;
pub mod foreign;
pub mod handle;
pub mod lending;
pub mod loops;
pub mod operations;
pub mod random;
pub mod selection;
pub mod state;
pub mod typed;
