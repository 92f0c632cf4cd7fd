//! The strategies that a kernel offers beside the entry `pointwise`, from its footprint alone: sizes and
//! strides come later, with the launch.

use super::streaming::StreamingPlan;
use super::transpose;
use super::vectors::Vectors;
use crate::verify::Verified;

/// What the text of a kernel offers beside the entry `pointwise`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct Schedule {
    pub vector: Option<Vectors>,
    /// Planes of a stencil one after the other.
    pub streaming: Option<StreamingPlan>,
    /// Transposed inputs may go through shared memory.
    pub transpose: bool,
}

impl Schedule {
    pub(in crate::ptx) fn of(kernel: &Verified) -> Schedule {
        let vector = Vectors::of(kernel);
        let streaming = vector.as_ref().and_then(|vector| StreamingPlan::of(kernel, vector));
        Schedule { vector, streaming, transpose: transpose::is_offered(kernel) }
    }
}
