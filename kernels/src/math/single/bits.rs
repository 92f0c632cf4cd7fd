//! Steps that the functions of 32-bit numbers share.

use crate::math::number::{Integer, Single};

/// 2^n for -127 < n < 128. At n = -127 and 128 it is 0 and infinity.
#[inline(always)]
pub(super) fn power_of_two<N: Single>(n: N::Int) -> N {
    N::from_bits((n + n.lit(127)).shl(23))
}

/// `x` cut to its upper 12 mantissa bits, so that products of two such numbers are exact.
#[inline(always)]
pub(super) fn upper<N: Single>(x: N) -> N {
    N::from_bits(x.to_bits() & x.int(!0xfff))
}
