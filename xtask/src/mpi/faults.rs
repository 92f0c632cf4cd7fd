//! The matrix of faults on purpose: the last rank of a job fails at a point, and all others must say so and
//! end in time. It knows how such a job ends and what its survivors must say; not what it computes.

use crate::exec::{End, run};
use crate::mpi::Mpi;
use crate::tally::Tally;
use std::path::Path;
use std::time::{Duration, Instant};

/// The faults of the last rank, and the launcher of its job.
const KINDS: &[Kind] = &[
    Kind { name: "error", launcher: Launcher::Lenient, waits: false, mute: false },
    Kind { name: "panic", launcher: Launcher::Lenient, waits: false, mute: false },
    Kind { name: "kill", launcher: Launcher::Lenient, waits: true, mute: false },
    // A lenient launcher would wait for the stopped process for ever.
    Kind { name: "stop", launcher: Launcher::Strict, waits: true, mute: false },
];

/// The same where the launcher ends the job as it sees fit: at one point each, as people run programs. Of a
/// process that is killed it hears before its ranks do.
const AS_USUAL: &[Kind] = &[
    Kind { name: "error", launcher: Launcher::Strict, waits: false, mute: false },
    Kind { name: "panic", launcher: Launcher::Strict, waits: false, mute: false },
    Kind { name: "kill", launcher: Launcher::Strict, waits: false, mute: true },
];

#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    launcher: Launcher,
    /// Whether the others find out by their deadline alone.
    waits: bool,
    /// Whether the launcher may end the others before they know.
    mute: bool,
}

impl Kind {
    /// The kind as it can be run on an MPI.
    fn on(self, mpi: &Mpi) -> Kind {
        match (self.name, mpi.lenient_to_kills) {
            ("kill", false) => Kind { launcher: Launcher::Strict, mute: true, ..self },
            _ => self,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Launcher {
    /// Ends all processes when one has failed.
    Strict,
    /// Lets them end by themselves.
    Lenient,
}

/// The time that ranks wait for each other in the matrix, in seconds; that the others may live after the
/// fault, beyond that; and that a job may be silent before.
const DEADLINE: u64 = 2;
const GRACE: Duration = Duration::from_secs(5);
const START: Duration = Duration::from_secs(20);

/// The point of `AS_USUAL`.
const COMMON: &str = "receive";

/// One job with a fault.
struct Job<'a> {
    mpi: &'a Mpi,
    program: &'a Path,
    kind: Kind,
    point: &'a str,
    processes: usize,
}

/// Faults of every kind at points on jobs of some sizes, as a table with its denominators.
pub fn matrix(
    mpi: &Mpi,
    program: &Path,
    sizes: &[usize],
    points: &[String],
    lines: &mut Vec<String>,
) -> Tally {
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    let common = [COMMON.to_owned()];
    let all = KINDS.iter().map(|kind| (kind, points)).chain(AS_USUAL.iter().map(|kind| (kind, &common[..])));
    for (kind, points) in all.map(|(kind, points)| (kind.on(mpi), points)) {
        for &processes in sizes {
            let (mut ended, mut slowest, mut said) = (0, Duration::ZERO, 0);
            for point in points {
                let job = Job { mpi, program, kind, point, processes };
                match job.run() {
                    Ok((took, words)) => {
                        (ended, slowest, said) = (ended + 1, slowest.max(took), said + words);
                    }
                    Err(reason) => {
                        let what = format!("{} at `{point}`, {processes} ranks", kind.name);
                        tally.add(Tally::failed(format!("{}: {what}: {reason}", mpi.name)));
                    }
                }
            }
            let (total, survivors) = (points.len(), points.len() * (processes - 1));
            let usual = if kind.launcher == Launcher::Strict { "as usual" } else { "others live on" };
            rows.push(format!(
                "{:>6}  n = {processes}  {usual:<14}  ended in time {ended}/{total}  survivors naming the \
                 rank {said}/{survivors}  slowest {:.1} s",
                kind.name,
                slowest.as_secs_f64()
            ));
            lines.push(format!("ran: mpi-faults {ended}"));
            lines.push(format!("ran: mpi-last-words {said}"));
        }
    }
    println!("\n{}: faults on purpose, on the last rank, at {} points", mpi.name, points.len());
    rows.iter().for_each(|row| println!("{row}"));
    if tally.failed.is_empty() { Tally::passed() } else { tally }
}

impl Job<'_> {
    /// The time that the others lived after the fault, and the number that named the rank and the place.
    fn run(&self) -> Result<(Duration, usize), String> {
        let options = if self.kind.launcher == Launcher::Lenient { self.mpi.lenient } else { &[] };
        let mut command = self.mpi.job(self.processes, self.program, options);
        let last = self.processes - 1;
        // The first passes belong to the making of the team; some points are passed once only.
        let passes = if self.is_rare() { 0 } else { 2 };
        let fault = format!("{last}:{}:{passes}:{}", self.point, self.kind.name);
        command.arg("fault").env("PARTITA_FAULT", fault);
        command.env("PARTITA_DEADLINE_SECONDS", DEADLINE.to_string());
        let mut fault = None;
        let outcome = run(&mut command, START, |line| {
            if line.contains("a fault on purpose now") {
                fault.get_or_insert_with(Instant::now);
            }
        });
        let text = outcome.lines.join("\n");
        let Some(took) = fault.map(|at| at.elapsed()) else {
            return Err(format!("no fault: {}: {text}", outcome.end));
        };
        let waits = if self.kind.waits { Duration::from_secs(DEADLINE) } else { Duration::ZERO };
        if let End::Silent(_) = outcome.end {
            return Err(format!("it hung; its last words: {text}"));
        }
        // A lenient launcher calls every end a success, but a rank that came through says so.
        let through = outcome.lines.iter().any(|line| line.contains("no fault happened"));
        let strict = self.kind.launcher == Launcher::Strict;
        if through || (strict && outcome.end == End::Success) || took > waits + GRACE {
            return Err(format!("{} after {:.1} s: {text}", outcome.end, took.as_secs_f64()));
        }
        let named = |rank: usize| {
            let head = format!("[partita] on rank {rank} of {}: rank {last} failed in ", self.processes);
            outcome.lines.iter().any(|line| line.contains(&head) && line.contains(", step "))
        };
        let said = (0..last).filter(|&rank| named(rank)).count();
        if said < last && !self.kind.mute {
            return Err(format!("only {said} of {last} survivors named the rank: {text}"));
        }
        Ok((took, said))
    }

    fn is_rare(&self) -> bool {
        matches!(self.point, "team" | "agree-begin" | "agree-sent" | "agree-received" | "agree-done")
    }
}

/// The points at which faults can happen, as the engine lists them.
pub fn points(root: &Path) -> Result<Vec<String>, String> {
    let file = root.join("engine/src/process/config/variables.rs");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let list = text.split_once("POINTS: &[&str] = &[").and_then(|(_, rest)| rest.split_once("];"));
    let quoted = list.map_or("", |(list, _)| list).split('"').skip(1).step_by(2);
    Ok(quoted.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_engines_points_are_found() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let points = points(&root).unwrap();
        assert!(points.len() >= 20 && points.contains(&"receive-arrived".to_owned()), "{points:?}");
        assert!(points.contains(&COMMON.to_owned()));
    }
}
