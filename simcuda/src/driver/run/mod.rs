//! Running: operations run only while a call waits, in a seeded order among those whose clock is reached:
//! what the call waits for, and now and then something else. Each run operation is checked against the
//! shadow, and a fault stays with its device.

mod foreign;
mod turn;
mod words;

use super::abi::{Code, Outcome};
use super::order::{Clock, Mark, Race, Use};
use super::state::{Driver, StreamOrder};
use super::work::{Failed, Operation, Touched, Work};
use std::collections::BTreeSet;

pub use turn::Turn;
pub use words::run_without_calls;

impl Driver {
    /// Whether everything the clock covers is done.
    pub fn reached(&self, clock: &Clock) -> bool {
        clock.entries().all(|(stream, count)| self.streams[stream].done >= count)
    }

    /// Runs what the clock covers; afterwards the host comes after it.
    pub fn wait(&mut self, clock: &Clock) {
        self.host_waits += u64::from(!self.reached(clock));
        self.run_until(clock);
        self.host.join(clock);
    }

    /// Runs what the clock covers, and a seeded bit more.
    pub fn run_until(&mut self, clock: &Clock) {
        // Lazy seeds run only what is needed, eager ones mostly something else first.
        let stray = [0, 20, 60][(self.config.seed % 3) as usize];
        while !self.reached(clock) {
            let needed = self.needed(clock);
            self.see_words();
            let choices =
                if self.random.chance(stray) { self.runnable(&self.busy) } else { self.runnable(&needed) };
            match choices.len() {
                0 if self.waits_for_word(&needed) => self.let_others_write(),
                0 => unreachable!("streams wait only for what was queued before, so some head can run"),
                count => {
                    let stream = choices[self.random.pick(count)];
                    self.step(stream);
                }
            }
        }
    }

    /// Runs a few operations, or none, as time passes between two queries.
    pub fn drift(&mut self) {
        let most = self.random.pick(4);
        self.run_some(most);
    }

    /// Runs so many operations, or as many as can run.
    pub fn run_some(&mut self, most: usize) {
        for _ in 0..most {
            self.see_words();
            let choices = self.runnable(&self.busy);
            if choices.is_empty() {
                return;
            }
            let stream = choices[self.random.pick(choices.len())];
            self.step(stream);
        }
    }

    /// Everything queued on a device runs.
    pub fn wait_device(&mut self, device: usize) {
        let clock = self.end_of_device(device);
        self.wait(&clock);
    }

    /// The clock after everything queued on a device.
    pub fn end_of_device(&self, device: usize) -> Clock {
        let mut clock = Clock::default();
        for stream in 0..self.streams.len() {
            if self.streams[stream].device == device {
                clock.join(&self.end_of(stream));
            }
        }
        clock
    }

    pub fn runnable(&self, among: &BTreeSet<usize>) -> Vec<usize> {
        let ready = |stream: &usize| {
            let head = self.streams[*stream].queue.front();
            head.is_some_and(|op| {
                let before =
                    |(other, count): (usize, u64)| other == *stream || self.streams[other].done >= count;
                op.clock.entries().all(before) && self.may_pass(op)
            })
        };
        among.iter().copied().filter(ready).collect()
    }

