//! Memory: allocation, release, pinning, attributes, and the one pool of each device.

use super::super::abi::{Code, DevicePtr, HandleKind, Opaque, Ordinal, handle, index};
use super::super::state::Driver;
use super::{Out, current, exports, not_simulated};
use crate::driver::memory::{AddressOwner, Allocation, Origin, Pinned};
use crate::driver::work::Work;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Pinned memory is aligned to pages, as the driver's is.
const PAGE: usize = 4096;
/// `CU_MEMHOSTALLOC_PORTABLE | DEVICEMAP | WRITECOMBINED`.
const HOST_FLAGS: u32 = 7;
/// `CU_MEMHOSTREGISTER_PORTABLE | DEVICEMAP | IOMEMORY | READ_ONLY`.
const REGISTER_FLAGS: u32 = 15;

exports! {
    fn cuMemAlloc_v2(out: Out<DevicePtr>, bytes: usize) Current, |driver, device| {
        driver.refuse_unsafe_in_capture("cuMemAlloc")?;
        out.put(reserve(driver, device, bytes, Origin::Plain)?)
    }

    fn cuMemFree_v2(address: DevicePtr) Current, |driver, _device| {
        driver.refuse_unsafe_in_capture("cuMemFree")?;
        if address == 0 {
            return Ok(());
        }
        let block = whole_block(driver, address)?;
        if block.origin == Origin::Opened {
            return Err(Code::INVALID_VALUE);
        }
        // As on hardware, the call waits for everything on the device; another device's use of the memory is
        // a race.
        let clock = driver.end_of_device(block.device);
        driver.wait_healthy(&clock, block.device)?;
        let legacy = driver.legacy(block.device);
        driver.push(legacy, "cuMemFree".to_owned(), Work::Release { address });
        let clock = driver.end_of(legacy);
        driver.wait_healthy(&clock, block.device)
    }

    fn cuMemAllocAsync(out: Out<DevicePtr>, bytes: usize, stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        reserve_async(driver, out, bytes, stream)
    }

    fn cuMemAllocFromPoolAsync(out: Out<DevicePtr>, bytes: usize, pool: Opaque, stream: Opaque) Init,
    |driver, _device| {
        let stream = driver.stream(stream, current())?;
        if pool_device(driver, pool)? != driver.streams[stream].device {
            return Err(not_simulated(driver, "allocation from another device's pool"));
        }
        reserve_async(driver, out, bytes, stream)
    }

    fn cuMemFreeAsync(address: DevicePtr, stream: Opaque) Init, |driver, _device| {
        let stream = driver.stream(stream, current())?;
        if address == 0 {
            return Ok(());
        }
        let block = whole_block(driver, address)?;
        if block.origin == Origin::Opened {
            return Err(Code::INVALID_VALUE);
        }
        driver.submit(stream, "cuMemFreeAsync".to_owned(), Work::Release { address })?;
        if let Some(block) = driver.memory.block_mut(address) {
            block.ending = true;
        }
        Ok(())
    }

    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) Current, |driver, device| {
        free.put(driver.memory.free_bytes(device) as usize)?;
        total.put(driver.config.memory_bytes as usize)
    }

    fn cuMemGetAddressRange_v2(base: Out<DevicePtr>, bytes: Out<usize>, address: DevicePtr) Current,
    |driver, _device| {
        let AddressOwner::Device(block) = driver.memory.find(address) else { return Err(Code::NOT_FOUND) };
        base.offer(block.address);
        bytes.offer(block.bytes as usize);
        Ok(())
    }

    fn cuMemAllocHost_v2(out: Out<Opaque>, bytes: usize) Current, |driver, device| {
        driver.refuse_unsafe_in_capture("cuMemAllocHost")?;
        out.put(pin_new(driver, device, bytes, 0)?)
    }

    fn cuMemHostAlloc(out: Out<Opaque>, bytes: usize, flags: u32) Current, |driver, device| {
        driver.refuse_unsafe_in_capture("cuMemHostAlloc")?;
        if flags & !HOST_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        out.put(pin_new(driver, device, bytes, flags)?)
    }

    fn cuMemFreeHost(address: Opaque) Current, |driver, _device| {
        driver.refuse_unsafe_in_capture("cuMemFreeHost")?;
        let pinned = driver.memory.pinned_at(address as u64).filter(|pinned| pinned.owned);
        let pinned = pinned.ok_or(Code::INVALID_VALUE)?;
        driver.unpin(pinned);
        // SAFETY: `pin_new` allocated it with this layout, and it is known no more.
        unsafe { dealloc(address.cast(), host_layout(pinned.bytes as usize)?) };
        Ok(())
    }

    fn cuMemHostRegister_v2(address: Opaque, bytes: usize, flags: u32) Current, |driver, device| {
        driver.refuse_unsafe_in_capture("cuMemHostRegister")?;
        if address.is_null() || bytes == 0 || flags & !REGISTER_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let (address, bytes) = (address as u64, bytes as u64);
        if driver.memory.overlaps_pinned(address, bytes) {
            return Err(Code::HOST_MEMORY_ALREADY_REGISTERED);
        }
        driver.memory.pin(Pinned { address, bytes, device, flags, owned: false });
        Ok(())
    }

    fn cuMemHostUnregister(address: Opaque) Current, |driver, _device| {
        driver.refuse_unsafe_in_capture("cuMemHostUnregister")?;
        let pinned = driver.memory.pinned_at(address as u64).filter(|pinned| !pinned.owned);
        let pinned = pinned.ok_or(Code::HOST_MEMORY_NOT_REGISTERED)?;
        driver.unpin(pinned);
        Ok(())
    }

    fn cuMemHostGetFlags(out: Out<u32>, address: Opaque) Current, |driver, _device| {
        match driver.memory.find(address as u64) {
            AddressOwner::Pinned(pinned) => out.put(pinned.flags),
            AddressOwner::Device(_) | AddressOwner::Unknown => Err(Code::INVALID_VALUE),
        }
    }

    fn cuMemHostGetDevicePointer_v2(out: Out<DevicePtr>, address: Opaque, flags: u32) Current,
    |driver, _device| {
        let _ = (out, address, flags);
        Err(not_simulated(driver, "host memory in the address space of kernels"))
    }

    fn cuPointerGetAttribute(out: Out<u64>, attribute: u32, address: DevicePtr) Init, |driver, _device| {
        put_attribute(driver, out, attribute, address)
    }

    // `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`, the only one that can be set: MPI libraries set it on memory they
    // open to others. Copies stay as late as they are allowed to be without it.
    fn cuPointerSetAttribute(value: Out<u32>, attribute: u32, address: DevicePtr) Init, |driver, _device| {
        value.at(0)?;
        match (attribute, driver.memory.find(address)) {
            (6, AddressOwner::Device(_)) => Ok(()),
            (6, AddressOwner::Pinned(_) | AddressOwner::Unknown) => Err(Code::INVALID_VALUE),
            _ => Err(not_simulated(driver, &format!("setting pointer attribute {attribute}"))),
        }
    }

    fn cuPointerGetAttributes(count: u32, attributes: Out<u32>, outs: Out<Out<u64>>, address: DevicePtr) Init,
    |driver, _device| {
        let unknown = matches!(driver.memory.find(address), AddressOwner::Unknown);
        for at in 0..count as usize {
            let (attribute, out) = (attributes.at(at)?, outs.at(at)?);
            // Unlike the single form, this one answers zeros for memory that the driver does not know.
            match unknown {
                true => out.put_bytes(&0u64.to_ne_bytes()[..width(attribute)])?,
                false => put_attribute(driver, out, attribute, address)?,
            }
        }
        Ok(())
    }

    fn cuDeviceGetDefaultMemPool(out: Out<Opaque>, device: Ordinal) Init, |driver, _device| {
        out.put(pool_handle(driver.device(device)?))
    }

    fn cuDeviceGetMemPool(out: Out<Opaque>, device: Ordinal) Init, |driver, _device| {
        out.put(pool_handle(driver.device(device)?))
    }

    fn cuMemPoolSetAttribute(pool: Opaque, attribute: u32, value: Out<u64>) Init, |driver, _device| {
        let device = pool_device(driver, pool)?;
        match attribute {
            // How memory may be reused: addresses are never used twice here, so there is no difference.
            1..=3 => Ok(()),
            4 => {
                driver.devices[device].release_threshold = value.get()?;
                Ok(())
            }
            // The high-water marks may be reset to zero; they are not kept.
            6 | 8 => Ok(()),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    fn cuMemPoolGetAttribute(pool: Opaque, attribute: u32, value: Out<u64>) Init, |driver, _device| {
        let device = pool_device(driver, pool)?;
        match attribute {
            1..=3 => value.put_bytes(&1i32.to_ne_bytes()),
            4 => value.put(driver.devices[device].release_threshold),
            // A pool holds exactly what is used of it.
            5 | 7 => value.put(driver.memory.used_by(device, Origin::Pool)),
            _ => Err(not_simulated(driver, &format!("memory pool attribute {attribute}"))),
        }
    }

    fn cuMemPoolTrimTo(pool: Opaque, keep: usize) Init, |driver, _device| {
        let _ = keep;
        pool_device(driver, pool).map(|_| ())
    }
}

/// New device memory; if there is too little, what is queued may free some.
fn reserve(driver: &mut Driver, device: usize, bytes: usize, origin: Origin) -> Result<DevicePtr, Code> {
    match driver.memory.reserve(device, bytes as u64, origin) {
        Err(Code::OUT_OF_MEMORY) => {
            driver.wait_device(device);
            driver.healthy(device)?;
            driver.memory.reserve(device, bytes as u64, origin)
        }
        outcome => outcome,
    }
}

fn reserve_async(driver: &mut Driver, out: Out<DevicePtr>, bytes: usize, stream: usize) -> Result<(), Code> {
    if driver.streams[stream].capture.is_some() {
        return driver.submit(stream, "cuMemAllocAsync".to_owned(), Work::Reserve { address: 0 });
    }
    let address = reserve(driver, driver.streams[stream].device, bytes, Origin::Pool)?;
    driver.submit(stream, "cuMemAllocAsync".to_owned(), Work::Reserve { address })?;
    out.put(address)
}

/// The block that begins at an address and is not being freed.
fn whole_block(driver: &Driver, address: DevicePtr) -> Result<Allocation, Code> {
    match driver.memory.find(address) {
        AddressOwner::Device(block) if block.address == address && !block.ending => Ok(block),
        AddressOwner::Device(block) => {
            let what = if block.ending { "freed before" } else { "not the begin of an allocation" };
            driver.report.line(&format!("memory to be freed at {address:#x} is {what}"));
            Err(Code::INVALID_VALUE)
        }
        AddressOwner::Pinned(_) | AddressOwner::Unknown => {
            driver.report.line(&format!(
                "memory to be freed at {address:#x} is no device memory, or was freed before"
            ));
            Err(Code::INVALID_VALUE)
        }
    }
}

fn host_layout(bytes: usize) -> Result<Layout, Code> {
    Layout::from_size_align(bytes.max(1), PAGE).map_err(|_| Code::OUT_OF_MEMORY)
}

fn pin_new(driver: &mut Driver, device: usize, bytes: usize, flags: u32) -> Result<Opaque, Code> {
    if bytes == 0 {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the layout has a size above zero.
    let address = unsafe { alloc_zeroed(host_layout(bytes)?) };
    if address.is_null() {
        return Err(Code::OUT_OF_MEMORY);
    }
    driver.memory.pin(Pinned { address: address as u64, bytes: bytes as u64, device, flags, owned: true });
    Ok(address.cast())
}

/// How many bytes the answer to a pointer attribute has.
fn width(attribute: u32) -> usize {
    match attribute {
        2 | 9 | 14 | 15 | 16 => 4,
        6 | 8 | 10 | 13 => 1,
        _ => 8,
    }
}

fn put_attribute(driver: &Driver, out: Out<u64>, attribute: u32, address: DevicePtr) -> Result<(), Code> {
    // `CU_MEMORYTYPE_HOST` is 1, `CU_MEMORYTYPE_DEVICE` is 2.
    let (start, bytes, device, kind) = match driver.memory.find(address) {
        AddressOwner::Device(block) => (block.address, block.bytes, block.device, 2),
        AddressOwner::Pinned(pinned) => (pinned.address, pinned.bytes, pinned.device, 1),
        AddressOwner::Unknown => return Err(Code::INVALID_VALUE),
    };
    let origin = match driver.memory.find(address) {
        AddressOwner::Device(block) => Some(block.origin),
        AddressOwner::Pinned(_) | AddressOwner::Unknown => None,
    };
    let value = match attribute {
        1 => handle(HandleKind::Primary, device) as u64,
        2 => kind,
        3 => address,
        4 if kind == 1 => address,
        4 => return Err(Code::INVALID_VALUE),
        6 | 8 => 0,
        // Addresses are never used twice, so they tell allocations apart.
        7 | 20 => start,
        9 => device as u64,
        10 => u64::from(origin == Some(Origin::Plain)),
        11 | 19 => start,
        12 | 18 => bytes,
        13 => 1,
        14 | 15 => 0,
        // `CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE`.
        16 => 3,
        17 if origin == Some(Origin::Pool) => pool_handle(device) as u64,
        17 => 0,
        _ => return Err(not_simulated(driver, &format!("pointer attribute {attribute}"))),
    };
    out.put_bytes(&value.to_ne_bytes()[..width(attribute)])
}

/// The handle of a device's pool.
fn pool_handle(device: usize) -> Opaque {
    handle(HandleKind::Pool, device)
}

/// The device of a pool.
fn pool_device(driver: &Driver, pool: Opaque) -> Result<usize, Code> {
    index(HandleKind::Pool, pool).filter(|device| *device < driver.devices.len()).ok_or(Code::INVALID_VALUE)
}
