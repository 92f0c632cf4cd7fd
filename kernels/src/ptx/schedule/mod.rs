//! What a kernel's text offers: which entries, and how much each thread of them computes.

mod fold;
mod strategies;
mod streaming;
mod transpose;
mod vectors;

pub(in crate::ptx) use fold::{FoldPlan, fold_slots};
pub(in crate::ptx) use strategies::Schedule;
pub(in crate::ptx) use streaming::{Group, StreamingPlan, streaming_slots};
pub(in crate::ptx) use transpose::{PITCH, SIDE, TURNS, turnable};
pub(in crate::ptx) use vectors::{VectorRow, Vectors, place_name, runs};
