//! Random numbers by counter: the mapping from a key and the number of a cell to random bits and floats,
//! which is fixed for good. Changing a bit of it breaks every program that compares its results.
//!
//! **Bits.** The block cipher Threefry-2x32 with 20 rounds (J. K. Salmon, M. A. Moraes, R. O. Dror and D. E.
//! Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011) makes two words of a key of 64 bits and a
//! counter of 64 bits. A draw has a key of its own. Cells are numbered in C order, n from 0 on.
//!
//! | draw | cell n takes | value |
//! |---|---|---|
//! | `Word` | word n mod 2 of block n / 2 | 32 bits |
//! | `Long` | both words of block n, the first one above the second | 64 bits |
//! | `Uniform`, f64 | `Long` | (first >> 5, second >> 6) as 53 bits, times 2^-53 |
//! | `Uniform`, others | `Word` | its upper 24 (f32), 11 (f16) or 8 (bf16) bits as a fraction |
//! | `Exponential` | `Long` (f64), `Word` | -log of the middle of one of 2^62 (2^31) steps from 0 to 1 |
//! | `Normal` | two blocks from n - n mod 2 on (f64), block n / 2 | radius times cos (even n) or sin |
//!
//! A pair of normal numbers is one turn of G. E. P. Box and M. E. Muller (1958): the first `Long` (`Word`) of
//! the pair gives the radius, the root of twice an exponential number, and the second one the angle. Its
//! upper bits count quarter turns from -1/8 turn on, so the rest is within pi/4 and no large angle is ever
//! reduced. Exponential and normal numbers of types narrower than f32 are those of f32, rounded.
//!
//! Why so: a block is two words, so a thread that computes two neighbouring cells needs one block, one
//! logarithm and one root for two f32 normal numbers (an estimated 115 instructions each on sm_90). A thread
//! that computes one cell gets the same bits with a choice at the end (172, of which the cipher is 62; f64
//! takes twice the cipher). The cipher is additions, rotations and XOR alone, which every device and the
//! vector units of hosts have; Philox-4x32 takes 58 for four words, so it would save up to 17 per number
//! where a thread computes four cells, but it needs upper halves of products, which WGSL and the vector units
//! of hosts lack. A key per draw makes draws independent of the shapes of others.

use std::f64::consts::FRAC_PI_2;

use crate::build::Builder;
use crate::dtype::DType;
use crate::ir::{BinaryOp, Math1, UnaryOp, Value};
use crate::math::sine_of_rest;

/// The result that a draw makes of a cell's number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Draw {
    /// 32 bits, u32.
    Word,
    /// 64 bits, u64.
    Long,
    /// From 0 up to and without 1.
    Uniform,
    /// Of mean 1.
    Exponential,
    /// Of mean 0 and standard deviation 1.
    Normal,
}

const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];

/// So that a key of zeros is no fixed point.
const PARITY: u32 = 0x1bd1_1bda;

/// The arithmetic of the cipher: on numbers, and into kernels.
trait Cipher {
    type Word: Copy;
    fn word(&mut self, value: u32) -> Self::Word;
    fn add(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn xor(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    fn rotate(&mut self, a: Self::Word, by: u32) -> Self::Word;

    /// Two words, enciphered.
    fn threefry(&mut self, key: [Self::Word; 2], counter: [Self::Word; 2]) -> [Self::Word; 2] {
        let (parity, both) = (self.word(PARITY), self.xor(key[0], key[1]));
        let keys = [key[0], key[1], self.xor(both, parity)];
        let (mut first, mut second) = (self.add(counter[0], key[0]), self.add(counter[1], key[1]));
        for round in 0..20 {
            first = self.add(first, second);
            let rotated = self.rotate(second, ROTATIONS[round % 8]);
            second = self.xor(rotated, first);
            if round % 4 == 3 {
                let block = round / 4 + 1;
                first = self.add(first, keys[block % 3]);
                let number = self.word(block as u32);
                let key = self.add(keys[(block + 1) % 3], number);
                second = self.add(second, key);
            }
        }
        [first, second]
    }
}

impl Cipher for () {
    type Word = u32;

    fn word(&mut self, value: u32) -> u32 {
        value
    }

    fn add(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    fn xor(&mut self, a: u32, b: u32) -> u32 {
        a ^ b
    }

    fn rotate(&mut self, a: u32, by: u32) -> u32 {
        a.rotate_left(by)
    }
}

impl Cipher for Builder {
    type Word = Value;

    fn word(&mut self, value: u32) -> Value {
        self.int(DType::U32, value.into())
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Add, a, b)
    }

    fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Xor, a, b)
    }

