//! Words of device memory through which the streams of several processes wait for each other, by stream
//! memory operations: the stream waits, no kernel spins and no host.
//!
//! Order, by the driver's documentation (group `CUDA_MEMOP`, `CUstreamWriteValue_flags`,
//! `CUstreamWaitValue_flags`): without `CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER` a write comes behind a fence
//! of the system's scope for all that its stream wrote before, so whoever sees the word sees the message.
//! `CU_STREAM_WAIT_VALUE_FLUSH` is for writes of third parties, such as network cards, which reach the device
//! in another order; writes of a GPU do not need it.

use cudarc::driver::{result, sys};

use super::gpu::CudaDevice;
use super::primary::{During, OwnStream};
use crate::device::Stream;
use crate::device::cuda::error::CudaError;

/// Addresses of words, and whether they are given; otherwise they are waited for and taken.
pub(super) type WordBatch = Vec<(u64, bool)>;

/// A stream takes fewer operations at once than this.
const MOST: usize = 256;

/// Greater than any value that a stream waits for.
const RELEASED: u64 = 1 << 62;

/// The driver's calls that nothing but words needs, and that the thread must not miss which watches them.
const CALLS: [&str; 3] = ["cuStreamBatchMemOp_v2", "cuThreadExchangeStreamCaptureMode", "cuStreamQuery"];

/// The first of them that the driver lacks.
pub(super) fn missing_call() -> Option<&'static str> {
    // SAFETY: the driver is loaded; the symbols are looked up, not called.
    let is_missing =
        |name: &&str| unsafe { sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err();
    CALLS.into_iter().find(is_missing)
}

/// Queues operations on words in order; the context is current.
pub(super) fn queue_words(stream: sys::CUstream, ops: &[(u64, bool)]) -> Result<(), CudaError> {
    let one = |&(address, gives): &(u64, bool)| match gives {
        true => vec![write(address, 1)],
        false => vec![wait(address), write(address, 0)],
    };
    queue_batch(stream, &mut ops.iter().flat_map(one).collect::<Vec<_>>())
}

fn queue_batch(stream: sys::CUstream, all: &mut [sys::CUstreamBatchMemOpParams]) -> Result<(), CudaError> {
    all.chunks_mut(MOST - 1).try_for_each(|some| {
        // SAFETY: the parameters are as many as stated; the words lie inside live buffers.
        unsafe { sys::cuStreamBatchMemOp_v2(stream, some.len() as u32, some.as_mut_ptr(), 0) }
            .result()
            .during("waiting for another process's device")
    })
}

fn wait(address: u64) -> sys::CUstreamBatchMemOpParams {
    let operation = sys::CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_64;
    let mut params = sys::CUstreamBatchMemOpParams { pad: [0; 6] };
    params.waitValue = sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st {
        operation,
        address,
        __bindgen_anon_1: sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st__bindgen_ty_1 {
            value64: 1,
        },
        flags: sys::CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_GEQ as u32,
        alias: 0,
    };
    params
}

fn write(address: u64, value: u64) -> sys::CUstreamBatchMemOpParams {
    let operation = sys::CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_64;
    let mut params = sys::CUstreamBatchMemOpParams { pad: [0; 6] };
    params.writeValue = sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st {
        operation,
        address,
        __bindgen_anon_1:
            sys::CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st__bindgen_ty_1 {
                value64: value,
            },
        flags: sys::CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_DEFAULT as u32,
        alias: 0,
    };
    params
}

/// Calls that would break captures of other threads in the strictest mode, as those of other libraries may
/// be, although they have nothing to do with them (`cuThreadExchangeStreamCaptureMode`).
fn relaxed<T>(calls: impl FnOnce() -> Result<T, CudaError>) -> Result<T, CudaError> {
    let mut mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the pointer is to a local, which then has the mode before.
    let mut exchange = || unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) }.result();
    exchange().during("asking beside captures")?;
    let outcome = calls();
    exchange().during("asking beside captures")?;
    outcome
}

impl CudaDevice {
    /// The stream for [`CudaDevice::released`]: made while the device waits for nothing.
    pub(super) fn release_stream(&self) -> Result<sys::CUstream, CudaError> {
        if let Some(stream) = self.release_stream.get() {
            return Ok(stream.raw);
        }
        let stream = OwnStream::new(&self.primary)?;
        Ok(self.release_stream.get_or_init(|| stream).raw)
    }

    /// Lets waits for these words pass, once: whoever waited sets its word back.
    pub(super) fn released(&self, words: &[u64]) -> Result<(), CudaError> {
        let stream = self.release_stream()?;
        let mut all: Vec<_> = words.iter().map(|&address| write(address, RELEASED)).collect();
        self.primary.with(|| relaxed(|| queue_batch(stream, &mut all)))
    }

    /// Reads words that streams may be waiting for.
    pub(super) fn peeked(&self, words: u64, out: &mut [u8]) -> Result<(), CudaError> {
        let stream = self.release_stream()?;
        let read = || {
            // SAFETY: the words lie inside a live buffer; the stream's work is done before `out` goes.
            unsafe {
                let read = result::memcpy_dtoh_async(out, words, stream);
                read.and_then(|()| result::stream::synchronize(stream))
            }
            .during("reading words")
        };
        self.primary.with(|| relaxed(read))
    }

    /// Whether the work of the stream `Compute` is done.
    pub(super) fn has_computed(&self) -> Result<bool, CudaError> {
        let stream = self.primary.stream(Stream::Compute);
        // SAFETY: the stream lives as long as `primary`.
        match self.primary.with(|| relaxed(|| Ok(unsafe { sys::cuStreamQuery(stream) })))? {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => code.result().during("asking for the device's work").map(|()| true),
        }
    }
}
