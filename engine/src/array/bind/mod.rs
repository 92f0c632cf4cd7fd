//! Binding: kernels and plans get memory, and become a schedule of commands.

pub(crate) mod bound_operand;
pub(crate) mod halos;
pub(crate) mod launches;
pub(crate) mod operands;
pub(crate) mod partials;
pub(crate) mod schedule;
pub(crate) mod values;
