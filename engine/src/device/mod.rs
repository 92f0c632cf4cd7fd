//! Devices and what they do: allocate, upload, download, compile, launch, record, replay, wait.
//!
//! A [`Device`] is one of a closed set of backends behind one match. Work queued on one [`Stream`] of a
//! device runs in order; the host device runs it at once. Knows bytes, kernels and launches; knows no arrays
//! and no parts. Copies between regions are launches of a copy kernel, so there is no copy verb.
//!
//! Invariant: what moves bytes or queues work is this crate's own; `lock` says who may. Everybody else
//! computes with arrays, or by [`raw`](crate::raw).

mod check;
pub mod cuda;
mod discovery;
mod download;
mod foreign;
mod host;
mod ipc;
mod lock;
pub mod memory;
mod process_id;
mod room;
mod stream;
mod sweep;
mod timestamp;
mod transfer;
pub mod wgpu;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use partita_kernels::{Access, Launch, Verified, cpu};

use crate::config::{config, say};
use crate::error::{Error, Result};
pub use check::compared_launches;
use cuda::DriverJob;
pub use download::Download;
pub use foreign::Foreign;
pub(crate) use lock::DeviceLocks;
pub(crate) use memory::Arena;
pub use memory::{Allocation, Buffer, MemoryUse};
use memory::{Memory, Pool};
use process_id::process_id;
pub(crate) use room::zeros;
pub use stream::Stream;
pub(crate) use sweep::Sweep;
pub use timestamp::Timestamp;
pub(crate) use transfer::CopyRegion;

/// A processor with memory of its own. Clones name the same device; equality is identity.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    name: String,
    backend: Backend,
    /// The process that opened it.
    process: u32,
    pool: Mutex<Pool>,
    programs: Mutex<HashMap<Verified, Arc<Program>>>,
    /// Held by one evaluation at a time, see [`DeviceLocks`].
    lock: Mutex<()>,
}

