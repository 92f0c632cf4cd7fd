//! Programs over many ranks, run on threads: the same results as one process, and an error on all ranks if
//! one fails or runs another program.
#![allow(clippy::unwrap_used)]

mod spmd;
mod wires;

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use partita::index::{Domain, IndexRange, MappedDomain};
use partita::prelude::*;
use partita::wire::{Outcome, Ranks, Request, Wire, WireError, threads};
use partita::{Error, Result};

const SOON: Duration = Duration::from_secs(2);

fn over(ranks: &Ranks, parts: usize) -> Result<Team> {
    Team::over(ranks, &[Device::host()], parts)
}

#[test]
fn every_program_gives_the_same_bytes_on_any_number_of_ranks() {
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
        x.redistribute(&other.grid(&[2]).build()?).to_vec::<i64>()
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
        let mut replaced = y.clone();
        replaced.all_sum_reduce_in_place(&all, &[0, 2])?;
        let broadcast = root.broadcast_data(2, &all, || Data::line(&[7i16, 8, 9]))?;
        let mut data = all.allgather_data(|rank| Data::line(&vec![rank as f32; rank % 3]))?;
        data.push(broadcast);
        Ok((vec![y.to_vec()?, back.to_vec()?, everywhere.to_vec()?, replaced.to_vec()?], data))
    };
    let alone = program(&Team::on(&[Device::host()], 12).unwrap()).unwrap();
    // Each of the three pieces had four copies.
    let fourfold: Vec<f64> = (0..2).flat_map(|a| (0..6).map(move |b| f64::from(4 * (10 * a + b)))).collect();
    assert_eq!(alone.0[1], fourfold);
    assert_eq!(alone.0[2], alone.0[3]);
    for (ranks, parts) in [(2, 6), (3, 4), (4, 3), (12, 1)] {
        for (rank, result) in
            threads::run(ranks, |ranks| program(&over(&ranks, parts)?)).into_iter().enumerate()
        {
            assert!(result.unwrap().unwrap() == alone, "rank {rank} of {ranks}");
        }
    }
    println!("ran: rank-collectives 21");
}

/// Members of some ranks exchange data often, each at its own speed; the other rank cannot, and waits for
/// nobody.
#[test]
fn some_ranks_exchange_data_without_the_others() {
    use partita::array::collective::Data;
    let program = |team: &Team| -> Result<()> {
        let world = Partition::world(team)?;
        for n in 0..300usize {
            let some = world.inclusive(&[2, n % 2])?;
            let number = |rank: usize| Data::line(&[(n + rank) as i64]);
            if some.ranks_here().is_empty() {
                let refused = [
                    some.allgather_data(number).is_err(),
                    some.broadcast_data(0, &some, || number(0)).is_err(),
                ];
                assert_eq!(refused, [true, true]);
                continue;
            }
            assert_eq!(some.allgather_data(number)?, [number(0), number(1)]);
            assert_eq!(some.broadcast_data(1, &some, || number(1))?, number(1));
            assert_eq!(some.sub_topology(0, &[true])?.allgather_data(number)?.len(), 2);
        }
        assert_eq!(world.allgather_data(|rank| Data::line(&[rank as i64]))?.len(), 3);
        Ok(())
    };
    for result in threads::run(3, |ranks| program(&over(&ranks, 1)?)) {
        result.unwrap().unwrap();
    }
}

/// Boxes that members request (the Dist dialect's `repartition`), over ranks: what this rank's members get.
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

