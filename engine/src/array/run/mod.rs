//! Running: evaluations, operations that compute at once, and the cache of evaluations.

pub(crate) mod assign;
pub(crate) mod cache;
pub(crate) mod cells;
pub(crate) mod evaluate;
mod exact_sum;
pub(crate) mod indexed;
pub(crate) mod moves;
pub(crate) mod sort;
