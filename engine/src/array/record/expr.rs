//! The operations that nodes record, without their operands.

use std::sync::Arc;

use partita_kernels::{BinaryOp, CompareOp, DType, FoldOp, Math1, Math2, Scalar, UnaryOp};

/// An operation on one element of each operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pointwise {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Select,
    Cast,
    Bitcast,
    Math1(Math1),
    Math2(Math2),
}

/// What a reduction computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reduction {
    Fold(FoldOp),
    Arg { largest: bool },
}

/// Elements by their number in C order.
#[derive(Clone, Debug)]
pub(crate) enum Which {
    All,
    At(Arc<[i64]>),
}

/// About how many instructions a pointwise operation takes per element.
pub(crate) fn weight_of(op: Pointwise) -> u32 {
    match op {
        Pointwise::Math1(_) | Pointwise::Math2(_) => 30,
        Pointwise::Unary(_) | Pointwise::Binary(_) | Pointwise::Compare(_) => 1,
        Pointwise::Select | Pointwise::Cast | Pointwise::Bitcast => 1,
    }
}

impl Reduction {
    /// Whether it may be computed in one pass with others. The position that an argument fold carries along
    /// makes it so much dearer than what it would share, the loads, that it stays alone.
    pub fn shares_a_pass(self) -> bool {
        match self {
            Reduction::Fold(_) => true,
            Reduction::Arg { .. } => false,
        }
    }

    /// What a reduction over nothing gives.
    pub fn neutral(self, dtype: DType) -> Scalar {
        match self {
            Reduction::Fold(op) => op.neutral(dtype),
            Reduction::Arg { .. } => Scalar::from_i64(dtype, 0),
        }
    }
}
