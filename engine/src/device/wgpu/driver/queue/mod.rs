//! Launches: encoded one behind the other into an open command encoder, submitted together.

mod launches;
mod pending;
#[cfg(test)]
mod tests;

pub(crate) use launches::DispatchRecording;
pub(super) use pending::Pending;
