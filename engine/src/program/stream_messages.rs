//! [`StreamMessages`]: messages between ranks of one machine that the devices send and receive themselves,
//! inside a graph, while no host waits. Each message of a step has memory on its receiver's device that its
//! sender has mapped (CUDA IPC), and two words. The sender's stream waits for `free`, on its own device,
//! packs the message there and gives `ready`, on the receiver's. The receiver's stream waits for `ready`,
//! unpacks the message, and gives `free`.
//!
//! A stale word is never taken for a new one: a word is given once, then waited for and set back to 0 by the
//! same stream, and only afterwards does that side give the other word, without which nothing is given again.
//! So both words alternate, their values are always the same, and a graph is launched again as it is.
//!
//! Messages of different steps of a cycle, of which there are at least two, share nothing: a rank may be a
//! step ahead of its neighbours.
//!
//! Messages by NCCL, which is for ranks that do not map each other's memory, are groups of the library in the
//! same graph: they need neither words nor memory of their own.
//!
//! When a rank fails, `watch` ends the others' waits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::thread::JoinHandle;

use partita_kernels::{Access, Launch, View};

use super::command::{Command, Op, Schedule};
use super::copies::{copy_bytes, latch};
use super::ipc::IpcMemory;
use super::message::{Message, Transport};
use super::nccl::NcclLink;
use super::place::MemorySpan;
use super::watch::{GuardedSteps, HALT, Watched};
use crate::device::cuda::IpcHandle;
use crate::device::{
    Allocation, Buffer, Device, GuardWord, Job, Stream, StreamGraph, StreamGraphBuilder, Watch, WordOp,
    process_id,
};
use crate::error::Result;
use crate::wire::{Epoch, FailureCall, Ranks};

/// A message of a cycle: the step, the other rank, and how many messages the step has sent to it, or expects
/// from it, before.
type MessageKey = (usize, usize, usize);

/// The messages of a cycle, as one rank sends and receives them: the lengths of their spans.
pub(crate) struct MessageOutline {
    ranks: Ranks,
    device: Device,
    /// Of messages in shared memory, if there are any.
    ipc: Option<Arc<IpcMemory>>,
    /// The other ranks of messages by NCCL, and their connection.
    nccl: Option<(BTreeSet<usize>, Arc<NcclLink>)>,
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
    /// The messages of the steps of a cycle, if all of them go from a device to a device of another process,
    /// and the device of this rank, which must be one, can wait for words, or NCCL's groups are captured.
    pub fn of<'c>(
        ranks: &Ranks,
        steps: impl Iterator<Item = &'c [Command]>,
    ) -> Result<Option<MessageOutline>> {
        let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
        let (mut device, mut shared, mut nccl) = (None, None, None);
        let mut written = Vec::new();
        for (at, step) in steps.enumerate() {
            for (command, number) in step.iter().zip(numbered(step)) {
                written.extend(command.op.writes().cloned());
                if let Op::SendReceive { link, spans, .. } = &command.op {
                    let (peers, _) = nccl.get_or_insert_with(|| (BTreeSet::new(), Arc::clone(link)));
                    peers.extend(spans.iter().map(|span| span.peer));
                }
                let Some((message, is_sent)) = message_of(&command.op) else { continue };
                let Some((peer, number)) = number.filter(|_| message.ranks == *ranks) else {
                    return Ok(None);
                };
                let Message { memory, transport, ipc, .. } = message;
                if memory.iter().any(|span| *device.get_or_insert(&span.device) != &span.device) {
                    return Ok(None);
                }
                match (transport, ipc) {
                    (Transport::Nccl, _) => continue,
                    (Transport::Ipc, Some(ipc)) => shared = Some(Arc::clone(ipc)),
                    _ => return Ok(None),
                }
                let messages = if is_sent { &mut sent } else { &mut received };
                messages.insert((at, peer, number), memory.iter().map(|span| span.bytes).collect());
            }
        }
        let Some(device) = device.cloned() else { return Ok(None) };
        let is_captured = nccl.as_ref().is_none_or(|(_, link)| link.peers().is_captured());
        if !is_captured || !ranks.can_be_watched() || (shared.is_some() && !device.has_words()?) {
            return Ok(None);
        }
        Ok(Some(MessageOutline { ranks: ranks.clone(), device, ipc: shared, nccl, sent, received, written }))
    }
}

