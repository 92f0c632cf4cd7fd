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

/// The version and the file of NCCL: there is none.
///
/// # Errors
/// Always.
pub fn nccl_version() -> Result<(String, String), String> {
    Err(absence())
}

pub(crate) fn nccl_id() -> Result<[u8; 128], String> {
    Err(absence())
}

/// As with CUDA: nothing is looked for.
pub fn search_packages_in(_: Vec<std::path::PathBuf>) {}

pub(in crate::device) fn open(_: usize) -> Result<Box<dyn Driver>, CudaError> {
    Err(CudaError::NotBuilt)
}
