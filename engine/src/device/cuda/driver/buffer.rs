//! Memory of a GPU: ours, shared by another process, or borrowed from another library.

use std::any::Any;
use std::sync::Arc;

use cudarc::driver::{result, sys};

use super::primary::Primary;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;

/// Memory of one device. Freed, closed or let go when dropped.
pub(in crate::device) struct CudaBuffer {
    pub(super) primary: Arc<Primary>,
    address: u64,
    bytes: u64,
    origin: CudaOrigin,
}

/// Where memory comes from decides how it is given back.
pub(super) enum CudaOrigin {
    /// `cuMemAlloc`.
    Allocated,
    /// `cuIpcOpenMemHandle`.
    Opened,
    /// Another owner's, kept alive by the value.
    Borrowed { _owner: Box<dyn Any + Send + Sync> },
}

impl CudaBuffer {
    pub(super) fn new(primary: &Arc<Primary>, address: u64, bytes: u64, origin: CudaOrigin) -> CudaBuffer {
        CudaBuffer { primary: Arc::clone(primary), address, bytes, origin }
    }

    /// The device pointer.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The device pointer of memory that may travel: of a plain allocation of ours.
    pub fn plain_address(&self) -> Option<u64> {
        match self.origin {
            CudaOrigin::Allocated => Some(self.address),
            CudaOrigin::Opened | CudaOrigin::Borrowed { .. } => None,
        }
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn within(&self, offset: u64, len: u64) -> Result<u64, CudaError> {
        match offset.checked_add(len) {
            Some(stop) if stop <= self.bytes => Ok(self.address + offset),
            _ => Err(CudaError::OutOfRange { offset, stop: offset.saturating_add(len), len: self.bytes }),
        }
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        let (address, primary) = (self.address, &self.primary);
        // After a failure that loses the device its memory is gone with it; there is nothing to report.
        let _ = match &self.origin {
            CudaOrigin::Allocated => primary.with(|| {
                // SAFETY: allocated in `alloc`, freed once; the driver waits for work that uses it.
                unsafe { result::free_sync(address) }.during("freeing memory")
            }),
            CudaOrigin::Opened => primary.with(|| {
                // SAFETY: opened in `import_memory`, closed once.
                unsafe { sys::cuIpcCloseMemHandle(address) }.result().during("closing shared memory")
            }),
            CudaOrigin::Borrowed { .. } => Ok(()),
        };
    }
}
