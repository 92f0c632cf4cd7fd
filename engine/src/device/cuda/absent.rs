//! No CUDA driver, in a build without the feature `cuda`.

use super::CudaError;
use crate::device::driver::Driver;

pub(in crate::device) fn count() -> Result<usize, CudaError> {
    Err(CudaError::NotBuilt)
}

/// Why there is no device, in words for people.
pub fn absence() -> String {
    CudaError::NotBuilt.to_string()
}

/// The file that was loaded as the driver: none.
pub fn library() -> Option<String> {
    None
}

pub(in crate::device) fn open(_: usize) -> Result<Box<dyn Driver>, CudaError> {
    Err(CudaError::NotBuilt)
}
