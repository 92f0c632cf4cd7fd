//! Messages between ranks of one machine through CUDA IPC: the sender exports its packed memory, the
//! receiver maps it once and copies from device to device. Only descriptors of memory and events go over
//! the wire; events order the devices' work.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::place::MemorySpan;
use crate::device::cuda::{IpcEvent, IpcHandle};
use crate::device::{Allocation, Buffer, CopyRegion, Device, Stream};
use crate::error::{Error, Result};
use crate::wire::{Epoch, Ranks};

/// The exports of this process and its imports from other ranks. Exported memory is pinned until the process
/// ends, because others may have it mapped; it is message memory, never an array's.
#[derive(Default)]
pub struct IpcMemory(Mutex<IpcState>);

#[derive(Default)]
struct IpcState {
    exported: HashMap<u64, (IpcHandle, Arc<Allocation>)>,
    /// Events by device: after this rank has written its exports, and after it has read its imports.
    written: Vec<(Device, IpcHandle, IpcEvent)>,
    read: Vec<(Device, IpcHandle, IpcEvent)>,
    /// By rank, device here, and the rank's number of the allocation.
    imported: HashMap<(usize, u64, u64), Buffer>,
    events: HashMap<(usize, u64, [u8; 64]), IpcEvent>,
    /// Exported memory for messages of later loops.
    regions: Vec<(IpcHandle, Buffer)>,
    /// Exports that others have not acknowledged: the epoch, the rank, and the devices.
    unread: Vec<(Epoch, usize, Vec<Device>)>,
}

const HANDLE_BYTES: usize = 64;

/// Names one span of exported memory.
struct IpcDescriptor {
    memory: IpcHandle,
    written: IpcHandle,
    number: u64,
    bytes: u64,
    offset: u64,
}

const DESCRIPTOR_BYTES: usize = 2 * HANDLE_BYTES + 3 * 8;

impl IpcDescriptor {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.memory.0.iter().chain(&self.written.0));
        out.extend([self.number, self.bytes, self.offset].iter().flat_map(|number| number.to_le_bytes()));
    }

    fn decode(bytes: &[u8]) -> Option<IpcDescriptor> {
        let (memory, rest) = bytes.split_first_chunk::<HANDLE_BYTES>()?;
        let (written, rest) = rest.split_first_chunk::<HANDLE_BYTES>()?;
        let (numbers, _) = rest.as_chunks::<8>();
        let [number, bytes, offset] = *<&[[u8; 8]; 3]>::try_from(numbers).ok()?;
        let number_of = u64::from_le_bytes;
        Some(IpcDescriptor {
            memory: IpcHandle(*memory),
            written: IpcHandle(*written),
            number: number_of(number),
            bytes: number_of(bytes),
            offset: number_of(offset),
        })
    }
}

impl IpcMemory {
    fn state(&self) -> MutexGuard<'_, IpcState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The length of a message that describes so many spans.
    pub(crate) fn message_bytes(spans: usize) -> u64 {
        (spans * DESCRIPTOR_BYTES) as u64
    }

    /// Memory on a device that others map, of at least so many bytes: such as was kept, or new.
    pub(super) fn region(&self, device: &Device, bytes: u64) -> Result<(Buffer, IpcHandle)> {
        let mut state = self.state();
        let fits =
            |(_, kept): &(IpcHandle, Buffer)| kept.device() == device && kept.allocation().bytes >= bytes;
        if let Some(at) = state.regions.iter().position(fits) {
            let (handle, region) = state.regions.swap_remove(at);
            return Ok((region, handle));
        }
        let region = device.alloc(bytes)?;
        let (memory, handle) = (region.allocation(), device.export_memory(region.allocation())?);
        state.exported.insert(memory.id, (handle, Arc::clone(memory)));
        Ok((region, handle))
    }

    /// Keeps such memory for others, who need it once all ranks' devices have nothing under way.
    pub(super) fn keep_region(&self, region: &Buffer) {
        let mut state = self.state();
        if let Some((handle, _)) = state.exported.get(&region.allocation().id) {
            let handle = *handle;
            state.regions.push((handle, region.clone()));
        }
    }

    /// Memory that another rank exports.
    pub(super) fn map(
        &self,
        rank: usize,
        device: &Device,
        handle: IpcHandle,
        number: u64,
        bytes: u64,
    ) -> Result<Buffer> {
        match self.state().imported.entry((rank, device.number(), number)) {
            Entry::Occupied(open) => Ok(open.get().clone()),
            Entry::Vacant(vacant) => Ok(vacant.insert(device.import_memory(handle, bytes)?).clone()),
        }
    }

