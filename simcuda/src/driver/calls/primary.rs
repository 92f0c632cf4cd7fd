//! Primary contexts, the only kind: one for each device, retained and released; and which is current on a
//! thread.

use super::super::abi::{Code, HandleKind, Opaque, Ordinal, handle};
use super::super::state::{Device, Driver};
use super::{CURRENT, Out, current, exports};

/// `CU_CTX_SCHED_*` and the other flags a context can have.
const FLAGS: u32 = 0xff;

exports! {
    fn cuDevicePrimaryCtxRetain(out: Out<Opaque>, device: Ordinal) Init, |driver, _device| {
        let device = driver.device(device)?;
        if driver.devices[device].lost {
            return Err(Code::DEVICE_UNAVAILABLE);
        }
        driver.devices[device].retained += 1;
        out.put(handle(HandleKind::Primary, device))
    }

    fn cuDevicePrimaryCtxRelease_v2(device: Ordinal) Init, |driver, _device| {
        let device = driver.device(device)?;
        match driver.devices[device].retained {
            0 => return Err(Code::INVALID_CONTEXT),
            1 => destroy(driver, device),
            count => driver.devices[device].retained = count - 1,
        }
        Ok(())
    }

    fn cuDevicePrimaryCtxReset_v2(device: Ordinal) Init, |driver, _device| {
        let device = driver.device(device)?;
        let retained = driver.devices[device].retained;
        destroy(driver, device);
        driver.devices[device].retained = retained;
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: Ordinal, flags: u32) Init, |driver, _device| {
        let device = driver.device(device)?;
        set_flags(driver, device, flags)
    }

    fn cuDevicePrimaryCtxGetState(device: Ordinal, flags: Out<u32>, active: Out<i32>) Init,
    |driver, _device| {
        let state = &driver.devices[driver.device(device)?];
        flags.put(state.flags)?;
        active.put(i32::from(state.retained > 0))
    }

    fn cuCtxGetCurrent(out: Out<Opaque>) Init, |_driver, _device| {
        out.put(current().map_or(std::ptr::null_mut(), |device| handle(HandleKind::Primary, device)))
    }

    fn cuCtxSetCurrent(primary: Opaque) Init, |driver, _device| {
        let device = if primary.is_null() { None } else { Some(driver.primary(primary)?) };
        CURRENT.with_borrow_mut(|stack| {
            stack.pop();
            if device.is_some() || !stack.is_empty() {
                stack.push(device);
            }
        });
        Ok(())
    }

    fn cuCtxPushCurrent_v2(primary: Opaque) Init, |driver, _device| {
        let device = driver.primary(primary)?;
        CURRENT.with_borrow_mut(|stack| stack.push(Some(device)));
        Ok(())
    }

    fn cuCtxPopCurrent_v2(out: Out<Opaque>) Init, |_driver, _device| {
        let popped = CURRENT.with_borrow_mut(Vec::pop).flatten().ok_or(Code::INVALID_CONTEXT)?;
        out.offer(handle(HandleKind::Primary, popped));
        Ok(())
    }

    fn cuCtxGetDevice(out: Out<Ordinal>) Init, |_driver, _device| {
        out.put(current().ok_or(Code::INVALID_CONTEXT)? as Ordinal)
    }

    fn cuCtxSetFlags(flags: u32) Current, |driver, device| { set_flags(driver, device, flags) }

    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) Current, |_driver, _device| {
        least.offer(0);
        greatest.offer(super::stream::GREATEST_PRIORITY);
        Ok(())
    }

    fn cuCtxSynchronize() Current, |driver, device| {
        driver.refuse_captured_device(device, "cuCtxSynchronize")?;
        let clock = driver.end_of_device(device);
        driver.wait_healthy(&clock, device)
    }

    fn cuCtxEnablePeerAccess(peer: Opaque, flags: u32) Current, |driver, device| {
        let peer = driver.primary(peer)?;
        match (flags, peer == device) {
            (0, false) if driver.devices[device].peers.insert(peer) => Ok(()),
            (0, false) => Err(Code::PEER_ACCESS_ALREADY_ENABLED),
            (0, true) => Err(Code::INVALID_DEVICE),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    fn cuCtxDisablePeerAccess(peer: Opaque) Current, |driver, device| {
        let peer = driver.primary(peer)?;
        if driver.devices[device].peers.remove(&peer) { Ok(()) } else { Err(Code::PEER_ACCESS_NOT_ENABLED) }
    }
}

fn set_flags(driver: &mut Driver, device: usize, flags: u32) -> Result<(), Code> {
    if flags & !FLAGS != 0 {
        return Err(Code::INVALID_VALUE);
    }
    driver.devices[device].flags = flags;
    Ok(())
}

/// Ends a primary context with everything in it. A fault outlives it: hardware wants a new process then.
fn destroy(driver: &mut Driver, device: usize) {
    driver.wait_device(device);
    for block in driver.memory.blocks_of(device) {
        driver.memory.drop_block(block);
        driver.shadow.forget(block.range());
    }
    for stream in &mut driver.streams {
        if stream.device == device {
            stream.alive = false;
            stream.capture = None;
        }
    }
    for event in &mut driver.events {
        if event.as_ref().is_some_and(|event| event.device == device) {
            *event = None;
        }
    }
    for module in &mut driver.modules {
        if module.as_ref().is_some_and(|module| module.device == device) {
            *module = None;
        }
    }
    let Device { lost, fault, .. } = driver.devices[device];
    driver.devices[device] = Device { lost, fault, ..Device::default() };
}
