//! The border between Python's interpreter and the engine: its lock, interrupts and exceptions.

pub mod error;
pub mod gate;
pub mod interrupt;