enum Backend {
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

/// A kernel compiled for one device.
pub struct Program {
    /// The number of the device.
    device: u64,
    kernel: Verified,
    code: Code,
}

enum Code {
    Host(Box<cpu::Program>),
    Cuda(Box<cuda::CudaProgram>),
    Wgpu(Box<wgpu::WgpuProgram>),
}

impl Code {
    /// What the driver was given to compile.
    fn sources(&self) -> Box<dyn Iterator<Item = &str> + '_> {
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
    /// CUDA keeps a graph.
    Cuda(cuda::GraphRecording),
    /// wgpu keeps bind groups and parameter buffers.
    Wgpu(wgpu::DispatchRecording),
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
    fn new(name: String, backend: Backend) -> Device {
        Device(Arc::new(Inner {
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
    fn usable(&self) -> Result<()> {
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

    /// The most arrays one kernel may bind.
    pub fn max_params(&self) -> usize {
        match &self.0.backend {
            Backend::Host => 64,
            // So many fit into a kernel's 4 KiB of parameters at the largest rank.
            Backend::Cuda(_) => 32,
            Backend::Wgpu(gpu) => gpu.facts().max_params,
        }
    }

    /// Compiles a kernel, or finds it compiled.
    ///
    /// # Errors
    /// If the device lacks a type or operation, or its compiler refuses the source.
    pub fn compile(&self, kernel: Verified) -> Result<Arc<Program>> {
        self.usable()?;
        let mut programs = self.0.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&kernel) {
            return Ok(Arc::clone(program));
        }
        if config().debug >= 2 {
            say(format_args!("compile for {}:\n{kernel}", self.name()));
        }
        let code = match &self.0.backend {
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

    /// Queues a job behind all work queued so far.
    ///
    /// # Errors
    /// If the launch does not fit its memory or the driver fails.
    pub(crate) fn launch(&self, job: &Job) -> Result<()> {
        self.launch_on(Stream::Compute, job)
    }

    /// The same on a stream.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub(crate) fn launch_on(&self, stream: Stream, job: &Job) -> Result<()> {
        self.usable()?;
        self.check(job)?;
        self.tell(job);
        if config().check {
            return check::checked(self, std::slice::from_ref(job), || self.run_on(stream, job));
        }
        self.run_on(stream, job)
    }

    /// Refuses a job that is another device's, or that writes memory which was lent to be read.
    fn check(&self, job: &Job) -> Result<()> {
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

    fn tell(&self, job: &Job) {
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

    fn run_on(&self, stream: Stream, job: &Job) -> Result<()> {
        match (&self.0.backend, &job.program.code) {
            (Backend::Host, Code::Host(_)) => host_launch(job, host::threads()),
            (Backend::Cuda(gpu), Code::Cuda(code)) => {
                let memory = cuda_memory(job);
                let launch =
                    || gpu.launch(stream, code, &job.launch, &memory).map_err(|e| self.cuda_failure(e));
                // A reduction needs memory of its own.
                self.with_room(launch)
            }
            (Backend::Wgpu(gpu), Code::Wgpu(code)) => {
                gpu.launch(code, &job.launch, &gpu_memory(job)).map_err(|e| Error::of_driver(self.name(), e))
            }
            _ => unreachable!("a program runs on the device it was compiled for"),
        }
    }

    /// Queues jobs of one program over boxes of which none writes what another reads or writes, in any order:
    /// in one launch, or a few, where the device can.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub(crate) fn launch_boxes(&self, stream: Stream, jobs: &[Job]) -> Result<()> {
        self.usable()?;
        match &self.0.backend {
            Backend::Host | Backend::Wgpu(_) => jobs.iter().try_for_each(|job| self.launch_on(stream, job)),
            Backend::Cuda(gpu) => {
                jobs.iter().try_for_each(|job| self.check(job))?;
                let memory: Vec<_> = jobs.iter().map(cuda_memory).collect();
                let prepared = cuda_jobs(jobs, &memory);
                let run = || {
                    self.with_room(|| gpu.launch_boxes(stream, &prepared).map_err(|e| self.cuda_failure(e)))
                };
                if config().check { check::checked(self, jobs, run) } else { run() }
            }
        }
    }

    /// Prepares jobs for repetition.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub(crate) fn record(&self, jobs: Vec<Job>) -> Result<Recording> {
        self.record_groups(jobs.into_iter().map(|job| vec![job]).collect())
    }

    /// Prepares groups of jobs for repetition, each one job or what [`Device::launch_boxes`] takes.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub(crate) fn record_groups(&self, groups: Vec<Vec<Job>>) -> Result<Recording> {
        self.usable()?;
        groups.iter().flatten().try_for_each(|job| self.check(job))?;
        match &self.0.backend {
            Backend::Cuda(gpu) if !config().check => {
                let memory: Vec<Vec<_>> =
                    groups.iter().map(|jobs| jobs.iter().map(cuda_memory).collect()).collect();
                let prepared: Vec<_> =
                    groups.iter().zip(&memory).map(|(jobs, memory)| cuda_jobs(jobs, memory)).collect();
                let record = || gpu.record(&prepared).map_err(|e| self.cuda_failure(e));
                self.with_room(record).map(Recording::Cuda)
            }
            Backend::Wgpu(gpu) if !config().check => {
                let jobs: Vec<Job> = groups.into_iter().flatten().collect();
                let memory: Vec<_> = jobs.iter().map(gpu_memory).collect();
                let prepared: Vec<_> = jobs
                    .iter()
                    .zip(&memory)
                    .filter_map(|(job, memory)| match &job.program.code {
                        Code::Wgpu(code) => Some((&**code, &*job.launch, &memory[..])),
                        Code::Host(_) | Code::Cuda(_) => None,
                    })
                    .collect();
                gpu.record(&prepared).map(Recording::Wgpu).map_err(|e| Error::of_driver(self.name(), e))
            }
            Backend::Host | Backend::Cuda(_) | Backend::Wgpu(_) => {
                Ok(Recording::Kept(vec![RecordedWork::Jobs(groups.into_iter().flatten().collect())]))
            }
        }
    }

    /// Queues a recording's jobs, in their order, behind all work queued so far.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub(crate) fn replay(&self, recording: &Recording) -> Result<()> {
        self.replay_on(Stream::Compute, recording)
    }

    /// The same on a stream.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub(crate) fn replay_on(&self, stream: Stream, recording: &Recording) -> Result<()> {
        self.usable()?;
        match (&self.0.backend, recording) {
            (_, Recording::Kept(stretches)) => stretches.iter().try_for_each(|stretch| match stretch {
                RecordedWork::Jobs(jobs) => jobs.iter().try_for_each(|job| self.launch_on(stream, job)),
                RecordedWork::Tiles(sweep) if config().check => {
                    sweep.run(1, |job| self.launch_on(stream, job))
                }
                RecordedWork::Tiles(sweep) => sweep.run(host::threads(), |job| {
                    self.tell(job);
                    host_launch(job, 1)
                }),
            }),
            (Backend::Cuda(gpu), Recording::Cuda(recording)) => {
                gpu.replay(stream, recording).map_err(|e| Error::of_driver(self.name(), e))
            }
            (Backend::Wgpu(gpu), Recording::Wgpu(recording)) => {
                gpu.replay(recording).map_err(|e| Error::of_driver(self.name(), e))
            }
            _ => unreachable!("a recording is replayed on the device that made it"),
        }
    }

    /// Waits until all queued work is done.
    ///
    /// # Errors
    /// If the driver fails, or work queued before had failed.
    pub fn wait(&self) -> Result<()> {
        self.usable()?;
        match &self.0.backend {
            Backend::Host => Ok(()),
            Backend::Cuda(gpu) => gpu.wait().map_err(|e| Error::of_driver(self.name(), e)),
            Backend::Wgpu(gpu) => gpu.wait().map_err(|e| Error::of_driver(self.name(), e)),
        }
    }
}

/// Runs a job of the host; it is done when this returns.
fn host_launch(job: &Job, threads: usize) -> Result<()> {
    match &job.program.code {
        Code::Host(code) => Ok(host::launch(code, &job.launch, host_memory(job), threads)?),
        Code::Cuda(_) | Code::Wgpu(_) => unreachable!("a program runs on the device it was compiled for"),
    }
}

fn host_memory(job: &Job) -> impl Iterator<Item = (&host::HostMemory, usize)> {
    let params = &job.program.kernel().kernel().params;
    job.memory.iter().zip(params).map(|(allocation, param)| match &allocation.memory {
        Memory::Host(block) => (block, param.dtype.size_bytes()),
        Memory::Cuda(_) | Memory::Wgpu(_) => unreachable!("memory belongs to the device it is used with"),
    })
}

fn cuda_memory(job: &Job) -> Vec<&cuda::CudaBuffer> {
    job.memory
        .iter()
        .map(|allocation| match &allocation.memory {
            Memory::Cuda(buffer) => buffer,
            Memory::Host(_) | Memory::Wgpu(_) => unreachable!("memory belongs to the device it is used with"),
        })
        .collect()
}

fn cuda_jobs<'a>(
    jobs: &'a [Job],
    memory: &'a [Vec<&'a cuda::CudaBuffer>],
) -> Vec<DriverJob<'a, cuda::CudaProgram, cuda::CudaBuffer>> {
    jobs.iter()
        .zip(memory)
        .map(|(job, memory)| match &job.program.code {
            Code::Cuda(program) => DriverJob { program: &**program, launch: &job.launch, memory },
            Code::Host(_) | Code::Wgpu(_) => {
                unreachable!("a program runs on the device it was compiled for")
            }
        })
        .collect()
}

fn gpu_memory(job: &Job) -> Vec<&wgpu::WgpuBuffer> {
    job.memory
        .iter()
        .map(|allocation| match &allocation.memory {
            Memory::Wgpu(buffer) => buffer,
            Memory::Host(_) | Memory::Cuda(_) => unreachable!("memory belongs to the device it is used with"),
        })
        .collect()
}
