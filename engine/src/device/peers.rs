//! [`DevicePeers`]: the devices of other ranks with which one device exchanges memory by a library of its
//! vendor, in the order of a stream. No call waits for another rank.

use std::sync::Arc;

use super::driver::{GroupedSpan, PeerGroup, Stream};
use super::handle::Device;
use crate::error::Result;

/// The devices of some ranks, each with one, as one of them has them.
#[derive(Clone)]
pub(crate) struct DevicePeers {
    device: Device,
    group: Arc<dyn PeerGroup>,
}

impl DevicePeers {
    /// Begins to connect. All ranks do, with the name that one of them has made.
    pub fn begin(device: &Device, id: &[u8; 128], rank: usize, count: usize) -> Result<DevicePeers> {
        let group = device.ipc(|gpu| gpu.peers(id, rank, count))?;
        Ok(DevicePeers { device: device.clone(), group: Arc::from(group) })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Queues sends and receives as one operation of a stream.
    pub fn exchange(&self, stream: Stream, spans: &[GroupedSpan]) -> Result<()> {
        self.device.usable()?;
        for span in spans {
            self.device.check_memory("a message between ranks", &span.allocation)?;
            span.allocation.check_range("a message between ranks", span.offset, span.bytes)?;
        }
        self.call(self.group.exchange(stream, spans))
    }

    /// Whether it is connected, and nothing remains to be queued; nothing else may be meanwhile.
    pub fn is_ready(&self) -> Result<bool> {
        self.call(self.group.is_ready())
    }

    /// Marks the end of what is queued on a stream, for [`DevicePeers::is_done`].
    pub fn mark(&self, stream: Stream) -> Result<()> {
        self.call(self.group.mark(stream))
    }

    /// Whether the device has come to the latest exchange.
    pub fn has_begun(&self) -> Result<bool> {
        self.call(self.group.has_begun())
    }

    /// Whether the device has come to the latest mark.
    pub fn is_done(&self) -> Result<bool> {
        self.call(self.group.is_done())
    }

    /// Whether graphs may have such messages in them.
    pub fn is_captured(&self) -> bool {
        self.group.is_captured()
    }

    /// Lets everything go on that waits on the device for other ranks; nothing is exchanged any more.
    pub fn abort(&self) {
        self.group.abort();
    }

    pub(super) fn group(&self) -> &Arc<dyn PeerGroup> {
        &self.group
    }

    fn call<T>(&self, outcome: super::driver::DriverResult<T>) -> Result<T> {
        outcome.map_err(|error| self.device.failed(error))
    }
}
