//! [`Array::sum_reproducible`](crate::array::Array::sum_reproducible): correctly rounded sums of floats,
//! composed of reductions of integers.
//!
//! A finite float is an integer m times 2^p units. The unit is the smallest subnormal float, p is at least 0,
//! and m has 24 or 53 bits (f32, f64). A first pass finds the smallest and the largest p among the summands
//! of each result. A second pass writes every summand as an integer in digits of a few bits, relative to the
//! smallest p, and adds each digit separately. The digits are so narrow that their sums cannot overflow.
//! Then carries are propagated and the number is rounded once. Integers add exactly, so neither the order of
//! the summands nor how they are divided changes the result. (The number is a fixed-point accumulator as
//! Kulisch's; Neal, 2015, "Fast exact summation using small and large superaccumulators", surveys others.)

mod format;
mod rounding;
mod sum;
#[cfg(test)]
mod tests;
