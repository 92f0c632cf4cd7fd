//! Random arrays from a counter: [`Generator`].
//!
//! `partita_kernels::random` defines the mapping from a key and the number of an element to its bits. Here
//! seeds become keys, and each draw gets one of its own: the cipher makes it of the stream's key and the
//! number of the draw. Draws are recorded, so numbers are made in the kernel that uses them, and they are the
//! same on every team, distribution and device. The package for Python draws the same numbers.
//!
//! In a step of a [`crate::Loop`] arrays are drawn anew in each replay; see `array/recorder/streams.rs`.

use partita_kernels::{DType, Draw, Scalar, random::threefry};

use crate::array::{Array, SharedStream, StreamState, check_not_recording, drawn, next_key};
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::team::Team;

/// Draws of a stream are counted below it, streams that it spawns from it on.
const SPAWNED: u64 = 1 << 63;

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
pub struct Generator(SharedStream);

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
        Generator::of_key(words.fold([low, 0], |key, &word| threefry(key, [word, 0])))
    }

    fn of_key(key: [u32; 2]) -> Generator {
        Generator(SharedStream::new(StreamState { key, draws: 0 }))
    }

    /// All that a stream is: [`Generator::from_state`] goes on from here.
    pub fn state(&self) -> [u64; 2] {
        let StreamState { key: [low, high], draws } = *self.0.state();
        [u64::from(high) << 32 | u64::from(low), draws]
    }

    /// Goes on from where a stream was that had this [`Generator::state`].
    pub fn set_state(&mut self, [key, draws]: [u64; 2]) {
        *self.0.state() = StreamState { key: halves(key), draws };
    }

    /// The stream whose [`Generator::state`] was this.
    pub fn from_state(state: [u64; 2]) -> Generator {
        let mut stream = Generator::new(0);
        stream.set_state(state);
        stream
    }

    /// A stream of its own, for as many draws as it takes: this one goes on by one.
    ///
    /// # Errors
    /// Inside a step of a [`crate::Loop`], since a replay would not repeat it.
    pub fn branch(&mut self) -> Result<Generator> {
        check_not_recording(
            "drawing as often as it takes",
            "draws inside a Loop's step",
            "draw before the Loop runs",
        )?;
        Ok(Generator::of_key(self.0.state().draw()))
    }

    /// Stream number `n` of those that this one spawns, whatever it has drawn; `n` is below 2^63.
    pub fn spawned(&self, n: u64) -> Generator {
        Generator::of_key(threefry(self.0.state().key, halves(SPAWNED | n)))
    }

    /// 64 random bits; a draw.
    pub fn bits(&mut self) -> u64 {
        let [high, low] = self.0.state().draw();
        u64::from(high) << 32 | u64::from(low)
    }

    fn draw(&mut self, team: &Team, dist: &Distribution, draw: Draw, dtype: DType) -> Result<Array> {
        drawn(team, dist, draw, dtype, next_key(team, &self.0)?)
    }

    fn floats(&mut self, team: &Team, dist: &Distribution, draw: Draw, dtype: DType) -> Result<Array> {
        if !dtype.is_float() {
            return Err(Error::invalid("random", "a type of floats", dtype.name(), "use `integers`"));
        }
        self.draw(team, dist, draw, dtype)
    }

    /// Random bits: 32 (`u32`) or 64 (`u64`) per element; one draw.
    ///
    /// # Errors
    /// Another type; a distribution that does not fit the team.
    pub fn words(&mut self, team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        match dtype {
            DType::U32 => self.draw(team, dist, Draw::Word, dtype),
            DType::U64 => self.draw(team, dist, Draw::Long, dtype),
            _ => Err(Error::invalid("words", "u32 or u64", dtype.name(), "convert the bits with `cast`")),
        }
    }

    /// Uniform floats from 0 up to and without 1: 53 random bits in `f64`, 24 in `f32`, 11 in `f16` and 8 in
    /// `bf16`; one draw.
    ///
    /// # Errors
    /// A type that is no float; a distribution that does not fit the team.
    pub fn uniform(&mut self, team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        self.floats(team, dist, Draw::Uniform, dtype)
    }

    /// Normally distributed floats of mean 0 and standard deviation 1, by the transform of G. E. P. Box and
    /// M. E. Muller (1958); one draw.
    ///
    /// # Errors
    /// Those of [`Generator::uniform`].
    pub fn normal(&mut self, team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        self.floats(team, dist, Draw::Normal, dtype)
    }

    /// Exponentially distributed floats of mean 1, by inversion; one draw.
    ///
    /// # Errors
    /// Those of [`Generator::uniform`].
    pub fn exponential(&mut self, team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        self.floats(team, dist, Draw::Exponential, dtype)
    }

    /// Integers (`i64`) from `low` up to and without `high`; one draw.
    ///
    /// Each is the upper word of the product of 64 random bits and the number of choices (D. Lemire, "Fast
    /// random integer generation in an interval", 2019), without rejection: chances differ by at most `(high
    /// - low) / 2^64` of each other.
    ///
    /// # Errors
    /// No integer between the bounds; those of [`Generator::words`].
    pub fn integers(&mut self, team: &Team, dist: &Distribution, low: i64, high: i64) -> Result<Array> {
        if low >= high {
            let given = format!("{low} and {high}");
            return Err(Error::invalid("integers", "low below high", given, "exchange them"));
        }
        let offset = Scalar { dtype: DType::U64, bits: low as u64 };
        Ok((self.below(team, dist, high.wrapping_sub(low) as u64)? + offset).cast(DType::I64))
    }

    /// Integers (`u64`) below a count, which is 2^64 if it is 0; one draw.
    ///
    /// # Errors
    /// A distribution that does not fit the team.
    pub fn below(&mut self, team: &Team, dist: &Distribution, count: u64) -> Result<Array> {
        let long = self.words(team, dist, DType::U64)?;
        let number = |bits| Scalar { dtype: DType::U64, bits };
        let (high, low) = (long.shift_right(32.0), &long & number(u32::MAX.into()));
        Ok(match halves(count).map(|half| number(half.into())) {
            _ if count == 0 => long,
            [count, Scalar { bits: 0, .. }] => {
                (&high * count + (low * count).shift_right(32.0)).shift_right(32.0)
            }
            [count_low, count_high] => {
                let middle = &high * count_low + (&low * count_low).shift_right(32.0);
                let carry = (low * count_high + (&middle & number(u32::MAX.into()))).shift_right(32.0);
                high * count_high + middle.shift_right(32.0) + carry
            }
        })
    }
}
