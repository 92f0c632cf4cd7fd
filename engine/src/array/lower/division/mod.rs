//! What is computed once and stored, where, and in which order: passes over the graph that decide cost, never
//! results.

pub(crate) mod common;
pub(crate) mod locality;
pub(crate) mod stages;
