//! `partita-bench`: how fast generated kernels run here, beside the machine's ceilings and the peers.
//!
//! This file is the command line. `cases` holds what is measured, `run` takes the figures, `results` keeps
//! and shows them, `facts` counts what generated kernels hold.

mod cases;
mod facts;
mod raw_access;
mod results;
mod run;
mod sample;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use partita::device::Subnormals;
use partita::prelude::*;
use partita::transport::LinkReport;

use cases::workload::{self, Sizes};
use results::machine::{self, Machine, Seen};
use results::record::{self, Line};
use results::report;
use run::measure;
use run::wanted::Wanted;
use run::{calls, ceiling, messages, peers};
use sample::Effort;

/// Partita's benchmark: T_eff = (arrays read once + written once) x bytes / median time.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Name what is measured.
    List,
    /// Measure.
    Run(RunOptions),
    /// Write saved runs, of any number of machines, as Markdown tables.
    Report {
        /// Files written by `run --save`.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The file for them.
        #[arg(long, default_value = "report.md")]
        out: PathBuf,
    },
    /// Count what generated kernels hold, from their machine code: registers, spills, barriers, loads.
    Facts(facts::Options),
    /// Measure whole calls from Python (O1), Partita's beside those of CuPy, PyTorch, JAX and NumPy.
    Calls(calls::CallOptions),
    /// Say which devices and peers are here.
    Doctor,
    /// Measure the links between all devices of this program's ranks; alone or started by `mpirun`, torchrun.
    Links {
        /// Devices, comma separated; those of PARTITA_DEVICE by default.
        #[arg(long, value_delimiter = ',')]
        device: Vec<String>,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Measure messages between two processes beside MPI alone, built with `--features mpi`, or beside bare
    /// sockets; by `mpirun -n 2`.
    Messages {
        /// The device of each: host, cuda.
        #[arg(long, default_value = "host")]
        device: String,
    },
}

#[derive(Args)]
struct RunOptions {
    /// Devices, comma separated: host, cuda, wgpu, auto.
    #[arg(long, default_value = "host", value_delimiter = ',')]
    device: Vec<String>,
    /// Parts of names, whole names such as =sum, or whole families such as E1, comma separated; everything by
    /// default.
    #[arg(long, value_delimiter = ',')]
    filter: Vec<String>,
    /// Types, comma separated.
    #[arg(long, default_value = "f32", value_delimiter = ',')]
    dtype: Vec<Precision>,
    /// Elements of the one-dimensional arrays.
    #[arg(long, value_parser = extent)]
    n: Option<i64>,
    /// Extent of the two-dimensional arrays.
    #[arg(long, value_parser = extent)]
    plane: Option<i64>,
    /// Extent of the three-dimensional arrays.
    #[arg(long, alias = "stencil", value_parser = extent)]
    cube: Option<i64>,
    /// Samples that are enough for one figure.
    #[arg(long, alias = "repeat", value_parser = number)]
    samples: Option<usize>,
    /// Parts per array.
    #[arg(long, value_parser = parts)]
    parts: Option<usize>,
    /// Smaller arrays and less time: minutes instead of a quarter of an hour. Turns of peers that do not fit
    /// into the budget are left out and named.
    #[arg(long)]
    quick: bool,
    /// Tiny sizes, to see that everything runs; the figures mean nothing.
    #[arg(long, conflicts_with = "quick")]
    smoke: bool,
    /// A Python with NumPy and whatever it has of numba, jax and torch (for CUDA: cupy, torch, jax):
    /// measures these peers in the same run, and nvcc's code where nvcc is.
    #[arg(long)]
    peers: Option<PathBuf>,
    /// Only these peers, comma separated, such as numba,torch.compile; all that are there by default.
    #[arg(long, value_delimiter = ',', requires = "peers")]
    beside: Vec<String>,
    /// Seconds for the run: turns of peers that do not fit are left out and named. Ours are always measured.
    /// 270 with --quick, otherwise none.
    #[arg(long, value_parser = seconds)]
    budget: Option<f64>,
    /// Print JSON lines instead of tables.
    #[arg(long)]
    json: bool,
    /// Save the JSON lines as they come, for `report`.
    #[arg(long)]
    save: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Precision {
    F16,
    F32,
    F64,
}

impl From<Precision> for DType {
    fn from(precision: Precision) -> DType {
        match precision {
            Precision::F16 => DType::F16,
            Precision::F32 => DType::F32,
            Precision::F64 => DType::F64,
        }
    }
}

/// The extent that the widest stencil needs.
const LEAST_EXTENT: i64 = 9;
/// An extent that needs no care when it is multiplied by a few.
const MOST_EXTENT: i64 = 1 << 40;

fn extent(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(extent) if extent > MOST_EXTENT => {
            Err(format!("expected a number of at most {MOST_EXTENT}: no memory has room for more"))
        }
        Ok(extent) if extent >= LEAST_EXTENT => Ok(extent),
        _ => Err(format!("expected a number of at least {LEAST_EXTENT}, which the widest stencil needs")),
    }
}

