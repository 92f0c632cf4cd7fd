//! `Loop`: steps that are recorded once and replayed, and the passes over their commands.

pub(crate) mod analysis;
pub(crate) mod clock;
pub(crate) mod constants;
pub(crate) mod cycle;
pub(crate) mod depth;
pub(crate) mod invariant_copies;
pub(crate) mod pace;
pub(crate) mod queued;
pub(crate) mod replay;
pub(crate) mod step;
pub(crate) mod step_numbers;
#[cfg(test)]
mod tests;
pub(crate) mod tiles;
pub(crate) mod trial;
