//! The DLPack location of devices and parts.

use partita::array;
use partita::device::DeviceKind;

use crate::dlpack::Location;

/// Where a device's memory is, in DLPack's terms.
pub fn location(of: &partita::Device) -> Location {
    let kind = match of.kind() {
        DeviceKind::Host => return Location::HOST,
        DeviceKind::Cuda => Location::CUDA,
        DeviceKind::Wgpu => Location::WEBGPU,
    };
    let alike = partita::Device::all().iter().filter(|device| device.kind() == of.kind());
    let number = alike.take_while(|device| *device != of).count();
    Location { kind, number: number as i32 }
}

/// Where a part's memory is: the host's, too, if it is a device's whose memory this process addresses.
pub fn place(part: &array::Part) -> Location {
    if part.device().is_addressable() { Location::HOST } else { location(part.device()) }
}
