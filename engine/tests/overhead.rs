//! Overhead of the engine, counted in allocations, which do not depend on the load of the machine. An
//! ignored test prints times; the benchmark measures them (family L1).

#![allow(clippy::unwrap_used)]

#[path = "raw_access/allocations.rs"]
mod allocations;

use std::hint::black_box;
use std::time::Instant;

use allocations::allocations;
use partita::prelude::*;

/// Two arrays of eight elements over some parts of the host.
fn tiny(parts: usize) -> (Array, Array) {
    let team = Team::on(&[Device::host()], parts).unwrap();
    let dist = Distribution::builder(&[8]).parts(parts).build().unwrap();
    let array = |scale: f32| Array::from_fn(&team, &dist, |at| at[0] as f32 * scale).unwrap();
    (array(1.0), array(0.5))
}

/// Ten operations.
fn ten(a: &Array, b: &Array) -> Array {
    (0..5).fold(a.clone(), |x, _| &x * a + b)
}

#[test]
fn recording_an_operation_is_one_allocation() {
    let (a, b) = tiny(1);
    assert_eq!(allocations(|| &a * &b), 1, "two arrays");
    assert_eq!(allocations(|| -&a), 1, "one array");
    assert_eq!(allocations(|| &a + 1.0), 2, "an array and a number, which is an operand too");
    assert_eq!(allocations(|| a.less(&b).select(&a, &b)), 2, "a comparison and a choice");
    assert_eq!(allocations(|| ten(&a, &b)), 10, "ten operations, and nothing to drop them");
}

/// Allocations of a warm evaluation of ten operations.
fn warm(parts: usize) -> u64 {
    let (a, b) = tiny(parts);
    // The first compiles, the second finds compiled what the third then finds prepared.
    (0..3).for_each(|_| ten(&a, &b).eval().unwrap());
    let x = ten(&a, &b);
    allocations(|| x.eval().unwrap())
}

#[test]
fn a_warm_evaluation_allocates_little() {
    let (one, four) = (warm(1), warm(4));
    println!("a warm evaluation of ten operations: {one} allocations on 1 part, {four} on 4");
    // Lowering alone takes hundreds.
    assert!(one <= 60, "{one}");
    assert!(four - one <= 3 * 40, "{} per part", (four - one) as f64 / 3.0);
}

/// Nanoseconds per call: the median of many samples, and the tenth percentile.
fn nanoseconds(calls: usize, mut work: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..401)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| work());
            start.elapsed().as_nanos() as f64 / calls as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() / 10])
}

#[test]
#[ignore = "times depend on the machine: cargo test --release --test overhead -- --ignored --nocapture"]
fn times() {
    for parts in [1, 4] {
        let (a, b) = tiny(parts);
        let show = |what: &str, (median, p10): (f64, f64), per: f64| {
            println!("{parts} parts, {what}: median {:.0} ns, p10 {:.0} ns", median / per, p10 / per);
        };
        show("recording one of ten operations", nanoseconds(20, || drop(black_box(ten(&a, &b)))), 10.0);
        show("recording and computing ten", nanoseconds(10, || ten(&a, &b).eval().unwrap()), 1.0);
        let mut evaluations = Vec::new();
        for _ in 0..2001 {
            let x = ten(&a, &b);
            let start = Instant::now();
            x.eval().unwrap();
            evaluations.push(start.elapsed().as_nanos() as f64);
        }
        evaluations.sort_by(f64::total_cmp);
        show("computing ten", (evaluations[1000], evaluations[200]), 1.0);
    }
}
