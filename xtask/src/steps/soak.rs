//! Chores of `cargo xtask soak` that are long runs of short tests, with other seeds each time.

use crate::exec;
use crate::mpi::WITH_MPI;
use crate::simulated::Driver;
use crate::tally::Tally;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Command lines of each program, unless it is said.
const COUNT: u64 = 200;

/// A test program that `soak` runs for longer than `test` does: what it shows, its name, names of its tests,
/// and the variables that say how long.
type Chore = (&'static str, &'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);
const CHORES: &[Chore] = &[
    (
        "saves that end at every point and at random moments",
        "state",
        &["crashes"],
        &[("STATE_STRIDE", "1"), ("STATE_KILL_STRIDE", "1"), ("STATE_KILLS", "200")],
    ),
    ("states with every byte damaged", "state", &["any_damaged_byte"], &[("STATE_STRIDE", "1")]),
    ("strangers at the port", "sockets", &[], &[("PARTITA_SOAK", "30")]),
    ("forked processes", "fork", &[], &[("PARTITA_SOAK", "30")]),
    (
        "random programs of arrays over domains",
        "domain_arrays",
        &["random_programs"],
        &[("PARTITA_DOMAIN_PROGRAMS", "40000")],
    ),
    ("nonsense in the environment", "environment", &[], &[("PARTITA_SOAK", "30")]),
    ("random slices", "arithmetic", &["random_slices"], &[("PARTITA_SOAK", "10000")]),
    (
        "faults at every point between processes over TCP",
        "sockets",
        &["faults"],
        &[("PARTITA_FAULT_STRIDE", "1")],
    ),
    (
        "faults at every step of chained loops",
        "chained",
        &["ranks_that_end"],
        &[("PARTITA_FAULT_STRIDE", "1")],
    ),
    ("4,096 ranks", "scale", &["many_ranks"], &[("PARTITA_SOAK", "4096")]),
];

/// Runs these programs for long.
pub fn chores(root: &Path, cargo: impl Fn() -> Command) -> Tally {
    let driver = Driver::of(root);
    // Another than last time; what fails says its seed.
    let seed = now();
    let chore = |&(name, program, tests, variables): &Chore| {
        println!("\n-- {name}, seed {seed}");
        let mut command = cargo();
        command.args(["test", "--workspace"]).args(WITH_MPI).args(["--test", program, "--"]).args(tests);
        // Loops are chained on simulated GPUs.
        if program == "chained" {
            driver.for_command(&mut command, 4);
        }
        command.arg("--nocapture").env("STATE_SEED", seed.to_string()).envs(variables.iter().copied());
        exec::check(name, command, &mut Vec::new())
    };
    CHORES.iter().map(chore).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_secs())
}

/// A million statements that leave nothing behind; see the test.
pub fn statements(root: &Path) -> Tally {
    let mut tests = Command::new(root.join(".venv/bin/python"));
    tests.args(["-m", "pytest", "interop/tests/test_growth.py", "-q", "-s", "-c", "interop/pyproject.toml"]);
    tests.current_dir(root).env("STATEMENTS", "1000000");
    exec::check("a million statements", tests, &mut Vec::new())
}

/// So many random command lines of each program, from a seed; without one, from others than last time. A
/// failure names its own seed.
pub fn commands(root: &Path, mut cargo: Command, seed: Option<u64>, count: Option<u64>) -> Tally {
    let given = format!("{}:{}", seed.unwrap_or_else(now), count.unwrap_or(COUNT));
    println!("\n-- random arguments of the command lines, COMMANDS={given}");
    cargo.args(["build", "--workspace", "--example", "tsunami", "--bin", "partita-bench"]).args(WITH_MPI);
    let mut tally = exec::check("the programs", cargo, &mut Vec::new());
    let mut tests = Command::new(root.join(".venv/bin/python"));
    tests.args(["-m", "pytest", "interop/tests/test_commands.py", "-q", "-s"]);
    tests.args(["-c", "interop/pyproject.toml"]).current_dir(root).env("COMMANDS", given);
    tally.add(exec::check("random arguments of the command lines", tests, &mut Vec::new()));
    tally
}
