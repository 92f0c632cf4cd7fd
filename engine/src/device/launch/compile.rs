//! Compilation of kernels, once per device.

use std::fmt;
use std::sync::Arc;

use partita_kernels::{Verified, cpu};

use super::job::{Code, Program};
use crate::config::{config, say};
use crate::device::cuda;
use crate::device::handle::{Backend, Device};
use crate::error::{Error, Result};

impl Device {
    /// Compiles a kernel, or finds it compiled.
    ///
    /// # Errors
    /// If the device lacks a type or operation, or its compiler refuses the source.
    pub fn compile(&self, kernel: Verified) -> Result<Arc<Program>> {
        self.usable()?;
        let mut programs = self.programs();
        if let Some(program) = programs.get(&kernel) {
            return Ok(Arc::clone(program));
        }
        if config().debug >= 2 {
            say(format_args!("compile for {}:\n{kernel}", self.name()));
        }
        let code = match self.backend() {
            Backend::Host => Code::Host(Box::new(cpu::Program::compile_at(&kernel, config().host_code))),
            Backend::Cuda(gpu) => {
                Code::Cuda(Box::new(gpu.compile(&kernel).map_err(|e| self.cuda_refusal(e))?))
            }
            Backend::Wgpu(gpu) => Code::Wgpu(Box::new(gpu.compile(&kernel).map_err(|e| self.refusal(e))?)),
        };
        if config().debug >= 3 {
            code.sources().for_each(|source| eprintln!("{source}"));
        }
        let program = Arc::new(Program { device: self.number(), kernel: kernel.clone(), code });
        programs.insert(kernel, Arc::clone(&program));
        Ok(program)
    }

    /// A kernel this device cannot run is one thing, a device that fails another.
    fn cuda_refusal(&self, error: cuda::CudaError) -> Error {
        match error {
            cuda::CudaError::Unsupported(_) => self.refusal(error),
            failure => self.cuda_failure(failure),
        }
    }

    fn refusal(&self, error: impl fmt::Display) -> Error {
        Error::Unsupported { device: self.name().to_owned(), reason: error.to_string() }
    }
}
