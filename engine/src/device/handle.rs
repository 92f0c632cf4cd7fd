//! [`Device`]: the handle to a device and its driver. The modules beside it add the verbs.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::Subnormals;

use super::driver::{DeviceKind, Driver, SubnormalTrial};
use super::launch::Programs;
use super::memory::Pool;
use crate::config::config;
use crate::device::{check_fork, process_id};
use crate::error::{Error, Result};

/// A processor with memory of its own. Clones name the same device; equality is identity.
#[derive(Clone)]
pub struct Device(Arc<DeviceState>);

struct DeviceState {
    name: String,
    driver: Box<dyn Driver>,
    /// The process that opened it.
    process: u32,
    pool: Mutex<Pool>,
    programs: Mutex<Programs>,
    /// Held by one evaluation at a time, see [`DeviceLocks`](super::DeviceLocks).
    lock: Mutex<()>,
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
    pub(super) fn new(name: String, driver: Box<dyn Driver>) -> Device {
        Device(Arc::new(DeviceState {
            name,
            driver,
            process: process_id(),
            pool: Mutex::new(Pool::new(config().budget_bytes)),
            programs: Mutex::new(Programs::new(config().program_bytes)),
            lock: Mutex::default(),
        }))
    }

    /// Drivers do not survive a fork, so what was opened before one is refused after it: otherwise it hangs,
    /// or changes what the parent sees. The host needs no driver, only locks that no other thread held.
    pub(super) fn usable(&self) -> Result<()> {
        check_fork()?;
        if self.kind() == DeviceKind::Host || process_id() == self.0.process {
            return Ok(());
        }
        let reason = "drivers do not survive a fork";
        Err(Error::Forked { device: self.name().to_owned(), reason })
    }

    /// The name people see.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// A number that no other device of this process has as long as this one lives.
    pub(crate) fn number(&self) -> u64 {
        Arc::as_ptr(&self.0).addr() as u64
    }

    /// The lock that an evaluation holds while it uses the device.
    pub(crate) fn lock(&self) -> &Mutex<()> {
        &self.0.lock
    }

    /// The sort of device.
    pub fn kind(&self) -> DeviceKind {
        self.0.driver.kind()
    }

    /// True for a GPU or adapter that is a program on the processor, such as lavapipe.
    pub fn is_software(&self) -> bool {
        self.0.driver.is_software()
    }

    /// Whether it has i64 and u64.
    pub(crate) fn has_i64(&self) -> bool {
        self.0.driver.has_i64()
    }

    /// Its treatment of f32 operands and results below 2^-126, found by a trial on the first call.
    /// docs/wgpu.md lists the operations.
    pub fn subnormals(&self) -> Subnormals {
        self.0.driver.subnormals()
    }

    /// The treatment of subnormals by each operation of the driver, found by a trial at every call; kernels
    /// replace operations that are not exact. Empty for the host and CUDA devices, which keep subnormals.
    pub fn subnormal_trials(&self) -> Vec<SubnormalTrial> {
        self.0.driver.subnormal_trials()
    }

    /// The most arrays one kernel may bind.
    pub fn max_params(&self) -> usize {
        self.0.driver.max_params()
    }

    pub(super) fn driver(&self) -> &dyn Driver {
        &*self.0.driver
    }

    pub(super) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The compiled kernels.
    pub(super) fn programs(&self) -> MutexGuard<'_, Programs> {
        self.0.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
