//! Ranks that TCP connects: the same results as one process, strangers refused, and every end of a process
//! reported to the others. Ranks are threads, or processes that this test starts as a launcher does.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "raw_access/forked.rs"]
mod forked;
#[path = "spmd/jobs.rs"]
mod jobs;
mod spmd;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use forked::{end_by_closed_connections, in_forked_program, limit_files, raise};
use partita::prelude::*;
use partita::wire::sockets::{Launch, Rendezvous, Sockets, launched};
use partita::wire::{Ranks, job};
use partita::{Error, Result};

const DEADLINE: Duration = Duration::from_secs(20);

/// How often tests that may go on for long do so: `PARTITA_SOAK` times.
fn soak(usually: usize) -> usize {
    std::env::var("PARTITA_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(usually)
}

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
        let refused = Sockets::connect(&wrong, DEADLINE).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("rank 0 refuses it") && refused.contains("another secret"), "{refused}");
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
        "pipe" => pipe(),
        "forks" => forks(),
        "signals" => signals(),
        "crowded" => crowded(),
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

/// The sum of an array over all ranks, which is 780.
fn total(team: &Team) -> Result<f64> {
    let dist = Distribution::builder(&[40]).parts(team.size()).build()?;
    Array::from_fn(team, &dist, |at| at[0] as f64)?.sum(&[]).item()
}

/// Rank 1 is killed while writing to a closed connection would end the others by a signal, as in programs
/// that restore the default of SIGPIPE.
fn pipe() -> Result<()> {
    let team = Team::world_on(&[Device::host()], 1)?;
    total(&team)?;
    end_by_closed_connections();
    if team.rank() == 1 {
        raise(libc::SIGKILL);
    }
    std::thread::sleep(Duration::from_millis(300));
    let error = total(&team).unwrap_err();
    assert!(matches!(error, Error::Rank { rank: 1, .. }), "{error}");
    println!("noticed the end");
    Ok(())
}

/// Processes that rank 1 forks end without a word to the others, whether they use the team, panic or abort.
fn forks() -> Result<()> {
    let team = Team::world_on(&[Device::host()], 1)?;
    assert_eq!(total(&team)?, 780.0);
    let ranks = team.wire().unwrap().clone();
    let uses = || {
        let team = &team;
        let results = [
            ("sum", total(team).map(drop)),
            ("world", Team::world_on(&[Device::host()], 1).map(drop)),
            ("over", Team::over(&ranks, &[Device::host()], 1).map(drop)),
            ("send", ranks.send(0, 8, |_, _| Ok(()))),
            ("receive", ranks.post_receive(0, 8)),
            ("gather", ranks.all_gather("gather", &[1]).map(drop)),
        ];
        for (call, result) in results {
            let error = result.expect_err(call);
            assert!(matches!(error, Error::Forked { .. }), "{call}: {error}");
        }
        // A team of its own works.
        let alone = Team::on(&[Device::host()], 2).unwrap();
        assert_eq!(total(&alone).unwrap(), 780.0);
        ranks.abort("the forked process gives up");
    };
    for _ in 0..2 {
        if team.rank() == 1 {
            assert_eq!(in_forked_program(|| ()), 0);
            assert_eq!(in_forked_program(uses), 0);
            assert_eq!(in_forked_program(|| job::abort("the forked process gives up")), 256);
        }
        assert_eq!(total(&team)?, 780.0);
    }
    println!("went on");
    Ok(())
}

/// Rank 1 ends a process that it forked by SIGTERM, then itself.
fn signals() -> Result<()> {
    let team = Team::world_on(&[Device::host()], 1)?;
    total(&team)?;
    if team.rank() == 1 {
        assert_eq!(in_forked_program(|| raise(libc::SIGTERM)), libc::SIGTERM);
        raise(libc::SIGTERM);
    }
    total(&team).map(drop)
}

/// Rank 0 may open few files, and the others come late.
fn crowded() -> Result<()> {
    if std::env::var("RANK").is_ok_and(|rank| rank == "0") {
        limit_files(40);
    } else {
        std::thread::sleep(Duration::from_secs(2));
    }
    total(&Team::world_on(&[Device::host()], 1)?)?;
    println!("met");
    Ok(())
}

/// Processes that are started as `torchrun` does.
struct Job(Vec<Child>);

impl Job {
    fn start(what: &str, size: usize, settings: &[(&str, String)]) -> Job {
        Job::start_each(what, size, |_| settings.to_vec())
    }

