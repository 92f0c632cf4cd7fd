//! Launches: a job is checked, and queued on a stream of its device.

use partita_kernels::Access;

use super::check;
use super::job::{Code, Job};
use crate::config::{config, say};
use crate::device::cuda::{self, DriverJob};
use crate::device::handle::{Backend, Device};
use crate::device::host::{self, HostMemory};
use crate::device::memory::Memory;
use crate::device::streams::Stream;
use crate::device::wgpu;
use crate::error::{Error, Result};

impl Device {
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
        self.log(job);
        if config().check {
            return check::checked(self, std::slice::from_ref(job), || self.run_on(stream, job));
        }
        self.run_on(stream, job)
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

    pub(super) fn log(&self, job: &Job) {
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

    pub(super) fn run_on(&self, stream: Stream, job: &Job) -> Result<()> {
        match (self.backend(), &job.program.code) {
            (Backend::Host, Code::Host(_)) => host_launch(job, host::threads()),
            (Backend::Cuda(gpu), Code::Cuda(code)) => {
                let memory = cuda_memory(job);
                let launch =
                    || gpu.launch(stream, code, &job.launch, &memory).map_err(|e| self.cuda_failure(e));
                // A reduction needs memory of its own.
                self.with_room(launch)
            }
            (Backend::Wgpu(gpu), Code::Wgpu(code)) => {
                gpu.launch(code, &job.launch, &wgpu_memory(job)).map_err(|e| self.failed(e))
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
        match self.backend() {
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
}

/// Runs a job of the host; it is done when this returns.
pub(super) fn host_launch(job: &Job, threads: usize) -> Result<()> {
    match &job.program.code {
        Code::Host(code) => Ok(host::launch(code, &job.launch, host_memory(job), threads)?),
        Code::Cuda(_) | Code::Wgpu(_) => unreachable!("a program runs on the device it was compiled for"),
    }
}

fn host_memory(job: &Job) -> impl Iterator<Item = (&HostMemory, usize)> {
    let params = &job.program.kernel().kernel().params;
    job.memory.iter().zip(params).map(|(allocation, param)| match &allocation.memory {
        Memory::Host(block) => (block, param.dtype.size_bytes()),
        Memory::Cuda(_) | Memory::Wgpu(_) => unreachable!("memory belongs to the device it is used with"),
    })
}

pub(super) fn cuda_memory(job: &Job) -> Vec<&cuda::CudaBuffer> {
    job.memory
        .iter()
        .map(|allocation| match &allocation.memory {
            Memory::Cuda(buffer) => buffer,
            Memory::Host(_) | Memory::Wgpu(_) => unreachable!("memory belongs to the device it is used with"),
        })
        .collect()
}

pub(super) fn cuda_jobs<'a>(
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

pub(super) fn wgpu_memory(job: &Job) -> Vec<&wgpu::WgpuBuffer> {
    job.memory
        .iter()
        .map(|allocation| match &allocation.memory {
            Memory::Wgpu(buffer) => buffer,
            Memory::Host(_) | Memory::Cuda(_) => unreachable!("memory belongs to the device it is used with"),
        })
        .collect()
}
