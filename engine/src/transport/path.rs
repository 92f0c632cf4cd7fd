//! Which way bytes travel, and how many faces one launch packs: functions of devices and memories alone, so
//! that they can be asked for and are never assumed.

use std::fmt;

use crate::device::{Device, DeviceKind};
use crate::program::Place;

/// How one move travels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Path {
    /// One copy kernel on one device.
    Kernel,
    /// Through packed memory on the same device, because source and destination are one memory.
    Packed,
    /// Packed, copied by the driver from GPU to GPU, unpacked.
    Peer,
    /// Packed, through host memory, unpacked.
    Staged,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Path::Kernel => "kernel",
            Path::Packed => "packed",
            Path::Peer => "peer",
            Path::Staged => "staged",
        })
    }
}

/// The path between two places.
pub fn path(from: &Place, to: &Place) -> Path {
    if from.device == to.device {
        return if from.allocation.id == to.allocation.id { Path::Packed } else { Path::Kernel };
    }
    match (from.device.kind(), to.device.kind()) {
        (DeviceKind::Cuda, DeviceKind::Cuda) => Path::Peer,
        _ => Path::Staged,
    }
}

/// How copies of boxes are put into launches on one device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batching {
    /// At most so many copies per launch.
    pub copies: usize,
    /// Whether two copies of a launch may touch different cells of one memory, if one of them writes.
    pub shared_memory: bool,
}

/// The choice for a device. A launch costs a few microseconds on a GPU and almost nothing on the host, where
/// copies of one box each take the fastest loop there is, and a kernel of several is interpreted. WebGPU
/// refuses a buffer that is bound twice to a dispatch that writes it.
pub fn batching(device: &Device) -> Batching {
    let most = device.max_params() / 2;
    match device.kind() {
        DeviceKind::Host => Batching { copies: 1, shared_memory: false },
        DeviceKind::Cuda => Batching { copies: most, shared_memory: true },
        DeviceKind::Wgpu => Batching { copies: most.max(1), shared_memory: false },
    }
}
