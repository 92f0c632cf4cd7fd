//! The steps of `cargo xtask test`, in order, and the two smaller chores. Each step prints what it
//! does as it goes and returns its counts. What the lines of the tests mean is [`cargo_output`]'s
//! business, what must have run is [`required`]'s.

mod ranks;
mod smoke;
mod soak;

use crate::exec::{self, End, Outcome, SILENCE, run, show};
use crate::mpi::faults;
use crate::mpi::{Mpi, PROCESSES, WITH_MPI};
use crate::options::{Options, Step};
use crate::report::{cargo_output, required};
use crate::simulated::{self, Driver};
use crate::tally::Tally;
use crate::{bundle, setup, tidy};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Virtual GPUs of the simulated driver: one beside the other devices in every test, then several.
const ONE: usize = 1;
const SEVERAL: usize = 4;

/// The test programs that run once more on several virtual GPUs.
const ON_SEVERAL: &[&str] = &["kernels", "cuda_device", "arrays", "fuzz"];

/// `cargo xtask test`: every step that is wanted, then the summary.
pub fn test(root: &Path, options: &Options) -> ExitCode {
    let scratch = root.join("target/scratch");
    if let Err(error) = std::fs::create_dir_all(&scratch) {
        eprintln!("xtask: {}: {error}", scratch.display());
        return ExitCode::FAILURE;
    }
    let checks = Run { root, options, scratch: &scratch };
    let begin = Instant::now();
    let mut tally = Tally::default();
    for (name, step) in Step::ALL.iter().filter(|(_, step)| options.wants(*step)) {
        println!("\n== {name}");
        let begin = Instant::now();
        let result = checks.step(*step);
        println!("-- {name}: {} failed, {} s", result.failed.len(), begin.elapsed().as_secs());
        tally.add(result);
    }
    tally.end(begin)
}

/// `cargo xtask tidy`.
pub fn tidy(root: &Path) -> ExitCode {
    if tidy_step(root).failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// `cargo xtask bless`.
pub fn bless(root: &Path) -> ExitCode {
    for [package, test] in GOLDEN {
        let mut command = cargo(root);
        command.args(["test", "--package", package, "--test", test]).env("UPDATE_GOLDEN", "1");
        let outcome = show(command);
        if outcome.end != End::Success {
            eprintln!("xtask: the golden test {test} of {package}: {}", outcome.end);
            return ExitCode::FAILURE;
        }
    }
    println!("The golden files are new. Read `git diff` before you commit them.");
    ExitCode::SUCCESS
}

/// `cargo xtask bundle`.
pub fn bundle(root: &Path) -> ExitCode {
    bundle::bundle(root, || cargo(root))
}

/// `cargo xtask soak`: what takes minutes to hours; or its faults alone, on the system's MPI, on jobs of
/// these sizes.
pub fn soak(root: &Path, sizes: &[usize]) -> ExitCode {
    let begin = Instant::now();
    let soaked = |mpi: &Mpi| match mpi.build(cargo(root)).and_then(|p| Ok((p, faults::points(root)?))) {
        Ok((program, points)) if sizes.is_empty() => {
            let mut tally = mpi.programs(&program, PROCESSES, &mut Vec::new());
            tally.add(faults::matrix(mpi, &program, &[2, 3, 4, 8], &points, &mut Vec::new()));
            tally
        }
        Ok((program, points)) => faults::matrix(mpi, &program, sizes, &points, &mut Vec::new()),
        Err(reason) => Tally::failed(format!("soak: {}: {reason}", mpi.name)),
    };
    let mpis = [Mpi::open_mpi(), Mpi::mpich(root)];
    let mpis = if sizes.is_empty() { &mpis[..] } else { &mpis[..1] };
    let mut tally: Tally = mpis.iter().map(soaked).collect();
    if sizes.is_empty() {
        tally.add(soak::commands(root, cargo(root), None, None));
        tally.add(soak::statements(root));
        tally.add(bundle::publish::both(root));
        tally.add(soak::chores(root, || cargo(root)));
    }
    tally.end(begin)
}

/// `cargo xtask soak commands`.
pub fn soak_commands(root: &Path, seed: Option<u64>, count: Option<u64>) -> ExitCode {
    let begin = Instant::now();
    soak::commands(root, cargo(root), seed, count).end(begin)
}

/// The tests that compare with files in the repository: package and test.
const GOLDEN: &[[&str; 2]] = &[["partita-kernels", "golden"], ["partita", "pages"]];

struct Run<'a> {
    root: &'a Path,
    options: &'a Options,
    scratch: &'a Path,
}

