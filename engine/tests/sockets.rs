//! Ranks that TCP connects: the same results as one process, strangers refused, and every end of a process
//! reported to the others. Ranks are threads, or processes that this test starts as a launcher does.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "spmd/jobs.rs"]
mod jobs;
mod spmd;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use partita::prelude::*;
use partita::wire::sockets::{Launch, Rendezvous, Sockets};
use partita::wire::{Ranks, job};
use partita::{Error, Result};

const DEADLINE: Duration = Duration::from_secs(20);

/// An address of this machine that was free a moment ago.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Runs a program on ranks that are threads, connected at an address.
fn run<T: Send>(size: usize, program: impl Fn(Ranks) -> T + Sync) -> Vec<T> {
    let (address, program) = (free_address(), &program);
    std::thread::scope(|scope| {
        let rank = |rank| {
            let launch = Launch { rank, size, rendezvous: Rendezvous::at(&address, "a secret") };
            scope.spawn(move || {
                program(Ranks::with_deadline(Sockets::connect(&launch, DEADLINE).unwrap(), DEADLINE))
            })
        };
        let running: Vec<_> = (0..size).map(rank).collect();
        running.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

#[test]
fn programs_give_the_same_bytes_on_connected_ranks() {
    let mut ran = 0;
    for (ranks, parts) in [(2, 1), (3, 2), (4, 1)] {
        let alone = Team::on(&[Device::host()], ranks * parts).unwrap();
        let expected: Vec<_> = spmd::PROGRAMS.iter().map(|(_, program)| program(&alone).unwrap()).collect();
        for (rank, read) in run(ranks, |ranks| {
            let team = Team::over(&ranks, &[Device::host()], parts)?;
            spmd::PROGRAMS.iter().map(|(_, program)| program(&team)).collect::<Result<Vec<_>>>()
        })
        .into_iter()
        .enumerate()
        {
            for ((name, _), (read, expected)) in
                spmd::PROGRAMS.iter().zip(read.unwrap().iter().zip(&expected))
            {
                assert!(read == expected, "{name}: rank {rank} of {ranks} reads something else");
                ran += 1;
            }
        }
    }
    println!("ran: socket-programs {ran}");
}

/// Messages longer than any buffer of the system, in both directions at once, some before their receives.
#[test]
fn long_messages_arrive_whole() {
    let pattern = |rank: usize| (0..40 << 20).map(|at: usize| (at * 7 + rank) as u8).collect::<Vec<u8>>();
    for all in run(3, |ranks| ranks.all_gather("patterns", &pattern(ranks.rank()))) {
        for (rank, bytes) in all.unwrap().iter().enumerate() {
            assert!(*bytes == pattern(rank), "the pattern of rank {rank}");
        }
    }
}

#[test]
fn strangers_are_refused_and_keep_nobody_waiting() {
    let address = free_address();
    std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..2)
            .map(|rank| {
                let launch = Launch { rank, size: 2, rendezvous: Rendezvous::at(&address, "right") };
                scope.spawn(move || {
                    // Strangers come first.
                    std::thread::sleep(Duration::from_millis(if rank == 0 { 0 } else { 400 }));
                    Sockets::connect(&launch, DEADLINE).map(|_| ())
                })
            })
            .collect();
        let begin = Instant::now();
        let mut silent = loop {
            if let Ok(stream) = TcpStream::connect(&address) {
                break stream;
            }
        };
        let mut noisy = TcpStream::connect(&address).unwrap();
        noisy.write_all(&[7; 200]).unwrap();
        let wrong = Launch { rank: 1, size: 2, rendezvous: Rendezvous::at(&address, "wrong") };
        let refused =
            Sockets::connect(&wrong, Duration::from_millis(200)).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("rank 0 does not answer"), "{refused}");
        for rank in ranks {
            rank.join().unwrap().unwrap();
        }
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
        // What it got tells nothing of the secret: the protocol's name and a random number.
        let mut said = Vec::new();
        silent.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let _ = silent.read_to_end(&mut said);
        assert_eq!(said.len(), 40);
    });
}

#[test]
fn unusable_launches_are_errors_in_words() {
    let far = Launch { rank: 0, size: 2, rendezvous: Rendezvous::at("0.0.0.0:0", "") };
    let error = Sockets::connect(&far, DEADLINE).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("needs a secret"), "{error}");
    let alone = Launch { rank: 0, size: 2, rendezvous: Rendezvous::at("127.0.0.1:0", "") };
    let error = Sockets::connect(&alone, Duration::from_millis(50)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("rank 1 did not connect"), "{error}");
    let beyond = Launch { rank: 2, size: 2, rendezvous: Rendezvous::at("127.0.0.1:0", "") };
    assert!(Sockets::connect(&beyond, DEADLINE).is_err_and(|error| error.to_string().contains("below 2")));
}

