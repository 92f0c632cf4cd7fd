//! [`Latch`]: where the launches of chained steps are guarded from on, device by device. A latch follows each
//! wait for messages, and each wait for another device of the rank whose memory is copied: what a halted
//! device left there is nothing, so its word is copied first, and taken like that of a message.

use std::collections::HashMap;
use std::sync::Arc;

use partita_kernels::{Launch, View};

use super::command::{Command, Op};
use super::copies::latch;
use super::stream_messages::{ChainedStep, Channel, StreamMessages};
use super::watch::{GUARDS, HALT, WatchedDevice};
use crate::device::{Allocation, CopyRegion, Device, GuardWord, Job, Stream, StreamGraphBuilder};
use crate::error::Result;

/// Of the [`GUARDS`] words of a device the first is the count of true waits; then come a count that the first
/// latch of a graph may add to for nothing, what latches remember, and the word of another device.
const NEVER_COUNTED: usize = 1;
const REMEMBERED: usize = 2;
const COPIED: usize = 3;
/// The first of the words that guard launches of a graph.
const FIRST_GUARD: usize = 4;
/// The most messages between which a stream waits once.
const MOST_LATCHED: usize = 32;

/// A stream of a device, by its number.
type End = (usize, Stream);

/// A kernel of one thread that sets a word which guards the launches behind it: to 0 while no rank has
/// failed.
pub(crate) struct Latch {
    /// The step and the command before which it is; the first latch of a device is before all steps.
    before: Option<(usize, usize)>,
    on: End,
    /// Counted by device.
    number: usize,
    /// The other device of this rank, and the number of its word.
    copies: Option<(End, usize)>,
    job: [Job; 1],
}

/// The latches of a graph under construction.
struct Latches<'m> {
    messages: &'m StreamMessages,
    all: Vec<Latch>,
    /// By device: the stream of its latches, and how many there are.
    devices: Vec<(Option<Stream>, usize)>,
    /// By stream: the number of the word that guards it.
    guards: HashMap<End, usize>,
    /// By pair of devices: the number of the first one's word that the other has taken in this step, so that
    /// each step has as many latches alone as among others.
    taken: HashMap<(usize, usize), usize>,
}

