//! Features of CUDA devices only: peer copies, and driver failures as errors that leave other devices
//! usable. Without a driver every test prints `skipped: cuda (reason)`.
#![allow(missing_docs, clippy::unwrap_used)]

mod agreement;
mod found;
mod other;

use std::process::Command;

use agreement::{bytes, downloaded, flat, job, raw_access, uploaded};
use found::ran;
use partita::prelude::*;
use partita_kernels::{BinaryOp, Builder, Verified};

fn gpus() -> Vec<Device> {
    found::devices().into_iter().filter(|device| device.kind() == DeviceKind::Cuda).collect()
}

/// The devices, if the driver is the simulated one, which fails on demand.
fn simulated() -> Vec<Device> {
    let gpus = gpus();
    if gpus.iter().any(|device| !device.is_software()) {
        println!("skipped: cuda-failures (a real driver does not fail on demand)");
    }
    gpus.into_iter().filter(Device::is_software).collect()
}

fn add_one() -> Verified {
    let mut k = Builder::new("add_one", 1);
    let both = k.inout(DType::I32);
    let (old, one) = (k.load(both, &[0]), k.int(DType::I32, 1));
    let new = k.binary(BinaryOp::Add, old, one);
    k.elementwise(&[(both, new)]).unwrap()
}

#[test]
fn copies_between_devices_wait_for_both() {
    let gpus = gpus();
    if gpus.len() < 2 {
        println!("skipped: cuda-peers ({} CUDA devices, 2 are needed)", gpus.len());
    }
    const N: usize = 5000;
    let kernel = add_one();
    let launch = flat(&kernel, N);
    for from in &gpus {
        for to in gpus.iter().filter(|to| *to != from) {
            let source = uploaded(from, &vec![bytes(DType::I32, [0; N])]).remove(0);
            let target = uploaded(to, &vec![bytes(DType::I32, [100; N])]).remove(0);
            for _ in 0..5 {
                // The source changes right before and right after each copy, the target right after.
                raw_access::launch(from, &job(from, &kernel, &launch, &[&source]).unwrap()).unwrap();
                raw_access::copy((from, source.allocation()), (to, target.allocation()), 4 * N as u64)
                    .unwrap();
                raw_access::launch(from, &job(from, &kernel, &launch, &[&source]).unwrap()).unwrap();
                raw_access::launch(to, &job(to, &kernel, &launch, &[&target]).unwrap()).unwrap();
            }
            let expected = vec![bytes(DType::I32, [10; N])];
            assert_eq!(downloaded(from, &[source], &expected).unwrap(), expected, "{from:?}");
            assert_eq!(downloaded(to, &[target], &expected).unwrap(), expected, "{from:?} to {to:?}");
            ran("peers", to, 1);
        }
    }
}

#[test]
fn an_absent_device_says_what_there_is() {
    let text = Device::cuda(99).err().unwrap().to_string();
    let expected = match gpus().len() {
        0 => "no cuda device: the CUDA driver".to_owned(),
        found => format!("no cuda device: no CUDA device 99: the driver shows {found}"),
    };
    assert!(text.starts_with(&expected), "{text}");
}

#[test]
fn memory_the_driver_refuses_is_an_error_and_the_device_goes_on() {
    for device in gpus() {
        let kept = uploaded(&device, &vec![bytes(DType::I32, [7; 10])]);
        let text = device.alloc(1 << 50).err().unwrap().to_string();
        assert!(
            text.starts_with("out of memory on cuda:") && text.contains("CUDA_ERROR_OUT_OF_MEMORY"),
            "{text}"
        );
        let expected = vec![bytes(DType::I32, [7; 10])];
        assert_eq!(downloaded(&device, &kept, &expected).unwrap(), expected);
        ran("refused-memory", &device, 1);
    }
}

