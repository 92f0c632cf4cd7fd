//! `partita-bench gates`: what generated kernels would reach on GPUs that are not here, read from their
//! machine
//! code. The engine's own launches are recorded over the simulated driver (`launches`), assembled
//! (`assembler`), walked (`walk`) and judged (`predict`) with the constants in `targets`.

mod assembler;
mod floors;
mod judge;
mod launches;
mod predict;
mod sass;
mod table;
mod targets;
mod walk;

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use partita::DType;

use crate::cases::workload::Sizes;
use targets::{TARGETS, Target};

/// What to judge.
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
    /// Print the predicted fractions only; a letter where a goal is not met: D DRAM, L L1, 2 L2, i issue, W
    /// waiting.
    #[arg(long)]
    brief: bool,
    /// Keep texts, machine code and launches in this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Judge what an earlier run has kept, without recording it again.
    #[arg(long, requires = "keep")]
    again: bool,
    /// Write the floors anew; those that would fall stay.
    #[arg(long)]
    raise: bool,
    /// The process that runs the cases over the simulated driver.
    #[arg(long, hide = true)]
    record: bool,
}

/// Judges the wanted cases; fails if a gate is red.
pub fn run(options: &Options, sizes: &Sizes) -> Result<()> {
    let dtypes = dtypes(&options.dtype)?;
    if options.record {
        return launches::run_cases(sizes, &options.filter, &dtypes);
    }
    let mut out = io::stdout();
    let tools = match assembler::Tools::find() {
        Ok(tools) => tools,
        Err(reason) => {
            writeln!(out, "skipped: gates ({reason})")?;
            return Ok(());
        }
    };
    let targets = options.target.iter().map(|name| {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        Target::named(name).with_context(|| format!("no target `{name}`; there are {}", known.join(", ")))
    });
    let targets = targets.collect::<Result<Vec<_>>>()?;
    let mut words = Vec::new();
    for (flag, list) in [("--filter", &options.filter), ("--dtype", &options.dtype)] {
        if !list.is_empty() {
            words.extend([flag.to_owned(), list.join(",")]);
        }
    }
    let own = std::env::temp_dir().join(format!("partita-gates-{}", std::process::id()));
    let folder = options.keep.clone().unwrap_or(own.clone());
    let mut lines = Vec::new();
    for target in targets {
        let folder = folder.join(target.name);
        if !options.again {
            // What an earlier run has kept would be appended to.
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder)?;
            launches::record(target, &words, &folder)?;
        }
        let recorded = launches::read(&folder)?;
        lines.extend(judge::judge(target, &recorded, sizes, &tools, &folder)?);
    }
    let _ = std::fs::remove_dir_all(own);
    if !options.json {
        for target in targets_of(&lines) {
            let (copy, dram) = (target.copy_tb_s, target.dram_bytes());
            writeln!(
                out,
                "{}: {}, copy {copy} TB/s, {dram:.1} bytes per clock and multiprocessor; \
                 predicted, not measured",
                target.name, target.product
            )?;
        }
        writeln!(out)?;
    }
    let text = match (options.json, options.brief) {
        (true, _) => table::json(&lines)?,
        (false, true) => table::brief(&lines),
        (false, false) => table::text(&lines),
    };
    write!(out, "{text}")?;
    if options.raise {
        return floors::raise(&lines);
    }
    let red: Vec<String> = lines.iter().flat_map(floors::red).collect();
    ensure!(red.is_empty(), "{} gates are red:\n{}", red.len(), red.join("\n"));
    Ok(())
}

/// The targets that lines are about.
fn targets_of(lines: &[judge::KernelVerdict]) -> impl Iterator<Item = &'static Target> {
    TARGETS.iter().filter(|target| lines.iter().any(|line| line.target == target.name))
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
