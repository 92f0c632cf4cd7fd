//! A simulated CUDA device for machines without a GPU: PTX is parsed and interpreted over memory that checks
//! every access. A tool for tests, never shipped. It knows nothing of the engine or its kernels: only PTX and
//! bytes.
//!
//! Contract of the unsafe code, which is in `driver` and its tests: the caller of a C function passes
//! pointers that are valid as the driver's documentation says; handles and device addresses are looked up in
//! tables and never dereferenced.

mod driver;
pub mod machine;
pub mod ptx;
mod random;
mod report;

pub use machine::{Accesses, Fault, Machine};
