//! Tracing: `PARTITA_TRACE=FILE` writes every command as an event for Perfetto (ui.perfetto.dev) or
//! Chrome's tracing page. One process per rank; one row per device, two for a device with streams; one row
//! per link between ranks. A message is drawn from the posting of its receive to its completion, with the
//! wait for it inside. Work of a device with streams is timed by the device. One more row shows, per
//! evaluation with an overlapped exchange, the share of the exchange that was hidden; the total share is
//! printed at the end.
//!
//! Under `mpirun` every rank writes its own file, `FILE.0`, `FILE.1` and so on; concatenated in this order
//! they are one trace.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::config::{config, say};
use crate::device::{Device, Stream, Timestamp};
use crate::error::Result;

/// The time that messages from other ranks were in flight, and the time that this process waited for them.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct MessageTimes {
    /// Seconds from posting a receive to its completion, over all messages.
    pub in_flight_s: f64,
    /// Seconds of these in which this process waited.
    pub waited_s: f64,
}

impl MessageTimes {
    /// The share of that time in which this process did not wait; `None` if no message came.
    pub fn hidden_share(&self) -> Option<f64> {
        (self.in_flight_s > 0.0).then(|| 1.0 - self.waited_s / self.in_flight_s)
    }
}

/// The time that the exchange streams of devices were busy, and the part of it in which the compute streams
/// of the same devices were busy, too.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct StreamOverlap {
    /// Seconds in which exchange streams were busy, over all devices.
    pub busy_s: f64,
    /// Seconds of these in which the device's other stream was busy too.
    pub hidden_s: f64,
}

impl StreamOverlap {
    /// The share that was hidden; `None` if no exchange was overlapped.
    pub fn hidden_share(&self) -> Option<f64> {
        (self.busy_s > 0.0).then(|| self.hidden_s / self.busy_s)
    }

    /// The overlap of a device's two streams, given as times from and to.
    fn of(exchange: &[(f64, f64)], compute: &[(f64, f64)]) -> StreamOverlap {
        let (exchange, compute) = (merge_spans(exchange), merge_spans(compute));
        let common = |a: &(f64, f64), b: &(f64, f64)| (a.1.min(b.1) - a.0.max(b.0)).max(0.0);
        StreamOverlap {
            busy_s: exchange.iter().map(|(from, to)| to - from).sum(),
            hidden_s: exchange.iter().flat_map(|a| compute.iter().map(move |b| common(a, b))).sum(),
        }
    }
}

/// The same times as spans that do not touch.
fn merge_spans(spans: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted = spans.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merge_spans: Vec<(f64, f64)> = Vec::new();
    for (from, to) in sorted {
        match merge_spans.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merge_spans.push((from, to)),
        }
    }
    merge_spans
}

/// The overlap of streams so far, as far as it was traced and written.
pub fn stream_overlap() -> StreamOverlap {
    state().stream_overlap
}

/// The messages that this process has received so far, traced or not.
pub fn message_times() -> MessageTimes {
    state().message_times
}

/// The written events, and those still under way.
#[derive(Default)]
struct TraceState {
    message_times: MessageTimes,
    stream_overlap: StreamOverlap,
    /// The number of evaluations that have ended.
    evaluations: usize,
    /// Per receiving and sending rank: when the messages that are to come were made ready for.
    ready: HashMap<(usize, usize), VecDeque<Instant>>,
    /// A timestamp of each device, and the same moment by our clock.
    clocks: Vec<(Device, Timestamp, f64)>,
    /// Work that a device may not have done yet.
    open: Vec<OpenSpan>,
}

struct OpenSpan {
    rank: usize,
    device: Device,
    stream: Stream,
    evaluation: usize,
    name: String,
    begin: Timestamp,
    end: Timestamp,
}

/// So much work is left to be written later at most.
const MOST_OPEN: usize = 4096;

fn state() -> std::sync::MutexGuard<'static, TraceState> {
    static STATE: OnceLock<Mutex<TraceState>> = OnceLock::new();
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static RANK: Cell<usize> = const { Cell::new(0) };
    static FLUSH_AT_EXIT: FlushAtExit = FlushAtExit::new();
}

/// The number of threads that trace.
static TRACING: AtomicUsize = AtomicUsize::new(0);

/// When the last thread that traced ends, what is left is written, and the shares are printed.
struct FlushAtExit;

impl FlushAtExit {
    fn new() -> FlushAtExit {
        TRACING.fetch_add(1, Ordering::Relaxed);
        FlushAtExit
    }
}

