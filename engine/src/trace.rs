//! What ran when: `PARTITA_TRACE=FILE` writes every command as an event for Perfetto (ui.perfetto.dev) or
//! Chrome's tracing page: one process per rank, one row per device, or two where a device has lanes, one
//! per link between ranks. A message is drawn from when its receiver made ready for it to when it was
//! taken, and the wait for it inside. What a device with lanes does is timed by the device. On a row of its
//! own stands, per evaluation with an exchange beside it, how much of the exchange was hidden; the share of
//! all is printed at the end.
//!
//! Under `mpirun` every rank writes a file of its own, `FILE.0`, `FILE.1` and so on; put together with `cat`,
//! in this order, they are one trace.
//!
//! Knows clocks and rows; what runs is the caller's.

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

/// How long messages from other ranks were on their way, and how long this process waited for them meanwhile.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Travel {
    /// Seconds from being ready for a message to having it, over all messages.
    pub travelled_s: f64,
    /// Seconds of these in which nothing else was done.
    pub waited_s: f64,
}

impl Travel {
    /// The share of the messages' time in which something else was done; `None` if no message came.
    pub fn hidden_share(&self) -> Option<f64> {
        (self.travelled_s > 0.0).then(|| 1.0 - self.waited_s / self.travelled_s)
    }
}

/// How long the exchange lanes of devices were busy, copies and rims, and for how long of that the same
/// devices computed something else meanwhile.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Beside {
    /// Seconds in which exchange lanes were busy, over all devices.
    pub busy_s: f64,
    /// Seconds of these in which the device's other lane was busy too.
    pub hidden_s: f64,
}

impl Beside {
    /// The share that was hidden; `None` if nothing was beside the computation.
    pub fn hidden_share(&self) -> Option<f64> {
        (self.busy_s > 0.0).then(|| self.hidden_s / self.busy_s)
    }

    /// What two lanes of a device did, as times from and to.
    fn of(exchange: &[(f64, f64)], compute: &[(f64, f64)]) -> Beside {
        let (exchange, compute) = (united(exchange), united(compute));
        let common = |a: &(f64, f64), b: &(f64, f64)| (a.1.min(b.1) - a.0.max(b.0)).max(0.0);
        Beside {
            busy_s: exchange.iter().map(|(from, to)| to - from).sum(),
            hidden_s: exchange.iter().flat_map(|a| compute.iter().map(move |b| common(a, b))).sum(),
        }
    }
}

/// The same times as spans that do not touch.
fn united(spans: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted = spans.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut united: Vec<(f64, f64)> = Vec::new();
    for (from, to) in sorted {
        match united.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => united.push((from, to)),
        }
    }
    united
}

/// What lanes have done beside each other so far, as far as it was traced and written.
pub fn beside() -> Beside {
    state().beside
}

/// The messages that this process has received so far, traced or not.
pub fn travel() -> Travel {
    state().travel
}

/// What has been written, and what is still under way.
#[derive(Default)]
struct State {
    travel: Travel,
    beside: Beside,
    /// How many evaluations with an exchange beside them were queued.
    evaluations: usize,
    /// Per receiving and sending rank: when the messages that are to come were made ready for.
    ready: HashMap<(usize, usize), VecDeque<Instant>>,
    /// Where a device's own clock stands on ours.
    clocks: Vec<(Device, Timestamp, f64)>,
    /// Work that a device may not have done yet.
    open: Vec<Open>,
}

struct Open {
    rank: usize,
    device: Device,
    lane: Stream,
    evaluation: usize,
    name: String,
    begin: Timestamp,
    end: Timestamp,
}

/// So much work is left to be written later at most.
const MOST_OPEN: usize = 4096;

fn state() -> std::sync::MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static RANK: Cell<usize> = const { Cell::new(0) };
    static LAST: Last = Last::new();
}

/// How many threads trace.
static TRACING: AtomicUsize = AtomicUsize::new(0);

/// When the last thread that traced ends, what is left is written, and the shares are printed.
struct Last;