    /// The streams that must run for the clock to be reached.
    fn needed(&self, clock: &Clock) -> BTreeSet<usize> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<usize> = self.unmet(clock).collect();
        while let Some(stream) = open.pop() {
            if needed.insert(stream)
                && let Some(op) = self.streams[stream].queue.front()
            {
                open.extend(self.unmet(&op.clock).filter(|other| !needed.contains(other)));
            }
        }
        needed
    }

    fn unmet(&self, clock: &Clock) -> impl Iterator<Item = usize> {
        clock
            .entries()
            .filter(|(stream, count)| self.streams[*stream].done < *count)
            .map(|(stream, _)| stream)
    }

    /// Runs the next operation of a stream.
    fn step(&mut self, stream: usize) {
        let Some(op) = self.streams[stream].queue.pop_front() else { return };
        self.streams[stream].done = op.mark.position;
        if self.streams[stream].queue.is_empty() {
            self.busy.remove(&stream);
        }
        self.took = match op.work {
            Work::Record { .. } | Work::Await { .. } | Work::Put { .. } | Work::Nothing => 0,
            _ => 1000,
        };
        let begin = self.earliest(&op);
        let outcome = self.exchanged(&op);
        self.streams[stream].ends.push(begin + self.took);
        if let Work::Record { event, generation } = op.work
            && let Some(event) = &mut self.events[event]
            && event.generation == generation
        {
            event.time = Some((generation, begin));
        }
        let checked = match outcome {
            Ok(touched) => self.check(&op, touched),
            Err(mut failed) => {
                failed.text.push_str(&self.suspects(&op, failed.address));
                Err((failed, vec![op.mark.device]))
            }
        };
        if let Err((failed, devices)) = checked {
            let text = format!("{} in {}: {}", op.mark.label, self.stream_name(stream), failed.text);
            self.fault(&devices, failed.code, &text);
        }
    }

    /// When an operation begins: at once after what it comes after, whatever else its device does. So the
    /// times say what the order allows at best, and are the same under every seed.
    fn earliest(&self, op: &Operation) -> u64 {
        let ended = |(stream, count): (usize, u64)| {
            let before = count as usize - usize::from(stream == op.mark.stream);
            before.checked_sub(1).map_or(0, |last| self.streams[stream].ends[last])
        };
        op.clock.entries().map(ended).max().unwrap_or(0)
    }

    /// Performs an operation between exchanges with other processes.
    fn exchanged(&mut self, op: &Operation) -> Result<Touched, Failed> {
        let taken = self.exchange.take(&mut self.memory);
        taken.map_err(|error| Failed {
            code: Code::OPERATING_SYSTEM,
            text: format!("shared memory: {error}"),
            address: None,
        })?;
        let touched = self.perform(op)?;
        match &op.work {
            Work::Release { address } => self.exchange.end(*address),
            Work::Await { .. } | Work::Put { .. } => {
                self.exchange.give(&self.memory, &touched, false)?;
                // Words order work and are in no order themselves.
                return Ok(Touched::default());
            }
            _ => self.exchange.give(&self.memory, &touched, !self.words.are_released)?,
        }
        Ok(touched)
    }

    fn perform(&mut self, op: &Operation) -> Result<Touched, Failed> {
        match &op.work {
            Work::Kernel(launch) => {
                let touched = self.memory.launch(launch)?;
                self.took += touched.bytes() / 100;
                self.refuse_foreign(op.mark.device, &touched)?;
                Ok(touched)
            }
            Work::Copy { target, source, bytes } => {
                self.took += bytes / 20;
                self.memory.copy(*target, source, *bytes)
            }
            Work::Fill { address, value, bytes } => {
                self.took += bytes / 100;
                self.memory.fill(*address, *value, *bytes)
            }
            Work::Release { address } => {
                let bytes = self.memory.whole(*address)?;
                self.memory.release(*address)?;
                Ok(Touched::write(bytes))
            }
            Work::Foreign(foreign) => self.end_foreign(op, foreign),
            Work::Await { address, value } => self.pass_word(*address, *value),
            Work::Put { address, value } => self.put_word(*address, *value),
            Work::Record { .. } | Work::Nothing => Ok(Touched::default()),
        }
    }

    /// Compares what an operation touched with everything not ordered with it.
    fn check(&mut self, op: &Operation, touched: Touched) -> Result<(), (Failed, Vec<usize>)> {
        let uses = touched.reads.into_iter().map(|bytes| (bytes, Use::Read));
        let uses: Vec<_> = uses.chain(touched.writes.into_iter().map(|bytes| (bytes, Use::Write))).collect();
        let mut race = None;
        for (bytes, usage) in uses {
            if let Some(found) = self.shadow.note(bytes, usage, &op.mark, &op.clock) {
                race.get_or_insert((found, usage));
            }
        }
        if let Work::Release { address } = &op.work
            && let Some(bytes) = self.memory.drop_released(*address, &op.mark)
        {
            self.shadow.forget(bytes);
        }
        match race {
            None => Ok(()),
            Some((race, usage)) => {
                let devices = vec![op.mark.device, race.earlier.0.device];
                let text = self.explain(&op.mark, usage, &race);
                Err((Failed { code: Code::LAUNCH_FAILED, text, address: None }, devices))
            }
        }
    }

    /// A missing wait may show as memory that is not written yet, or freed already: who could be meant.
    fn suspects(&self, op: &Operation, address: Option<u64>) -> String {
        let ended = address.and_then(|address| self.memory.ended_by(address));
        let ended = ended.filter(|mark| op.clock.get(mark.stream) < mark.position);
        let unordered = |other: &&Operation| other.clock.get(op.mark.stream) < op.mark.position;
        let queued = self.streams.iter().flat_map(|stream| &stream.queue).filter(unordered);
        let queued = queued.map(|other| &other.mark).filter(|mark| mark.stream != op.mark.stream);
        let names = ended.into_iter().chain(queued).take(3).map(|mark| {
            format!("{} (operation {} of {})", mark.label, mark.position, self.stream_name(mark.stream))
        });
        match names.collect::<Vec<_>>() {
            names if names.is_empty() => String::new(),
            names => format!(". Perhaps a race; not ordered with it: {}", names.join(", ")),
        }
    }

    fn explain(&self, mark: &Mark, usage: Use, race: &Race) -> String {
        let (earlier, before) = &race.earlier;
        format!(
            "race: it {} bytes {:#x}..{:#x} ({}), which {} (operation {} of {}) {}; no stream order, event \
             or host wait orders the two. Operation {} of its stream.",
            verb(usage),
            race.bytes.start,
            race.bytes.end,
            self.memory.describe(race.bytes.start),
            earlier.label,
            earlier.position,
            self.stream_name(earlier.stream),
            verb(*before),
            mark.position,
        )
    }

    /// A kernel uses memory of other devices only where access was enabled.
    fn refuse_foreign(&self, device: usize, touched: &Touched) -> Result<(), Failed> {
        let foreign = touched.reads.iter().chain(&touched.writes).find_map(|bytes| {
            let owner = self.memory.device_of(bytes.start)?;
            (owner != device && !self.devices[device].peers.contains(&owner)).then_some((owner, bytes))
        });
        match foreign {
            None => Ok(()),
            Some((owner, bytes)) => Err(Failed {
                code: Code::ILLEGAL_ADDRESS,
                text: format!(
                    "device {device} uses bytes {:#x}..{:#x} of device {owner} without cuCtxEnablePeerAccess",
                    bytes.start, bytes.end
                ),
                address: Some(bytes.start),
            }),
        }
    }

    /// The stream as reports name it.
    pub fn stream_name(&self, stream: usize) -> String {
        let state = &self.streams[stream];
        let kind = match state.order {
            StreamOrder::Legacy => "the legacy default stream".to_owned(),
            StreamOrder::Branch => format!("graph branch {stream}"),
            StreamOrder::Blocking | StreamOrder::NonBlocking => format!("stream {stream}"),
        };
        format!("{kind} of device {}", state.device)
    }

    /// Explains a fault, which stays with its devices; what they had queued never runs.
    pub fn fault(&mut self, devices: &[usize], code: Code, text: &str) {
        let name = Code::text(code.0).map_or("", |(name, _)| name.to_str().unwrap_or_default());
        self.report.fault(&format!("fault {name}: {text}"));
        for device in devices {
            self.devices[*device].fault.get_or_insert(code);
            self.abandon(*device);
        }
    }

    /// Abandons the queued work of a device: it never runs.
    pub fn abandon(&mut self, device: usize) {
        for stream in 0..self.streams.len() {
            let state = &mut self.streams[stream];
            if state.device == device {
                state.queue.clear();
                state.done = state.queued;
                let last = state.ends.last().copied().unwrap_or(0);
                state.ends.resize(state.queued as usize, last);
                self.busy.remove(&stream);
                if let Some(membership) = state.capture.take() {
                    self.captures[membership.capture] = None;
                }
            }
        }
    }

    /// Waits, and reports the device's fault if there is one now.
    pub fn wait_healthy(&mut self, clock: &Clock, device: usize) -> Outcome {
        self.wait(clock);
        self.healthy(device)
    }
}

fn verb(usage: Use) -> &'static str {
    match usage {
        Use::Read => "reads",
        Use::Write => "writes",
    }
}
