//! Sizes, counts and widths at their limits: refused at once with a reason, or computed in time that is
//! proportional to the number of parts. Times are bounds for a busy machine; growth is shown by ratios.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use partita::array::Padding;
use partita::device::{collect, integers};
use partita::index::DimMap;
use partita::prelude::*;
use partita::wire::threads;
use partita::{Error, Result};

/// Each takes a fraction of a second alone on a processor; tests may share it with many others.
const SOON: Duration = Duration::from_secs(30);

fn host(parts: usize) -> Team {
    Team::on(&[Device::host()], parts).unwrap()
}

fn line(n: i64) -> Array {
    let dist = Distribution::builder(&[n]).build().unwrap();
    Array::from_fn(&host(1), &dist, |at| at[0] as i32).unwrap()
}

/// The result, which is there soon.
fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let clock = Instant::now();
    let result = work();
    assert!(clock.elapsed() < SOON, "{what} took {:?}", clock.elapsed());
    result
}

fn message<T>(result: Result<T>) -> String {
    result.map(drop).expect_err("a refusal").to_string()
}

fn is_out_of_memory<T>(result: Result<T>) -> bool {
    matches!(result.map(drop), Err(Error::OutOfMemory { asked_bytes, .. }) if asked_bytes >= 1 << 40)
}

#[test]
fn a_rank_calls_a_function_of_the_index_for_the_cells_of_its_own_parts_alone() {
    let cells = 6 * 7;
    for ranks in [1, 3] {
        let calls = AtomicI64::new(0);
        let results = threads::run(ranks, |ranks| {
            let team = Team::over(&ranks, &[Device::host()], 2)?;
            let dist = Distribution::builder(&[6, 7]).parts(team.size()).halo(&[1, 0], &[1, 0]).build()?;
            let made = Array::from_fn(&team, &dist, |at| {
                calls.fetch_add(1, Ordering::Relaxed);
                at[0] * 7 + at[1]
            })?;
            made.to_vec::<i64>()
        });
        for result in results {
            assert_eq!(result.unwrap().unwrap(), (0..cells).collect::<Vec<i64>>());
        }
        assert_eq!(calls.load(Ordering::Relaxed), cells, "{ranks} ranks");
    }
}

#[test]
fn a_function_of_the_index_is_called_on_several_threads() {
    if std::thread::available_parallelism().map_or(1, usize::from) == 1 {
        println!("skipped: host (one processor)");
        return;
    }
    let callers = Mutex::new(HashSet::new());
    let dist = Distribution::builder(&[1 << 11, 1 << 9]).parts(2).build().unwrap();
    let made = Array::from_fn(&host(2), &dist, |at| {
        if at[1] == 0 {
            callers.lock().unwrap().insert(std::thread::current().id());
            std::thread::sleep(Duration::from_micros(50));
        }
        (at[0] * (1 << 9) + at[1]) as f32
    });
    assert!(callers.lock().unwrap().len() > 1);
    assert_eq!(made.unwrap().to_vec::<f32>().unwrap(), (0..1 << 20).map(|k| k as f32).collect::<Vec<f32>>());
}

#[test]
fn a_panic_in_a_function_of_the_index_leaves_the_team_usable() {
    let (team, dist) = (host(2), Distribution::builder(&[1 << 17]).parts(2).build().unwrap());
    let made = catch_unwind(AssertUnwindSafe(|| Array::from_fn(&team, &dist, |at| 1 / (at[0] - 70_000))));
    assert!(made.is_err());
    let made = Array::from_fn(&team, &dist, |at| at[0]).unwrap();
    assert_eq!(made.max(&[]).item::<i64>().unwrap(), (1 << 17) - 1);
}

#[test]
fn arrays_that_no_memory_holds_are_refused_at_once() {
    let huge = |cells: i64| Distribution::builder(&[cells]).parts(4).build().unwrap();
    soon("what does not fit", || {
        for cells in [1 << 40, 1 << 45, (1 << 62) - 1] {
            let made = Array::from_fn(&host(4), &huge(cells), |at| at[0] as f64);
            assert!(is_out_of_memory(made), "from_fn of {cells}");
            let zeros = Array::zeros(&host(4), &huge(cells), DType::F64).unwrap();
            assert!(is_out_of_memory(zeros.eval()), "eval of {cells}");
            assert!(is_out_of_memory(zeros.to_vec::<f64>()), "to_vec of {cells}");
            assert!(is_out_of_memory(zeros.to_bytes()), "to_bytes of {cells}");
            assert!(is_out_of_memory(zeros.part_to_vec::<f64>(1)), "part_to_vec of {cells}");
        }
        let cyclic = DimMap::cyclic(1 << 45, 4, 3).unwrap();
        let dist = Distribution::builder(&[1 << 45]).map(0, cyclic).build().unwrap();
        assert!(is_out_of_memory(Array::from_fn(&host(4), &dist, |at| at[0])));
    });
    let text = message(Array::from_fn(&host(4), &huge(1 << 45), |at| at[0]));
    assert!(text.contains("requested") && text.contains("in use"), "{text}");
    // The process computes on.
    assert_eq!(line(5).sum(&[]).item::<i64>().unwrap(), 10);
}

