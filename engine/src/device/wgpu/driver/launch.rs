//! Launches: encoded one behind the other into an open command encoder, submitted together.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use partita_kernels::Launch;

use super::buffer::WgpuBuffer;
use super::dispatch::{Bound, Dispatch, PARTIAL_BYTES, Spread, TooWide, Work, plan};
use super::gpu::{BindGroups, BoundPlaces, EncodedDispatch, Partials, WgpuDevice, append_block, locked};
use super::program::WgpuProgram;
use crate::device::wgpu::error::WgpuError;

/// Launches prepared once: replaying encodes dispatches only.
pub(super) struct DispatchRecording {
    steps: Vec<EncodedDispatch>,
}

/// A program, its launch, and the memory of each parameter.
pub(super) type WgpuJob<'a> = (&'a WgpuProgram, &'a Launch, Vec<&'a WgpuBuffer>);

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
        let before = std::mem::take(&mut partials.buffers);
        before.iter().flatten().for_each(|buffer| locked(&gpu.groups).forget(buffer));
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
    pub(super) fn submit(&self) {
        locked(&self.pending).submit(&self.queue);
    }

    /// Queues a launch behind all work so far; does not wait.
    pub(super) fn queue_job(&self, (program, launch, memory): &WgpuJob) -> Result<(), WgpuError> {
        let Planned { program, memory, work } = self.plan(program, launch, memory)?;
        let mut pending = locked(&self.pending);
        reserve(&mut pending.partials, self, program, work.partials)?;
        for dispatch in &work.dispatches {
            let offset = pending.block(&self.queue, &dispatch.block);
            let block = (&pending.blocks_buffer, offset);
            let kept = Some(&*self.groups);
            let step = self.step((program, dispatch), &memory, block, &pending.partials, kept)?;
            pending.dispatch(&self.device, &self.queue, &step);
        }
        self.check().inspect_err(|_| locked(&self.groups).clear())
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
            Ok(work) => {
                // Before anything is encoded.
                work.dispatches.iter().try_for_each(|d| program.stage(self, d.stage).map(drop))?;
                Ok(Planned { program, memory: memory.to_vec(), work })
            }
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
            let compiled = self.compiled(&spread.kernel).ok()?;
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
        (program, dispatch): (&WgpuProgram, &Dispatch),
        memory: &[&WgpuBuffer],
        block: (&wgpu::Buffer, u64),
        partials: &Partials,
        kept: Option<&Mutex<BindGroups>>,
    ) -> Result<EncodedDispatch, WgpuError> {
        let stage = program.stage(self, dispatch.stage)?;
        let place = |bound: &Bound| match *bound {
            Bound::Param { param, first_byte, bytes } => (memory[param].raw.clone(), first_byte, bytes),
            Bound::Partial { side, stream } => {
                let buffer = &partials.buffers[side][stream];
                (buffer.clone(), 0, buffer.size())
            }
        };
        let mut places = vec![(block.0.clone(), 0, dispatch.block.len() as u64 * 4)];
        places.extend(dispatch.bound.iter().map(place));
        let bytes = places.iter().map(|(_, _, bytes)| bytes).sum();
        let make = |(layout, places): &BoundPlaces| {
            let mut entries = Vec::with_capacity(places.len());
            for (n, (buffer, offset, bytes)) in places.iter().enumerate() {
                let size = wgpu::BufferSize::new(*bytes);
                let bound = wgpu::BufferBinding { buffer, offset: *offset, size };
                let resource = wgpu::BindingResource::Buffer(bound);
                entries.push(wgpu::BindGroupEntry { binding: n as u32, resource });
            }
            self.made.bind_groups.fetch_add(1, Ordering::Relaxed);
            let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
            self.device.create_bind_group(&descriptor)
        };
        let bound = (stage.layout.clone(), places);
        let bind_group = match kept {
            Some(kept) => locked(kept).find(bound, make),
            None => make(&bound),
        };
        let (pipeline, groups, offset) = (stage.pipeline.clone(), dispatch.groups, block.1 as u32);
        Ok(EncodedDispatch { pipeline, bind_group, offset, groups, bytes })
    }

    /// Prepares launches for repetition: their bind groups and launch blocks are made now.
    pub(super) fn recorded(&self, jobs: &[WgpuJob]) -> Result<DispatchRecording, WgpuError> {
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
            self.step((job.program, dispatch), &job.memory, (&buffer, offset), &partials, None)
        };
        let steps = dispatches.into_iter().map(step).collect::<Result<_, _>>()?;
        self.check()?;
        Ok(DispatchRecording { steps })
    }

    /// Queues a recording's launches, in their order, behind all work so far; does not wait.
    pub(super) fn replay_dispatches(&self, recording: &DispatchRecording) -> Result<(), WgpuError> {
        let mut pending = locked(&self.pending);
        for step in &recording.steps {
            pending.dispatch(&self.device, &self.queue, step);
        }
        drop(pending);
        self.check()
    }
}