/// Laying out more takes minutes, and measures nothing but that.
const MOST_PARTS: usize = 1024;

fn parts(text: &str) -> Result<usize, String> {
    number(text)
        .ok()
        .filter(|&parts| parts <= MOST_PARTS)
        .ok_or_else(|| format!("expected a number of at least 1 and at most {MOST_PARTS}"))
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
    seconds.ok_or_else(|| "expected seconds, a finite number of at least 0".to_owned())
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number of at least 1".to_owned())
}

/// Sizes, parts, effort, bytes to rotate among, seconds for the run.
struct Scale(Sizes, usize, Effort, f64, Option<f64>);

const FULL: Scale = Scale(
    Sizes { line: 1 << 26, plane: 1 << 13, cube: 512 },
    1,
    Effort { seconds: 3.0, least: 9, most: 41 },
    (1u64 << 30) as f64,
    None,
);
const QUICK: Scale = Scale(
    Sizes { line: 1 << 22, plane: 1 << 11, cube: 160 },
    1,
    Effort { seconds: 0.4, least: 6, most: 21 },
    (1u64 << 28) as f64,
    Some(270.0),
);
const SMOKE: Scale = Scale(
    Sizes { line: 10_007, plane: 101, cube: 24 },
    2,
    Effort { seconds: 0.001, least: 2, most: 2 },
    (1u64 << 20) as f64,
    None,
);

