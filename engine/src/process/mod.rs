//! The process as a whole: its settings, the error type, interruption, and traces; and the macro that writes
//! examples of documentation.

#[macro_use]
mod example;
pub mod config;
pub mod error;
pub mod interrupt;
pub mod trace;
