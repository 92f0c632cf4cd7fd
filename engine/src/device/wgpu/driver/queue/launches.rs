//! Launches: encoded one behind the other into an open command encoder, submitted together.

use partita_kernels::Launch;

use super::super::buffer::WgpuBuffer;
use super::super::dispatch::{Bound, Dispatch, PARTIAL_BYTES, Spread, TooWide, Work, plan};
use super::super::gpu::{WgpuDevice, locked};
use super::super::program::WgpuProgram;
use super::pending::{EncodedDispatch, Partials, append_block};
use crate::device::wgpu::error::WgpuError;

/// Launches prepared once: replaying encodes dispatches only.
pub(crate) struct DispatchRecording {
    steps: Vec<EncodedDispatch>,
}

/// A program, its launch, and the memory of each parameter.
pub(in crate::device) type WgpuJob<'a> = (&'a WgpuProgram, &'a Launch, &'a [&'a WgpuBuffer]);

/// A launch as dispatches of the program that can run it: the given one, or that spread out.
struct Planned<'a> {
    program: &'a WgpuProgram,
    memory: Vec<&'a WgpuBuffer>,
    work: Work,
}

/// Makes room for `len` partial results per stream of a program.
fn reserve(
    partials: &mut Partials,
    gpu: &WgpuDevice,
    program: &WgpuProgram,
    len: usize,
) -> Result<(), WgpuError> {
    let streams = program.shader.partials.len();
    if len > partials.len {
        partials.buffers = [Vec::new(), Vec::new()];
        partials.len = len.next_power_of_two().max(1 << 12);
    }
    let bytes = (partials.len as u64 * PARTIAL_BYTES).min(gpu.limits.max_binding_bytes);
    for side in &mut partials.buffers {
        while side.len() < streams {
            side.push(gpu.raw_buffer(bytes, wgpu::BufferUsages::STORAGE)?);
        }
    }
    Ok(())
}

impl WgpuDevice {
    /// Submits what is pending, without waiting.
    pub fn submit(&self) {
        locked(&self.pending).submit(&self.queue);
    }

    /// Queues a launch behind all work so far; does not wait.
    ///
    /// # Errors
    /// If the launch does not fit the kernel or the memory, or the device failed.
    pub fn launch(
        &self,
        program: &WgpuProgram,
        launch: &Launch,
        memory: &[&WgpuBuffer],
    ) -> Result<(), WgpuError> {
        let Planned { program, memory, work } = self.plan(program, launch, memory)?;
        let mut pending = locked(&self.pending);
        reserve(&mut pending.partials, self, program, work.partials)?;
        for dispatch in &work.dispatches {
            let offset = pending.block(&self.queue, &dispatch.block);
            let block = (&pending.blocks_buffer, offset);
            let step = self.step(program, dispatch, &memory, block, &pending.partials);
            pending.dispatch(&self.device, &self.queue, &step);
        }
        self.check()
    }

