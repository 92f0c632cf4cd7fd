//! The compiled loops: one per operation and lane type, written as plain loops that the compiler vectorises.

pub(super) mod copy;
pub(super) mod functions;
pub(super) mod lanes;
pub(super) mod level;
pub(super) mod map;
pub(super) mod narrow;
pub(super) mod ops;
