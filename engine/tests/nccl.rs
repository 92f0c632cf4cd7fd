//! Messages between ranks by NCCL, which is simulated as the driver is: ranks of one machine, each a process
//! with a CUDA device, that do not map each other's memory. Steps of loops are in `chained.rs`.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod jobs;
mod other;

use std::time::{Duration, Instant};

use jobs::{Way, ends, leave, say, start, team};
use partita::prelude::*;
use partita::transport::LinkReport;

/// The same values wherever they are.
fn begun(team: &Team, dist: &Distribution) -> Array {
    Array::from_fn(team, dist, |at| ((at[0] * 7 + at[1] * 5) % 19) as f32 * 0.25).unwrap()
}

const SHAPE: [i64; 2] = [22, 18];

fn rows(parts: usize) -> Distribution {
    Distribution::builder(&SHAPE).parts(parts).build().unwrap()
}

/// Cells that are dealt out in other ways.
fn others(parts: usize) -> [Distribution; 3] {
    let of = |grid: [i64; 2]| Distribution::builder(&SHAPE).grid(&grid);
    let (tall, wide) = ([parts as i64, 1], [1, parts as i64]);
    [of(wide), of(tall).cyclic(0, 2), of(wide).cyclic(1, 2)].map(|builder| builder.build().unwrap())
}

type Program = fn(&Array, &[Distribution; 3]) -> partita::Result<Array>;

const PROGRAMS: [(&str, Program); 6] = [
    ("halo", |u, _| Ok(u.roll(&[1, 0]) + u.roll(&[-1, 0]) * 0.5 + u.roll(&[0, 3]))),
    ("columns", |u, others| Ok(u.redistribute(&others[0]))),
    ("cyclic", |u, others| Ok(u.redistribute(&others[1]).redistribute(&others[2]))),
    ("sum", |u, _| Ok(u.sum(&[0]) + u.sum(&[]))),
    ("scan", |u, _| Ok(u.cumulative_sum(0))),
    ("sorted", |u, _| Ok(u.sort(0, false))),
];

#[test]
fn programs_give_the_same_bits_by_nccl() {
    let Some(of_way) = Way::Nccl.settings() else { return };
    let mut ran = 0;
    for (seed, (ranks, parts)) in [(2, 1), (3, 1), (4, 1), (2, 2), (3, 2)].into_iter().enumerate() {
        let log = std::env::temp_dir().join(format!("partita-nccl-{}-{seed}", std::process::id()));
        let own = [
            ("PARTITA_SIM_SEED", seed.to_string()),
            ("PARTITA_SIM_LOG", log.to_str().unwrap().to_owned()),
            ("NCCL_TEST_PARTS", parts.to_string()),
        ];
        let jobs = start("child_runs_programs", ranks, &[&own[..], &of_way].concat());
        for (rank, (succeeded, text)) in ends(jobs, None, Duration::from_secs(120)).into_iter().enumerate() {
            assert!(succeeded, "rank {rank} of {ranks}, {parts} parts, seed {seed}: {text}");
            ran += PROGRAMS.len();
        }
        assert!(!log.exists(), "{}", std::fs::read_to_string(&log).unwrap());
    }
    println!("ran: nccl {ran}");
}

#[test]
#[ignore = "run by another test, as ranks"]
fn child_runs_programs() {
    let team = team(std::env::var("NCCL_TEST_PARTS").unwrap().parse().unwrap());
    let alone = Team::on(&[Device::host()], team.size()).unwrap();
    let (rows, others) = (rows(team.size()), others(team.size()));
    for turn in 0..3 {
        for (name, program) in PROGRAMS {
            let made = program(&begun(&team, &rows), &others).unwrap();
            let expected = program(&begun(&alone, &rows), &others).unwrap();
            if turn == 0 && name == "columns" {
                team.transport().unwrap();
                let outline = made.explain().unwrap().to_string();
                assert!(outline.contains("NCCL"), "{outline}");
            }
            assert!(made.to_bytes().unwrap() == expected.to_bytes().unwrap(), "{name}, turn {turn}");
        }
    }
    assert!(team.transport().unwrap().unwrap().ends_with("; NCCL 2.30.7 between all others"));
    drop(team);
    leave();
}

