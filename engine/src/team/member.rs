//! One member of a team: a device of a rank, and its description for other ranks.

use crate::device::{Device, DeviceKind};

/// Where one member is.
#[derive(Clone)]
pub(super) struct Member {
    pub rank: usize,
    /// The device's number on its rank.
    pub number: u64,
    pub kind: DeviceKind,
    pub name: String,
    pub max_params: usize,
    pub has_i64: bool,
    /// Of this rank's members only.
    pub device: Option<Device>,
}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        (self.rank, self.number) == (other.rank, other.number)
    }
}

impl Member {
    pub fn here(rank: usize, device: &Device) -> Member {
        let (number, name) = (device.number(), device.name().to_owned());
        let (kind, max_params, has_i64) = (device.kind(), device.max_params(), device.has_i64());
        Member { rank, number, kind, name, max_params, has_i64, device: Some(device.clone()) }
    }

    /// Its description for other ranks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let kind = match self.kind {
            DeviceKind::Host => 0,
            DeviceKind::Cuda => 1,
            DeviceKind::Wgpu => 2,
        };
        let facts = [self.max_params as u64, u64::from(self.has_i64)];
        let numbers = [self.number, kind, facts[0], facts[1], self.name.len() as u64];
        let head = numbers.iter().flat_map(|number| number.to_le_bytes());
        head.chain(self.name.bytes()).collect()
    }

    /// The first member of another rank in its description.
    pub fn take_from(rank: usize, bytes: &mut &[u8]) -> Option<Member> {
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk::<8>()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*number))
        };
        let (number, kind, max_params, has_i64, length) =
            (number()?, number()?, number()? as usize, number()? != 0, number()? as usize);
        let kind = match kind {
            0 => DeviceKind::Host,
            1 => DeviceKind::Cuda,
            2 => DeviceKind::Wgpu,
            _ => return None,
        };
        let (name, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        let name = String::from_utf8_lossy(name).into_owned();
        Some(Member { rank, number, kind, name, max_params, has_i64, device: None })
    }
}

/// The devices of this rank among members, each once, in the order of their first member.
pub(super) fn distinct(members: &[Member]) -> Vec<Device> {
    let mut devices: Vec<Device> = Vec::new();
    for device in members.iter().filter_map(|member| member.device.as_ref()) {
        if !devices.contains(device) {
            devices.push(device.clone());
        }
    }
    devices
}