    /// With settings for each rank.
    fn start_each<'n>(what: &str, size: usize, settings: impl Fn(usize) -> Vec<(&'n str, String)>) -> Job {
        static JOBS: AtomicUsize = AtomicUsize::new(0);
        let id = format!("test-{}-{}", std::process::id(), JOBS.fetch_add(1, Ordering::Relaxed));
        let start = |rank: usize| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "a_process_of_a_job", "--nocapture"]);
            command.env("SOCKETS_TEST", what).env("RANK", rank.to_string());
            command.env("WORLD_SIZE", size.to_string()).env("LOCAL_WORLD_SIZE", size.to_string());
            command.env("TORCHELASTIC_RUN_ID", &id).env("PARTITA_THREADS", "1");
            command.envs(settings(rank));
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
                "programs" => "ran: 32",
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
    for (kind, first) in [("error", 0), ("panic", 2), ("kill", 4), ("stop", 6), ("hang", 8)] {
        for point in partita::wire::POINTS.iter().skip(if every == 1 { 0 } else { first }).step_by(every) {
            let is_rare = point.starts_with("agree") || *point == "team";
            let fault = format!("2:{point}:{}:{kind}", if is_rare { 0 } else { 2 });
            let settings = [("PARTITA_FAULT", fault), ("PARTITA_DEADLINE_SECONDS", "2".to_owned())];
            let begin = Instant::now();
            let ends = Job::start("fault", 3, &settings).wait(matches!(kind, "stop" | "hang").then_some(2));
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

/// A rank that writes to a process that has died is not ended by a signal.
#[test]
fn the_end_of_a_rank_is_an_error_where_writing_to_a_closed_connection_is_a_signal() {
    for (rank, (succeeded, text)) in Job::start("pipe", 3, &[]).wait(None).into_iter().enumerate() {
        assert!(rank == 1 || text.contains("noticed the end"), "rank {rank}: {succeeded}: {text}");
    }
}

/// Rank 1 forks processes so many times over, each of which would disturb the job if it spoke.
#[test]
fn a_forked_process_does_not_speak_for_its_rank() {
    for _ in 0..soak(1) {
        let begin = Instant::now();
        for (rank, (succeeded, text)) in Job::start("forks", 3, &[]).wait(None).into_iter().enumerate() {
            assert!(succeeded && text.contains("went on"), "rank {rank}: {text}");
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }
}

#[test]
fn a_process_that_is_terminated_does_not_blame_another_rank() {
    let ends = Job::start("signals", 3, &[]).wait(None);
    let all: String = ends.iter().map(|(_, text)| &text[..]).collect();
    assert!(!all.contains("another rank died") && !all.contains("panicked"), "{all}");
    assert_eq!(all.matches("rank 1 of 3 is terminated (SIGTERM): it was in ").count(), 1, "{all}");
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let launch = Launch { rank: 0, size: 2, rendezvous: Rendezvous::at(&address, "a secret") };
    let error = Sockets::connect(&launch, DEADLINE).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains(&address) && error.contains("Address already in use"), "{error}");
    assert!(error.contains("listens there: end it, or choose another port"), "{error}");
}

/// The refused rank ends at once; rank 0 says so at once and waits for the right one, until its deadline.
#[test]
fn another_secret_is_named_on_both_sides() {
    let address = free_address();
    let begin = Instant::now();
    let job = Job::start_each("fault", 2, |rank| {
        let secret = ["one", "another"][rank].to_owned();
        let deadline = ["4", "60"][rank].to_owned();
        vec![
            ("PARTITA_ADDRESS", address.clone()),
            ("PARTITA_SECRET", secret),
            ("PARTITA_DEADLINE_SECONDS", deadline),
        ]
    });
    let ends = job.wait(None);
    let [first, other] = [&ends[0].1, &ends[1].1];
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    let notice = "[partita] on rank 0 of 2: a process that says that it is rank 1 has another secret";
    assert!(first.contains(notice), "{first}");
    assert!(first.contains("rank 1 did not connect; refused for another secret: 1"), "{first}");
    assert!(other.contains("rank 0 refuses it: it has another secret"), "{other}");
    for text in [first, other] {
        assert!(text.contains("give all ranks one secret (PARTITA_SECRET)"), "{text}");
    }
}

/// Strangers connect and stay silent, more than rank 0 may have open files. It makes no threads for them.
#[test]
fn strangers_that_use_up_all_files_do_not_end_the_start_of_a_job() {
    let address = free_address();
    for _ in 0..soak(1) {
        let job = Job::start("crowded", 3, &[("PARTITA_ADDRESS", address.clone())]);
        let begin = Instant::now();
        let first = loop {
            match TcpStream::connect(&address) {
                Ok(stream) => break stream,
                Err(error) => assert!(begin.elapsed() < DEADLINE, "{error}"),
            }
        };
        let mut strangers = vec![first];
        strangers.extend((0..90).filter_map(|_| TcpStream::connect(&address).ok()));
        let status = std::fs::read_to_string(format!("/proc/{}/status", job.0[0].id())).unwrap_or_default();
        let threads = status.lines().find_map(|line| line.strip_prefix("Threads:"));
        let threads: usize = threads.map_or(0, |count| count.trim().parse().unwrap());
        assert!(threads < 10, "{threads} threads");
        for (rank, (succeeded, text)) in job.wait(None).into_iter().enumerate() {
            assert!(succeeded && text.contains("met"), "rank {rank}: {text}");
        }
    }
}

fn of(pairs: &[(&str, &str)]) -> Result<Option<Launch>> {
    launched(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
}

const NAMES: [(&str, &str, &str); 4] = [
    ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"),
];

#[test]
fn launchers_are_known_by_their_variables() {
    for (rank, size, local) in NAMES {
        let launch = of(&[(rank, "2"), (size, "3"), (local, "3")]).unwrap().unwrap();
        assert!((launch.rank, launch.size) == (2, 3) && matches!(launch.rendezvous, Rendezvous::File(_)));
        let error = of(&[(rank, "2"), (size, "3"), (local, "1")]).unwrap_err().to_string();
        assert!(error.contains(size) && error.contains("PARTITA_ADDRESS=HOST:PORT"), "{error}");
        let far = [(rank, "2"), (size, "3"), ("PARTITA_ADDRESS", "node1:4000"), ("PARTITA_SECRET", "x")];
        assert_eq!(of(&far).unwrap().unwrap().rendezvous, Rendezvous::at("node1:4000", "x"));
    }
}

#[test]
fn processes_that_were_started_alone_are_no_ranks() {
    let alone: [&[(&str, &str)]; 9] = [
        &[],
        &[("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_WORLD_SIZE", "1")],
        // A batch script of SLURM, and a shell in an allocation.
        &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")],
        &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "1")],
        // Names of other programs.
        &[("RANK", "colonel")],
        &[("WORLD_SIZE", "large")],
        &[("RANK", "0")],
        &[("WORLD_SIZE", "1")],
        &[("RANK", " "), ("WORLD_SIZE", "")],
    ];
    for pairs in alone {
        assert_eq!(of(pairs).unwrap(), None, "{pairs:?}");
    }
    // A script that `srun` starts after `export WORLD_SIZE=$SLURM_NTASKS`.
    let srun = [
        ("WORLD_SIZE", "4"),
        ("SLURM_PROCID", "3"),
        ("SLURM_STEP_NUM_TASKS", "4"),
        ("SLURM_STEP_TASKS_PER_NODE", "4"),
    ];
    assert_eq!(of(&srun).unwrap().map(|launch| (launch.rank, launch.size)), Some((3, 4)));
}

#[test]
fn variables_that_contradict_each_other_are_errors_that_name_them() {
    for (rank, size, _) in NAMES {
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);
        let cases: [Case; 8] = [
            (&[(rank, "5"), (size, "3")], rank, "`5`"),
            (&[(rank, "3"), (size, "3")], rank, "`3`"),
            (&[(rank, "abc"), (size, "3")], rank, "`abc`"),
            (&[(rank, "-1"), (size, "3")], rank, "`-1`"),
            (&[(rank, "0"), (size, "many")], size, "`many`"),
            (&[(rank, "0"), (size, "0")], size, "`0`"),
            (&[(size, "3")], rank, "none"),
            (&[(rank, "1")], size, "none"),
        ];
        for (pairs, variable, given) in cases {
            let error = of(pairs).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{variable}: expected ")), "{pairs:?}: {error}");
            assert!(error.contains(&format!("given {given}; ")), "{pairs:?}: {error}");
        }
        for many in ["65537", "1000000000", "18446744073709551615", "99999999999999999999999"] {
            let error = of(&[(rank, "0"), (size, many)]).unwrap_err().to_string();
            assert!(error.contains(size) && error.contains("1 to 65536"), "{error}");
        }
    }
}