fn main() -> ExitCode {
    match execute(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output, such as `head`, has seen enough.
        Err(error) if is_unread(&error) => ExitCode::SUCCESS,
        // One line: what was measured is on the standard output.
        Err(error) => {
            eprintln!("partita-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_unread(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn execute(command: Command) -> Result<()> {
    partita::config::checked()?;
    match command {
        Command::List => list()?,
        Command::Run(options) => measured(&options)?,
        Command::Report { files, out } => {
            report::write(&files, &out)?;
            writeln!(io::stdout(), "{}", out.display())?;
        }
        Command::Facts(options) => facts::run(&options, &FULL.0)?,
        Command::Links { device, json } => links(&device, json)?,
        Command::Messages { device } => messages::run(&device)?,
        Command::Calls(options) => shown(&calls::run(&options)?, false)?,
        Command::Doctor => doctor()?,
    }
    Ok(())
}

/// Rank 0 prints; a link that fails is an error.
fn links(words: &[String], json: bool) -> Result<()> {
    let mut devices = Vec::new();
    let default = [partita::config::config().device.clone()];
    for word in if words.is_empty() { &default[..] } else { words } {
        devices.extend(Device::named(word)?);
    }
    let report = LinkReport::measure(&devices)?;
    if report.rank == 0 {
        match json {
            true => writeln!(io::stdout(), "{}", report.to_json())?,
            false => write!(io::stdout(), "{report}")?,
        }
    }
    ensure!(report.all_arrived(), "a link fails");
    Ok(())
}

/// Family, name and meaning of everything that is measured.
fn everything() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut all: Vec<_> = ceiling::CEILINGS.iter().map(|&(name, text)| ("ceiling", name, text)).collect();
    all.extend(workload::WORKLOADS.iter().map(|w| (w.group, w.name, w.text)));
    all.extend(cases::alone().map(|case| (case.group, case.name, case.text)));
    all
}

fn list() -> Result<()> {
    let mut out = io::stdout();
    for (group, name, text) in everything() {
        let operations = workload::Workload::named(name).map(|workload| workload.operations_per_cell());
        let work = operations.map_or(String::new(), |count| format!("; operations per cell: {count}"));
        writeln!(out, "{group:8} {name:13} {text}{work}")?;
    }
    writeln!(out, "{:8} {:13} whole calls from Python, by `partita-bench calls`", "O1", "")?;
    writeln!(out, "{:8} {:13} those of {}, with --device wgpu,cuda", "W1", "", workload::BESIDE.join(", "))?;
    Ok(())
}

fn measured(options: &RunOptions) -> Result<()> {
    let wanted = wanted(options)?;
    if let Some(reason) = wanted.misuse(machine::available_memory()) {
        Cli::command().error(ErrorKind::ValueValidation, reason).exit();
    }
    let start =
        |python: &PathBuf| peers::Peers::start(python, &wanted.sizes, &wanted.devices)?.only(&options.beside);
    let peers = options.peers.as_ref().map(start).transpose()?;
    shown(&measure::run(&wanted, peers)?, options.json)
}

/// Prints the lines of a run; fails where one of them is a failure.
fn shown(lines: &[Line], as_json: bool) -> Result<()> {
    let text = if as_json { record::to_text(lines)? } else { report::markdown(lines) };
    write!(io::stdout(), "{text}")?;
    let failed = lines.iter().filter(|line| matches!(line, Line::Failed(_))).count();
    ensure!(failed == 0, "{failed} failed: a wrong result is no figure");
    Ok(())
}

fn wanted(options: &RunOptions) -> Result<Wanted> {
    let scales = [(options.smoke, SMOKE), (options.quick, QUICK)];
    let Scale(sizes, parts, effort, rotated_bytes, budget) =
        scales.into_iter().find_map(|(is_wanted, scale)| is_wanted.then_some(scale)).unwrap_or(FULL);
    let mut devices = Vec::new();
    for word in &options.device {
        devices.extend(Device::named(word)?);
    }
    let most = options.samples.unwrap_or(effort.most);
    Ok(Wanted {
        devices,
        filter: options.filter.clone(),
        dtypes: options.dtype.iter().map(|&precision| precision.into()).collect(),
        sizes: Sizes {
            line: options.n.unwrap_or(sizes.line),
            plane: options.plane.unwrap_or(sizes.plane),
            cube: options.cube.unwrap_or(sizes.cube),
        },
        parts: options.parts.unwrap_or(parts),
        effort: Effort { most, least: effort.least.min(most), ..effort },
        rotated_bytes,
        budget: options.budget.or(budget),
        save: options.save.clone(),
    })
}

/// A device in one line; of adapters what they do with subnormals, which is found by a trial.
fn described(device: &Device) -> String {
    let seen = Seen::of(device);
    let found = match device.kind() {
        DeviceKind::Wgpu => format!("; subnormals {:?}", device.subnormals()).to_lowercase(),
        _ => String::new(),
    };
    format!("{}: {}{found}", seen.kind(), seen.name)
}

fn doctor() -> Result<()> {
    let mut out = io::stdout();
    let machine = Machine::here(Device::all());
    writeln!(out, "partita-bench {}", machine.version)?;
    writeln!(
        out,
        "processor: {}; clock {} MHz",
        machine.title(),
        machine.clock_mhz.map_or("?".to_owned(), |c| c.to_string())
    )?;
    writeln!(out, "system: {}", machine.system)?;
    writeln!(
        out,
        "load: {:.2} runnable processes; figures are honest below {:.1}",
        machine.load.0,
        machine::QUIET_LOAD * machine.cores as f64
    )?;
    for device in Device::all() {
        writeln!(out, "{}", described(device))?;
        for trial in device.subnormal_trials() {
            let all_kept = trial.operands == Subnormals::Kept && trial.results == Subnormals::Kept;
            if !all_kept {
                let found = format!("operands {:?}, results {:?}", trial.operands, trial.results);
                writeln!(out, "    {} {}: subnormal {}", trial.dtype, trial.operation, found.to_lowercase())?;
            }
        }
    }
    if let Some(library) = partita::device::cuda::library() {
        writeln!(out, "CUDA driver: {library}")?;
    }
    for gpu in &machine.gpus {
        writeln!(out, "nvidia-smi: {gpu}")?;
    }
    if Device::all().iter().all(|device| device.kind() != DeviceKind::Cuda) {
        writeln!(out, "cuda: {}", partita::device::cuda::absence())?;
    }
    writeln!(
        out,
        "peers: pass a Python with numpy, numba, jax and torch (CUDA: cupy, torch, jax) \
         as --peers PYTHON"
    )?;
    writeln!(out, "next: partita-bench run --quick --save run.jsonl; partita-bench report run.jsonl")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the command line is understood, or what is said of it.
    fn said(line: &str) -> Result<(), String> {
        let words = std::iter::once("partita-bench").chain(line.split_whitespace());
        Cli::try_parse_from(words).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn sizes_that_mean_nothing_are_refused_with_a_reason() {
        for wrong in ["--n 0", "--plane 8", "--cube many", "--cube=-9"] {
            let why = said(&format!("run {wrong}")).expect_err(wrong);
            assert!(why.contains("at least 9"), "{wrong}: {why}");
        }
        for wrong in ["--budget nan", "--budget inf", "--budget=-1", "--budget much"] {
            let why = said(&format!("run {wrong}")).expect_err(wrong);
            assert!(why.contains("a finite number of at least 0"), "{wrong}: {why}");
        }
        let why = said("run --parts 1000000").expect_err("too many parts");
        assert!(why.contains("at most 1024"), "{why}");
        for wrong in ["--n 99999999999999", "--cube 9223372036854775807"] {
            let why = said(&format!("run {wrong}")).expect_err(wrong);
            assert!(why.contains("at most 1099511627776: no memory has room"), "{wrong}: {why}");
        }
        for wrong in ["--samples 0", "--parts 0"] {
            let why = said(&format!("run {wrong}")).expect_err(wrong);
            assert!(why.contains("at least 1"), "{wrong}: {why}");
        }
        said("run --n 9 --plane 9 --cube 9 --samples 1 --parts 1 --budget 60")
            .expect("all of it means something");
    }

    #[test]
    fn adapters_are_described_with_what_they_do_with_subnormals() {
        for device in Device::all() {
            let (line, is_adapter) = (described(device), device.kind() == DeviceKind::Wgpu);
            let found = [" kept", " flushed", " unspecified"].map(|word| format!("; subnormals{word}"));
            let is_said = found.iter().any(|found| line.ends_with(found));
            assert!(line.contains(device.name()) && is_said == is_adapter, "{line}");
        }
    }

    #[test]
    fn a_name_means_one_thing() {
        let names: Vec<_> = everything().into_iter().filter(|(group, ..)| *group != "ceiling").collect();
        for (k, (_, name, text)) in names.iter().enumerate() {
            assert!(names[..k].iter().all(|(_, other, _)| other != name), "{name} twice");
            assert!(!text.is_empty(), "{name}: no meaning");
        }
    }
}
