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

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::thread::JoinHandle;

use partita_kernels::Access;

use super::command::{Command, Op, Schedule};
use super::copies::copy_bytes;
use super::ipc::IpcMemory;
use super::message::{Message, Transport};
use super::nccl::NcclLink;
use super::place::MemorySpan;
use super::watch::{GuardedSteps, Watched, WatchedDevice};
use crate::device::cuda::IpcHandle;
use crate::device::{
    Allocation, Buffer, Device, DeviceKind, Stream, StreamGraph, StreamGraphBuilder, Watch, WordOp,
    process_id,
};
use crate::error::Result;
use crate::wire::{Epoch, FailureCall, Ranks};

/// A message of a cycle: the step, the other rank, and how many messages the step has sent to it, or expects
/// from it, before.
type MessageKey = (usize, usize, usize);

/// A span of a message: the number of its device among those of this rank, and its length.
type SpanOutline = (usize, u64);

/// The messages of a cycle, as one rank sends and receives them: their spans.
pub(crate) struct MessageOutline {
    name: String,
    ranks: Ranks,
    devices: Vec<Device>,
    /// Of messages in shared memory, if there are any.
    ipc: Option<Arc<IpcMemory>>,
    /// The other ranks of messages by NCCL, and their connection.
    nccl: Option<(BTreeSet<usize>, Arc<NcclLink>)>,
    sent: BTreeMap<MessageKey, Vec<SpanOutline>>,
    received: BTreeMap<MessageKey, Vec<SpanOutline>>,
    /// Memory that the steps write.
    written: Vec<Arc<Allocation>>,
    /// By step and command: the copies from another device of this rank into memory of the state.
    transfers: Vec<((usize, usize), Device, u64)>,
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
    /// and the devices of this rank can wait for words, or NCCL's groups are captured. The `state` is memory
    /// that others read after the steps, which are those of `name` in errors.
    pub fn of<'c>(
        name: &str,
        ranks: &Ranks,
        steps: impl Iterator<Item = &'c [Command]>,
        state: &HashSet<u64>,
    ) -> Result<Option<MessageOutline>> {
        let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
        let (mut shared, mut nccl) = (None, None);
        let (mut devices, mut written, mut transfers): (Vec<Device>, Vec<_>, Vec<_>) = Default::default();
        for (at, step) in steps.enumerate() {
            for (k, (command, number)) in step.iter().zip(numbered(step)).enumerate() {
                written.extend(command.op.writes().cloned());
                let new = command.op.devices().into_iter().filter(|device| !devices.contains(device));
                let new: Vec<Device> = new.cloned().collect();
                devices.extend(new);
                match &command.op {
                    Op::SendReceive { link, spans, .. } => {
                        let (peers, _) = nccl.get_or_insert_with(|| (BTreeSet::new(), Arc::clone(link)));
                        peers.extend(spans.iter().map(|span| span.peer));
                    }
                    Op::Transfer { to_device, to, bytes, .. } if state.contains(&to.id) => {
                        transfers.push(((at, k), to_device.clone(), *bytes));
                    }
                    _ => {}
                }
                let Some((message, is_sent)) = message_of(&command.op) else { continue };
                let Some((peer, number)) = number.filter(|_| message.ranks == *ranks) else {
                    return Ok(None);
                };
                let Message { memory, transport, ipc, .. } = message;
                match (transport, ipc) {
                    (Transport::Nccl, _) => continue,
                    (Transport::Ipc, Some(ipc)) => shared = Some(Arc::clone(ipc)),
                    _ => return Ok(None),
                }
                let number_of = |device: &Device| devices.iter().position(|one| one == device);
                let span = |span: &MemorySpan| Some((number_of(&span.device)?, span.bytes));
                let Some(spans) = memory.iter().map(span).collect() else { return Ok(None) };
                let messages = if is_sent { &mut sent } else { &mut received };
                messages.insert((at, peer, number), spans);
            }
        }
        let is_captured = nccl.as_ref().is_none_or(|(_, link)| link.peers().is_captured());
        // NCCL connects one device of each rank.
        let fits = devices.len() == 1 || (nccl.is_none() && !devices.is_empty());
        if !is_captured || !fits || !ranks.can_be_watched() {
            return Ok(None);
        }
        for device in devices.iter().filter(|_| shared.is_some()) {
            if device.kind() != DeviceKind::Cuda || !device.has_words()? {
                return Ok(None);
            }
        }
        let (name, ranks, ipc) = (name.to_owned(), ranks.clone(), shared);
        Ok(Some(MessageOutline { name, ranks, devices, ipc, nccl, sent, received, written, transfers }))
    }
}

