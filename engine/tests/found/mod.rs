//! The devices the tests run on, and the layouts they try. A missing device is named, never silent.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use partita::prelude::*;

/// The host, every CUDA device and every wgpu adapter, or those of the one kind that
/// `PARTITA_TEST_DEVICES` names; prints what is missing.
pub fn devices() -> Vec<Device> {
    let mut devices = Device::all().to_vec();
    if let Ok(only) = std::env::var("PARTITA_TEST_DEVICES") {
        devices.retain(|device| kind(device) == only);
        if devices.is_empty() {
            println!("skipped: {only} (there is no such device)");
        }
        return devices;
    }
    let missing = |kind| devices.iter().all(|device| device.kind() != kind);
    if missing(DeviceKind::Wgpu) {
        println!("skipped: wgpu (no adapter answered through Vulkan, Metal or DX12)");
    }
    if missing(DeviceKind::Cuda) {
        println!("skipped: cuda ({})", partita::device::cuda::absence());
    }
    devices
}

/// For the record that floors are checked against.
pub fn ran(what: &str, device: &Device, count: usize) {
    println!("ran: {}-{what} {count}", kind(device));
}

fn kind(device: &Device) -> &'static str {
    match device.kind() {
        DeviceKind::Host => "host",
        DeviceKind::Cuda => "cuda",
        _ => "wgpu",
    }
}

/// Part counts that include primes and powers of two.
pub const PARTS: [usize; 7] = [1, 2, 3, 4, 5, 7, 8];

/// Grids of each part count for a shape of two dimensions.
pub fn grids(parts: usize) -> Vec<[i64; 2]> {
    (1..=parts)
        .filter(|&rows| parts.is_multiple_of(rows))
        .map(|rows| [rows as i64, (parts / rows) as i64])
        .collect()
}

/// A value for every cell that no neighbouring cell has: its own global position, scrambled.
pub fn cell(at: &[i64]) -> f32 {
    let linear = at.iter().fold(17u32, |hash, &c| hash.wrapping_mul(2_654_435_761).wrapping_add(c as u32));
    (linear >> 8) as f32 / 65536.0 - 100.0
}
