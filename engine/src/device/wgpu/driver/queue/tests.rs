//! How many submissions launches and replays take, and what is refused. Knows nothing of what launches
//! compute.

use partita_kernels::{Builder, DType, Launch, View};

use super::super::gpu::{WgpuDevice, locked};
use crate::device::handle::{Backend, Device};
use crate::device::wgpu::error::WgpuError;
use crate::device::wgpu::facts::Shrink;
use crate::prelude::*;

fn submissions(device: &Device) -> u64 {
    match device.backend() {
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

#[test]
fn failures_are_errors_that_name_what_was_asked() {
    let Some(gpu) =
        WgpuDevice::open(0, Shrink::default()).map_err(|error| println!("skipped: wgpu ({error})")).ok()
    else {
        return;
    };
    let buffer = gpu.alloc(41).unwrap();
    let error = gpu.upload(&buffer, 40, &[1, 2]).unwrap_err();
    assert_eq!(error.to_string(), "bytes 40..42 of a buffer of 41 bytes");
    let error = gpu.alloc(1 << 50).unwrap_err();
    assert!(matches!(error, WgpuError::OutOfMemory { asked_bytes, .. } if asked_bytes == 1 << 50), "{error}");
    let error = WgpuDevice::open(1000, Shrink::default()).err().unwrap().to_string();
    assert!(error.contains("1000") && error.contains("VULKAN"), "{error}");
    let mut k = Builder::new("copy", 1);
    let (input, output) = (k.input(DType::F32), k.output(DType::F32));
    let value = k.load(input, &[0]);
    let program = gpu.compile(&k.elementwise(&[(output, value)]).unwrap()).unwrap();
    let view = View { offset: 0, strides: vec![1] };
    let launch =
        Launch { extents: vec![5], origin: vec![0], views: vec![view.clone(), view], arguments: vec![] };
    let buffer = gpu.alloc(16).unwrap();
    let error = gpu.launch(&program, &launch, &[&buffer, &buffer]).unwrap_err();
    assert!(error.to_string().contains("memory holds 4"), "{error}");
    gpu.wait().unwrap();
}
