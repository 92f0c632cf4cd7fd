//! A simulated device: memory whose every access is checked, and kernels that run in it. It knows PTX
//! programs and nothing of the driver interface.

mod bits;
mod block;
mod clocks;
mod fault;
mod launch;
mod memory;
mod resident;
mod shadow;
mod shared;
mod thread;
mod trace;

pub use fault::{Fault, Kind, Site};
pub use launch::{Accesses, Machine};
pub use trace::{AccessCount, AccessTarget, BlockCount, LaunchCount, SECTOR, StepCount};
