//! Initialisation, devices, and their primary contexts, the only kind: one for each device, retained and
//! released; and which is current on a thread.

use super::super::abi::{Code, HandleKind, Opaque, Ordinal, handle};
use super::super::config::Config;
use super::super::state::{Device, Driver};
use super::{CURRENT, Out, current, exports};
use std::ffi::c_char;

exports! {
    fn cuInit(flags: u32) Nothing, |driver, _device| {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        driver.initialised = true;
        Ok(())
    }

    fn cuDriverGetVersion(version: Out<i32>) Nothing, |driver, _device| { version.put(driver.config.version) }

    fn cuGetErrorName(error: u32, text: Out<*const c_char>) Nothing, |_driver, _device| {
        match Code::text(error) {
            Some((name, _)) => text.put(name.as_ptr()),
            None => text.put(std::ptr::null()).and(Err(Code::INVALID_VALUE)),
        }
    }

    fn cuGetErrorString(error: u32, text: Out<*const c_char>) Nothing, |_driver, _device| {
        match Code::text(error) {
            Some((_, sentence)) => text.put(sentence.as_ptr()),
            None => text.put(std::ptr::null()).and(Err(Code::INVALID_VALUE)),
        }
    }

    fn cuDeviceGetCount(count: Out<i32>) Init, |driver, _device| { count.put(driver.devices.len() as i32) }

    fn cuDeviceGet(out: Out<Ordinal>, ordinal: i32) Init, |driver, _device| {
        driver.device(ordinal)?;
        out.put(ordinal)
    }

    fn cuDeviceGetName(out: Out<u8>, length: i32, device: Ordinal) Init, |driver, _device| {
        let device = driver.device(device)?;
        let name = format!("simulated device {device} (sm_{}, not a GPU)", driver.config.sm);
        out.put_text(&name, length)
    }

    fn cuDeviceGetUuid_v2(out: Out<[u8; 16]>, device: Ordinal) Init, |driver, _device| {
        let device = driver.device(device)?;
        let mut uuid = *b"simulated device";
        uuid[15] = device as u8;
        out.put(uuid)
    }

    fn cuDeviceGetAttribute(out: Out<i32>, attribute: u32, device: Ordinal) Init, |driver, _device| {
        driver.device(device)?;
        match value(&driver.config, attribute) {
            Some(value) => out.put(value),
            None => Err(super::not_simulated(driver, &format!("device attribute {attribute}"))),
        }
    }

    fn cuDeviceCanAccessPeer(out: Out<i32>, device: Ordinal, peer: Ordinal) Init, |driver, _device| {
        let (device, peer) = (driver.device(device)?, driver.device(peer)?);
        out.put(i32::from(device != peer))
    }

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

    fn cuCtxGetCurrent(out: Out<Opaque>) Init, |_driver, _device| {
        out.put(current().map_or(std::ptr::null_mut(), |device| handle(HandleKind::Primary, device)))
    }

    fn cuCtxSetCurrent(primary: Opaque) Init, |driver, _device| {
        CURRENT.set(if primary.is_null() { None } else { Some(driver.primary(primary)?) });
        Ok(())
    }

    fn cuCtxGetDevice(out: Out<Ordinal>) Init, |_driver, _device| {
        out.put(current().ok_or(Code::INVALID_CONTEXT)? as Ordinal)
    }

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
}

/// The attributes of a device, by the numbers of `CUdevice_attribute`.
fn value(config: &Config, attribute: u32) -> Option<i32> {
    let sm = config.sm as i32;
    Some(match attribute {
        16 => config.multiprocessors as i32,
        75 => sm / 10,
        76 => sm % 10,
        115 => 0,      // memory pools
        93 | 122 => 1, // 64-bit stream memory operations
        _ => return None,
    })
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
