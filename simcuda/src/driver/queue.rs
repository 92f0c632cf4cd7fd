//! Queueing: an operation gets its place in a stream and the clock of what it comes after. Nothing runs here.
//! All rules of order live in this file: stream order, events, the legacy default stream, and what the host
//! has waited for.

use super::abi::{Code, EVENT_INTERPROCESS, Outcome};
use super::memory::Pinned;
use super::state::{Driver, Record, StreamOrder};
use super::work::{Clock, Mark, Node, Operation, Source, Target, Work};
use std::sync::Arc;

impl Driver {
    /// Queues work, or adds it to the capture that the stream is part of.
    pub fn submit(&mut self, stream: usize, label: String, work: Work) -> Outcome {
        self.healthy(self.streams[stream].device)?;
        if self.streams[stream].capture.is_some() {
            return self.capture_work(stream, label, work);
        }
        self.refuse_implicit(stream)?;
        self.order_with_default(stream);
        self.push(stream, label, work);
        Ok(())
    }

    /// The legacy stream cannot order with blocking streams that are being captured.
    pub fn refuse_implicit(&mut self, stream: usize) -> Outcome {
        let (device, order) = (self.streams[stream].device, self.streams[stream].order);
        if order != StreamOrder::Legacy {
            return Ok(());
        }
        let blocking = self
            .streams
            .iter()
            .filter(|other| other.device == device && other.order == StreamOrder::Blocking);
        let captures =
            blocking.filter_map(|other| other.capture.as_ref()).map(|membership| membership.capture);
        let broken: Vec<usize> = captures.collect();
        for capture in &broken {
            self.invalidate(*capture, "the legacy stream was used while a blocking stream is captured");
        }
        if broken.is_empty() { Ok(()) } else { Err(Code::STREAM_CAPTURE_IMPLICIT) }
    }

    /// Orders the next operation of a stream as the legacy default stream's rules want.
    fn order_with_default(&mut self, stream: usize) {
        let (device, order) = (self.streams[stream].device, self.streams[stream].order);
        let with = match order {
            StreamOrder::Legacy => StreamOrder::Blocking,
            StreamOrder::Blocking => StreamOrder::Legacy,
            StreamOrder::NonBlocking | StreamOrder::Branch => return,
        };
        for other in 0..self.streams.len() {
            if self.streams[other].device == device && self.streams[other].order == with {
                let clock = self.end_of(other);
                self.streams[stream].clock.join(&clock);
            }
        }
    }

    /// What comes after everything queued in a stream.
    pub fn end_of(&self, stream: usize) -> Clock {
        let stream_state = &self.streams[stream];
        let mut clock = stream_state.clock.clone();
        clock.set(stream, stream_state.queued);
        clock
    }

    /// Queues an operation behind what the stream's clock says.
    pub fn push(&mut self, stream: usize, label: String, work: Work) {
        let state = &mut self.streams[stream];
        state.queued += 1;
        state.clock.join(&self.host);
        state.clock.set(stream, state.queued);
        let mark = Mark { stream, position: state.queued, device: state.device, label };
        state.queue.push_back(Operation { mark: Arc::new(mark), clock: state.clock.clone(), work });
        self.busy.insert(stream);
    }

    /// Host memory is no longer pinned. Copies that still wait for it are a fault: hardware may or may not
    /// wait for them.
    pub fn unpin(&mut self, pinned: Pinned) {
        let range = pinned.address..pinned.address + pinned.bytes;
        let uses = |op: &&Operation| match &op.work {
            Work::Copy { source: Source::Pinned(address), .. } => range.contains(address),
            Work::Copy { target: Target::Pinned(address), .. } => range.contains(address),
            _ => false,
        };
        let used = self.streams.iter().flat_map(|stream| &stream.queue).find(uses);
        if let Some(op) = used {
            let (device, label) = (op.mark.device, op.mark.label.clone());
            let text = format!("{label} is queued, but its pinned memory {:#x} is given up", pinned.address);
            self.fault(&[device], Code::ILLEGAL_ADDRESS, &text);
        }
        self.memory.unpin(pinned.address);
        self.shadow.forget(range);
    }

    /// `cuEventRecord`.
    pub fn record(&mut self, event: usize, stream: usize) -> Outcome {
        if self.event_of(event).device != self.streams[stream].device {
            self.report.line("an event was recorded in a stream of another device");
            return Err(Code::INVALID_HANDLE);
        }
        if let Some(membership) = &self.streams[stream].capture {
            let (capture, nodes) = (membership.capture, membership.nodes.clone());
            self.valid_capture(capture)?;
            self.event_mut(event).record = Record::Captured { capture, nodes };
            return Ok(());
        }
        let generation = self.event_of(event).generation + 1;
        self.event_mut(event).generation = generation;
        self.submit(stream, format!("record of event {event}"), Work::Record { event, generation })?;
        let clock = self.end_of(stream);
        if self.event_of(event).flags & EVENT_INTERPROCESS != 0 {
            // Other processes count on it, and nobody else runs this process's streams for them.
            self.run_until(&clock);
        }
        self.event_mut(event).record = Record::Work { clock, generation };
        self.healthy(self.streams[stream].device)
    }

    /// `cuStreamWaitEvent`.
    pub fn wait_event(&mut self, stream: usize, event: usize) -> Outcome {
        match (self.event_of(event).record.clone(), &self.streams[stream].capture) {
            (Record::Captured { capture, nodes }, _) => self.join_capture(stream, capture, nodes),
            (_, Some(membership)) => {
                let capture = membership.capture;
                self.invalidate(
                    capture,
                    "a captured stream waits for an event that was not recorded in the capture",
                );
                Err(Code::STREAM_CAPTURE_ISOLATION)
            }
            (Record::Never, None) => Ok(()),
            (Record::Work { clock, .. }, None) => {
                self.streams[stream].clock.join(&clock);
                Ok(())
            }
        }
    }

    /// Queues the nodes of a graph: its branches begin after the stream and the stream goes on after them.
    pub fn launch_graph(&mut self, exec: usize, stream: usize) -> Outcome {
        self.submit(stream, "begin of a graph".to_owned(), Work::Nothing)?;
        let mut begin = self.end_of(stream);
        let exec_state = self.execs[exec].as_ref().expect("the caller looked it up");
        begin.join(&exec_state.last);
        let nodes = exec_state.graph.nodes.clone();
        let branches = exec_state.branches.clone();
        let mut ends: Vec<Clock> = Vec::with_capacity(nodes.len());
        for Node { stream: captured, label, work, after, .. } in nodes {
            let branch = branches[&captured];
            self.healthy(self.streams[branch].device)?;
            let clock = &mut self.streams[branch].clock;
            clock.join(&begin);
            after.iter().for_each(|node| clock.join(&ends[*node]));
            self.push(branch, format!("{label} (in a graph)"), work);
            ends.push(self.end_of(branch));
        }
        let mut end = begin;
        ends.iter().for_each(|clock| end.join(clock));
        self.streams[stream].clock.join(&end);
        self.push(stream, "end of a graph".to_owned(), Work::Nothing);
        self.execs[exec].as_mut().expect("it was there above").last = end;
        Ok(())
    }
}
