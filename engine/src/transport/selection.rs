//! Selection of the transport of each move, and of how many copies share a launch: functions of devices,
//! memories and links alone.

use crate::device::{Device, DeviceKind};
use crate::program::{Place, Transport};

/// The transport between two places of one rank.
pub fn select_within_rank(from: &Place, to: &Place) -> Transport {
    if from.device == to.device {
        return if from.allocation.id == to.allocation.id {
            Transport::SameMemory
        } else {
            Transport::SameDevice
        };
    }
    match (from.device.kind(), to.device.kind()) {
        (DeviceKind::Cuda, DeviceKind::Cuda) => Transport::Peer,
        _ => Transport::Staged,
    }
}

/// The link between two ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankLink {
    /// Whether the wire reads and writes host memory in place.
    pub host: bool,
    /// Whether it takes device pointers.
    pub device_pointers: bool,
    /// Whether the receiver maps the sender's CUDA memory.
    pub ipc: bool,
}

/// The transport between devices of two ranks; both ranks select the same.
pub fn select_between_ranks(from: DeviceKind, to: DeviceKind, link: RankLink) -> Transport {
    match (from, to) {
        (DeviceKind::Host, DeviceKind::Host) if link.host => Transport::ZeroCopy,
        (DeviceKind::Cuda, DeviceKind::Cuda) if link.ipc => Transport::Ipc,
        (DeviceKind::Cuda, DeviceKind::Cuda) if link.device_pointers => Transport::DevicePointers,
        (DeviceKind::Host | DeviceKind::Cuda | DeviceKind::Wgpu, _) => Transport::Staged,
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
/// microseconds each. On the host, halos of 16 parts of 16 x 16 cells took 0.31 microseconds per face
/// rather than 0.64, and a large launch uses non-temporal stores: slabs to pencils, 8192 x 8192 f32 in 4
/// parts, went from half the speed of a copy to all of it (on two busy cores; see `exchange_speed`).
///
/// Two cells of one memory are not written by two parameters where nothing promises that this works: WebGPU
/// refuses it, and the host requires memories that do not overlap.
///
/// On CUDA copies of any shapes share a launch, up to a size where copying takes longer than launching
/// does; in a launch of their own, larger ones move 16 bytes per instruction. That size is an estimate, not
/// a measurement.
pub fn batching(device: &Device) -> Batching {
    let most = device.max_params() / 2;
    match device.kind() {
        DeviceKind::Host | DeviceKind::Wgpu => {
            Batching { copies: most.max(1), shared_memory: false, small_bytes: 0 }
        }
        DeviceKind::Cuda => Batching { copies: most, shared_memory: true, small_bytes: 4 << 20 },
    }
}
