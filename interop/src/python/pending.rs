//! [`PendingCollective`]: work of all ranks that has begun, and what is left of it.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::runtime::released;

/// What is left to do, which gives the result.
type Rest = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// An operator that is being applied, or a request: work that is queued before `finish` runs while elements
/// travel. The array may be assigned to meanwhile.
#[pyclass(frozen, module = "partita")]
pub struct PendingCollective(Mutex<Option<Rest>>);

impl PendingCollective {
    /// What is left of something that has begun.
    pub fn of(rest: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static) -> PendingCollective {
        PendingCollective(Mutex::new(Some(Box::new(rest))))
    }
}

#[pymethods]
impl PendingCollective {
    fn __repr__(&self) -> &'static str {
        "<partita operator under way; finish() gives its result>"
    }

    /// Waits for what is under way, and gives the result, once. Collective over the world.
    fn finish(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let text = "finish: expected an operator under way, given one that was finished; start it again";
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        rest.ok_or_else(|| PyValueError::new_err(text))?(py)
    }
}

/// What others wait for is sent all the same, without the interpreter's lock.
impl Drop for PendingCollective {
    fn drop(&mut self) {
        let rest = self.0.get_mut().map(Option::take);
        let _ = Python::try_attach(|py| released(py, || drop(rest)));
    }
}
