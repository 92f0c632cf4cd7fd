//! O1: whole calls from Python, by Partita's package beside the libraries that a user would take instead. The
//! program `benches/peers/calls.py` makes and times them; here its lines become lines of a run.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use partita::prelude::*;
use serde::Deserialize;

use crate::results::machine::Machine;
use crate::results::record::{self, Line, Record};
use crate::run::peers::{Outcome, unpacked};

#[derive(Args)]
pub struct CallOptions {
    /// A Python with NumPy, the package `partita`, and whatever it has of CuPy, PyTorch and JAX.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// A kind of device: host, cuda, wgpu.
    #[arg(long, default_value = "host")]
    device: String,
    /// Tiny arrays, to see that everything runs; the figures mean nothing.
    #[arg(long)]
    smoke: bool,
    /// Names of calls, comma separated; all by default.
    #[arg(long)]
    only: Option<String>,
    /// Save the JSON lines as they come, for `report`.
    #[arg(long)]
    save: Option<PathBuf>,
}

/// A line of the program.
#[derive(Deserialize)]
struct Call {
    call: String,
    who: String,
    is_peer: bool,
    bytes: f64,
    outcome: Outcome,
}

impl Call {
    fn line(self, device: &str) -> Line {
        let who = if self.is_peer { self.who } else { format!("Partita, {device}") };
        let example = Record { dtype: "f32".to_owned(), ..Record::of_time("O1", &self.call, "", vec![1.0]) };
        let example = if self.bytes > 0.0 { example.moving(self.bytes, None) } else { example };
        match self.outcome.line(who, &example) {
            Line::Record(record) => Line::Record(Record { is_peer: self.is_peer, ..record }),
            other => other,
        }
    }
}

/// The machine, then what became of each call by each library.
pub fn run(options: &CallOptions) -> Result<Vec<Line>> {
    let folder = unpacked(&super::peers::SMALLEST)?;
    let lines = lines_of(&folder, options);
    // A folder that stays is in nobody's way.
    let _ = std::fs::remove_dir_all(folder);
    lines
}

fn lines_of(folder: &Path, options: &CallOptions) -> Result<Vec<Line>> {
    let CallOptions { python, device, smoke, only, save } = options;
    let devices: Vec<Device> = Device::named(device)?.into_iter().collect();
    let mut lines = vec![Line::Machine(Machine::here(&devices))];
    let mut command = Command::new(python);
    command.arg(folder.join("calls.py")).args(["--device", device]);
    let small: &[&str] = if *smoke { &["--small", "--seconds", "0.001"] } else { &[] };
    command.args(small).args(only.iter().flat_map(|only| ["--only", only]));
    let mut process = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("start {}; --python names another", python.display()))?;
    for text in BufReader::new(process.stdout.take().context("a process without output")?).lines() {
        let text = text?;
        let call: Call = serde_json::from_str(&text).with_context(|| format!("calls.py printed {text}"))?;
        eprintln!("measured {} by {}", call.call, call.who);
        lines.push(call.line(device));
        if let Some(file) = save {
            std::fs::write(file, record::to_text(&lines)?)
                .with_context(|| format!("write {}", file.display()))?;
        }
    }
    let status = process.wait()?;
    ensure!(status.success(), "calls.py ended with {status}");
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_program_is_a_line_of_a_run() {
        let line = |who: &str, is_peer: bool, bytes: f64, outcome: &str| {
            let rest = format!(r#""is_peer":{is_peer},"bytes":{bytes},"outcome":{outcome}"#);
            let text = format!(r#"{{"call":"sort","who":"{who}",{rest}}}"#);
            serde_json::from_str::<Call>(&text).expect(&text).line("cuda")
        };
        let timed = r#"{"timed":{"seconds":[2.0],"error":0.5}}"#;
        let ours = line("Partita", false, 0.0, timed).record().expect("a figure").clone();
        let names = (ours.group.as_str(), ours.workload.as_str(), ours.who.as_str());
        assert_eq!(names, ("O1", "sort", "Partita, cuda"));
        assert_eq!((ours.is_peer, ours.gb_s, ours.time.median_s), (false, None, 2.0));
        let moved = line("cupy", true, 4e9, timed).record().expect("a figure").clone();
        assert_eq!((moved.is_peer, moved.gb_s), (true, Some(2.0)));
        let missing = line("cupy", true, 0.0, r#"{"skipped":"no GPU"}"#);
        assert!(matches!(missing, Line::Skipped(missing) if missing.reason == "no GPU"));
    }
}
