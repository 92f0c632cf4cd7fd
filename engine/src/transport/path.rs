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
    /// Between ranks of one machine: packed, opened by the receiver and copied by the driver (CUDA IPC),
    /// unpacked.
    Shared,
    /// Between ranks: host memory that the wire reads and writes where it lies.
    InPlace,
    /// Between ranks: device memory that the wire reads and writes where it lies.
    Pointers,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Path::Kernel => "kernel",
            Path::Packed => "packed",
            Path::Peer => "peer",
            Path::Staged => "staged",
            Path::Shared => "CUDA IPC",
            Path::InPlace => "in place",
            Path::Pointers => "device pointers",
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

/// What two ranks know of each other and of their wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Across {
    /// Whether the wire uses host memory where it lies.
    pub host: bool,
    /// Whether it takes device pointers.
    pub pointers: bool,
    /// Whether the receiver opens the sender's CUDA memory.
    pub near: bool,
}

/// The path between devices of two ranks, which both ranks find alike.
pub fn path_across(from: DeviceKind, to: DeviceKind, link: Across) -> Path {
    match (from, to) {
        (DeviceKind::Host, DeviceKind::Host) if link.host => Path::InPlace,
        (DeviceKind::Cuda, DeviceKind::Cuda) if link.near => Path::Shared,
        (DeviceKind::Cuda, DeviceKind::Cuda) if link.pointers => Path::Pointers,
        (DeviceKind::Host | DeviceKind::Cuda | DeviceKind::Wgpu, _) => Path::Staged,
    }
}

/// How copies of boxes are put into launches on one device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batching {
    /// At most so many copies per launch.
    pub copies: usize,
    /// Whether two copies of a launch may touch different cells of one memory, if one of them writes.
    pub shared_memory: bool,
    /// Copies of at most so many bytes share a launch whatever their extents, and types of 4 and of 8 bytes
    /// among each other; 0 if there is no such launch.
    pub small_bytes: i64,
}

/// The choice for a device: as many as a kernel can have arrays. On a GPU that saves launches of a few
/// microseconds each. On the host, halos of 16 parts of 16 x 16 cells took 0.31 microseconds per face rather
/// than 0.64, and a large launch knows that it should write past the caches: slabs to pencils, 8192 x 8192
/// f32 in 4 parts, went from half the speed of a copy to all of it (on two busy cores; see `exchange_speed`).
///
/// Two cells of one memory are not written by two parameters where nothing promises that this works: WebGPU
/// refuses it, and the host's interpreter asks for memories that are apart.
///
/// On CUDA copies of any shapes share a launch, up to a size where copying takes longer than launching does;
/// in a launch of their own, larger ones move 16 bytes per instruction. That size is reckoned, not measured.
pub fn batching(device: &Device) -> Batching {
    let most = device.max_params() / 2;
    match device.kind() {
        DeviceKind::Host | DeviceKind::Wgpu => {
            Batching { copies: most.max(1), shared_memory: false, small_bytes: 0 }
        }
        DeviceKind::Cuda => Batching { copies: most, shared_memory: true, small_bytes: 4 << 20 },
    }
}
