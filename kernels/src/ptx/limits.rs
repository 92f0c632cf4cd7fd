//! What the text of an entry may take of a multiprocessor and of compile time, whichever entry it is.

/// Instructions that the fast path may repeat in all: more would cost compile time, and such a kernel
/// is bound by arithmetic.
pub(crate) const MAX_INSTRUCTIONS: usize = 4096;

/// Static shared memory of a block.
pub(crate) const MAX_SHARED_BYTES: usize = 48 << 10;
