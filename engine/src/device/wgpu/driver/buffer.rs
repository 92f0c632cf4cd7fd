//! Memory of a wgpu device, and transfers at any byte offset: wgpu's own move multiples of 4 bytes.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use super::dispatch::LENGTH_MULTIPLE;
use super::gpu::{BindGroups, WgpuDevice, locked};
use super::vulkan;
use crate::device::wgpu::error::WgpuError;

/// Memory of one device.
#[derive(Debug)]
pub(super) struct WgpuBuffer {
    pub(super) raw: wgpu::Buffer,
    bytes: u64,
    /// Its address in this process.
    address: Option<usize>,
    /// Those of the device, which hold it.
    groups: Arc<Mutex<BindGroups>>,
}

impl Drop for WgpuBuffer {
    fn drop(&mut self) {
        locked(&self.groups).forget(&self.raw);
    }
}

impl WgpuBuffer {
    /// The requested bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its address in this process, if it has one. Its contents are known to be up to date after
    /// [`WgpuDevice::show_buffer`].
    pub fn address(&self) -> Option<usize> {
        self.address
    }

    fn within(&self, offset: u64, len: usize) -> Result<(), WgpuError> {
        let stop = offset.saturating_add(len as u64);
        if stop > self.bytes {
            return Err(WgpuError::OutOfRange { offset, stop, len: self.bytes });
        }
        Ok(())
    }
}

/// Bytes on their way into a buffer of their own, which this process maps.
pub(super) struct StagedDownload {
    staging: wgpu::Buffer,
    /// The number of mapped words, and the place of the bytes in them.
    words: u64,
    bytes: Range<usize>,
    submission: wgpu::SubmissionIndex,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
}

/// So many buffers are kept for reuse.
const MOST_KEPT: usize = 64;

/// Copies under way at once: the driver keeps a copy of what is.
const UNDER_WAY: usize = 4;

/// The time limit of an answer that another thread's poll has already fetched.
const DELIVERY: std::time::Duration = std::time::Duration::from_secs(30);

