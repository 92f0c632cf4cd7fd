//! Limits of the text of an entry, whichever it is: its share of a multiprocessor and of compile time.

use super::text::PtxTarget;

/// Instructions that the fast path may repeat in all: more would cost compile time, and such a kernel
/// is bound by arithmetic.
pub(crate) const MAX_INSTRUCTIONS: usize = 4096;

/// Shared memory of a block that its text declares.
pub(crate) const MAX_SHARED_BYTES: usize = 48 << 10;

/// Shared memory that a launch may give a block of these GPUs so that two of them fit side by side. Text for
/// 8.0 runs on 8.6 and 8.9, too, whose multiprocessors have 100 KiB; from 9.0 on it is 228 KiB, or, on 12.x,
/// enough for one.
pub(crate) fn shared_bytes_at_launch(target: &PtxTarget) -> usize {
    if target.sm >= 90 { 96 << 10 } else { MAX_SHARED_BYTES }
}
