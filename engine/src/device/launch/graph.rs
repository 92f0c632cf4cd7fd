//! Work of several devices and their streams, prepared to be queued by one call.

use crate::config::{config, say};
use crate::device::driver::{DriverError, GroupedSpan, Job, Opaque, Stream, StreamWork, WordOp};
use crate::device::handle::{CopyRegion, Device};
use crate::device::memory::Allocation;
use crate::device::peers::DevicePeers;
use crate::error::Result;

/// Work of several streams as one. What other streams than `Compute` do in it begins behind a wait for that
/// one and ends before it waits for them, as the memory of all devices demands. So only the streams
/// `Compute` are ordered with what is queued before and after.
pub(crate) struct StreamGraph {
    devices: Vec<Device>,
    graph: Opaque,
}

/// Work that becomes a [`StreamGraph`], in the order in which it would be queued. Nothing runs.
#[derive(Default)]
pub(crate) struct StreamGraphBuilder<'a> {
    devices: Vec<Device>,
    work: Vec<StreamWork<'a>>,
    /// By device and stream: the word that guards its launches from now on.
    guards: Vec<((Device, Stream), GuardWord<'a>)>,
}

/// A 64-bit word of a device's memory, and its number: a stream that waits for another one of the device
/// takes over its word if that has the greater number.
#[derive(Clone, Copy)]
pub(crate) struct GuardWord<'a> {
    pub number: usize,
    pub memory: &'a Allocation,
    pub offset: u64,
}

impl<'a> StreamGraphBuilder<'a> {
    /// The word that guards launches of a stream, if one does.
    pub(crate) fn guard_of(&self, device: &Device, stream: Stream) -> Option<GuardWord<'a>> {
        let is_it = |of: &(Device, Stream)| of.0 == *device && of.1 == stream;
        self.guards.iter().find(|(of, _)| is_it(of)).map(|(_, guard)| *guard)
    }

    /// Launches of a stream from now on do nothing if the word, which work before them writes, is not 0.
    pub(crate) fn guard(&mut self, device: &Device, stream: Stream, word: GuardWord<'a>) {
        self.guards.retain(|(of, _)| of.0 != *device || of.1 != stream);
        self.guards.push(((device.clone(), stream), word));
    }

    /// Jobs of one program, guarded by nothing.
    pub(crate) fn launch_always(
        &mut self,
        device: &'a Device,
        stream: Stream,
        jobs: &'a [Job],
    ) -> Result<()> {
        jobs.iter().try_for_each(|job| device.check(job))?;
        self.uses(device);
        self.work.push(StreamWork::Jobs { on: device.driver(), stream, jobs, guard: None });
        Ok(())
    }

    fn uses(&mut self, device: &Device) {
        if !self.devices.contains(device) {
            self.devices.push(device.clone());
        }
    }

    /// Jobs of one program, as [`Device::launch_boxes`] takes them.
    pub(crate) fn launch(&mut self, device: &'a Device, stream: Stream, jobs: &'a [Job]) -> Result<()> {
        jobs.iter().try_for_each(|job| device.check(job))?;
        self.uses(device);
        let guard = self.guard_of(device, stream).map(|word| (word.memory, word.offset));
        self.work.push(StreamWork::Jobs { on: device.driver(), stream, jobs, guard });
        Ok(())
    }

    /// A copy between devices, as [`Device::copy_on`] queues it.
    pub(crate) fn copy(
        &mut self,
        from: &'a Device,
        stream: Stream,
        to: &'a Device,
        what: CopyRegion<'a>,
    ) -> Result<()> {
        from.check_copy(to, what)?;
        [from, to].into_iter().for_each(|device| self.uses(device));
        let source = (from.driver(), what.from, what.from_offset);
        let target = (to.driver(), what.to, what.to_offset);
        self.work.push(StreamWork::Copy { source, target, stream, bytes: what.bytes });
        Ok(())
    }

    /// Operations on words of a device's memory, in order.
    pub(crate) fn words(&mut self, device: &'a Device, stream: Stream, ops: &'a [WordOp]) {
        self.uses(device);
        self.work.push(StreamWork::Words { on: device.driver(), stream, ops });
    }

    /// Messages to and from devices of other ranks, as [`DevicePeers::exchange`] queues them.
    pub(crate) fn group(&mut self, peers: &'a DevicePeers, stream: Stream, spans: &'a [GroupedSpan]) {
        self.uses(peers.device());
        let (on, group) = (peers.device().driver(), peers.group());
        self.work.push(StreamWork::Group { on, stream, group, spans });
    }

    /// A wait, as [`Device::after`].
    pub(crate) fn wait(&mut self, first: (&'a Device, Stream), then: (&'a Device, Stream)) {
        [first.0, then.0].into_iter().for_each(|device| self.uses(device));
        let known = self.guard_of(then.0, then.1).map(|word| word.number);
        let word = self.guard_of(first.0, first.1).filter(|_| first.0 == then.0);
        if let Some(word) = word.filter(|word| known < Some(word.number)) {
            self.guard(then.0, then.1, word);
        }
        let end = |(device, stream): (&'a Device, Stream)| (device.driver(), stream);
        self.work.push(StreamWork::Wait { first: end(first), then: end(then) });
    }

    /// `None` if the devices cannot take it as one, or launches are compared one by one.
    pub(crate) fn record(self) -> Result<Option<StreamGraph>> {
        let Some(first) = self.devices.first().filter(|_| !config().check) else { return Ok(None) };
        self.devices.iter().try_for_each(Device::usable)?;
        let graph = first.with_room(|| match first.driver().record_streams(&self.work) {
            Err(DriverError::Failed(reason)) => {
                if config().debug >= 1 {
                    say(format_args!("{}: steps are queued one by one: {reason}", first.name()));
                }
                Ok(None)
            }
            outcome => outcome,
        })?;
        Ok(graph.map(|graph| StreamGraph { devices: self.devices, graph }))
    }
}

impl StreamGraph {
    /// Queues it behind all work queued so far; later work comes after it.
    pub(crate) fn launch(&self) -> Result<()> {
        let Some((first, others)) = self.devices.split_first() else { return Ok(()) };
        let compute = Stream::Compute;
        first.usable()?;
        others.iter().try_for_each(|other| first.after(compute, other, compute))?;
        first.driver().replay(compute, &self.graph).map_err(|error| first.failed(error))?;
        others.iter().try_for_each(|other| other.after(compute, first, compute))
    }
}
