//! Kernel bodies as lists of compiled loops: `lower` makes a graph, `compile` a list of steps, `run` binds
//! them to one launch, `worker` runs them chunk by chunk.

pub(super) mod compile;
pub(super) mod lower;
pub(super) mod run;
pub(super) mod worker;