impl Last {
    fn new() -> Last {
        TRACING.fetch_add(1, Ordering::Relaxed);
        Last
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        if TRACING.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        if let Err(error) = settle() {
            say(format_args!("trace: what devices did at the end is missing: {error}"));
        }
        let percent = |share: f64| 100.0 * share;
        if let Some(share) = beside().hidden_share() {
            let (ms, share) = (1e3 * beside().busy_s, percent(share));
            say(format_args!("trace: exchanges took {ms:.3} ms of devices, {share:.1} % beside computation"));
        }
        if let Some(share) = travel().hidden_share() {
            let (ms, share) = (1e3 * travel().travelled_s, percent(share));
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

/// From now on this thread works for a rank.
pub(crate) fn on_rank(rank: usize) {
    RANK.set(rank);
}

/// Runs work that a device is given.
pub(crate) fn on_device(
    device: &Device,
    lane: Stream,
    name: impl FnOnce() -> String,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let Some(file) = file() else { return work() };
    let (rank, begin_us) = (RANK.get(), now_us());
    if !device.has_streams() {
        work()?;
        LAST.with(|_| ());
        write(file, rank, device.name(), &name(), begin_us, now_us() - begin_us);
        return Ok(());
    }
    if !state().clocks.iter().any(|(other, ..)| other == device) {
        // Before anything of it is traced, because it stops the device.
        let zero = device.timestamp()?;
        device.wait()?;
        state().clocks.push((device.clone(), zero, now_us()));
    }
    let begin = device.timestamp_on(lane)?;
    work()?;
    let end = device.timestamp_on(lane)?;
    // After the driver's first call: a thread's end goes backwards, and drivers have their own things at it.
    LAST.with(|_| ());
    let mut state = state();
    let evaluation = state.evaluations;
    state.open.push(Open { rank, device: device.clone(), lane, evaluation, name: name(), begin, end });
    let full = state.open.len() >= MOST_OPEN;
    drop(state);
    if full { settle() } else { Ok(()) }
}

/// What was run until here belonged together: an evaluation, if some of it was beside the computation.
pub(crate) fn queued() {
    if file().is_some() {
        let mut state = state();
        let this = state.evaluations;
        if state.open.iter().rev().take_while(|o| o.evaluation == this).any(|o| o.lane == Stream::Exchange) {
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

/// A rank is ready for a message of another.
pub(crate) fn ready_for(from: usize, to: usize) {
    state().ready.entry((to, from)).or_default().push_back(Instant::now());
}

/// Runs what takes the message of a rank that another was made [`ready_for`] first.
pub(crate) fn taking(from: usize, to: usize, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let (begin, begin_us) = (Instant::now(), now_us());
    work()?;
    let waited = begin.elapsed().as_secs_f64();
    let mut state = state();
    let ready = state.ready.get_mut(&(to, from)).and_then(VecDeque::pop_front).unwrap_or(begin);
    let travelled = ready.elapsed().as_secs_f64();
    state.travel.travelled_s += travelled;
    state.travel.waited_s += waited;
    drop(state);
    if let Some(file) = file() {
        let (rank, row) = (RANK.get(), format!("link {from} -> {to}"));
        let hidden = (travelled - waited).max(0.0) * 1e6;
        write(file, rank, &row, "message", begin_us - hidden, hidden + waited * 1e6);
        write(file, rank, &row, "waited for", begin_us, waited * 1e6);
    }
    Ok(())
}

/// Writes what devices have done since; waits for them. Without effect if nothing is traced.
pub(crate) fn settle() -> Result<()> {
    let Some(file) = file() else { return Ok(()) };
    let mut state = state();
    let open = std::mem::take(&mut state.open);
    for evaluation in open.chunk_by(|a, b| a.evaluation == b.evaluation) {
        let times = evaluation.iter().map(|open| state.write(file, open)).collect::<Result<Vec<_>>>()?;
        let spans = |device: &Device, lane: Stream| -> Vec<(f64, f64)> {
            let on_lane = |open: &(&Open, &(f64, f64))| open.0.device == *device && open.0.lane == lane;
            evaluation.iter().zip(&times).filter(on_lane).map(|(_, span)| *span).collect()
        };
        let mut all = Beside::default();
        for (device, ..) in &state.clocks {
            let one = Beside::of(&spans(device, Stream::Exchange), &spans(device, Stream::Compute));
            all = Beside { busy_s: all.busy_s + one.busy_s, hidden_s: all.hidden_s + one.hidden_s };
        }
        if let (Some(share), Some(first)) = (all.hidden_share(), evaluation.first()) {
            let (us, percent) = (1e6 * all.busy_s, 100.0 * share);
            let name = format!("exchange {us:.1} us, {percent:.1} % beside computation");
            let begin = times.iter().map(|span| span.0).fold(f64::INFINITY, f64::min);
            let end = times.iter().map(|span| span.1).fold(begin, f64::max);
            write(file, first.rank, "evaluations", &name, 1e6 * begin, 1e6 * (end - begin));
            let Beside { busy_s, hidden_s } = state.beside;
            state.beside = Beside { busy_s: busy_s + all.busy_s, hidden_s: hidden_s + all.hidden_s };
        }
    }
    Ok(())
}

impl State {
    /// Writes one piece of work; when it began and ended, in seconds.
    fn write(&self, file: &Mutex<File>, open: &Open) -> Result<(f64, f64)> {
        let Open { rank, device, lane, name, begin, end, .. } = open;
        let clock = self.clocks.iter().find(|(other, ..)| other == device);
        let Some((_, zero, zero_us)) = clock else { unreachable!("set before anything is open") };
        let begin_s = zero_us / 1e6 + begin.seconds_since(zero)?;
        let lasted_s = end.seconds_since(begin)?;
        let row = match lane {
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
    fn what_is_hidden_is_counted_once() {
        let beside = Beside::of(&[(0.0, 4.0), (6.0, 8.0)], &[(1.0, 3.0), (2.0, 5.0), (7.0, 9.0)]);
        assert_eq!(beside, Beside { busy_s: 6.0, hidden_s: 4.0 });
        assert_eq!((beside.hidden_share(), Beside::default().hidden_share()), (Some(4.0 / 6.0), None));
    }
}
