//! The PTX interpreter and its checks: every text here is also given to the real assembler, where there is
//! one.
#![allow(missing_docs, clippy::unwrap_used)]
// Lists of accesses may have one element.
#![allow(clippy::single_range_in_vec_init)]

mod blocks;
mod conversions;
mod counts;
mod detector_cases;
mod detectors;
mod floats;
mod halves;
mod harness;
mod host;
mod integers;
mod refusals;
mod speed;
mod table;
mod warps;
