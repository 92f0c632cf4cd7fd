//! Recording: operations on arrays become nodes; nothing is computed here.

pub(crate) mod c_order;
pub(crate) mod constants;
pub(crate) mod join;
pub(crate) mod map;
pub(crate) mod node;
pub(crate) mod operation;
pub(crate) mod ops;
pub(crate) mod rearrange;
pub(crate) mod reductions;
pub(crate) mod slice;
pub(crate) mod view;
