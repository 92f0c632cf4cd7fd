//! Squares of transposed inputs in shared memory: their size, and which kernels they suit.

use super::vectors::MAX_INSTRUCTIONS;
use crate::ir::{Access, Form, Kernel};
use crate::verify::Verified;

/// Points along each side of a square of the entry `transpose`.
pub(in crate::ptx) const SIDE: usize = 32;

/// Points of a square that a thread computes.
pub(in crate::ptx) const TURNS: usize = 4;

/// Static shared memory of a block.
const MAX_SHARED_BYTES: usize = 48 << 10;

/// Elements from one row of a square in shared memory to the next: an odd number keeps the threads
/// that read a column out of each other's banks.
pub(in crate::ptx) const PITCH: usize = SIDE + 1;

/// Every input is read at the point itself, and their squares fit in shared memory.
pub(in crate::ptx) fn is_offered(verified: &Verified) -> bool {
    let kernel = verified.kernel();
    matches!(kernel.form, Form::Elementwise { .. })
        && kernel.rank >= 2
        && (1..=MAX_SHARED_BYTES).contains(&shared_bytes(kernel))
        && kernel.body.len() * TURNS <= MAX_INSTRUCTIONS
        && verified.footprint().is_pointwise()
}

/// Parameters that may be transposed.
pub(in crate::ptx) fn turnable(kernel: &Kernel) -> impl Iterator<Item = u32> {
    let params = 0..kernel.params.len() as u32;
    params.filter(|&p| kernel.params[p as usize].access == Access::In && kernel.loads_of(p))
}

/// Bytes of shared memory that the squares of a kernel take.
fn shared_bytes(kernel: &Kernel) -> usize {
    turnable(kernel).map(|p| SIDE * PITCH * kernel.params[p as usize].dtype.size_bytes()).sum()
}
