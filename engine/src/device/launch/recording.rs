//! Jobs prepared for repetition: a graph on CUDA, bind groups on wgpu, the jobs themselves on the host.

use super::job::{Code, Job};
use super::queue::{cuda_jobs, cuda_memory, host_launch, wgpu_memory};
use super::sweep::Sweep;
use crate::config::config;
use crate::device::cuda;
use crate::device::handle::{Backend, Device};
use crate::device::host;
use crate::device::streams::Stream;
use crate::device::wgpu;
use crate::error::Result;

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

impl Device {
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
        match self.backend() {
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
                let memory: Vec<_> = jobs.iter().map(wgpu_memory).collect();
                let prepared: Vec<_> = jobs
                    .iter()
                    .zip(&memory)
                    .filter_map(|(job, memory)| match &job.program.code {
                        Code::Wgpu(code) => Some((&**code, &*job.launch, &memory[..])),
                        Code::Host(_) | Code::Cuda(_) => None,
                    })
                    .collect();
                gpu.record(&prepared).map(Recording::Wgpu).map_err(|e| self.failed(e))
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
        match (self.backend(), recording) {
            (_, Recording::Kept(stretches)) => stretches.iter().try_for_each(|stretch| match stretch {
                RecordedWork::Jobs(jobs) => jobs.iter().try_for_each(|job| self.launch_on(stream, job)),
                RecordedWork::Tiles(sweep) if config().check => {
                    sweep.run(1, |job| self.launch_on(stream, job))
                }
                RecordedWork::Tiles(sweep) => sweep.run(host::threads(), |job| {
                    self.log(job);
                    host_launch(job, 1)
                }),
            }),
            (Backend::Cuda(gpu), Recording::Cuda(recording)) => {
                gpu.replay(stream, recording).map_err(|e| self.failed(e))
            }
            (Backend::Wgpu(gpu), Recording::Wgpu(recording)) => {
                gpu.replay(recording).map_err(|e| self.failed(e))
            }
            _ => unreachable!("a recording is replayed on the device that made it"),
        }
    }
}
