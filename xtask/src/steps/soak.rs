//! Chores of `cargo xtask soak` that are long runs of short tests, with other seeds each time.

use crate::exec;
use crate::mpi::WITH_MPI;
use crate::tally::Tally;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Command lines of each program, unless it is said.
const COUNT: u64 = 200;

/// So many random command lines of each program, from a seed; without one, from others than last time. A
/// failure names its own seed.
pub fn commands(root: &Path, mut cargo: Command, seed: Option<u64>, count: Option<u64>) -> Tally {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_secs());
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
