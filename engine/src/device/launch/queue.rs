//! Compilation of kernels, once per device; launches: a [`Job`] is checked, and queued on a stream of its device;
//! and jobs prepared for repetition. [`Programs`]: the compiled kernels that a device keeps for further launches,
//! as many as their limit of bytes allows; the least recently used are forgotten first.
//!
//! Invariant: forgetting a program drops a reference. Jobs, recordings and cached evaluations hold theirs.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use partita_kernels::{Access, DType, Launch, Verified};

use crate::config::{config, say};
use crate::device::driver::{Device, Opaque, Stream};
use crate::device::host;
use crate::device::launch::check;
use crate::device::launch::sweep::Sweep;
use crate::device::memory::Allocation;
use crate::error::{Error, Result};
/// Some of a recording's jobs on the host.
pub(crate) enum RecordedWork {
    /// One after another, each on all threads.
    Jobs(Vec<Job>),
    /// Tile by tile, each on one thread.
    Tiles(Sweep),
}

/// Jobs of one device prepared for cheap repetition.
pub(crate) enum Recording {
    /// The jobs as they are: on the host, and everywhere when launches are checked.
    Kept(Vec<RecordedWork>),
    /// The driver's: a graph on CUDA, bind groups and parameter buffers on wgpu.
    Driver(Opaque),
}

impl Device {
    /// Compiles a kernel, or finds it compiled.
    ///
    /// # Errors
    /// If the device lacks a type or operation, or its compiler refuses the source.
    pub fn compile(&self, kernel: Verified) -> Result<Arc<Program>> {
        self.usable()?;
        let mut programs = self.programs();
        if let Some(program) = programs.find(&kernel) {
            return Ok(program);
        }
        if config().debug >= 2 {
            say(format_args!("compile for {}:\n{kernel}", self.name()));
        }
        let code = self.driver().compile(&kernel).map_err(|e| self.failed(e))?;
        let (device, last_use, is_forgotten) = (self.number(), 0.into(), false.into());
        let program = Arc::new(Program { device, kernel, code, last_use, is_forgotten });
        let forgotten = programs.keep(&program, |program| self.bytes_of(program));
        // Dropping them calls the driver: others need not wait for that.
        drop((programs, forgotten));
        Ok(program)
    }

    /// Compiles the kernel that `make` makes from `key`, or finds it compiled without making it, which takes
    /// as long as running it on a few elements.
    pub(crate) fn compile_known(
        &self,
        key: KernelKey,
        make: impl FnOnce() -> Result<Verified>,
    ) -> Result<Arc<Program>> {
        self.usable()?;
        if let Some(program) = self.programs().find_known(&key) {
            return Ok(program);
        }
        let program = self.compile(make()?)?;
        self.programs().know(key, &program);
        Ok(program)
    }

    /// About what a program takes of memory.
    fn bytes_of(&self, program: &Program) -> usize {
        let kernel = program.kernel.kernel();
        // The program has the kernel, and so have its key and the driver.
        3 * (size_of_val(&kernel.body[..]) + size_of_val(&kernel.params[..]) + kernel.name.len())
            + self.driver().code_bytes(&program.code)
    }

    /// Changes how many bytes compiled kernels may take on the device. The least recently used beyond it are
    /// forgotten, and freed when nobody uses them any more. The limit at first is that of
    /// `PARTITA_PROGRAM_BYTES`.
    pub fn set_program_bytes(&self, bytes: u64) {
        let forgotten = self.programs().set_limit(usize::try_from(bytes).unwrap_or(usize::MAX));
        drop(forgotten);
    }

    /// The number of compiled kernels that the device keeps for further launches.
    pub fn programs_kept(&self) -> usize {
        self.programs().len()
    }

    /// Queues a job on a stream.
    pub(crate) fn launch_on(&self, stream: Stream, job: &Job) -> Result<()> {
        self.launch_boxes(stream, std::slice::from_ref(job))
    }

    /// Queues jobs of one program over boxes of which none writes what another reads or writes, in any order:
    /// in one launch, or a few, where the device can.
    pub(crate) fn launch_boxes(&self, stream: Stream, jobs: &[Job]) -> Result<()> {
        self.usable()?;
        for job in jobs {
            self.check(job)?;
            self.log(job);
        }
        match config().check {
            true => check::checked(self, jobs, || self.run_on(stream, jobs)),
            false => self.run_on(stream, jobs),
        }
    }

    pub(super) fn run_on(&self, stream: Stream, jobs: &[Job]) -> Result<()> {
        self.with_room(|| self.driver().launch(stream, jobs))
    }

    /// Refuses a job that is another device's, or that writes memory which was lent to be read.
    pub(super) fn check(&self, job: &Job) -> Result<()> {
        if job.program.device != self.number() {
            let name = &job.program.kernel().kernel().name;
            let expected = format!("a program compiled for {}", self.name());
            return Err(Error::invalid(
                "launch",
                expected,
                format!("{name} of another device"),
                "compile it there",
            ));
        }
        for (memory, param) in job.memory.iter().zip(&job.program.kernel().kernel().params) {
            match param.access {
                Access::In => self.check_memory("launch", memory)?,
                Access::Out | Access::InOut => self.check_written("launch", memory)?,
            }
        }
        Ok(())
    }

    fn log(&self, job: &Job) {
        if config().debug >= 1 {
            say(format_args!(
                "{} on {}: {:?} points {:?}",
                job.program.kernel().kernel().name,
                self.name(),
                job.launch.extents,
                job.memory
            ));
        }
    }

    /// Prepares groups of jobs for repetition, each one job or what [`Device::launch_boxes`] takes.
    pub(crate) fn record_groups(&self, groups: Vec<Vec<Job>>) -> Result<Recording> {
        self.usable()?;
        groups.iter().flatten().try_for_each(|job| self.check(job))?;
        if !config().check
            && let Some(recording) = self.with_room(|| self.driver().record(&groups))?
        {
            return Ok(Recording::Driver(recording));
        }
        Ok(Recording::Kept(vec![RecordedWork::Jobs(groups.into_iter().flatten().collect())]))
    }

    /// Queues a recording's jobs on a stream, in their order.
    pub(crate) fn replay_on(&self, stream: Stream, recording: &Recording) -> Result<()> {
        self.usable()?;
        match recording {
            Recording::Kept(stretches) => stretches.iter().try_for_each(|stretch| match stretch {
                RecordedWork::Jobs(jobs) => jobs.iter().try_for_each(|job| self.launch_on(stream, job)),
                RecordedWork::Tiles(sweep) if config().check => {
                    sweep.run(1, |job| self.launch_on(stream, job))
                }
                RecordedWork::Tiles(sweep) => sweep.run(host::threads(), |job| {
                    self.log(job);
                    Ok(host::run(job, 1)?)
                }),
            }),
            Recording::Driver(recording) => {
                self.driver().replay(stream, recording).map_err(|e| self.failed(e))
            }
        }
    }
}

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
