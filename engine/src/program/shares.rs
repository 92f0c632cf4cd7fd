//! Messages between ranks of one machine that no byte of is sent: the sender names its memory, the receiver
//! opens it once and copies from device to device. Events order the devices' work; the hosts exchange names
//! alone. Knows memory and ranks; who is within reach is found out elsewhere.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Span;
use crate::device::cuda::{IpcEvent, IpcHandle};
use crate::device::{Allocation, Buffer, CopyRegion, Device, Stream};
use crate::error::{Error, Result};
use crate::wire::{Errand, Ranks};

/// What this process shows to others and has opened of theirs. What was once shown is kept until the end:
/// the others may have it open. It is memory that messages are packed into, no array's.
#[derive(Default)]
pub struct Shares(Mutex<State>);

#[derive(Default)]
struct State {
    shown: HashMap<u64, (IpcHandle, Arc<Allocation>)>,
    /// Our events, by device: when what we show is written, and when we have read what we were shown.
    written: Vec<(Device, IpcHandle, IpcEvent)>,
    read: Vec<(Device, IpcHandle, IpcEvent)>,
    /// Of others, by rank, device here, and what the rank calls it.
    opened: HashMap<(usize, u64, u64), Buffer>,
    events: HashMap<(usize, u64, [u8; 64]), IpcEvent>,
    /// What others have not said they have read: on which errand, the rank, and whose memory of ours it was.
    unread: Vec<(Errand, usize, Vec<Device>)>,
}

const HANDLE: usize = 64;

/// What names one span of memory.
struct Name {
    memory: IpcHandle,
    written: IpcHandle,
    number: u64,
    bytes: u64,
    offset: u64,
}

const NAME: usize = 2 * HANDLE + 3 * 8;

impl Name {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.memory.0.iter().chain(&self.written.0));
        out.extend([self.number, self.bytes, self.offset].iter().flat_map(|number| number.to_le_bytes()));
    }

    fn take(bytes: &[u8]) -> Option<Name> {
        let (memory, rest) = bytes.split_first_chunk::<HANDLE>()?;
        let (written, rest) = rest.split_first_chunk::<HANDLE>()?;
        let (numbers, _) = rest.as_chunks::<8>();
        let [number, bytes, offset] = *<&[[u8; 8]; 3]>::try_from(numbers).ok()?;
        let number_of = u64::from_le_bytes;
        Some(Name {
            memory: IpcHandle(*memory),
            written: IpcHandle(*written),
            number: number_of(number),
            bytes: number_of(bytes),
            offset: number_of(offset),
        })
    }
}

impl Shares {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The length of a message that names so many spans.
    pub(crate) fn message_bytes(spans: usize) -> u64 {
        (spans * NAME) as u64
    }

    /// Names memory to another rank once what was queued so far has written it.
    pub(super) fn show(&self, lane: Stream, ranks: &Ranks, to: usize, memory: &[Span]) -> Result<()> {
        let mut state = self.state();
        let mut message = Vec::with_capacity(memory.len() * NAME);
        let mut devices: Vec<Device> = Vec::new();
        for span in memory {
            let fresh = !devices.contains(&span.device);
            if fresh {
                devices.push(span.device.clone());
            }
            let written = event_of(&mut state.written, &span.device, fresh.then_some(lane))?;
            let handle = match state.shown.entry(span.allocation.id) {
                Entry::Occupied(shown) => shown.get().0,
                Entry::Vacant(vacant) => {
                    let handle = span.device.export_memory(&span.allocation)?;
                    vacant.insert((handle, Arc::clone(&span.allocation)));
                    handle
                }
            };
            let (number, bytes, offset) = (span.allocation.id, span.allocation.bytes, span.offset);
            Name { memory: handle, written, number, bytes, offset }.put(&mut message);
        }
        ranks.send(to, message.len() as u64, |offset, out| {
            out.copy_from_slice(&message[offset as usize..][..out.len()]);
            Ok(())
        })?;
        state.unread.push((ranks.errand(), to, memory.iter().map(|span| span.device.clone()).collect()));
        Ok(())
    }

