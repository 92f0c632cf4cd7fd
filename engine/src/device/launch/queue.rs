//! Compilation of kernels, once per device; launches: a job is checked, and queued on a stream of its device;
//! and jobs prepared for repetition.

use std::sync::Arc;

use partita_kernels::{Access, Verified};

use super::check;
use super::sweep::Sweep;
use crate::config::{config, say};
use crate::device::driver::{Job, KernelKey, Opaque, Program, Stream};
use crate::device::handle::Device;
use crate::device::host;
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