    fn rotate(&mut self, a: Value, by: u32) -> Value {
        let (left, right) = (shift(self, BinaryOp::Shl, a, by), shift(self, BinaryOp::Shr, a, 32 - by));
        self.binary(BinaryOp::Or, left, right)
    }
}

/// Two words enciphered with a key.
pub fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    ().threefry(key, counter)
}

/// The same in a kernel.
pub fn cipher(k: &mut Builder, key: [Value; 2], counter: [Value; 2]) -> [Value; 2] {
    k.threefry(key, counter)
}

/// Appends a draw of this type for a cell (u32 or u64) with a key (two u32).
pub fn draw(k: &mut Builder, draw: Draw, cell: Value, key: [Value; 2], dtype: DType) -> Value {
    let is_wide = dtype == DType::F64;
    let of = if is_wide { DType::F64 } else { DType::F32 };
    match draw {
        Draw::Word => word(k, cell, key),
        Draw::Long => {
            let [first, second] = block(k, cell, key).map(|word| k.cast(word, DType::U64));
            let first = shift(k, BinaryOp::Shl, first, 32);
            k.binary(BinaryOp::Or, first, second)
        }
        Draw::Uniform if is_wide => {
            let [first, second] = block(k, cell, key);
            sum(k, of, [(first, 5, 0.5f64.powi(27)), (second, 6, 0.5f64.powi(53))])
        }
        Draw::Uniform => {
            let bits = match dtype {
                DType::BF16 => 8,
                DType::F16 => 11,
                _ => 24,
            };
            let word = word(k, cell, key);
            upper(k, word, 32 - bits, dtype, 0.5f64.powi(bits as i32))
        }
        Draw::Exponential => {
            let words = if is_wide { block(k, cell, key) } else { [word(k, cell, key); 2] };
            let number = exponential(k, words, of);
            k.cast(number, dtype)
        }
        Draw::Normal => {
            let one = k.int(k.dtype(cell), 1);
            let parity = k.binary(BinaryOp::And, cell, one);
            let (length, angle) = if is_wide {
                let (even, odd) = (k.binary(BinaryOp::Xor, cell, parity), k.binary(BinaryOp::Or, cell, one));
                (block(k, even, key), block(k, odd, key))
            } else {
                let pair = k.binary(BinaryOp::Shr, cell, one);
                let [first, second] = block(k, pair, key);
                ([first; 2], [second; 2])
            };
            let (double, two) = (exponential(k, length, of), k.float(of, 2.0));
            let square = k.binary(BinaryOp::Mul, double, two);
            let radius = k.unary(UnaryOp::Sqrt, square);
            // The cosine is the sine of a quarter turn more.
            let quarters = k.binary(BinaryOp::Xor, parity, one);
            let sine = sine(k, angle, quarters, of);
            let number = k.binary(BinaryOp::Mul, radius, sine);
            k.cast(number, dtype)
        }
    }
}

fn shift(k: &mut Builder, op: BinaryOp, a: Value, by: u32) -> Value {
    let by = k.int(k.dtype(a), by.into());
    k.binary(op, a, by)
}

/// The block of this number.
fn block(k: &mut Builder, number: Value, key: [Value; 2]) -> [Value; 2] {
    let high = match k.dtype(number) {
        DType::U64 => shift(k, BinaryOp::Shr, number, 32),
        _ => k.int(DType::U32, 0),
    };
    let counter = [number, high].map(|word| k.cast(word, DType::U32));
    k.threefry(key, counter)
}