/// Rank 1 fails at a point: the others name it within 5 s, and no process hangs.
#[test]
fn ranks_that_end_are_named_by_those_that_wait_for_their_messages() {
    let Some(of_way) = Way::Nccl.settings() else { return };
    let (mut ran, mut seed) = (0, 0);
    let points = ["launch", "send", "send-posted", "receive", "receive-placed", "wait-all", "eval-queued"];
    for kind in ["error", "panic", "kill", "stop"] {
        for point in points {
            seed += 1;
            let ranks = 2 + seed % 3;
            let fault = format!("1:{point}:{}:{kind}", 20 + seed);
            let own = [
                ("PARTITA_FAULT", fault.clone()),
                ("PARTITA_DEADLINE_SECONDS", "3".to_owned()),
                ("PARTITA_SIM_SEED", seed.to_string()),
            ];
            let jobs = start("child_fails", ranks, &[&own[..], &of_way].concat());
            let ends = ends(jobs, (kind == "stop").then_some(1), Duration::from_secs(30));
            let all = ends.iter().map(|(_, text)| &text[..]).collect::<Vec<_>>().concat();
            assert!(all.contains("a fault on purpose now"), "{fault}: no fault: {all}");
            for (rank, (_, text)) in ends.iter().enumerate().filter(|(rank, _)| *rank != 1) {
                let named = text.contains(&format!("on rank {rank} of {ranks}: rank 1 failed in "));
                let seconds = text.split("seconds: ").nth(1).and_then(|rest| rest.split_whitespace().next());
                let seconds: f64 = seconds.unwrap_or_else(|| panic!("{fault}: {text}")).parse().unwrap();
                assert!(named && seconds < 5.0, "{fault}, rank {rank}, {seconds} s: {text}");
                println!("{fault}: rank {rank} of {ranks} ended after {seconds} s");
                ran += 1;
            }
        }
    }
    println!("ran: nccl-faults {ran}");
}

#[test]
#[ignore = "run by another test, as ranks"]
fn child_fails() {
    let team = team(1);
    let others = others(team.size());
    let mut begin = Instant::now();
    let mut run = || -> partita::Result<()> {
        let u = begun(&team, &rows(team.size()));
        for _ in 0..40 {
            for (_, program) in PROGRAMS {
                begin = Instant::now();
                program(&u, &others)?.eval()?;
            }
        }
        Ok(())
    };
    let Err(error) = run() else { panic!("no fault happened") };
    say(&format!("error: {error}\nseconds: {}", begin.elapsed().as_secs_f64()));
    drop(team);
    leave();
}

/// Two ranks on one GPU, which NCCL refuses, and a rank whose library is none.
#[test]
fn what_nccl_refuses_goes_by_other_ways_and_is_said() {
    let Some(of_way) = Way::Nccl.settings() else { return };
    let none = vec![("PARTITA_CUDA_IPC", "0".to_owned()), ("PARTITA_NCCL", "/nowhere.so".to_owned())];
    for (settings, shared, expected) in [
        (&of_way, "1", "ranks 0 and 1 share a GPU, which NCCL refuses"),
        (&none, "0", "rank 0: /nowhere.so: cannot open shared object file"),
    ] {
        let own = [("NCCL_TEST_SHARED", shared.to_owned())];
        for (rank, (succeeded, text)) in
            ends(start("child_is_refused", 2, &[&own[..], settings].concat()), None, Duration::from_secs(60))
                .into_iter()
                .enumerate()
        {
            assert!(succeeded && text.contains(expected), "rank {rank}: {text}");
        }
    }
    println!("ran: nccl-refusals 4");
}

#[test]
#[ignore = "run by another test, as ranks"]
fn child_is_refused() {
    let shared = std::env::var("NCCL_TEST_SHARED").unwrap() == "1";
    let team = if shared { Team::world_on(&[Device::cuda(0).unwrap()], 1).unwrap() } else { team(1) };
    let rows = rows(team.size());
    let sum = begun(&team, &rows).roll(&[1, 0]).sum(&[]).to_bytes().unwrap();
    let alone = Team::on(&[Device::host()], team.size()).unwrap();
    assert_eq!(sum, begun(&alone, &rows).roll(&[1, 0]).sum(&[]).to_bytes().unwrap());
    let devices =
        if shared { vec![Device::cuda(0).unwrap()] } else { vec![team.device(team.rank()).clone()] };
    say(&format!("{}", LinkReport::measure(&devices).unwrap()));
    drop(team);
    leave();
}
