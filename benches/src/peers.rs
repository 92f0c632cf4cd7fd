//! The peers: what a user would take instead, run by the programs of `benches/peers` as a child process that
//! answers one request at a time, so that both sides take turns on the same machine in the same minutes.
//!
//! Knows the protocol and the files; knows no peer.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use partita::prelude::*;
use serde::Deserialize;

use crate::record::{Line, Missing, Quantiles, Record};
use crate::workload::Sizes;

/// The child process.
pub struct Peers {
    child: Child,
    /// Of the programs, removed at the end.
    folder: Option<PathBuf>,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    known: Vec<String>,
    /// Of the libraries; nothing for what is missing.
    pub versions: BTreeMap<String, Option<String>>,
}

/// What became of one peer in one workload.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Seconds of each run, and the largest error of the compared results.
    Timed { seconds: Vec<f64>, error: f64 },
    /// It is not here, or does not offer this: why.
    Skipped(String),
    /// It gave a wrong result, or none.
    Failed(String),
}

/// Outcomes by the names of the peers.
pub type Outcomes = BTreeMap<String, Outcome>;

/// What the child is asked for.
pub struct Request<'a> {
    pub workload: &'a str,
    pub dtype: DType,
    pub repeats: usize,
    /// Enough for one peer, even if it has repeated less often; it runs at least once.
    pub seconds: f64,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../peers/", $name)))),*] };
}

/// In the program, so that the program runs without the repository.
const FILES: &[(&str, &str)] = files![
    "__main__.py",
    "apps.py",
    "by_c.py",
    "by_cupy.py",
    "by_jax.py",
    "by_mpi.py",
    "by_nccl.py",
    "by_numba.py",
    "by_numexpr.py",
    "by_numpy.py",
    "by_nvcc.py",
    "by_partita.py",
    "by_torch.py",
    "by_triton.py",
    "cuda_text.py",
    "data.py",
    "flat.py",
    "formulas.py",
    "messages.py",
    "overheads.py",
    "reference.cu",
    "tracing.py",
    "ufuncs.py",
    "workloads.py",
];

#[derive(Deserialize)]
struct Hello {
    versions: BTreeMap<String, Option<String>>,
    workloads: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Error(String),
    Peers(Outcomes),
}

impl Peers {
    /// Starts the peers with the same sizes, on a CUDA GPU if one of the devices is one.
    pub fn start(python: &Path, sizes: &Sizes, devices: &[Device]) -> Result<Peers> {
        let is_cuda = devices.iter().any(|device| device.kind() == DeviceKind::Cuda);
        let folder = unpacked()?;
        let mut command = Command::new(python);
        command
            .arg(&folder)
            .args(["--serve", "--device", if is_cuda { "cuda" } else { "cpu" }])
            .args(["--n", &sizes.line.to_string(), "--plane", &sizes.plane.to_string()])
            .args(["--cube", &sizes.cube.to_string()]);
        let started = Peers::talk_to(&mut command, Some(folder));
        started.with_context(|| format!("start the peers with {}", python.display()))
    }

    /// Starts a child and waits for its first line.
    fn talk_to(command: &mut Command, folder: Option<PathBuf>) -> Result<Peers> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the peers' process has no pipes");
        };
        let (known, versions) = (Vec::new(), BTreeMap::new());
        let mut peers = Peers { child, folder, requests, answers: BufReader::new(answers), known, versions };
        let line = peers.line()?;
        let hello: Hello = serde_json::from_str(&line).with_context(|| format!("the peers said {line}"))?;
        (peers.known, peers.versions) = (hello.workloads, hello.versions);
        for (name, version) in &peers.versions {
            eprintln!("peers: {name} {}", version.as_deref().unwrap_or("is missing"));
        }
        Ok(peers)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line).context("read from the peers")? == 0 {
            bail!("the peers' process ended; its own message is above");
        }
        Ok(line)
    }

    /// What became of each peer; nobody for a workload that none of them knows.
    ///
    /// # Errors
    /// The process ended, or answered something else than the protocol allows.
    pub fn run(&mut self, request: &Request) -> Result<Outcomes> {
        let Request { workload, dtype, repeats, seconds } = request;
        if !self.known.iter().any(|known| known == workload) {
            return Ok(Outcomes::new());
        }
        writeln!(self.requests, "{workload} {dtype} {repeats} {seconds}").context("write to the peers")?;
        let line = self.line()?;
        match serde_json::from_str(&line).with_context(|| format!("the peers answered {line}"))? {
            Answer::Error(error) => bail!("peers: {workload} {dtype}: {error}"),
            Answer::Peers(outcomes) => Ok(outcomes),
        }
    }
}

impl Outcome {
    /// As a line of a run: about the same as `example`, which gives everything but who and the times.
    pub fn line(self, who: String, example: &Record) -> Line {
        let Record { workload, dtype, .. } = example.clone();
        match self {
            Outcome::Timed { seconds, error } => {
                let time = Quantiles::of(seconds);
                let record = Record { who, is_peer: true, time, error: Some(error), ..example.clone() };
                Line::Record(match example.gb_s {
                    Some(_) => record.moving(example.bytes, example.copy_gb_s),
                    None => record,
                })
            }
            Outcome::Skipped(reason) => Line::Skipped(Missing { workload, who, dtype, reason }),
            Outcome::Failed(reason) => Line::Failed(Missing { workload, who, dtype, reason }),
        }
    }
}

/// Adds the times of one more round.
pub fn merge(all: &mut Outcomes, round: Outcomes) {
    for (name, outcome) in round {
        match (all.get_mut(&name), outcome) {
            (Some(Outcome::Timed { seconds, error }), Outcome::Timed { seconds: more, error: other }) => {
                seconds.extend(more);
                *error = error.max(other);
            }
            // A failure stays one, and whoever fails later has failed.
            (Some(Outcome::Failed(_)), _) => {}
            (_, outcome) => _ = all.insert(name, outcome),
        }
    }
}

/// The programs in a folder of their own, where Python imports and nvcc compiles them.
fn unpacked() -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("partita-peers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
    for (name, text) in FILES {
        let file = folder.join(name);
        std::fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
    }
    Ok(folder)
}

impl Drop for Peers {
    fn drop(&mut self) {
        // The child ends by itself when its input ends; a second kill is harmless.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
#[path = "peers_tests.rs"]
mod tests;
