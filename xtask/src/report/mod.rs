//! Reports of a run of the tests: cargo's output, the floors of its counts, the table of defects.

pub mod cargo_output;
pub mod required;
