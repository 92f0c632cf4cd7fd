//! What ran when: `PARTITA_TRACE=FILE` writes every command as an event for Perfetto (ui.perfetto.dev) or
//! Chrome's tracing page: one process per rank, one row per device, one per link between ranks. A message is
//! drawn from when its receiver made ready for it to when it was taken, and the wait for it inside.
//!
//! Under `mpirun` every rank writes a file of its own, `FILE.0`, `FILE.1` and so on; put together with `cat`,
//! in this order, they are one trace.
//!
//! Knows clocks and rows; what runs is the caller's.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::config::{config, say};
use crate::device::{Device, Lane, Mark};
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

/// The messages that this process has received so far, traced or not.
pub fn travel() -> Travel {
    state().travel
}

/// What has been written, and what is still under way.
#[derive(Default)]
struct State {
    travel: Travel,
    /// Per receiving and sending rank: when the messages that are to come were made ready for.
    ready: HashMap<(usize, usize), VecDeque<Instant>>,
    /// Where a device's own clock stands on ours.
    clocks: Vec<(Device, Mark, f64)>,
    /// Work that a device may not have done yet.
    open: Vec<Open>,
}

struct Open {
    rank: usize,
    device: Device,
    name: String,
    begin: Mark,
    end: Mark,
}

fn state() -> std::sync::MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static RANK: Cell<usize> = const { Cell::new(0) };
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
    lane: Lane,
    name: impl FnOnce() -> String,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let Some(file) = file() else { return work() };
    let (rank, begin_us) = (RANK.get(), now_us());
    if !device.has_lanes() {
        work()?;
        write(file, rank, device.name(), &name(), begin_us, now_us() - begin_us);
        return Ok(());
    }
    let begin = device.mark_on(lane)?;
    work()?;
    let end = device.mark_on(lane)?;
    let mut state = state();
    if !state.clocks.iter().any(|(other, ..)| other == device) {
        drop(state);
        let zero = device.mark()?;
        device.wait()?;
        self::state().clocks.push((device.clone(), zero, now_us()));
        state = self::state();
    }
    state.open.push(Open { rank, device: device.clone(), name: name(), begin, end });
    Ok(())
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
    for Open { rank, device, name, begin, end } in open {
        let Some((_, zero, zero_us)) = state.clocks.iter().find(|(other, ..)| *other == device) else {
            continue;
        };
        let begin_us = zero_us + begin.seconds_since(zero)? * 1e6;
        write(file, rank, device.name(), &name, begin_us, end.seconds_since(&begin)? * 1e6);
    }
    Ok(())
}
