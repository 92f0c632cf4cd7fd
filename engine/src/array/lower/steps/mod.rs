//! Steps: their list, and the operations that are launches and exchanges alone.

pub(crate) mod fourier;
pub(crate) mod fused;
pub(crate) mod list;
pub(crate) mod listed;
pub(crate) mod scan;
pub(crate) mod sort;
pub(crate) mod update;
pub(crate) mod whole;
pub(crate) mod window;
