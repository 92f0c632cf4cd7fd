//! How the operands of a kernel reach it: footprints, compute regions, and the plan of each operand.

pub(crate) mod compute_region;
pub(crate) mod footprint;
pub(crate) mod operand_access;
pub(crate) mod views;
