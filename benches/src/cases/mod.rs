//! What is measured: each family's cases, how they run on a device, and how their results are checked.

pub mod bound;
pub mod case;
pub mod exchange;
pub mod formula;
pub mod overhead;
pub mod programs;
pub mod view;
pub mod workload;

/// The cases that are measured on their own, beside no copy and no peer.
pub fn alone() -> impl Iterator<Item = case::Case> {
    exchange::cases().chain(programs::cases()).chain(overhead::cases())
}
