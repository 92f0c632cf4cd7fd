//! Lowering: from nodes to kernels, and to how each operand reaches its kernel. Plain data, equal on all ranks.

pub(crate) mod body;
pub(crate) mod common;
pub(crate) mod compute_region;
pub(crate) mod footprint;
pub(crate) mod locality;
pub(crate) mod operand_access;
pub(crate) mod reduction_groups;
pub(crate) mod stages;
