//! [`StreamMessages`]: messages between ranks of one machine that the devices send and receive themselves,
//! inside a graph, while no host waits. Each message of a step has memory on its receiver's device that its
//! sender has mapped (CUDA IPC), and two words. The sender's stream waits for `free`, on its own device,
//! copies the message and gives `ready`, on the receiver's. The receiver's stream waits for `ready`, takes
//! the message over, and gives `free`.
//!
//! A stale word is never taken for a new one: a word is given once, then waited for and set back to 0 by the
//! same stream, and only afterwards does that side give the other word, without which nothing is given again.
//! So both words alternate, their values are always the same, and a graph is launched again as it is.
//!
//! Messages of different steps of a cycle, of which there are at least two, share nothing: a rank may be a
//! step ahead of its neighbours.
//!
//! A device whose neighbour has ended would wait for ever. A thread of each rank watches the others while its
//! device has work. Once one of them fails, what the steps write is marked as lost, and the device's own
//! words are released until its work is done.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::command::{Command, Op};
use super::ipc::IpcMemory;
use super::message::{Message, Transport};
use super::place::MemorySpan;
use crate::device::cuda::IpcHandle;
use crate::device::{Allocation, Buffer, CopyRegion, Device, Stream, StreamGraphBuilder, WordOp, process_id};
use crate::error::Result;
use crate::wire::{Epoch, Ranks};

/// A message of a cycle: the step, the other rank, and how many messages the step has sent to it, or expects
/// from it, before.
type MessageKey = (usize, usize, usize);

/// The messages of a cycle, as one rank sends and receives them: the lengths of their spans.
pub(crate) struct MessageOutline {
    ranks: Ranks,
    device: Device,
    ipc: Arc<IpcMemory>,
    sent: BTreeMap<MessageKey, Vec<u64>>,
    received: BTreeMap<MessageKey, Vec<u64>>,
    /// Memory that the steps write.
    written: Vec<Arc<Allocation>>,
}

/// For each send and receive of a step its peer and its number among those to, or from, that rank. Both ranks
/// count alike: one in the order in which it sends, the other in that in which it posts receives.
fn numbered(step: &[Command]) -> Vec<Option<(usize, usize)>> {
    let (mut sent, mut posted): (HashMap<usize, usize>, HashMap<usize, usize>) = Default::default();
    let mut open: Vec<(usize, Epoch, usize)> = Vec::new();
    let count = |counts: &mut HashMap<usize, usize>, peer: usize| {
        let next = counts.entry(peer).or_default();
        *next += 1;
        *next - 1
    };
    let number = |command: &Command| match &command.op {
        Op::Send { message, .. } => Some((message.peer, count(&mut sent, message.peer))),
        Op::PostReceive { ranks, from, .. } => {
            open.push((*from, ranks.epoch(), count(&mut posted, *from)));
            None
        }
        Op::Receive(message) => {
            let is_it = |one: &(usize, Epoch, usize)| (one.0, one.1) == (message.peer, message.ranks.epoch());
            let (.., number) = open.remove(open.iter().position(is_it)?);
            Some((message.peer, number))
        }
        _ => None,
    };
    step.iter().map(number).collect()
}

fn message_of(op: &Op) -> Option<(&Message, bool)> {
    match op {
        Op::Send { message, .. } => Some((message, true)),
        Op::Receive(message) => Some((message, false)),
        _ => None,
    }
}

impl MessageOutline {
    /// The messages of the steps of a cycle, if all of them go from a device to a device of another process
    /// and the device of this rank, which must be one, can wait for words.
    pub fn of<'c>(
        ranks: &Ranks,
        steps: impl Iterator<Item = &'c [Command]>,
    ) -> Result<Option<MessageOutline>> {
        let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
        let (mut here, mut memory): (Option<(&Device, &Arc<IpcMemory>)>, _) = (None, Vec::new());
        for (at, step) in steps.enumerate() {
            for (command, number) in step.iter().zip(numbered(step)) {
                memory.extend(command.op.writes().cloned());
                let Some((message, is_sent)) = message_of(&command.op) else { continue };
                let Some((peer, number)) = number else { return Ok(None) };
                let (Message { memory, transport, ipc: Some(ipc), .. }, true) =
                    (message, message.ranks == *ranks)
                else {
                    return Ok(None);
                };
                for span in memory {
                    let (device, _) = *here.get_or_insert((&span.device, ipc));
                    if *transport != Transport::Ipc || *device != span.device {
                        return Ok(None);
                    }
                }
                let messages = if is_sent { &mut sent } else { &mut received };
                messages.insert((at, peer, number), memory.iter().map(|span| span.bytes).collect());
            }
        }
        let Some((device, ipc)) = here else { return Ok(None) };
        if !device.has_words()? {
            return Ok(None);
        }
        let (ranks, device, ipc) = (ranks.clone(), device.clone(), Arc::clone(ipc));
        Ok(Some(MessageOutline { ranks, device, ipc, sent, received, written: memory }))
    }
}

