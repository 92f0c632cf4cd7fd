//! Passes over the commands of recorded steps, in the order in which a cycle applies them.

// Copies that later rounds need not repeat are left out.
pub(crate) mod invariant_copies;
// Launches between transfers and waits become recordings.
pub(crate) mod batches;
// The launches of a recording on the host go tile by tile.
pub(crate) mod tiles;
