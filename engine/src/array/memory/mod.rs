//! The memory of computed arrays, and the plans that move elements between memories.

pub(crate) mod index_lists;
pub(crate) mod pitch;
pub(crate) mod plans;
pub(crate) mod step_numbers;
pub(crate) mod storage;