/// Where a rank expects the words and the bytes of its messages, in memory that all others map.
pub(crate) struct MessageOffer {
    outline: MessageOutline,
    region: Buffer,
    handle: IpcHandle,
    places: Places,
}

/// By message: of sent ones the place of `free`; of received ones those of `ready` and of the spans.
#[derive(Default)]
struct Places {
    free: BTreeMap<MessageKey, u64>,
    ready: BTreeMap<MessageKey, (u64, Vec<u64>)>,
}

/// Words lie so far apart that two are in no common line of a cache.
const WORD_PITCH: u64 = 128;
/// Spans begin at multiples of this.
const SPAN_PITCH: u64 = 256;

impl MessageOffer {
    /// Prepares the memory. All work on the devices of all ranks is done.
    pub fn new(outline: MessageOutline) -> Result<MessageOffer> {
        let mut places = Places::default();
        let mut next = 0;
        let mut take = |bytes: u64, pitch: u64| {
            let first = next;
            next += bytes.next_multiple_of(pitch);
            first
        };
        for key in outline.sent.keys() {
            places.free.insert(*key, take(8, WORD_PITCH));
        }
        for key in outline.received.keys() {
            places.ready.insert(*key, (take(8, WORD_PITCH), Vec::new()));
        }
        let words = take(SPAN_PITCH, SPAN_PITCH).next_multiple_of(SPAN_PITCH);
        for (key, spans) in &outline.received {
            let Some((_, offsets)) = places.ready.get_mut(key) else { continue };
            offsets.extend(spans.iter().map(|bytes| take(*bytes, SPAN_PITCH)));
        }
        let (region, handle) = outline.ipc.region(&outline.device, next.max(SPAN_PITCH))?;
        let mut begin = vec![0; words as usize];
        places.free.values().for_each(|&at| begin[at as usize] = 1);
        outline.device.upload(region.allocation(), 0, &begin)?;
        outline.device.wait()?;
        Ok(MessageOffer { outline, region, handle, places })
    }

    /// For the other ranks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut numbers =
            vec![u64::from(process_id()), self.region.allocation().id, self.region.allocation().bytes];
        let key = |key: &MessageKey| [key.0 as u64, key.1 as u64, key.2 as u64];
        numbers.push(self.places.free.len() as u64);
        for (of, at) in &self.places.free {
            numbers.extend(key(of).into_iter().chain([*at]));
        }
        for (of, (ready, spans)) in &self.places.ready {
            numbers.extend(key(of).into_iter().chain([*ready, spans.len() as u64]));
            let bytes = &self.outline.received[of];
            numbers.extend(spans.iter().zip(bytes).flat_map(|(at, bytes)| [*at, *bytes]));
        }
        let numbers = numbers.into_iter().flat_map(u64::to_le_bytes);
        self.handle.0.into_iter().chain(numbers).collect()
    }

    /// The messages, with the offers of all ranks; `None` if these do not fit together.
    pub fn accept(self, offers: &[Vec<u8>]) -> Result<Option<StreamMessages>> {
        let MessageOffer { outline, region, places, .. } = self;
        let rank = outline.ranks.rank();
        let (mut others, mut processes): (HashMap<usize, (Buffer, Places)>, _) = (HashMap::new(), Vec::new());
        let mut lengths: HashMap<(usize, MessageKey), Vec<u64>> = HashMap::new();
        for &(_, peer, _) in outline.sent.keys().chain(outline.received.keys()) {
            if others.contains_key(&peer) {
                continue;
            }
            let Some(offer) = offers.get(peer).and_then(|bytes| OtherOffer::of_bytes(bytes)) else {
                return Ok(None);
            };
            let mapped = outline.ipc.map(peer, &outline.device, offer.handle, offer.number, offer.bytes)?;
            lengths.extend(offer.lengths.into_iter().map(|(key, bytes)| ((peer, key), bytes)));
            processes.push((peer, offer.process));
            others.insert(peer, (mapped, offer.places));
        }
        let word = |memory: &Buffer, offset: u64, gives: bool| {
            [WordOp { memory: Arc::clone(memory.allocation()), offset, gives }]
        };
        let mut messages = HashMap::new();
        for (&(step, peer, number), spans) in &outline.sent {
            let theirs = (step, rank, number);
            let (memory, other) = &others[&peer];
            let Some((ready, offsets)) = other.ready.get(&theirs) else { return Ok(None) };
            if lengths.get(&(peer, theirs)) != Some(spans) {
                return Ok(None);
            }
            let take = word(&region, places.free[&(step, peer, number)], false);
            let (give, memory, offsets) = (word(memory, *ready, true), memory.clone(), offsets.clone());
            messages.insert(((step, peer, number), true), Channel { take, give, memory, offsets });
        }
        for &(step, peer, number) in outline.received.keys() {
            let (memory, other) = &others[&peer];
            let Some(free) = other.free.get(&(step, rank, number)) else { return Ok(None) };
            let (ready, offsets) = &places.ready[&(step, peer, number)];
            let (take, give) = (word(&region, *ready, false), word(memory, *free, true));
            let (memory, offsets) = (region.clone(), offsets.clone());
            messages.insert(((step, peer, number), false), Channel { take, give, memory, offsets });
        }
        let words = places.free.into_values().chain(places.ready.into_values().map(|(ready, _)| ready));
        let MessageOutline { ranks, device, ipc, written, .. } = outline;
        let watched = Watched {
            ranks,
            device,
            region: region.clone(),
            words: words.collect(),
            written,
            processes,
            launches: AtomicU64::new(0),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        };
        let watched = Arc::new(watched);
        let watching = Arc::clone(&watched);
        let thread = std::thread::Builder::new().name("partita-watch".to_owned());
        let Ok(watch) = thread.spawn(move || watching.watch()) else { return Ok(None) };
        Ok(Some(StreamMessages { messages, region, ipc, watched, watch: Some(watch), process: process_id() }))
    }
}