/// Runs an ignored test of this file in a process of its own, under a driver that is set to fail.
fn in_a_child(test: &str, failures: &str, devices: usize) -> String {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("PARTITA_SIM_FAIL", failures)
        .env("PARTITA_SIM_DEVICES", devices.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(
        child.status.success(),
        "{test} under {failures}:\n{text}{}",
        String::from_utf8_lossy(&child.stderr)
    );
    text
}

#[test]
fn a_lost_device_is_named_and_the_others_go_on() {
    if simulated().is_empty() {
        return;
    }
    for failure in ["cuLaunchKernel:3:lost", "cuMemcpyHtoDAsync_v2:4:lost", "cuStreamSynchronize:1:lost"] {
        let said = in_a_child("child_uses_two_devices", failure, 2);
        assert!(said.contains("first failure on cuda:"), "{said}");
    }
    assert!(in_a_child("child_uses_two_devices", "", 2).contains("no failure"));
    println!("ran: cuda-failures 4");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_uses_two_devices() {
    let devices = gpus();
    let dist = Distribution::builder(&[1000]).parts(1).build().unwrap();
    let steps = |device: &Device| -> partita::Result<Vec<f32>> {
        let team = Team::on(std::slice::from_ref(device), 1)?;
        let u = Array::from_fn(&team, &dist, |at| at[0] as f32)?;
        let u = &u * 2.0 + 1.0;
        u.eval()?;
        device.wait()?;
        (u - 1.0).to_vec()
    };
    let expected: Vec<f32> = (0..1000).map(|i| (2 * i) as f32).collect();
    let mut failed = Vec::new();
    for round in 0..4 {
        for device in &devices {
            match steps(device) {
                Ok(values) => assert_eq!(values, expected),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(device.name()), "{text}");
                    if failed.is_empty() {
                        println!("first failure on {text}");
                    }
                    failed.push((round, device.name().to_owned()));
                }
            }
        }
    }
    if failed.is_empty() {
        println!("no failure");
    }
    // A lost device stays lost; the other one was never touched by it.
    assert!(failed.iter().all(|(_, name)| *name == failed[0].1), "{failed:?}");
    assert!(failed.is_empty() || failed.last().unwrap().0 == 3, "{failed:?}");
}

/// What an ignored test of this file prints in a process of its own, and the calls of the driver.
fn traced(test: &str, devices: usize) -> String {
    let mut command = other::test(test);
    command.envs([("PARTITA_SIM_TRACE", "1"), ("PARTITA_SIM_DEVICES", &devices.to_string())]);
    other::said(command)
}

#[test]
fn arrays_of_slowly_changing_sizes_find_each_others_memory() {
    if simulated().is_empty() {
        return;
    }
    let calls = traced("child_changes_sizes", 1);
    for (what, most) in [("thousands", 24), ("millions", 12)] {
        let of = calls.split(&format!("{what} of elements\n")).nth(1).unwrap().split("end\n").next().unwrap();
        let asked = of.lines().filter(|line| line.contains("cuMemAlloc_v2")).count();
        assert!(asked <= most, "{what} of elements: {asked} requests for memory of 120 sizes");
    }
    println!("ran: cuda-sizes 240");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_changes_sizes() {
    let device = gpus().remove(0);
    let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
    for (what, first, more) in [("thousands", 40_000, 137), ("millions", 900_000, 301)] {
        let before = device.memory();
        let held = |memory: partita::device::MemoryUse| memory.in_use_bytes + memory.cached_bytes;
        eprintln!("{what} of elements");
        // Sizes grow, and shrink again by other steps.
        let grown = (0..60).map(|k| first + k * more);
        for size in grown.clone().chain(grown.rev().map(|size| size - 61)) {
            let dist = Distribution::builder(&[size]).build().unwrap();
            let u = Array::zeros(&team, &dist, DType::F32).unwrap();
            let next = &u + 1.0;
            next.eval().unwrap();
            let used = device.memory().in_use_bytes - before.in_use_bytes;
            let (least, most) = (4 * size as u64, 4 * size as u64 * 17 / 16 + (2 << 20));
            assert!((least..=most).contains(&used), "{used} bytes for {least}");
        }
        eprintln!("end");
        assert!(held(device.memory()) - held(before) < 40 << 20);
        assert_eq!(device.memory().in_use_bytes, before.in_use_bytes);
    }
}

#[test]
fn an_allocation_refused_once_succeeds_from_the_pool_or_fails_by_name() {
    if simulated().is_empty() {
        return;
    }
    for n in 1..12 {
        let (first, second) = (format!("cuMemAlloc_v2:{n}:out_of_memory"), n + 1);
        in_a_child("child_is_refused_memory", &format!("{first},cuMemAlloc_v2:{second}:out_of_memory"), 1);
    }
    println!("ran: cuda-refused-allocations 11");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_is_refused_memory() {
    let device = gpus().remove(0);
    let team = Team::on(std::slice::from_ref(&device), 2).unwrap();
    let dist = Distribution::builder(&[300, 4]).parts(2).halo(&[1, 0], &[1, 0]).build().unwrap();
    let program = || -> partita::Result<f32> {
        let u = Array::from_fn(&team, &dist, |at| (at[0] + at[1]) as f32)?;
        let rate = u.slice(&s![..-2, ..]) - 2.0 * u.slice(&s![1..-1, ..]) + u.slice(&s![2.., ..]);
        let mut next = &u * 3.0;
        next.assign(&s![1..-1, ..], &(rate + 1.0))?;
        next.sum(&[]).item::<f32>()
    };
    let results: Vec<partita::Result<f32>> = (0..3).map(|_| program()).collect();
    for result in &results {
        if let Err(error) = result {
            assert!(matches!(error, partita::Error::OutOfMemory { .. }), "{error}");
        }
    }
    let last = results[2].as_ref().unwrap();
    assert!(results.iter().flatten().all(|sum| sum == last), "{results:?}");
}
