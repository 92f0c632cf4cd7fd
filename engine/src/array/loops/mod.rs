//! `Loop`: steps that are recorded once and replayed, and the passes over their commands.

pub(crate) mod clock;
pub(crate) mod constants;
pub(crate) mod cycle;
pub(crate) mod depth;
pub(crate) mod passes;
pub(crate) mod queued;
pub(crate) mod recorder;
pub(crate) mod replay;
pub(crate) mod step;
#[cfg(test)]
mod tests;
