//! Every case through `ptxas`, NVIDIA's assembler, for every target whose text is its own. Without it each
//! test prints `skipped: ptxas (where it was searched)`.

use std::path::{Path, PathBuf};
use std::process::Command;

use partita_kernels::ptx::{PtxTarget, emit};
use partita_kernels::{BinaryOp, Builder, DType, Scalar, Verified};

use crate::agreement::{cube, star, weighted};
use crate::cases;
use crate::stencils::{fields, many};

const TARGETS: [PtxTarget; 4] =
    [PtxTarget { sm: 75 }, PtxTarget { sm: 80 }, PtxTarget { sm: 90 }, PtxTarget { sm: 100 }];

/// Modules that one run of the assembler takes together.
const TOGETHER: usize = 250;

/// The assembler: named by `PARTITA_PTXAS`, in the project's Python environment, or in `PATH`.
pub fn ptxas() -> Option<PathBuf> {
    let mut searched = Vec::new();
    if let Some(named) = std::env::var_os("PARTITA_PTXAS") {
        searched.push(PathBuf::from(named));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/lib");
    let pythons = std::fs::read_dir(&root).into_iter().flatten().flatten();
    searched.extend(pythons.map(|p| p.path().join("site-packages/nvidia/cu13/bin/ptxas")));
    let path = std::env::var_os("PATH").unwrap_or_default();
    searched.extend(std::env::split_paths(&path).map(|p| p.join("ptxas")));
    let found = searched.iter().find(|p| p.is_file()).cloned();
    if found.is_none() {
        let places: Vec<String> = searched.iter().map(|p| p.display().to_string()).collect();
        println!("skipped: ptxas (neither PARTITA_PTXAS nor {} nor {})", root.display(), places.join(", "));
    }
    found
}

/// Runs the assembler on one text; what it says, or what it complains of.
pub fn assemble(ptxas: &Path, target: PtxTarget, text: &str, options: &[&str]) -> Result<String, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let stem = format!("{}-{:?}", std::process::id(), std::thread::current().id());
    let (from, to) = (folder.join(format!("{stem}.ptx")), folder.join(format!("{stem}.cubin")));
    std::fs::write(&from, text).unwrap();
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch=sm_{}", target.sm)).args(options).arg(&from).arg("-o").arg(&to);
    let output = command.output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let _ = std::fs::remove_file(&to);
    if !output.status.success() {
        return Err(format!("{}\n{said}", from.display()));
    }
    let _ = std::fs::remove_file(&from);
    Ok(said)
}

/// A module's directives, and what stands below them.
fn head_and_entries(kernel: &Verified, target: PtxTarget) -> (String, String) {
    let mut text = emit(kernel, &target).unwrap().whole_text();
    let entries = text.split_off(text.find(".visible").unwrap());
    (text, entries)
}

/// Modules one after the other, each entry under a name of its own.
fn joined(modules: &[(String, String)]) -> String {
    let mut text = modules[0].0.clone();
    for (n, (_, entries)) in modules.iter().enumerate() {
        text.push_str(&entries.replace(".entry ", &format!(".entry k{n}_")));
    }
    text
}

fn every_case() -> Vec<Verified> {
    let mut all = cases::operations();
    all.extend(cases::forms());
    for d in DType::ALL {
        let scalars: Vec<Scalar> =
            cases::hard_bits(d, 4).into_iter().map(|bits| Scalar { dtype: d, bits }).collect();
        all.extend(scalars.chunks(40).map(|chunk| cases::leaves(d, chunk).unwrap()));
    }
    all
}

#[test]
fn every_case_is_accepted_for_every_target() {
    let Some(ptxas) = ptxas() else { return };
    let all = every_case();
    assert!(all.len() > 1000, "{} cases", all.len());
    let mut assembled = 0;
    let mut before: Vec<String> = Vec::new();
    for target in TARGETS {
        let modules: Vec<_> = all.iter().map(|kernel| head_and_entries(kernel, target)).collect();
        // "PTX ISA", chapter on `.target`: what is right for a target is right for every later one.
        let is_new = |(n, (_, entries)): &(usize, (String, String))| before.get(*n) != Some(entries);
        let new: Vec<_> = modules.iter().cloned().enumerate().filter(is_new).map(|(_, m)| m).collect();
        for modules in new.chunks(TOGETHER) {
            // The lowest level of optimisation: this asks whether the text is right, not how fast it is.
            assemble(&ptxas, target, &joined(modules), &["-O0"]).unwrap_or_else(|e| panic!("{e}"));
        }
        println!("sm_{}: {} of {} are new", target.sm, new.len(), all.len());
        assembled += new.len();
        before = modules.into_iter().map(|(_, entries)| entries).collect();
    }
    println!("ran: ptxas {assembled}");
}

