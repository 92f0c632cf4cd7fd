//! Random arrays from a counter: [`Generator`].
//!
//! Element number n, in C order, is what the block cipher Threefry-2x32 with 20 rounds makes of n (J. K.
//! Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//! It is recorded as arithmetic on coordinates: numbers are made in the kernel that uses them, and they are
//! the same on every team, distribution and device. The package for Python draws the same numbers.

use std::f64::consts::TAU;

use partita_kernels::{DType, Scalar};

use crate::array::Array;
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::team::Team;

const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];

/// So that a key of zeros is no fixed point.
const PARITY: u32 = 0x1bd1_1bda;

/// What the cipher does to words of 32 bits: to numbers, and to whole arrays of them.
trait Word: Sized {
    fn plus(&self, other: &Self) -> Self;
    fn plus_key(&self, key: u32) -> Self;
    fn rotated_xor(&self, by: u32, other: &Self) -> Self;
}

impl Word for u32 {
    fn plus(&self, other: &u32) -> u32 {
        self.wrapping_add(*other)
    }

    fn plus_key(&self, key: u32) -> u32 {
        self.wrapping_add(key)
    }

    fn rotated_xor(&self, by: u32, other: &u32) -> u32 {
        self.rotate_left(by) ^ other
    }
}

impl Word for Array {
    fn plus(&self, other: &Array) -> Array {
        self + other
    }

    fn plus_key(&self, key: u32) -> Array {
        self + f64::from(key)
    }

    fn rotated_xor(&self, by: u32, other: &Array) -> Array {
        let rotated = self.shift_left(f64::from(by)) | self.shift_right(f64::from(32 - by));
        rotated ^ other
    }
}

/// Two words, enciphered.
fn threefry<W: Word>(key: [u32; 2], [first, second]: [W; 2]) -> [W; 2] {
    let keys = [key[0], key[1], PARITY ^ key[0] ^ key[1]];
    let (mut first, mut second) = (first.plus_key(keys[0]), second.plus_key(keys[1]));
    for round in 0..20 {
        first = first.plus(&second);
        second = second.rotated_xor(ROTATIONS[round % 8], &first);
        if round % 4 == 3 {
            let block = round / 4 + 1;
            first = first.plus_key(keys[block % 3]);
            second = second.plus_key(keys[(block + 1) % 3].wrapping_add(block as u32));
        }
    }
    [first, second]
}

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// A stream of random arrays. Each draw goes on with new numbers; nothing is computed before they are needed.
///
/// The same seed and draws give the same elements on every team, distribution and device.
///
/// ```
/// use partita::prelude::*;
/// use partita::operators::random::Generator;
/// let numbers = |parts| -> partita::Result<Vec<f64>> {
///     let team = Team::local(parts)?;
///     let dist = Distribution::default_partition(parts, &[5])?;
///     Generator::new(7).normal(&team, &dist, DType::F64)?.to_vec()
/// };
/// assert_eq!(numbers(1)?, numbers(3)?);
/// # Ok::<(), partita::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Generator {
    key: [u32; 2],
    draws: u64,
}

impl Generator {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Generator {
        Generator::from_words(&halves(seed))
    }

    /// The stream of a seed of any length, the lowest 32 bits first. Zeros at the end do not count.
    pub fn from_words(seed: &[u32]) -> Generator {
        let (&low, high) = seed.split_first().unwrap_or((&0, &[]));
        let length = high.iter().rposition(|&word| word != 0).map_or(1, |last| last + 1);
        let words = high.iter().chain(&[0]).take(length);
        Generator { key: words.fold([low, 0], |key, &word| threefry(key, [word, 0])), draws: 0 }
    }

    /// All that a stream is: [`Generator::from_state`] goes on from here.
    pub fn state(&self) -> [u64; 2] {
        let [low, high] = self.key.map(u64::from);
        [high << 32 | low, self.draws]
    }

    /// The stream whose [`Generator::state`] was this.
    pub fn from_state([key, draws]: [u64; 2]) -> Generator {
        Generator { key: halves(key), draws }
    }

    /// A stream of its own, for as many draws as it takes: this one goes on by one.
    pub fn branch(&mut self) -> Generator {
        Generator { key: self.next_key(), draws: 0 }
    }

    /// 64 random bits; a draw.
    pub fn bits(&mut self) -> u64 {
        let [high, low] = self.next_key();
        u64::from(high) << 32 | u64::from(low)
    }

    fn next_key(&mut self) -> [u32; 2] {
        let key = threefry(self.key, halves(self.draws));
        self.draws += 1;
        key
    }

