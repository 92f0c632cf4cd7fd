//! Errors of CUDA devices that are missing, fail, run out of memory or are lost during a computation: each
//! message names the operation, the failure and a remedy, and other devices stay usable. The simulated
//! driver fails on demand; without it these tests print `skipped: cuda (reason)`.
#![allow(missing_docs, clippy::unwrap_used)]

mod found;
mod other;

use std::collections::BTreeMap;
use std::process::Command;

use partita::prelude::*;

fn is_simulated() -> bool {
    let gpus: Vec<Device> =
        found::devices().into_iter().filter(|device| device.kind() == DeviceKind::Cuda).collect();
    if gpus.iter().any(|device| !device.is_software()) {
        println!("skipped: cuda-errors (a real driver does not fail on demand)");
    }
    gpus.iter().any(Device::is_software)
}

/// A process that computes on the host and on two CUDA devices of a driver with these settings.
fn computing(settings: &[(&str, &str)]) -> Command {
    let mut command = other::test("child_computes_everywhere");
    command.env("PARTITA_SIM_DEVICES", "2").env("PARTITA_SIM_MEMORY_BYTES", (16 << 20).to_string());
    command.envs(settings.iter().copied());
    command
}

const N: i64 = 600;

/// Halos, a fused step, a Loop, a reduction and what comes back; on the host and on every CUDA device.
fn program(device: &Device) -> partita::Result<(f32, Vec<f32>)> {
    let team = Team::on(std::slice::from_ref(device), 2)?;
    let dist = Distribution::builder(&[N]).parts(2).halo(&[1], &[1]).build()?;
    let u = Array::from_fn(&team, &dist, |at| (at[0] % 13) as f32)?;
    let mut steps = Loop::new(vec![u], |state| {
        let u = &state[0];
        let next = (u.slice(&s![..-2]) + u.slice(&s![2..])) * 0.5;
        state[0].assign(&s![1..-1], &next)
    });
    steps.run(6)?;
    let u = steps.state()[0].clone();
    Ok((u.sum(&[]).item::<f32>()?, u.to_vec::<f32>()?))
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_computes_everywhere() {
    // What the test's runner prints stays on a line of its own.
    println!();
    let host = Device::named("host").unwrap().remove(0);
    let expected = program(&host).unwrap();
    match Device::named("cuda") {
        Err(error) => println!("error: {error}"),
        Ok(gpus) => {
            println!("{} opened", gpus.len());
            for round in 0..3 {
                for gpu in &gpus {
                    let name = &gpu.name()[..6];
                    match program(gpu) {
                        Ok((_, values)) => {
                            assert!(values == expected.1, "wrong values on {name} in round {round}");
                            println!("well in round {round}: {name}");
                        }
                        Err(error) => println!("error: {error}"),
                    }
                }
            }
        }
    }
    assert_eq!(program(&host).unwrap(), expected);
    println!("the host goes on");
}

/// The errors a process met; it must have ended well.
fn errors(said: &str) -> Vec<String> {
    assert!(said.contains("the host goes on"), "{said}");
    said.lines().filter_map(|line| line.strip_prefix("error: ")).map(str::to_owned).collect()
}

#[test]
fn absent_drivers_old_ones_and_absent_devices_are_named() {
    if !is_simulated() {
        return;
    }
    let mut without = computing(&[]);
    without.env_remove("LD_LIBRARY_PATH");
    let old = computing(&[("PARTITA_SIM_CUDA", "11.4")]);
    let none = computing(&[("PARTITA_SIM_FAIL", "cuDeviceGetCount:1:no_device")]);
    let cases = [
        (
            without,
            "no cuda device: the CUDA driver (libcuda.so.1, nvcuda.dll) is not on the library path; install",
        ),
        (old, "no cuda device: the CUDA driver supports CUDA 11.4, "),
        (none, "no cuda device: counting devices failed: CUDA_ERROR_NO_DEVICE ("),
    ];
    for (command, expected) in cases {
        let said = other::said(command);
        let errors = errors(&said);
        assert!(errors.len() == 1 && errors[0].starts_with(expected), "{said}");
    }
    let text = Device::cuda(99).unwrap_err().to_string();
    assert!(
        text.contains("no CUDA device 99: the driver shows ") && text.contains("CUDA_VISIBLE_DEVICES"),
        "{text}"
    );
    println!("ran: cuda-absences 4");
}

#[test]
fn refused_ptx_shows_the_kernel_and_is_tried_again() {
    if !is_simulated() {
        return;
    }
    for code in ["invalid_ptx", "unsupported_ptx_version"] {
        let said = other::said(computing(&[("PARTITA_SIM_FAIL", &format!("cuModuleLoadDataEx:2:{code}"))]));
        let errors = errors(&said);
        let name = format!("CUDA_ERROR_{}", code.to_uppercase());
        assert!(errors.len() == 1 && errors[0].starts_with("cuda:0 "), "{said}");
        assert!(
            errors[0].contains("the driver refused the PTX of kernel ") && errors[0].contains(&name),
            "{said}"
        );
        assert!(errors[0].contains("update the driver") && said.contains(".visible .entry"), "{said}");
        assert!(
            said.contains("well in round 1: cuda:0") && said.contains("well in round 0: cuda:1"),
            "{said}"
        );
    }
    println!("ran: cuda-refused-ptx 2");
}

#[test]
fn peer_access_is_tried_once_and_opening_an_exclusive_device_says_how_to_share() {
    if !is_simulated() {
        return;
    }
    let mut command = other::test("child_exchanges_between_devices");
    command.env("PARTITA_SIM_DEVICES", "2").env("PARTITA_SIM_TRACE", "1");
    let said = other::said(command);
    let calls = |symbol: &str| said.matches(&format!("{symbol}(")).count();
    assert!(calls("cuMemcpyPeerAsync") > 8, "{}", calls("cuMemcpyPeerAsync"));
    assert_eq!((calls("cuDeviceCanAccessPeer"), calls("cuCtxEnablePeerAccess")), (2, 2));
    let failing = [1, 2].map(|call| format!("cuDevicePrimaryCtxRetain:{call}:device_unavailable")).join(",");
    let said = other::said(computing(&[("PARTITA_SIM_FAIL", &failing)]));
    let expected = ["EXCLUSIVE_PROCESS", "nvidia-cuda-mps-control -d", "nvidia-smi -c DEFAULT"];
    assert!(expected.iter().all(|words| said.contains(words)), "{said}");
    println!("ran: cuda-once-asked 2");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_exchanges_between_devices() {
    let gpus = Device::named("cuda").unwrap();
    let team = Team::on(&gpus, 2).unwrap();
    let dist = Distribution::builder(&[N]).parts(2).halo(&[1], &[1]).build().unwrap();
    let mut u = Array::from_fn(&team, &dist, |at| at[0] as f32).unwrap();
    for _ in 0..6 {
        let next = (u.slice(&s![..-2]) + u.slice(&s![2..])) * 0.5;
        u.assign(&s![1..-1], &next).unwrap();
    }
    assert_eq!(u.to_vec::<f32>().unwrap(), (0..N).map(|at| at as f32).collect::<Vec<_>>());
}

#[test]
fn memory_that_is_not_there_is_counted_and_what_is_kept_free_is_given_back() {
    if !is_simulated() {
        return;
    }
    let mut command = other::test("child_fills_a_device");
    command.env("PARTITA_SIM_DEVICES", "2").env("PARTITA_SIM_MEMORY_BYTES", (16 << 20).to_string());
    assert!(other::said(command).contains("filled and computed"));
    println!("ran: cuda-full-devices 1");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_fills_a_device() {
    let gpus = Device::named("cuda").unwrap();
    let array = |device: &Device, mebibytes: i64| -> partita::Result<Array> {
        let dist = Distribution::builder(&[mebibytes << 18]).parts(1).build()?;
        let team = Team::on(std::slice::from_ref(device), 1)?;
        Array::full(&team, &dist, Scalar::from_f64(DType::F32, 1.0)).and_then(|a| a.eval().map(|()| a))
    };
    let kept = array(&gpus[0], 6).unwrap();
    let text = array(&gpus[0], 12).unwrap_err().to_string();
    let expected = format!(
        "out of memory on {}: {} bytes requested, {} in use, driver: ",
        gpus[0].name(),
        12 << 20,
        6 << 20
    );
    assert!(text.starts_with(&expected) && text.contains("CUDA_ERROR_OUT_OF_MEMORY"), "{text}");
    assert!(text.contains("free arrays, use fewer or smaller parts"), "{text}");
    assert_eq!(array(&gpus[1], 12).unwrap().sum(&[]).item::<f32>().unwrap(), (12 << 18) as f32);
    // The second array's memory stays in the pool; the reduction, which needs some of its own, gets it.
    drop(array(&gpus[0], 10).unwrap());
    assert_eq!(gpus[0].memory().cached_bytes, 10 << 20);
    assert_eq!(kept.sum(&[]).item::<f32>().unwrap(), (6 << 18) as f32);
    println!("filled and computed");
}

/// Every symbol of the driver that the program calls, and how often.
fn calls() -> BTreeMap<String, usize> {
    let said = other::said(computing(&[("PARTITA_SIM_TRACE", "1")]));
    assert_eq!(errors(&said), Vec::<String>::new());
    let mut calls = BTreeMap::new();
    for line in said.lines().filter_map(|line| line.strip_prefix("simcuda: cu")) {
        let symbol = format!("cu{}", line.split('(').next().unwrap());
        *calls.entry(symbol).or_default() += 1;
    }
    calls
}

/// Each error is of a device or of opening it, names the operation and the driver's error, and a remedy.
fn assert_complete(errors: &[String], failure: &str) {
    for error in errors {
        let of_device = error.starts_with("cuda:") || error.starts_with("out of memory on cuda:");
        let named = error.contains(" failed: CUDA_ERROR_") || error.contains("the driver refused the PTX");
        let out_of_memory = error.contains("bytes, ") && error.contains("free arrays");
        assert!(of_device || error.starts_with("no cuda device: "), "{failure}: {error}");
        assert!((named && error.contains("; ")) || out_of_memory, "{failure}: {error}");
    }
}

#[test]
fn any_call_may_fail_and_the_other_device_and_the_host_go_on() {
    if !is_simulated() {
        return;
    }
    let (mut runs, mut seen) = (0, 0);
    for (symbol, count) in calls() {
        for (nth, how) in
            [(1, "lost"), (count, "lost"), (count.div_ceil(2), "not_supported"), (1, "out_of_memory")]
        {
            let failure = format!("{symbol}:{nth}:{how}");
            let said = other::said(computing(&[("PARTITA_SIM_FAIL", &failure)]));
            let errors = errors(&said);
            assert_complete(&errors, &failure);
            let well = ["cuda:0", "cuda:1"].map(|gpu| said.contains(&format!("well in round 2: {gpu}")));
            // A device that could not be opened is not among those that compute.
            let expected = if how == "lost" { 1 } else { 2 };
            let computing = well.into_iter().filter(|&well| well).count();
            assert!(!said.contains("\n2 opened") || computing >= expected, "{failure}: {said}");
            (runs, seen) = (runs + 1, seen + usize::from(!errors.is_empty()));
        }
    }
    println!("ran: cuda-failing-calls {runs}");
    println!("ran: cuda-failing-calls-seen {seen}");
}
