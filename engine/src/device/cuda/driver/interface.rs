//! A GPU behind the engine's interface: what [`Driver`] and [`Sharing`] need, as calls of the driver.

use std::any::Any;

use cudarc::driver::{result, sys};
use partita_kernels::Verified;

use super::copies::PinnedDownload;
use super::gpu::CudaProgram;
use super::gpu::{CudaDevice, CudaOrigin, within};
use super::graph::GraphRecording;
use super::primary::{During, Event, Purpose};
use super::words::missing_call;
use crate::config::{config, say};
use crate::device::cuda::error::CudaError;
use crate::device::driver::{
    DeviceKind, Driver, DriverError, DriverResult, IpcHandle, Job, Opaque, PeerGroup, SharedEvent, Sharing,
    Stream, StreamWork, own,
};
use crate::device::memory::{Allocation, DeviceMemory};

/// Opens the n-th device the driver shows; an error if there is none, or it is too old.
pub(in crate::device) fn open(index: usize) -> Result<Box<dyn Driver>, CudaError> {
    CudaDevice::open(index).map(|gpu| Box::new(gpu) as _)
}

impl Driver for CudaDevice {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cuda
    }

    fn name(&self) -> &str {
        &self.facts.name
    }

    fn is_software(&self) -> bool {
        self.facts.is_simulated
    }

    fn max_params(&self) -> usize {
        // So many fit into a kernel's 4 KiB of parameters at the largest rank: D3Q19 has 38.
        40
    }

    fn page_bytes(&self) -> u64 {
        2 << 20
    }

    fn alloc(&self, bytes: u64) -> DriverResult<Box<dyn DeviceMemory>> {
        Ok(Box::new(self.new_buffer(bytes)?))
    }

    unsafe fn borrow(
        &self,
        address: u64,
        bytes: u64,
        owner: Opaque,
    ) -> DriverResult<Option<Box<dyn DeviceMemory>>> {
        let ours = self.holds(address)?;
        let origin = CudaOrigin::Borrowed { _owner: owner };
        Ok(ours.then(|| Box::new(self.buffer(address, bytes, origin)) as _))
    }

    fn upload(&self, stream: Stream, to: &Allocation, offset: u64, data: &[u8]) -> DriverResult<()> {
        Ok(self.staging().upload(stream, within(to, offset), data)?)
    }

    fn download(&self, stream: Stream, from: &Allocation, offset: u64, out: &mut [u8]) -> DriverResult<()> {
        Ok(self.staging().download(stream, within(from, offset), out)?)
    }

    fn start_download(
        &self,
        stream: Stream,
        from: &Allocation,
        offset: u64,
        bytes: usize,
    ) -> DriverResult<Option<Box<dyn Any + Send>>> {
        Ok(Some(Box::new(self.staging().start_download(stream, within(from, offset), bytes)?)))
    }

    fn finish_download(&self, download: Box<dyn Any + Send>, out: &mut [u8]) -> DriverResult<()> {
        let Ok(download) = download.downcast::<PinnedDownload>() else { unreachable!("made above") };
        download.land(out)?;
        self.staging().keep(*download);
        Ok(())
    }

    fn copy_to(
        &self,
        stream: Stream,
        (from, from_offset): (&Allocation, u64),
        other: &dyn Driver,
        (to, to_offset): (&Allocation, u64),
        bytes: u64,
    ) -> DriverResult<bool> {
        let Some(other) = CudaDevice::behind(other) else { return Ok(false) };
        let (source, target) = (within(from, from_offset), within(to, to_offset));
        self.copy_between(stream, source, other, target, bytes as usize)?;
        Ok(true)
    }

    fn compile(&self, kernel: &Verified) -> DriverResult<Opaque> {
        match self.compiled(kernel) {
            Ok(program) => Ok(Box::new(program)),
            Err(error @ CudaError::Unsupported(_)) => Err(DriverError::Unsupported(error.to_string())),
            Err(failure) => Err(failure.into()),
        }
    }

    fn code_bytes(&self, code: &Opaque) -> usize {
        own::<CudaProgram>(&**code).bytes()
    }

    fn launch(&self, stream: Stream, jobs: &[Job]) -> DriverResult<()> {
        Ok(self.queue(stream, jobs)?)
    }

    fn record(&self, groups: &[Vec<Job>]) -> DriverResult<Option<Opaque>> {
        Ok(Some(Box::new(self.recorded(groups)?)))
    }

    fn record_streams(&self, work: &[StreamWork]) -> DriverResult<Option<Opaque>> {
        Ok(self.recorded_streams(work)?.map(|graph| Box::new(graph) as _))
    }

    fn replay(&self, stream: Stream, recording: &Opaque) -> DriverResult<()> {
        Ok(own::<GraphRecording>(&**recording).launch(self.primary.stream(stream))?)
    }

    fn wait(&self) -> DriverResult<()> {
        Stream::ALL.into_iter().try_for_each(|stream| self.wait_for(stream))?;
        self.retired.unload_free();
        Ok(())
    }

    fn wait_for(&self, stream: Stream) -> DriverResult<()> {
        let stream = self.primary.stream(stream);
        // SAFETY: the stream lives as long as `primary`.
        let wait = || unsafe { result::stream::synchronize(stream) }.during("waiting for the device");
        Ok(self.primary.with(wait)?)
    }

    /// If the driver refuses, the stream is synchronized instead, so the order still holds.
    fn after(&self, stream: Stream, first: &dyn Driver, first_stream: Stream) -> DriverResult<()> {
        let Some(first) = CudaDevice::behind(first) else { return Ok(()) };
        // Another thread may record the event again in between: then the wait covers more, never less.
        let (end, other) = (&first.ends[first_stream as usize], first.primary.stream(first_stream));
        Ok(end
            .mark(other)
            .and_then(|()| end.block(&self.primary, self.primary.stream(stream)))
            .inspect_err(|_| first.primary.wait_stream(other))?)
    }

    fn timestamp(&self, stream: Stream) -> DriverResult<Option<Opaque>> {
        let event = Event::new(&self.primary, Purpose::Measure)?;
        event.mark(self.primary.stream(stream))?;
        Ok(Some(Box::new(event)))
    }

    fn seconds_between(&self, earlier: &Opaque, later: &Opaque) -> DriverResult<f64> {
        Ok(own::<Event>(&**later).seconds_since(own(&**earlier))?)
    }

    fn sharing(&self) -> Option<&dyn Sharing> {
        Some(self)
    }
}