/// Where a rank expects the words and the bytes of its messages, in memory that all others map.
pub(crate) struct MessageOffer {
    outline: MessageOutline,
    /// By device; none without messages in shared memory.
    regions: Vec<(Buffer, IpcHandle)>,
    places: Places,
}

/// Where a span is: of sent ones the place of `free`, on the sender's device; of received ones that of
/// `ready`, and of the span, on the receiver's.
#[derive(Clone, Copy)]
struct SpanPlace {
    device: usize,
    word: u64,
    at: u64,
    bytes: u64,
}

/// By message.
#[derive(Default)]
struct Places {
    free: BTreeMap<MessageKey, Vec<SpanPlace>>,
    ready: BTreeMap<MessageKey, Vec<SpanPlace>>,
}

/// Words lie so far apart that two are in no common line of a cache.
const WORD_PITCH: u64 = 128;
/// A message begins with a word that is not 0 if it is none, so far behind the word `ready`.
const FALSE: u64 = 64;
/// Spans begin at multiples of this.
const SPAN_PITCH: u64 = 256;

impl MessageOffer {
    /// Prepares the memory. All work on the devices of all ranks is done.
    pub fn new(outline: MessageOutline) -> Result<MessageOffer> {
        // The word `halt` comes first.
        let mut next = vec![WORD_PITCH; outline.devices.len()];
        let mut take = |device: usize, bytes: u64, pitch: u64| {
            let first = next[device].next_multiple_of(pitch);
            next[device] = first + bytes;
            first
        };
        let words = |take: &mut dyn FnMut(usize, u64, u64) -> u64, all: &BTreeMap<_, Vec<SpanOutline>>| {
            let place = |&(device, bytes): &SpanOutline| SpanPlace {
                device,
                word: take(device, WORD_PITCH, WORD_PITCH),
                at: 0,
                bytes,
            };
            let mut place = place;
            let each = all.iter().map(|(key, spans)| (*key, spans.iter().map(&mut place).collect()));
            each.collect::<BTreeMap<MessageKey, Vec<SpanPlace>>>()
        };
        let (free, mut ready) = (words(&mut take, &outline.sent), words(&mut take, &outline.received));
        let ends: Vec<u64> = (0..outline.devices.len()).map(|device| take(device, 0, SPAN_PITCH)).collect();
        for span in ready.values_mut().flatten() {
            span.at = take(span.device, span.bytes, SPAN_PITCH);
        }
        let mut regions = Vec::new();
        for (number, device) in outline.devices.iter().enumerate() {
            let Some(ipc) = &outline.ipc else { break };
            let region = ipc.region(device, next[number].max(SPAN_PITCH))?;
            let mut begin = vec![0; ends[number] as usize];
            let own = free.values().flatten().filter(|span| span.device == number);
            own.for_each(|span| begin[span.word as usize] = 1);
            device.upload(region.0.allocation(), 0, &begin)?;
            device.wait()?;
            regions.push(region);
        }
        Ok(MessageOffer { outline, regions, places: Places { free, ready } })
    }

