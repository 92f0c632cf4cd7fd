//! Steps: their list, and the operations that are launches and exchanges alone.

pub(crate) mod list;
pub(crate) mod listed;
pub(crate) mod scan;
pub(crate) mod sort;
pub(crate) mod window;