impl Drop for FlushAtExit {
    fn drop(&mut self) {
        if TRACING.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        if let Err(error) = flush() {
            say(format_args!("trace: what devices did at the end is missing: {error}"));
        }
        let percent = |share: f64| 100.0 * share;
        if let Some(share) = stream_overlap().hidden_share() {
            let (ms, share) = (1e3 * stream_overlap().busy_s, percent(share));
            say(format_args!("trace: exchanges took {ms:.3} ms of devices, {share:.1} % beside computation"));
        }
        if let Some(share) = message_times().hidden_share() {
            let (ms, share) = (1e3 * message_times().in_flight_s, percent(share));
            say(format_args!("trace: messages travelled for {ms:.3} ms, {share:.1} % not waited for"));
        }
    }
}

/// Microseconds since the process began to trace.
fn now_us() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e6
}

/// The file, if there is to be one; a file that cannot be written is said once, and nothing is traced.
fn file() -> Option<&'static Mutex<File>> {
    static FILE: OnceLock<Option<Mutex<File>>> = OnceLock::new();
    let open = || {
        let path = config().trace.as_ref()?;
        let rank = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].iter().find_map(|name| std::env::var(name).ok());
        let path = rank.as_ref().map_or(path.clone(), |rank| format!("{path}.{rank}"));
        // The others' files follow the first's.
        let begin = if rank.is_none_or(|rank| rank == "0") { "[\n" } else { "" };
        match File::create(&path).and_then(|mut file| file.write_all(begin.as_bytes()).map(|()| file)) {
            Ok(file) => Some(Mutex::new(file)),
            Err(error) => {
                say(format_args!("no trace: PARTITA_TRACE={path}: {error}"));
                None
            }
        }
    };
    FILE.get_or_init(open).as_ref()
}

/// One event: a bar on a row.
fn write(file: &Mutex<File>, rank: usize, row: &str, name: &str, begin_us: f64, duration_us: f64) {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let (row, name, duration_us) = (quoted(row), quoted(name), duration_us.max(0.0));
    let line = format!(
        "{{\"ph\":\"X\",\"pid\":{rank},\"tid\":\"{row}\",\"name\":\"{name}\",\
         \"ts\":{begin_us:.3},\"dur\":{duration_us:.3}}},\n"
    );
    // A full disk loses events, not results.
    let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
}

/// Whether commands are traced.
pub(crate) fn is_on() -> bool {
    file().is_some()
}

/// Sets the rank of this thread.
pub(crate) fn on_rank(rank: usize) {
    RANK.set(rank);
}

/// Runs work that a device is given.
pub(crate) fn on_device(
    device: &Device,
    stream: Stream,
    name: impl FnOnce() -> String,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let Some(file) = file() else { return work() };
    let (rank, begin_us) = (RANK.get(), now_us());
    if !device.has_streams() {
        work()?;
        FLUSH_AT_EXIT.with(|_| ());
        write(file, rank, device.name(), &name(), begin_us, now_us() - begin_us);
        return Ok(());
    }
    if !state().clocks.iter().any(|(other, ..)| other == device) {
        // Before anything of it is traced, because it stops the device.
        let zero = device.timestamp()?;
        device.wait()?;
        state().clocks.push((device.clone(), zero, now_us()));
    }
    let begin = device.timestamp_on(stream)?;
    work()?;
    let end = device.timestamp_on(stream)?;
    // After the driver's first call: a thread's end goes backwards, and drivers have their own things at it.
    FLUSH_AT_EXIT.with(|_| ());
    let mut state = state();
    let evaluation = state.evaluations;
    state.open.push(OpenSpan { rank, device: device.clone(), stream, evaluation, name: name(), begin, end });
    let full = state.open.len() >= MOST_OPEN;
    drop(state);
    if full { flush() } else { Ok(()) }
}

/// Ends the events of one evaluation, if some of them were on an exchange stream.
pub(crate) fn end_evaluation() {
    if file().is_some() {
        let mut state = state();
        let this = state.evaluations;
        if state.open.iter().rev().take_while(|o| o.evaluation == this).any(|o| o.stream == Stream::Exchange)
        {
            state.evaluations += 1;
        }
    }
}

/// Runs work on a link from one rank to another.
pub(crate) fn on_link(
    from: usize,
    to: usize,
    name: &'static str,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let Some(file) = file() else { return work() };
    let begin_us = now_us();
    work()?;
    write(file, RANK.get(), &format!("link {from} -> {to}"), name, begin_us, now_us() - begin_us);
    Ok(())
}

