//! Results of driver calls as [`CudaError`], with the operation that they served.

use cudarc::driver::DriverError;

use crate::device::cuda::error::CudaError;

/// Names the operation a driver call served.
pub(super) trait During<T> {
    fn during(self, operation: &'static str) -> Result<T, CudaError>;
}

impl<T> During<T> for Result<T, DriverError> {
    fn during(self, operation: &'static str) -> Result<T, CudaError> {
        let text = |words: Result<&std::ffi::CStr, DriverError>| {
            words.map_or("unknown".to_owned(), |words| words.to_string_lossy().into_owned())
        };
        self.map_err(|error| CudaError::Driver {
            operation,
            code: text(error.error_name()),
            text: text(error.error_string()),
        })
    }
}
