//! One rank of an MPI program, started by `mpirun -n N mpi WHAT`. `programs` compares what programs for many
//! ranks read with one process, `cuda WORDS` does that on CUDA devices and asks that messages travel as the
//! words say; `fault` passes every point at which `PARTITA_FAULT` can ask for a fault; in `ends` one rank
//! ends in the middle, and in `numbers` one computes with another constant.
#![allow(clippy::unwrap_used)]

#[path = "raw_access/communicator.rs"]
mod communicator;
#[path = "spmd/jobs.rs"]
mod jobs;
mod spmd;

use std::io::Write as _;
use std::process::ExitCode;

use partita::plan::Plan;
use partita::prelude::*;
use partita::transport::{Field, lower_between_ranks};
use partita::wire::{job, mpi};

fn main() -> ExitCode {
    let what = std::env::args().nth(1).unwrap_or_default();
    let result = match what.as_str() {
        "programs" => programs(&Device::host(), "mpi-programs"),
        "cuda" => cuda(),
        "fault" => jobs::fault(),
        "ranks" => ranks(),
        "ends" => jobs::ends().map(|()| println!("ran: mpi-ends 1")),
        "numbers" => jobs::numbers().map(|()| println!("ran: mpi-numbers 1")),
        _ => {
            println!("skipped: mpi (it is run by mpirun, with the name of a program, such as `programs`)");
            return ExitCode::SUCCESS;
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // In one piece: the ranks share standard error.
            let _ = std::io::stderr().write_all(format!("mpi test: {error}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn programs(device: &Device, counted: &str) -> partita::Result<()> {
    let (team, ran) = jobs::programs(device)?;
    if team.rank() == 0 {
        println!("{team}; {}", mpi::library_version().unwrap_or_default().trim());
        println!("ran: {counted} {}", ran * team.ranks());
    }
    Ok(())
}

/// The same on CUDA devices, one for each rank of the machine as far as they go. Further arguments are words
/// that the account of how messages travel has.
fn cuda() -> partita::Result<()> {
    let devices = match Device::named("cuda") {
        Ok(devices) => devices,
        Err(error) => {
            println!("skipped: mpi-cuda ({error})");
            return Ok(());
        }
    };
    let (here, _) = job::on_this_machine();
    let device = &devices[here % devices.len()];
    let team = Team::world_on(std::slice::from_ref(device), 1)?;
    let account = team.transport()?.unwrap_or_default();
    if team.rank() == 0 {
        println!("CUDA memory between {} ranks: {account}", team.ranks());
    }
    let words = std::env::args().nth(2).unwrap_or_default();
    assert!(account.contains(&words), "expected: {words}; given: {account}");
    let paths = paths(&team)?;
    let named = paths.iter().all(|path| words.is_empty() || words.contains(path));
    assert!(!paths.is_empty() && named, "expected: {words}; given: links by {paths:?}");
    programs(device, "mpi-cuda-programs")
}

/// How the links of a halo exchange say that they go to and from this rank's part.
fn paths(team: &Team) -> partita::Result<Vec<String>> {
    let dist = Distribution::builder(&[40]).parts(team.size()).halo(&[1], &[1]).build()?;
    let u = Array::zeros(team, &dist, DType::F32)?;
    let (places, plan) = (u.places()?, Plan::halo_widths(&dist, &[1], &[1], false)?);
    let field = Field { plan: &plan, from: &places, to: &places, dtype: DType::F32 };
    let links = lower_between_ranks("halo exchange", (team, team), &[field])?.links;
    let mine = |part| part == team.rank();
    assert!(
        links.iter().all(|link| mine(link.from_part) != mine(link.to_part) && link.bytes == 4),
        "{links:?}"
    );
    Ok(links.iter().map(|link| link.transport.to_string()).collect())
}

/// What there is to say of the ranks, and what is refused.
fn ranks() -> partita::Result<()> {
    let refused = communicator::adopt_from_another_library();
    assert!(refused.contains("another library") && refused.contains("one MPI library"), "{refused}");
    let team = Team::world(1)?;
    let (here, count) = job::on_this_machine();
    assert!(here < count && team.rank() < team.ranks());
    println!("ran: mpi-ranks 1");
    Ok(())
}