/// A rank has posted a receive.
pub(crate) fn receive_posted(from: usize, to: usize) {
    state().ready.entry((to, from)).or_default().push_back(Instant::now());
}

/// Runs the completion of the oldest [`receive_posted`] of two ranks.
pub(crate) fn on_receive(from: usize, to: usize, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let (begin, begin_us) = (Instant::now(), now_us());
    work()?;
    let waited = begin.elapsed().as_secs_f64();
    let mut state = state();
    let ready = state.ready.get_mut(&(to, from)).and_then(VecDeque::pop_front).unwrap_or(begin);
    let in_flight = ready.elapsed().as_secs_f64();
    state.message_times.in_flight_s += in_flight;
    state.message_times.waited_s += waited;
    drop(state);
    if let Some(file) = file() {
        let (rank, row) = (RANK.get(), format!("link {from} -> {to}"));
        let hidden = (in_flight - waited).max(0.0) * 1e6;
        write(file, rank, &row, "message", begin_us - hidden, hidden + waited * 1e6);
        write(file, rank, &row, "waited for", begin_us, waited * 1e6);
    }
    Ok(())
}

/// Writes the open events of devices; waits for them. Without effect if nothing is traced.
pub(crate) fn flush() -> Result<()> {
    let Some(file) = file() else { return Ok(()) };
    let mut state = state();
    let open = std::mem::take(&mut state.open);
    for evaluation in open.chunk_by(|a, b| a.evaluation == b.evaluation) {
        let times = evaluation.iter().map(|open| state.write(file, open)).collect::<Result<Vec<_>>>()?;
        let spans = |device: &Device, stream: Stream| -> Vec<(f64, f64)> {
            let on_stream =
                |open: &(&OpenSpan, &(f64, f64))| open.0.device == *device && open.0.stream == stream;
            evaluation.iter().zip(&times).filter(on_stream).map(|(_, span)| *span).collect()
        };
        let mut all = StreamOverlap::default();
        for (device, ..) in &state.clocks {
            let one = StreamOverlap::of(&spans(device, Stream::Exchange), &spans(device, Stream::Compute));
            all = StreamOverlap { busy_s: all.busy_s + one.busy_s, hidden_s: all.hidden_s + one.hidden_s };
        }
        if let (Some(share), Some(first)) = (all.hidden_share(), evaluation.first()) {
            let (us, percent) = (1e6 * all.busy_s, 100.0 * share);
            let name = format!("exchange {us:.1} us, {percent:.1} % beside computation");
            let begin = times.iter().map(|span| span.0).fold(f64::INFINITY, f64::min);
            let end = times.iter().map(|span| span.1).fold(begin, f64::max);
            write(file, first.rank, "evaluations", &name, 1e6 * begin, 1e6 * (end - begin));
            let StreamOverlap { busy_s, hidden_s } = state.stream_overlap;
            state.stream_overlap =
                StreamOverlap { busy_s: busy_s + all.busy_s, hidden_s: hidden_s + all.hidden_s };
        }
    }
    Ok(())
}

impl TraceState {
    /// Writes one piece of work; when it began and ended, in seconds.
    fn write(&self, file: &Mutex<File>, open: &OpenSpan) -> Result<(f64, f64)> {
        let OpenSpan { rank, device, stream, name, begin, end, .. } = open;
        let clock = self.clocks.iter().find(|(other, ..)| other == device);
        let Some((_, zero, zero_us)) = clock else { unreachable!("set before anything is open") };
        let begin_s = zero_us / 1e6 + begin.seconds_since(zero)?;
        let lasted_s = end.seconds_since(begin)?;
        let row = match stream {
            Stream::Compute => format!("{} compute", device.name()),
            Stream::Exchange => format!("{} exchange", device.name()),
        };
        write(file, *rank, &row, name, 1e6 * begin_s, 1e6 * lasted_s);
        Ok((begin_s, begin_s + lasted_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_time_is_counted_once() {
        let stream_overlap =
            StreamOverlap::of(&[(0.0, 4.0), (6.0, 8.0)], &[(1.0, 3.0), (2.0, 5.0), (7.0, 9.0)]);
        assert_eq!(stream_overlap, StreamOverlap { busy_s: 6.0, hidden_s: 4.0 });
        assert_eq!(
            (stream_overlap.hidden_share(), StreamOverlap::default().hidden_share()),
            (Some(4.0 / 6.0), None)
        );
    }
}
