//! Compiled kernels are bounded, and numbers need none of their own. What a device forgets is unloaded once
//! nobody uses it, and nothing waits for that.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod other;

use std::sync::atomic::{AtomicBool, Ordering};

use partita::prelude::*;

const N: i64 = 64;

/// `0, 1, ..` as i32, computed on the device without an upload.
fn counted(team: &Team) -> Array {
    let dist = Distribution::builder(&[N]).build().unwrap();
    Array::coordinate(team, &dist, 0, DType::I32).unwrap() + 0
}

fn growing(team: &Team) -> Loop<impl partita::array::StepFunction> {
    Loop::new(vec![counted(team)], |state: &mut [Array]| {
        state[0] = &state[0] * 3 + 1;
        Ok(())
    })
}

/// What so many steps of that leave.
fn grown(steps: u64) -> Vec<i32> {
    let step = |x: i32| x.wrapping_mul(3).wrapping_add(1);
    (0..N as i32).map(|x| (0..steps).fold(x, |x, _| step(x))).collect()
}

/// So many kernels that differ in a divisor, in turns.
const DIVISORS: i32 = 100;

fn quotients(u: &Array, first: i32) -> Vec<Array> {
    let divided = |divisor: i32| {
        let quotient = (u * 7 + 3) / divisor;
        quotient.eval().unwrap();
        quotient
    };
    (first..first + DIVISORS).map(divided).collect()
}

fn check(quotients: &[Array], first: i32) {
    for (array, divisor) in quotients.iter().zip(first..) {
        let expected: Vec<i32> = (0..N as i32).map(|x| (x * 7 + 3) / divisor).collect();
        assert_eq!(array.to_vec::<i32>().unwrap(), expected, "{divisor}");
    }
}

#[test]
fn a_device_keeps_few_programs_and_what_is_used_goes_on() {
    let host = Device::host();
    let team = Team::on(std::slice::from_ref(&host), 1).unwrap();
    let mut steps = growing(&team);
    steps.run(10).unwrap();
    let u = counted(&team);
    let all = quotients(&u, 1);
    assert!(host.programs_kept() > DIVISORS as usize);
    host.set_program_bytes(1);
    assert_eq!(host.programs_kept(), 1);
    for round in 1..4 {
        check(&quotients(&u, round * DIVISORS + 1), round * DIVISORS + 1);
        steps.run(10).unwrap();
        assert_eq!(host.programs_kept(), 1);
        // Copies, whose programs are found without their kernels: forgotten, and made again.
        for _ in 0..3 {
            let mut v = counted(&team);
            let (tail, kept) = (v.slice(&s![3..]) + 0, v.clone());
            v.assign(&s![1..-2], &tail).unwrap();
            let expected: Vec<i32> =
                (0..N as i32).map(|x| if (1..62).contains(&x) { x + 2 } else { x }).collect();
            assert_eq!(v.to_vec::<i32>().unwrap(), expected);
            assert_eq!(kept.to_vec::<i32>().unwrap(), (0..N as i32).collect::<Vec<_>>());
            assert_eq!(host.programs_kept(), 1);
        }
    }
    check(&all, 1);
    assert_eq!(steps.state()[0].to_vec::<i32>().unwrap(), grown(40));
    // So many as have room, the latest.
    host.set_program_bytes(64 << 10);
    check(&quotients(&u, 1000), 1000);
    let kept = host.programs_kept();
    assert!((2..DIVISORS as usize).contains(&kept), "{kept}");
}

#[test]
fn assigned_numbers_that_are_all_different_need_one_program() {
    for device in found::devices() {
        let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
        let dist = Distribution::builder(&[100]).build().unwrap();
        let mut u = Array::zeros(&team, &dist, DType::F32).unwrap();
        let mut kept = 0;
        for k in 0..500i64 {
            let at = k % 100;
            let number = u.slice(&s![at..at + 1]) * 0.0 + k as f64;
            u.assign(&s![at..at + 1], &number).unwrap();
            u.set(&[at], (k as f32 * 1.5).into()).unwrap();
            if k == 100 {
                kept = device.programs_kept();
            }
        }
        assert_eq!(device.programs_kept(), kept);
        let expected: Vec<f32> = (400..500).map(|k| k as f32 * 1.5).collect();
        assert_eq!(u.to_vec::<f32>().unwrap(), expected);
        found::ran("numbers", &device, 500);
    }
}

/// The device that another thread captures on, and that of the alternation.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_alternates() {
    let gpus = Device::named("cuda").unwrap();
    let teams: Vec<Team> = gpus.iter().map(|gpu| Team::on(std::slice::from_ref(gpu), 1).unwrap()).collect();
    let mut steps = growing(&teams[0]);
    steps.run(20).unwrap();
    assert!(steps.is_replaying());
    gpus.iter().for_each(|gpu| gpu.set_program_bytes(1));
    let is_over = AtomicBool::new(false);
    let (last, captured) = std::thread::scope(|scope| {
        let capturing = scope.spawn(|| {
            let mut captured = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let mut steps = growing(&teams[1]);
                steps.run(20).unwrap();
                captured = vec![steps];
                // The simulator keeps what nobody waits for.
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            captured
        });
        println!("\nalternation begins");
        let mut last = Vec::new();
        for _ in 0..3 {
            last.clear();
            last = quotients(&counted(&teams[0]), 1);
            steps.run(8).unwrap();
        }
        println!("\nalternation ends");
        // The simulator runs what is waited for: now modules become free, while the other thread captures.
        for _ in 0..3 {
            last.clear();
            teams[0].wait().unwrap();
            last = quotients(&counted(&teams[0]), 1);
        }
        is_over.store(true, Ordering::Relaxed);
        (last, capturing.join().unwrap())
    });
    check(&last, 1);
    assert_eq!(steps.state()[0].to_vec::<i32>().unwrap(), grown(44));
    assert_eq!(captured[0].state()[0].to_vec::<i32>().unwrap(), grown(20));
    assert!(gpus.iter().all(|gpu| gpu.programs_kept() <= 2));
}

#[test]
fn forgotten_programs_are_unloaded_when_nobody_uses_them_and_nothing_waits() {
    if !found::devices().iter().any(|gpu| gpu.kind() == DeviceKind::Cuda && gpu.is_software()) {
        println!("skipped: cuda-programs (the simulated driver is needed, which prints its calls)");
        return;
    }
    let mut command = other::test("child_alternates");
    command.envs([("PARTITA_SIM_TRACE", "1"), ("PARTITA_SIM_DEVICES", "2")]);
    let said = other::said(command);
    assert!(!said.contains("unloaded while"), "{said}");
    let section =
        said.split("alternation begins\n").nth(1).unwrap().split("alternation ends").next().unwrap();
    let waits: Vec<&str> = section.lines().filter(|line| line.contains("Synchronize")).collect();
    assert!(waits.is_empty(), "{waits:?}");
    let calls: Vec<&str> = said.lines().filter(|line| line.contains("simcuda: cu")).collect();
    let count = |call: &str| calls.iter().filter(|line| line.contains(call)).count();
    assert!(count("cuModuleUnload") > DIVISORS as usize, "{} unloaded", count("cuModuleUnload"));
    let mut captures = 0;
    for call in &calls {
        captures += i32::from(call.contains("cuStreamBeginCapture"));
        captures -= i32::from(call.contains("cuStreamEndCapture"));
        assert!(captures == 0 || !call.contains("cuModuleUnload"), "unloaded while a stream captures");
    }
    println!("ran: cuda-programs {}", count("cuModuleUnload"));
}
