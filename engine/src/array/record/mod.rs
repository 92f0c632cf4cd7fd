//! Recording: operations on arrays become nodes; nothing is computed here.

pub(crate) mod expr;
pub(crate) mod join;
pub(crate) mod lines;
pub(crate) mod node;
pub(crate) mod ops;
pub(crate) mod rearrange;
pub(crate) mod reductions;
pub(crate) mod view;
