//! Compiled kernels, and jobs: launches that are ready to run.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use partita_kernels::{Launch, Verified};

use crate::device::memory::Allocation;

/// A kernel compiled for one device.
pub struct Program {
    /// The number of the device.
    pub(super) device: u64,
    pub(super) kernel: Verified,
    /// As the driver has it.
    pub(in crate::device) code: Box<dyn Any + Send + Sync>,
    /// When its device gave it out last.
    pub(super) last_use: AtomicU64,
    /// Its device keeps it no longer.
    pub(super) is_forgotten: AtomicBool,
}

/// Counts the programs that devices have forgotten.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

impl Program {
    /// The number of programs that the devices of this process have forgotten.
    pub(crate) fn forgotten() -> u64 {
        FORGOTTEN.load(Ordering::Relaxed)
    }

    /// Whether the device has forgotten it: who keeps commands for later should, too.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.is_forgotten.load(Ordering::Relaxed)
    }

    pub(super) fn forget(&self) {
        self.is_forgotten.store(true, Ordering::Relaxed);
        FORGOTTEN.fetch_add(1, Ordering::Relaxed);
    }

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
