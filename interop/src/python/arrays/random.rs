//! Streams of random arrays, by the engine's generator.

use partita::operators::random;
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
    fn branch(&mut self) -> Generator {
        Generator(self.0.branch())
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
        self.0 = random::Generator::from_state(state);
    }

    /// Two random words of 32 bits per element.
    fn words(&mut self, dist: &Distribution) -> PyResult<(Array, Array)> {
        let [first, second] = self.0.words(&dist.team, &dist.dist).map_err(raised)?;
        Ok((Array::of(Typed::from(first)), Array::of(Typed::from(second))))
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
