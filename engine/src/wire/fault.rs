//! Fault injection: `PARTITA_FAULT` makes one rank fail at a named point, so that tests see how all the
//! others end. A point costs one thread-local read.

use std::cell::RefCell;
use std::io;
use std::process::Command;

use crate::config::{POINTS, config, say};
use crate::error::{Error, Result};

/// The event at a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FaultKind {
    Error,
    /// At calls of the file system: no space is left.
    Full,
    Panic,
    Kill,
    Stop,
    /// The thread does nothing any more; the process lives.
    Hang,
}

#[derive(Clone, Debug)]
struct Fault {
    /// `None` for every point.
    point: Option<String>,
    /// The number of times that the point is passed before it happens.
    passes: u64,
    kind: FaultKind,
}

thread_local! {
    static ARMED: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

/// Arms this thread, which is a rank, with the fault of `PARTITA_FAULT`, if that names this rank:
/// `RANK:POINT:PASSES:KIND`, where the point is one of [`POINTS`] and the kind is `error`, `panic`, `kill`,
/// `stop` or `hang`.
pub(super) fn arm(rank: usize) {
    if let Some(fault) = config().fault.as_deref().and_then(|text| parse(text, rank)) {
        ARMED.set(Some(fault));
    }
}

fn parse(text: &str, rank: usize) -> Option<Fault> {
    let [at, point, passes, kind] = text.split(':').collect::<Vec<_>>()[..] else { return None };
    let known = POINTS.contains(&point) && at.parse() == Ok(rank) && kind != "full";
    let (passes, kind) = (passes.parse().ok()?, kind_of(kind)?);
    known.then(|| Fault { point: Some(point.to_owned()), passes, kind })
}

fn kind_of(name: &str) -> Option<FaultKind> {
    Some(match name {
        "error" => FaultKind::Error,
        "full" => FaultKind::Full,
        "panic" => FaultKind::Panic,
        "kill" => FaultKind::Kill,
        "stop" => FaultKind::Stop,
        "hang" => FaultKind::Hang,
        _ => return None,
    })
}

/// Arms this thread, which is a rank, with a fault at the point that it reaches after so many of any name:
/// the calls of the file system in a save are points, too. Its kind is one of those of `PARTITA_FAULT`, or
/// `full`: no space is left. Any other word takes the fault back. Gives after how many points one was still
/// to come. For tests.
pub fn inject(passes: u64, kind: &str) -> Option<u64> {
    ARMED.replace(kind_of(kind).map(|kind| Fault { point: None, passes, kind })).map(|fault| fault.passes)
}

/// A point at which a fault may be injected.
///
/// # Errors
/// The fault, if its kind is `error`.
pub(crate) fn pass(point: &str) -> Result<()> {
    pass_file(point).map_err(|_| Error::of_driver("fault on purpose", format!("at `{point}`")))
}

/// A call of the file system at which a fault may be injected.
///
/// # Errors
/// The fault, as the system would tell it.
pub(crate) fn pass_file(point: &str) -> io::Result<()> {
    let due = ARMED.with_borrow_mut(|armed| {
        let fault = armed.as_mut().filter(|fault| fault.point.as_deref().is_none_or(|at| at == point))?;
        let due = (fault.passes == 0).then_some(fault.kind);
        fault.passes = fault.passes.saturating_sub(1);
        due
    });
    let Some(kind) = due else { return Ok(()) };
    ARMED.set(None);
    // From here on the others' time is counted.
    say(format_args!("a fault on purpose now, at `{point}`"));
    match kind {
        FaultKind::Error => Err(io::Error::from_raw_os_error(5)),
        FaultKind::Full => Err(io::Error::from_raw_os_error(28)),
        FaultKind::Panic => panic!("fault on purpose at `{point}`"),
        FaultKind::Kill => signal("-KILL"),
        FaultKind::Stop => signal("-STOP"),
        FaultKind::Hang => loop {
            std::thread::park();
        },
    }
}

/// Sends this process a signal that it cannot catch.
fn signal(which: &str) -> io::Result<()> {
    Command::new("kill").args([which, &std::process::id().to_string()]).status().map(drop)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_happens_once_at_its_point_and_pass() {
        assert!(POINTS.len() >= 20);
        for text in
            ["1:send:0:error", "0:nowhere:0:error", "0:send:0:flood", "0:send:0:full", "0:send:error", ""]
        {
            assert!(parse(text, 0).is_none(), "{text}");
        }
        ARMED.set(parse("0:send:1:error", 0));
        assert!(pass("receive").is_ok() && pass("send").is_ok());
        assert!(pass("send").unwrap_err().to_string().contains("at `send`"));
        assert!(pass("send").is_ok());
    }
}
