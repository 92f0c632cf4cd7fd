//! Reductions: how many passes and messages they cost, and how far sums are from the exact ones.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod other;
mod wires;

use std::sync::atomic::Ordering;

use found::{PARTS, cell, devices, ran};
use partita::prelude::*;

const SHAPE: [i64; 2] = [23, 17];

fn cells(device: &Device, parts: usize) -> Array {
    let team = Team::on(std::slice::from_ref(device), parts).unwrap();
    let dist = Distribution::default_partition(parts, &SHAPE).unwrap();
    Array::from_fn(&team, &dist, cell).unwrap()
}

/// Messages that `work` costs.
fn messages(team: &Team, work: impl FnOnce()) -> u64 {
    let before = team.messages();
    work();
    team.messages() - before
}

#[test]
fn several_reductions_of_one_operand_are_computed_as_each_alone() {
    for device in devices() {
        let mut count = 0;
        for parts in PARTS {
            let u = cells(&device, parts);
            for axes in [&[][..], &[0], &[1]] {
                let square = &u * &u;
                let all = || [u.sum(axes), u.max(axes), square.sum(axes), u.greater(0.0).any(axes)];
                let single = messages(u.team(), || u.sum(axes).eval().unwrap());
                let fused = all();
                let together = messages(u.team(), || eval_all(&fused.each_ref().map(|array| array)).unwrap());
                assert_eq!(together, single, "{parts} parts, axes {axes:?}");
                for (fused, alone) in fused.iter().zip(all()) {
                    assert_eq!(fused.to_bytes().unwrap(), alone.to_bytes().unwrap(), "{device:?} {axes:?}");
                }
                count += 4;
            }
            // What several expressions need of one operand is found before any of it is computed.
            let mean = u.mean(&[]);
            let variance = (&u * &u).mean(&[]) - &mean * &mean;
            let norm = (&u * &u).sum(&[]).sqrt();
            let together = messages(u.team(), || eval_all(&[&mean, &variance, &norm]).unwrap());
            // Parts on one device read what the others found where it is.
            assert_eq!(together, 0);
            // A reduction that needs another one comes after it.
            let far = (&u - &u.mean(&[])).abs().max(&[]);
            let sum = u.sum(&[]);
            let together = messages(u.team(), || eval_all(&[&far, &sum]).unwrap());
            let spread = messages(u.team(), || {
                let mean = u.mean(&[]);
                mean.eval().unwrap();
                (&u - &mean).abs().max(&[]).eval().unwrap();
            });
            assert_eq!(together, spread, "{parts} parts");
            count += 2;
        }
        ran("fused-reductions", &device, count);
    }
}

#[test]
fn what_several_reductions_found_travels_in_one_message() {
    let sent = |count: usize| {
        let (_, counts) = wires::counted(3, |ranks| {
            let team = Team::over(ranks, &[Device::host()], 2).unwrap();
            let dist = Distribution::builder(&[18, 4]).parts(6).build().unwrap();
            let u = Array::from_fn(&team, &dist, |at| (at[0] * 4 + at[1]) as f32).unwrap();
            let square = &u * &u;
            let all = [u.sum(&[]), u.max(&[]), square.sum(&[]), u.greater(0.0).any(&[])];
            eval_all(&all.iter().take(count).collect::<Vec<&Array>>()).unwrap();
        });
        (counts.messages.load(Ordering::SeqCst), counts.bytes.load(Ordering::SeqCst))
    };
    let (one, four) = (sent(1), sent(4));
    assert_eq!(one.0, four.0, "messages");
    assert!(one.0 > 0 && one.1 < four.1, "bytes: {one:?}, {four:?}");
}

/// Runs in a process of its own, whose environment names the file.
#[test]
#[ignore = "started by the test below"]
fn reductions_that_are_traced() {
    let device = Device::host();
    for parts in PARTS {
        let u = cells(&device, parts);
        let [sum, max, squares] = [u.sum(&[]), u.max(&[]), (&u * &u).sum(&[])];
        eval_all(&[&sum, &max, &squares]).unwrap();
        let mean = u.mean(&[1]);
        let variance = (&u * &u).mean(&[1]) - &mean * &mean;
        eval_all(&[&mean, &variance]).unwrap();
        // Positions go alone.
        eval_all(&[&u.argmax(None), &u.sum(&[])]).unwrap();
    }
}

