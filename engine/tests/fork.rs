//! A forked process: GPU devices return an error without calling their driver; the host device computes,
//! unless another thread computed when the process was forked.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "raw_access/forked.rs"]
mod forked;
mod found;
mod other;

use forked::{in_forked_process, leave};
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

/// Processes that are forked while another thread computes: each refuses at once, or, if the thread just did
/// not, computes. None waits for a lock that nobody in it holds. `PARTITA_SOAK` sets how many are forked.
#[test]
fn a_process_forked_while_another_thread_computes_refuses_at_once() {
    let text = other::said(other::test("child_forks_while_another_thread_computes"));
    text.lines().filter(|line| line.starts_with("ran: ")).for_each(|line| println!("{line}"));
    assert!(text.contains("ran: forks-while-computing"), "{text}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn child_forks_while_another_thread_computes() {
    let device = Device::host();
    let (array, others) = (array(&device), array(&device));
    let sum = total(&array).unwrap();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let forks: usize = std::env::var("PARTITA_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut refused = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                assert_eq!(total(&others).unwrap(), sum);
            }
        });
        for _ in 0..20 * forks {
            std::thread::sleep(std::time::Duration::from_millis(3));
            let own = &array + 1.0;
            own.eval().unwrap();
            let child = || match total(&array) {
                Ok(given) => assert_eq!(given, sum),
                Err(error) => {
                    assert!(matches!(error, partita::Error::Forked { .. }), "{error}");
                    assert!(error.to_string().contains("another thread computed"), "{error}");
                    assert!(device.alloc(16).is_err() && array.to_vec::<f32>().is_err());
                    // Memory that is given back waits for no lock, either.
                    drop(own);
                    leave(7);
                }
            };
            match in_forked_process(child) {
                0 => {}
                status if status == 7 << 8 => refused += 1,
                status => {
                    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
                    panic!("the forked process: {status}; 14 is the alarm: it waited for ever");
                }
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(refused > 0, "no process was forked while the other thread computed");
    println!("ran: forks-while-computing {refused}");
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
            matches!(&error, partita::Error::Forked { device: name, .. } if name == device.name()),
            "{call}: {error}"
        );
    }
}
