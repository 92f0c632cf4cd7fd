//! The PTX writer: NVIDIA's assembler accepts its text for every operation, type and form, and what
//! the text computes is what the interpreter computes, on a simulated GPU.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../agreement/mod.rs"]
mod agreement;
mod assembler;
mod batched_copy;
mod forms;
mod launches;
mod machine;
mod mutants;
mod operations;
#[path = "../random/mod.rs"]
mod random;
mod stencils;
mod together;

use agreement::cases;
