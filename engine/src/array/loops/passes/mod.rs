//! Passes over the steps of a loop: over their tasks, before these get memory; then over the commands of a
//! cycle, in the order in which they are applied.

// Of tasks: several steps share an exchange.
pub(crate) mod deep_halos;
// Of commands: copies that later rounds need not repeat are left out.
pub(crate) mod invariant_copies;
// The launches of a recording on the host go tile by tile.
pub(crate) mod tiles;
