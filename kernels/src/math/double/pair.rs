//! Products and quotients of numbers that are sums of two.

use crate::math::basic::fast_two_sum;
use crate::math::number::Double;

/// The upper 26 bits of the mantissa, and the exact rest. Cutting bits off, unlike Veltkamp's
/// multiplication, cannot overflow.
#[inline(always)]
pub(super) fn split<N: Double>(x: N) -> (N, N) {
    let high = upper(x);
    (high, x - high)
}

/// `x` cut to the upper 26 bits of its mantissa.
#[inline(always)]
pub(super) fn upper<N: Double>(x: N) -> N {
    N::from_bits(x.to_bits() & x.int(!0x7ff_ffff))
}

/// `a b` and its rounding error to within 2^-106 of the product (Dekker 1971), unless it over- or underflows.
#[inline(always)]
pub(super) fn two_product<N: Double>(a: N, b: N) -> (N, N) {
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let middle = (a_high * b_high - product) + a_low * b_high + a_high * b_low;
    (product, middle + a_low * b_low)
}

/// The product of two pairs.
#[inline(always)]
pub(super) fn pair_product<N: Double>(a: (N, N), b: (N, N)) -> (N, N) {
    let (high, low) = two_product(a.0, b.0);
    (high, low + (a.0 * b.1 + a.1 * b.0))
}

/// The quotient of two sums, rounded almost correctly. In each, the second number is the smaller one.
///
/// A quotient of 26 bits times a divisor of 26 bits is exact, and so is the remainder it leaves.
#[inline(always)]
pub(super) fn pair_quotient<N: Double>(n: (N, N), d: (N, N)) -> N {
    let ((n, n_low), (d, d_low)) = (fast_two_sum(n.0, n.1), fast_two_sum(d.0, d.1));
    let inverse = d.lit(1.0) / d;
    let quotient = upper(n * inverse);
    let (d, d_rest) = split(d);
    let remainder = (n - quotient * d) - (quotient * (d_rest + d_low) - n_low);
    quotient + remainder * inverse
}
