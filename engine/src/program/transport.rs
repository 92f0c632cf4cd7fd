//! How bytes get from one memory to another.

use std::fmt;

/// The transport of the moves between two parts. It is chosen from the kinds of the devices and the links
/// between the ranks, so both ends choose the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Transport {
    /// A copy kernel between two memories of one device.
    SameDevice,
    /// Through packed memory on one device, because source and destination are one memory.
    SameMemory,
    /// Packed, copied by the driver from GPU to GPU, unpacked.
    Peer,
    /// Packed, copied through host memory (between ranks in chunks), unpacked.
    Staged,
    /// Between ranks of one machine: the receiver maps the sender's packed memory (CUDA IPC) and copies from
    /// device to device.
    Ipc,
    /// Between ranks: host memory that the wire reads and writes in place.
    ZeroCopy,
    /// Between ranks: device memory that the wire reads and writes in place.
    DevicePointers,
}

impl Transport {
    /// Whether the wire reads and writes the memory in place.
    pub fn is_in_place(self) -> bool {
        matches!(self, Transport::ZeroCopy | Transport::DevicePointers)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Transport::SameDevice => "kernel",
            Transport::SameMemory => "packed",
            Transport::Peer => "peer",
            Transport::Staged => "staged",
            Transport::Ipc => "CUDA IPC",
            Transport::ZeroCopy => "in place",
            Transport::DevicePointers => "device pointers",
        })
    }
}
