//! How many submissions launches and replays take. Knows nothing of what they compute.

use super::locked;
use crate::device::{Backend, Device};
use crate::prelude::*;

fn submissions(device: &Device) -> u64 {
    match &device.0.backend {
        Backend::Wgpu(gpu) => locked(&gpu.pending).submissions,
        Backend::Host | Backend::Cuda(_) => 0,
    }
}

/// The submissions that something takes, with the wait behind it.
fn taken(device: &Device, what: impl FnOnce()) -> u64 {
    device.wait().unwrap();
    let before = submissions(device);
    what();
    device.wait().unwrap();
    submissions(device) - before
}

#[test]
fn steps_and_launches_share_submissions() {
    let Ok(device) = Device::wgpu(0) else {
        println!("skipped: wgpu submissions (no adapter answered through Vulkan, Metal or DX12)");
        return;
    };
    let team = Team::on(std::slice::from_ref(&device), 1).unwrap();
    let dist = Distribution::builder(&[64, 64]).build().unwrap();
    let cells = |at: &[i64]| (at[0] * 64 + at[1]) as f32;
    let mut steps = Loop::new(vec![Array::from_fn(&team, &dist, cells).unwrap()], |state: &mut [Array]| {
        // Ten launches: each is evaluated before the next one is recorded.
        for _ in 0..10 {
            state[0] = &state[0] * 0.5 + 1.0;
            state[0].eval()?;
        }
        Ok(())
    });
    steps.run(6).unwrap();
    assert!(steps.is_replaying());
    assert_eq!(taken(&device, || steps.run(40).unwrap()), 1);
    // 1000 dispatches, of which one submission carries 512.
    assert_eq!(taken(&device, || steps.run(100).unwrap()), 2);
    let pipeline = || {
        let mut array = Array::from_fn(&team, &dist, cells).unwrap();
        device.wait().unwrap();
        let before = submissions(&device);
        for k in 0..20 {
            array = &array * 0.5 + f64::from(k);
            array.eval().unwrap();
        }
        device.wait().unwrap();
        submissions(&device) - before
    };
    pipeline();
    assert_eq!(pipeline(), 1);
    println!("ran: wgpu-submissions 3");
}
