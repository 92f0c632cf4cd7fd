//! `cargo xtask`: the project's own chores, written in Rust without dependencies so that a bare
//! machine can run them.
//!
//! This file only chooses the chore. It knows nothing about arrays or devices: those speak to it
//! through lines that tests print (see [`report::cargo_output`]).

mod bundle;
mod exec;
mod mpi;
mod options;
mod report;
mod sanitize;
mod setup;
mod simulated;
mod steps;
mod tally;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str = "\
cargo xtask test [--no-install] [--allow-missing NAME] [--only STEP]
    Sets up what is missing, then runs every check there is; the last line counts them.
    --no-install          only say what is missing, install nothing
    --allow-missing NAME  do without `wgpu`, `cuda`, `ptxas`, `python` or `mpi`: waives set-up, floors, runs
    --only STEP           one of setup, fmt, clippy, tidy, tests, doc, smoke; may be repeated
cargo xtask tidy
    The rules that no other tool checks, with file and line: import circles, folders, budgets, banned words.
cargo xtask bundle
    Packs target/bundle: tests, benchmark and examples for a machine with GPUs and no Rust.
cargo xtask wheel
    Builds target/wheel for manylinux_2_28, checks it, and runs it in a fresh environment without Rust.
cargo xtask site
    Builds target/site/html, the documentation for users, with all its programs run.
cargo xtask cuda-aware-mpi
    Builds target/cuda-aware-mpi, an Open MPI that takes device pointers, for the tests and the bundle; needs
    Debian, the network, and a quarter of an hour.
cargo xtask soak [RANKS... | commands [SEED [COUNT]] | publish]
    What takes too long for every change: programs of several processes, and faults of every kind at every
    point of them, on 2, 3, 4 and 8 ranks; saves that end at every point, damaged states; forks, strangers,
    nonsense in the environment; a million statements; random arguments of the command lines; the wheel and
    the site. With numbers of ranks, the faults alone, on the system's MPI; with a name, that chore alone.
cargo xtask sanitize [--no-install]
    Miri over the interpreter and the thread pool, ThreadSanitizer over threads and teams on one device, by
    the nightly toolchain in target/sanitize; a quarter of an hour the first time.
cargo xtask bless
    Writes the golden files anew. Read the difference before you commit it.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((chore, rest)) = arguments.split_first() else {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    };
    match (chore.as_str(), rest) {
        ("help" | "--help" | "-h", _) => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        ("test", options) => match options::parse(options) {
            Ok(options) => steps::test(&root(), &options),
            Err(message) => misuse(&message),
        },
        ("tidy", []) => steps::tidy(&root()),
        ("bless", []) => steps::bless(&root()),
        ("bundle", []) => steps::bundle(&root()),
        ("wheel", []) => bundle::publish::wheel(&root()),
        ("site", []) => bundle::publish::site(&root()),
        ("cuda-aware-mpi", []) => mpi::cuda::build(&root()),
        ("sanitize", []) => sanitize::sanitize(&root(), true),
        ("sanitize", [option]) if option == "--no-install" => sanitize::sanitize(&root(), false),
        ("soak", [name, numbers @ ..]) if name == "commands" => {
            match numbers.iter().map(|number| number.parse()).collect::<Result<Vec<u64>, _>>() {
                Ok(given) if given.len() <= 2 => {
                    steps::soak_commands(&root(), given.first().copied(), given.get(1).copied())
                }
                _ => misuse("`soak commands` takes a seed and a count"),
            }
        }
        ("soak", [name]) if name == "publish" => bundle::publish::both(&root()).end(Instant::now()),
        ("soak", sizes) => match sizes.iter().map(|size| size.parse()).collect::<Result<Vec<usize>, _>>() {
            Ok(sizes) => steps::soak(&root(), &sizes),
            Err(_) => misuse("`soak` takes numbers of ranks"),
        },
        ("tidy" | "bless" | "bundle" | "wheel" | "site" | "cuda-aware-mpi", _) => {
            misuse(&format!("`{chore}` takes no options"))
        }
        ("sanitize", _) => misuse("`sanitize` takes `--no-install` alone"),
        _ => misuse(&format!("there is no chore `{chore}`")),
    }
}

/// The repository: the folder above this crate's.
fn root() -> PathBuf {
    let built = || env!("CARGO_MANIFEST_DIR").into();
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(built));
    own.parent().map(PathBuf::from).unwrap_or(own)
}

fn misuse(message: &str) -> ExitCode {
    eprintln!("xtask: {message}\n\n{HELP}");
    ExitCode::from(2)
}
