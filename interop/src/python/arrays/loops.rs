//! `Loop` for Python: the engine's loop around a Python function, on the arrays of Python handles.
//!
//! While it runs, the handles are empty, so that no other thread takes memory that replayed steps write.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use partita::array::Numbered;
use partita::{Distribution, Error, Scalar};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyTuple;

use super::array::Array;
use super::convert::{element, scalar};
use super::typed::Typed;
use crate::element::Element;
use crate::python::runtime::raised;
use crate::python::runtime::released;

type Step = Box<dyn FnMut(&mut [partita::Array], &[partita::Array]) -> partita::Result<()> + Send>;
type Running = partita::Loop<Numbered<Step>>;

/// A number of a step: the name of its type, and its value.
type Typing<'py> = (String, Bound<'py, PyAny>);

/// The function that a running step calls, its handles, and the error that it raised.
struct Call {
    step: Py<PyAny>,
    state: Vec<Py<Array>>,
    raised: Option<PyErr>,
}

/// Filled while the loop runs, so that a waiting loop holds no Python objects.
type Slot = Arc<Mutex<Option<Call>>>;

/// A step that is recorded once and replayed.
#[pyclass(frozen, module = "partita._native")]
pub struct Loop {
    running: Mutex<Option<Running>>,
    slot: Slot,
    /// The number of steps that share an exchange; none if measurements shall say.
    depth: Option<usize>,
}

#[pymethods]
impl Loop {
    #[new]
    #[pyo3(signature = (depth))]
    fn new(depth: Option<usize>) -> Loop {
        Loop { running: Mutex::new(None), slot: Slot::default(), depth }
    }

    /// The number of steps that share an exchange, their halos and the reason, in words.
    fn explain(&self, py: Python<'_>) -> Option<String> {
        let running = self.running.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        running.as_ref().map(partita::Loop::explain)
    }

    /// The number of steps that share an exchange from now on.
    #[getter]
    fn steps_per_exchange(&self, py: Python<'_>) -> usize {
        let running = self.running.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        running.as_ref().map_or(1, partita::Loop::steps_per_exchange)
    }

    /// True if steps are replayed rather than run through Python.
    #[getter]
    fn is_replaying(&self, py: Python<'_>) -> bool {
        let running = self.running.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        running.as_ref().is_some_and(partita::Loop::is_replaying)
    }

    /// Runs `count` steps on the arrays of `state`: each calls `step(*numbers)`, which assigns to them.
    /// `rows` has the numbers of each step, or nothing.
    fn run(
        &self,
        py: Python<'_>,
        state: Vec<Py<Array>>,
        step: Py<PyAny>,
        count: u64,
        rows: Vec<Vec<Typing<'_>>>,
    ) -> PyResult<()> {
        let mut running = match self.running.try_lock() {
            Ok(running) => running,
            // What panicked has taken the loop with it.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err(
                    "Loop.run: expected a Loop that is not running, given one that is",
                ));
            }
        };
        let rows = rows.iter().map(|row| row.iter().map(plain).collect());
        let rows = rows.collect::<PyResult<Vec<Vec<Scalar>>>>()?;
        let row = |k: u64| rows.get(k as usize).cloned().unwrap_or_default();
        let arrays = take_all(py, &state)?;
        let previous = running.take().filter(|previous| continues(previous, &arrays));
        let mut current = match previous {
            Some(previous) => {
                drop(arrays);
                previous
            }
            None => self.over(arrays),
        };
        // A replayed step writes to memory of earlier states, which an export may show; a loop that begins
        // does not. Exports hold the value they show, and so do copies, of which more may be made meanwhile.
        if current.steps() > 0 && current.state().iter().any(partita::Array::is_shared) {
            current = self.over(current.state().to_vec());
        }
        let handles = state.iter().map(|handle| handle.clone_ref(py)).collect();
        *self.call(py) = Some(Call { step, state: handles, raised: None });
        let run = || current.run_with(count, row);
        let outcome = released(py, || catch_unwind(AssertUnwindSafe(run)));
        let call = self.call(py).take();
        let mut landed = Ok(());
        for (handle, array) in state.iter().zip(current.state()) {
            // Each gets its own back, whatever becomes of the others.
            landed = landed.and(handle.get().restore(py, array.clone()));
        }
        let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
        match (call.and_then(|call| call.raised), outcome) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(raised(error)),
            (None, Ok(())) => {
                *running = Some(current);
                landed
            }
        }
    }
}

