//! Taking the figures: ceilings, rounds of devices and peers, the time budget of a run.

pub mod budget;
pub mod calls;
pub mod ceiling;
pub mod measure;
pub mod messages;
pub mod peers;
pub mod wanted;
