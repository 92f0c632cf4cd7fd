//! Families of cases: how they run on a device, and how their results are checked.

pub mod bound;
pub mod case;
pub mod exchange;
pub mod formula;
pub mod overhead;
pub mod programs;
pub mod view;
pub mod workload;

/// The cases that are measured on their own, beside no copy and no peer: whole programs first.
pub fn alone() -> impl Iterator<Item = case::Case> {
    programs::cases().chain(exchange::cases()).chain(overhead::cases())
}
