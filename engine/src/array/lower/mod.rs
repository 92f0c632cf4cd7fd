//! Lowering: from nodes to kernels, and to how each operand reaches its kernel. Plain data, equal on all
//! ranks.

pub(crate) mod access;
pub(crate) mod body;
pub(crate) mod compute;
pub(crate) mod division;
pub(crate) mod graph;
pub(crate) mod joined;
pub(crate) mod lowerer;
pub(crate) mod reductions;
pub(crate) mod reshape;
pub(crate) mod steps;
