//! Streams of random arrays, by the engine's generator.

use partita::operators::random;
use partita::{DType, Scalar};
use pyo3::prelude::*;

use super::convert::element;
use super::handle::Array;
use super::typed::Typed;
use crate::python::distribution::Distribution;
use crate::python::runtime::raised;

/// Of the engine.
#[pyclass(module = "partita._native")]
pub struct Generator(random::Generator);

#[pymethods]
impl Generator {
    /// The words of a seed, the lowest 32 bits first.
    #[new]
    fn new(seed: Vec<u32>) -> Generator {
        Generator(random::Generator::from_words(&seed))
    }

    /// A stream of its own.
    fn branch(&mut self) -> PyResult<Generator> {
        self.0.branch().map(Generator).map_err(raised)
    }

    /// 64 random bits.
    fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// For copies and pickles: the state follows.
    fn __getnewargs__(&self) -> (Vec<u32>,) {
        (Vec::new(),)
    }

    fn __getstate__(&self) -> [u64; 2] {
        self.0.state()
    }

    fn __setstate__(&mut self, state: [u64; 2]) {
        self.0.set_state(state);
    }

    /// Stream number `n` of those that this one spawns.
    fn spawned(&self, n: u64) -> Generator {
        Generator(self.0.spawned(n))
    }

    /// 32 (uint32) or 64 (uint64) random bits per element.
    fn words(&mut self, dist: &Distribution, dtype: &str) -> PyResult<Array> {
        self.drawn(random::Generator::words, dist, dtype)
    }

    /// Integers from `low` on, so many (2^64 if 0); both modulo 2^64.
    fn integers(&mut self, dist: &Distribution, dtype: &str, low: u64, count: u64) -> PyResult<Array> {
        let dtype = element(dtype)?.dtype();
        let drawn = self.0.below(&dist.team, &dist.dist, count).map_err(raised)?;
        let low = Scalar { dtype: DType::U64, bits: low };
        Ok(Array::of(Typed::from((drawn + low).cast(dtype))))
    }

    /// Floats from 0 up to and without 1.
    fn uniform(&mut self, dist: &Distribution, dtype: &str) -> PyResult<Array> {
        self.drawn(random::Generator::uniform, dist, dtype)
    }

    /// Floats of mean 0 and deviation 1.
    fn normal(&mut self, dist: &Distribution, dtype: &str) -> PyResult<Array> {
        self.drawn(random::Generator::normal, dist, dtype)
    }

    /// Floats of mean 1.
    fn exponential(&mut self, dist: &Distribution, dtype: &str) -> PyResult<Array> {
        self.drawn(random::Generator::exponential, dist, dtype)
    }
}

type Draw = fn(
    &mut random::Generator,
    &partita::Team,
    &partita::Distribution,
    partita::DType,
) -> partita::Result<partita::Array>;

impl Generator {
    fn drawn(&mut self, draw: Draw, dist: &Distribution, dtype: &str) -> PyResult<Array> {
        let drawn = draw(&mut self.0, &dist.team, &dist.dist, element(dtype)?.dtype());
        drawn.map(Typed::from).map(Array::of).map_err(raised)
    }
}
