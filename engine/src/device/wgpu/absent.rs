//! No adapters, in a build without the feature `wgpu`.

use super::Shrink;
use super::error::WgpuError;
use crate::device::driver::Driver;

pub(in crate::device) fn count() -> usize {
    0
}

pub(in crate::device) fn open(_: usize, _: Shrink) -> Result<Box<dyn Driver>, WgpuError> {
    Err(WgpuError::NotBuilt)
}