/// The golden kernels, optimised: how many registers each entry takes, and that none spills.
#[test]
fn golden_kernels_fit_in_registers() {
    let Some(ptxas) = ptxas() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    assert!(files.len() >= 20, "{} golden files", files.len());
    let mut entries = 0;
    println!("{:24} {:48} {:>9} {:>6}", "kernel", "entry", "registers", "spills");
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let said = assemble(&ptxas, PtxTarget { sm: 90 }, &text, &["-v"]).unwrap_or_else(|e| panic!("{e}"));
        for usage in usage(&said) {
            let kernel = file.file_stem().unwrap().to_string_lossy().into_owned();
            println!("{kernel:24} {:48} {:9} {:6}", usage.entry, usage.registers, usage.spills);
            entries += 1;
        }
        let spills: usize = usage(&said).iter().map(|usage| usage.spills).sum();
        assert_eq!(spills, 0, "{}\n{said}", file.display());
        assert_eq!(usage(&said).len(), text.matches(".entry").count(), "{said}");
    }
    println!("ran: ptxas {entries}");
}

/// Registers of a thread of 256 with which a multiprocessor holds two blocks.
const TWO_BLOCKS: usize = 128;

/// Stencils in two and three dimensions: registers and spills of the entries that are meant for them.
#[test]
fn stencils_fit_in_registers() {
    let Some(ptxas) = ptxas() else { return };
    let stars = (1..=4).flat_map(|radius| [star(2, radius), star(3, radius)]);
    let footprints: Vec<_> = stars.chain([cube(2, 1), cube(3, 1)]).collect();
    let forms = [Summed::Plain, Summed::Weighted, Summed::Wave];
    let summed = (3..=4).flat_map(|radius| forms.map(|form| (radius, form)));
    let weighted = |d| footprints.iter().map(move |offsets| weighted("stencil", d, offsets));
    let (mut assembled, mut too_many) = (0, Vec::new());
    println!("{:48} {:5} {:>7} {:>9} {:>6}", "entry", "type", "target", "registers", "spills");
    for d in [DType::F32, DType::F64, DType::F16, DType::BF16, DType::I16] {
        for kernel in weighted(d).chain(summed.clone().map(|(radius, form)| summed_star(d, radius, form))) {
            // Older GPUs have no copies that go on while a thread does.
            for target in TARGETS.into_iter().filter(|target| target.sm >= 80) {
                for usage in registers_of(&ptxas, &kernel, target, &["planes", "streaming"]) {
                    let row = row_of(d, target)(&usage);
                    println!("{row}");
                    too_many.extend((usage.spills > 0 || usage.registers > TWO_BLOCKS).then_some(row));
                    assembled += 1;
                }
            }
        }
    }
    assert!(too_many.is_empty(), "{too_many:#?}");
    println!("ran: ptxas {assembled}");
}

/// Several fields as plain vectors: registers with which four blocks of 128 threads fit side by side.
#[test]
fn several_fields_fit_in_registers() {
    let Some(ptxas) = ptxas() else { return };
    let (mut assembled, mut too_many) = (0, Vec::new());
    let shapes = [(3, 2, 2), (2, 2, 3), (2, 1, 3), (3, 1, 4), (3, 1, 2)];
    for d in [DType::F32, DType::F64, DType::F16] {
        for kernel in shapes.map(|(rank, radius, count)| fields(d, rank, radius, count)) {
            for target in TARGETS.into_iter().filter(|target| target.sm >= 80) {
                let rows = registers_of(&ptxas, &kernel, target, &["planes", "streaming"]);
                too_many.extend(
                    rows.iter()
                        .filter(|row| row.spills > 0 || row.registers > TWO_BLOCKS)
                        .map(row_of(d, target)),
                );
                assembled += rows.len();
            }
        }
    }
    assert!(too_many.is_empty(), "{too_many:#?}");
    println!("ran: ptxas {assembled}");
}

/// Of many arrays, one of which is written in place or lies differently, a thread computes one point in as
/// few registers as where all are laid out alike.
#[test]
fn many_arrays_fit_in_registers() {
    let Some(ptxas) = ptxas() else { return };
    let (mut assembled, mut too_many) = (0, Vec::new());
    for (d, most) in [(DType::F32, 56), (DType::F64, 80), (DType::F16, 56), (DType::BF16, 56)] {
        for kernel in [false, true].map(|in_place| many(d, in_place)) {
            for target in TARGETS.into_iter().filter(|target| target.sm >= 80) {
                let rows = registers_of(&ptxas, &kernel, target, &["pointwise"]);
                too_many.extend(
                    rows.iter().filter(|row| row.spills > 0 || row.registers > most).map(row_of(d, target)),
                );
                assembled += rows.len();
            }
        }
    }
    assert!(too_many.is_empty(), "{too_many:#?}");
    println!("ran: ptxas {assembled}");
}

