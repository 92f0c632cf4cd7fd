//! Overlap of an exchange with computation: on devices with streams its commands go to
//! [`Stream::Exchange`], and the waits between streams are commands of their own.
//!
//! - *Fork*, first: the exchange comes after everything that was queued before it.
//! - Before copies between devices the receiver waits for the sender's packing. Once per pair of devices
//!   and before the first copy, so that the copies of all pairs run concurrently.
//! - *Join*, last: the computation comes after the exchange on every device, and after the copies that
//!   other devices make of its memory, because its next kernel may write there.
//!
//! No wait is per allocation. The memory of an exchange is leased before the fork and freed after the join,
//! and the pool orders memory by [`Stream::Compute`].

use super::exchange::Exchange;
use crate::device::{Device, Stream};
use crate::program::{Command, Op, Schedule};

impl Exchange {
    /// The same exchange on the exchange streams, if bytes can be in flight while devices compute: from
    /// device to device, or from rank to rank. An exchange within one device would only compete with its
    /// kernels.
    pub fn overlapped(self) -> Exchange {
        let Exchange { departure, dispatch, arrival, join, links, leases } = self;
        let all = || departure.iter().chain(&dispatch).chain(&arrival);
        let devices =
            distinct(all().flat_map(|command| command.op.devices()).filter(|device| device.has_streams()));
        if devices.is_empty() || !all().any(travels) {
            return Exchange { departure, dispatch, arrival, join, links, leases };
        }
        let forks = devices.iter().map(|device| wait((device, Stream::Compute), (device, Stream::Exchange)));
        let joins = devices.iter().map(|device| wait((device, Stream::Exchange), (device, Stream::Compute)));
        let pairs = distinct(all().filter_map(peers));
        let copied = pairs.iter().map(|(from, to)| wait((to, Stream::Exchange), (from, Stream::Compute)));
        let join = join.into_iter().chain(joins).chain(copied).collect();
        let departure = forks.chain(on_exchange_stream(&departure)).collect();
        let (dispatch, arrival) = (on_exchange_stream(&dispatch), on_exchange_stream(&arrival));
        Exchange { departure, dispatch, arrival, join, links, leases }
    }

    /// The devices that can compute between departure and arrival.
    pub fn overlap_capability(&self) -> OverlapCapability {
        let receives = |command: &Command| matches!(command.op, Op::Receive(_));
        match (self.commands().any(receives), self.commands().any(travels)) {
            (true, _) => OverlapCapability::All,
            (false, true) => OverlapCapability::StreamsOnly,
            (false, false) => OverlapCapability::None,
        }
    }
}

/// The devices that can compute while an exchange is in flight.
///
/// Messages between ranks overlap with computation on every device: their downloads start before other work
/// is queued there ([`Op::StartDownload`]). Copies within a process overlap on devices with streams only.
/// The host itself makes the copies. A wgpu device has one queue: its downloads are waited for before more
/// is queued, and its uploads are done as soon as the other device has packed. So a host or wgpu device
/// gains nothing from computing its core separately.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverlapCapability {
    /// No device.
    None,
    /// Devices with streams.
    StreamsOnly,
    /// All devices.
    All,
}

impl OverlapCapability {
    /// Whether a device can compute while the exchange is in flight.
    pub fn covers(self, device: &Device) -> bool {
        match self {
            OverlapCapability::None => false,
            OverlapCapability::StreamsOnly => device.has_streams(),
            OverlapCapability::All => true,
        }
    }
}

/// Whether bytes are in flight while some device computes.
fn travels(command: &Command) -> bool {
    match &command.op {
        Op::Receive(_) => true,
        Op::Transfer { from_device, to_device, .. } => from_device.has_streams() || to_device.has_streams(),
        _ => false,
    }
}

/// Sender and receiver of a copy that the driver makes from device to device.
fn peers(command: &Command) -> Option<(&Device, &Device)> {
    match &command.op {
        Op::Transfer { from_device, to_device, .. } => {
            (from_device.has_streams() && to_device.has_streams()).then_some((from_device, to_device))
        }
        _ => None,
    }
}

/// Commands on the exchange stream, each run of copies between devices behind its waits.
fn on_exchange_stream(commands: &[Command]) -> Schedule {
    let mut schedule = Schedule::new();
    for run in commands.chunk_by(|a, b| peers(a).is_some() == peers(b).is_some()) {
        let pairs = distinct(run.iter().filter_map(peers));
        let waits = pairs.into_iter();
        schedule.extend(waits.map(|(from, to)| wait((from, Stream::Exchange), (to, Stream::Exchange))));
        schedule.extend(run.iter().cloned().map(|command| {
            let has_streams = command.op.devices().iter().any(|device| device.has_streams());
            command.on(if has_streams { Stream::Exchange } else { Stream::Compute })
        }));
    }
    schedule
}

fn wait(first: (&Device, Stream), then: (&Device, Stream)) -> Command {
    Op::StreamWait { first: (first.0.clone(), first.1), then: (then.0.clone(), then.1) }.into()
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut found, one| {
        if !found.contains(&one) {
            found.push(one);
        }
        found
    })
}
