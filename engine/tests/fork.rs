//! A forked process: GPU devices return an error without calling their driver; the host device computes.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "raw_access/forked.rs"]
mod forked;
mod found;
mod other;

use forked::in_forked_process;
use partita::device::Timestamp;
use partita::prelude::*;

#[test]
fn after_a_fork_devices_refuse_and_the_host_computes() {
    let log = std::env::temp_dir().join(format!("partita-fork-{}.log", std::process::id()));
    let mut command = other::test("child_forks");
    command.env("PARTITA_SIM_LOG", &log).env("PARTITA_THREADS", "3");
    let text = other::said(command);
    assert!(text.contains("the forked process ended well"), "{text}");
    let faults = std::fs::read_to_string(&log).unwrap_or_default();
    // It may never have been made.
    let _ = std::fs::remove_file(&log);
    assert_eq!(faults, "", "the driver was called in the forked process");
    text.lines().filter(|line| line.starts_with("ran: ")).for_each(|line| println!("{line}"));
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_forks() {
    let devices = found::devices();
    let arrays: Vec<Array> = devices.iter().map(array).collect();
    let sums: Vec<f64> = arrays.iter().map(|array| total(array).unwrap()).collect();
    let status = in_forked_process(|| in_the_forked_process(&devices, arrays, &sums));
    assert_eq!(status, 0, "the forked process: 14 is the alarm, 256 a failed assertion");
    println!("the forked process ended well");
    devices.iter().for_each(|device| found::ran("forks", device, 1));
}

/// On the host so large that it is computed by several threads.
fn array(device: &Device) -> Array {
    let extent = if device.kind() == DeviceKind::Host { 1 << 20 } else { 1 << 12 };
    let team = Team::on(std::slice::from_ref(device), 2).unwrap();
    let dist = Distribution::builder(&[extent]).parts(2).build().unwrap();
    Array::from_fn(&team, &dist, |at| (at[0] % 7) as f32).unwrap()
}

fn total(array: &Array) -> partita::Result<f64> {
    (array * 2.0 + 1.0).cast(DType::F64).sum(&[]).item::<f64>()
}

fn in_the_forked_process(devices: &[Device], arrays: Vec<Array>, sums: &[f64]) {
    for ((device, array), sum) in devices.iter().zip(&arrays).zip(sums) {
        match device.kind() {
            DeviceKind::Host => assert_eq!(total(array).unwrap(), *sum),
            _ => refuse_everything(device, array),
        }
    }
    let text = |result: partita::Result<Device>| result.unwrap_err().to_string();
    for device in devices {
        match device.kind() {
            DeviceKind::Host => {}
            DeviceKind::Cuda => {
                assert!(text(Device::cuda(0)).contains("forked"), "{}", text(Device::cuda(0)))
            }
            _ => {
                assert!(text(Device::wgpu(0)).contains("forked"), "{}", text(Device::wgpu(0)))
            }
        }
    }
    // What the arrays hold is given back without the driver.
    drop(arrays);
}

fn refuse_everything(device: &Device, array: &Array) {
    let results = [
        ("sum", total(array).map(drop)),
        ("to_vec", array.to_vec::<f32>().map(drop)),
        ("alloc", device.alloc(16).map(drop)),
        ("wait", device.wait()),
        ("mark", device.timestamp().map(|_: Timestamp| ())),
    ];
    for (call, result) in results {
        let error = result.expect_err(call);
        assert!(
            matches!(&error, partita::Error::Forked { device: name } if name == device.name()),
            "{call}: {error}"
        );
    }
}
