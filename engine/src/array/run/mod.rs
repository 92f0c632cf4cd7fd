//! Running: evaluation of each kind of node, assignment, and the cache of evaluations.

pub(crate) mod assign;
pub(crate) mod cache;
pub(crate) mod compute;
pub(crate) mod elements;
pub(crate) mod evaluate;
pub(crate) mod gather_window;
pub(crate) mod redistribute;
pub(crate) mod reduce;
pub(crate) mod scatter;
pub(crate) mod shorten;
