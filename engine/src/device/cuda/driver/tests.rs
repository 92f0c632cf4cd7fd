//! Tests that make calls of the driver: refused PTX, foreign streams, borrowed memory, the current device,
//! timestamps. Without a driver each prints `skipped: cuda (reason)`.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use cudarc::driver::result;

use super::gpu;
use super::gpu::CudaDevice;
use super::primary::During;
use crate::device::cuda::error::CudaError;
use crate::device::driver::{Driver, Sharing, Stream};
use crate::device::handle::Device;
use crate::device::memory::Allocation;

fn gpu() -> Option<CudaDevice> {
    CudaDevice::open(0).map_err(|error| println!("skipped: cuda ({error})")).ok()
}

fn memory(gpu: &CudaDevice, bytes: u64) -> Allocation {
    Allocation::new(0, bytes, None, gpu.alloc(bytes).unwrap())
}

#[test]
fn a_refused_ptx_shows_the_drivers_words_and_the_text() {
    let Some(gpu) = gpu() else { return };
    let text = ".version 7.0\n.target sm_75\n.address_size 64\nnonsense;\n";
    let error = gpu.primary.with(|| gpu::load("broken", text)).unwrap_err();
    let CudaError::Compile { kernel, log, source_text } = &error else { panic!("{error}") };
    assert_eq!((kernel.as_str(), source_text.as_str()), ("broken", text));
    assert!(log.contains("nonsense") || log.contains("line 4"), "{log}");
    gpu.wait().unwrap();
}

#[test]
fn foreign_streams_wait_for_ours_and_ours_for_them() {
    let Some(gpu) = gpu() else { return };
    let kind = result::stream::StreamKind::NonBlocking;
    let foreign = gpu.primary.with(|| result::stream::create(kind).during("test")).unwrap();
    const N: usize = 1 << 16;
    let buffer = memory(&gpu, N as u64);
    for round in 0..8u8 {
        gpu.upload(Stream::Compute, &buffer, 0, &[round; N]).unwrap();
        // SAFETY: `foreign` is a live stream of this device until the end of the test.
        unsafe { gpu.publish_to(foreign as u64) }.unwrap();
        let address = buffer.cuda_address(0).unwrap();
        // SAFETY: the range lies inside a live buffer.
        let fill = || unsafe { result::memset_d8_async(address, round + 100, N / 2, foreign) };
        gpu.primary.with(|| fill().during("test")).unwrap();
        // SAFETY: as above.
        unsafe { gpu.await_stream(foreign as u64) }.unwrap();
        let mut back = vec![0; N];
        gpu.download(Stream::Compute, &buffer, 0, &mut back).unwrap();
        assert!(back[..N / 2].iter().all(|&byte| byte == round + 100), "{round}");
        assert!(back[N / 2..].iter().all(|&byte| byte == round), "{round}");
    }
    // SAFETY: created above, destroyed once.
    gpu.primary.with(|| unsafe { result::stream::destroy(foreign) }.during("test")).unwrap();
}

#[test]
fn borrowed_memory_is_used_in_place_and_left_to_its_owner() {
    let Some(gpu) = gpu() else { return };
    let owner = Arc::new(memory(&gpu, 64));
    gpu.upload(Stream::Compute, &owner, 0, &[1; 64]).unwrap();
    let address = owner.cuda_address(16).unwrap();
    // SAFETY: the buffer is kept alive by the box.
    let borrowed = unsafe { gpu.borrow(address, 16, Box::new(Arc::clone(&owner))) }.unwrap().unwrap();
    let borrowed = Allocation::new(0, 16, None, borrowed);
    gpu.upload(Stream::Compute, &borrowed, 0, &[2; 16]).unwrap();
    drop(borrowed);
    assert_eq!(Arc::strong_count(&owner), 1);
    let mut back = [0; 64];
    gpu.download(Stream::Compute, &owner, 0, &mut back).unwrap();
    assert_eq!((back[15], back[16], back[31], back[32]), (1, 2, 2, 1));
}

#[test]
fn the_device_current_before_is_current_afterwards() {
    let Some(gpu) = gpu() else { return };
    let Ok(other) = CudaDevice::open(1) else { return println!("skipped: cuda (one device)") };
    let current = || result::ctx::get_current().unwrap();
    let within = |gpu: &CudaDevice| {
        let primary = &gpu.primary;
        assert_eq!(primary.with(|| Ok(current())).unwrap(), Some(primary.handle));
    };
    let check = || {
        assert_eq!(current(), None);
        within(&other);
        assert_eq!(current(), None, "a thread without a context has device 0");
        within(&gpu);
        assert_eq!(current(), Some(gpu.primary.handle), "what the thread has anyway stays");
        within(&other);
        assert_eq!(current(), Some(gpu.primary.handle), "it is restored");
        // SAFETY: the context is retained.
        unsafe { result::ctx::set_current(other.primary.handle) }.unwrap();
        within(&gpu);
        assert_eq!(current(), Some(other.primary.handle), "another library's is restored");
    };
    std::thread::scope(|scope| scope.spawn(check).join()).unwrap();
}

#[test]
fn what_may_end_does_not_stay_current() {
    let Ok(primary) = CudaDevice::open(0).map(|gpu| Arc::clone(&gpu.primary)) else { return };
    primary.with(|| Ok(())).unwrap();
    assert_eq!(result::ctx::get_current().unwrap(), Some(primary.handle));
    drop(primary);
    assert_eq!(result::ctx::get_current().unwrap(), None);
}

#[test]
fn the_library_that_was_loaded_is_a_file() {
    let Some(gpu) = gpu() else { return };
    let library = std::path::PathBuf::from(super::library().unwrap());
    assert!(library.is_absolute() && library.is_file(), "{} on {}", gpu.name(), library.display());
}

/// Long enough for several couriers, and no multiple of what travels at once.
#[test]
fn long_transfers_arrive_whole() {
    let Some(gpu) = gpu() else { return };
    const N: usize = (33 << 20) + 12_345;
    let sent: Vec<u8> = (0..N).map(|at| (at ^ at >> 8 ^ at >> 16) as u8).collect();
    let buffer = memory(&gpu, N as u64);
    for begin in [0, 1 << 20, N - 3] {
        gpu.upload(Stream::Compute, &buffer, begin as u64, &sent[begin..]).unwrap();
        let mut back = vec![0; N - begin];
        gpu.download(Stream::Compute, &buffer, begin as u64, &mut back).unwrap();
        assert!(back == sent[begin..], "from byte {begin}");
    }
}

#[test]
fn timestamps_are_in_the_order_of_the_work() {
    let Some(gpu) = gpu() else { return };
    let timestamp = || gpu.timestamp(Stream::Compute).unwrap().unwrap();
    let (first, buffer) = (timestamp(), memory(&gpu, 1 << 20));
    gpu.upload(Stream::Compute, &buffer, 0, &vec![1; 1 << 20]).unwrap();
    let second = timestamp();
    assert!(gpu.seconds_between(&first, &second).unwrap() >= 0.0);
    assert!(gpu.seconds_between(&second, &first).unwrap() <= 0.0);
}

#[test]
fn bytes_outside_a_buffer_are_refused() {
    let Ok(device) = Device::cuda(0) else { return };
    let buffer = device.alloc(256).unwrap();
    let error = device.upload(buffer.allocation(), 255, &[1, 2]).unwrap_err().to_string();
    assert!(error.contains("expected bytes below 256, given 2 bytes from byte 255"), "{error}");
    assert!(device.download(buffer.allocation(), u64::MAX, &mut [0]).is_err());
}
