//! Programs that a person would run: each example and the benchmark in its smallest useful form, and the
//! tsunami in every layout.

use super::{Run, SEVERAL};
use crate::exec::{End, SILENCE, run};
use crate::simulated::{Driver, built};
use crate::tally::Tally;
use std::path::Path;
use std::process::Command;

/// A program that a person would run, in its smallest useful form. It must end successfully.
struct Smoke {
    name: &'static str,
    /// Its file under `target/debug`.
    program: &'static str,
    /// The device it needs, for `--allow-missing`.
    device: Option<&'static str>,
    /// `{out}` becomes a folder that is removed afterwards.
    arguments: &'static str,
}

const TSUNAMI: &str = "examples/tsunami";

const fn smoke(
    name: &'static str,
    program: &'static str,
    device: Option<&'static str>,
    arguments: &'static str,
) -> Smoke {
    Smoke { name, program, device, arguments }
}

/// Every example has at least one row here.
const SMOKES: &[Smoke] = &[
    smoke(
        "tsunami on the host",
        TSUNAMI,
        None,
        "--device host --scale 1 --parts 3 --steps 20 --frames 1 --out {out} --json",
    ),
    smoke(
        "tsunami on wgpu",
        TSUNAMI,
        Some("wgpu"),
        "--device wgpu --scale 1 --parts 3 --steps 20 --frames 1 --out {out} --json",
    ),
    smoke(
        "tsunami on simulated CUDA",
        TSUNAMI,
        Some("cuda"),
        "--device cuda --scale 1 --parts 5 --steps 20 --frames 0 --json",
    ),
    smoke("gray_scott", "examples/gray_scott", None, ""),
    smoke("heat", "examples/heat", None, ""),
    smoke("channel", "examples/channel", None, ""),
    smoke("own_map", "examples/own_map", None, ""),
    smoke("scaling", "examples/scaling", None, ""),
    smoke("two_halves", "examples/two_halves", Some("mpi"), ""),
    smoke("benchmarks", "partita-bench", None, "run --smoke"),
    smoke("facts", "partita-bench", Some("ptxas"), "facts --target sm_90"),
    // Kernels of which GPUs before and after have others; those of bf16 are like those of f16.
    smoke(
        "facts of other GPUs",
        "partita-bench",
        Some("ptxas"),
        "facts --target sm_80,sm_100 --filter S1,S2,S3,odd,turned_too --dtype f32,f64,f16",
    ),
];

/// The devices on which the tsunami is computed in every layout.
const DEVICES: &[&str] = &["host", "wgpu", "cuda"];

/// Numbers of parts and, where it is not left to the program, their grid.
const LAYOUTS: &[(&str, &str)] =
    &[("1", ""), ("2", ""), ("3", ""), ("5", ""), ("6", "1x6"), ("6", "2x3"), ("6", "6x1")];

impl Run<'_> {
    pub(super) fn smoke(&self) -> Tally {
        let compiled = self.programs();
        let names: Vec<&str> =
            SMOKES.iter().filter_map(|smoke| smoke.program.strip_prefix("examples/")).collect();
        let unlisted = examples(self.root).into_iter().filter(|name| !names.contains(&name.as_str()));
        let unlisted = unlisted.map(|name| Tally::failed(format!("smoke: examples/{name}.rs has no row")));
        // Side by side: most of these programs keep one core busy.
        let (smokes, same) = std::thread::scope(|scope| {
            let same = scope.spawn(|| DEVICES.iter().map(|device| self.same_bits(device)).collect::<Tally>());
            let smokes: Tally = SMOKES.iter().map(|smoke| self.smoke_one(smoke)).collect();
            (smokes, same.join().unwrap_or_else(|_| Tally::failed("same bits: panicked")))
        });
        [compiled, smokes, same].into_iter().chain(unlisted).collect()
    }

    /// The tsunami's final surface is the same file for every number of parts and every grid.
    fn same_bits(&self, device: &str) -> Tally {
        let name = format!("same bits on {device}");
        if self.options.may_miss(device) {
            return Tally::skipped(&name, format!("--allow-missing {device}"));
        }
        println!("\n-- {name} for {} layouts", LAYOUTS.len());
        let mut first: Option<Vec<u8>> = None;
        for (parts, grid) in LAYOUTS {
            let dump = self.scratch.join("surface.npy");
            let mut command = self.program(built(self.root, TSUNAMI));
            self.with_device(&mut command, Some(device));
            command.args(["--device", device, "--scale", "1", "--steps", "60"]);
            command.args(["--frames", "0", "--parts", parts]).arg("--dump").arg(&dump);
            if !grid.is_empty() {
                command.args(["--grid", grid]);
            }
            let layout = format!("{name}: {parts} parts {grid}");
            let end = run(&mut command, SILENCE, |_| {}).end;
            let surface = std::fs::read(&dump).unwrap_or_default();
            if end != End::Success || surface.is_empty() {
                return Tally::failed(format!("{layout}: {end}"));
            }
            if *first.get_or_insert_with(|| surface.clone()) != surface {
                return Tally::failed(format!("{layout}: another surface than with {} parts", LAYOUTS[0].0));
            }
        }
        Tally::passed()
    }

    /// CUDA runs on the simulated driver, so that every machine runs the same.
    fn with_device(&self, command: &mut Command, device: Option<&str>) {
        if device == Some("cuda") {
            Driver::of(self.root).for_command(command, SEVERAL);
        }
    }

    fn smoke_one(&self, smoke: &Smoke) -> Tally {
        if let Some(device) = smoke.device.filter(|device| self.options.may_miss(device)) {
            return Tally::skipped(smoke.name, format!("--allow-missing {device}"));
        }
        println!("\n-- {}", smoke.name);
        let out = self.scratch.join(smoke.name.replace(' ', "_"));
        let mut command = self.program(built(self.root, smoke.program));
        self.with_device(&mut command, smoke.device);
        for argument in smoke.arguments.split_whitespace() {
            match argument {
                "{out}" => command.arg(&out),
                other => command.arg(other),
            };
        }
        self.check(&format!("smoke: {}", smoke.name), command)
    }
}

/// The names of the programs in `examples/`.
fn examples(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("examples")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_string()))
        .collect();
    names.sort();
    names
}