impl Run<'_> {
    fn step(&self, step: Step) -> Tally {
        match step {
            Step::Setup => setup::set_up(self.root, self.options),
            Step::Fmt => self.check("fmt", self.cargo(&["fmt", "--all", "--check"])),
            Step::Clippy => self.clippy(),
            Step::Tidy => tidy_step(self.root),
            Step::Tests => self.tests(),
            Step::Doc => {
                let mut command = self.cargo(&["doc", "--workspace", "--no-deps"]);
                command.env("RUSTDOCFLAGS", "-D warnings");
                self.check("doc", command)
            }
            Step::Smoke => self.smoke(),
        }
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo(self.root);
        command.args(arguments);
        command
    }

    /// A command of cargo about the whole workspace with one set of features, so that no crate is built
    /// twice.
    fn everything(&self, what: &str) -> Command {
        let mut command = self.cargo(&[what, "--workspace"]);
        if !self.options.may_miss("mpi") {
            command.args(WITH_MPI);
        }
        command
    }

    /// A program in the repository.
    fn program(&self, path: PathBuf) -> Command {
        let mut command = Command::new(path);
        command.current_dir(self.root);
        command
    }

    /// Lints everything with all features, then what builds without them.
    fn clippy(&self) -> Tally {
        let features: &[&str] = match (self.options.may_miss("mpi"), self.options.may_miss("python")) {
            (false, false) => &["--features", "partita/mpi,partita-interop/python,partita-bench/mpi"],
            (false, true) => WITH_MPI,
            (true, false) => &["--features", "partita-interop/python"],
            (true, true) => &[],
        };
        let lint = |name: &str, what: &[&str], features: &[&str]| {
            let mut command = self.cargo(&["clippy", "--all-targets"]);
            command.args(what).args(features).args(["--", "-D", "warnings"]);
            self.check(name, command)
        };
        let mut tally = lint("clippy", &["--workspace"], features);
        // Without drivers these need no wgpu, which takes longer to check than all of ours. What the examples
        // depend on has the features here that it has where an example is built alone.
        let plain =
            ["-p", "partita", "-p", "partita-interop", "-p", "partita-examples", "--no-default-features"];
        tally.add(lint("clippy without features", &plain, &[]));
        tally
    }

    /// One command that is one check.
    fn check(&self, name: &str, command: Command) -> Tally {
        exec::check(name, command, &mut Vec::new())
    }

    /// All tests, then the floors over what they say they ran. The tests in Python, of several processes and
    /// in Rust run side by side, because each of them leaves cores idle. Cargo's lock on the target folder is
    /// free while tests run.
    fn tests(&self) -> Tally {
        let built = self.programs();
        let mut command = self.everything("test");
        command.arg("--no-run");
        let compiled = self.check("building the tests", command);
        let others: [fn(&Self, &mut Vec<String>) -> Tally; 2] = [Self::python, Self::mpi];
        let ((end, mut lines), others) = std::thread::scope(|scope| {
            let others = others.map(|tests| {
                scope.spawn(move || {
                    let mut lines = Vec::new();
                    (tests(self, &mut lines), lines)
                })
            });
            let rust = self.rust_tests();
            let panicked =
                |_| (Tally::failed("the tests in Python or of several processes panicked"), Vec::new());
            (rust, others.map(|thread| thread.join().unwrap_or_else(panicked)))
        });
        let mut tally: Tally = [built, compiled].into_iter().collect();
        for (result, said) in others {
            tally.add(result);
            lines.extend(said);
        }
        let report = cargo_output::read(&lines);
        for section in report.sections.iter().filter(|section| !section.failures().is_empty()) {
            println!("\n---- {}: its output\n{}", section.title, section.lines.join("\n"));
        }
        tally.add(report.tally(end == End::Success));
        tally.add(self.defects(&report));
        if let End::Silent(_) = end {
            let last = lines.last().map_or("", String::as_str);
            tally.add(Tally::failed(format!("tests: cargo test {end}; its last line: {last}")));
        }
        if !report.sections.is_empty() {
            tally.add(self.floors(&report));
        }
        tally
    }

    /// The tests in Rust, with one simulated GPU beside the other devices, then some of them with several.
    fn rust_tests(&self) -> (End, Vec<String>) {
        let driver = Driver::of(self.root);
        let mut command = self.everything("test");
        command.args(["--no-fail-fast", "--", "--show-output"]);
        if !simulated::is_driver_installed() {
            driver.for_command(&mut command, ONE);
        }
        let Outcome { end, mut lines } = run_tests(command);
        let mut command = self.everything("test");
        command
            .arg("--no-fail-fast")
            .args(ON_SEVERAL.iter().flat_map(|name| ["--test", name]))
            .args(["--", "--show-output"]);
        driver.for_command(&mut command, SEVERAL);
        command.env("PARTITA_TEST_DEVICES", "cuda");
        println!("\n-- the simulated driver with {SEVERAL} devices");
        let several = run_tests(command);
        lines.extend(several.lines);
        (if end == End::Success { several.end } else { end }, lines)
    }

    /// Builds the Python package into the environment and runs its tests, whose reports join `lines`.
    fn python(&self, lines: &mut Vec<String>) -> Tally {
        if self.options.may_miss("python") {
            return Tally::skipped("python", "--allow-missing python");
        }
        let environment = self.root.join(".venv");
        println!("\n-- the Python package");
        let mut build = self.program(environment.join("bin/maturin"));
        build.args(["develop", "--quiet", "--manifest-path", "interop/Cargo.toml"]);
        build.env("VIRTUAL_ENV", &environment);
        let built = self.check("maturin develop", build);
        if !built.failed.is_empty() {
            return built;
        }
        let mut tally = built;
        tally.add(self.pytest(&[], lines));
        if !self.options.may_miss("cuda") {
            println!("\n-- the Python package on the simulated driver with {SEVERAL} devices");
            tally.add(self.pytest(&["-k", "cuda"], lines));
        }
        tally
    }

    /// Runs the package's tests; a selection of them is that of the tests on CUDA devices.
    fn pytest(&self, selection: &[&str], lines: &mut Vec<String>) -> Tally {
        let mut tests = self.program(self.root.join(".venv/bin/python"));
        tests.args(["-m", "pytest", "interop/tests", "-c", "interop/pyproject.toml", "-q", "-rfp"]);
        tests.args(selection);
        if !selection.is_empty() {
            Driver::of(self.root).for_command(&mut tests, SEVERAL);
            tests.env("PARTITA_TEST_DEVICES", "cuda");
        }
        let outcome = run(&mut tests, SILENCE, |line| {
            if !line.trim_end_matches(']').ends_with('%') && cargo_output::passed_name(line).is_none() {
                println!("{line}");
            }
        });
        lines.push("     Running python (interop/tests)".to_owned());
        let passed = outcome.lines.iter().filter_map(|line| cargo_output::passed_name(line)).count();
        lines.extend(outcome.lines);
        let mut tally = Tally { passed, ..Tally::default() };
        if outcome.end != End::Success {
            tally.add(Tally::failed(format!("pytest {}", outcome.end)));
        }
        tally
    }

    /// The table of defects and of the tests that show that they are gone.
    fn defects(&self, report: &cargo_output::Report) -> Tally {
        let file = self.root.join("xtask/defects.txt");
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()));
        let rows = match text.and_then(|text| required::parse_defects(&text)) {
            Ok(rows) => rows,
            Err(message) => return Tally::failed(message),
        };
        let tests = report.sections.iter().flat_map(|section| &section.passed_names);
        let counted = report.counts.iter().filter(|(_, count)| **count > 0).map(|(what, _)| what);
        let passed = tests.chain(counted).map(String::as_str);
        let (table, tally) = required::check_defects(&rows, passed, self.options);
        println!("\ndefect -> test -> passed");
        table.iter().for_each(|line| println!("{line}"));
        tally
    }

    fn floors(&self, report: &cargo_output::Report) -> Tally {
        for (name, count) in &report.counts {
            println!("ran: {name} {count}");
        }
        let file = self.root.join("xtask/floors.txt");
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()));
        match text.and_then(|text| required::parse_floors(&text)) {
            Ok(floors) => required::check_floors(&floors, report, self.options),
            Err(message) => Tally::failed(message),
        }
    }

    /// The examples, programs and libraries with the features of the tests, which need them all; the
    /// simulated driver among them goes where the loader finds it.
    fn programs(&self) -> Tally {
        let mut all = self.everything("build");
        all.args(["--lib", "--bins", "--examples"]);
        let built = self.check("the examples and programs", all);
        match simulated::link(self.root, &Driver::of(self.root)) {
            Ok(()) => built,
            Err(error) => Tally::failed(format!("simulated driver: {error}")),
        }
    }
}

/// Runs a test command and shows what is worth it.
fn run_tests(mut command: Command) -> Outcome {
    // A test's output is read from behind its result, so it must not be passed through.
    command.env_remove("RUST_TEST_NOCAPTURE");
    let mut inside = false;
    run(&mut command, SILENCE, |line| {
        inside |= cargo_output::title(line).is_some();
        if cargo_output::worth_showing(line, inside) {
            println!("{line}");
        }
    })
}

/// The cargo that started us, so that both are of one toolchain.
fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    // The lines are read, so they come without colours whatever the person's settings are.
    command.current_dir(root).env("CARGO_TERM_COLOR", "never");
    command
}

fn tidy_step(root: &Path) -> Tally {
    match tidy::check(root) {
        Ok(findings) if findings.is_empty() => Tally::passed(),
        Ok(findings) => Tally::failed(format!("tidy: {} findings", findings.len())),
        Err(error) => Tally::failed(format!("tidy: {error}")),
    }
}