/// The offer of another rank.
struct OtherOffer {
    handle: IpcHandle,
    process: u64,
    number: u64,
    bytes: u64,
    places: Places,
    lengths: HashMap<MessageKey, Vec<u64>>,
}

impl OtherOffer {
    fn of_bytes(bytes: &[u8]) -> Option<OtherOffer> {
        let (handle, rest) = bytes.split_first_chunk::<64>()?;
        let mut numbers = rest.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number));
        let (process, number, bytes) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let (mut places, mut lengths) = (Places::default(), HashMap::new());
        for _ in 0..numbers.next()? {
            let key = (numbers.next()? as usize, numbers.next()? as usize, numbers.next()? as usize);
            places.free.insert(key, numbers.next()?);
        }
        while let Some(step) = numbers.next() {
            let key = (step as usize, numbers.next()? as usize, numbers.next()? as usize);
            let (ready, count) = (numbers.next()?, numbers.next()?);
            let spans: Option<Vec<(u64, u64)>> =
                (0..count).map(|_| Some((numbers.next()?, numbers.next()?))).collect();
            let (offsets, spans) = spans?.into_iter().unzip();
            places.ready.insert(key, (ready, offsets));
            lengths.insert(key, spans);
        }
        Some(OtherOffer { handle: IpcHandle(*handle), process, number, bytes, places, lengths })
    }
}

/// One message: its words, and its memory on the receiver's device.
struct Channel {
    take: [WordOp; 1],
    give: [WordOp; 1],
    memory: Buffer,
    offsets: Vec<u64>,
}

/// The messages of a cycle that devices send and receive themselves.
pub(crate) struct StreamMessages {
    /// By message, and whether it is sent.
    messages: HashMap<(MessageKey, bool), Channel>,
    region: Buffer,
    ipc: Arc<IpcMemory>,
    watched: Arc<Watched>,
    watch: Option<JoinHandle<()>>,
    process: u32,
}

