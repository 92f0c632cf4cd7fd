//! The peers: what a user would take instead, run by the programs of `benches/peers`. Every turn of a peer is
//! a process of its own that ends before ours goes on: both sides take turns on the same machine in the same
//! minutes, no peer's threads or memory are beside anyone else's work, and one that dies takes nobody along.
//! It is forked from a process that has only loaded the peer's library, and waits.
//!
//! A CUDA driver does not survive a fork: on such devices all peers are in one process, which compiles
//! everything before anything is timed.
//!
//! This file is the protocol; which peers there are is up to the Python programs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use partita::prelude::*;
use serde::Deserialize;
use serde_json::{Map, json};

use crate::cases::programs::APPS;
use crate::cases::workload::{Sizes, WORKLOADS};
use crate::results::record::{Line, Missing, Quantiles, Record};
use crate::run::budget::Budget;

/// The peers that there are, and how they are started.
pub struct Peers {
    /// A program and its first arguments.
    command: Vec<String>,
    /// Of the programs, removed at the end.
    folder: Option<PathBuf>,
    /// The workloads of each peer.
    offered: BTreeMap<String, Vec<String>>,
    /// All peers are in one process.
    are_together: bool,
    /// Of the peers that have had a turn.
    servers: RefCell<BTreeMap<String, Server>>,
    /// Their time, since then.
    budget: RefCell<Budget>,
    start: Instant,
    /// Of the libraries; nothing for what is missing.
    pub versions: BTreeMap<String, Option<String>>,
}

/// The outcome of one peer in one workload.
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

/// A process that has loaded a peer's library, and forks for every turn.
struct Server {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Outcomes by the names of the peers.
pub type Outcomes = BTreeMap<String, Outcome>;

/// One turn of a peer: what to run, and how often.
pub struct Request<'a> {
    pub workload: &'a str,
    pub dtype: DType,
    pub repeats: usize,
    /// Enough, even if it has repeated less often; it runs at least once.
    pub seconds: f64,
    /// Sets of arrays that take turns, as ours do.
    pub sets: usize,
}

/// Peers that take their turns first, so that they have one where time is short.
const FIRST_PEERS: &[&str] = &["numba", "cupy.RawKernel", "cub", "jax", "torch.compile", "nvcc"];

macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../../peers/", $name)))),*] };
}

/// In the program, so that the program runs without the repository.
const FILES: &[(&str, &str)] = files![
    "__main__.py",
    "apps.py",
    "calls.py",
    "data.py",
    "kept.py",
    "libraries/by_c.py",
    "libraries/by_cupy.py",
    "libraries/by_jax.py",
    "libraries/by_numba.py",
    "libraries/by_numpy.py",
    "libraries/by_nvcc.py",
    "libraries/by_torch.py",
    "overheads.py",
    "reference.cu",
    "workloads.py",
];

#[derive(Deserialize)]
struct Listed {
    versions: BTreeMap<String, Option<String>>,
    peers: BTreeMap<String, Vec<String>>,
}

impl Peers {
    /// Finds the peers of this Python: with the same sizes, on a CUDA GPU if one of the devices is one.
    pub fn start(python: &Path, sizes: &Sizes, devices: &[Device]) -> Result<Peers> {
        let is_cuda = devices.iter().any(|device| device.kind() == DeviceKind::Cuda);
        let folder = unpacked(sizes)?;
        let mut command = vec![python.display().to_string(), folder.display().to_string()];
        command.extend(["--device", if is_cuda { "cuda" } else { "cpu" }].map(String::from));
        let peers = Peers::listed_by(command, Some(folder));
        let mut peers = peers.with_context(|| format!("find the peers of {}", python.display()))?;
        peers.are_together = is_cuda;
        Ok(peers)
    }