impl WgpuDevice {
    /// Allocates. The contents are zero.
    pub(super) fn new_buffer(&self, bytes: u64) -> Result<WgpuBuffer, WgpuError> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let (size, full) = self.sized(bytes)?;
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let visible = match self.visible {
            0 => None,
            types => vulkan::alloc(&self.device, types, &descriptor),
        };
        let (raw, address) = match visible {
            Some(Ok((raw, address))) => {
                self.made.buffers.fetch_add(1, Ordering::Relaxed);
                (raw, Some(address))
            }
            Some(Err(reason)) => return Err(full(reason.to_string())),
            None => (self.raw_buffer(bytes, usage)?, None),
        };
        Ok(WgpuBuffer { raw, bytes, address, groups: Arc::clone(&self.groups) })
    }

    /// The size a buffer of so many bytes has, and how to say that there is no room for it.
    fn sized(&self, bytes: u64) -> Result<(u64, impl Fn(String) -> WgpuError), WgpuError> {
        let full = move |reason: String| WgpuError::OutOfMemory {
            adapter: self.facts.name.clone(),
            asked_bytes: bytes,
            reason,
        };
        match bytes.max(1).next_multiple_of(LENGTH_MULTIPLE) {
            size if size > self.facts.max_buffer_bytes => {
                Err(full(format!("its largest buffer has {} bytes", self.facts.max_buffer_bytes)))
            }
            size => Ok((size, full)),
        }
    }

    pub(super) fn raw_buffer(
        &self,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, WgpuError> {
        let (size, full) = self.sized(bytes)?;
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let refused = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.made.buffers.fetch_add(1, Ordering::Relaxed);
        let buffer = self.device.create_buffer(&descriptor);
        let (refused, memory) = (pollster::block_on(refused.pop()), pollster::block_on(memory.pop()));
        match memory.or(refused) {
            Some(error) => Err(full(error.to_string())),
            None => Ok(buffer),
        }
    }

    /// Copies bytes to a buffer, behind all launches so far.
    pub(super) fn write(&self, to: &WgpuBuffer, offset: u64, data: &[u8]) -> Result<(), WgpuError> {
        to.within(offset, data.len())?;
        self.submit();
        let mut at = offset;
        let mut data = data;
        let mut under_way = VecDeque::new();
        while !data.is_empty() {
            let in_word = (at % 4) as usize;
            let loose = in_word != 0 || data.len() < 4;
            let len = match loose {
                true => data.len().min(4 - in_word),
                false => data.len().min(self.transfer_bytes as usize) / 4 * 4,
            };
            let (now, later) = data.split_at(len);
            match loose {
                true => self.merge(to, at, now)?,
                false => self.queue.write_buffer(&to.raw, at, now),
            }
            if len as u64 == self.transfer_bytes {
                // It is on its way while the next one is copied to the driver.
                under_way.push_back(self.queue.submit([]));
            }
            if under_way.len() == UNDER_WAY {
                self.poll_until(under_way.pop_front())?;
            }
            at += len as u64;
            data = later;
        }
        self.check()
    }

    /// Replaces some bytes of one word.
    fn merge(&self, to: &WgpuBuffer, at: u64, bytes: &[u8]) -> Result<(), WgpuError> {
        let word = at / 4 * 4;
        let mut old = [0; 4];
        self.finish_read(self.start_read(to, word, old.len())?, &mut old)?;
        let inside = (at - word) as usize;
        old[inside..inside + bytes.len()].copy_from_slice(bytes);
        self.queue.write_buffer(&to.raw, word, &old);
        Ok(())
    }

    /// Copies bytes from a buffer after all launches so far; waits.
    pub(super) fn read(&self, from: &WgpuBuffer, offset: u64, out: &mut [u8]) -> Result<(), WgpuError> {
        from.within(offset, out.len())?;
        let mut at = offset;
        let mut under_way = VecDeque::new();
        for part in out.chunks_mut(self.transfer_bytes as usize) {
            let begun = self.start_read(from, at, part.len())?;
            at += part.len() as u64;
            under_way.push_back((begun, part));
            if under_way.len() == UNDER_WAY
                && let Some((begun, part)) = under_way.pop_front()
            {
                self.finish_read(begun, part)?;
            }
        }
        under_way.into_iter().try_for_each(|(begun, part)| self.finish_read(begun, part))?;
        self.check()
    }

    /// Begins to copy at least one byte from a buffer after all launches so far; waits
    /// for nothing.
    pub(super) fn start_read(
        &self,
        from: &WgpuBuffer,
        offset: u64,
        bytes: usize,
    ) -> Result<StagedDownload, WgpuError> {
        from.within(offset, bytes)?;
        let start = offset / 4 * 4;
        let words = (offset + bytes as u64 - start).next_multiple_of(4);
        let kept = {
            let mut kept = locked(&self.staging);
            let fitting = kept.iter().enumerate().filter(|(_, buffer)| buffer.size() >= words);
            let shortest = fitting.min_by_key(|(_, buffer)| buffer.size()).map(|(at, _)| at);
            shortest.map(|at| kept.swap_remove(at))
        };
        let staging = match kept {
            Some(buffer) => buffer,
            None => self.raw_buffer(words, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?,
        };
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&from.raw, start, &staging, 0, words);
        self.submit();
        let submission = self.queue.submit([encoder.finish()]);
        let (send, mapped) = std::sync::mpsc::channel();
        staging.slice(..words).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver may be gone if nobody wants the bytes any more.
            let _ = send.send(result);
        });
        let first = (offset - start) as usize;
        Ok(StagedDownload { staging, words, bytes: first..first + bytes, submission, mapped })
    }

    /// Waits for what was begun, and for nothing after it, and copies it out. What is encoded is submitted
    /// before, so that the device has it to do.
    pub(super) fn finish_read(&self, download: StagedDownload, out: &mut [u8]) -> Result<(), WgpuError> {
        let StagedDownload { staging, words, bytes, submission, mapped } = download;
        self.submit();
        self.poll_until(Some(submission))?;
        self.check()?;
        let failed = |text: String| WgpuError::Validation { adapter: self.facts.name.clone(), text };
        // Another thread's poll may have taken the answer and be about to deliver it.
        mapped
            .recv_timeout(DELIVERY)
            .map_err(|e| failed(format!("a map request was not answered: {e}")))?
            .map_err(|e| failed(e.to_string()))?;
        let range = staging.slice(..words).get_mapped_range().map_err(|e| failed(e.to_string()))?;
        out.copy_from_slice(&range[bytes]);
        drop(range);
        staging.unmap();
        let mut kept = locked(&self.staging);
        kept.truncate(MOST_KEPT - 1);
        kept.push(staging);
        Ok(())
    }

    /// Waits until this process sees, at a buffer's address, what all launches so far wrote.
    pub(super) fn show_buffer(&self, buffer: &WgpuBuffer) -> Result<(), WgpuError> {
        self.submit();
        // A wait alone makes nothing visible to the processor.
        let state = wgpu::BufferUses::MAP_READ;
        let shown = wgpu::wgt::BufferTransition { buffer: &buffer.raw, state };
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.transition_resources(std::iter::once(shown), std::iter::empty());
        self.queue.submit([encoder.finish()]);
        self.poll()?;
        self.check()
    }

    /// Waits until everything submitted is done.
    pub(super) fn poll(&self) -> Result<(), WgpuError> {
        self.poll_until(None)
    }

    /// Waits until a submission is done, or else everything submitted.
    fn poll_until(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<(), WgpuError> {
        let lost =
            |e: wgpu::PollError| WgpuError::Lost { adapter: self.facts.name.clone(), reason: e.to_string() };
        let wait = wgpu::PollType::Wait { submission_index: submission, timeout: None };
        self.device.poll(wait).map(drop).map_err(lost)
    }

    /// Submits what is pending and waits until all work is done.
    pub(super) fn wait_for_queue(&self) -> Result<(), WgpuError> {
        self.submit();
        self.poll()?;
        self.check()
    }
}