/// What ranks do in each of these programs with a number that must be the same on all.
type Numbered = (&'static str, fn(&Team, &dyn Fn(u64) -> f64) -> Result<()>);

const NUMBERED: &[Numbered] = &[
    ("a factor, then a sum", |team, number| {
        let mut u = line(team, 20)?;
        for step in 0..9 {
            u = &u * number(step);
            u.eval()?;
        }
        u.sum(&[]).item::<f64>().map(drop)
    }),
    ("a factor in what is summed", |team, number| {
        (0..9).try_for_each(|step| (line(team, 20)? * number(step)).sum(&[]).item::<f64>().map(drop))
    }),
    ("a stencil", |team, number| {
        let mut u = line(team, 20)?;
        for step in 0..9 {
            let next = (u.slice(&s![..-2]) + u.slice(&s![2..])) * number(step);
            u.assign(&s![1..-1], &next)?;
        }
        u.to_vec::<f64>().map(drop)
    }),
    ("a window that is filled", |team, number| {
        let mut u = line(team, 20)?;
        for step in 0..9 {
            let value = Array::full(team, &*u.distribution()?, Scalar::from_f64(DType::F64, number(step)))?;
            u.assign(&s![3..-3], &value.slice(&s![3..-3]))?;
            shifted(team, 1)?;
        }
        u.to_vec::<f64>().map(drop)
    }),
    ("boxes put together", |team, number| {
        let u = line(team, 20)?;
        let step = |step| Array::concatenate(&[&(&u * number(step)), &u.flip(0)], 0).to_vec::<f64>();
        (0..9).try_for_each(|at| step(at).map(drop))
    }),
    ("a Loop", |team, number| {
        let factor = number(8);
        let mut heat = Loop::new(vec![line(team, 40)?], |state| {
            let u = &state[0];
            let next = (u.slice(&s![..-2]) + u.slice(&s![2..])) * factor;
            state[0].assign(&s![1..-1], &next)
        });
        (0..4).try_for_each(|_| {
            heat.run(6)?;
            heat.state()[0].sum(&[]).item::<f64>().map(drop)
        })
    }),
];

#[test]
fn ranks_that_compute_with_different_numbers_all_end_with_an_error() {
    for (name, program) in NUMBERED {
        for (count, from) in [(2, 0), (3, 0), (3, 8), (4, 5)] {
            let ends = ends(count, |ranks| {
                let team = over(&ranks, 1)?;
                let odd = ranks.rank() == 1;
                program(&team, &|step| if odd && step >= from { 0.2 } else { 0.1 })?;
                // What was not noticed by then is noticed here.
                known(&team)?;
                line(&team, 20)?.to_vec::<f64>().map(drop)
            });
            for end in ends {
                let text = words(end);
                assert!(text.contains("other numbers"), "{name}, {count} ranks from step {from}: {text}");
            }
        }
    }
}

/// Every rank passes all elements; on one rank they differ from a point of the program on.
#[test]
fn ranks_that_make_an_array_of_other_elements_all_end_with_an_error() {
    for (count, cells, is_known) in
        [(2, 10, false), (3, 10, true), (3, 200_000, false), (4, 1, false), (5, 70_000, true)]
    {
        let ends = ends(count, |ranks| {
            let team = over(&ranks, 1)?;
            let dist = Distribution::default_partition(team.size(), &[cells])?;
            let sum = |odd: f64| {
                let elements: Vec<f64> = (0..cells).map(|at| at as f64 + odd).collect();
                Array::from_slice(&team, &dist, &elements)?.sum(&[]).item::<f64>()
            };
            if is_known {
                (0..3).try_for_each(|_| sum(0.0).map(drop))?;
            }
            sum(if ranks.rank() == 1 { 0.5 } else { 0.0 })?;
            // What was not noticed by then is noticed here.
            known(&team)?;
            line(&team, 20)?.to_vec::<f64>().map(drop)
        });
        for (rank, end) in ends.into_iter().enumerate() {
            let text = words(end);
            assert!(text.contains("other elements") && text.contains("from_slice"), "{text}");
            let named = |rank: usize| text.contains(&format!("rank {rank}"));
            assert!(named(rank) && (0..count).filter(|&rank| named(rank)).count() >= 2, "{text}");
        }
    }
}

/// The control messages of three ranks in a program whose constants change in each step.
fn control_messages_in(steps: u32) -> usize {
    let (_, counts) = wires::counted(3, |ranks| {
        let team = over(ranks, 1).unwrap();
        let mut u = line(&team, 20).unwrap();
        for step in 0..steps {
            let next = (u.slice(&s![..-2]) + u.slice(&s![2..])) * f64::from(step);
            u.assign(&s![1..-1], &next).unwrap();
            assert!(u.sum(&[]).item::<f64>().unwrap().is_finite());
        }
    });
    counts.control_messages.load(Ordering::SeqCst)
}

/// Constants take part in what ranks compare without an agreement of their own for each.
#[test]
fn numbers_that_change_from_step_to_step_take_no_further_messages() {
    let few = control_messages_in(4);
    assert!(few > 0);
    assert_eq!(control_messages_in(40), few);
}

/// The messages and bytes of three ranks that make an array, give it another shape, and may ask before and
/// after who has which index.
fn traffic(asks: bool) -> (usize, u64) {
    let (owned, counts) = wires::counted(3, |ranks| {
        let team = over(ranks, 2).unwrap();
        let dist = Distribution::builder(&[12, 9]).grid(&[3, 2]).cyclic(0, 1).build().unwrap();
        let u = Array::from_fn(&team, &dist, |at| (at[0] * 9 + at[1]) as f64).unwrap();
        let v = u.resize(&[20, 4]).unwrap();
        let mut owned = 0;
        for array in [&u, &v].into_iter().filter(|_| asks) {
            let dist = array.distribution().unwrap();
            let whole: Vec<IndexRange> =
                array.shape().iter().map(|&extent| IndexRange::new(extent, 0, -1).unwrap()).collect();
            let domain = MappedDomain::new(dist.clone(), Domain::new(&whole).unwrap());
            for index in domain.indices().iter() {
                let part = domain.index_to_part(&index).unwrap();
                let place: Vec<i64> = (0..2).map(|d| array.shape()[d] - index[d]).collect();
                assert_eq!(part, dist.owner(&place).unwrap());
                owned += usize::from(team.is_here(part));
            }
        }
        owned
    });
    assert_eq!(owned.iter().sum::<usize>(), if asks { 12 * 9 + 20 * 4 } else { 0 });
    (counts.control_messages.load(Ordering::SeqCst), counts.bytes.load(Ordering::SeqCst))
}

/// Every rank works out every description itself.
#[test]
fn owners_are_known_without_messages() {
    let without = traffic(false);
    assert!(without.0 > 0);
    assert_eq!(traffic(true), without);
}

/// A state that is stepped, replayed after a few steps, and meets once per step.
fn stepping(team: &Team) -> Result<Loop<impl FnMut(&mut [Array]) -> Result<()>>> {
    Ok(Loop::new(vec![line(team, 40)?], |state: &mut [Array]| {
        let u = &state[0];
        let next = (u.slice(&s![..-2]) + u.slice(&s![2..])) * 0.5;
        state[0].assign(&s![1..-1], &next)
    }))
}

/// The number behind `words` in a text.
fn number_after(text: &str, words: &str) -> u64 {
    let rest = text.split_once(words).unwrap_or_else(|| panic!("`{words}` is not in: {text}")).1;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[test]
fn the_rank_that_goes_on_where_all_others_ended_is_named_with_both_steps() {
    for count in [3, 4, 8] {
        let ends = ends(count, |ranks| {
            let team = over(&ranks, 1)?;
            let mut steps = stepping(&team)?;
            steps.run(20)?;
            assert!(steps.is_replaying());
            if ranks.rank() == 1 { steps.run(5) } else { Ok(()) }
        });
        for (rank, end) in ends.into_iter().enumerate() {
            if rank != 1 {
                end.unwrap().unwrap();
                continue;
            }
            let text = words(end);
            assert!(text.contains("rank 1 failed in") && text.contains("it goes on"), "{text}");
            let ended = number_after(&text, "ended after step ");
            // Replayed steps count, one collective operation each.
            assert!(ended >= 20 && text.contains(&format!("step {}", ended + 1)), "{text}");
        }
    }
}

#[test]
fn of_two_ranks_the_one_that_ended_is_named_with_its_step() {
    let ends = ends(2, |ranks| {
        let team = over(&ranks, 1)?;
        let mut steps = stepping(&team)?;
        steps.run(if ranks.rank() == 1 { 25 } else { 20 })
    });
    let text = words(ends.into_iter().nth(1).unwrap());
    assert!(number_after(&text, "it ended after step ") >= 20, "{text}");
}

/// Rank 1 of 3, whose process is stopped for a minute while it waits, meanwhile the others give up. Their
/// notice takes some calls to arrive, as messages of MPI do.
#[derive(Default)]
struct Stopped {
    calls: Mutex<(u64, u64)>,
}

impl Wire for Stopped {
    fn rank(&self) -> usize {
        1
    }

    fn ranks(&self) -> usize {
        3
    }

    fn name(&self) -> String {
        "stopped".to_owned()
    }

    fn max_tag(&self) -> u32 {
        u32::MAX
    }

    fn send(&self, _to: usize, _tag: u32, _bytes: Vec<u8>) -> std::result::Result<Request, WireError> {
        Ok(Request(0))
    }

    fn receive(&self, _from: usize, _memory: Vec<u8>) -> std::result::Result<Request, WireError> {
        Ok(Request(1))
    }

    fn test(&self, _request: Request) -> std::result::Result<Outcome, WireError> {
        Ok(Outcome::Pending)
    }

    fn send_control(&self, _to: usize, _message: &[u8]) -> std::result::Result<(), WireError> {
        Ok(())
    }

    fn receive_control(&self) -> std::result::Result<Option<(usize, Vec<u8>)>, WireError> {
        let mut calls = self.calls.lock().unwrap();
        calls.1 += u64::from(calls.0 > 10);
        // That rank 1 failed in `read`, step 1.
        let words = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
        let numbers = [1u64, 1, 1].map(u64::to_le_bytes).concat();
        let notice = [numbers, words("read"), words("no answer")].concat();
        Ok((calls.1 == 3).then_some((2, notice)))
    }

    /// A millisecond for each call, and a minute after the tenth.
    fn now(&self) -> Duration {
        let mut calls = self.calls.lock().unwrap();
        calls.0 += 1;
        Duration::from_millis(calls.0 + if calls.0 > 10 { 60_000 } else { 0 })
    }

    fn pause(&self, _spins: u32) {}
}

#[test]
fn a_rank_that_was_stopped_hears_the_others_before_it_blames_one() {
    let ranks = Ranks::with_deadline(Stopped::default(), Duration::from_secs(10));
    ranks.post_receive(2, 8).unwrap();
    let error = ranks.receive(2, 8, |_, _| Ok(())).unwrap_err();
    assert!(matches!(&error, Error::Rank { rank: 1, reason, .. } if reason == "no answer"), "{error}");
}
