//! The memory of computed arrays: how cells lie in it, and how they move between memories and to the host.

pub(crate) mod index_lists;
pub(crate) mod step_numbers;
pub(crate) mod storage;
pub(crate) mod window;
