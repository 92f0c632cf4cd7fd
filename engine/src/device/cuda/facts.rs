//! Plain data of the CUDA device, for which no driver is needed.

/// Names memory or an event to another process of this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpcHandle(pub [u8; 64]);
