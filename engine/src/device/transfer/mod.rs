//! Bytes to, from and between devices.

mod copy;
mod download;

pub(crate) use copy::CopyRegion;
pub use download::Download;
