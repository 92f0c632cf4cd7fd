//! `Loop`: steps that are recorded once and replayed, and the passes over what they do.

pub(crate) mod batches;
pub(crate) mod cycle;
pub(crate) mod depth;
pub(crate) mod numbers;
pub(crate) mod passes;
pub(crate) mod replay;
#[cfg(test)]
mod tests;
