//! The state of an array's handle, and its exclusive use by another thread or by a Loop. The methods that
//! Python calls are in `array`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use super::typed::Typed;
use crate::element::Element;
use crate::python::runtime::raised;
use crate::python::runtime::released;

/// A handle to a value; assignment gives it another one. Empty while a Loop runs on it.
#[pyclass(frozen, module = "partita._native")]
pub struct Array(Mutex<Held>);

/// What a handle has: the type of its elements always.
struct Held {
    element: Element,
    array: Option<partita::Array>,
}

impl Array {
    pub fn of(typed: Typed) -> Array {
        let Typed { array, element } = typed;
        Array(Mutex::new(Held { element, array: Some(array) }))
    }

    /// Another thread may hold the lock while it computes, so the interpreter's is released to wait for it.
    fn locked(&self, py: Python<'_>) -> MutexGuard<'_, Held> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// The value it points to now.
    pub fn value(&self, py: Python<'_>) -> PyResult<Typed> {
        let held = self.locked(py);
        let array = held.array.clone().ok_or_else(busy)?;
        Ok(Typed { array, element: held.element })
    }

    /// The value, for an operation that records. If its recorded chain is about as long as it may be, a part
    /// of it is computed here, without the interpreter's lock, rather than by the operation, with it.
    pub fn operand(&self, py: Python<'_>) -> PyResult<Typed> {
        let value = self.value(py)?;
        if value.array.is_nearly_too_long() {
            released(py, || value.array.shorten()).map_err(raised)?;
        }
        Ok(value)
    }

    /// The value, which the handle no longer has until it is `put` back.
    pub fn take(&self, py: Python<'_>) -> PyResult<partita::Array> {
        self.locked(py).array.take().ok_or_else(busy)
    }

    /// Changes the value, without the interpreter's lock and with the handle's.
    pub fn changed(
        &self,
        py: Python<'_>,
        value: &Typed,
        change: impl FnOnce(&mut partita::Array, &partita::Array) -> partita::Result<()> + Send,
    ) -> PyResult<()> {
        let outcome = released(py, || {
            let mut target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            target.array.as_mut().map(|target| change(target, &value.array))
        });
        outcome.ok_or_else(busy)?.map_err(raised)
    }

    /// Gives the handle another value.
    pub fn hold(&self, py: Python<'_>, value: Typed) {
        let Typed { array, element } = value;
        *self.locked(py) = Held { element, array: Some(array) };
    }

    /// Gives the handle a value of the same elements.
    pub fn put(&self, py: Python<'_>, array: partita::Array) {
        self.locked(py).array = Some(array);
    }
}

fn busy() -> PyErr {
    PyRuntimeError::new_err(
        "expected an array that is not in use, given one that a Loop runs on; wait for it",
    )
}
