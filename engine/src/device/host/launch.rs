//! Launches on host memory, by the CPU engine.

use std::sync::OnceLock;

use partita_kernels::{Launch, LaunchError, cpu};

use super::memory::HostMemory;
use super::process_id::process_id;
use crate::config::config;

/// Threads of a launch. A fork takes only the thread that calls it along, so a forked process, in which
/// waiting for the others would never end, computes on one.
pub(in crate::device) fn threads() -> usize {
    static STARTED_IN: OnceLock<u32> = OnceLock::new();
    match config().threads {
        1 => 1,
        _ if *STARTED_IN.get_or_init(process_id) != process_id() => 1,
        threads => threads,
    }
}

/// Runs a kernel on host memory: one block per parameter with its element size.
pub(in crate::device) fn launch<'a>(
    program: &cpu::Program,
    launch: &Launch,
    memory: impl Iterator<Item = (&'a HostMemory, usize)>,
    threads: usize,
) -> Result<(), LaunchError> {
    let views: Vec<cpu::Memory> =
        memory.map(|(block, size)| cpu::Memory { ptr: block.pointer(), len: block.bytes() / size }).collect();
    // SAFETY: each block is alive and `len` elements long; the engine never passes one block twice
    // unless both parameters are In. Who launches holds the device's lock, see `lock`, or has promised as
    // much (`raw`).
    unsafe { program.run(launch, &views, threads) }
}
