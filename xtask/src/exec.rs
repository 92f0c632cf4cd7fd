//! Running another program: its lines are shown as they come, kept, and watched for silence. It
//! does not know what the lines mean.

use crate::tally::Tally;
use std::fmt;
use std::io::{BufRead, BufReader, PipeReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A program that prints nothing for this long is stuck: the slowest crate compiles in less.
pub const SILENCE: Duration = Duration::from_secs(15 * 60);

/// The end of a program.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Success,
    /// It ended by itself, unsuccessfully.
    Failure(String),
    /// It printed nothing for too long and was stopped, with all that it had started.
    Silent(Duration),
    NotStarted(String),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Success => write!(f, "ended successfully"),
            End::Failure(status) => write!(f, "ended with {status}"),
            End::Silent(limit) => {
                write!(f, "printed nothing for {} seconds and was stopped", limit.as_secs())
            }
            End::NotStarted(reason) => write!(f, "could not be started: {reason}"),
        }
    }
}

/// A program's end and the lines it printed, on both outputs, in order.
#[derive(Debug)]
pub struct Outcome {
    pub end: End,
    pub lines: Vec<String>,
}

/// Runs `command`, calling `show` with each line as it comes.
pub fn run(command: &mut Command, silence: Duration, mut show: impl FnMut(&str)) -> Outcome {
    let (mut child, output) = match start(command) {
        Ok(started) => started,
        Err(error) => return Outcome { end: End::NotStarted(error.to_string()), lines: Vec::new() },
    };
    let incoming = read_lines(output);
    let mut lines = Vec::new();
    loop {
        match incoming.recv_timeout(silence) {
            Ok(line) => {
                show(&line);
                lines.push(line);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                stop(&mut child);
                return Outcome { end: End::Silent(silence), lines };
            }
        }
    }
    let end = match child.wait() {
        Ok(status) if status.success() => End::Success,
        Ok(status) => End::Failure(status.to_string()),
        Err(error) => End::Failure(error.to_string()),
    };
    Outcome { end, lines }
}

/// Runs `command` and shows its lines.
pub fn show(mut command: Command) -> Outcome {
    run(&mut command, SILENCE, |line| println!("{line}"))
}

/// A command that is one check, whose lines are shown; they join `lines`.
pub fn check(name: &str, command: Command, lines: &mut Vec<String>) -> Tally {
    let outcome = show(command);
    lines.extend(outcome.lines);
    match outcome.end {
        End::Success => Tally::passed(),
        end => Tally::failed(format!("{name}: {end}")),
    }
}

fn start(command: &mut Command) -> std::io::Result<(Child, PipeReader)> {
    let (output, writer) = std::io::pipe()?;
    // Vulkan drivers and MPI look for this folder and complain where there is none.
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let started = command.spawn();
    // The command holds the pipe's writing end, which must be gone for the reader to see the end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok((started?, output))
}

fn read_lines(output: PipeReader) -> Receiver<String> {
    let (sender, incoming) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let line = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_string();
            if sender.send(line).is_err() {
                break;
            }
            bytes.clear();
        }
    });
    incoming
}

/// Stops a program and everything below it. A test that hangs is cargo's child, not ours.
fn stop(child: &mut Child) {
    let below = descendants(child.id());
    // Both may fail only because the process is gone already, which is what is wanted.
    let _ = child.kill();
    if !below.is_empty() {
        let _ = Command::new("kill").arg("-KILL").args(below.iter().map(u32::to_string)).status();
    }
    let _ = child.wait();
}

/// The processes below `parent`, found where there is a `/proc`; elsewhere none.
fn descendants(parent: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pairs: Vec<(u32, u32)> = entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            Some((pid, parent_in_stat(&stat)?))
        })
        .collect();
    let mut found = vec![parent];
    let mut next = 0;
    while next < found.len() {
        let above = found[next];
        found.extend(pairs.iter().filter(|(_, ppid)| *ppid == above).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// `pid (name) state ppid ...`, where the name may hold anything.
fn parent_in_stat(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_outputs_are_kept_in_order() {
        let mut shown = 0;
        let outcome = run(&mut shell("echo a; echo b >&2; echo c; exit 3"), SILENCE, |_| shown += 1);
        assert_eq!(outcome.lines, ["a", "b", "c"]);
        assert_eq!(shown, 3);
        assert!(matches!(outcome.end, End::Failure(_)));
        assert_eq!(run(&mut shell("true"), SILENCE, |_| ()).end, End::Success);
    }

    #[test]
    fn a_missing_program_is_an_end() {
        let outcome = run(&mut Command::new("no-such-program-anywhere"), SILENCE, |_| ());
        assert!(matches!(outcome.end, End::NotStarted(_)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn silence_stops_the_program_and_all_below_it() {
        let limit = Duration::from_millis(500);
        let outcome = run(&mut shell("sleep 600 & echo $!; wait"), limit, |_| ());
        assert_eq!(outcome.end, End::Silent(limit));
        let sleeper = std::path::Path::new("/proc").join(&outcome.lines[0]);
        // The orphan stays visible until its new parent collects it, but no longer as a sleeper.
        let gone = (0..50).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            std::fs::read_to_string(sleeper.join("cmdline")).unwrap_or_default().is_empty()
        });
        assert!(gone, "sleep {} is still there", outcome.lines[0]);
    }

    #[test]
    fn a_process_name_may_hold_anything() {
        assert_eq!(parent_in_stat("12 (a) b) S 7 12 12"), Some(7));
    }
}