impl StreamMessages {
    /// The latches of steps, in order. `None` if there are too many, or a device waits on several streams, so
    /// that none is set after all others; for messages by NCCL there are none.
    pub fn latches(&self, steps: &[ChainedStep]) -> Result<Option<Vec<Latch>>> {
        if !self.has_words() || self.watched.nccl.is_some() {
            return Ok(None);
        }
        let count = self.watched.devices.len();
        let (all, guards, taken) = Default::default();
        let mut latches = Latches { messages: self, all, devices: vec![(None, 0); count], guards, taken };
        for device in 0..count {
            let job = latches.job(device, 0, &[], None)?;
            let (on, number, copies) = ((device, Stream::Compute), 0, None);
            latches.all.push(Latch { before: None, on, number, copies, job });
            latches.guards.extend(Stream::ALL.map(|stream| ((device, stream), 0)));
        }
        for (step, chained) in steps.iter().enumerate() {
            latches.taken.clear();
            for (at, command) in chained.commands.iter().enumerate() {
                let takes = &chained.around[at].takes;
                for device in 0..count {
                    let own: Vec<_> = takes.iter().filter(|(_, one)| one.device == device).collect();
                    let Some((stream, _)) = own.first() else { continue };
                    let channels: Vec<&Channel> = own.iter().map(|(_, channel)| *channel).collect();
                    let is_one = own.iter().all(|(other, _)| other == stream);
                    if !is_one || !latches.add((step, at), (device, *stream), &channels, None)? {
                        return Ok(None);
                    }
                }
                let Some((first, then)) = self.ends(command) else { continue };
                let number = latches.guards[&first];
                let known = latches.taken.get(&(first.0, then.0));
                if first.0 == then.0 {
                    let guard = latches.guards[&then].max(number);
                    latches.guards.insert(then, guard);
                } else if then_reads(command) && known.is_none_or(|known| *known < number) {
                    latches.taken.insert((first.0, then.0), number);
                    if !latches.add((step, at), then, &[], Some((first, number)))? {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(Some(latches.all))
    }

    /// The streams between which a command orders work.
    fn ends(&self, command: &Command) -> Option<(End, End)> {
        let number = |device: &Device| self.watched.devices.iter().position(|one| one.device == *device);
        match &command.op {
            Op::StreamWait { first, then } => {
                Some(((number(&first.0)?, first.1), (number(&then.0)?, then.1)))
            }
            Op::Transfer { from_device, to_device, .. } if command.stream == Stream::Compute => {
                Some(((number(from_device)?, Stream::Compute), (number(to_device)?, Stream::Compute)))
            }
            _ => None,
        }
    }

    /// The device of a number, and its memory with words.
    fn device(&self, number: usize) -> (&Device, &Arc<Allocation>) {
        let WatchedDevice { device, guards, .. } = &self.watched.devices[number];
        (device, guards.allocation())
    }

    /// Adds a latch to a graph, if this is its place.
    pub fn latch<'a>(
        &'a self,
        graph: &mut StreamGraphBuilder<'a>,
        one: &'a Latch,
        before: Option<(usize, usize)>,
    ) -> Result<bool> {
        if one.before != before {
            return Ok(false);
        }
        let Latch { on: (number, stream), copies, job, .. } = one;
        let (device, guards) = self.device(*number);
        if let Some(((other, other_stream), word)) = copies {
            let (other, from) = self.device(*other);
            graph.wait((other, *other_stream), (device, *stream));
            let (from_offset, to_offset) = (offset(word + FIRST_GUARD), offset(COPIED));
            graph.copy(
                other,
                *stream,
                device,
                CopyRegion { from, from_offset, to: guards, to_offset, bytes: 8 },
            )?;
        }
        graph.launch_always(device, *stream, job)?;
        let word = offset(one.number + FIRST_GUARD);
        graph.guard(device, *stream, GuardWord { number: one.number, memory: guards, offset: word });
        if before.is_none() {
            graph.wait((device, Stream::Compute), (device, Stream::Exchange));
        }
        Ok(true)
    }
}

impl Latch {
    /// The number of the device.
    pub fn device(&self) -> usize {
        self.on.0
    }
}

fn offset(word: usize) -> u64 {
    8 * word as u64
}

/// Whether what comes behind the wait of one device for another may read what that one wrote: copies are of
/// the stream of the device that takes them. Otherwise it only writes what has been read.
fn then_reads(command: &Command) -> bool {
    match &command.op {
        Op::StreamWait { then, .. } => then.1 == Stream::Exchange,
        _ => true,
    }
}

impl Latches<'_> {
    /// Whether the latch fits.
    fn add(
        &mut self,
        before: (usize, usize),
        on: End,
        channels: &[&Channel],
        copies: Option<(End, usize)>,
    ) -> Result<bool> {
        let (stream, count) = &mut self.devices[on.0];
        *count += 1;
        let number = *count;
        if *stream.get_or_insert(on.1) != on.1
            || channels.len() > MOST_LATCHED
            || number + FIRST_GUARD >= GUARDS
        {
            return Ok(false);
        }
        self.guards.insert(on, number);
        let job = self.job(on.0, number, channels, copies)?;
        self.all.push(Latch { before: Some(before), on, number, copies, job });
        Ok(true)
    }

    fn job(
        &self,
        device: usize,
        number: usize,
        channels: &[&Channel],
        copies: Option<(End, usize)>,
    ) -> Result<[Job; 1]> {
        let WatchedDevice { device, guards, region, .. } = &self.messages.watched.devices[device];
        let (guards, Some(region)) = (guards.allocation(), region) else { unreachable!("it has words") };
        let is_sent = channels.first().is_some_and(|channel| channel.is_sent);
        let copied = copies.iter().map(|_| (guards, offset(COPIED)));
        let came = channels.iter().map(|Channel { is_false: (memory, offset), .. }| (memory, *offset));
        let came: Vec<_> = came.chain(copied).collect();
        let program = latch(device, is_sent, came.len())?;
        let count = if number == 0 { NEVER_COUNTED } else { 0 };
        let own = [number + FIRST_GUARD, count, REMEMBERED].map(|word| (guards, offset(word)));
        let words = std::iter::once((region.allocation(), HALT)).chain(own).chain(came);
        let view = |offset: u64| View { offset: (offset / 8) as i64, strides: vec![1] };
        let (memory, views) =
            words.map(|(memory, offset)| (Arc::clone(memory), view(offset))).unzip::<_, _, Vec<_>, _>();
        let launch = Launch { origin: vec![0], extents: vec![1], views, arguments: Vec::new() };
        Ok([Job { program, launch: Arc::new(launch), memory }])
    }
}
