//! Copies and fills, between host and devices, with and without a stream.

use super::super::abi::{Code, DevicePtr, Opaque, Outcome};
use super::super::state::Driver;
use super::{current, exports};
use crate::driver::memory::AddressOwner;
use crate::driver::work::{Source, Target, Work};

exports! {
    fn cuMemcpyHtoD_v2(to: DevicePtr, from: Opaque, bytes: usize) Current, |driver, device| {
        let legacy = driver.legacy(device);
        upload(driver, to, from as u64, bytes as u64, legacy, Wait::ForHost)
    }

    fn cuMemcpyHtoDAsync_v2(to: DevicePtr, from: Opaque, bytes: usize, stream: Opaque) Init,
    |driver, _device| {
        let stream = driver.stream(stream, current())?;
        upload(driver, to, from as u64, bytes as u64, stream, Wait::No)
    }

    fn cuMemcpyDtoH_v2(to: Opaque, from: DevicePtr, bytes: usize) Current, |driver, device| {
        let legacy = driver.legacy(device);
        download(driver, to as u64, from, bytes as u64, legacy, Wait::ForHost)
    }

    fn cuMemcpyDtoHAsync_v2(to: Opaque, from: DevicePtr, bytes: usize, stream: Opaque) Init,
    |driver, _device| {
        let stream = driver.stream(stream, current())?;
        download(driver, to as u64, from, bytes as u64, stream, Wait::No)
    }

    fn cuMemcpyDtoD_v2(to: DevicePtr, from: DevicePtr, bytes: usize) Current, |driver, device| {
        // The host does not wait here, on hardware either.
        let legacy = driver.legacy(device);
        between(driver, to, from, bytes as u64, legacy)
    }

    fn cuMemcpyDtoDAsync_v2(to: DevicePtr, from: DevicePtr, bytes: usize, stream: Opaque) Init,
    |driver, _device| {
        let stream = driver.stream(stream, current())?;
        between(driver, to, from, bytes as u64, stream)
    }

    fn cuMemcpy(to: DevicePtr, from: DevicePtr, bytes: usize) Current, |driver, device| {
        let legacy = driver.legacy(device);
        any(driver, to, from, bytes as u64, legacy, Wait::ForHost)
    }

    fn cuMemcpyAsync(to: DevicePtr, from: DevicePtr, bytes: usize, stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        any(driver, to, from, bytes as u64, stream, Wait::No)
    }

    fn cuMemcpyPeerAsync(
        to: DevicePtr, to_primary: Opaque, from: DevicePtr, from_primary: Opaque, bytes: usize,
        stream: Opaque,
    ) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        owners(driver, to, to_primary, from, from_primary, bytes as u64)?;
        between(driver, to, from, bytes as u64, stream)
    }

    fn cuMemsetD8Async(address: DevicePtr, value: u8, count: usize, stream: Opaque) Init, |driver, _device| {
        let (stream, bytes) = (driver.stream(stream, current())?, count as u64);
        if bytes == 0 {
            return Ok(());
        }
        driver.memory.within(address, bytes)?;
        driver.submit(stream, format!("fill of {bytes} bytes"), Work::Fill { address, value, bytes })
    }
}

/// Whether a copy's call returns before the copy is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    No,
    ForHost,
}

fn upload(driver: &mut Driver, to: u64, from: u64, bytes: u64, stream: usize, wait: Wait) -> Outcome {
    if bytes == 0 {
        return Ok(());
    }
    driver.memory.within(to, bytes)?;
    let pinned = driver.memory.is_pinned(from, bytes);
    if wait == Wait::ForHost {
        refuse_in_capture(driver, stream)?;
        let clock = driver.end_of(stream);
        driver.wait_healthy(&clock, driver.streams[stream].device)?;
    }
    let source = match pinned {
        true => Source::Pinned(from),
        false => Source::Staged(staged(from, bytes)?),
    };
    let label =
        format!("copy of {bytes} bytes from {} host memory", if pinned { "pinned" } else { "pageable" });
    driver.submit(stream, label, Work::Copy { target: Target::Device(to), source, bytes })?;
    match (wait, pinned) {
        (Wait::ForHost, true) => finish(driver, stream),
        // Pageable bytes are staged, and the rest happens later, on hardware too.
        (Wait::ForHost, false) | (Wait::No, _) => Ok(()),
    }
}