    /// Copies what another rank shows to where it belongs, and says when that is done.
    pub(super) fn fetch(&self, lane: Stream, ranks: &Ranks, from: usize, memory: &[Span]) -> Result<()> {
        let message = received(ranks, from, memory.len() * NAME)?;
        let mut state = self.state();
        for (span, bytes) in memory.iter().zip(message.chunks(NAME)) {
            let Some(name) = Name::take(bytes) else { return Err(unreadable(from)) };
            let device = &span.device;
            state
                .event(from, device, name.written)?
                .hold_on(lane)
                .map_err(|e| Error::of_driver(device.name(), e))?;
            let theirs = state.memory(from, device, &name)?;
            let (from, to) = (theirs.allocation(), &span.allocation);
            let what =
                CopyRegion { from, from_offset: name.offset, to, to_offset: span.offset, bytes: span.bytes };
            device.copy_on(lane, device, what)?;
        }
        let mut answer = Vec::with_capacity(memory.len() * HANDLE);
        for (k, span) in memory.iter().enumerate() {
            let first = memory[..k].iter().all(|other| other.device != span.device);
            answer.extend(event_of(&mut state.read, &span.device, first.then_some(lane))?.0);
        }
        ranks.send(from, answer.len() as u64, |offset, out| {
            out.copy_from_slice(&answer[offset as usize..][..out.len()]);
            Ok(())
        })
    }

    /// Lets what is queued next wait until everything shown on an errand has been read; waits for the other
    /// ranks to have come so far.
    pub(super) fn reclaim(&self, ranks: &Ranks) -> Result<()> {
        let is_own = |shown: &mut (Errand, usize, Vec<Device>)| shown.0 == ranks.errand();
        let unread: Vec<_> = self.state().unread.extract_if(.., is_own).collect();
        // Only now, because the others answer where they receive: messages that they send before come first.
        for (_, peer, devices) in &unread {
            ranks.expect(*peer, (devices.len() * HANDLE) as u64)?;
        }
        for (_, peer, devices) in unread {
            let answer = received(ranks, peer, devices.len() * HANDLE)?;
            let mut state = self.state();
            for (device, handle) in devices.iter().zip(answer.as_chunks::<HANDLE>().0) {
                let read = state.event(peer, device, IpcHandle(*handle))?;
                read.hold().map_err(|e| Error::of_driver(device.name(), e))?;
            }
        }
        Ok(())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // Nobody says when the others have closed what they opened, so it stays the process's.
        std::mem::forget(std::mem::take(&mut self.shown));
    }
}

impl State {
    /// An event of another rank, opened for a device here.
    fn event(&mut self, rank: usize, device: &Device, handle: IpcHandle) -> Result<&IpcEvent> {
        match self.events.entry((rank, device.number(), handle.0)) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(vacant) => Ok(vacant.insert(device.import_event(handle)?)),
        }
    }

    /// Memory of another rank, opened for a device here.
    fn memory(&mut self, rank: usize, device: &Device, name: &Name) -> Result<&Buffer> {
        match self.opened.entry((rank, device.number(), name.number)) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(vacant) => Ok(vacant.insert(device.import_memory(name.memory, name.bytes)?)),
        }
    }
}

/// The handle of our event on a device; recorded behind what a lane has queued so far, if it is to be.
fn event_of(
    events: &mut Vec<(Device, IpcHandle, IpcEvent)>,
    device: &Device,
    record: Option<Stream>,
) -> Result<IpcHandle> {
    let failed = |error| Error::of_driver(device.name(), error);
    let at = match events.iter().position(|(other, ..)| other == device) {
        Some(at) => at,
        None => {
            let event = device.ipc_event()?;
            events.push((device.clone(), event.export().map_err(failed)?, event));
            events.len() - 1
        }
    };
    let (_, handle, event) = &events[at];
    if let Some(lane) = record {
        event.record_on(lane).map_err(failed)?;
    }
    Ok(*handle)
}

fn received(ranks: &Ranks, from: usize, bytes: usize) -> Result<Vec<u8>> {
    let mut message = vec![0; bytes];
    ranks.receive(from, bytes as u64, |offset, bytes| {
        message[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    })?;
    Ok(message)
}

fn unreadable(from: usize) -> Error {
    let given = format!("other bytes from rank {from}");
    Error::invalid(
        "a message between ranks",
        "the name of shared memory",
        given,
        "run one build on all ranks",
    )
}