    /// For the other ranks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut numbers = vec![u64::from(process_id()), self.regions.len() as u64];
        for (region, handle) in &self.regions {
            numbers.extend(handle.0.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
            numbers.extend([region.allocation().id, region.allocation().bytes]);
        }
        numbers.push(self.places.free.len() as u64);
        for (&(step, peer, number), spans) in self.places.free.iter().chain(&self.places.ready) {
            numbers.extend([step as u64, peer as u64, number as u64, spans.len() as u64]);
            let fields = |span: &SpanPlace| [span.device as u64, span.word, span.at, span.bytes];
            numbers.extend(spans.iter().flat_map(fields));
        }
        numbers.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// The messages, with the offers of all ranks; `None` if these do not fit together.
    pub fn accept(self, offers: &[Vec<u8>]) -> Result<Option<StreamMessages>> {
        let MessageOffer { outline, regions, places } = self;
        let rank = outline.ranks.rank();
        let (mut others, mut processes): (HashMap<usize, OtherOffer>, _) = (HashMap::new(), Vec::new());
        for &(_, peer, _) in outline.sent.keys().chain(outline.received.keys()) {
            if others.contains_key(&peer) {
                continue;
            }
            let Some(offer) = offers.get(peer).and_then(|bytes| OtherOffer::of_bytes(bytes)) else {
                return Ok(None);
            };
            processes.push((peer, offer.process));
            others.insert(peer, offer);
        }
        let mut messages: HashMap<_, Vec<Channel>> = HashMap::new();
        let sent = places.free.iter().map(|message| (message, true));
        for ((key, mine), is_sent) in sent.chain(places.ready.iter().map(|message| (message, false))) {
            let (Some(ipc), &(step, peer, number)) = (&outline.ipc, key) else { return Ok(None) };
            let other = &others[&peer];
            let of_others = if is_sent { &other.places.ready } else { &other.places.free };
            let lengths = |spans: &[SpanPlace]| spans.iter().map(|span| span.bytes).collect::<Vec<u64>>();
            let theirs = of_others.get(&(step, rank, number));
            let Some(theirs) = theirs.filter(|theirs| lengths(theirs) == lengths(mine)) else {
                return Ok(None);
            };
            // The spans between two devices have the words of their first.
            let mut between: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
            for (k, (one, other)) in mine.iter().zip(theirs).enumerate() {
                between.entry((one.device, other.device)).or_default().push(k);
            }
            for ((device, theirs_on), spans) in between {
                let Some(&(handle, id, bytes)) = other.regions.get(theirs_on) else { return Ok(None) };
                let there = ipc.map(peer, &outline.devices[device], handle, id, bytes)?;
                let (here, first) = (&regions[device].0, spans[0]);
                let word = |memory: &Buffer, offset: u64, gives: bool| {
                    [WordOp { memory: Arc::clone(memory.allocation()), offset, gives }]
                };
                let take = word(here, mine[first].word, false);
                let give = word(&there, theirs[first].word, true);
                let (receiver, at) = if is_sent { (&there, theirs) } else { (here, mine) };
                let is_false = (Arc::clone(receiver.allocation()), at[first].word + FALSE);
                let view = |k: usize| {
                    let part = receiver.device().part_of(receiver, at[k].at, at[k].bytes)?;
                    Ok((k, part))
                };
                let spans = spans.into_iter().map(view).collect::<Result<Vec<_>>>()?;
                let channel = Channel { device, is_sent, take, give, spans, is_false };
                messages.entry((*key, is_sent)).or_default().push(channel);
            }
        }
        let MessageOutline { name, ranks, devices, ipc, nccl, written, transfers, .. } = outline;
        let stage = |(place, device, bytes): ((usize, usize), Device, u64)| Ok((place, device.alloc(bytes)?));
        let stages = transfers.into_iter().map(stage).collect::<Result<HashMap<_, _>>>()?;
        if let Some((peers, link)) = &nccl {
            processes.extend(link.processes(peers.iter().copied()));
        }
        let words = |device: usize| {
            let all = places.free.values().chain(places.ready.values()).flatten();
            all.filter(|span| span.device == device).map(|span| span.word).collect()
        };
        let watched = |(number, device): (usize, &Device)| {
            let region = regions.get(number).map(|(region, _)| region.clone());
            WatchedDevice::new(device, region, words(number))
        };
        let devices = devices.iter().enumerate().map(watched).collect::<Result<Vec<_>>>()?;
        let (guarded, state, change) = Default::default();
        let watched = Watched { name, ranks, devices, written, processes, nccl, guarded, state, change };
        let watched = Arc::new(watched);
        for WatchedDevice { device, .. } in &watched.devices {
            device.watch(&(Arc::clone(&watched) as Arc<dyn Watch>));
        }
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
        let (watch, process) = (Some(watch), process_id());
        Ok(Some(StreamMessages { messages, ipc, stages, watched, watch, process, _on_failure: on_failure }))
    }
}

/// The offer of another rank.
struct OtherOffer {
    process: u64,
    /// By device: the handle, the number and the length of its memory.
    regions: Vec<(IpcHandle, u64, u64)>,
    places: Places,
}

impl OtherOffer {
    fn of_bytes(bytes: &[u8]) -> Option<OtherOffer> {
        let mut numbers = bytes.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number));
        let process = numbers.next()?;
        let mut regions = Vec::new();
        for _ in 0..numbers.next()? {
            let mut handle = [0; 64];
            for bytes in handle.as_chunks_mut::<8>().0 {
                *bytes = numbers.next()?.to_le_bytes();
            }
            regions.push((IpcHandle(handle), numbers.next()?, numbers.next()?));
        }
        let (mut places, sent) = (Places::default(), numbers.next()?);
        for count in 0.. {
            let Some(step) = numbers.next() else { break };
            let key = (step as usize, numbers.next()? as usize, numbers.next()? as usize);
            let count_of_spans = numbers.next()?;
            let span = |_| {
                let [device, word, at, bytes] = [(); 4].map(|()| numbers.next());
                Some(SpanPlace { device: device? as usize, word: word?, at: at?, bytes: bytes? })
            };
            let spans: Option<Vec<SpanPlace>> = (0..count_of_spans).map(span).collect();
            let messages = if count < sent { &mut places.free } else { &mut places.ready };
            messages.insert(key, spans?);
        }
        Some(OtherOffer { process, regions, places })
    }
}