    fn plan<'a>(
        &self,
        program: &'a WgpuProgram,
        launch: &Launch,
        memory: &[&'a WgpuBuffer],
    ) -> Result<Planned<'a>, WgpuError> {
        let len = |(b, p): (&&WgpuBuffer, &partita_kernels::Param)| b.bytes() / p.dtype.size_bytes() as u64;
        let lens: Vec<u64> = memory.iter().zip(&program.kernel.kernel().params).map(len).collect();
        let counts: Vec<usize> = lens.iter().map(|&n| n as usize).collect();
        program.kernel.check(launch, &counts)?;
        match plan(&program.kernel, &program.shader, launch, &lens, &self.limits) {
            Ok(work) => Ok(Planned { program, memory: memory.to_vec(), work }),
            Err(wide) => self.plan_spread(program, launch, memory, wide),
        }
    }

    /// Plans a launch of which one point is too wide, with every load in a binding of its own.
    fn plan_spread<'a>(
        &self,
        program: &'a WgpuProgram,
        launch: &Launch,
        memory: &[&'a WgpuBuffer],
        wide: TooWide,
    ) -> Result<Planned<'a>, WgpuError> {
        let spread = program.spread.get_or_init(|| {
            let spread = Spread::of(&program.kernel)?;
            let compiled = self.compile(&spread.kernel).ok()?;
            Some(Box::new((spread, compiled)))
        });
        let Some((spread, compiled)) = spread.as_deref() else {
            return Err(WgpuError::TooWide {
                kernel: program.kernel.kernel().name.clone(),
                param: wide.param,
                bytes: wide.bytes,
                limit: self.limits.max_binding_bytes,
            });
        };
        let memory: Vec<&WgpuBuffer> = spread.sources.iter().map(|(param, _)| memory[*param]).collect();
        self.plan(compiled, &spread.launch(launch), &memory)
    }

    fn step(
        &self,
        program: &WgpuProgram,
        dispatch: &Dispatch,
        memory: &[&WgpuBuffer],
        block: (&wgpu::Buffer, u64),
        partials: &Partials,
    ) -> EncodedDispatch {
        let stage = &program.stages[dispatch.stage];
        let bind = |buffer, offset, bytes| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset,
                size: wgpu::BufferSize::new(bytes),
            })
        };
        let block_bytes = dispatch.block.len() as u64 * 4;
        let mut entries =
            vec![wgpu::BindGroupEntry { binding: 0, resource: bind(block.0, block.1, block_bytes) }];
        for (n, bound) in dispatch.bound.iter().enumerate() {
            let resource = match *bound {
                Bound::Param { param, first_byte, bytes } => bind(&memory[param].raw, first_byte, bytes),
                Bound::Partial { side, stream } => {
                    let buffer = &partials.buffers[side][stream];
                    bind(buffer, 0, buffer.size())
                }
            };
            entries.push(wgpu::BindGroupEntry { binding: n as u32 + 1, resource });
        }
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &stage.layout, entries: &entries };
        EncodedDispatch {
            pipeline: stage.pipeline.clone(),
            bind_group: self.device.create_bind_group(&descriptor),
            groups: dispatch.groups,
        }
    }

    /// Prepares launches for repetition: their bind groups and launch blocks are made now.
    ///
    /// # Errors
    /// As [`WgpuDevice::launch`].
    pub fn record(&self, jobs: &[WgpuJob]) -> Result<DispatchRecording, WgpuError> {
        let mut partials = Partials::default();
        let mut blocks = Vec::new();
        let mut dispatches = Vec::new();
        let planned = jobs.iter().map(|(program, launch, memory)| self.plan(program, launch, memory));
        let planned = planned.collect::<Result<Vec<_>, _>>()?;
        for job in &planned {
            reserve(&mut partials, self, job.program, job.work.partials)?;
            for dispatch in &job.work.dispatches {
                let offset = append_block(&mut blocks, &dispatch.block, self.facts.uniform_alignment);
                dispatches.push((job, dispatch, offset));
            }
        }
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let buffer = self.raw_buffer(blocks.len() as u64, usage)?;
        self.queue.write_buffer(&buffer, 0, &blocks);
        let step = |(job, dispatch, offset): (&Planned, &Dispatch, u64)| {
            self.step(job.program, dispatch, &job.memory, (&buffer, offset), &partials)
        };
        let steps = dispatches.into_iter().map(step).collect();
        self.check()?;
        Ok(DispatchRecording { steps })
    }

    /// Queues a recording's launches, in their order, behind all work so far; does not wait.
    ///
    /// # Errors
    /// If the device failed.
    pub fn replay(&self, recording: &DispatchRecording) -> Result<(), WgpuError> {
        let mut pending = locked(&self.pending);
        for step in &recording.steps {
            pending.dispatch(&self.device, &self.queue, step);
        }
        drop(pending);
        self.check()
    }
}