#[test]
fn lists_that_no_memory_holds_are_errors_that_name_the_bytes() {
    let text = message(collect("sort", 0..1i64 << 58));
    assert!(text.contains("the host, for sort: 2305843009213693952 bytes requested"), "{text}");
    assert!(is_out_of_memory(collect("sort", 0..i64::MAX)), "more bytes than can be counted");
    assert_eq!(collect("sort", (0..9).filter(|k| k % 2 == 0)).unwrap(), [0, 2, 4, 6, 8]);
    assert_eq!(integers("sort", DType::I32, [1, -1].into_iter()).unwrap(), [1, 0, 0, 0, 255, 255, 255, 255]);
    soon("a table of factors that does not fit", || {
        for cells in [1 << 45, (1 << 45) - 1] {
            let dist = Distribution::builder(&[cells, 2]).grid(&[2, 1]).build().unwrap();
            let zeros = Array::zeros(&host(2), &dist, DType::F64).unwrap();
            assert!(is_out_of_memory(zeros.fft(&[0]).eval()), "{cells}");
        }
    });
    assert_eq!(line(5).sum(&[]).item::<i64>().unwrap(), 10);
}

#[test]
fn arrays_beyond_the_budget_name_it() {
    let device = Device::host();
    device.set_budget(Some(1 << 20));
    let team = Team::on(&[device], 1).unwrap();
    let dist = Distribution::builder(&[1 << 20]).build().unwrap();
    let text = message(Array::from_fn(&team, &dist, |at| at[0] as f32));
    assert!(text.contains("4194304 bytes requested") && text.contains("budget of 1048576 bytes"), "{text}");
}

const REPEATING: [Padding; 4] = [Padding::Edge, Padding::Wrap, Padding::Reflect, Padding::Symmetric];

#[test]
fn padding_that_no_index_counts_is_refused_at_once() {
    let constant = Padding::Constant(Scalar::from_i64(DType::I32, 7));
    for with in REPEATING.into_iter().chain([constant]) {
        for widths in [(i64::MAX, 1), (1, i64::MAX), (i64::MAX, i64::MAX), (1 << 62, 0)] {
            let padded = soon("refusing", || line(5).pad(&[widths], with));
            let text = padded.recorded().expect_err("a refusal").to_string();
            assert!(text.starts_with("pad: expected"), "{with:?} {widths:?}: {text}");
        }
    }
}

#[test]
fn padding_that_no_memory_holds_is_recorded_and_its_error_names_the_bytes() {
    let constant = Padding::Constant(Scalar::from_i64(DType::I32, 7));
    for with in REPEATING.into_iter().chain([constant]) {
        soon("wide padding", || {
            let padded = line(5).pad(&[(1 << 40, 1)], with);
            assert_eq!(padded.shape()[..], [(1 << 40) + 6], "{with:?}");
            assert!(is_out_of_memory(padded.to_vec::<i32>()), "{with:?}");
        });
    }
}

/// Element `at` of a padded line of `n`, as NumPy says.
fn source(with: Padding, at: i64, n: i64) -> i64 {
    match with {
        Padding::Constant(_) | Padding::Edge => at.clamp(0, n - 1),
        Padding::Wrap => at.rem_euclid(n),
        Padding::Reflect if n == 1 => 0,
        Padding::Reflect => (at.rem_euclid(2 * n - 2)).min((-at).rem_euclid(2 * n - 2)),
        _ => (at.rem_euclid(2 * n)).min((-1 - at).rem_euclid(2 * n)),
    }
}

#[test]
fn padding_round_and_round_takes_time_in_proportion_to_its_width() {
    for with in REPEATING {
        for (n, parts) in [(1, 1), (2, 1), (5, 3), (1000, 3)] {
            let dist = Distribution::builder(&[n]).parts(parts).build().unwrap();
            let line = Array::from_fn(&host(parts), &dist, |at| at[0] as i32).unwrap();
            let (before, after) = (300_000, 37);
            let padded = soon("padding", || line.pad(&[(before, after)], with).to_vec::<i32>().unwrap());
            let expected: Vec<i32> = (-before..n + after).map(|at| source(with, at, n) as i32).collect();
            assert!(padded == expected, "{with:?} of {n} on {parts} parts");
        }
    }
    let square = line(12).reshape(&[3, 4]);
    let padded = square.pad(&[(500, 2), (3, 700)], Padding::Reflect);
    let values = soon("padding twice", || padded.to_vec::<i32>().unwrap());
    let [rows, columns] = [505, 707];
    let element = |k: i64| {
        let (i, j) = (k / columns - 500, k % columns - 3);
        (source(Padding::Reflect, i, 3) * 4 + source(Padding::Reflect, j, 4)) as i32
    };
    assert_eq!(values, (0..rows * columns).map(element).collect::<Vec<i32>>());
}

