//! Memory and streams that other libraries of this process and other processes of this machine share: theirs
//! used here, ours used there, and who waits for whom. The protocols by which libraries exchange memory are
//! in the crates above; a handle is bytes that the caller sends to the other process.

use std::any::Any;
use std::sync::Arc;

use super::allocation::Allocation;
use crate::device::driver::{DriverResult, IpcHandle, SharedEvent, Sharing, Stream};
use crate::device::handle::{Buffer, Device};
use crate::error::{Error, Result};

/// Memory of another owner.
pub struct Foreign {
    /// Its address in the device's address space; on the host, a pointer.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// The value that keeps it alive.
    pub owner: Box<dyn Any + Send + Sync>,
}

/// A point in a device's work for which other processes can wait ([`Device::ipc_event`]).
pub struct IpcEvent {
    device: Device,
    event: Box<dyn SharedEvent>,
}

impl IpcEvent {
    /// A handle by which another process opens the event ([`Device::import_event`]).
    ///
    /// # Errors
    /// If the driver does not share events, or the event was opened here.
    pub fn export(&self) -> Result<IpcHandle> {
        self.event.export().map_err(|e| self.device.failed(e))
    }

    /// The event is reached when all work queued on this process's device so far is done, of both streams.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn record(&self) -> Result<()> {
        self.device.after(Stream::Exchange, &self.device, Stream::Compute)?;
        self.record_on(Stream::Exchange)
    }

    /// The event is reached when all work queued on a stream so far is done.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn record_on(&self, stream: Stream) -> Result<()> {
        self.event.record(stream).map_err(|e| self.device.failed(e))
    }

    /// Work queued on this process's device from now on, on both streams, waits for the latest record, of any
    /// process. That record must have been called before: the driver does not wait for what is not there yet.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn hold(&self) -> Result<()> {
        Stream::ALL.into_iter().try_for_each(|stream| self.hold_on(stream))
    }

    /// Work queued on a stream from now on waits so.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn hold_on(&self, stream: Stream) -> Result<()> {
        self.event.hold(stream).map_err(|e| self.device.failed(e))
    }
}

impl Device {
    /// Another owner's memory, used where it is. It counts in no budget, goes to no pool, and is never
    /// written: what would write it is refused. The last clone of the buffer lets the owner go.
    ///
    /// # Errors
    /// wgpu devices; a CUDA address that is another device's; no memory at all.
    ///
    /// # Safety
    /// The bytes are readable on this device for as long as the owner lives, and nobody writes to them while
    /// anything here reads them.
    pub unsafe fn borrow(&self, foreign: Foreign) -> Result<Buffer> {
        // SAFETY: as the caller says.
        unsafe { self.borrow_as(foreign, true) }
    }

    /// The same for memory that is written where arrays have their home in it
    /// ([`Home`](crate::array::Home)); work on other arrays does not write it.
    ///
    /// # Errors
    /// As [`Device::borrow`].
    ///
    /// # Safety
    /// The bytes are readable and writable on this device for as long as the owner lives, and nobody else
    /// writes to them while anything here reads or writes them.
    pub unsafe fn borrow_mut(&self, foreign: Foreign) -> Result<Buffer> {
        // SAFETY: as the caller says.
        unsafe { self.borrow_as(foreign, false) }
    }

    /// # Safety
    /// As above.
    unsafe fn borrow_as(&self, foreign: Foreign, read_only: bool) -> Result<Buffer> {
        let Foreign { address, bytes, owner } = foreign;
        // SAFETY: as the caller says.
        let memory = unsafe { self.driver().borrow(address, bytes, owner) }.map_err(|e| self.failed(e))?;
        let Some(memory) = memory else {
            let expected = format!("memory that {} reads where it is", self.name());
            let given = format!("{bytes} bytes at address {address:#x}");
            return Err(Error::invalid("sharing memory", expected, given, "copy it instead"));
        };
        Ok(self.adopt(bytes, memory, read_only))
    }

    /// The stream on which all work is queued, as the driver's handle; `None` without streams.
    pub fn stream(&self) -> Option<u64> {
        self.driver().sharing().map(Sharing::stream)
    }

    /// Work on another library's stream from now on waits for all work queued here so far. Without streams
    /// there is nothing to do.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// `stream` is a live stream of this device's primary context, or one of the driver's special ones.
    pub unsafe fn publish_to(&self, stream: u64) -> Result<()> {
        // SAFETY: as the caller says.
        self.on_shared(|gpu| unsafe { gpu.publish_to(stream) })
    }

    /// Work queued here from now on waits for all work on another library's stream so far.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// As for [`Device::publish_to`].
    pub unsafe fn await_stream(&self, stream: u64) -> Result<()> {
        // SAFETY: as the caller says.
        self.on_shared(|gpu| unsafe { gpu.await_stream(stream) })
    }

