//! Compiled kernels, and jobs: launches that are ready to run.

use std::sync::Arc;

use partita_kernels::{Launch, Verified, cpu};

use crate::device::cuda;
use crate::device::memory::Allocation;
use crate::device::wgpu;

/// A kernel compiled for one device.
pub struct Program {
    /// The number of the device.
    pub(super) device: u64,
    pub(super) kernel: Verified,
    pub(super) code: Code,
}

pub(super) enum Code {
    Host(Box<cpu::Program>),
    Cuda(Box<cuda::CudaProgram>),
    Wgpu(Box<wgpu::WgpuProgram>),
}

impl Code {
    /// The texts that the driver compiled.
    pub(super) fn sources(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Code::Host(_) => Box::new(std::iter::empty()),
            Code::Cuda(code) => Box::new(std::iter::once(code.source())),
            Code::Wgpu(code) => Box::new(code.sources()),
        }
    }
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