    /// Exports memory to another rank, after the work queued so far that writes it.
    pub(super) fn export(
        &self,
        stream: Stream,
        ranks: &Ranks,
        to: usize,
        memory: &[MemorySpan],
    ) -> Result<()> {
        let mut state = self.state();
        let mut message = Vec::with_capacity(memory.len() * DESCRIPTOR_BYTES);
        let mut devices: Vec<Device> = Vec::new();
        for span in memory {
            let is_new = !devices.contains(&span.device);
            if is_new {
                devices.push(span.device.clone());
            }
            let written = event_of(&mut state.written, &span.device, is_new.then_some(stream))?;
            let handle = match state.exported.entry(span.allocation.id) {
                Entry::Occupied(exported) => exported.get().0,
                Entry::Vacant(vacant) => {
                    let handle = span.device.export_memory(&span.allocation)?;
                    vacant.insert((handle, Arc::clone(&span.allocation)));
                    handle
                }
            };
            let (number, bytes, offset) = (span.allocation.id, span.allocation.bytes, span.offset);
            IpcDescriptor { memory: handle, written, number, bytes, offset }.encode(&mut message);
        }
        ranks.send_bytes(to, &message)?;
        state.unread.push((ranks.epoch(), to, memory.iter().map(|span| span.device.clone()).collect()));
        Ok(())
    }

    /// Copies another rank's exports to their destination, and answers with an event after the copies.
    pub(super) fn import(
        &self,
        stream: Stream,
        ranks: &Ranks,
        from: usize,
        memory: &[MemorySpan],
    ) -> Result<()> {
        let message = ranks.receive_bytes(from, IpcMemory::message_bytes(memory.len()))?;
        let mut state = self.state();
        for (span, bytes) in memory.iter().zip(message.chunks(DESCRIPTOR_BYTES)) {
            let Some(descriptor) = IpcDescriptor::decode(bytes) else { return Err(unreadable(from)) };
            let device = &span.device;
            state.event(from, device, descriptor.written)?.hold_on(stream)?;
            drop(state);
            let IpcDescriptor { memory, number, bytes, .. } = descriptor;
            let theirs = self.map(from, device, memory, number, bytes)?;
            state = self.state();
            let (from, to) = (theirs.allocation(), &span.allocation);
            let region = CopyRegion {
                from,
                from_offset: descriptor.offset,
                to,
                to_offset: span.offset,
                bytes: span.bytes,
            };
            device.copy_on(stream, device, region)?;
        }
        let mut answer = Vec::with_capacity(memory.len() * HANDLE_BYTES);
        for (k, span) in memory.iter().enumerate() {
            let first = memory[..k].iter().all(|other| other.device != span.device);
            answer.extend(event_of(&mut state.read, &span.device, first.then_some(stream))?.0);
        }
        ranks.send_bytes(from, &answer)
    }

    /// Makes later work wait until all exports of an epoch have been read; waits for the other ranks to queue
    /// their reads.
    pub(super) fn wait_for_readers(&self, ranks: &Ranks) -> Result<()> {
        let is_own = |exported: &mut (Epoch, usize, Vec<Device>)| exported.0 == ranks.epoch();
        let unread: Vec<_> = self.state().unread.extract_if(.., is_own).collect();
        // Posted only now: the others answer when they receive, and their earlier messages come first.
        for (_, peer, devices) in &unread {
            ranks.post_receive(*peer, (devices.len() * HANDLE_BYTES) as u64)?;
        }
        for (_, peer, devices) in unread {
            let answer = ranks.receive_bytes(peer, (devices.len() * HANDLE_BYTES) as u64)?;
            let mut state = self.state();
            for (device, handle) in devices.iter().zip(answer.as_chunks::<HANDLE_BYTES>().0) {
                state.event(peer, device, IpcHandle(*handle))?.hold()?;
            }
        }
        Ok(())
    }
}

impl Drop for IpcState {
    fn drop(&mut self) {
        // No message tells when the others have unmapped the exports, so they stay allocated.
        std::mem::forget(std::mem::take(&mut self.exported));
    }
}

impl IpcState {
    /// An event of another rank, imported for a device here.
    fn event(&mut self, rank: usize, device: &Device, handle: IpcHandle) -> Result<&IpcEvent> {
        match self.events.entry((rank, device.number(), handle.0)) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(vacant) => Ok(vacant.insert(device.import_event(handle)?)),
        }
    }
}

/// The handle of this rank's event on a device; recorded behind the work of a stream, if one is given.
fn event_of(
    events: &mut Vec<(Device, IpcHandle, IpcEvent)>,
    device: &Device,
    record: Option<Stream>,
) -> Result<IpcHandle> {
    let at = match events.iter().position(|(other, ..)| other == device) {
        Some(at) => at,
        None => {
            let event = device.ipc_event()?;
            events.push((device.clone(), event.export()?, event));
            events.len() - 1
        }
    };
    let (_, handle, event) = &events[at];
    if let Some(stream) = record {
        event.record_on(stream)?;
    }
    Ok(*handle)
}

fn unreadable(from: usize) -> Error {
    let given = format!("other bytes from rank {from}");
    Error::invalid(
        "a message between ranks",
        "the descriptor of shared memory",
        given,
        "run one build on all ranks",
    )
}
