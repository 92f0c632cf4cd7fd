//! Programs of several processes: the tests that `mpirun` starts, and the matrix of faults on purpose. It
//! knows how such a job ends and what its survivors must say; it does not know what the programs compute.

use crate::exec::{End, SILENCE, run};
use crate::tally::Tally;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Numbers of processes that programs are compared on.
const PROCESSES: &[usize] = &[1, 2, 3, 4, 5, 7, 8];

/// What befalls the last rank.
const KINDS: &[&str] = &["error", "panic", "kill", "stop"];

/// How long ranks wait for each other in the matrix, in seconds, and how much longer a job may last, starting
/// included.
const DEADLINE: u64 = 2;
const GRACE: Duration = Duration::from_secs(5);
const START: Duration = Duration::from_secs(10);

/// A job of so many processes; names it takes from its environment come first.
pub fn mpirun(processes: usize, program: &std::path::Path) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "-n", &processes.to_string()]).arg(program);
    // Containers run as root; the ranks share the machine's cores.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("PARTITA_THREADS", "1").env("RUST_BACKTRACE", "0");
    command
}

/// Whether programs of several processes can be built and started here.
pub fn is_installed() -> bool {
    let answers =
        |program: &str| Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    answers("mpirun") && answers("mpicc")
}

/// Builds the test program; where it is.
pub fn build(mut cargo: Command) -> Result<PathBuf, String> {
    cargo.args(["test", "--package", "partita", "--features", "mpi", "--test", "mpi", "--no-run"]);
    let root = cargo.get_current_dir().map(PathBuf::from).unwrap_or_default();
    let outcome = run(cargo, SILENCE, |line| println!("{line}"));
    let named = outcome.lines.iter().rev().find_map(|line| {
        let (_, path) = line.split_once("Executable")?.1.split_once('(')?;
        Some(root.join(path.trim().trim_end_matches(')')))
    });
    match (outcome.end, named) {
        (End::Success, Some(path)) => Ok(path),
        (End::Success, None) => Err("cargo names no test program".to_owned()),
        (end, _) => Err(end.to_string()),
    }
}

/// The programs, on every number of processes and with messages split into pieces of 7 bytes; what they print
/// joins `lines`.
pub fn programs(program: &std::path::Path, lines: &mut Vec<String>) -> Tally {
    let mut tally = Tally::default();
    let whole = PROCESSES.iter().map(|&n| (n, None));
    for (processes, most) in whole.chain([(3, Some("7"))]) {
        for what in ["programs", "ranks"] {
            let mut command = mpirun(processes, program);
            command.arg(what);
            if let Some(most) = most {
                command.env("PARTITA_MPI_MAX_BYTES", most);
            }
            println!("\n-- mpirun -n {processes} {what}{}", most.map_or("", |_| ", messages of 7 bytes"));
            let outcome = run(command, SILENCE, |line| println!("{line}"));
            tally.add(match outcome.end {
                End::Success => Tally::passed(),
                end => Tally::failed(format!("mpirun -n {processes} {what}: {end}")),
            });
            lines.extend(outcome.lines);
        }
    }
    tally
}

/// One job with a fault, and how it ended.
struct Fault<'a> {
    point: &'a str,
    kind: &'a str,
    processes: usize,
}

/// Faults of every kind at points on jobs of some sizes, as a table with its denominators.
pub fn faults(
    program: &std::path::Path,
    sizes: &[usize],
    points: &[String],
    lines: &mut Vec<String>,
) -> Tally {
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    for kind in KINDS {
        for &processes in sizes {
            let (mut ended, mut slowest, mut said, mut survivors) = (0, Duration::ZERO, 0, 0);
            for point in points {
                let fault = Fault { point, kind, processes };
                match fault.run(program) {
                    Ok((took, words)) => {
                        (ended, slowest, said) = (ended + 1, slowest.max(took), said + words);
                    }
                    Err(reason) => {
                        tally.add(Tally::failed(format!("{kind} at `{point}`, {processes} ranks: {reason}")));
                    }
                }
                survivors += processes - 1;
            }
            let total = points.len();
            rows.push(format!(
                "{kind:>6}  n = {processes}  ended in time {ended}/{total}  survivors that said where \
                 {said}/{survivors}  slowest {:.1} s",
                slowest.as_secs_f64()
            ));
            lines.push(format!("ran: mpi-faults {ended}"));
            lines.push(format!("ran: mpi-last-words {said}"));
        }
    }
    println!("\nfaults on purpose, on the last rank, at {} points", points.len());
    rows.iter().for_each(|row| println!("{row}"));
    if tally.failed.is_empty() { Tally::passed() } else { tally }
}

impl Fault<'_> {
    /// How long the job took, and how many of the other ranks said where they were and why they ended.
    fn run(&self, program: &std::path::Path) -> Result<(Duration, usize), String> {
        let mut command = mpirun(self.processes, program);
        let last = self.processes - 1;
        // The first passes belong to the making of the team; some points are passed once only.
        let passes = if self.is_rare() { 0 } else { 2 };
        command.arg("fault").env("PARTITA_FAULT", format!("{last}:{}:{passes}:{}", self.point, self.kind));
        command.env("PARTITA_DEADLINE_SECONDS", DEADLINE.to_string());
        let waits = if self.kind == "stop" { Duration::from_secs(DEADLINE) } else { Duration::ZERO };
        let limit = START + waits + GRACE;
        let begin = Instant::now();
        let outcome = run(command, limit, |_| {});
        let took = begin.elapsed();
        let text = outcome.lines.join("\n");
        if let End::Silent(_) = outcome.end {
            return Err(format!("it hung; its last words: {text}"));
        }
        if outcome.end == End::Success || took > limit {
            return Err(format!("{} after {:.1} s: {text}", outcome.end, took.as_secs_f64()));
        }
        let spoke = |rank: usize| {
            let heads = [
                format!("[partita] on rank {rank} of {}: rank {last} failed in ", self.processes),
                format!("[partita] rank {rank} of {} is ended by its launcher", self.processes),
            ];
            let said =
                |line: &&String| heads.iter().any(|head| line.contains(head)) && line.contains(", step ");
            outcome.lines.iter().any(|line| said(&line))
        };
        let said = (0..last).filter(|&rank| spoke(rank)).count();
        // A launcher ends all ranks once it sees one end, some before their words are out, so the words are
        // counted; but of a rank that was not killed somebody must have said something.
        if said == 0 && self.kind != "kill" {
            return Err(format!("none of {last} survivors named the rank: {text}"));
        }
        Ok((took, said))
    }

    fn is_rare(&self) -> bool {
        matches!(self.point, "team" | "agree-begin" | "agree-told" | "agree-heard" | "agree-done")
    }
}

/// The points at which faults can happen, as the engine lists them.
pub fn points(root: &std::path::Path) -> Result<Vec<String>, String> {
    let file = root.join("engine/src/wire/fault.rs");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let list = text.split_once("POINTS: &[&str] = &[").and_then(|(_, rest)| rest.split_once("];"));
    let quoted = list.map_or("", |(list, _)| list).split('"').skip(1).step_by(2);
    Ok(quoted.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_points_are_found() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let points = points(&root).unwrap();
        assert!(points.len() >= 20 && points.contains(&"receive-arrived".to_owned()), "{points:?}");
    }
}
