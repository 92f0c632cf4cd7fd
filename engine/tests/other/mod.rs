//! Runs one ignored test of this binary in another process with its own environment.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The command that runs the ignored test `name`.
pub fn test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// Runs it to its end, which must be a success; what it printed, on both outputs.
pub fn said(mut command: Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text
}

/// A process to talk with, line by line.
pub struct Other {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Other {
    pub fn start(mut command: Command) -> Other {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Other { child, lines }
    }

    pub fn tell(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The rest of the next line that has `mark` in it.
    pub fn hear(&mut self, mark: &str) -> String {
        let mut heard = self.lines.by_ref().map(Result::unwrap);
        let line = heard.find_map(|line| line.split_once(mark).map(|(_, rest)| rest.to_owned()));
        line.unwrap_or_else(|| panic!("the other process never said `{mark}`"))
    }

    pub fn end(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

/// The next line from the process that started this one.
pub fn next_line() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim().to_owned()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn unhex<const N: usize>(text: &str) -> [u8; N] {
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
}
