//! The CPU engine: compiles a kernel once into a [`Program`] and runs its launches on a pool of threads.
//!
//! Kernels run as machine code (`machine`, written by [`x86`]) where the processor has the
//! instructions. Everything else is a list of compiled loops over chunks of rows that stay in L1. A launch
//! goes through three stages: `launch` merges dimensions and cuts the region into tiles, the thread pool
//! gives tiles to workers, a worker (`body`) runs the loops chunk by chunk.
//! Strided and transposed operands are packed tile by tile (`packing`). Reductions along rows are folded by
//! machine code, too; others compute their values as elementwise kernels do, block by block, and fold them
//! (`forms`).
//!
//! Invariants: results depend neither on the number of threads nor on the processor, and equal those of
//! [`crate::interpret`]. Pointers are valid because [`crate::Verified::check`] has proven every element in
//! bounds.

mod body;
mod forms;
mod jit_cache;
mod launch;
mod loops;
mod packing;
mod program;
#[cfg(test)]
mod tests;
mod thread_pool;
#[deny(unsafe_code)]
pub mod x86;

pub use launch::Memory;
pub use program::Program;
pub use thread_pool::{interrupt_by, share_tasks};