    /// Asks a program which peers there are.
    fn listed_by(command: Vec<String>, folder: Option<PathBuf>) -> Result<Peers> {
        let (offered, servers, versions) = Default::default();
        let (budget, start) = (RefCell::new(Budget::new(None, Vec::new())), Instant::now());
        let are_together = false;
        let mut peers = Peers { command, folder, offered, are_together, servers, budget, start, versions };
        let output = peers.command(&["--list"])?.output().with_context(|| peers.starting())?;
        let listed: Listed = answer(&output)?;
        (peers.offered, peers.versions) = (listed.peers, listed.versions);
        for (name, version) in &peers.versions {
            eprintln!("peers: {name} {}", version.as_deref().unwrap_or("is missing"));
        }
        Ok(peers)
    }

    /// Leaves all other peers out. None named are all.
    pub fn only(mut self, names: &[String]) -> Result<Peers> {
        if let Some(unknown) = names.iter().find(|name| !self.offered.contains_key(*name)) {
            let known: Vec<_> = self.offered.keys().map(String::as_str).collect();
            bail!("measure beside {unknown}: expected some of {}", known.join(", "));
        }
        self.offered.retain(|peer, _| names.is_empty() || names.contains(peer));
        Ok(self)
    }

    fn command(&self, arguments: &[&str]) -> Result<Command> {
        let (program, first) = self.command.split_first().context("a command has a program")?;
        let mut command = Command::new(program);
        command.args(first).args(arguments);
        Ok(command)
    }

    fn starting(&self) -> String {
        format!("start {}", self.command.join(" "))
    }

    /// Those that may have this workload, the most important first.
    pub fn offering(&self, workload: &str) -> Vec<String> {
        let offers = |(_, known): &(&String, &Vec<String>)| known.iter().any(|known| known == workload);
        let mut peers: Vec<String> =
            self.offered.iter().filter(offers).map(|(peer, _)| peer.clone()).collect();
        peers.sort_by_key(|peer| {
            FIRST_PEERS.iter().position(|first| first == peer).unwrap_or(FIRST_PEERS.len())
        });
        peers
    }

    /// Compiles these workloads, then begins a run in steps with these weights, with so many seconds.
    pub fn begin(&mut self, workloads: &[&str], dtypes: &[DType], seconds: Option<f64>, weights: Vec<f64>) {
        self.compile(workloads, dtypes);
        (self.budget, self.start) = (RefCell::new(Budget::new(seconds, weights)), Instant::now());
    }

    /// A step of the run has ended.
    pub fn ended(&self) {
        self.budget.borrow_mut().next_step();
    }

    /// One peer's turn, in a process that has ended when this returns, if there is time for it. Whatever
    /// goes wrong is that peer's failure alone.
    pub fn turn(&self, peer: &str, request: &Request) -> Outcome {
        let elapsed = self.start.elapsed().as_secs_f64();
        if let Err(reason) = self.budget.borrow().has_time_for(peer, elapsed) {
            return Outcome::Skipped(reason);
        }
        let outcome = self.asked(peer, request);
        self.budget.borrow_mut().took_turn(peer, self.start.elapsed().as_secs_f64() - elapsed);
        outcome.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
    }

    /// Lets every peer compile these workloads, where all are in one process; their turns show the outcome.
    fn compile(&self, workloads: &[&str], dtypes: &[DType]) {
        if self.are_together && !workloads.is_empty() {
            let dtypes: Vec<String> = dtypes.iter().map(DType::to_string).collect();
            let line = format!("--compile --only {} --dtype {}", workloads.join(","), dtypes.join(","));
            match self.said("", &line) {
                Ok(answer) => eprintln!("peers: {}", answer.trim()),
                Err(error) => eprintln!("peers: {error:#}"),
            }
        }
    }

    fn asked(&self, peer: &str, request: &Request) -> Result<Outcome> {
        let Request { workload, dtype, repeats, seconds, sets } = request;
        let effort = format!("--repeat {repeats} --seconds {seconds} --sets {sets}");
        let mut line = format!("--only {workload} --dtype {dtype} {effort}");
        if self.are_together {
            line = format!("--peers {peer} {line}");
        }
        let line = self.said(peer, &line)?;
        serde_json::from_str(&line).with_context(|| format!("it answered {}", line.trim()))
    }

