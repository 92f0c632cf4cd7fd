//! What concerns the process as a whole: its settings, the error type, interruption, and traces.

pub mod config;
pub mod error;
pub mod interrupt;
pub mod trace;
