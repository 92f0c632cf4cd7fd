//! `Loop`: steps that are recorded once and replayed, and the passes over their commands.

pub(crate) mod clock;
pub(crate) mod constants;
pub(crate) mod cycle;
pub(crate) mod depth;
pub(crate) mod invariant_copies;
pub(crate) mod queued;
pub(crate) mod replay;
pub(crate) mod step;
#[cfg(test)]
mod tests;
pub(crate) mod tiles;
