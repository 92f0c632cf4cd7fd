//! One rank of an MPI program, started by `mpirun -n N mpi WHAT`. `programs` compares what programs for many
//! ranks read with one process, `cuda WORDS` does that on CUDA devices and asks that messages travel as the
//! words say; `fault` passes every point at which `PARTITA_FAULT` can ask for a fault; in `ends` one rank
//! ends in the middle, and in `numbers` one computes with another constant. In `communicators` the program
//! uses rsmpi itself and hands over its communicators; in `threads` its threads may not use MPI. `waits`
//! counts how often a rank waits for its CUDA device in an exchange with 2, 4 and 8 neighbours.
#![allow(clippy::unwrap_used)]

#[path = "raw_access/communicator.rs"]
mod communicator;
#[path = "spmd/jobs.rs"]
mod jobs;
mod other;
mod spmd;

use std::io::Write as _;
use std::process::ExitCode;

use ::mpi::Threading;
use ::mpi::collective::SystemOperation;
use ::mpi::environment::initialize_with_threading;
use ::mpi::topology::{Color, SimpleCommunicator};
use ::mpi::traits::*;
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
        "communicators" => communicators(),
        "threads" => threads(),
        "waits" => waits(),
        "waiting" => waiting(),
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

/// Teams over communicators of rsmpi, which the program goes on using.
fn communicators() -> partita::Result<()> {
    let refused = |words: &str| {
        let error = Team::from_communicator(&SimpleCommunicator::world(), 1).map(drop).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    refused("given not yet");
    let (universe, _) = initialize_with_threading(Threading::Serialized).unwrap();
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    // Colors in another order than ranks, and within each color ranks turned around.
    let half = world.split_by_color_with_key(Color::with_value((rank + 1) % 2), -rank).unwrap();
    let duplicate = world.duplicate();
    let group = world.group().include(&(0..size).step_by(2).collect::<Vec<_>>());
    let even = world.split_by_subgroup_collective(&group);
    let all: [&dyn Communicator; 2] = [&world, &duplicate];
    let mut teams = Vec::new();
    for communicator in
        all.into_iter().chain([&half as &dyn Communicator]).chain(even.as_ref().map(|c| c as _))
    {
        let team = Team::from_communicator(communicator, 2)?;
        let mine = (communicator.rank() as usize, communicator.size() as usize);
        assert_eq!((team.rank(), team.ranks(), team.size()), (mine.0, mine.1, 2 * mine.1));
        let u = of_world_rank(&team, rank)?;
        // The program's own messages on the communicator, while the array is not computed yet.
        let mut ranks = 0;
        communicator.all_reduce_into(&rank, &mut ranks, SystemOperation::sum());
        assert_eq!(u.sum(&[]).item::<i64>()?, i64::from(20 * ranks), "the world's ranks of {mine:?}");
        // Equal teams, so arrays of both mix.
        let again = Team::from_communicator(communicator, 2)?;
        let twice = &u + &of_world_rank(&again, rank)?;
        assert_eq!(twice.sum(&[]).item::<i64>()?, i64::from(40 * ranks));
        teams.push((team, ranks));
    }
    // The communicators end, the teams do not; a new one may get the number of an old one.
    drop((half, duplicate, even, group));
    let later = world.split_by_color(Color::with_value(rank % 2)).unwrap();
    let team = Team::from_communicator(&later, 1)?;
    assert_eq!((team.rank(), team.ranks()), (later.rank() as usize, later.size() as usize));
    for (team, ranks) in &teams {
        assert_eq!(of_world_rank(team, rank)?.sum(&[]).item::<i64>()?, i64::from(20 * ranks));
    }
    world.barrier();
    drop(later);
    drop(universe);
    refused("given one that has ended");
    if size > 1 {
        let late = of_world_rank(&teams[0].0, rank).and_then(|u| u.sum(&[]).item::<i64>());
        let error = late.unwrap_err().to_string();
        assert!(error.contains("MPI was finalized"), "{error}");
    }
    println!("ran: mpi-communicators {}", teams.len());
    Ok(())
}

/// Twenty cells of each rank, in its two parts: its rank in the world.
fn of_world_rank(team: &Team, rank: i32) -> partita::Result<Array> {
    let dist = Distribution::builder(&[10 * team.size() as i64]).parts(team.size()).build()?;
    let part: Vec<u8> = [i64::from(rank); 10].iter().flat_map(|cell| cell.to_ne_bytes()).collect();
    Array::from_pieces(team, &dist, DType::I64, &[&part, &part])
}

/// A program that calls `mpi::initialize`, as most do, has too little thread support.
fn threads() -> partita::Result<()> {
    let universe = ::mpi::initialize().unwrap();
    if ::mpi::environment::threading_support() < Threading::Serialized {
        let error = Team::from_communicator(&universe.world(), 1).map(drop).unwrap_err().to_string();
        assert!(error.contains("initialize_with_threading(Threading::Serialized)"), "{error}");
        println!("ran: mpi-threads 1");
    }
    Ok(())
}

/// The name, the grid of nine ranks, and how many neighbours rank 4 of them has.
const NEIGHBOURS: [(&str, [i64; 2], usize); 3] =
    [("rows", [9, 1], 2), ("star", [3, 3], 4), ("box", [3, 3], 8)];
const EXCHANGES: usize = 6;

/// Each rank computes in a process of its own, whose calls of the driver are counted on rank 4.
fn waits() -> partita::Result<()> {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let is_counted = job::on_this_machine().0 == 4;
    command.arg("waiting").env("PARTITA_SIM_TRACE", if is_counted { "1" } else { "0" });
    let calls = other::said(command);
    for (name, _, neighbours) in NEIGHBOURS.into_iter().filter(|_| is_counted) {
        let exchanges = calls.split(&format!("{name} begins\n")).nth(1).unwrap();
        let exchanges = exchanges.split(&format!("{name} ends\n")).next().unwrap();
        let count = |call: &str| exchanges.lines().filter(|line| line.contains(call)).count();
        // The library's own waits are for the stream 0.
        let waits = count("Synchronize(") - count("cuStreamSynchronize(0x0");
        println!("{neighbours} neighbours: {waits} waits for the device in {EXCHANGES} exchanges");
        assert_eq!(waits, EXCHANGES, "{neighbours} neighbours:\n{exchanges}");
        println!("ran: mpi-cuda-waits {EXCHANGES}");
    }
    Ok(())
}

fn waiting() -> partita::Result<()> {
    let (rank, _) = job::on_this_machine();
    let devices = Device::named("cuda")?;
    let team = Team::world_on(&[devices[rank % devices.len()].clone()], 1)?;
    for (name, grid, _) in NEIGHBOURS {
        let dist = Distribution::builder(&[54, 12]).grid(&grid).build()?;
        let u = Array::from_fn(&team, &dist, |at| (at[0] * 7 + at[1] * at[1] % 5) as f32)?;
        let mut steps = Loop::new(vec![u], |state: &mut [Array]| {
            let u = &state[0];
            let sides = u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1]);
            let next = match name {
                "rows" => sides,
                "star" => sides + u.slice(&s![1..-1, ..-2]) + u.slice(&s![1..-1, 2..]),
                _ => {
                    let [one, other] = [u.slice(&s![..-2, ..-2]), u.slice(&s![..-2, 2..])];
                    sides + one + other + u.slice(&s![2.., ..-2]) + u.slice(&s![2.., 2..])
                }
            };
            state[0].assign(&s![1..-1, 1..-1], &(next * 0.125))
        });
        steps.run(12)?;
        team.wait()?;
        eprintln!("{name} begins");
        steps.run(EXCHANGES as u64)?;
        eprintln!("{name} ends");
        team.wait()?;
    }
    Ok(())
}