/// What a process that [`Job`] started does.
#[test]
fn a_process_of_a_job() {
    let Ok(what) = std::env::var("SOCKETS_TEST") else {
        println!("skipped: a process of a job (the other tests start it)");
        return;
    };
    let result = match what.as_str() {
        "programs" => jobs::programs(&Device::host()).map(|(_, ran)| println!("ran: {ran}")),
        "fault" => jobs::fault(),
        "ends" => jobs::ends().map(|()| println!("noticed the end")),
        "numbers" => jobs::numbers().map(|()| println!("noticed the numbers")),
        "twice" => twice(),
        _ => unreachable!(),
    };
    if let Err(error) = result {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
    // The harness would end the process without the others.
    std::process::exit(if job::leave() { 0 } else { 1 });
}

/// A second connection of one process is refused.
fn twice() -> Result<()> {
    let team = Team::world_on(&[Device::host()], 1)?;
    let again = Launch { rank: 0, size: 1, rendezvous: Rendezvous::at("127.0.0.1:0", "") };
    let error = Team::connect(&again, 1).unwrap_err().to_string();
    assert!(error.contains("already is a rank") && team.ranks() == 3, "{error}");
    Ok::<_, Error>(())
}

/// Processes that are started as `torchrun` does.
struct Job(Vec<Child>);

impl Job {
    fn start(what: &str, size: usize, settings: &[(&str, String)]) -> Job {
        static JOBS: AtomicUsize = AtomicUsize::new(0);
        let id = format!("test-{}-{}", std::process::id(), JOBS.fetch_add(1, Ordering::Relaxed));
        let start = |rank: usize| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "a_process_of_a_job", "--nocapture"]);
            command.env("SOCKETS_TEST", what).env("RANK", rank.to_string());
            command.env("WORLD_SIZE", size.to_string()).env("LOCAL_WORLD_SIZE", size.to_string());
            command.env("TORCHELASTIC_RUN_ID", &id).env("PARTITA_THREADS", "1");
            command.envs(settings.iter().map(|(name, value)| (*name, value)));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        Job((0..size).map(start).collect())
    }

    /// Whether each process succeeded, and what it printed. A stopped one is killed once the others ended.
    fn wait(self, stopped: Option<usize>) -> Vec<(bool, String)> {
        let mut ends: Vec<Option<(bool, String)>> = vec![None; self.0.len()];
        let mut running: Vec<_> = self.0.into_iter().enumerate().collect();
        running.sort_by_key(|(rank, _)| Some(*rank) == stopped);
        for (rank, mut child) in running {
            if Some(rank) == stopped {
                child.kill().unwrap();
            }
            let output = child.wait_with_output().unwrap();
            let text =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            ends[rank] = Some((output.status.success(), text.concat()));
        }
        ends.into_iter().flatten().collect()
    }
}

#[test]
fn processes_of_a_launcher_are_one_program() {
    for what in ["programs", "ends", "numbers", "twice"] {
        for (rank, (succeeded, text)) in Job::start(what, 3, &[]).wait(None).into_iter().enumerate() {
            let said = match what {
                "programs" => "ran: 30",
                "ends" if rank != 1 => "noticed the end",
                "numbers" => "noticed the numbers",
                _ => "",
            };
            // After a difference nothing is left to end together.
            let expected = matches!(what, "programs" | "twice") || (what == "ends" && rank == 1);
            assert!(text.contains(said) && (succeeded || !expected), "{what}, rank {rank}: {text}");
        }
    }
}

/// Rank 2 fails at a point: the others name it, soon, and no process hangs.
#[test]
fn faults_are_named_by_all_ranks() {
    let every = std::env::var("PARTITA_FAULT_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    let mut ran = 0;
    for (kind, first) in [("error", 0), ("panic", 2), ("kill", 4), ("stop", 6)] {
        for point in partita::wire::POINTS.iter().skip(if every == 1 { 0 } else { first }).step_by(every) {
            let is_rare = point.starts_with("agree") || *point == "team";
            let fault = format!("2:{point}:{}:{kind}", if is_rare { 0 } else { 2 });
            let settings = [("PARTITA_FAULT", fault), ("PARTITA_DEADLINE_SECONDS", "2".to_owned())];
            let begin = Instant::now();
            let ends = Job::start("fault", 3, &settings).wait((kind == "stop").then_some(2));
            let (took, all) =
                (begin.elapsed(), ends.iter().map(|(_, text)| &text[..]).collect::<Vec<_>>().concat());
            assert!(all.contains("a fault on purpose now"), "{kind} at {point}: no fault: {all}");
            assert!(took < Duration::from_secs(10), "{kind} at {point} took {took:?}: {all}");
            for (rank, (succeeded, text)) in ends.iter().take(2).enumerate() {
                let named = format!("[partita] on rank {rank} of 3: rank 2 failed in ");
                assert!(!succeeded && text.contains(&named), "{kind} at {point}, rank {rank}: {text}");
            }
            ran += 1;
        }
    }
    println!("ran: socket-faults {ran}");
}
