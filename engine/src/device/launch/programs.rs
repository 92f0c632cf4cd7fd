//! [`Programs`]: the compiled kernels that a device keeps for further launches, as many as their limit of
//! bytes allows; the least recently used are forgotten first.
//!
//! Invariant: forgetting a program drops a reference. Jobs, recordings and cached evaluations hold theirs.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use partita_kernels::{DType, Verified};

use super::job::Program;

/// The compiled kernels of one device.
pub(in crate::device) struct Programs {
    kept: HashMap<Verified, KeptProgram>,
    /// Some of them by what their kernels are made from.
    known: HashMap<KernelKey, Weak<Program>>,
    limit: usize,
    /// Of all programs, as they were measured last.
    bytes: usize,
    /// Counts requests.
    clock: u64,
    /// When programs were measured last.
    measured: u64,
}

struct KeptProgram {
    program: Arc<Program>,
    bytes: usize,
}

/// The key of a kernel: its name, rank, number of fields and element type.
pub(crate) type KernelKey = (&'static str, usize, usize, DType);

impl Programs {
    pub fn new(limit: usize) -> Programs {
        Programs { kept: HashMap::new(), known: HashMap::new(), limit, bytes: 0, clock: 0, measured: 0 }
    }

    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// The program of a kernel, if it is kept.
    pub fn find(&mut self, kernel: &Verified) -> Option<Arc<Program>> {
        let found = Arc::clone(&self.kept.get(kernel)?.program);
        Some(self.used(found))
    }

    /// The program of a kernel that would be made from this, if it is kept.
    pub fn find_known(&mut self, key: &KernelKey) -> Option<Arc<Program>> {
        let found = self.known.get(key)?.upgrade().filter(|program| !program.is_forgotten())?;
        Some(self.used(found))
    }

    /// Makes a program known by what its kernel was made from.
    pub fn know(&mut self, key: KernelKey, program: &Arc<Program>) {
        self.known.insert(key, Arc::downgrade(program));
    }

    fn used(&mut self, program: Arc<Program>) -> Arc<Program> {
        self.clock += 1;
        program.last_use.store(self.clock, Ordering::Relaxed);
        program
    }

    /// Keeps a program, and forgets others where all together have more bytes than the limit. Gives those.
    /// Code is written when a launch first needs it, so programs in use since the last call are measured
    /// again.
    pub fn keep(&mut self, program: &Arc<Program>, bytes: impl Fn(&Program) -> usize) -> Vec<Arc<Program>> {
        let last_use = |program: &Program| program.last_use.load(Ordering::Relaxed);
        for kept in self.kept.values_mut().filter(|kept| last_use(&kept.program) > self.measured) {
            self.bytes -= kept.bytes;
            kept.bytes = bytes(&kept.program);
            self.bytes += kept.bytes;
        }
        self.measured = self.clock;
        let kept = KeptProgram { program: self.used(Arc::clone(program)), bytes: bytes(program) };
        self.bytes += kept.bytes;
        self.kept.insert(program.kernel.clone(), kept);
        self.forget()
    }

    /// Changes the limit.
    pub fn set_limit(&mut self, limit: usize) -> Vec<Arc<Program>> {
        self.limit = limit;
        self.forget()
    }

    /// Forgets the least recently used beyond the limit, but not the program used last.
    fn forget(&mut self) -> Vec<Arc<Program>> {
        let mut forgotten = Vec::new();
        while self.bytes > self.limit && self.kept.len() > 1 {
            let oldest =
                self.kept.iter().min_by_key(|(_, kept)| kept.program.last_use.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(kernel, _)| kernel.clone()) else { break };
            if let Some(kept) = self.kept.remove(&oldest) {
                self.bytes -= kept.bytes;
                kept.program.forget();
                forgotten.push(kept.program);
            }
        }
        forgotten
    }
}
