//! Compiled kernels, and jobs: launches that are ready to run.

use std::any::Any;
use std::sync::Arc;

use partita_kernels::{Launch, Verified};

use crate::device::memory::Allocation;

/// A kernel compiled for one device.
pub struct Program {
    /// The number of the device.
    pub(super) device: u64,
    pub(super) kernel: Verified,
    /// As the driver has it.
    pub(in crate::device) code: Box<dyn Any + Send + Sync>,
}

impl Program {
    /// The kernel it was compiled from.
    pub fn kernel(&self) -> &Verified {
        &self.kernel
    }
}

/// One launch, ready to run: a program, where it runs over, and one memory per parameter.
#[derive(Clone)]
pub struct Job {
    /// The compiled kernel.
    pub program: Arc<Program>,
    /// The region, views and scalar arguments.
    pub launch: Arc<Launch>,
    /// One per parameter of the kernel, all of the device the program was compiled for.
    pub memory: Vec<Arc<Allocation>>,
}