impl Loop {
    fn over(&self, arrays: Vec<partita::Array>) -> Running {
        let run = partita::Loop::with_numbers(arrays, stepper(Arc::clone(&self.slot)));
        match self.depth {
            Some(steps) => run.depth(steps),
            None => run.auto_depth(),
        }
    }

    fn call(&self, py: Python<'_>) -> std::sync::MutexGuard<'_, Option<Call>> {
        self.slot.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number of a step as the engine has it.
fn plain((dtype, value): &Typing<'_>) -> PyResult<Scalar> {
    match element(dtype)? {
        Element::Real(dtype) => scalar(value, dtype),
        Element::Complex(_) => Err(PyTypeError::new_err(
            "Loop.run: expected real numbers, given a complex one; pass its real and imaginary part",
        )),
    }
}

/// Empties the handles, or none of them.
fn take_all(py: Python<'_>, state: &[Py<Array>]) -> PyResult<Vec<partita::Array>> {
    let mut arrays = Vec::with_capacity(state.len());
    for handle in state {
        match handle.get().take(py) {
            Ok(array) => arrays.push(array),
            Err(error) => {
                for (handle, array) in state.iter().zip(arrays) {
                    handle.get().put(py, array);
                }
                return Err(error);
            }
        }
    }
    if arrays.is_empty() {
        return Err(PyValueError::new_err(
            "Loop.run: expected at least one array, given none; pass the state",
        ));
    }
    Ok(arrays)
}

/// True if these arrays are what the loop before left.
fn continues(previous: &Running, arrays: &[partita::Array]) -> bool {
    let state = previous.state();
    state.len() == arrays.len() && state.iter().zip(arrays).all(|(a, b)| a.is_same(b))
}

/// The engine's step: puts the state into the handles, calls Python, and takes it back.
fn stepper(slot: Slot) -> Step {
    Box::new(move |state, numbers| {
        Python::attach(|py| {
            let locked = || slot.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
            let (step, handles) = match &*locked() {
                Some(call) => {
                    let handles: Vec<Py<Array>> = call.state.iter().map(|h| h.clone_ref(py)).collect();
                    (call.step.clone_ref(py), handles)
                }
                None => return Err(stopped("it is not running")),
            };
            let idle = idle(&state[0])?;
            for (handle, array) in handles.iter().zip(state.iter_mut()) {
                handle.get().put(py, std::mem::replace(array, idle.clone()));
            }
            let numbers =
                numbers.iter().map(|number| Py::new(py, Array::of(Typed::from(number.reshape(&[])))));
            let numbers = numbers.collect::<PyResult<Vec<_>>>().and_then(|n| PyTuple::new(py, n));
            let outcome = numbers.and_then(|numbers| step.call1(py, numbers).map(drop));
            let outcome = outcome.and(handles.iter().zip(state).try_for_each(|(handle, array)| {
                *array = handle.get().take(py)?;
                Ok(())
            }));
            outcome.map_err(|error| {
                let reason = error.to_string();
                if let Some(call) = &mut *locked() {
                    call.raised = Some(error);
                }
                stopped(&reason)
            })
        })
    })
}

/// An empty array for a handle whose own is elsewhere meanwhile.
fn idle(like: &partita::Array) -> partita::Result<partita::Array> {
    let team = like.team();
    partita::Array::zeros(team, &Distribution::default_partition(team.size(), &[0])?, like.dtype())
}

/// Ends the engine's loop, on all ranks; the exception itself waits in the slot.
fn stopped(reason: &str) -> Error {
    Error::Device { device: "Loop".to_owned(), reason: format!("the step raised {reason}") }
}
