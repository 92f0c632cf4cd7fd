//! The CUDA device: NVIDIA GPUs behind the engine's device verbs.
//!
//! The driver is loaded at run time. Each `CudaDevice` retains the device's *primary* context, so pointers
//! of other libraries in the process are valid here and ours there, and has two streams, one per
//! `Stream`, each in the order of the calls. Memory belongs to the stream `Compute`: the pool above hands
//! it on as soon as the host is done with it, which is right only while whatever used it before comes
//! first on that stream. So what uses memory on the other stream comes after a point of this one, and this
//! one after it, before the memory is let go: two waits per exchange, and none per allocation. Memory is
//! plain `cuMemAlloc`, because such memory may travel (peer copies, IPC, CUDA-aware MPI).
//!
//! Invariant: `driver/` is the only home of `cudarc::`. Without the feature `cuda`, `absent` stands in for
//! it: a device that no value exists of. Nothing here knows arrays, parts or pools, and nothing panics:
//! driver failures come back as [`CudaError`].

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
mod driver;
#[cfg(feature = "cuda")]
mod during;
mod error;
mod facts;
mod job;

#[cfg(not(feature = "cuda"))]
pub(crate) use absent::NoCuda as GraphRecording;
#[cfg(not(feature = "cuda"))]
pub(super) use absent::{
    NoCuda as CudaBuffer, NoCuda as CudaDevice, NoCuda as CudaProgram, NoCuda as PinnedDownload,
    NoCuda as TimedEvent, copy_between, count,
};
#[cfg(not(feature = "cuda"))]
pub use absent::{NoIpcEvent as IpcEvent, absence};
#[cfg(feature = "cuda")]
pub(crate) use driver::GraphRecording;
#[cfg(feature = "cuda")]
pub(super) use driver::{
    CudaBuffer, CudaDevice, CudaProgram, PinnedDownload, TimedEvent, copy_between, count,
};
#[cfg(feature = "cuda")]
pub use driver::{IpcEvent, absence};
pub use error::CudaError;
pub use facts::IpcHandle;
pub(super) use job::DriverJob;