/// Seconds for some steps of a stencil with a reduction along one dimension.
fn stepping(parts: i64) -> f64 {
    let (team, rows) = (host(parts as usize), parts / 20);
    let dist = Distribution::builder(&[2 * rows, 40]).grid(&[rows, 20]).build().unwrap();
    let start = Array::from_fn(&team, &dist, |at| (at[0] + at[1]) as f32).unwrap();
    let clock = Instant::now();
    let mut steps = Loop::new(vec![start], |state| {
        let u = state[0].clone();
        let inner = (u.slice(&s![..-2, 1..-1]) + u.slice(&s![2.., 1..-1])) * 0.5;
        state[0].assign(&s![1..-1, 1..-1], &inner)
    });
    steps.run(5).unwrap();
    let sums = steps.state()[0].sum(&[1]).to_vec::<f32>().unwrap();
    assert_eq!(sums.len() as i64, 2 * rows);
    clock.elapsed().as_secs_f64()
}

#[test]
fn steps_over_four_times_as_many_parts_take_little_more_than_four_times_as_long() {
    // In turns, and the best of each: other tests run beside this one.
    let turns = (0..6).map(|_| (stepping(1000), stepping(4000)));
    let best = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.min(b.1));
    let (few, many) = turns.reduce(best).unwrap();
    println!("1000 parts {few:.3} s, 4000 parts {many:.3} s");
    assert!(many < 8.0 * few, "1000 parts {few} s, 4000 parts {many} s");
}

#[test]
fn more_parts_than_cells_work() {
    soon("11,000 parts", || {
        let team = host(11_000);
        let dist = Distribution::builder(&[100, 100]).grid(&[110, 100]).build().unwrap();
        let start = Array::from_fn(&team, &dist, |at| (at[0] * at[1]) as f64).unwrap();
        let shifted = start.slice(&s![1.., ..]) - start.slice(&s![..-1, ..]);
        assert_eq!(shifted.sum(&[]).item::<f64>().unwrap(), 99.0 * 4950.0);
        let mut steps = Loop::new(vec![start], |state| {
            let u = state[0].clone();
            state[0].assign(&s![1..-1, ..], &((u.slice(&s![..-2, ..]) + u.slice(&s![2.., ..])) * 0.5))
        });
        steps.run(5).unwrap();
        assert_eq!(steps.state()[0].sum(&[]).item::<f64>().unwrap(), 4950.0 * 4950.0);
    });
}

#[test]
fn arrays_move_between_teams_of_many_members_in_little_time() {
    let moved = |parts: usize| {
        let devices = [Device::host(), Device::host()];
        let (from, to) = (Team::on(&devices, parts).unwrap(), Team::on(&devices[1..], parts).unwrap());
        let dist = Distribution::builder(&[2 * parts as i64]).parts(parts).build().unwrap();
        let array = Array::from_fn(&from, &dist, |at| at[0]).unwrap();
        let clock = Instant::now();
        let there = array.move_to(&to, &dist);
        let taken = clock.elapsed().as_secs_f64();
        assert_eq!(there.max(&[]).item::<i64>().unwrap(), 2 * parts as i64 - 1);
        taken
    };
    // Eight times as many members take 8 times as long, or 64 times where planning is quadratic. The two take
    // turns, so that both meet the same neighbours on a busy machine.
    let (mut few, mut many) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        few = few.min(moved(4000));
        many = many.min(moved(32_000));
    }
    println!("4000 members {few:.3} s, 32,000 members {many:.3} s");
    assert!(many < 32.0 * few, "4000 members {few} s, 32,000 members {many} s");
}

#[test]
fn a_team_of_a_million_members_is_made_compared_and_shown_in_little_time() {
    soon("a million members", || {
        let device = Device::host();
        let devices = [device.clone(), Device::host()];
        let team = Team::on(&devices, 1 << 20).unwrap();
        assert!(team == Team::on(&devices, 1 << 20).unwrap());
        assert!(team != Team::on(&[device], 1 << 20).unwrap());
        assert!(team.to_string().starts_with("1048576 members: 0-524287 on host"), "{team}");
        assert_eq!(team.devices().len(), 2);
        assert!(Team::on(&devices, (1 << 20) + 1).is_err());
    });
}
