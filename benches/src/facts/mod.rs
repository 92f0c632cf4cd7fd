//! Facts of generated kernels, without a GPU: `partita-bench facts`. The engine's own launches of the
//! benchmark's cases are recorded over the simulated driver (`launches`) and assembled (`assembler`); their
//! machine code is counted (`count`) and compared with what the formulas need (`limits`, `stencils`).
//!
//! Invariant: nothing here is a time. Figures of GPUs are measured, in `benches/results/gpu.md`.

mod assembler;
mod count;
mod launches;
mod limits;
mod sass;
#[cfg(test)]
mod sketches;
mod stencils;
mod target;

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use partita::DType;

use crate::cases::workload::Sizes;
use count::{KernelFacts, kernel_facts};
use target::Target;

/// Which kernels to count.
#[derive(Args)]
pub struct Options {
    /// GPUs, comma separated: sm_80, sm_89, sm_90, sm_100.
    #[arg(long, default_value = "sm_90", value_delimiter = ',')]
    target: Vec<String>,
    /// Parts of names, whole names such as =sum, or families such as S2, comma separated; everything by
    /// default.
    #[arg(long, alias = "case", alias = "family", value_delimiter = ',')]
    filter: Vec<String>,
    /// Types, comma separated; all by default.
    #[arg(long, value_delimiter = ',')]
    dtype: Vec<String>,
    /// Print JSON lines instead of a table.
    #[arg(long)]
    json: bool,
    /// Keep texts, machine code and launches in this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// The process that runs the cases over the simulated driver.
    #[arg(long, hide = true)]
    record: bool,
}

/// Prints the facts of the wanted cases; fails if a kernel is beyond its limits.
pub fn run(options: &Options, sizes: &Sizes) -> Result<()> {
    let dtypes = dtypes(&options.dtype)?;
    if options.record {
        return launches::run_cases(sizes, &options.filter, &dtypes);
    }
    let mut out = io::stdout();
    let tools = match assembler::Tools::find() {
        Ok(tools) => tools,
        Err(reason) => {
            writeln!(out, "skipped: facts ({reason})")?;
            return Ok(());
        }
    };
    let mut words = Vec::new();
    for (flag, list) in [("--filter", &options.filter), ("--dtype", &options.dtype)] {
        if !list.is_empty() {
            words.extend([flag.to_owned(), list.join(",")]);
        }
    }
    let targets = options.target.iter().map(|name| Target::named(name)).collect::<Result<Vec<_>>>()?;
    let own = std::env::temp_dir().join(format!("partita-facts-{}", std::process::id()));
    let mut facts = Vec::new();
    for target in targets {
        let folder = options.keep.as_ref().unwrap_or(&own).join(target.name);
        // New results would be appended to files of an earlier run.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        launches::record(target, &words, &folder)?;
        facts.extend(kernel_facts(target, &launches::read(&folder)?, sizes, &tools, &folder)?);
    }
    let _ = std::fs::remove_dir_all(own);
    for (at, facts) in facts.iter().enumerate() {
        match options.json {
            true => writeln!(out, "{}", serde_json::to_string(facts)?)?,
            false if at == 0 => write!(out, "{}{}", KernelFacts::head(), facts.row())?,
            false => write!(out, "{}", facts.row())?,
        }
    }
    let beyond: Vec<String> = facts.iter().flat_map(limits::beyond).collect();
    ensure!(beyond.is_empty(), "{} kernels are beyond their limits:\n{}", beyond.len(), beyond.join("\n"));
    Ok(())
}

fn dtypes(names: &[String]) -> Result<Vec<DType>> {
    if names.is_empty() {
        return Ok(launches::DTYPES.to_vec());
    }
    let named = |name: &String| {
        let known = launches::DTYPES.into_iter().find(|dtype| dtype.to_string() == *name);
        known.with_context(|| format!("no type `{name}` here"))
    };
    names.iter().map(named).collect()
}
