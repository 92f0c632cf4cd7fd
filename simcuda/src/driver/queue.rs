//! Queueing: an operation gets its place in a stream and the clock of what it comes after, or becomes a node
//! of the graph that is captured. Nothing runs here. All rules of order live in this file: stream order,
//! events, the legacy default stream, what the host has waited for, and captures. Their rules are those of
//! the CUDA programming guide, section "CUDA graphs"; where hardware is vague (pageable memory, events
//! recorded outside), this refuses.

use super::abi::{Code, EVENT_INTERPROCESS, Outcome};
use super::memory::Pinned;
use super::order::{Clock, Mark};
use super::state::{Driver, Record, StreamOrder, place};
use super::work::{
    Capture, CaptureMode, Graph, Membership, Node, Operation, Source, Target, Work, replayable,
};
use std::cell::Cell;
use std::collections::BTreeSet;
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

    /// The clock after everything queued in a stream.
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

thread_local! {
    /// What captures may forbid a thread.
    static THREAD_MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// `cuThreadExchangeStreamCaptureMode`: the mode before.
pub fn exchange_thread_mode(mode: CaptureMode) -> CaptureMode {
    THREAD_MODE.replace(mode)
}

impl Driver {
    /// A capture in progress.
    pub fn capture_of(&self, capture: usize) -> Option<&Capture> {
        self.captures[capture].as_ref()
    }

    /// Fails if a capture is broken.
    pub fn valid_capture(&self, capture: usize) -> Outcome {
        match self.capture_of(capture) {
            Some(capture) if !capture.broken => Ok(()),
            _ => Err(Code::STREAM_CAPTURE_INVALIDATED),
        }
    }

    /// Something forbidden happened: the capture cannot succeed any more.
    pub fn invalidate(&mut self, capture: usize, why: &str) {
        if let Some(state) = &mut self.captures[capture]
            && !state.broken
        {
            state.broken = true;
            let stream = self.stream_name(self.captures[capture].as_ref().map_or(0, |state| state.origin));
            self.report.line(&format!("the capture of {stream} is broken: {why}"));
        }
    }

    /// `cuStreamBeginCapture`.
    pub fn begin_capture(&mut self, stream: usize, mode: CaptureMode) -> Outcome {
        let state = &self.streams[stream];
        if state.order == StreamOrder::Legacy {
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED);
        }
        if state.capture.is_some() {
            return Err(Code::ILLEGAL_STATE);
        }
        let thread = std::thread::current().id();
        let capture = Capture { origin: stream, mode, thread, graph: Graph::default(), broken: false };
        let capture = place(&mut self.captures, capture);
        self.streams[stream].capture = Some(Membership { capture, nodes: Vec::new() });
        Ok(())
    }

    /// Adds a node behind what its stream was given before.
    pub fn capture_work(&mut self, stream: usize, label: String, work: Work) -> Outcome {
        let Some(membership) = &self.streams[stream].capture else { return Err(Code::ILLEGAL_STATE) };
        let (number, after) = (membership.capture, membership.nodes.clone());
        self.valid_capture(number)?;
        if !replayable(&work) {
            let why = format!("{label}: pageable memory and allocations cannot be captured");
            self.invalidate(number, &why);
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED);
        }
        let Some(capture) = &mut self.captures[number] else { return Err(Code::ILLEGAL_STATE) };
        capture.graph.nodes.push(Node { stream, label, work, after });
        let nodes = vec![capture.graph.nodes.len() - 1];
        self.streams[stream].capture = Some(Membership { capture: number, nodes });
        Ok(())
    }

    /// A stream waits for an event recorded in a capture, and so becomes part of it.
    pub fn join_capture(&mut self, stream: usize, capture: usize, nodes: Vec<usize>) -> Outcome {
        if self.capture_of(capture).is_none() {
            self.report.line("a stream waits for an event whose last record was in a capture that has ended");
            return Err(Code::CAPTURED_EVENT);
        }
        self.valid_capture(capture)?;
        if self.streams[stream].order == StreamOrder::Legacy {
            self.invalidate(capture, "the legacy stream waits for a captured event");
            return Err(Code::STREAM_CAPTURE_IMPLICIT);
        }
        match &mut self.streams[stream].capture {
            Some(membership) if membership.capture != capture => {
                let other = membership.capture;
                self.invalidate(capture, "two captures would be merged");
                self.invalidate(other, "two captures would be merged");
                Err(Code::STREAM_CAPTURE_MERGE)
            }
            Some(membership) => {
                membership.nodes.extend(nodes);
                membership.nodes.sort_unstable();
                membership.nodes.dedup();
                Ok(())
            }
            None => {
                self.streams[stream].capture = Some(Membership { capture, nodes });
                Ok(())
            }
        }
    }

    /// `cuStreamEndCapture`: the graph, or why there is none. Either way the streams are captured no more.
    pub fn end_capture(&mut self, stream: usize) -> Result<Graph, Code> {
        let Some(membership) = &self.streams[stream].capture else { return Err(Code::ILLEGAL_STATE) };
        let (number, last) = (membership.capture, membership.nodes.clone());
        let Some(capture) = &self.captures[number] else { return Err(Code::ILLEGAL_STATE) };
        if capture.origin != stream {
            self.invalidate(number, "it was ended in another stream than it began in");
            return Err(Code::STREAM_CAPTURE_UNMATCHED);
        }
        if capture.mode != CaptureMode::Relaxed && capture.thread != std::thread::current().id() {
            return Err(Code::STREAM_CAPTURE_WRONG_THREAD);
        }
        let joined = ancestors(&capture.graph, &last);
        let outcome = match (capture.broken, joined.len() == capture.graph.nodes.len()) {
            (true, _) => Err(Code::STREAM_CAPTURE_INVALIDATED),
            (false, false) => Err(Code::STREAM_CAPTURE_UNJOINED),
            (false, true) => Ok(capture.graph.clone()),
        };
        self.captures[number] = None;
        for state in &mut self.streams {
            if state.capture.as_ref().is_some_and(|membership| membership.capture == number) {
                state.capture = None;
            }
        }
        outcome
    }

    /// Refuses calls that a capture in progress forbids, such as allocation, as the modes of the captures and
    /// of this thread say.
    pub fn refuse_unsafe_in_capture(&mut self, symbol: &str) -> Outcome {
        let here = std::thread::current().id();
        let own = THREAD_MODE.get();
        let forbids = |capture: &Capture| match capture.mode {
            _ if own == CaptureMode::Relaxed => false,
            CaptureMode::Relaxed => false,
            CaptureMode::Global if own == CaptureMode::Global => true,
            CaptureMode::Global => capture.thread == here,
            CaptureMode::ThreadLocal => capture.thread == here,
        };
        let forbidding = |number: &usize| self.captures[*number].as_ref().is_some_and(&forbids);
        let broken: Vec<usize> = (0..self.captures.len()).filter(forbidding).collect();
        for capture in &broken {
            self.invalidate(*capture, &format!("{symbol} is not allowed during a capture of this mode"));
        }
        if broken.is_empty() { Ok(()) } else { Err(Code::STREAM_CAPTURE_UNSUPPORTED) }
    }

    /// Refuses to wait for, or ask after, a stream that is being captured.
    pub fn refuse_captured_stream(&mut self, stream: usize, symbol: &str) -> Outcome {
        let Some(membership) = &self.streams[stream].capture else { return Ok(()) };
        let capture = membership.capture;
        self.valid_capture(capture)?;
        self.invalidate(capture, &format!("{symbol} was called on a stream of it"));
        Err(Code::STREAM_CAPTURE_UNSUPPORTED)
    }

    /// Refuses to wait for a device some stream of which is being captured.
    pub fn refuse_captured_device(&mut self, device: usize, symbol: &str) -> Outcome {
        let captured: Vec<usize> = (0..self.streams.len())
            .filter(|stream| {
                self.streams[*stream].device == device && self.streams[*stream].capture.is_some()
            })
            .collect();
        captured.into_iter().try_for_each(|stream| self.refuse_captured_stream(stream, symbol))
    }
}

/// The nodes that come before `last`, and `last`.
fn ancestors(graph: &Graph, last: &[usize]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = last.to_vec();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(&graph.nodes[node].after);
        }
    }
    found
}
