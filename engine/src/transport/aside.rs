//! An exchange beside the computation: on devices with lanes its commands go to [`Stream::Exchange`], and the
//! waits that this needs are commands of their own. Knows lanes; knows no cells and no plans.
//!
//! - *Fork*, first of all: the exchange comes after everything that was queued before it.
//! - Before copies between devices: who receives waits for who packs. Once per pair and not per copy, and
//!   before the first copy, so that those of all pairs run side by side.
//! - *Join*, last: the computation comes after the exchange, on every device; and after the copies that
//!   others make of its memory, because its next kernel may write there.
//!
//! No wait is per allocation. What the exchange uses is leased before the fork and let go after the join, and
//! the pool hands memory on in the order of [`Stream::Compute`].

use super::Exchange;
use crate::device::{Device, Stream};
use crate::program::{Command, Schedule};

impl Exchange {
    /// The same beside the computation, if bytes travel while devices compute: from device to device, or from
    /// rank to rank. An exchange within one device only competes with the kernels there, and stays as it is.
    pub fn aside(self) -> Exchange {
        let Exchange { departure, dispatch, arrival, join, links, leases } = self;
        let all = || departure.iter().chain(&dispatch).chain(&arrival);
        let devices = distinct(all().flat_map(Command::devices).filter(|device| device.has_streams()));
        if devices.is_empty() || !all().any(travels) {
            return Exchange { departure, dispatch, arrival, join, links, leases };
        }
        let after = |first: (&Device, Stream), then: (&Device, Stream)| Command::After {
            first: (first.0.clone(), first.1),
            then: (then.0.clone(), then.1),
        };
        let forks = devices.iter().map(|device| after((device, Stream::Compute), (device, Stream::Exchange)));
        let joins = devices.iter().map(|device| after((device, Stream::Exchange), (device, Stream::Compute)));
        let pairs = distinct(all().filter_map(peers));
        let given = pairs.iter().map(|(from, to)| after((to, Stream::Exchange), (from, Stream::Compute)));
        let join = join.into_iter().chain(joins).chain(given).collect();
        let departure = forks.chain(on_lane(&departure)).collect();
        let (dispatch, arrival) = (on_lane(&dispatch), on_lane(&arrival));
        Exchange { departure, dispatch, arrival, join, links, leases }
    }

    /// Who can compute something else between departure and arrival.
    pub fn leisure(&self) -> Leisure {
        let receives = |command: &Command| matches!(command.lane().1, Command::Receive { .. });
        match (self.commands().any(receives), self.commands().any(travels)) {
            (true, _) => Leisure::Everybody,
            (false, true) => Leisure::Lanes,
            (false, false) => Leisure::Nobody,
        }
    }
}

/// Who has nothing to wait for while bytes travel.
///
/// Messages of other ranks fly while anybody computes: they are on their way out of a device before it is
/// given anything else to do ([`Command::Fetch`]). What is copied within a process leaves time to devices
/// with lanes alone. The host copies it, or computes. A wgpu device works in one order: what leaves it is
/// waited for before more is queued there, and what it gets is there as soon as the other device has packed.
/// So with a host or a wgpu device on one end, that end has nothing to gain from computing its core apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leisure {
    /// Nobody.
    Nobody,
    /// Devices with lanes.
    Lanes,
    /// All devices.
    Everybody,
}

impl Leisure {
    /// Whether a device computes while bytes travel.
    pub fn is_of(self, device: &Device) -> bool {
        match self {
            Leisure::Nobody => false,
            Leisure::Lanes => device.has_streams(),
            Leisure::Everybody => true,
        }
    }
}

/// Whether bytes travel while some device does something else.
fn travels(command: &Command) -> bool {
    match command.lane().1 {
        Command::Receive { .. } => true,
        Command::Transfer { from_device, to_device, .. } => {
            from_device.has_streams() || to_device.has_streams()
        }
        _ => false,
    }
}

/// Giver and taker of a copy that the driver makes from device to device.
fn peers(command: &Command) -> Option<(&Device, &Device)> {
    match command.lane().1 {
        Command::Transfer { from_device, to_device, .. } => {
            (from_device.has_streams() && to_device.has_streams()).then_some((from_device, to_device))
        }
        _ => None,
    }
}

/// Commands on the lane of exchanges, each run of copies between devices behind the waits that it needs.
fn on_lane(commands: &[Command]) -> Schedule {
    let mut schedule = Schedule::new();
    for run in commands.chunk_by(|a, b| peers(a).is_some() == peers(b).is_some()) {
        let pairs = distinct(run.iter().filter_map(peers));
        schedule.extend(pairs.into_iter().map(|(from, to)| Command::After {
            first: (from.clone(), Stream::Exchange),
            then: (to.clone(), Stream::Exchange),
        }));
        schedule.extend(run.iter().cloned().map(|command| {
            let laned = command.devices().iter().any(|device| device.has_streams());
            command.on(if laned { Stream::Exchange } else { Stream::Compute })
        }));
    }
    schedule
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut found, one| {
        if !found.contains(&one) {
            found.push(one);
        }
        found
    })
}
