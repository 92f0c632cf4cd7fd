//! Stream capture and graphs: what a captured stream is given becomes nodes with edges, and what must not
//! happen during a capture breaks it. The rules are those of the CUDA programming guide, section "CUDA
//! graphs"; where hardware is vague (pageable memory, events recorded outside), this refuses.

use super::abi::{Code, Outcome};
use super::state::{Driver, StreamOrder, place};
use super::work::{Capture, CaptureMode, Graph, Membership, Node, THREAD_MODE, Work, replayable};
use std::collections::BTreeSet;

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
        let (here, mode) = (std::thread::current().id(), THREAD_MODE.get());
        let forbids = |capture: &Capture| match (mode, capture.mode) {
            (CaptureMode::Relaxed, _) | (_, CaptureMode::Relaxed) => false,
            (CaptureMode::Global, CaptureMode::Global) => true,
            (_, CaptureMode::ThreadLocal) | (CaptureMode::ThreadLocal, CaptureMode::Global) => {
                capture.thread == here
            }
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
