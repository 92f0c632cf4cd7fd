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
//! Invariant: `driver/` and `vendor/` are the only homes of `cudarc::`. Nothing here knows arrays, parts or
//! pools, and nothing panics: driver failures come back as `CudaError`.

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
mod driver;
mod error;
#[cfg(feature = "cuda")]
mod vendor;

#[cfg(not(feature = "cuda"))]
use absent as driver;
#[cfg(not(feature = "cuda"))]
use absent as vendor;

pub use super::driver::IpcHandle;
pub use super::memory::IpcEvent;
pub use driver::{absence, library};
pub(super) use driver::{count, open};
pub(super) use error::CudaError;
pub(crate) use vendor::nccl_id;
pub use vendor::{nccl_version, search_packages_in};