/// Entries that are given a table of launches take no more than their row's address, and fit, guarded, too.
#[test]
fn tables_of_launches_fit_in_registers() {
    let Some(ptxas) = ptxas() else { return };
    let mut assembled = 0;
    for kernel in [star(2, 1), star(3, 1), cube(2, 1)].map(|sites| weighted("stencil", DType::F32, &sites)) {
        for target in TARGETS {
            let module = emit(&kernel, &target).unwrap();
            let kinds = ["pointwise", "vector", "planes"];
            let of = |at: &usize| kinds.contains(&module.entries[*at].kind);
            for at in (0..module.entries.len()).filter(of) {
                let table = at + module.entries.len();
                let texts = [module.text(at), module.text(table), module.guarded_text(table).unwrap().0];
                let used = texts.map(|text| {
                    let said = assemble(&ptxas, target, &text, &["-v"]);
                    usage(&said.unwrap_or_else(|e| panic!("{e}"))).remove(0)
                });
                println!("{:48} {:>7} {:?}", used[0].entry, target.sm, used.each_ref().map(|u| u.registers));
                assert!(used.iter().all(|u| u.spills == 0 && u.registers <= used[0].registers + 12));
                assembled += used.len();
            }
        }
    }
    println!("ran: ptxas {assembled}");
}

/// What `ptxas` makes of a kernel's first entry of these kinds.
fn registers_of(ptxas: &Path, kernel: &Verified, target: PtxTarget, kinds: &[&str]) -> Vec<Usage> {
    let module = emit(kernel, &target).unwrap();
    let at = module.entries.iter().position(|entry| kinds.contains(&entry.kind)).unwrap();
    usage(&assemble(ptxas, target, &module.text(at), &["-v"]).unwrap_or_else(|e| panic!("{e}")))
}

fn row_of(d: DType, target: PtxTarget) -> impl Fn(&Usage) -> String {
    move |Usage { entry, registers, spills }| {
        format!("{entry:48} {d:5} {:>7} {registers:9} {spills:6}", target.sm)
    }
}

/// What a star adds: the sums of its neighbours at each distance, by weights or as they are; or a step
/// of the wave equation, which reads two other arrays at the point.
#[derive(Clone, Copy, PartialEq)]
enum Summed {
    Plain,
    Weighted,
    Wave,
}

fn summed_star(d: DType, radius: i32, form: Summed) -> Verified {
    let mut k = Builder::new("summed", 3);
    let (u, others, out) = (k.input(d), [k.input(d), k.input(d)], k.output(d));
    let weighted = |k: &mut Builder, value| {
        if form == Summed::Plain {
            return value;
        }
        let weight = k.argument(d);
        k.binary(BinaryOp::Mul, value, weight)
    };
    let center = k.load(u, &[0; 3]);
    let mut sum = weighted(&mut k, center);
    for r in 1..=radius {
        let sites = star(3, r).into_iter().filter(|site| site.iter().any(|&o| o.abs() == r));
        let loads: Vec<_> = sites.map(|site| k.load(u, &site)).collect();
        let shell = loads.into_iter().reduce(|a, b| k.binary(BinaryOp::Add, a, b)).unwrap();
        let term = weighted(&mut k, shell);
        sum = k.binary(BinaryOp::Add, sum, term);
    }
    if form == Summed::Wave {
        let [before, speed] = others.map(|param| k.load(param, &[0; 3]));
        let moved = k.binary(BinaryOp::Mul, sum, speed);
        let (moved, twice) = (weighted(&mut k, moved), weighted(&mut k, center));
        let kept = k.binary(BinaryOp::Sub, twice, before);
        sum = k.binary(BinaryOp::Add, kept, moved);
    }
    k.elementwise(&[(out, sum)]).unwrap()
}

struct Usage {
    entry: String,
    registers: usize,
    /// Bytes of spilled registers and of stack.
    spills: usize,
}

/// Reads what `ptxas -v` says of each entry.
fn usage(said: &str) -> Vec<Usage> {
    let number = |line: &str, unit: &str| -> usize {
        let before = line.split(unit).next().unwrap_or_default();
        before.split_whitespace().last().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{line}"))
    };
    let mut all: Vec<Usage> = Vec::new();
    for line in said.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            let entry = rest.split('\'').next().unwrap_or_default().to_owned();
            all.push(Usage { entry, registers: 0, spills: 0 });
        } else if line.contains("bytes stack frame") {
            let usage = all.last_mut().unwrap();
            usage.spills = ["bytes stack frame", "bytes spill stores", "bytes spill loads"]
                .map(|unit| number(line, unit))
                .iter()
                .sum();
        } else if line.contains(" registers") {
            all.last_mut().unwrap().registers = number(line, " registers");
        }
    }
    all
}
