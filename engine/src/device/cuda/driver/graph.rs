//! Recordings: work of one or several GPUs and streams as a CUDA graph, queued by one call. It is captured
//! from streams of its own, one per stream of a GPU, so that other threads' work is not captured.

use std::any::Any;
use std::sync::Arc;

use cudarc::driver::{result, sys};
use partita_kernels::ptx::{Grid, LaunchPlan};

use super::gpu::{CudaBuffer, CudaDevice, within};
use super::gpu::{Function, plan_of, program, queue};
use super::peers::NcclPeers;
use super::primary::capturing;
use super::primary::{During, Event, Primary, Purpose};
use super::words::{WordBatch, queue_words};
use crate::device::Stream;
use crate::device::cuda::error::CudaError;
use crate::device::driver::{Driver, GroupedSpan, Job, PeerGroup, Program, StreamWork};

/// Work prepared for repetition.
pub(super) struct GraphRecording {
    graph: sys::CUgraphExec,
    primary: Arc<Primary>,
    /// The graph holds no modules.
    _programs: Vec<Arc<Program>>,
    /// A library ends no communicator that a graph has.
    _groups: Vec<Arc<dyn PeerGroup>>,
    /// Partial results of reductions; those of one branch run in order, so they share it.
    _scratch: Vec<Option<CudaBuffer>>,
}

// SAFETY: the driver's handles may be used from any thread, one at a time.
unsafe impl Send for GraphRecording {}
// SAFETY: a graph is launched by the evaluation that holds the devices' locks, or by the loop that owns it.
unsafe impl Sync for GraphRecording {}

impl Drop for GraphRecording {
    fn drop(&mut self) {
        // SAFETY: instantiated in `capture`, destroyed once; the driver keeps what still runs. On a lost
        // device there is nothing to report.
        let _ = self
            .primary
            .with(|| unsafe { result::graph::exec_destroy(self.graph) }.during("destroying a graph"));
    }
}

impl GraphRecording {
    /// Queues the work behind all work queued on a stream so far.
    pub(super) fn launch(&self, stream: sys::CUstream) -> Result<(), CudaError> {
        // SAFETY: graph and stream are alive; the engine keeps the memory of the work.
        self.primary.with(|| unsafe { result::graph::launch(self.graph, stream) }.during("launching a graph"))
    }
}

/// The captured work of one stream of a GPU.
struct Branch<'a> {
    gpu: &'a CudaDevice,
    of: Stream,
    stream: sys::CUstream,
    /// Its end when another branch last began to wait for it.
    end: Event,
    scratch_bytes: u64,
}

impl Drop for Branch<'_> {
    fn drop(&mut self) {
        // SAFETY: created in `branch`, destroyed once; capturing has ended.
        let destroy = || unsafe { result::stream::destroy(self.stream) }.during("destroying a stream");
        // On a lost device there is nothing to report.
        let _ = self.gpu.primary.with(destroy);
    }
}

/// A step of one branch; kernels are planned first, and then placed and loaded.
struct Step<'a, K> {
    on: usize,
    work: Work<'a, K>,
}

enum Work<'a, K> {
    Kernels(K),
    Copy {
        target: u64,
        source: u64,
        bytes: usize,
    },
    Words(WordBatch),
    Group(&'a NcclPeers, &'a [GroupedSpan]),
    /// It waits for another branch.
    After(usize),
}

/// Jobs, their launches, and the address of the word that guards them, if one does.
type Planned<'a> = (&'a [Job], LaunchPlan, Option<u64>);

type Placed<'a> = Vec<(Grid, &'a Function)>;

/// A recording under way.
#[derive(Default)]
struct Plan<'a> {
    branches: Vec<Branch<'a>>,
    steps: Vec<Step<'a, Planned<'a>>>,
    /// With whom it exchanges messages.
    groups: Vec<Arc<dyn PeerGroup>>,
}

impl CudaDevice {
    /// The GPU of a driver, if it is one.
    pub(super) fn behind(driver: &dyn Driver) -> Option<&CudaDevice> {
        let driver: &dyn Any = driver;
        driver.downcast_ref()
    }