/// Where a rank expects the words and the bytes of its messages, in memory that all others map.
pub(crate) struct MessageOffer {
    outline: MessageOutline,
    /// None without messages in shared memory.
    region: Option<(Buffer, IpcHandle)>,
    places: Places,
    guards: Buffer,
}

/// By message: of sent ones the place of `free`; of received ones those of `ready` and of the spans.
#[derive(Default)]
struct Places {
    free: BTreeMap<MessageKey, u64>,
    ready: BTreeMap<MessageKey, (u64, Vec<u64>)>,
}

/// Words lie so far apart that two are in no common line of a cache.
const WORD_PITCH: u64 = 128;
/// A message begins with a word that is not 0 if it is none, so far behind the word `ready`.
const FALSE: u64 = 64;
/// Words: the count of true waits, a count that the first latch of a graph may add to for nothing, what
/// latches remember, and the words that guard launches of a graph.
const GUARDS: usize = 512;
/// The first of those.
const FIRST_GUARD: usize = 3;
/// The most messages between which a stream waits once.
const MOST_LATCHED: usize = 32;
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
        // The word `halt`.
        take(8, WORD_PITCH);
        for key in outline.sent.keys() {
            places.free.insert(*key, take(8, WORD_PITCH));
        }
        for key in outline.received.keys() {
            places.ready.insert(*key, (take(8, WORD_PITCH), Vec::new()));
        }
        let end = take(0, 1);
        let words = end.next_multiple_of(SPAN_PITCH);
        take(words - end, 1);
        for (key, spans) in &outline.received {
            let Some((_, offsets)) = places.ready.get_mut(key) else { continue };
            offsets.extend(spans.iter().map(|bytes| take(*bytes, SPAN_PITCH)));
        }
        let region = |ipc: &Arc<IpcMemory>| ipc.region(&outline.device, next.max(SPAN_PITCH));
        let region = outline.ipc.as_ref().map(region).transpose()?;
        if let Some((region, _)) = &region {
            let mut begin = vec![0; words as usize];
            places.free.values().for_each(|&at| begin[at as usize] = 1);
            outline.device.upload(region.allocation(), 0, &begin)?;
        }
        let guards = outline.device.alloc(8 * GUARDS as u64)?;
        outline.device.upload(guards.allocation(), 0, &[0; 8 * GUARDS])?;
        outline.device.wait()?;
        Ok(MessageOffer { outline, region, places, guards })
    }

    /// For the other ranks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let memory = self.region.as_ref().map(|(region, handle)| (region.allocation(), handle.0));
        let (id, bytes) = memory.as_ref().map_or((0, 0), |(memory, _)| (memory.id, memory.bytes));
        let mut numbers = vec![u64::from(process_id()), id, bytes];
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
        memory.map_or([0; 64], |(_, handle)| handle).into_iter().chain(numbers).collect()
    }

    /// The messages, with the offers of all ranks; `None` if these do not fit together.
    pub fn accept(self, offers: &[Vec<u8>]) -> Result<Option<StreamMessages>> {
        let MessageOffer { outline, region, places, guards } = self;
        let region = region.map(|(region, _)| region);
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
            let Some(ipc) = &outline.ipc else { return Ok(None) };
            let mapped = ipc.map(peer, &outline.device, offer.handle, offer.number, offer.bytes)?;
            lengths.extend(offer.lengths.into_iter().map(|(key, bytes)| ((peer, key), bytes)));
            processes.push((peer, offer.process));
            others.insert(peer, (mapped, offer.places));
        }
        let word = |memory: &Buffer, offset: u64, gives: bool| {
            [WordOp { memory: Arc::clone(memory.allocation()), offset, gives }]
        };
        let mut messages = HashMap::new();
        for (&(step, peer, number), spans) in &outline.sent {
            let Some(region) = &region else { return Ok(None) };
            let theirs = (step, rank, number);
            let (memory, other) = &others[&peer];
            let Some((ready, offsets)) = other.ready.get(&theirs) else { return Ok(None) };
            if lengths.get(&(peer, theirs)) != Some(spans) {
                return Ok(None);
            }
            let take = word(region, places.free[&(step, peer, number)], false);
            let (give, spans) = (word(memory, *ready, true), views(memory, offsets, spans)?);
            let is_false = (Arc::clone(memory.allocation()), ready + FALSE);
            messages.insert(((step, peer, number), true), Channel { take, give, spans, is_false });
        }
        for (&(step, peer, number), spans) in &outline.received {
            let Some(region) = &region else { return Ok(None) };
            let (memory, other) = &others[&peer];
            let Some(free) = other.free.get(&(step, rank, number)) else { return Ok(None) };
            let (ready, offsets) = &places.ready[&(step, peer, number)];
            let (take, give) = (word(region, *ready, false), word(memory, *free, true));
            let spans = views(region, offsets, spans)?;
            let is_false = (Arc::clone(region.allocation()), ready + FALSE);
            messages.insert(((step, peer, number), false), Channel { take, give, spans, is_false });
        }
        let words = places.free.into_values().chain(places.ready.into_values().map(|(ready, _)| ready));
        let MessageOutline { ranks, device, ipc, nccl, written, .. } = outline;
        if let Some((peers, link)) = &nccl {
            processes.extend(link.processes(peers.iter().copied()));
        }
        let (guarded, state, change) = Default::default();
        let watched = Watched {
            ranks,
            device,
            region: region.clone(),
            words: words.collect(),
            written,
            processes,
            nccl,
            guards,
            guarded,
            state,
            change,
        };
        let watched = Arc::new(watched);
        watched.device.watch(&(Arc::clone(&watched) as Arc<dyn Watch>));
        // Before NCCL lets the device go on, which happens as soon as a rank has failed.
        let halted = Arc::downgrade(&watched);
        let on_failure: Arc<FailureCall> =
            Arc::new(move |reason| halted.upgrade().iter().for_each(|watched| watched.halt(reason)));
        if watched.nccl.is_some() {
            watched.ranks.on_failure(&on_failure);
        }
        let watching = Arc::clone(&watched);
        let thread = std::thread::Builder::new().name("partita-watch".to_owned());
        let Ok(watch) = thread.spawn(move || watching.watch()) else { return Ok(None) };
        let (watch, process, shared) = (Some(watch), process_id(), ipc.zip(region));
        Ok(Some(StreamMessages { messages, shared, watched, watch, process, _on_failure: on_failure }))
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

