//! Moves bytes between members. Only plans say what moves; this says how.

pub mod crossing;
pub mod local;
