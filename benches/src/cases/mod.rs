//! What is measured: each family's cases, how they run on a device, and how their results are checked.

pub mod apps;
pub mod blocking;
pub mod bound;
pub mod exchange;
pub mod formula;
pub mod halo;
pub mod lattice;
pub mod overhead;
pub mod repartition;
pub mod view;
pub mod workload;