/// One message: its words, and its spans in memory on the receiver's device.
struct Channel {
    take: [WordOp; 1],
    give: [WordOp; 1],
    spans: Vec<Buffer>,
    /// Where the word is that says that it is none.
    is_false: (Arc<Allocation>, u64),
}

/// Spans of memory, as memory of their own.
fn views(memory: &Buffer, offsets: &[u64], lengths: &[u64]) -> Result<Vec<Buffer>> {
    offsets.iter().zip(lengths).map(|(&at, &bytes)| memory.device().part_of(memory, at, bytes)).collect()
}

/// The messages of a cycle that devices send and receive themselves.
pub(crate) struct StreamMessages {
    /// By message, and whether it is sent.
    messages: HashMap<(MessageKey, bool), Channel>,
    /// Of messages in shared memory: where they are received.
    shared: Option<(Arc<IpcMemory>, Buffer)>,
    watched: Arc<Watched>,
    watch: Option<JoinHandle<()>>,
    process: u32,
    /// The wire has it for as long as it is here.
    _on_failure: Arc<FailureCall>,
}

/// The commands of a step, and what its messages need around each.
pub(crate) struct ChainedStep<'m> {
    device: &'m Device,
    pub commands: Schedule,
    around: Vec<Around<'m>>,
}

#[derive(Default)]
struct Around<'m> {
    takes: Vec<(Stream, &'m Channel)>,
    /// The copies of the message of the command, if it is copied.
    copies: Schedule,
    gives: Vec<(Stream, &'m Channel)>,
}

impl StreamMessages {
    /// A step whose messages are these. Kernels that pack a message write it where its receiver expects it,
    /// and those that unpack it read it there, if nothing else uses its memory here.
    pub fn step(&self, step: usize, schedule: &Schedule) -> Result<ChainedStep<'_>> {
        let mut around: Vec<Around> = schedule.iter().map(|_| Around::default()).collect();
        let mut moved: HashMap<u64, Arc<Allocation>> = HashMap::new();
        let mut uses: HashMap<u64, Vec<(usize, Access)>> = HashMap::new();
        for (at, command) in schedule.iter().enumerate() {
            for (_, memory, access) in command.op.memory() {
                uses.entry(memory.id).or_default().push((at, access));
            }
        }
        let numbers = numbered(schedule);
        let sends =
            |at: usize| message_of(&schedule[at].op).map(|(_, is_sent)| (is_sent, schedule[at].stream));
        for (at, Command { stream, op, .. }) in schedule.iter().enumerate() {
            let (Some((message, is_sent)), Some((peer, number))) = (message_of(op), numbers[at]) else {
                continue;
            };
            let Some(channel) = self.messages.get(&((step, peer, number), is_sent)) else { continue };
            // Words of messages that follow one another are one batch.
            let alike = |other: &usize| sends(*other) == Some((is_sent, *stream));
            let (mut first, mut last) = (at, at);
            while first.checked_sub(1).as_ref().is_some_and(alike) {
                first -= 1;
            }
            while last + 1 < schedule.len() && alike(&(last + 1)) {
                last += 1;
            }
            let packs = |&(k, access): &(usize, Access)| {
                let before =
                    if is_sent { k < at && access == Access::Out } else { k > at && access == Access::In };
                k == at || (before && schedule[k].stream == *stream && !schedule[k].op.jobs().is_empty())
            };
            let is_alone = |span: &MemorySpan| {
                let uses = &uses[&span.allocation.id];
                span.offset == 0 && uses.len() > 1 && uses.iter().all(packs)
            };
            // On the stream for exchanges no copy is left out because it changes nothing.
            if *stream == Stream::Exchange && message.memory.iter().all(is_alone) {
                for (span, view) in message.memory.iter().zip(&channel.spans) {
                    moved.insert(span.allocation.id, Arc::clone(view.allocation()));
                    for &(k, _) in &uses[&span.allocation.id] {
                        (first, last) = if is_sent { (first.min(k), last) } else { (first, last.max(k)) };
                    }
                }
            } else {
                let device = &self.watched.device;
                let copies = message.memory.iter().zip(&channel.spans).map(|(span, view)| {
                    let ends = ((&span.allocation, span.offset), (view.allocation(), 0));
                    copy_bytes(device, span.bytes, if is_sent { ends } else { (ends.1, ends.0) })
                });
                around[at].copies = copies.map(|copy| Ok(copy?.on(*stream))).collect::<Result<Schedule>>()?;
            }
            around[first].takes.push((*stream, channel));
            around[last].gives.push((*stream, channel));
        }
        let mut commands = schedule.clone();
        for command in commands.iter_mut().filter(|command| !command.op.jobs().is_empty()) {
            for memory in command.op.memory_mut() {
                if let Some(view) = moved.get(&memory.id) {
                    *memory = Arc::clone(view);
                }
            }
        }
        Ok(ChainedStep { device: &self.watched.device, commands, around })
    }

    /// Whether messages go by words (CUDA IPC).
    pub fn has_words(&self) -> bool {
        self.watched.region.is_some()
    }

    /// Launches a graph of so many steps with such messages.
    ///
    /// # Errors
    /// A rank has failed; the device's.
    pub fn launch(&self, steps: u64, graph: &StreamGraph) -> Result<()> {
        self.watched.launch(steps, || graph.launch())
    }

    /// All launches of the steps are guarded.
    pub fn guarded(&self, steps: GuardedSteps) {
        // There is one set of steps.
        let _ = self.watched.guarded.set(steps);
    }

    /// See [`Watched::last_whole`].
    pub fn last_whole(&self) -> Option<u64> {
        self.watched.last_whole()
    }

    /// For the words that guard the launches of a graph, in order, the job that sets it: to 0 while no rank
    /// has failed. All but the first count. `None` if there are too many, or streams wait for messages on
    /// several, so that none is set after all others; for messages by NCCL there are none.
    pub fn guards(&self, steps: &[ChainedStep]) -> Result<Option<Vec<[Job; 1]>>> {
        let waits = steps.iter().flat_map(|step| &step.around).map(|around| &around.takes);
        let waits: Vec<_> = waits.filter(|takes| !takes.is_empty()).collect();
        let stream = waits.first().map(|takes| takes[0].0);
        let fits = |takes: &Vec<(Stream, &Channel)>| {
            takes.len() <= MOST_LATCHED && takes.iter().all(|(on, _)| Some(*on) == stream)
        };
        let (Some((_, region)), None) = (&self.shared, &self.watched.nccl) else { return Ok(None) };
        if !waits.iter().all(|takes| fits(takes)) || waits.len() + FIRST_GUARD + 1 > GUARDS {
            return Ok(None);
        }
        let (guards, region) = (self.watched.guards.allocation(), region.allocation());
        let job = |(number, takes): (usize, &[(Stream, &Channel)])| {
            let messages = takes.iter().map(|(_, channel)| &channel.is_false);
            let is_sent = messages.clone().next().is_some_and(|(memory, _)| memory.id != region.id);
            let program = latch(&self.watched.device, is_sent, takes.len())?;
            let word = |offset: usize| (guards, 8 * offset as u64);
            let (count, memory) = (word(usize::from(number == 0)), word(2));
            let own = [(region, HALT), word(number + FIRST_GUARD), count, memory];
            let words = own.into_iter().chain(messages.map(|(memory, offset)| (memory, *offset)));
            let view = |offset: u64| View { offset: (offset / 8) as i64, strides: vec![1] };
            let (memory, views) =
                words.map(|(memory, offset)| (Arc::clone(memory), view(offset))).unzip::<_, _, Vec<_>, _>();
            let launch = Launch { origin: vec![0], extents: vec![1], views, arguments: Vec::new() };
            Ok([Job { program, launch: Arc::new(launch), memory }])
        };
        let all = std::iter::once(&[][..]).chain(waits.into_iter().map(|takes| &takes[..]));
        all.enumerate().map(job).collect::<Result<Vec<_>>>().map(Some)
    }

    /// The word that is set by such a job.
    pub fn guard(&self, number: usize) -> GuardWord<'_> {
        let offset = 8 * (number + FIRST_GUARD) as u64;
        GuardWord { number, memory: self.watched.guards.allocation(), offset }
    }

    /// The device of the steps.
    pub fn device(&self) -> &Device {
        &self.watched.device
    }
}