/// What goes from one device to another in one message: its words, and its spans in memory on the receiver's
/// device, with their numbers in the message.
pub(super) struct Channel {
    /// The number of this rank's device.
    pub device: usize,
    pub is_sent: bool,
    take: [WordOp; 1],
    give: [WordOp; 1],
    spans: Vec<(usize, Buffer)>,
    /// Where the word is that says that it is none.
    pub is_false: (Arc<Allocation>, u64),
}

/// The messages of a cycle that devices send and receive themselves.
pub(crate) struct StreamMessages {
    /// By message, and whether it is sent.
    messages: HashMap<(MessageKey, bool), Vec<Channel>>,
    /// Of messages in shared memory.
    ipc: Option<Arc<IpcMemory>>,
    /// By step and command: where copies from another device arrive first.
    stages: HashMap<(usize, usize), Buffer>,
    pub(super) watched: Arc<Watched>,
    watch: Option<JoinHandle<()>>,
    process: u32,
    /// The wire has it for as long as it is here.
    _on_failure: Arc<FailureCall>,
}

/// The commands of a step, and what its messages need around each.
pub(crate) struct ChainedStep<'m> {
    messages: &'m StreamMessages,
    pub commands: Schedule,
    pub(super) around: Vec<Around<'m>>,
}

#[derive(Default)]
pub(super) struct Around<'m> {
    pub takes: Vec<(Stream, &'m Channel)>,
    /// The copies of the message of the command, if it is copied.
    copies: Schedule,
    /// The copy of what arrived from another device of this rank.
    arrivals: Schedule,
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
            let Some(channels) = self.messages.get(&((step, peer, number), is_sent)) else { continue };
            let views = channels.iter().flat_map(|channel| &channel.spans);
            let spans = views.map(|(number, view)| (&message.memory[*number], view));
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
                for (span, view) in spans {
                    moved.insert(span.allocation.id, Arc::clone(view.allocation()));
                    for &(k, _) in &uses[&span.allocation.id] {
                        (first, last) = if is_sent { (first.min(k), last) } else { (first, last.max(k)) };
                    }
                }
            } else {
                let copies = spans.map(|(span, view)| {
                    let ends = ((&span.allocation, span.offset), (view.allocation(), 0));
                    copy_bytes(&span.device, span.bytes, if is_sent { ends } else { (ends.1, ends.0) })
                });
                around[at].copies = copies.map(|copy| Ok(copy?.on(*stream))).collect::<Result<Schedule>>()?;
            }
            around[first].takes.extend(channels.iter().map(|channel| (*stream, channel)));
            around[last].gives.extend(channels.iter().map(|channel| (*stream, channel)));
        }
        let mut commands = schedule.clone();
        for (at, Command { stream, op, .. }) in commands.iter_mut().enumerate() {
            if let Op::Transfer { to_device, to, to_offset, bytes, .. } = op
                && let Some(stage) = self.stages.get(&(step, at))
            {
                // A driver's copy is not guarded, so it goes where nobody else reads.
                let place =
                    (std::mem::replace(to, Arc::clone(stage.allocation())), std::mem::take(to_offset));
                let copy = copy_bytes(to_device, *bytes, ((to, 0), (&place.0, place.1)))?;
                around[at].arrivals.push(copy.on(*stream));
            }
        }
        for command in commands.iter_mut().filter(|command| !command.op.jobs().is_empty()) {
            for memory in command.op.memory_mut() {
                if let Some(view) = moved.get(&memory.id) {
                    *memory = Arc::clone(view);
                }
            }
        }
        Ok(ChainedStep { messages: self, commands, around })
    }

    /// The number of this rank's devices that take part.
    pub fn devices(&self) -> usize {
        self.watched.devices.len()
    }

    /// The number of one of them.
    pub fn number_of(&self, device: &Device) -> usize {
        let found = self.watched.devices.iter().position(|one| one.device == *device);
        found.unwrap_or_else(|| unreachable!("the devices of all commands are known"))
    }

    /// Whether messages go by words (CUDA IPC).
    pub fn has_words(&self) -> bool {
        self.ipc.is_some()
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
}

