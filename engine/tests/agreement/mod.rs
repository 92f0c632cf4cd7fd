//! Kernels run on a device and on the host's, and the first element in which they differ.
#![allow(dead_code, unused_imports, missing_docs, clippy::unwrap_used)]

use std::sync::{Arc, OnceLock};

use partita::device::wgpu::Shrink;
use partita::device::{Buffer, Job};
use partita::prelude::*;
use partita_kernels::wgsl::DriverFaults;
use partita_kernels::{Launch, Subnormals, Verified};

#[path = "../raw_access/mod.rs"]
pub mod raw_access;
#[path = "../../../kernels/tests/agreement/mod.rs"]
mod shared;

pub use shared::*;

/// What a binding of the adapter with small limits holds.
pub const SMALL_BINDING_BYTES: u64 = 4096;

/// Limits so small that every code path behind them runs on a few thousand elements, and the shaders of
/// hardware, which software adapters do not get.
const SMALL: Shrink = Shrink {
    max_binding_bytes: Some(SMALL_BINDING_BYTES),
    max_buffer_bytes: None,
    transfer_bytes: None,
    max_groups_per_dimension: Some(3),
    cautious: false,
    hardware: true,
    hidden: true,
    faults: DriverFaults {
        flush_sums: false,
        flush_products: false,
        flush_comparisons: false,
        inexact_quotients: false,
    },
};

/// Every device but the host's, and a wgpu adapter with small limits.
pub fn gpus() -> &'static [Device] {
    static ALL: OnceLock<Vec<Device>> = OnceLock::new();
    ALL.get_or_init(|| {
        let devices = crate::found::devices();
        let small = devices.iter().find(|device| device.kind() == DeviceKind::Wgpu);
        let small = small.map(|_| Device::wgpu_with_limits(0, SMALL).unwrap());
        devices.into_iter().filter(|device| device.kind() != DeviceKind::Host).chain(small).collect()
    })
}

pub fn uploaded(device: &Device, arrays: &Arrays) -> Vec<Buffer> {
    let upload = |array: &Vec<u8>| {
        let buffer = device.alloc(array.len() as u64).unwrap();
        raw_access::upload(device, buffer.allocation(), 0, array).unwrap();
        buffer
    };
    arrays.iter().map(upload).collect()
}

pub fn downloaded(device: &Device, buffers: &[Buffer], like: &Arrays) -> partita::Result<Arrays> {
    let download = |(buffer, array): (&Buffer, &Vec<u8>)| {
        let mut bytes = vec![0; array.len()];
        raw_access::download(device, buffer.allocation(), 0, &mut bytes).map(|()| bytes)
    };
    buffers.iter().zip(like).map(download).collect()
}

pub fn job(device: &Device, kernel: &Verified, launch: &Launch, memory: &[&Buffer]) -> partita::Result<Job> {
    Ok(Job {
        program: device.compile(kernel.clone())?,
        launch: Arc::new(launch.clone()),
        memory: memory.iter().map(|buffer| Arc::clone(buffer.allocation())).collect(),
    })
}

pub fn run_on(
    device: &Device,
    kernel: &Verified,
    launch: &Launch,
    arrays: &Arrays,
) -> partita::Result<Arrays> {
    let buffers = uploaded(device, arrays);
    raw_access::launch(device, &job(device, kernel, launch, &buffers.iter().collect::<Vec<_>>())?)?;
    downloaded(device, &buffers, arrays)
}

pub fn on_host(kernel: &Verified, launch: &Launch, arrays: &Arrays) -> Arrays {
    static HOST: OnceLock<Device> = OnceLock::new();
    run_on(HOST.get_or_init(Device::host), kernel, launch, arrays).unwrap()
}

/// The first element that a device computed otherwise than its definition says, where the host gives `kept`:
/// adapters may flush subnormals.
pub fn misjudged(
    device: &Device,
    kernel: &Verified,
    launch: &Launch,
    arrays: &Arrays,
    kept: &Arrays,
) -> partita::Result<Option<String>> {
    let given = run_on(device, kernel, launch, arrays)?;
    let found = difference(kernel, kept, &given);
    let subnormals = device.subnormals();
    if found.is_none() && subnormals != Subnormals::Flushed || subnormals == Subnormals::Kept {
        return Ok(found);
    }
    let expected = allowed(kernel, subnormals, kept, by_flushing(kernel, launch, arrays), &given);
    Ok(difference(kernel, &expected, &given).map(|text| format!("{subnormals:?}: {text}")))
}

/// Asserts that every device gives the interpreter's bits, or those of its definition of subnormals.
pub fn agree(kernel: &Verified, launch: &Launch, arrays: &Arrays) {
    let expected = on_host(kernel, launch, arrays);
    for device in gpus() {
        let found = misjudged(device, kernel, launch, arrays, &expected);
        let found = found.unwrap_or_else(|e| panic!("{device:?}: {e}"));
        assert_eq!(found, None, "{device:?} {launch:?}");
    }
}
