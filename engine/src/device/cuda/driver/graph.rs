//! Recordings as CUDA graphs: many launches queued by one call.

use std::sync::Arc;

use cudarc::driver::{result, sys};

use super::buffer::CudaBuffer;
use super::gpu::CudaDevice;
use super::primary::Primary;
use super::program::CudaProgram;
use super::queue::{plan_of, queue};
use crate::device::Stream;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;
use crate::device::cuda::job::DriverJob;

/// Launches prepared for repetition.
pub(crate) struct GraphRecording {
    graph: sys::CUgraphExec,
    primary: Arc<Primary>,
    /// Partial results of its reductions; the launches run in order, so they share it.
    _scratch: Option<CudaBuffer>,
}

// SAFETY: the driver's handles may be used from any thread, one at a time.
unsafe impl Send for GraphRecording {}
// SAFETY: a graph is launched by the evaluation that holds the device's lock, or by the loop that owns it.
unsafe impl Sync for GraphRecording {}

impl Drop for GraphRecording {
    fn drop(&mut self) {
        // SAFETY: instantiated in `record`, destroyed once; the driver keeps what still runs. On a lost
        // device there is nothing to report.
        let _ = self
            .primary
            .with(|| unsafe { result::graph::exec_destroy(self.graph) }.during("destroying a graph"));
    }
}

impl CudaDevice {
    /// Prepares launches for repetition on one stream, each a job or what [`CudaDevice::launch_boxes`] takes.
    /// Nothing runs.
    ///
    /// # Errors
    /// As [`CudaDevice::launch`].
    pub fn record(
        &self,
        groups: &[Vec<DriverJob<CudaProgram, CudaBuffer>>],
    ) -> Result<GraphRecording, CudaError> {
        let facts = self.schedule_facts();
        let plans = groups.iter().map(|jobs| plan_of(jobs, facts)).collect::<Result<Vec<_>, _>>()?;
        let scratch = match plans.iter().map(|plan| plan.scratch_bytes).max().unwrap_or(0) {
            0 => None,
            bytes => Some(self.alloc(bytes)?),
        };
        let partials = scratch.as_ref().map_or(0, CudaBuffer::address);
        let mut grids = Vec::new();
        for (jobs, plan) in groups.iter().zip(plans) {
            // All jobs of a group are of one program.
            grids.extend(plan.grids(partials).into_iter().zip(jobs.iter().map(|job| job.program).cycle()));
        }
        // A stream of its own, so that other threads' work on ours is not captured.
        let graph = self.primary.with(|| {
            let stream = self.primary.new_stream(Stream::Compute)?;
            let graph =
                capture(stream, || grids.iter().try_for_each(|(grid, program)| queue(program, grid, stream)));
            // SAFETY: created above; capturing has ended.
            let destroyed = unsafe { result::stream::destroy(stream) }.during("destroying a stream");
            graph.and_then(|graph| destroyed.map(|()| graph))
        })?;
        Ok(GraphRecording { graph, primary: Arc::clone(&self.primary), _scratch: scratch })
    }

    /// Queues a recording's launches, in their order, behind all work queued on a stream so far.
    ///
    /// # Errors
    /// As [`CudaDevice::launch`].
    pub fn replay(&self, stream: Stream, recording: &GraphRecording) -> Result<(), CudaError> {
        // SAFETY: graph and stream are alive; the engine keeps the memory of the launches.
        let launch = || unsafe { result::graph::launch(recording.graph, self.primary.stream(stream)) };
        self.primary.with(|| launch().during("launching a graph"))
    }
}

/// Captures what `work` queues on `stream`.
fn capture(
    stream: sys::CUstream,
    work: impl FnOnce() -> Result<(), CudaError>,
) -> Result<sys::CUgraphExec, CudaError> {
    use sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    // SAFETY: the stream is ours and alive.
    unsafe { result::stream::begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) }
        .during("starting to capture")?;
    let queued = work();
    // SAFETY: capturing was started above; it must end even if queueing failed.
    let end = || unsafe { result::stream::end_capture(stream) }.during("capturing a graph");
    // While a stream captures, this thread may wait for nothing on any device: a second try is worth it.
    let graph = end().inspect_err(|_| drop(end()));
    queued?;
    let graph = graph?;
    let mut executable = std::ptr::null_mut();
    // SAFETY: the graph is alive; the pointer is to a local.
    let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0) };
    // SAFETY: the executable does not need the graph.
    let destroyed = unsafe { result::graph::destroy(graph) }.during("destroying a graph");
    made.result().during("instantiating a graph")?;
    destroyed.map(|()| executable)
}