impl ChainedStep<'_> {
    /// Adds to a graph the waits before a command.
    pub fn wait<'a>(&'a self, graph: &mut StreamGraphBuilder<'a>, at: usize) {
        self.words(graph, &self.around[at].takes, |channel| &channel.take);
    }

    /// The copies of the message of a command, to be added before it.
    pub fn copies(&self, at: usize) -> &Schedule {
        &self.around[at].copies
    }

    /// The copies to be added behind it.
    pub fn arrivals(&self, at: usize) -> &Schedule {
        &self.around[at].arrivals
    }

    /// Adds what comes after it.
    pub fn end<'a>(&'a self, graph: &mut StreamGraphBuilder<'a>, at: usize) {
        self.words(graph, &self.around[at].gives, |channel| &channel.give);
    }

    fn words<'a>(
        &'a self,
        graph: &mut StreamGraphBuilder<'a>,
        channels: &'a [(Stream, &Channel)],
        ops: impl Fn(&'a Channel) -> &'a [WordOp],
    ) {
        // Those of one device are one batch.
        for (number, WatchedDevice { device, .. }) in self.messages.watched.devices.iter().enumerate() {
            let own = channels.iter().filter(|(_, channel)| channel.device == number);
            own.for_each(|(stream, channel)| graph.words(device, *stream, ops(channel)));
        }
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
        let regions = self.watched.devices.iter().filter_map(|device| device.region.as_ref());
        regions.for_each(|region| self.ipc.iter().for_each(|ipc| ipc.keep_region(region)));
    }
}