/// The cell's half of the block of its pair.
fn word(k: &mut Builder, cell: Value, key: [Value; 2]) -> Value {
    let (one, zero) = (k.int(k.dtype(cell), 1), k.int(k.dtype(cell), 0));
    let pair = k.binary(BinaryOp::Shr, cell, one);
    let [first, second] = block(k, pair, key);
    let parity = k.binary(BinaryOp::And, cell, one);
    let is_even = k.compare(crate::ir::CompareOp::Eq, parity, zero);
    k.select(is_even, first, second)
}

/// The word without its lowest bits, at least one, times a power of two. As a signed number, whose conversion
/// is one instruction everywhere.
fn upper(k: &mut Builder, word: Value, without: u32, dtype: DType, unit: f64) -> Value {
    let shifted = shift(k, BinaryOp::Shr, word, without);
    let signed = k.bitcast(shifted, DType::I32);
    let (number, unit) = (k.cast(signed, dtype), k.float(dtype, unit));
    k.binary(BinaryOp::Mul, number, unit)
}

/// The sum of two such words.
fn sum(k: &mut Builder, dtype: DType, words: [(Value, u32, f64); 2]) -> Value {
    let [first, second] = words.map(|(word, without, unit)| upper(k, word, without, dtype, unit));
    k.binary(BinaryOp::Add, first, second)
}

/// Of mean 1: f32 from the first word, f64 from both.
fn exponential(k: &mut Builder, [first, second]: [Value; 2], dtype: DType) -> Value {
    let (steps, half) = match dtype {
        DType::F64 => {
            (sum(k, dtype, [(first, 1, 0.5f64.powi(31)), (second, 1, 0.5f64.powi(62))]), 0.5f64.powi(63))
        }
        _ => (upper(k, first, 1, dtype, 0.5f64.powi(31)), 0.5f64.powi(32)),
    };
    let (half, zero) = (k.float(dtype, half), k.float(dtype, 0.0));
    let inner = k.binary(BinaryOp::Add, steps, half);
    let logarithm = k.math1(Math1::Log, inner);
    k.binary(BinaryOp::Sub, zero, logarithm)
}

/// The sine of an angle of 32 bits (f64: and 31 more) of a turn, and quarter turns.
fn sine(k: &mut Builder, [first, second]: [Value; 2], quarters: Value, dtype: DType) -> Value {
    let eighth = k.int(DType::U32, 1 << 29);
    let from_eighth = k.binary(BinaryOp::Add, first, eighth);
    let full = shift(k, BinaryOp::Shr, from_eighth, 30);
    let more = k.cast(quarters, DType::U32);
    let quadrant = k.binary(BinaryOp::Add, full, more);
    let rest = shift(k, BinaryOp::Shl, first, 2);
    let unit = k.float(dtype, FRAC_PI_2 * 0.5f64.powi(32));
    let signed = k.bitcast(rest, DType::I32);
    let mut number = k.cast(signed, dtype);
    if dtype == DType::F64 {
        let below = upper(k, second, 1, dtype, 0.5f64.powi(29));
        number = k.binary(BinaryOp::Add, number, below);
    }
    let angle = k.binary(BinaryOp::Mul, number, unit);
    let quadrant = k.cast(quadrant, if dtype == DType::F64 { DType::I64 } else { DType::I32 });
    sine_of_rest(k, angle, quadrant)
}

#[cfg(test)]
mod tests {
    use super::threefry;

    /// Published answers of the Random123 library.
    #[test]
    fn the_cipher_is_threefry_2x32() {
        let cases = [
            ([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]),
            ([u32::MAX; 2], [u32::MAX; 2], [0x1cb9_96fc, 0xbb00_2be7]),
            ([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3], [0xc492_3a9c, 0x483d_f7a0]),
        ];
        for (key, words, expected) in cases {
            assert_eq!(threefry(key, words), expected);
        }
    }
}
