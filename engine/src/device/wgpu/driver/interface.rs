//! An adapter behind the engine's interface. Both streams are one queue.

use std::any::Any;

use partita_kernels::{Subnormals, Verified};

use super::buffer::{StagedDownload, WgpuBuffer};
use super::gpu::WgpuDevice;
use super::launch::{DispatchRecording, WgpuJob};
use super::program::WgpuProgram;
use crate::config::config;
use crate::device::driver::{
    DeviceKind, Driver, DriverError, DriverResult, Job, Opaque, Stream, SubnormalTrial, own,
};
use crate::device::memory::{Allocation, DeviceMemory};
use crate::device::wgpu::error::{Shrink, WgpuError};

/// Opens the n-th adapter; `shrink` makes limits smaller, for tests.
pub(in crate::device) fn open(index: usize, shrink: Shrink) -> Result<Box<dyn Driver>, WgpuError> {
    WgpuDevice::open(index, shrink).map(|gpu| Box::new(gpu) as _)
}

impl DeviceMemory for WgpuBuffer {
    fn host_address(&self) -> Option<*mut u8> {
        self.address().map(std::ptr::with_exposed_provenance_mut)
    }
}

fn prepared(job: &Job) -> WgpuJob<'_> {
    let memory = job.memory.iter().map(|memory| memory.own::<WgpuBuffer>()).collect();
    (own::<WgpuProgram>(&*job.program.code), &job.launch, memory)
}

impl Driver for WgpuDevice {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Wgpu
    }

    fn name(&self) -> &str {
        &self.facts.name
    }

    fn is_software(&self) -> bool {
        self.facts.is_software
    }

    fn has_i64(&self) -> bool {
        self.facts.i64
    }

    fn subnormals(&self) -> Subnormals {
        self.target().subnormals
    }

    fn subnormal_trials(&self) -> Vec<SubnormalTrial> {
        self.treatments()
    }

    fn max_params(&self) -> usize {
        self.facts.max_params
    }

    fn largest_memory(&self) -> u64 {
        self.facts.max_buffer_bytes
    }

    fn is_addressable(&self) -> bool {
        self.visible != 0
    }

    fn alloc(&self, bytes: u64) -> DriverResult<Box<dyn DeviceMemory>> {
        let refused =
            |error: WgpuError| DriverError::OutOfMemory { bytes, limit: format!("driver: {error}") };
        Ok(Box::new(self.new_buffer(bytes).map_err(refused)?))
    }

    fn upload(&self, _: Stream, to: &Allocation, offset: u64, data: &[u8]) -> DriverResult<()> {
        Ok(self.write(to.own(), offset, data)?)
    }

    fn download(&self, _: Stream, from: &Allocation, offset: u64, out: &mut [u8]) -> DriverResult<()> {
        Ok(self.read(from.own(), offset, out)?)
    }

    fn start_download(
        &self,
        _: Stream,
        from: &Allocation,
        offset: u64,
        bytes: usize,
    ) -> DriverResult<Option<Box<dyn Any + Send>>> {
        Ok(Some(Box::new(self.start_read(from.own(), offset, bytes)?)))
    }

    fn finish_download(&self, download: Box<dyn Any + Send>, out: &mut [u8]) -> DriverResult<()> {
        let Ok(download) = download.downcast::<StagedDownload>() else { unreachable!("made above") };
        Ok(self.finish_read(*download, out)?)
    }

    fn show(&self, memory: &Allocation) -> DriverResult<()> {
        Ok(self.show_buffer(memory.own())?)
    }

    fn compile(&self, kernel: &Verified) -> DriverResult<Opaque> {
        let compiled = self.compiled(kernel).map_err(|error| DriverError::Unsupported(error.to_string()))?;
        if config().debug >= 3 {
            compiled.sources().for_each(|source| eprintln!("{source}"));
        }
        Ok(Box::new(compiled))
    }

    fn code_bytes(&self, code: &Opaque) -> usize {
        own::<WgpuProgram>(&**code).bytes()
    }

    fn launch(&self, _: Stream, jobs: &[Job]) -> DriverResult<()> {
        Ok(jobs.iter().try_for_each(|job| self.queue_job(&prepared(job)))?)
    }

    fn record(&self, groups: &[Vec<Job>]) -> DriverResult<Option<Opaque>> {
        let jobs: Vec<WgpuJob> = groups.iter().flatten().map(prepared).collect();
        Ok(Some(Box::new(self.recorded(&jobs)?)))
    }

    fn replay(&self, _: Stream, recording: &Opaque) -> DriverResult<()> {
        Ok(self.replay_dispatches(own::<DispatchRecording>(&**recording))?)
    }

    fn wait(&self) -> DriverResult<()> {
        Ok(self.wait_for_queue()?)
    }
}
