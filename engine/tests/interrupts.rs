//! Interrupts: work ends soon, after a whole step; everything stays readable, and further work continues.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use found::devices;
use partita::prelude::*;
use partita::wire::threads;
use partita::{Error, interrupt};

static STOP: AtomicBool = AtomicBool::new(false);

/// Has the work interrupted after 300 ms; how long it took to end.
fn interrupted(work: impl FnOnce() -> partita::Result<()>) -> Duration {
    let asked = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(300));
        STOP.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let outcome = work();
    let took = asked.join().unwrap().elapsed();
    assert!(matches!(outcome, Err(Error::Interrupted { .. })), "{outcome:?}");
    took
}

// One test, because a process has one check.
#[test]
fn long_work_ends_soon_when_it_is_interrupted_and_goes_on_afterwards() {
    assert!(interrupt::install(|| STOP.swap(false, Ordering::Relaxed)));
    assert!(!interrupt::install(|| true), "a second check");
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
        let dist = Distribution::builder(&[48, 48]).parts(2).build().unwrap();
        let zeros = || Array::zeros(&team, &dist, DType::F32).unwrap();
        let (other, mut calls) = (zeros() + 3.0, 0);
        other.eval().unwrap();
        let mut run = Loop::new(vec![zeros(), zeros()], |state: &mut [Array]| {
            calls += 1;
            state[0] = &state[0] + 1.0;
            let next = state[1].slice(&s![1.., ..]) + 1.0;
            state[1].assign(&s![..-1, ..], &next)
        });
        let took = interrupted(|| run.run(u64::MAX));
        println!("{device:?}: a Loop of {} steps ended after {took:?}", run.steps());
        assert!(took < Duration::from_secs(2), "{took:?}");
        let (done, cells) = (run.steps(), run.state()[0].to_vec::<f32>().unwrap());
        assert!(done > 3 && cells.iter().all(|&cell| cell == done as f32), "{done} steps, {}", cells[0]);
        assert_eq!(other.max(&[]).item::<f32>().unwrap(), 3.0);
        run.run(10).unwrap();
        assert_eq!(run.state()[0].max(&[]).item::<f32>().unwrap(), (done + 10) as f32);

        let mut u = zeros();
        let took = interrupted(|| {
            for _ in 0..10_000_000 {
                let next = u.slice(&s![1.., ..]) + 1.0;
                u.assign(&s![..-1, ..], &next)?;
            }
            Ok(())
        });
        println!("{device:?}: evaluations ended after {took:?}");
        assert!(took < Duration::from_secs(2), "{took:?}");
        assert!(u.max(&[]).item::<f32>().unwrap() > 10.0);
    }
    sums_without_end_end_soon();
    a_wait_for_another_rank_ends_soon();
}

/// Sums of more cells than anything counts in a lifetime, across rows and along: in little memory.
fn sums_without_end_end_soon() {
    for (shape, axes) in [
        (&[1 << 50][..], &[0][..]),
        (&[1 << 60], &[0]),
        (&[1 << 58, 3], &[0]),
        (&[1 << 30, 1 << 28], &[0, 1]),
    ] {
        for parts in [1, 3] {
            let team = Team::on(&[Device::host()], parts).unwrap();
            let dist = Distribution::default_partition(parts, shape).unwrap();
            let sum = Array::coordinate(&team, &dist, 0, DType::F32).unwrap().sum(axes);
            let took = interrupted(|| sum.eval());
            println!("a sum of shape {shape:?} over {axes:?} on {parts} parts ended after {took:?}");
            assert!(took < Duration::from_secs(1), "{took:?}");
            assert!(
                Array::full(&team, &Distribution::default_partition(parts, &[30]).unwrap(), 2.0f32.into())
                    .unwrap()
                    .sum(&[])
                    .item::<f32>()
                    .unwrap()
                    == 60.0
            );
        }
    }
}

/// Rank 0 waits for rank 1, which comes much later and gets an error that names the rank that left.
fn a_wait_for_another_rank_ends_soon() {
    let outcomes = threads::run(2, |ranks| {
        let team = Team::over(&ranks, &[Device::host()], 1)?;
        let dist = Distribution::builder(&[8]).parts(2).build()?;
        let sum = Array::coordinate(&team, &dist, 0, DType::F32)?.sum(&[]);
        if team.rank() == 0 {
            let took = interrupted(|| sum.item::<f32>().map(drop));
            println!("a wait for another rank ended after {took:?}");
            assert!(took < Duration::from_secs(2), "{took:?}");
        } else {
            std::thread::sleep(Duration::from_secs(3));
            let error = sum.item::<f32>().unwrap_err().to_string();
            assert!(error.contains("rank 0"), "{error}");
        }
        Ok::<_, partita::Error>(())
    });
    for outcome in outcomes {
        outcome.unwrap().unwrap();
    }
}
