//! What a program asks of devices: how many, which, and what they can.

use super::super::abi::{Code, Ordinal};
use super::super::config::Config;
use super::{Out, exports};

/// `CUuuid`.
type Uuid = [u8; 16];

exports! {
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

    fn cuDeviceGetUuid(out: Out<Uuid>, device: Ordinal) Init, |driver, _device| {
        out.put(uuid(driver.device(device)?))
    }

    fn cuDeviceGetUuid_v2(out: Out<Uuid>, device: Ordinal) Init, |driver, _device| {
        out.put(uuid(driver.device(device)?))
    }

    fn cuDeviceGetPCIBusId(out: Out<u8>, length: i32, device: Ordinal) Init, |driver, _device| {
        let device = driver.device(device)?;
        out.put_text(&format!("0000:{:02X}:00.0", device + 1), length)
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: Ordinal) Init, |driver, _device| {
        driver.device(device)?;
        bytes.put(driver.config.memory_bytes as usize)
    }

    fn cuDeviceGetAttribute(out: Out<i32>, attribute: u32, device: Ordinal) Init, |driver, _device| {
        let device = driver.device(device)?;
        match value(&driver.config, device, attribute) {
            Some(value) => out.put(value),
            None => Err(super::not_simulated(driver, &format!("device attribute {attribute}"))),
        }
    }

    fn cuDeviceCanAccessPeer(out: Out<i32>, device: Ordinal, peer: Ordinal) Init, |driver, _device| {
        let (device, peer) = (driver.device(device)?, driver.device(peer)?);
        out.put(i32::from(device != peer))
    }

    fn cuDeviceGetP2PAttribute(out: Out<i32>, attribute: u32, from: Ordinal, to: Ordinal) Init,
    |driver, _device| {
        let (from, to) = (driver.device(from)?, driver.device(to)?);
        match attribute {
            // Performance rank; access; native atomics; array access.
            1 => out.put(0),
            2..=4 => out.put(i32::from(from != to)),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}

/// Tells the devices apart, and from any GPU.
fn uuid(device: usize) -> Uuid {
    let mut uuid = *b"simulated GPU  0";
    uuid[15] = b'0' + device as u8;
    uuid
}

/// What a device says of itself, by the numbers of `CUdevice_attribute`; an H100-like device with few
/// processors.
fn value(config: &Config, device: usize, attribute: u32) -> Option<i32> {
    let sm = config.sm as i32;
    let shared_optin = match sm {
        75 => 64 << 10,
        80 => 163 << 10,
        86 | 89 => 99 << 10,
        _ => 227 << 10,
    };
    let threads = match sm {
        75 => 1024,
        86 | 89 => 1536,
        _ => 2048,
    };
    Some(match attribute {
        1..=3 => 1024,           // threads of a block; its first two extents
        4 => 64,                 // its third
        5 => i32::MAX,           // blocks of a grid
        6 | 7 => 65_535,         // blocks in y and z
        8 => 48 << 10,           // shared memory of a block
        9 => 64 << 10,           // constant memory
        10 => 32,                // threads of a warp
        11 => i32::MAX,          // pitch
        12 | 82 => 65_536,       // registers of a block, of a multiprocessor
        13 => 1_000_000,         // clock in kHz
        14 | 23 => 512,          // alignment of textures
        15 => 1,                 // copies overlap kernels
        16 => 4,                 // multiprocessors
        17 | 18 => 0,            // time limit; integrated
        19 => 0,                 // mapped host memory: not simulated
        20 => 0,                 // compute mode: default
        31 => 1,                 // concurrent kernels
        32 => 1,                 // error correction
        33 => device as i32 + 1, // PCI bus
        34 | 35 | 50 => 0,       // PCI device, TCC, PCI domain
        36 => 1_000_000,         // memory clock in kHz
        37 => 1024,              // memory bus width
        38 => 4 << 20,           // L2
        39 => threads,           // threads of a multiprocessor
        40 => 2,                 // copy engines
        41 => 1,                 // unified addressing
        75 => sm / 10,           // compute capability
        76 => sm % 10,
        78..=80 => 1,              // stream priorities, L1 for global and local memory
        81 => shared_optin + 1024, // shared memory of a multiprocessor
        83..=86 => 0,              // managed memory; board with several devices; atomics over the host link
        87 => 2,                   // single to double precision
        88..=96 => 0,              // pageable memory, stream memory operations, cooperative launches
        97 => shared_optin,        // shared memory of a block on request
        98 => 0,                   // flushes of remote writes
        99 => 1,                   // host memory can be registered
        100..=105 => 0,            // host page tables, virtual memory management
        106 => 32,                 // blocks of a multiprocessor
        107..=110 => 0,            // compression, persisting L2, windows, RDMA
        111 => {
            if sm < 80 {
                0
            } else {
                1024
            }
        } // shared memory the driver keeps
        112..=114 => 0,            // sparse arrays, read-only registration, timeline semaphores
        115 => 1,                  // memory pools
        116..=124 => 0,            // RDMA, pool handles, clusters, stream memory operations, dma_buf
        125 => 1,                  // events between processes
        126 => 1,                  // memory synchronisation domains
        127..=144 => 0,            // tensor maps and newer
        _ => return None,
    })
}
