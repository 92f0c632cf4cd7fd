//! Memory of the devices, the host memory that the driver knows of, and memory shared between processes.

mod driver_memory;
mod shared_memory;

pub use driver_memory::*;
pub use shared_memory::*;
