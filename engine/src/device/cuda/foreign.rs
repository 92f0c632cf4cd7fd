//! What other libraries of the process must know to share a GPU: our stream for them, whose memory an address
//! is, and waiting for everybody's work.

use cudarc::driver::{result, sys};

use super::super::Stream;
use super::Gpu;
use super::error::{CudaError, During};

impl Gpu {
    /// The stream after which all work that has been queued is done, as the driver's handle: the stream
    /// `Compute`'s, because whoever uses the other joins it again.
    pub fn stream(&self) -> u64 {
        self.primary.stream(Stream::Compute) as u64
    }

    /// Whether an address is memory of this device.
    ///
    /// # Errors
    /// If the driver knows no such memory.
    pub fn holds(&self, address: u64) -> Result<bool, CudaError> {
        use sys::CUpointer_attribute_enum::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        let mut ordinal: i32 = -1;
        // SAFETY: the attribute is an int, and the pointer is to a local one.
        let mut ask = || unsafe {
            let out = std::ptr::from_mut(&mut ordinal).cast();
            sys::cuPointerGetAttribute(out, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
        };
        self.primary.with(|| ask().result().during("asking whose memory an address is"))?;
        Ok(ordinal == self.primary.device())
    }

    /// Waits until all work on the device is done, that of other libraries of this process included.
    ///
    /// # Errors
    /// If that work or the device failed.
    pub fn wait_for_all(&self) -> Result<(), CudaError> {
        self.primary.with(|| result::ctx::synchronize().during("waiting for all work on the device"))
    }
}