    /// Prepares groups of jobs for repetition on one stream. Nothing runs.
    pub(super) fn recorded(&self, groups: &[Vec<Job>]) -> Result<GraphRecording, CudaError> {
        let mut plan = Plan::default();
        let on = plan.branch(self, Stream::Compute)?;
        groups.iter().try_for_each(|jobs| plan.jobs(on, jobs, None))?;
        plan.record()
    }

    /// Prepares work of several streams and GPUs, to be launched on the stream `Compute` of this one; `None`
    /// if other devices take part. Nothing runs.
    pub(super) fn recorded_streams(&self, work: &[StreamWork]) -> Result<Option<GraphRecording>, CudaError> {
        let mut plan = Plan::default();
        plan.branch(self, Stream::Compute)?;
        let gpu = CudaDevice::behind;
        for one in work {
            let (on, work) = match *one {
                StreamWork::Jobs { on, stream, jobs, guard } => {
                    let Some(gpu) = gpu(on) else { return Ok(None) };
                    let on = plan.branch(gpu, stream)?;
                    plan.jobs(on, jobs, guard.map(|(memory, offset)| within(memory, offset)))?;
                    continue;
                }
                StreamWork::Copy { source, target, stream, bytes } => {
                    let (Some(giver), Some(taker)) = (gpu(source.0), gpu(target.0)) else { return Ok(None) };
                    if !Arc::ptr_eq(&giver.primary, &taker.primary) {
                        taker.reach(giver)?;
                    }
                    let (source, target) = (within(source.1, source.2), within(target.1, target.2));
                    (plan.branch(taker, stream)?, Work::Copy { target, source, bytes: bytes as usize })
                }
                StreamWork::Words { on, stream, ops } => {
                    let Some(gpu) = gpu(on) else { return Ok(None) };
                    let on = plan.branch(gpu, stream)?;
                    let ops = ops.iter().map(|op| (within(&op.memory, op.offset), op.gives));
                    // What follows at once is one batch.
                    match plan.steps.last_mut() {
                        Some(Step { on: last, work: Work::Words(all) }) if *last == on => all.extend(ops),
                        _ => plan.steps.push(Step { on, work: Work::Words(ops.collect()) }),
                    }
                    continue;
                }
                StreamWork::Group { on, stream, group, spans } => {
                    let peers: &dyn Any = &**group;
                    let (Some(gpu), Some(peers)) = (gpu(on), peers.downcast_ref()) else { return Ok(None) };
                    plan.groups.push(Arc::clone(group));
                    (plan.branch(gpu, stream)?, Work::Group(peers, spans))
                }
                StreamWork::Wait { first, then } => {
                    let (Some(one), Some(other)) = (gpu(first.0), gpu(then.0)) else { return Ok(None) };
                    let first = plan.branch(one, first.1)?;
                    (plan.branch(other, then.1)?, Work::After(first))
                }
            };
            plan.steps.push(Step { on, work });
        }
        plan.record().map(Some)
    }
}

impl<'a> Plan<'a> {
    /// The branch of a stream of a GPU.
    fn branch(&mut self, gpu: &'a CudaDevice, of: Stream) -> Result<usize, CudaError> {
        let is_it = |branch: &Branch| Arc::ptr_eq(&branch.gpu.primary, &gpu.primary) && branch.of == of;
        if let Some(at) = self.branches.iter().position(is_it) {
            return Ok(at);
        }
        let end = Event::new(&gpu.primary, Purpose::Order)?;
        let stream = gpu.primary.with(|| gpu.primary.new_stream(of))?;
        self.branches.push(Branch { gpu, of, stream, end, scratch_bytes: 0 });
        Ok(self.branches.len() - 1)
    }

    /// Captures one launch.
    fn jobs(&mut self, on: usize, jobs: &'a [Job], guard: Option<u64>) -> Result<(), CudaError> {
        let branch = &mut self.branches[on];
        let plan = plan_of(jobs, branch.gpu.schedule_facts())?;
        branch.scratch_bytes = branch.scratch_bytes.max(plan.scratch_bytes);
        self.steps.push(Step { on, work: Work::Kernels((jobs, plan, guard)) });
        Ok(())
    }