#[test]
fn several_reductions_of_one_operand_are_one_launch_per_part() {
    let path = std::env::temp_dir().join(format!("partita-reductions-{}.json", std::process::id()));
    let mut command = other::test("reductions_that_are_traced");
    command.env("PARTITA_TRACE", &path);
    other::said(command);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let launches = text.matches("\"name\":\"reduce\"").count();
    let parts: usize = PARTS.iter().sum();
    assert_eq!(launches, 4 * parts, "{text}");
    println!("ran: traced-reductions {launches}");
}

#[test]
fn a_reduction_reads_through_halos_and_its_operands_are_recomputed_there() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 4).unwrap();
        let dist = Distribution::builder(&[40, 9]).parts(4).build().unwrap();
        let value = |at: &[i64]| ((at[0] * 31 + at[1] * 17) % 23 - 11) as i32;
        let u = Array::from_fn(&team, &dist, value).unwrap();
        // The first operand says where a result is computed: at its middle.
        let laplacian = |v: &Array| {
            v.slice(&s![1..-1, 1..-1]) * -4.0
                + v.slice(&s![..-2, 1..-1])
                + v.slice(&s![2.., 1..-1])
                + v.slice(&s![1..-1, ..-2])
                + v.slice(&s![1..-1, 2..])
        };
        let at = |f: &dyn Fn(i64) -> i64, i: i64, j: i64| f(i64::from(value(&[i, j])));
        let expected = |f: &dyn Fn(i64) -> i64| -> i64 {
            let around = |i, j| at(f, i - 1, j) + at(f, i + 1, j) + at(f, i, j - 1) + at(f, i, j + 1);
            (1..39)
                .flat_map(|i| (1..8).map(move |j| (i, j)))
                .map(|(i, j)| around(i, j) - 4 * at(f, i, j))
                .sum()
        };
        // Parts on one device read what the others found where it is.
        let (halo, gathered) = (6, 0);
        let sum = laplacian(&u).sum(&[]);
        assert_eq!(messages(&team, || sum.eval().unwrap()), halo + gathered);
        assert_eq!(sum.item::<i64>().unwrap(), expected(&|x| x), "{device:?}");
        // The halo is current now, and an operand computed from `u` point by point needs no other.
        let v = || &u * &u + 1.0;
        let squares = laplacian(&v()).sum(&[]);
        assert_eq!(messages(&team, || squares.eval().unwrap()), gathered);
        assert_eq!(squares.item::<i64>().unwrap(), expected(&|x| x * x + 1), "{device:?}");
        let stencil = laplacian(&v());
        assert_eq!(messages(&team, || stencil.eval().unwrap()), 0);
        // If it is evaluated as well, the operand is computed and the stencil over it still needs nothing.
        let asked = v();
        let stencil = laplacian(&asked);
        assert_eq!(messages(&team, || eval_all(&[&stencil, &asked]).unwrap()), 0);
        let other = messages(&team, || {
            let asked = v();
            eval_all(&[&asked, &laplacian(&asked)]).unwrap();
        });
        assert!(other <= halo, "{other} messages");
        assert_eq!(stencil.cast(DType::I64).sum(&[]).item::<i64>().unwrap(), expected(&|x| x * x + 1));
        ran("halo-reductions", &device, 6);
    }
}

#[test]
fn more_operands_and_more_reductions_than_one_kernel_can_have_are_cut() {
    for device in devices() {
        let team = Team::on(std::slice::from_ref(&device), 3).unwrap();
        let dist = Distribution::default_partition(3, &[50]).unwrap();
        let arrays: Vec<Array> =
            (0..70).map(|n| Array::from_fn(&team, &dist, |at| at[0] * n).unwrap()).collect();
        let sum = arrays[1..].iter().fold(arrays[0].clone(), |sum, a| sum + a).sum(&[]);
        assert_eq!(sum.item::<i64>().unwrap(), 69 * 35 * 49 * 25);
        let sums: Vec<Array> = arrays.iter().map(|a| a.sum(&[])).collect();
        eval_all(&sums.iter().collect::<Vec<_>>()).unwrap();
        for (n, sum) in sums.iter().enumerate() {
            assert_eq!(sum.item::<i64>().unwrap(), n as i64 * 49 * 25, "{device:?}");
        }
        ran("cut-reductions", &device, 71);
    }
}
