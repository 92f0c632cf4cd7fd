//! Commands and memory past the arrays, with the promise that `partita::raw` asks for: the memory is of
//! arrays that the benchmark holds, and one thread uses it.

use partita::program::{Command, Place};
use partita::{Result, raw};

/// Queues one command.
pub fn run(command: &Command) -> Result<()> {
    // SAFETY: the commands are of an exchange, or fill or compute buffers, of arrays that the caller holds
    // and that no other thread knows.
    unsafe { raw::run(command) }
}

/// The bytes of a part from an offset on; waits.
pub fn read(place: &Place, offset: u64, out: &mut [u8]) -> Result<()> {
    // SAFETY: the caller holds the array; no other thread knows it.
    unsafe { raw::download(&place.device, &place.allocation, offset, out) }
}