    /// Two arrays of 32 random bits (`u32`) per element; one draw.
    ///
    /// # Errors
    /// A distribution that does not fit the team.
    pub fn words(&mut self, team: &Team, dist: &Distribution) -> Result<[Array; 2]> {
        let shape = dist.shape();
        let counter = match shape.iter().product::<i64>() <= i64::from(u32::MAX) {
            true => DType::U32,
            false => DType::U64,
        };
        let mut number = Array::zeros(team, dist, counter)?;
        for d in 0..dist.rank() {
            number = number * shape[d] as f64 + Array::coordinate(team, dist, d, counter)?;
        }
        let high = match counter {
            DType::U64 => number.shift_right(32.0).cast(DType::U32),
            _ => &number * 0.0,
        };
        let words = threefry(self.next_key(), [number.cast(DType::U32), high]);
        words[0].recorded()?;
        Ok(words)
    }

    /// Uniform floats from 0 up to and without 1: 53 random bits in `f64`, 24 in `f32`, 11 in `f16` and 8 in
    /// `bf16`; one draw.
    ///
    /// # Errors
    /// A type that is no float; those of [`Generator::words`].
    pub fn uniform(&mut self, team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        let bits = match dtype {
            DType::F64 => 53,
            DType::F32 => 24,
            DType::F16 => 11,
            DType::BF16 => 8,
            _ => return Err(Error::invalid("random", "a type of floats", dtype.name(), "use `integers`")),
        };
        let [first, second] = self.words(team, dist)?;
        if dtype == DType::F64 {
            let high = first.shift_right(5.0).cast(dtype) * 67_108_864.0;
            return Ok((high + second.shift_right(6.0).cast(dtype)) * 0.5f64.powi(53));
        }
        Ok(first.shift_right(f64::from(32 - bits)).cast(dtype) * 0.5f64.powi(bits))
    }

    /// Normally distributed floats of mean 0 and standard deviation 1, by the transform of G. E. P. Box and
    /// M. E. Muller (1958); two draws.
    ///
    /// # Errors
    /// Those of [`Generator::uniform`].
    pub fn normal(&mut self, team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        let radius = self.uniform(team, dist, dtype)?;
        let angle = self.uniform(team, dist, dtype)?;
        // 1 - u is never 0, whose logarithm is infinite.
        Ok(((1.0 - radius).log() * -2.0).sqrt() * (angle * TAU).cos())
    }

    /// Exponentially distributed floats of mean 1, by inversion; one draw.
    ///
    /// # Errors
    /// Those of [`Generator::uniform`].
    pub fn exponential(&mut self, team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        Ok(-(-self.uniform(team, dist, dtype)?).log1p())
    }

    /// Integers (`i64`) from `low` up to and without `high`; one draw. They are remainders of 64 random bits,
    /// so small ones are likelier by at most `(high - low) / 2^64`.
    ///
    /// # Errors
    /// No integer between the bounds; those of [`Generator::words`].
    pub fn integers(&mut self, team: &Team, dist: &Distribution, low: i64, high: i64) -> Result<Array> {
        if low >= high {
            let given = format!("{low} and {high}");
            return Err(Error::invalid("integers", "low below high", given, "exchange them"));
        }
        let [first, second] = self.words(team, dist)?.map(|word| word.cast(DType::U64));
        let count = Scalar { dtype: DType::U64, bits: high.wrapping_sub(low) as u64 };
        let offset = Scalar { dtype: DType::I64, bits: low as u64 };
        Ok(((first.shift_left(32.0) | second) % count).cast(DType::I64) + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published answers of the Random123 library.
    #[test]
    fn the_cipher_is_threefry_2x32() -> Result<()> {
        let cases = [
            ([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]),
            ([u32::MAX; 2], [u32::MAX; 2], [0x1cb9_96fc, 0xbb00_2be7]),
            ([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3], [0xc492_3a9c, 0x483d_f7a0]),
        ];
        let team = Team::local(1)?;
        let dist = Distribution::default_partition(1, &[3])?;
        for (key, words, expected) in cases {
            assert_eq!(threefry(key, words), expected);
            let full = |word| Array::full(&team, &dist, Scalar::from_i64(DType::U32, i64::from(word)));
            let arrays = threefry(key, [full(words[0])?, full(words[1])?]);
            for (array, word) in arrays.iter().zip(expected) {
                assert_eq!(array.to_vec::<u32>()?, [word; 3]);
            }
        }
        Ok(())
    }
}
