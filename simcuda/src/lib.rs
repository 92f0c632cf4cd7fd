//! A simulated CUDA device for machines without a GPU: PTX is parsed and interpreted over memory that checks
//! every access. A tool for tests, never shipped. It knows nothing of the engine or its kernels: only PTX and
//! bytes.

mod driver;
pub mod machine;
pub mod ptx;
mod random;

pub use machine::{Accesses, Fault, Machine};