/// Handles are those of CUDA IPC.
impl Sharing for CudaDevice {
    /// The stream `Compute`'s, because whoever uses the other joins it again.
    fn stream(&self) -> u64 {
        self.primary.stream(Stream::Compute) as u64
    }

    unsafe fn publish_to(&self, stream: u64) -> DriverResult<()> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.mark(self.primary.stream(Stream::Compute))?;
        Ok(event.block(&self.primary, stream as sys::CUstream)?)
    }

    unsafe fn await_stream(&self, stream: u64) -> DriverResult<()> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.mark(stream as sys::CUstream)?;
        Ok(event.block(&self.primary, self.primary.stream(Stream::Compute))?)
    }

    fn wait_for_all(&self) -> DriverResult<()> {
        let wait = || result::ctx::synchronize().during("waiting for all work on the device");
        Ok(self.primary.with(wait)?)
    }

    fn export_memory(&self, memory: &Allocation) -> DriverResult<IpcHandle> {
        let mut handle = sys::CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the handle is a local; the address is of a live allocation.
        let mut get = || unsafe { sys::cuIpcGetMemHandle(&mut handle, within(memory, 0)) }.result();
        self.primary.with(|| get().during("sharing memory with another process"))?;
        Ok(IpcHandle(handle.reserved.map(|byte| byte as u8)))
    }

    fn import_memory(&self, handle: IpcHandle, bytes: u64) -> DriverResult<Box<dyn DeviceMemory>> {
        let handle = sys::CUipcMemHandle { reserved: handle.0.map(|byte| byte as std::ffi::c_char) };
        let lazily = sys::CUipcMem_flags_enum::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let mut address = 0;
        // SAFETY: the pointer is to a local.
        let mut open = || unsafe { sys::cuIpcOpenMemHandle_v2(&mut address, handle, lazily) }.result();
        self.primary.with(|| open().during("opening another process's memory"))?;
        Ok(Box::new(self.buffer(address, bytes, CudaOrigin::Opened)))
    }

    fn ipc_event(&self) -> DriverResult<Box<dyn SharedEvent>> {
        Ok(Box::new(Event::new(&self.primary, Purpose::Share)?))
    }

    fn import_event(&self, handle: IpcHandle) -> DriverResult<Box<dyn SharedEvent>> {
        let handle = sys::CUipcEventHandle { reserved: handle.0.map(|byte| byte as std::ffi::c_char) };
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a local.
        let mut open = || unsafe { sys::cuIpcOpenEventHandle(&mut raw, handle) }.result();
        self.primary.with(|| open().during("opening another process's event"))?;
        Ok(Box::new(Event::opened(&self.primary, raw)))
    }

    fn part_of(&self, memory: &Allocation, offset: u64, bytes: u64, owner: Opaque) -> Box<dyn DeviceMemory> {
        Box::new(self.buffer(within(memory, offset), bytes, CudaOrigin::Borrowed { _owner: owner }))
    }

    fn peers(&self, id: &[u8; 128], rank: usize, count: usize) -> DriverResult<Box<dyn PeerGroup>> {
        Ok(Box::new(CudaDevice::peers(self, id, rank, count)?))
    }

    fn identity(&self) -> DriverResult<String> {
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        // SAFETY: the place is a local; the device is the driver's.
        let outcome = unsafe { sys::cuDeviceGetUuid_v2(&mut uuid, self.primary.device) }.result();
        outcome.during("asking which device it is")?;
        Ok(uuid.bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect())
    }

    fn has_words(&self) -> DriverResult<bool> {
        if let Some(call) = missing_call().filter(|_| self.facts.has_words) {
            if config().debug >= 1 {
                say(format_args!("{}: hosts wait for messages: the driver lacks {call}", self.name()));
            }
            return Ok(false);
        }
        Ok(self.facts.has_words && self.release_stream().map(|_| true)?)
    }

    fn release(&self, words: &Allocation, offsets: &[u64]) -> DriverResult<()> {
        let words: Vec<u64> = offsets.iter().map(|&offset| within(words, offset)).collect();
        Ok(self.released(&words)?)
    }

    fn peek(&self, words: &Allocation, out: &mut [u8]) -> DriverResult<()> {
        Ok(self.peeked(within(words, 0), out)?)
    }

    fn is_done(&self) -> DriverResult<bool> {
        Ok(self.has_computed()?)
    }
}

impl SharedEvent for Event {
    fn export(&self) -> DriverResult<IpcHandle> {
        let mut handle = sys::CUipcEventHandle { reserved: [0; 64] };
        // SAFETY: the handle is a local; the event is alive.
        let mut get = || unsafe { sys::cuIpcGetEventHandle(&mut handle, self.raw) }.result();
        self.primary.with(|| get().during("sharing an event with another process"))?;
        Ok(IpcHandle(handle.reserved.map(|byte| byte as u8)))
    }

    fn record(&self, stream: Stream) -> DriverResult<()> {
        Ok(self.mark(self.primary.stream(stream))?)
    }

    fn hold(&self, stream: Stream) -> DriverResult<()> {
        Ok(self.block(&self.primary, self.primary.stream(stream))?)
    }
}
