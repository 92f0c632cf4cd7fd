//! The record of a `Loop`'s step while its function runs: the commands that were queued, what the loop
//! learns of them, and the random numbers that the step draws.

pub(crate) mod keys;
pub(crate) mod recording;
pub(crate) mod streams;