    /// The answer of the peer's process to a line.
    fn said(&self, peer: &str, line: &str) -> Result<String> {
        let mut servers = self.servers.borrow_mut();
        let all: Vec<&str> = self.offered.keys().map(String::as_str).collect();
        let (names, options) = match self.are_together {
            true => (all.join(","), &["--serve", "--together", "--peers"][..]),
            false => (peer.to_owned(), &["--serve", "--peers"][..]),
        };
        let mut server = match servers.remove(&names) {
            Some(server) => server,
            None => Server::start(self.command(&[options, &[&names]].concat())?)
                .with_context(|| self.starting())?,
        };
        match server.answer(line) {
            Some(answer) => {
                // One that has died is started anew when it is asked again.
                servers.insert(names, server);
                Ok(answer)
            }
            None => bail!("{}", server.last_words()?),
        }
    }
}

impl Server {
    fn start(mut command: Command) -> Result<Server> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let questions = process.stdin.take().context("a process without input")?;
        let answers = BufReader::new(process.stdout.take().context("a process without output")?);
        Ok(Server { process, questions, answers })
    }

    /// The line that answers a line, if it lives.
    fn answer(&mut self, question: &str) -> Option<String> {
        // Whether it could be asked shows in whether it answers.
        let _ = writeln!(self.questions, "{question}");
        let mut line = String::new();
        self.answers.read_line(&mut line).ok().filter(|count| *count > 0).map(|_| line)
    }

    /// Its exit status, and its last line.
    fn last_words(mut self) -> Result<String> {
        let mut words = String::new();
        if let Some(mut said) = self.process.stderr.take() {
            said.read_to_string(&mut words)?;
        }
        drop((self.questions, self.answers));
        let status = self.process.wait()?;
        Ok(format!("{status}: {}", words.trim().lines().last().unwrap_or("no last words")))
    }

    /// It ends when there is nobody left to ask.
    fn end(self) {
        let Server { mut process, questions, answers } = self;
        drop((questions, answers));
        // A process that cannot be waited for has ended.
        let _ = process.wait();
    }
}

/// The last line that a process printed; where there is none, how it ended and its last words.
fn answer<T: for<'a> Deserialize<'a>>(output: &Output) -> Result<T> {
    let (printed, words) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match printed.lines().last().filter(|_| output.status.success()) {
        Some(line) => serde_json::from_str(line).with_context(|| format!("it answered {line}")),
        None => bail!("{}: {}", output.status, words.trim().lines().last().unwrap_or("no last words")),
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

/// Sizes for programs that do not read the table.
pub const SMALLEST: Sizes = Sizes { line: 9, plane: 9, cube: 9 };

/// The programs and what they compute in a folder of their own, where Python imports and nvcc compiles them.
pub fn unpacked(sizes: &Sizes) -> Result<PathBuf> {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("partita-peers-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
    let workloads = WORKLOADS.iter().map(|workload| (workload.name.to_owned(), workload.description(sizes)));
    let apps = APPS.iter().map(|app| (app.name.to_owned(), app.description(sizes)));
    let (workloads, apps): (Map<_, _>, Map<_, _>) = (workloads.collect(), apps.collect());
    let table = json!({"cube": sizes.cube, "workloads": workloads, "apps": apps}).to_string();
    for (name, text) in FILES.iter().copied().chain([("table.json", &table[..])]) {
        let file = folder.join(name.rsplit('/').next().unwrap_or(name));
        std::fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
    }
    Ok(folder)
}

impl Drop for Peers {
    fn drop(&mut self) {
        std::mem::take(self.servers.get_mut()).into_values().for_each(Server::end);
        if let Some(folder) = &self.folder {
            // A folder that stays is in nobody's way.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
#[path = "peers_tests.rs"]
mod tests;
