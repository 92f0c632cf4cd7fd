//! Programs for many ranks, run on threads: the same results as one process, and one error on all ranks where
//! one fails or does something else.
#![allow(clippy::unwrap_used)]

mod spmd;

use std::time::{Duration, Instant};

use partita::prelude::*;
use partita::wire::{Ranks, threads};
use partita::{Error, Result};

const SOON: Duration = Duration::from_secs(2);

fn over(ranks: &Ranks, parts: usize) -> Result<Team> {
    Team::over(ranks, &[Device::host()], parts)
}

#[test]
fn d1_f5_every_program_reads_the_same_on_any_number_of_ranks() {
    let mut ran = 0;
    for (ranks, parts) in [(1, 3), (2, 1), (2, 3), (3, 1), (3, 2), (4, 1), (5, 1), (7, 1), (8, 1)] {
        for (name, program) in spmd::PROGRAMS {
            let alone = program(&Team::on(&[Device::host()], ranks * parts).unwrap()).unwrap();
            let results = threads::run(ranks, |ranks| program(&over(&ranks, parts)?));
            for (rank, result) in results.into_iter().enumerate() {
                let bytes = result.unwrap().unwrap_or_else(|e| panic!("{name}, rank {rank} of {ranks}: {e}"));
                assert!(
                    bytes == alone,
                    "{name}: rank {rank} of {ranks} with {parts} parts reads something else"
                );
                ran += 1;
            }
        }
    }
    println!("ran: rank-programs {ran}");
}

#[test]
fn ranks_may_have_different_numbers_of_parts_and_none() {
    for shares in [&[2, 0, 3][..], &[0, 1], &[1, 4]] {
        let total = shares.iter().sum();
        for (name, program) in spmd::PROGRAMS {
            let alone = program(&Team::on(&[Device::host()], total).unwrap()).unwrap();
            for result in threads::run(shares.len(), |ranks| program(&over(&ranks, shares[ranks.rank()])?)) {
                assert!(result.unwrap().unwrap() == alone, "{name} over {shares:?}");
            }
        }
    }
}

#[test]
fn a_team_of_some_members_computes_on_theirs() {
    for result in threads::run(3, |ranks| {
        let all = over(&ranks, 2)?;
        let some = all.of_members(&[5, 0, 3])?;
        let dist = Distribution::builder(&[10]).parts(3).build()?;
        let x = Array::from_fn(&some, &dist, |at| at[0])?;
        Ok::<_, Error>((some.to_string(), x.sum(&[]).item::<i64>()?, x.slice(&s![2..5]).to_vec::<i64>()?))
    }) {
        let (text, sum, window) = result.unwrap().unwrap();
        assert!(text.contains("of rank 2") && text.contains("of rank 1"), "{text}");
        assert_eq!((sum, window), (45, vec![2, 3, 4]));
    }
}

#[test]
fn long_messages_travel_in_pieces() {
    let size = 700_000;
    let results = threads::run(2, |ranks| {
        let team = over(&ranks, 1)?;
        let dist = Distribution::builder(&[size]).parts(2).build()?;
        let x = Array::from_fn(&team, &dist, |at| at[0])?;
        let other =
            Distribution::builder(&[size]).map(0, partita::index::DimMap::irregular(&[0, size, size])?);
        x.redistribute(&other.grid(&[2]).build()?)?.to_vec::<i64>()
    });
    for result in results {
        assert!(result.unwrap().unwrap().iter().copied().eq(0..size));
    }
}

/// What all ranks of a program end with, and how long the last of them took.
fn ends(ranks: usize, program: impl Fn(Ranks) -> Result<()> + Sync) -> Vec<std::thread::Result<Result<()>>> {
    let begin = Instant::now();
    let ends = threads::run_with_deadline(ranks, SOON, program);
    assert!(begin.elapsed() < SOON + Duration::from_secs(5), "{:?}", begin.elapsed());
    ends
}

/// The words of a rank's error, which must be one about ranks.
fn words(end: std::thread::Result<Result<()>>) -> String {
    match end.unwrap() {
        Err(error @ Error::Rank { .. }) => error.to_string(),
        other => panic!("expected an error about ranks, got {other:?}"),
    }
}

