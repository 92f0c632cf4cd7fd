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

    /// Two random words of 32 bits per element.
    fn words(&mut self, dist: &Distribution) -> PyResult<(Array, Array)> {
        let [first, second] = self.0.words(&dist.team, &dist.dist).map_err(raised)?;
        Ok((Array::of(Typed::from(first)), Array::of(Typed::from(second))))
    }

    /// Floats from 0 up to and without 1.
    fn uniform(&mut self, dist: &Distribution, dtype: &str) -> PyResult<Array> {
        let drawn = self.0.uniform(&dist.team, &dist.dist, element(dtype)?.dtype());
        drawn.map(Typed::from).map(Array::of).map_err(raised)
    }

    /// Floats of mean 0 and deviation 1.
    fn normal(&mut self, dist: &Distribution, dtype: &str) -> PyResult<Array> {
        let drawn = self.0.normal(&dist.team, &dist.dist, element(dtype)?.dtype());
        drawn.map(Typed::from).map(Array::of).map_err(raised)
    }

    /// Floats of mean 1.
    fn exponential(&mut self, dist: &Distribution, dtype: &str) -> PyResult<Array> {
        let drawn = self.0.exponential(&dist.team, &dist.dist, element(dtype)?.dtype());
        drawn.map(Typed::from).map(Array::of).map_err(raised)
    }
}
