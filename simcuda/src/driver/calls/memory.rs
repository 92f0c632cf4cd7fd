//! Memory: allocation, release, pinning, attributes; memory and events of other processes. The record of a
//! shared event completes before its call returns, because nobody would run this process's streams while
//! another process waits; so a foreign record has nothing to wait for.

use super::super::abi::{
    Code, DevicePtr, EVENT_DISABLE_TIMING, EVENT_INTERPROCESS, HandleKind, Opaque, handle,
};
use super::super::state::{Driver, Event, Record, place};
use super::{Out, exports, not_simulated};
use crate::driver::exchange::{Handle, Ticket};
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
        out.put(driver.memory.reserve(device, bytes as u64, Origin::Plain)?)
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

    fn cuMemHostAlloc(out: Out<Opaque>, bytes: usize, flags: u32) Current, |driver, device| {
        driver.refuse_unsafe_in_capture("cuMemHostAlloc")?;
        if flags & !HOST_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        out.put(pin_new(driver, device, bytes)?)
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
        driver.memory.pin(Pinned { address, bytes, device, owned: false });
        Ok(())
    }

    fn cuMemHostUnregister(address: Opaque) Current, |driver, _device| {
        driver.refuse_unsafe_in_capture("cuMemHostUnregister")?;
        let pinned = driver.memory.pinned_at(address as u64).filter(|pinned| !pinned.owned);
        let pinned = pinned.ok_or(Code::HOST_MEMORY_NOT_REGISTERED)?;
        driver.unpin(pinned);
        Ok(())
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

    fn cuIpcGetMemHandle(out: Out<Handle>, address: DevicePtr) Current, |driver, _device| {
        let block = match driver.memory.find(address) {
            // The handle is the whole allocation's, wherever in it the address is: Open MPI relies on that.
            AddressOwner::Device(block) if block.origin == Origin::Plain => block,
            AddressOwner::Device(_) | AddressOwner::Pinned(_) | AddressOwner::Unknown => {
                driver.report.line("only memory from cuMemAlloc can be shared");
                return Err(Code::INVALID_VALUE);
            }
        };
        // Others must first see the memory with the results of all queued work.
        driver.wait_device(block.device);
        driver.healthy(block.device)?;
        let ticket = driver.exchange.export(&driver.memory, block).map_err(|error| {
            driver.report.line(&format!("memory cannot be shared: {error}"));
            Code::OPERATING_SYSTEM
        })?;
        out.put(ticket.handle(MEMORY))
    }

    fn cuIpcOpenMemHandle_v2(out: Out<DevicePtr>, shared: Handle, flags: u32) Current, |driver, device| {
        let ticket = Ticket::read(shared, MEMORY)?;
        if flags != LAZY_PEER_ACCESS {
            return Err(Code::INVALID_VALUE);
        }
        if ticket.process == std::process::id() {
            driver.report.line("a process cannot open memory that it exported itself");
            return Err(Code::INVALID_CONTEXT);
        }
        let address = match driver.exchange.reopen(ticket) {
            Some(address) => address,
            None => driver.exchange.open(&mut driver.memory, ticket, device)?,
        };
        out.put(address)
    }

    fn cuIpcCloseMemHandle(address: DevicePtr) Current, |driver, device| {
        if driver.exchange.close(address)? {
            driver.wait_device(device);
            let legacy = driver.legacy(device);
            driver.push(legacy, "cuIpcCloseMemHandle".to_owned(), Work::Release { address });
            let clock = driver.end_of(legacy);
            driver.wait(&clock);
        }
        driver.healthy(device)
    }

    fn cuIpcGetEventHandle(out: Out<Handle>, event: Opaque) Init, |driver, _device| {
        let event = driver.event(event)?;
        if driver.event_of(event).flags & EVENT_INTERPROCESS == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let ticket = Ticket { process: std::process::id(), numbers: [event as u64, 0, 0] };
        out.put(ticket.handle(EVENT))
    }

    fn cuIpcOpenEventHandle(out: Out<Opaque>, shared: Handle) Current, |driver, device| {
        let ticket = Ticket::read(shared, EVENT)?;
        if ticket.process == std::process::id() {
            driver.report.line("a process cannot open an event that it exported itself");
            return Err(Code::INVALID_CONTEXT);
        }
        let flags = EVENT_INTERPROCESS | EVENT_DISABLE_TIMING;
        let event = Event { device, flags, record: Record::Never, generation: 0, time: None };
        out.put(handle(HandleKind::Event, place(&mut driver.events, event)))
    }
}

/// The block that begins at an address.
fn whole_block(driver: &Driver, address: DevicePtr) -> Result<Allocation, Code> {
    match driver.memory.find(address) {
        AddressOwner::Device(block) if block.address == address => Ok(block),
        AddressOwner::Device(_) => {
            driver
                .report
                .line(&format!("memory to be freed at {address:#x} is not the begin of an allocation"));
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

fn pin_new(driver: &mut Driver, device: usize, bytes: usize) -> Result<Opaque, Code> {
    if bytes == 0 {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the layout has a size above zero.
    let address = unsafe { alloc_zeroed(host_layout(bytes)?) };
    if address.is_null() {
        return Err(Code::OUT_OF_MEMORY);
    }
    driver.memory.pin(Pinned { address: address as u64, bytes: bytes as u64, device, owned: true });
    Ok(address.cast())
}

/// The number of bytes of the answer to a pointer attribute.
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
        17 => 0,
        _ => return Err(not_simulated(driver, &format!("pointer attribute {attribute}"))),
    };
    out.put_bytes(&value.to_ne_bytes()[..width(attribute)])
}

const MEMORY: &[u8; 8] = b"sim mem\0";
const EVENT: &[u8; 8] = b"sim evt\0";
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the only flag, which must be given.
const LAZY_PEER_ACCESS: u32 = 1;