    /// Allocates and loads everything, which the driver does not do while a stream captures; then captures.
    fn record(self) -> Result<GraphRecording, CudaError> {
        let Plan { branches, steps, groups } = self;
        let scratch = branches.iter().map(|branch| match branch.scratch_bytes {
            0 => Ok(None),
            bytes => branch.gpu.new_buffer(bytes).map(Some),
        });
        let scratch = scratch.collect::<Result<Vec<_>, CudaError>>()?;
        let place = |Step { on, work }: Step<'a, Planned<'a>>| {
            let work = match work {
                Work::Kernels((jobs, plan, guard)) => {
                    let grids = plan.grids(scratch[on].as_ref().map_or(0, |held| held.address));
                    // All jobs of one launch are of one program.
                    let placed = grids.into_iter().zip(jobs.iter().cycle());
                    let placed = placed.map(|(mut grid, job)| {
                        let Some(word) = guard else {
                            let function = program(job).function(grid.entry)?;
                            return Ok((grid, function));
                        };
                        let Some((function, at)) = program(job).guarded(grid.entry)? else {
                            return Err(CudaError::NoRoomForGuard);
                        };
                        grid.params.resize(*at, 0);
                        grid.params.extend(word.to_ne_bytes());
                        Ok((grid, function))
                    });
                    Work::Kernels(placed.collect::<Result<Placed, CudaError>>()?)
                }
                Work::Copy { target, source, bytes } => Work::Copy { target, source, bytes },
                Work::Words(ops) => Work::Words(ops),
                Work::Group(peers, spans) => Work::Group(peers, spans),
                Work::After(first) => Work::After(first),
            };
            Ok(Step { on, work })
        };
        let mut programs: Vec<Arc<Program>> = Vec::new();
        for Step { work, .. } in &steps {
            let Work::Kernels((jobs, ..)) = work else { continue };
            for program in jobs.iter().map(|job| &job.program) {
                if !programs.iter().any(|known| Arc::ptr_eq(known, program)) {
                    programs.push(Arc::clone(program));
                }
            }
        }
        let steps = steps.into_iter().map(place).collect::<Result<Vec<_>, CudaError>>()?;
        let primary = Arc::clone(&branches[0].gpu.primary);
        let graph = primary.with(|| capture(&branches, &steps))?;
        Ok(GraphRecording { graph, primary, _programs: programs, _groups: groups, _scratch: scratch })
    }
}

impl Branch<'_> {
    /// Orders work given from now on after the work that the other was given so far.
    fn after(&self, other: &Branch) -> Result<(), CudaError> {
        other.end.mark(other.stream)?;
        other.end.block(&self.gpu.primary, self.stream)
    }

    fn queue(&self, work: &Work<Placed>, all: &[Branch]) -> Result<(), CudaError> {
        match work {
            Work::After(first) => self.after(&all[*first]),
            Work::Words(ops) => self.gpu.primary.with(|| queue_words(self.stream, ops)),
            Work::Group(peers, spans) => peers.capture(self.stream, spans),
            Work::Kernels(placed) => self
                .gpu
                .primary
                .with(|| placed.iter().try_for_each(|(grid, function)| queue(function, grid, self.stream))),
            // Addresses are unique among all GPUs, and a copy between two need not name them.
            Work::Copy { target, source, bytes } => self.gpu.primary.with(|| {
                // SAFETY: both ranges lie inside live buffers, which the engine keeps for the recording.
                unsafe { result::memcpy_dtod_async(*target, *source, *bytes, self.stream) }
                    .during("copying between devices")
            }),
        }
    }
}

/// Captures steps: all branches begin after the first one's begin, and it ends after all of them.
fn capture(branches: &[Branch], steps: &[Step<Placed>]) -> Result<sys::CUgraphExec, CudaError> {
    use sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let Some((origin, others)) = branches.split_first() else { unreachable!("there is always one") };
    let _capturing = capturing();
    // SAFETY: the stream is ours and alive.
    unsafe { result::stream::begin_capture(origin.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) }
        .during("starting to capture")?;
    let queue = || {
        others.iter().try_for_each(|branch| branch.after(origin))?;
        steps.iter().try_for_each(|step| branches[step.on].queue(&step.work, branches))?;
        others.iter().try_for_each(|branch| origin.after(branch))
    };
    let queued = queue();
    // SAFETY: capturing was started above; it must end even if queueing failed.
    let end = || unsafe { result::stream::end_capture(origin.stream) }.during("capturing a graph");
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
