//! [`Device`]: the handle to a device, its kind and its backend. The modules beside it add the verbs.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::Verified;

use super::cuda;
use super::host::process_id;
use super::launch::Program;
use super::memory::Pool;
use super::wgpu;
use crate::config::config;
use crate::error::{Error, Result};

/// A processor with memory of its own. Clones name the same device; equality is identity.
#[derive(Clone)]
pub struct Device(Arc<DeviceState>);

struct DeviceState {
    name: String,
    backend: Backend,
    /// The process that opened it.
    process: u32,
    pool: Mutex<Pool>,
    programs: Mutex<HashMap<Verified, Arc<Program>>>,
    /// Held by one evaluation at a time, see [`DeviceLocks`](super::DeviceLocks).
    lock: Mutex<()>,
}

pub(super) enum Backend {
    Host,
    Cuda(Box<cuda::CudaDevice>),
    Wgpu(Box<wgpu::WgpuDevice>),
}

/// The sort of device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceKind {
    /// This process's memory and processor cores.
    Host,
    /// An NVIDIA GPU through its own driver.
    Cuda,
    /// A WebGPU adapter.
    Wgpu,
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Device {
    pub(super) fn new(name: String, backend: Backend) -> Device {
        Device(Arc::new(DeviceState {
            name,
            backend,
            process: process_id(),
            pool: Mutex::new(Pool::new(config().budget_bytes)),
            programs: Mutex::new(HashMap::new()),
            lock: Mutex::default(),
        }))
    }

    /// Drivers do not survive a fork, so what was opened before one is refused after it: otherwise it hangs,
    /// or changes what the parent sees. The host needs no driver.
    pub(super) fn usable(&self) -> Result<()> {
        match self.0.backend {
            Backend::Host => Ok(()),
            Backend::Cuda(_) | Backend::Wgpu(_) if process_id() == self.0.process => Ok(()),
            Backend::Cuda(_) | Backend::Wgpu(_) => Err(Error::Forked { device: self.name().to_owned() }),
        }
    }

    /// The name people see.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What tells it from this process's other devices as long as it lives.
    pub(crate) fn number(&self) -> u64 {
        Arc::as_ptr(&self.0).addr() as u64
    }

    /// The lock that an evaluation holds while it uses the device.
    pub(crate) fn lock(&self) -> &Mutex<()> {
        &self.0.lock
    }

    /// The sort of device.
    pub fn kind(&self) -> DeviceKind {
        match self.0.backend {
            Backend::Host => DeviceKind::Host,
            Backend::Cuda(_) => DeviceKind::Cuda,
            Backend::Wgpu(_) => DeviceKind::Wgpu,
        }
    }

    /// True for a GPU or adapter that is a program on the processor, such as lavapipe.
    pub fn is_software(&self) -> bool {
        match &self.0.backend {
            Backend::Host => false,
            Backend::Cuda(gpu) => gpu.is_simulated(),
            Backend::Wgpu(gpu) => gpu.facts().is_software,
        }
    }

    /// Whether it has i64 and u64.
    pub(crate) fn has_i64(&self) -> bool {
        match &self.0.backend {
            Backend::Host | Backend::Cuda(_) => true,
            Backend::Wgpu(gpu) => gpu.facts().i64,
        }
    }

    /// The most arrays one kernel may bind.
    pub fn max_params(&self) -> usize {
        match &self.0.backend {
            Backend::Host => 64,
            // So many fit into a kernel's 4 KiB of parameters at the largest rank.
            Backend::Cuda(_) => 32,
            Backend::Wgpu(gpu) => gpu.facts().max_params,
        }
    }

    pub(super) fn backend(&self) -> &Backend {
        &self.0.backend
    }

    pub(super) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The compiled kernels.
    pub(super) fn programs(&self) -> MutexGuard<'_, HashMap<Verified, Arc<Program>>> {
        self.0.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error of its driver.
    pub(super) fn failed(&self, error: impl fmt::Display) -> Error {
        Error::of_driver(self.name(), error)
    }
}