impl StreamMessages {
    /// Adds sends, or receives, that follow one another to a graph; `numbers` are those of the whole step.
    pub fn queue<'a>(
        &'a self,
        graph: &mut StreamGraphBuilder<'a>,
        step: usize,
        commands: &'a [Command],
        numbers: &[Option<(usize, usize)>],
    ) -> Result<()> {
        let one = |(command, number): (&'a Command, &Option<(usize, usize)>)| {
            let ((message, is_sent), (peer, number)) = (message_of(&command.op)?, (*number)?);
            let channel = self.messages.get(&((step, peer, number), is_sent))?;
            Some((command.stream, &message.memory, is_sent, channel))
        };
        let all: Vec<(Stream, &Vec<MemorySpan>, bool, &Channel)> =
            commands.iter().zip(numbers).filter_map(one).collect();
        let device = &self.watched.device;
        all.iter().for_each(|(stream, .., channel)| graph.words(device, *stream, &channel.take));
        for (stream, spans, is_sent, channel) in &all {
            for (span, &offset) in spans.iter().zip(&channel.offsets) {
                let (one, other) = (&*span.allocation, &**channel.memory.allocation());
                let region = match is_sent {
                    true => CopyRegion {
                        from: one,
                        from_offset: span.offset,
                        to: other,
                        to_offset: offset,
                        bytes: span.bytes,
                    },
                    false => CopyRegion {
                        from: other,
                        from_offset: offset,
                        to: one,
                        to_offset: span.offset,
                        bytes: span.bytes,
                    },
                };
                graph.copy(device, *stream, device, region)?;
            }
        }
        all.iter().for_each(|(stream, .., channel)| graph.words(device, *stream, &channel.give));
        Ok(())
    }

    /// The numbers of the messages of a step.
    pub fn numbers(step: &[Command]) -> Vec<Option<(usize, usize)>> {
        numbered(step)
    }

    /// A graph with such messages has been launched.
    pub fn launched(&self) {
        self.watched.launches.fetch_add(1, Ordering::Release);
    }
}

impl Drop for StreamMessages {
    fn drop(&mut self) {
        let Some(watch) = self.watch.take().filter(|_| self.process == process_id()) else { return };
        // The watch goes on meanwhile, so this ends.
        self.watched.wait();
        *self.watched.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.watched.over.notify_all();
        // It does not panic, and there is nobody to tell.
        let _ = watch.join();
        // Others may still give words in it, until they, too, have nothing under way.
        self.ipc.keep_region(&self.region);
    }
}

/// What the watch of a rank needs.
struct Watched {
    ranks: Ranks,
    device: Device,
    region: Buffer,
    words: Vec<u64>,
    written: Vec<Arc<Allocation>>,
    /// Of the ranks with messages to or from this one.
    processes: Vec<(usize, u64)>,
    /// The number of launches.
    launches: AtomicU64,
    is_over: Mutex<bool>,
    over: Condvar,
}

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(10);

impl Watched {
    fn watch(&self) {
        let mut done = 0;
        let mut stopped: Stopped = HashMap::new();
        loop {
            let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
            let (is_over, _) = self.over.wait_timeout(is_over, LOOK).unwrap_or_else(PoisonError::into_inner);
            if *is_over {
                return;
            }
            drop(is_over);
            let launches = self.launches.load(Ordering::Acquire);
            // A device that fails waits no more.
            if launches == done || self.device.is_done().unwrap_or(true) {
                (done, stopped) = (launches, HashMap::new());
                continue;
            }
            let failure = self.ranks.poll().err().or_else(|| self.look_for_stopped(&mut stopped));
            if let Some(failure) = failure {
                let reason = failure.to_string();
                self.written.iter().for_each(|memory| drop(memory.lost.set(reason.clone())));
                // Words that the device has passed are set back by it, so it may need this several times.
                let _ = self.device.release_words(self.region.allocation(), &self.words);
            }
        }
    }

    /// Waits until the device has done what was launched.
    fn wait(&self) {
        while self.launches.load(Ordering::Acquire) > 0 && !self.device.is_done().unwrap_or(true) {
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// The failure of a rank whose process has been stopped for the longest that one waits for another.
    fn look_for_stopped(&self, stopped: &mut Stopped) -> Option<crate::error::Error> {
        let now = Instant::now();
        for &(rank, process) in &self.processes {
            if !is_stopped(process) {
                stopped.remove(&rank);
                continue;
            }
            let deadline = self.ranks.deadline();
            let (since, last) = stopped.entry(rank).or_insert((now, now));
            // Whoever was stopped itself begins anew.
            if now - std::mem::replace(last, now) > deadline / 2 {
                *since = now;
            }
            if now - *since > deadline {
                let seconds = deadline.as_secs();
                let reason =
                    format!("its process has been stopped for {seconds} s while a device waited for it");
                return Some(self.ranks.fail(rank, reason));
            }
        }
        None
    }
}

/// By rank: since when its process has been stopped, and when that was seen last.
type Stopped = HashMap<usize, (Instant, Instant)>;

/// Whether a process of this machine is stopped, as far as the system says.
fn is_stopped(process: u64) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    // The state follows the name, which is in parentheses and may have some itself.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}
