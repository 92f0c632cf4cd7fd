//! `cargo xtask sanitize`: tests under Miri and ThreadSanitizer, which find undefined behaviour and data
//! races that no result shows. Both are of the nightly toolchain and build the standard library anew, in a
//! target folder of their own. It does not know what the tests test.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::exec::{End, show};
use crate::tally::Tally;

/// The target of ThreadSanitizer: `-Zsanitizer=thread` wants one by name.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// One run of tests.
struct Run {
    name: &'static str,
    /// The arguments of `cargo +nightly`.
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    /// Fewer passed tests mean that some were renamed.
    least: usize,
}

/// No machine code in any: Miri has none, and ThreadSanitizer does not see into it. Helping threads wait for
/// work until the process ends, which Miri calls a leak.
const RUNS: &[Run] = &[
    Run {
        name: "Miri: the interpreter",
        arguments: &["miri", "test", "-p", "partita-kernels", "--lib", "small_launches_of_every_form"],
        environment: &[("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks")],
        least: 1,
    },
    Run {
        name: "Miri: the thread pool, in 8 orders",
        arguments: &["miri", "test", "-p", "partita-kernels", "--lib", "cpu::thread_pool::"],
        environment: &[("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-many-seeds=0..8")],
        least: 4,
    },
    Run {
        name: "ThreadSanitizer: threads and teams on one device",
        arguments: &["test", "-Zbuild-std", "--target", TARGET, "-p", "partita", "--test", "shared_devices"],
        environment: &[
            ("RUSTFLAGS", "-Zsanitizer=thread"),
            // Quicker to build; the tests are small.
            ("CARGO_PROFILE_DEV_OPT_LEVEL", "0"),
            ("PARTITA_HOST_CODE", "off"),
            ("PARTITA_THREADS", "2"),
        ],
        least: 2,
    },
];

/// The chore.
pub fn sanitize(root: &Path, may_install: bool) -> ExitCode {
    let begin = Instant::now();
    let tally: Tally = match tools(may_install) {
        Ok(()) => RUNS.iter().map(|of| sanitized(root, of)).collect(),
        Err(reason) => RUNS.iter().map(|of| Tally::skipped(of.name, reason.clone())).collect(),
    };
    tally.end(begin)
}

/// Installs the toolchain and its components where they are missing, or says what to type.
fn tools(may_install: bool) -> Result<(), String> {
    let installed = ["miri", "rust-src"].iter().all(|name| has(name));
    let adds = ["toolchain", "install", "nightly", "--profile", "minimal", "--component", "miri,rust-src"];
    if installed {
        return Ok(());
    }
    let typed = format!("rustup {}", adds.join(" "));
    if !may_install {
        return Err(format!("--no-install; type `{typed}`"));
    }
    println!("missing: Miri and the standard library's sources; running: {typed}");
    let mut command = Command::new("rustup");
    command.args(adds);
    match show(command).end {
        End::Success => Ok(()),
        end => Err(format!("`{typed}` {end}")),
    }
}

/// Whether the nightly toolchain has a component.
fn has(component: &str) -> bool {
    let mut command = Command::new("rustup");
    command.args(["component", "list", "--installed", "--toolchain", "nightly"]).stderr(Stdio::null());
    let listed = command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    listed.is_ok_and(|listed| listed.lines().any(|line| line.starts_with(component)))
}

fn sanitized(root: &Path, of: &Run) -> Tally {
    println!("\n== {}", of.name);
    if of.arguments.contains(&TARGET) && !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Tally::skipped(of.name, format!("this is not {TARGET}"));
    }
    let mut command = Command::new("cargo");
    // Another toolchain's cargo started the program that runs this one.
    for name in ["RUSTUP_TOOLCHAIN", "RUSTC", "CARGO"] {
        command.env_remove(name);
    }
    command.current_dir(root).arg("+nightly").args(of.arguments).envs(of.environment.iter().copied());
    command.env("CARGO_TARGET_DIR", root.join("target/sanitize"));
    let outcome = show(command);
    let passed =
        outcome.lines.iter().filter(|line| line.starts_with("test ") && line.ends_with(" ok")).count();
    match outcome.end {
        End::Success if passed >= of.least => Tally::passed(),
        End::Success => Tally::failed(format!("{}: {passed} tests passed, {} are needed", of.name, of.least)),
        end => Tally::failed(format!("{}: {end}", of.name)),
    }
}
