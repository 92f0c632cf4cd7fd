//! How many steps of a loop share one exchange of halos.

pub(crate) mod measured;
pub(crate) mod pace;
pub(crate) mod plan;
pub(crate) mod trial;
