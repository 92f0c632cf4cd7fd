//! Launching: the writer's schedule for a launch, queued grid by grid on a stream's stream.

use std::ffi::c_void;
use std::sync::PoisonError;

use cudarc::driver::{result, sys};
use partita_kernels::Launch;
use partita_kernels::ptx::{Facts, Grid, LaunchPlan, Span};

use super::buffer::CudaBuffer;
use super::gpu::CudaDevice;
use super::program::CudaProgram;
use crate::device::Stream;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;
use crate::device::cuda::job::DriverJob;

/// The grids of a job, or of jobs of one program over boxes that have nothing to do with each other.
pub(super) fn plan_of(
    jobs: &[DriverJob<CudaProgram, CudaBuffer>],
    facts: Facts,
) -> Result<LaunchPlan, CudaError> {
    let Some(DriverJob { program, .. }) = jobs.first() else { return Ok(LaunchPlan::default()) };
    let spans = jobs.iter().map(|job| program.check(job.launch, job.memory));
    let spans = spans.collect::<Result<Vec<Vec<Span>>, CudaError>>()?;
    if jobs.len() > 1 {
        let boxes: Vec<(&Launch, &[Span])> =
            jobs.iter().zip(&spans).map(|(job, spans)| (job.launch, &spans[..])).collect();
        if let Some(plan) = program.module.plan_batch(&boxes) {
            return Ok(plan);
        }
    }
    let each = jobs.iter().zip(&spans).map(|(job, spans)| program.module.plan(job.launch, spans, facts));
    Ok(each.fold(LaunchPlan::default(), LaunchPlan::then))
}

impl CudaProgram {
    /// Checks the launch against its memory; afterwards no point of it lies outside.
    pub(super) fn check(&self, launch: &Launch, memory: &[&CudaBuffer]) -> Result<Vec<Span>, CudaError> {
        let params = &self.kernel.kernel().params;
        let lens: Vec<usize> = memory
            .iter()
            .zip(params)
            .map(|(buffer, param)| buffer.bytes() as usize / param.dtype.size_bytes())
            .collect();
        self.kernel.check(launch, &lens)?;
        self.module.check(launch)?;
        Ok(memory.iter().map(|buffer| Span { address: buffer.address(), bytes: buffer.bytes() }).collect())
    }
}

impl CudaDevice {
    /// Queues a launch behind all work queued on a stream so far.
    ///
    /// # Errors
    /// If the launch does not fit its memory, or the driver fails. A failure while the kernel runs is
    /// reported by a later call.
    pub fn launch(
        &self,
        stream: Stream,
        program: &CudaProgram,
        launch: &Launch,
        memory: &[&CudaBuffer],
    ) -> Result<(), CudaError> {
        let plan = plan_of(&[DriverJob { program, launch, memory }], self.schedule_facts())?;
        // Held until everything is queued: another thread's reduction must not come in between.
        let mut scratch = self.scratch[stream as usize].lock().unwrap_or_else(PoisonError::into_inner);
        if scratch.as_ref().map_or(0, CudaBuffer::bytes) < plan.scratch_bytes {
            // The old one is freed first; the driver waits for the work that uses it.
            *scratch = None;
            *scratch = Some(self.alloc(plan.scratch_bytes)?);
        }
        let grids = plan.grids(scratch.as_ref().map_or(0, CudaBuffer::address));
        self.primary
            .with(|| grids.iter().try_for_each(|grid| queue(program, grid, self.primary.stream(stream))))
    }

    /// Queues jobs of one program over boxes of which none writes what another uses: in as few launches as
    /// possible, in any order.
    ///
    /// # Errors
    /// As [`CudaDevice::launch`].
    pub fn launch_boxes(
        &self,
        stream: Stream,
        jobs: &[DriverJob<CudaProgram, CudaBuffer>],
    ) -> Result<(), CudaError> {
        let Some(DriverJob { program, .. }) = jobs.first() else { return Ok(()) };
        // Only elementwise kernels come in boxes, and these have no partial results.
        let grids = plan_of(jobs, self.schedule_facts())?.grids(0);
        self.primary
            .with(|| grids.iter().try_for_each(|grid| queue(program, grid, self.primary.stream(stream))))
    }
}

/// Queues one grid; the device's context is current.
pub(super) fn queue(program: &CudaProgram, grid: &Grid, stream: sys::CUstream) -> Result<(), CudaError> {
    let [x, y, z] = grid.grid;
    let [bx, by, bz] = grid.block;
    let mut params = [grid.params.as_ptr().cast_mut().cast::<c_void>()];
    let function = program.functions[grid.entry];
    // SAFETY: the module is loaded; its one parameter is as long as `params`, which the driver copies; the
    // launch was checked against its memory, which the engine keeps until the work is done.
    unsafe { result::launch_kernel(function, (x, y, z), (bx, by, bz), 0, stream, &mut params) }
        .during("launching a kernel")
}
