//! The state of an array's handle, and its exclusive use by another thread or by a Loop. The methods that
//! Python calls are in `array`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use partita::array::Home;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use super::typed::Typed;
use crate::element::Element;
use crate::python::runtime::raised;
use crate::python::runtime::released;

/// A handle to a value; assignment gives it another one. Empty while a Loop runs on it or its memory is lent.
#[pyclass(frozen, module = "partita._native")]
pub struct Array(Mutex<Held>);

/// The content of a handle: the type of its elements always.
struct Held {
    element: Element,
    array: Option<partita::Array>,
    /// The memory of the value, if it is another owner's.
    home: Option<Home>,
}

impl Held {
    /// Has what was assigned in the memory where the value is kept.
    fn land(&mut self) -> partita::Result<()> {
        match (&mut self.home, &mut self.array) {
            (Some(home), Some(array)) => home.receive(array),
            _ => Ok(()),
        }
    }
}

impl Array {
    pub fn of(typed: Typed) -> Array {
        let Typed { array, element } = typed;
        Array(Mutex::new(Held { element, array: Some(array), home: None }))
    }

    /// A handle whose value is kept in the memory that it was made over.
    pub fn at_home(typed: Typed) -> partita::Result<Array> {
        let Typed { array, element } = typed;
        let home = Some(Home::of(&array)?);
        Ok(Array(Mutex::new(Held { element, array: Some(array), home })))
    }

    /// Another thread may hold the lock while it computes, so the interpreter's is released to wait for it.
    fn locked(&self, py: Python<'_>) -> MutexGuard<'_, Held> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// The value it points to now.
    pub fn value(&self, py: Python<'_>) -> PyResult<Typed> {
        partita::device::check_fork().map_err(raised)?;
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
            let changed = target.array.as_mut().map(|target| change(target, &value.array));
            changed.map(|outcome| outcome.and_then(|()| target.land()))
        });
        outcome.ok_or_else(busy)?.map_err(raised)
    }

    /// Gives the handle another value.
    pub fn hold(&self, py: Python<'_>, value: Typed) -> PyResult<()> {
        let Typed { array, element } = value;
        self.with_home(py, |held| {
            (held.element, held.array) = (element, Some(array));
            held.land()
        })
    }

    /// Gives the handle back a value that was taken, as it was changed meanwhile.
    pub fn restore(&self, py: Python<'_>, array: partita::Array) -> PyResult<()> {
        self.with_home(py, |held| {
            held.array = Some(array);
            held.land()
        })
    }

    /// Works on what the handle has, without the interpreter's lock if another owner's memory is written.
    fn with_home(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Held) -> partita::Result<()> + Send,
    ) -> PyResult<()> {
        let has_home = self.locked(py).home.is_some();
        let outcome = match has_home {
            false => work(&mut self.locked(py)),
            true => released(py, || work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))),
        };
        outcome.map_err(raised)
    }

    /// The memory where the value is kept, which the handle no longer has until it is `move_in` again.
    pub fn take_home(&self, py: Python<'_>) -> Option<Home> {
        self.locked(py).home.take()
    }

    /// Keeps the value in this memory.
    pub fn move_in(&self, py: Python<'_>, home: Option<Home>) {
        self.locked(py).home = home;
    }

    /// Gives the handle a value of the same elements.
    pub fn put(&self, py: Python<'_>, array: partita::Array) {
        self.locked(py).array = Some(array);
    }
}

fn busy() -> PyErr {
    let given = "one that a Loop runs on or whose memory is lent";
    PyRuntimeError::new_err(format!("expected an array that is not in use, given {given}; wait for it"))
}