/// The number of submissions of launches and replays, and refusals.
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use partita_kernels::{Builder, DType, Launch, View};

    use super::super::gpu::{MOST_GROUPS, WgpuDevice, locked};
    use super::WgpuProgram;
    use crate::device::wgpu::error::{Shrink, WgpuError};
    use crate::index::DimMap;
    use crate::prelude::*;

    fn submissions(device: &Device) -> u64 {
        let driver: &dyn std::any::Any = device.driver();
        locked(&driver.downcast_ref::<WgpuDevice>().unwrap().pending).submissions
    }

    /// The submissions that something takes, with the wait behind it.
    fn taken(device: &Device, what: impl FnOnce()) -> u64 {
        device.wait().unwrap();
        let before = submissions(device);
        what();
        device.wait().unwrap();
        submissions(device) - before
    }

    #[test]
    fn steps_and_launches_share_submissions() {
        let Ok(device) = Device::wgpu(0) else {
            println!("skipped: wgpu submissions (no adapter answered through Vulkan, Metal or DX12)");
            return;
        };
        let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
        let dist = Distribution::builder(&[64, 64]).build().unwrap();
        let cells = |at: &[i64]| (at[0] * 64 + at[1]) as f32;
        let mut steps =
            Loop::new(vec![Array::from_fn(&team, &dist, cells).unwrap()], |state: &mut [Array]| {
                // Ten launches: each is evaluated before the next one is recorded.
                for _ in 0..10 {
                    state[0] = &state[0] * 0.5 + 1.0;
                    state[0].eval()?;
                }
                Ok(())
            });
        steps.run(6).unwrap();
        assert!(steps.is_replaying());
        // 400 and 1000 dispatches, of which one submission carries 16.
        assert_eq!(taken(&device, || steps.run(40).unwrap()), 25);
        assert_eq!(taken(&device, || steps.run(100).unwrap()), 63);
        let pipeline = || {
            let mut array = Array::from_fn(&team, &dist, cells).unwrap();
            device.wait().unwrap();
            let before = submissions(&device);
            for k in 0..20 {
                array = &array * 0.5 + f64::from(k);
                array.eval().unwrap();
            }
            device.wait().unwrap();
            submissions(&device) - before
        };
        pipeline();
        assert_eq!(pipeline(), 2);
        println!("ran: wgpu-submissions 3");
    }

    /// What is evaluated, and how often until nothing new is made.
    type Case<'a> = (&'a str, usize, Box<dyn FnMut(i64) + 'a>);

    /// Evaluates the same again and again. The second time nothing is made, but where an assignment swaps
    /// memory: its third time is the first over.
    #[test]
    fn an_evaluation_that_comes_again_makes_nothing_new() {
        let Ok(device) = Device::wgpu(0) else {
            println!("skipped: wgpu objects (no adapter answered through Vulkan, Metal or DX12)");
            return;
        };
        let driver: &dyn std::any::Any = device.driver();
        let gpu = driver.downcast_ref::<WgpuDevice>().unwrap();
        let array = |parts: usize| {
            let team = Team::on(std::slice::from_ref(&device), parts).unwrap();
            let dist = Distribution::builder(&[42, 40]).parts(parts).build().unwrap();
            Array::from_fn(&team, &dist, |at: &[i64]| at[0] as f32).unwrap()
        };
        let (a, mut one, mut three) = (array(1), array(1), array(3));
        let smooth = |u: &mut Array, k: i64| {
            let value = (u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1])) * (0.5 + k as f64);
            u.assign(&s![1..-1, 1..-1], &value).unwrap();
        };
        let mut cases: [Case; 4] = [
            ("an expression", 1, Box::new(|k| (&a * (k as f64) + &a).eval().map(drop).unwrap())),
            ("a sum", 1, Box::new(|_| (&a * 2.0).sum(&[]).eval().map(drop).unwrap())),
            ("a stencil", 2, Box::new(|k| smooth(&mut one, k))),
            ("a stencil on three parts", 2, Box::new(|k| smooth(&mut three, k))),
        ];
        for (name, new, evaluate) in &mut cases {
            for k in 0..6 {
                let made = |count: &AtomicU64| count.load(Ordering::Relaxed);
                let counts = || [&gpu.made.buffers, &gpu.made.bind_groups, &gpu.made.pipelines].map(made);
                let before = counts();
                let submissions = taken(&device, || evaluate(k));
                let made: Vec<u64> =
                    counts().iter().zip(before).map(|(after, before)| after - before).collect();
                match k as usize {
                    0 => assert!(made[1] > 0 && made[2] > 0, "{name}: {made:?}"),
                    k if k >= *new => assert_eq!((made, submissions), (vec![0; 3], 1), "{name}, {k}"),
                    _ => assert_eq!(submissions, 1, "{name}, {k}"),
                }
            }
        }
        println!("ran: wgpu-objects 4");
    }

    #[test]
    fn nothing_stays_bound_of_memory_that_is_freed() {
        let Some(gpu) =
            WgpuDevice::open(0, Shrink::default()).map_err(|error| println!("skipped: wgpu ({error})")).ok()
        else {
            return;
        };
        let groups = || locked(&gpu.groups).len();
        let program = copying(&gpu);
        let [one, other] = [64, 64].map(|bytes| gpu.new_buffer(bytes).unwrap());
        for _ in 0..2 {
            gpu.queue_job(&(&program, &copy_of(4), vec![&one, &other])).unwrap();
            assert_eq!(groups(), 1);
        }
        // Another window of the same memory.
        gpu.queue_job(&(&program, &copy_of(8), vec![&one, &other])).unwrap();
        assert_eq!(groups(), 2);
        drop(one);
        assert_eq!(groups(), 0);
        gpu.wait_for_queue().unwrap();
        for _ in 0..MOST_GROUPS + 3 {
            let new = gpu.new_buffer(64).unwrap();
            gpu.queue_job(&(&program, &copy_of(4), vec![&new, &other])).unwrap();
            std::mem::forget(new);
        }
        assert_eq!(groups(), 3);
        drop(other);
        assert_eq!(groups(), 0);
        gpu.wait_for_queue().unwrap();
    }

    fn copying(gpu: &WgpuDevice) -> WgpuProgram {
        let mut k = Builder::new("copy", 1);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let value = k.load(input, &[0]);
        gpu.compiled(&k.elementwise(&[(output, value)]).unwrap()).unwrap()
    }

    fn copy_of(elements: usize) -> Launch {
        let view = View { offset: 0, strides: vec![1] };
        let views = vec![view.clone(), view];
        Launch { extents: vec![elements], origin: vec![0], views, arguments: vec![] }
    }

    #[test]
    fn transfers_of_several_copies_keep_every_byte() {
        let shrink = Shrink { transfer_bytes: Some(4096), ..Shrink::default() };
        let Some(gpu) = WgpuDevice::open(0, shrink).map_err(|error| println!("skipped: wgpu ({error})")).ok()
        else {
            return;
        };
        let buffer = gpu.new_buffer(100_000).unwrap();
        let given: Vec<u8> = (0..100_000u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        gpu.write(&buffer, 0, &given).unwrap();
        for (offset, len) in [(0, 100_000), (1, 4096), (4095, 4098), (7, 90_001), (8192, 8192), (99_999, 1)] {
            let mut back = vec![0; len];
            gpu.read(&buffer, offset as u64, &mut back).unwrap();
            assert!(back == given[offset..offset + len], "{len} bytes from {offset}");
            let mut changed = given.clone();
            changed[offset..offset + len].iter_mut().for_each(|byte| *byte = !*byte);
            gpu.write(&buffer, offset as u64, &changed[offset..offset + len]).unwrap();
            let mut back = vec![0; 100_000];
            gpu.read(&buffer, 0, &mut back).unwrap();
            assert!(back == changed, "{len} bytes to {offset}");
            gpu.write(&buffer, 0, &given).unwrap();
        }
        println!("ran: wgpu-transfers 6");
    }

    #[test]
    fn parts_larger_than_the_largest_buffer_are_refused_before_anything_is_allocated() {
        let shrink = || Shrink { max_buffer_bytes: Some(4096), ..Shrink::default() };
        let Ok(small) = Device::wgpu_with_limits(0, shrink()) else {
            println!("skipped: wgpu buffers (no adapter answered through Vulkan, Metal or DX12)");
            return;
        };
        let before = small.memory().in_use_bytes;
        let team = Team::on(&[small.clone(), small.clone()], 2).unwrap();
        // The first part would fit, the second does not.
        let dist = Distribution::builder(&[1500]).map(0, DimMap::irregular(&[0, 400, 1500]).unwrap());
        let error = Array::zeros(&team, &dist.build().unwrap(), partita_kernels::DType::F32)
            .and_then(|array| array.eval().map(drop))
            .unwrap_err()
            .to_string();
        assert!(error.contains("largest buffer has 4096 bytes"), "{error}");
        assert_eq!(small.memory().in_use_bytes, before);
    }

    #[test]
    fn failures_are_errors_that_name_what_was_asked() {
        let Some(gpu) =
            WgpuDevice::open(0, Shrink::default()).map_err(|error| println!("skipped: wgpu ({error})")).ok()
        else {
            return;
        };
        let buffer = gpu.new_buffer(41).unwrap();
        let error = gpu.write(&buffer, 40, &[1, 2]).unwrap_err();
        assert_eq!(error.to_string(), "bytes 40..42 of a buffer of 41 bytes");
        let error = gpu.new_buffer(1 << 50).unwrap_err();
        assert!(
            matches!(error, WgpuError::OutOfMemory { asked_bytes, .. } if asked_bytes == 1 << 50),
            "{error}"
        );
        let error = WgpuDevice::open(1000, Shrink::default()).err().unwrap().to_string();
        assert!(error.contains("1000") && error.contains("VULKAN"), "{error}");
        let program = copying(&gpu);
        let buffer = gpu.new_buffer(16).unwrap();
        let error = gpu.queue_job(&(&program, &copy_of(5), vec![&buffer, &buffer])).unwrap_err();
        assert!(error.to_string().contains("memory holds 4"), "{error}");
        gpu.wait_for_queue().unwrap();
    }
}
