//! [`Compute`]: fused kernels before they become steps.

use std::sync::Arc;

use partita_kernels::{DType, Verified};

use crate::array::lower::access::OperandAccess;
use crate::array::lower::body::{KernelArguments, Leaf};
use crate::array::lower::steps::list::{MemoryId, ResultMemory};
use crate::index::{Distribution, Region};

/// Kernels whose operands travel together, and the memory of what they compute.
pub(crate) struct Compute {
    pub results: Vec<ResultMemory>,
    pub kernels: Vec<ComputeKernel>,
}

/// A kernel over the packed coordinates of a distribution.
pub(crate) struct ComputeKernel {
    pub kernel: Verified,
    pub leaves: Vec<Leaf>,
    /// The access to each leaf by parts that compute what they own; `None` for lists and numbers.
    pub accesses: Vec<Option<OperandAccess>>,
    /// The dimensions along which the kernel needs coordinates.
    pub placed: Vec<bool>,
    pub arguments: KernelArguments,
    pub dist: Arc<Distribution>,
    pub stores: Vec<KernelStore>,
    /// Of a reduction, which may store values per point, too.
    pub folds: Option<Folds>,
}

/// The target of a kernel's store: a result, or a window of it.
pub(crate) struct KernelStore {
    pub result: usize,
    pub window: Option<Region>,
}

/// The folds of a kernel.
pub(crate) struct Folds {
    pub axes: Vec<usize>,
    /// The results of all parts together, for people.
    pub result: Arc<Distribution>,
    pub results: Vec<DType>,
    /// Per output and part the memory of what the part finds, with the folded dimensions at `0..1`; `None`
    /// for parts that fold nothing.
    pub memory: Vec<Vec<Option<MemoryId>>>,
}
