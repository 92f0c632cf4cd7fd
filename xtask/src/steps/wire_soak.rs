//! The part of `cargo xtask soak` about what surrounds a job: forked processes, strangers at the port, and
//! nonsense in variables of the environment. The tests know the cases; here they are repeated.

use crate::exec;
use crate::mpi::WITH_MPI;
use crate::tally::Tally;
use std::process::Command;

/// How often the tests repeat their cases.
const TIMES: &str = "30";

/// Runs these tests for long.
pub fn wire_soak(mut cargo: Command) -> Tally {
    cargo.args(["test", "--workspace"]).args(WITH_MPI);
    cargo.args(["--test", "sockets", "--test", "fork", "--test", "environment"]).env("PARTITA_SOAK", TIMES);
    exec::check("soak: forks, strangers and the environment", cargo, &mut Vec::new())
}