fn line(team: &Team, size: i64) -> Result<Array> {
    let dist = Distribution::builder(&[size]).parts(team.size()).build()?;
    Array::from_fn(team, &dist, |at| at[0] as f64)
}

/// Pairs of things that two ranks must not do at once.
type Mismatch = (&'static str, fn(&Team) -> Result<()>, fn(&Team) -> Result<()>);

const MISMATCHES: &[Mismatch] = &[
    ("operations", |t| line(t, 20)?.to_vec::<f64>().map(drop), |t| line(t, 20)?.sum(&[]).eval()),
    ("shapes", |t| line(t, 20)?.to_vec::<f64>().map(drop), |t| line(t, 21)?.to_vec::<f64>().map(drop)),
    ("dtypes", |t| line(t, 20)?.to_bytes().map(drop), |t| line(t, 20)?.cast(DType::F32).to_bytes().map(drop)),
    ("widths", |t| shifted(t, 1), |t| shifted(t, 2)),
    (
        "orders",
        |t| line(t, 20)?.sum(&[]).eval().and_then(|()| shifted(t, 1)),
        |t| shifted(t, 1).and_then(|()| line(t, 20)?.sum(&[]).eval()),
    ),
    ("folds", |t| line(t, 20)?.sum(&[]).eval(), |t| line(t, 20)?.max(&[]).eval()),
    (
        "known orders",
        |t| known(t).and_then(|()| line(t, 20)?.sum(&[]).eval()).and_then(|()| shifted(t, 1)),
        |t| known(t).and_then(|()| shifted(t, 1)).and_then(|()| line(t, 20)?.sum(&[]).eval()),
    ),
    (
        "known and new",
        |t| known(t).and_then(|()| line(t, 20)?.sum(&[]).eval()),
        |t| known(t).and_then(|()| line(t, 33)?.sum(&[]).eval()),
    ),
    ("counts", |t| known(t).and_then(|()| shifted(t, 1)), known),
];

fn shifted(team: &Team, by: i64) -> Result<()> {
    let x = line(team, 20)?;
    (x.slice(&s![by..]) + x.slice(&s![..-by])).eval()
}

fn known(team: &Team) -> Result<()> {
    line(team, 20)?.sum(&[]).eval()?;
    shifted(team, 1)
}

#[test]
fn ranks_that_do_different_things_all_end_with_an_error() {
    let mut ran = 0;
    for (name, most, odd) in MISMATCHES {
        for count in [2, 3, 4, 8] {
            for strange in [0, count - 1] {
                let ends = ends(count, |ranks| {
                    let team = over(&ranks, 1)?;
                    if ranks.rank() == strange { odd(&team) } else { most(&team) }?;
                    // What was not noticed by then is noticed here.
                    line(&team, 20)?.to_vec::<f64>().map(drop)
                });
                for end in ends {
                    let text = words(end);
                    assert!(text.contains("step") && text.contains("rank"), "{name}: {text}");
                    ran += 1;
                }
            }
        }
    }
    println!("ran: rank-mismatches {ran}");
}

/// What one rank does where the others go on.
type Fault = fn() -> Result<()>;

#[test]
fn a_rank_that_fails_panics_ends_or_stops_is_named_on_all_others() {
    let faults: [(&str, Fault); 3] = [
        ("ended", || {
            Err(Error::Invalid { operation: "x", expected: "".into(), given: "".into(), remedy: "" })
        }),
        ("panicked", || panic!("on purpose")),
        ("no answer", || {
            std::thread::sleep(SOON * 2);
            Ok(())
        }),
    ];
    for (reason, fault) in faults {
        for count in [2, 3, 4, 8] {
            let ends = ends(count, |ranks| {
                let team = over(&ranks, 1)?;
                known(&team)?;
                if ranks.rank() == 1 {
                    fault()?;
                }
                known(&team)?;
                line(&team, 20)?.to_vec::<f64>().map(drop)
            });
            for (rank, end) in ends.into_iter().enumerate().filter(|(rank, _)| *rank != 1) {
                let text = words(end);
                assert!(text.contains("rank 1 failed in") && text.contains(reason), "{rank}: {text}");
            }
        }
    }
}

#[test]
fn an_error_of_one_device_is_everybodys() {
    for count in [2, 4] {
        let ends = ends(count, |ranks| {
            let device = Device::host();
            let team = Team::over(&ranks, std::slice::from_ref(&device), 1)?;
            known(&team)?;
            if ranks.rank() == 1 {
                device.set_budget(Some(1));
            }
            line(&team, 100_000)?.to_vec::<f64>().map(drop)
        });
        for (rank, end) in ends.into_iter().enumerate() {
            match (rank, end.unwrap()) {
                (1, Err(Error::OutOfMemory { .. })) => {}
                (1, other) => panic!("{other:?}"),
                (_, other) => {
                    let text = words(Ok(other));
                    assert!(text.contains("rank 1") && text.contains("out of memory"), "{text}");
                }
            }
        }
    }
}

/// Linear operators over ranks: DistDL's golden broadcast, its adjoint, and data nobody knows beforehand.
#[test]
fn collectives_are_the_same_over_ranks() {
    use partita::array::collective::Data;
    let program = |team: &Team| -> Result<(Vec<Vec<f64>>, Vec<Data>)> {
        let world = Partition::world(team)?;
        let root = world.inclusive(&[1, 2, 3])?.cartesian(&[1, 3, 1])?;
        let all = world.cartesian(&[2, 3, 2])?;
        let dist = Distribution::builder(&[2, 6, 1]).grid(&[1, 3, 1]).build()?;
        let x = Array::from_fn(&root.team()?, &dist, |at| (10 * at[0] + at[1]) as f64)?;
        let copies = Collective::broadcast(&root, &all)?;
        let y = copies.forward(&x)?;
        let back = copies.adjoint().forward(&y)?;
        let everywhere = Collective::all_sum_reduce(&all, &[0, 2])?.forward(&y)?;
        let told = root.broadcast_data(2, &all, || Data::line(&[7i16, 8, 9]))?;
        let mut data = all.allgather_data(|rank| Data::line(&vec![rank as f32; rank % 3]))?;
        data.push(told);
        Ok((vec![y.to_vec()?, back.to_vec()?, everywhere.to_vec()?], data))
    };
    let alone = program(&Team::on(&[Device::host()], 12).unwrap()).unwrap();
    // Each of the three pieces had four copies.
    let fourfold: Vec<f64> = (0..2).flat_map(|a| (0..6).map(move |b| f64::from(4 * (10 * a + b)))).collect();
    assert_eq!(alone.0[1], fourfold);
    for (ranks, parts) in [(2, 6), (3, 4), (4, 3), (12, 1)] {
        for (rank, result) in
            threads::run(ranks, |ranks| program(&over(&ranks, parts)?)).into_iter().enumerate()
        {
            assert!(result.unwrap().unwrap() == alone, "rank {rank} of {ranks}");
        }
    }
    println!("ran: rank-collectives 21");
}

/// Boxes asked for by members (the Dist dialect's `repartition`), over ranks: what this rank's members get.
#[test]
fn requests_are_answered_over_ranks() {
    let results = threads::run(3, |ranks| {
        let team = over(&ranks, 2)?;
        let dist = Distribution::builder(&[14, 3]).parts(6).build()?;
        let x = Array::from_fn(&team, &dist, |at| 100 * at[0] + at[1])?;
        let asked: Vec<Region> = (0..6)
            .map(|part| Region::new(&[part, 1], &[14 - part, 3]))
            .collect::<partita::index::Result<_>>()?;
        let mut cells = 0;
        for requested in x.request(&asked)?.iter().filter(|requested| team.is_here(requested.part())) {
            for (section, at) in requested.sections().enumerate() {
                let expected: Vec<i64> = at.region.points().map(|at| 100 * at[0] + at[1]).collect();
                assert_eq!(requested.to_vec::<i64>(section)?, expected, "part {}", requested.part());
                cells += expected.len();
            }
        }
        Ok::<_, Error>(cells)
    });
    let cells: usize = results.into_iter().map(|result| result.unwrap().unwrap()).sum();
    assert_eq!(cells, (0..6).map(|part| 2 * (14 - 2 * part)).sum());
}