fn staged(from: u64, bytes: u64) -> Result<Vec<u8>, Code> {
    if from == 0 {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the caller of the copy promises that these bytes can be read.
    Ok(unsafe { std::slice::from_raw_parts(from as *const u8, bytes as usize) }.to_vec())
}

fn download(driver: &mut Driver, to: u64, from: u64, bytes: u64, stream: usize, wait: Wait) -> Outcome {
    if bytes == 0 {
        return Ok(());
    }
    if to == 0 {
        return Err(Code::INVALID_VALUE);
    }
    driver.memory.within(from, bytes)?;
    if wait == Wait::ForHost {
        refuse_in_capture(driver, stream)?;
    }
    let pinned = driver.memory.is_pinned(to, bytes);
    let target = if pinned { Target::Pinned(to) } else { Target::Pageable(to) };
    let label =
        format!("copy of {bytes} bytes to {} host memory", if pinned { "pinned" } else { "pageable" });
    driver.submit(stream, label, Work::Copy { target, source: Source::Device(from), bytes })?;
    match (wait, pinned) {
        (Wait::No, true) => Ok(()),
        (Wait::No, false) | (Wait::ForHost, _) => finish(driver, stream),
    }
}

fn between(driver: &mut Driver, to: u64, from: u64, bytes: u64, stream: usize) -> Outcome {
    if bytes == 0 {
        return Ok(());
    }
    let (target, source) = (driver.memory.within(to, bytes)?, driver.memory.within(from, bytes)?);
    if to < from + bytes && from < to + bytes {
        driver.report.line("source and destination of a copy overlap, which is undefined on hardware");
        return Err(Code::INVALID_VALUE);
    }
    let label = format!("copy of {bytes} bytes from device {} to device {}", source.device, target.device);
    driver.submit(
        stream,
        label,
        Work::Copy { target: Target::Device(to), source: Source::Device(from), bytes },
    )
}

/// The direction follows from the addresses.
fn any(driver: &mut Driver, to: u64, from: u64, bytes: u64, stream: usize, wait: Wait) -> Outcome {
    match (driver.memory.find(to), driver.memory.find(from)) {
        (AddressOwner::Device(_), AddressOwner::Device(_)) => between(driver, to, from, bytes, stream),
        (AddressOwner::Device(_), AddressOwner::Pinned(_) | AddressOwner::Unknown) => {
            upload(driver, to, from, bytes, stream, wait)
        }
        (AddressOwner::Pinned(_) | AddressOwner::Unknown, AddressOwner::Device(_)) => {
            download(driver, to, from, bytes, stream, wait)
        }
        (
            AddressOwner::Pinned(_) | AddressOwner::Unknown,
            AddressOwner::Pinned(_) | AddressOwner::Unknown,
        ) => Err(super::not_simulated(driver, "a copy from host to host")),
    }
}

/// Refuses a peer copy whose ends are not on the devices of its contexts.
fn owners(
    driver: &Driver,
    to: u64,
    to_primary: Opaque,
    from: u64,
    from_primary: Opaque,
    bytes: u64,
) -> Outcome {
    let ends = (driver.primary(to_primary)?, driver.primary(from_primary)?);
    driver.healthy(ends.0)?;
    driver.healthy(ends.1)?;
    let found = (driver.memory.within(to, bytes)?.device, driver.memory.within(from, bytes)?.device);
    if found != ends {
        driver
            .report
            .line(&format!("a peer copy names devices {ends:?}, but the memory is on devices {found:?}"));
        return Err(Code::INVALID_VALUE);
    }
    Ok(())
}

/// A copy without a stream waits for the legacy stream, which captures forbid.
fn refuse_in_capture(driver: &mut Driver, stream: usize) -> Outcome {
    driver.refuse_implicit(stream)?;
    driver.refuse_unsafe_in_capture("a copy without a stream")
}

/// Waits for what a stream has.
fn finish(driver: &mut Driver, stream: usize) -> Outcome {
    let clock = driver.end_of(stream);
    driver.wait_healthy(&clock, driver.streams[stream].device)
}
