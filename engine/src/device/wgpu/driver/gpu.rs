//! One adapter, opened: its limits, its queue, what is encoded and not yet submitted (dispatches, their
//! launch blocks, partial results), and the failures that wgpu reports outside of calls.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use partita_kernels::wgsl::WgslTarget;

use super::facts::AdapterFacts;
use super::{adapter, dispatch, vulkan};
use crate::device::wgpu::error::{Shrink, WgpuError};

/// One adapter, opened. Work of all threads runs in the order of the calls.
pub(super) struct WgpuDevice {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) facts: AdapterFacts,
    /// The target of kernels before it is known what the adapter rounds correctly.
    pub(super) assumed: WgslTarget,
    pub(super) measured: OnceLock<WgslTarget>,
    pub(super) groups: Arc<Mutex<BindGroups>>,
    pub(super) made: Made,
    pub(super) cautious: bool,
    /// Bytes of one copy to or from the device, a multiple of 4.
    pub(super) transfer_bytes: u64,
    pub(super) limits: dispatch::Limits,
    /// The types of memory that this process addresses too, one bit each.
    pub(super) visible: u32,
    pub(super) failures: Arc<Failures>,
    pub(super) pending: Mutex<Pending>,
    /// Buffers that downloads have let go.
    pub(super) staging: Mutex<Vec<wgpu::Buffer>>,
}

/// Errors that wgpu reported outside of a call's own result.
#[derive(Default)]
pub(super) struct Failures {
    lost: Mutex<Option<String>>,
    refused: Mutex<Option<String>>,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WgpuDevice {
    pub(super) fn open(index: usize, shrink: Shrink) -> Result<WgpuDevice, WgpuError> {
        let (adapter, mut facts) = adapter::find(index)?;
        facts.max_buffer_bytes = shrink.max_buffer_bytes.unwrap_or(u64::MAX).min(facts.max_buffer_bytes);
        let refused = |e: wgpu::RequestDeviceError| WgpuError::Open {
            adapter: facts.name.clone(),
            reason: e.to_string(),
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&adapter::request(&adapter))).map_err(refused)?;
        let failures = Failures::watch(&device);
        Ok(WgpuDevice {
            assumed: facts.target(&shrink),
            measured: OnceLock::new(),
            groups: Arc::default(),
            made: Made::default(),
            cautious: shrink.cautious,
            transfer_bytes: shrink.transfer_bytes.unwrap_or(TRANSFER_BYTES),
            limits: facts.dispatch_limits(&shrink),
            pending: Mutex::new(Pending::new(&device, &facts)),
            staging: Mutex::default(),
            visible: if shrink.hidden { 0 } else { vulkan::types(&device) },
            device,
            queue,
            facts,
            failures,
        })
    }

    /// An error that the driver reported since the last look, if any.
    pub(super) fn check(&self) -> Result<(), WgpuError> {
        let adapter = || self.facts.name.clone();
        if let Some(reason) = locked(&self.failures.lost).clone() {
            return Err(WgpuError::Lost { adapter: adapter(), reason });
        }
        match locked(&self.failures.refused).take() {
            Some(text) => Err(WgpuError::Validation { adapter: adapter(), text }),
            None => Ok(()),
        }
    }
}

impl Failures {
    /// Installs the reporters; without them wgpu panics.
    fn watch(device: &wgpu::Device) -> Arc<Failures> {
        let failures = Arc::new(Failures::default());
        let sink = Arc::clone(&failures);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            locked(&sink.refused).get_or_insert_with(|| error.to_string());
        }));
        let sink = Arc::clone(&failures);
        device.set_device_lost_callback(move |reason, text| {
            // Dropping a device also calls this; there is nothing to report then.
            if reason != wgpu::DeviceLostReason::Destroyed {
                locked(&sink.lost).get_or_insert_with(|| text.clone());
            }
        });
        failures
    }
}

/// Bytes of launch blocks that one submission may carry.
const BLOCKS_BYTES: u64 = 256 << 10;
/// Dispatches after which the queue submits by itself, so that the device has something to do while more are
/// encoded.
const MAX_DISPATCHES: usize = 16;
/// Bytes bound after which it does: about 50 ms of the slowest adapter's memory, 100 GB/s. Some systems reset
/// a device that is busy with one submission for two seconds.
const MAX_BYTES: u64 = 5 << 30;
/// Bytes of one copy to or from the device: long enough for the link, short enough to overlap with the host's
/// own copy of the one before.
const TRANSFER_BYTES: u64 = 8 << 20;

