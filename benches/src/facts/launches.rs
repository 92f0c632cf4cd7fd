//! The launches that the engine makes for the benchmark's cases at their full sizes: recorded by the
//! simulated driver in a process of its own, which sees a GPU like the target. Nothing is computed there.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use partita::prelude::*;
use serde::Deserialize;

use super::target::Target;
use crate::cases::bound::Bound;
use crate::cases::case::{On, Work};
use crate::cases::workload::{Sizes, WORKLOADS, Workload};
use crate::sample::Effort;

/// Types of which every case is counted.
pub const DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::BF16];

/// Of a launch as `simcuda/src/driver/record.rs` writes it: sums over all blocks, from a few of them.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Launch {
    pub ptx: String,
    pub entry: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of shared memory that a block is given, beside what its text declares.
    pub shared_bytes: u32,
    /// Threads that use memory.
    pub active: f64,
    /// Line, issues by all warps, lanes, issues by one warp in the middle.
    pub steps: Vec<(u32, f64, f64, f64)>,
    pub accesses: Vec<Access>,
}

/// Accesses of one line.
#[derive(Clone, Debug, Deserialize)]
pub struct Access {
    pub place: Place,
    pub bytes: f64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Read,
    Write,
    Shared,
}

/// A case and its launches.
pub struct Recorded {
    pub workload: &'static Workload,
    pub dtype: DType,
    pub launches: Vec<Launch>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Launch(Box<Launch>),
    /// The launches since the last such line belong to a case, or to its preparation.
    Case {
        case: String,
        dtype: String,
    },
    Prepared {},
}

/// Whether a case is wanted.
pub fn wants(filter: &[String], workload: &Workload) -> bool {
    let is_meant = |word: &String| match word.strip_prefix('=') {
        Some(whole) => workload.name == whole,
        None => workload.name.contains(word.as_str()) || workload.group.eq_ignore_ascii_case(word),
    };
    filter.is_empty() || filter.iter().any(is_meant)
}

/// Records the wanted cases in a process that sees the target, into a folder.
pub fn record(target: Target, words: &[String], folder: &Path) -> Result<()> {
    let driver = folder.join("driver");
    link_driver(&driver)?;
    let exe = std::env::current_exe().context("this program's own path")?;
    let mut command = Command::new(exe);
    command.args(["facts", "--record", "--target", target.name]).args(words);
    let paths = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths = std::env::join_paths(std::iter::once(driver).chain(std::env::split_paths(&paths)))?;
    command.env("LD_LIBRARY_PATH", paths);
    let set = [
        ("PARTITA_SIM_RECORD", folder.display().to_string()),
        ("PARTITA_SIM_DEVICES", "1".to_owned()),
        ("PARTITA_SIM_SM", target.sm().to_owned()),
        ("PARTITA_SIM_MULTIPROCESSORS", target.multiprocessors.to_string()),
        ("PARTITA_SIM_MEMORY_BYTES", (1u64 << 37).to_string()),
        ("PARTITA_SIM_SEED", "0".to_owned()),
    ];
    let status = command.envs(set).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "recording the launches for {} ended with {status}", target.name);
    Ok(())
}

/// The cases that were recorded into a folder.
pub fn read(folder: &Path) -> Result<Vec<Recorded>> {
    let file = folder.join("launches.jsonl");
    let text = fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
    let (mut all, mut launches) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match serde_json::from_str(line).with_context(|| line.chars().take(200).collect::<String>())? {
            Line::Launch(launch) => launches.push(*launch),
            Line::Case { case, dtype } => {
                let dtype = DTYPES.into_iter().find(|known| known.to_string() == dtype);
                let (workload, dtype) = (Workload::named(&case)?, dtype.context("a type")?);
                all.push(Recorded { workload, dtype, launches: std::mem::take(&mut launches) });
            }
            Line::Prepared {} => launches.clear(),
        }
    }
    Ok(all)
}

/// Puts the simulated driver where the loader finds it under the driver's names.
fn link_driver(folder: &Path) -> Result<()> {
    let library = simulated_driver()?;
    fs::create_dir_all(folder)?;
    for name in ["libcuda.so.1", "libcuda.so"] {
        let link = folder.join(name);
        let _ = fs::remove_file(&link);
        #[cfg(unix)]
        std::os::unix::fs::symlink(&library, &link).with_context(|| link.display().to_string())?;
        #[cfg(not(unix))]
        fs::copy(&library, &link).map(drop)?;
    }
    Ok(())
}

/// The simulated driver that was built beside this program.
pub fn simulated_driver() -> Result<PathBuf> {
    let exe = std::env::current_exe().context("this program's own path")?;
    let folders: Vec<&Path> = exe.ancestors().skip(1).take(2).collect();
    let places = |folder: &&Path| ["libsimcuda.so", "deps/libsimcuda.so"].map(|name| folder.join(name));
    let here = folders.iter().flat_map(places).find(|file| file.is_file());
    match here {
        Some(file) => Ok(file),
        None => bail!("no simulated driver beside {}; run `cargo build -p simcuda`", exe.display()),
    }
}

/// In that process: runs every wanted case once, and says in the record which launches are its own.
pub fn run_cases(sizes: &Sizes, filter: &[String], dtypes: &[DType]) -> Result<()> {
    let folder = std::env::var_os("PARTITA_SIM_RECORD").context("PARTITA_SIM_RECORD names no folder")?;
    let device = Device::named("cuda")?.into_iter().next().context("no device")?;
    let file = PathBuf::from(folder).join("launches.jsonl");
    let mut file = fs::OpenOptions::new().append(true).create(true).open(file)?;
    let effort = &Effort { seconds: 0.0, least: 1, most: 1 };
    for workload in WORKLOADS.iter().filter(|workload| wants(filter, workload)) {
        for &dtype in dtypes {
            let on = On { device: &device, dtype, sizes, parts: 1, effort, copy_gb_s: None };
            let mut bound = Bound::of_zeros(workload, &on)?;
            on.team(1)?.wait()?;
            writeln!(file, "{{}}")?;
            bound.run(1)?;
            let (name, bytes) = (workload.name, workload.bytes(sizes, dtype));
            writeln!(file, "{{\"case\":\"{name}\",\"dtype\":\"{dtype}\",\"bytes\":{bytes}}}")?;
        }
    }
    Ok(())
}