impl ChainedStep<'_> {
    /// Adds to a graph the waits before a command, if there are some: on which stream.
    pub fn wait<'a>(&'a self, graph: &mut StreamGraphBuilder<'a>, at: usize) -> Option<Stream> {
        let takes = &self.around[at].takes;
        takes.iter().for_each(|(stream, channel)| graph.words(self.device, *stream, &channel.take));
        takes.first().map(|(stream, _)| *stream)
    }

    /// The copies of the message of a command, to be added before it.
    pub fn copies(&self, at: usize) -> &Schedule {
        &self.around[at].copies
    }

    /// Adds what comes after it.
    pub fn end<'a>(&'a self, graph: &mut StreamGraphBuilder<'a>, at: usize) {
        let gives = self.around[at].gives.iter();
        gives.for_each(|(stream, channel)| graph.words(self.device, *stream, &channel.give));
    }
}

impl Drop for StreamMessages {
    fn drop(&mut self) {
        let Some(watch) = self.watch.take().filter(|_| self.process == process_id()) else { return };
        // The watch goes on meanwhile, so this ends.
        self.watched.wait();
        // Nobody asks later whether the steps were whole; there is nobody to tell of a failure to ask.
        let _ = self.watched.settle(true);
        self.watched.end_watch();
        // It does not panic.
        let _ = watch.join();
        // Others may still give words in it, until they, too, have nothing under way.
        self.shared.iter().for_each(|(ipc, region)| ipc.keep_region(region));
    }
}