    /// Waits until nobody in this process works on the device any more: before memory that others were lent
    /// is used again.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn wait_for_all(&self) -> Result<()> {
        self.on_shared(|gpu| gpu.wait_for_all())
    }

    /// Whether this process addresses the device's memory, as it does the host's: that of adapters on which
    /// the two are one.
    pub fn is_addressable(&self) -> bool {
        self.driver().is_addressable()
    }

    /// Waits until this process sees, at the address of an allocation, what all work queued so far wrote.
    pub(crate) fn show(&self, allocation: &Allocation) -> Result<()> {
        self.usable()?;
        self.driver().show(allocation).map_err(|e| self.failed(e))
    }

    /// A handle by which another process of this machine opens `memory`
    /// ([`raw::import_memory`](crate::raw::import_memory)). Waits for nothing; keep the memory leased until
    /// the other process has dropped its buffer.
    ///
    /// # Errors
    /// Other kinds than CUDA; if the driver or the system does not share memory.
    pub fn export_memory(&self, memory: &Allocation) -> Result<IpcHandle> {
        self.check_memory("sharing memory between processes", memory)?;
        self.ipc(|gpu| gpu.export_memory(memory))
    }

    /// Memory of `bytes` bytes, no more than it has, that another process of this machine shares. It counts
    /// in no budget; the last clone of the buffer closes it.
    pub(crate) fn import_memory(&self, handle: IpcHandle, bytes: u64) -> Result<Buffer> {
        let memory = self.ipc(|gpu| gpu.import_memory(handle, bytes))?;
        Ok(self.adopt(bytes, memory, false))
    }

    /// A new event that other processes of this machine can open ([`Device::import_event`]).
    ///
    /// # Errors
    /// Other kinds than CUDA; if the driver refuses.
    pub fn ipc_event(&self) -> Result<IpcEvent> {
        let event = self.ipc(|gpu| gpu.ipc_event())?;
        Ok(IpcEvent { device: self.clone(), event })
    }

    /// An event that another process of this machine shares.
    ///
    /// # Errors
    /// Other kinds than CUDA; a handle the driver refuses.
    pub fn import_event(&self, handle: IpcHandle) -> Result<IpcEvent> {
        let event = self.ipc(|gpu| gpu.import_event(handle))?;
        Ok(IpcEvent { device: self.clone(), event })
    }

    /// Some bytes of memory as memory of their own, which keeps the whole.
    pub(crate) fn part_of(&self, whole: &Buffer, offset: u64, bytes: u64) -> Result<Buffer> {
        whole.allocation().check_range("sharing memory", offset, bytes)?;
        let part =
            |gpu: &dyn Sharing| Ok(gpu.part_of(whole.allocation(), offset, bytes, Box::new(whole.clone())));
        Ok(self.adopt(bytes, self.ipc(part)?, false))
    }

    /// Whether its streams wait for words of its memory that other processes write.
    pub(crate) fn has_words(&self) -> Result<bool> {
        self.driver().sharing().map_or(Ok(false), Sharing::has_words).map_err(|e| self.failed(e))
    }

    /// Lets every wait for words of an allocation pass, once, whatever the device waits for.
    pub(crate) fn release_words(&self, words: &Allocation, offsets: &[u64]) -> Result<()> {
        self.ipc(|gpu| gpu.release(words, offsets))
    }

    /// The first bytes of an allocation with words, whatever the device waits for.
    pub(crate) fn peek(&self, words: &Allocation, bytes: u64) -> Result<Vec<u8>> {
        let mut out = vec![0; bytes as usize];
        self.ipc(|gpu| gpu.peek(words, &mut out)).map(|()| out)
    }

    /// Whether all work queued on the stream `Compute` so far is done; waits for nothing.
    pub(crate) fn is_done(&self) -> Result<bool> {
        self.ipc(|gpu| gpu.is_done())
    }

    /// What no other device of any machine has.
    pub(crate) fn identity(&self) -> Result<String> {
        self.ipc(|gpu| gpu.identity())
    }

    /// What a word of memory is once the stream `Compute` has done its work, whatever its contents are worth.
    pub(crate) fn read_word(&self, memory: &Allocation, offset: u64) -> Result<u64> {
        let mut word = [0; 8];
        let read = self.driver().download(Stream::Compute, memory, offset, &mut word);
        read.map_err(|e| self.failed(e)).map(|()| u64::from_ne_bytes(word))
    }

    /// Copies the contents of memories of the device to others, all at once, once the stream `Compute` has
    /// done its work: as many bytes as both of a pair have.
    pub(crate) fn copy_contents(&self, pairs: &[(Arc<Allocation>, Arc<Allocation>)]) -> Result<()> {
        const CHUNK: u64 = 16 << 20;
        let bytes_of = |from: &Allocation, to: &Allocation| from.bytes.min(to.bytes);
        let longest = pairs.iter().map(|(from, to)| bytes_of(from, to)).max().unwrap_or(0);
        let transit = pairs.iter().map(|(from, to)| self.alloc(bytes_of(from, to).min(CHUNK)));
        let transit = transit.collect::<Result<Vec<Buffer>>>()?;
        let copy = |from: (&Allocation, u64), to: (&Allocation, u64), bytes: u64| {
            let copied = self.driver().copy_to(Stream::Compute, from, self.driver(), to, bytes);
            copied.map_err(|e| self.failed(e)).map(drop)
        };
        for begin in (0..longest).step_by(CHUNK as usize) {
            let each = || pairs.iter().zip(&transit).filter(|((from, to), _)| begin < bytes_of(from, to));
            for ((from, to), between) in each() {
                copy((from, begin), (between.allocation(), 0), CHUNK.min(bytes_of(from, to) - begin))?;
            }
            for ((from, to), between) in each() {
                copy((between.allocation(), 0), (to, begin), CHUNK.min(bytes_of(from, to) - begin))?;
            }
        }
        self.changed();
        self.driver().wait_for(Stream::Compute).map_err(|e| self.failed(e))
    }

    fn on_shared(&self, call: impl FnOnce(&dyn Sharing) -> DriverResult<()>) -> Result<()> {
        self.driver().sharing().map_or(Ok(()), call).map_err(|e| self.failed(e))
    }

    pub(in crate::device) fn ipc<T>(&self, call: impl FnOnce(&dyn Sharing) -> DriverResult<T>) -> Result<T> {
        self.usable()?;
        let Some(gpu) = self.driver().sharing() else {
            let remedy = "send the values to the other process instead";
            return Err(Error::invalid(
                "sharing memory between processes",
                "a CUDA device",
                self.name(),
                remedy,
            ));
        };
        call(gpu).map_err(|e| self.failed(e))
    }
}
