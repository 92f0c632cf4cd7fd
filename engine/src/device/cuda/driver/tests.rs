//! What needs the driver's own calls to be tested: refused PTX, foreign streams, borrowed memory, the
//! current device, timestamps. Without a driver each prints `skipped: cuda (reason)`.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use cudarc::driver::result;

use super::gpu::CudaDevice;
use super::program;
use crate::device::Stream;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;

fn gpu() -> Option<CudaDevice> {
    CudaDevice::open(0).map_err(|error| println!("skipped: cuda ({error})")).ok()
}

#[test]
fn a_refused_ptx_shows_the_drivers_words_and_the_text() {
    let Some(gpu) = gpu() else { return };
    let text = ".version 7.0\n.target sm_75\n.address_size 64\nnonsense;\n";
    let error = gpu.primary.with(|| program::load("broken", text)).unwrap_err();
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
    let buffer = gpu.alloc(N as u64).unwrap();
    for round in 0..8u8 {
        gpu.upload(Stream::Compute, &buffer, 0, &[round; N]).unwrap();
        // SAFETY: `foreign` is a live stream of this device until the end of the test.
        unsafe { gpu.publish_to(foreign as u64) }.unwrap();
        let address = buffer.address();
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
    let owner = Arc::new(gpu.alloc(64).unwrap());
    gpu.upload(Stream::Compute, &owner, 0, &[1; 64]).unwrap();
    // SAFETY: the buffer is kept alive by the box.
    let borrowed = unsafe { gpu.borrow(owner.address() + 16, 16, Box::new(Arc::clone(&owner))) };
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
    let current = || result::ctx::get_current().unwrap();
    assert_eq!(current(), None);
    gpu.primary
        .with(|| {
            assert_eq!(current(), Some(gpu.primary.handle()));
            Ok(())
        })
        .unwrap();
    assert_eq!(current(), None);
}

#[test]
fn timestamps_are_in_the_order_of_the_work() {
    let Some(gpu) = gpu() else { return };
    let first = gpu.timestamp(Stream::Compute).unwrap();
    let buffer = gpu.alloc(1 << 20).unwrap();
    gpu.upload(Stream::Compute, &buffer, 0, &vec![1; 1 << 20]).unwrap();
    let second = gpu.timestamp(Stream::Compute).unwrap();
    assert!(second.seconds_since(&first).unwrap() >= 0.0);
    assert!(first.seconds_since(&second).unwrap() <= 0.0);
}

#[test]
fn bytes_outside_a_buffer_are_refused() {
    let Some(gpu) = gpu() else { return };
    let buffer = gpu.alloc(41).unwrap();
    let error = gpu.upload(Stream::Compute, &buffer, 40, &[1, 2]).unwrap_err();
    assert_eq!(error.to_string(), "bytes 40..42 of a buffer of 41 bytes");
    let error = gpu.download(Stream::Compute, &buffer, u64::MAX, &mut [0]).unwrap_err();
    assert!(error.to_string().starts_with("bytes 18446744073709551615.."), "{error}");
}