/// Commands that are encoded and not yet submitted.
pub(super) struct Pending {
    pass: Option<(wgpu::CommandEncoder, wgpu::ComputePass<'static>)>,
    dispatches: usize,
    bytes: u64,
    /// The number of submissions.
    pub(super) submissions: u64,
    /// The launch blocks of this submission, and the buffer they go to just before it.
    pub(super) blocks: Vec<u8>,
    pub(super) blocks_buffer: wgpu::Buffer,
    alignment: u64,
    pub(super) partials: Partials,
}

/// Buffers of partial results, per side and stream. All launches share them, because launches of one
/// device run in order.
#[derive(Default)]
pub(super) struct Partials {
    pub len: usize,
    pub buffers: [Vec<wgpu::Buffer>; 2],
}

/// What is bound: the layout, and the places of buffers.
pub(super) type BoundPlaces = (wgpu::BindGroupLayout, Vec<(wgpu::Buffer, u64, u64)>);

/// Bind groups of launches that may come again. None keeps a buffer that is freed, nor a pipeline.
#[derive(Debug, Default)]
pub(super) struct BindGroups(HashMap<BoundPlaces, wgpu::BindGroup>);

/// The most of them: before one more, all are forgotten.
pub(super) const MOST_GROUPS: usize = 1024;

impl BindGroups {
    pub fn find(
        &mut self,
        bound: BoundPlaces,
        make: impl FnOnce(&BoundPlaces) -> wgpu::BindGroup,
    ) -> wgpu::BindGroup {
        if let Some(group) = self.0.get(&bound) {
            return group.clone();
        }
        if self.0.len() >= MOST_GROUPS {
            self.0.clear();
        }
        self.0.entry(bound).or_insert_with_key(make).clone()
    }

    /// Forgets those of a buffer.
    pub fn forget(&mut self, freed: &wgpu::Buffer) {
        self.0.retain(|(_, places), _| places.iter().all(|(buffer, ..)| buffer != freed));
    }

    /// Forgets all: some may have failed.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// How many objects of the driver were made.
#[derive(Default)]
pub(super) struct Made {
    pub buffers: AtomicU64,
    pub bind_groups: AtomicU64,
    pub pipelines: AtomicU64,
}

/// One dispatch, ready to be encoded.
pub(super) struct EncodedDispatch {
    pub pipeline: wgpu::ComputePipeline,
    pub bind_group: wgpu::BindGroup,
    /// Where its block is.
    pub offset: u32,
    pub groups: [u32; 3],
    /// Bytes of memory that it may touch.
    pub bytes: u64,
}

impl Pending {
    fn new(device: &wgpu::Device, facts: &AdapterFacts) -> Pending {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let descriptor =
            wgpu::BufferDescriptor { label: None, size: BLOCKS_BYTES, usage, mapped_at_creation: false };
        Pending {
            pass: None,
            dispatches: 0,
            bytes: 0,
            submissions: 0,
            blocks: Vec::new(),
            blocks_buffer: device.create_buffer(&descriptor),
            alignment: facts.uniform_alignment,
            partials: Partials::default(),
        }
    }

    /// Sends everything encoded so far to the queue.
    pub(super) fn submit(&mut self, queue: &wgpu::Queue) {
        let Some((encoder, pass)) = self.pass.take() else { return };
        drop(pass);
        if !self.blocks.is_empty() {
            // Ordered before this submission and behind all earlier ones.
            queue.write_buffer(&self.blocks_buffer, 0, &self.blocks);
            self.blocks.clear();
        }
        (self.dispatches, self.bytes) = (0, 0);
        self.submissions += 1;
        queue.submit([encoder.finish()]);
    }

    pub(super) fn dispatch(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, step: &EncodedDispatch) {
        if self.is_full() {
            self.submit(queue);
        }
        self.dispatches += 1;
        self.bytes += step.bytes;
        let (_, pass) = self.pass.get_or_insert_with(|| {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime();
            (encoder, pass)
        });
        pass.set_pipeline(&step.pipeline);
        pass.set_bind_group(0, &step.bind_group, &[step.offset]);
        pass.dispatch_workgroups(step.groups[0], step.groups[1], step.groups[2]);
    }

    fn is_full(&self) -> bool {
        self.dispatches >= MAX_DISPATCHES || self.bytes >= MAX_BYTES
    }

    /// Room for a launch block in this submission; its offset.
    pub(super) fn block(&mut self, queue: &wgpu::Queue, block: &[u32]) -> u64 {
        let full = self.blocks.len() + block.len() * 4 + self.alignment as usize > BLOCKS_BYTES as usize;
        if full || self.is_full() {
            self.submit(queue);
        }
        append_block(&mut self.blocks, block, self.alignment)
    }
}

/// Appends a block at the next aligned offset, and gives that offset.
pub(super) fn append_block(blocks: &mut Vec<u8>, block: &[u32], alignment: u64) -> u64 {
    let offset = blocks.len().next_multiple_of(alignment as usize);
    blocks.resize(offset, 0);
    blocks.extend(block.iter().flat_map(|word| word.to_le_bytes()));
    offset as u64
}
