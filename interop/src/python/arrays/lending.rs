//! Memory of arrays that Python code writes: the parts of an array, lent until they are given back.
//!
//! Meanwhile the handle is empty, so that nothing computes with the array.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use partita::DType;
use partita::array::{Home, Writable};
use partita::device::DeviceKind;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use super::handle::Array;
use crate::element::Element;
use crate::python::part_handle::{LoanState, Part, shown};
use crate::python::runtime::{detached, raised, released};

/// An array's memory while others write it.
#[pyclass(frozen, module = "partita._native")]
pub struct Lending {
    handle: Py<Array>,
    element: Element,
    lent: Mutex<Option<(Writable, Option<Home>)>>,
    loan: LoanState,
}

impl Lending {
    /// Lends the memory of an array, or of a view of it that `view()` makes while the handle has it.
    pub fn begin(py: Python<'_>, handle: Py<Array>, view: Option<Py<PyAny>>) -> PyResult<Lending> {
        let element = handle.get().value(py)?.element;
        let array = handle.get().take(py)?;
        let team = array.team().clone();
        let unreachable = |member: &usize| team.device(*member).kind() == DeviceKind::Wgpu;
        if let Some(member) = (0..team.size()).filter(|&member| team.is_here(member)).find(unreachable) {
            let given = team.device(member).name().to_owned();
            handle.get().put(py, array);
            let text = format!("writable: expected parts on the host or on CUDA devices, given {given}");
            return Err(PyBufferError::new_err(format!("{text}; assign to the array")));
        }
        let mut home = handle.get().take_home(py);
        let mut failure = None;
        let seen = |array: &partita::Array| {
            let Some(view) = &view else { return Ok(array.clone()) };
            Python::attach(|py| {
                handle.get().put(py, array.clone());
                let made = view.call0(py).and_then(|made| {
                    let made = made.bind(py).cast::<Array>()?.get().value(py)?;
                    Ok(made.array)
                });
                drop(handle.get().take(py)?);
                made
            })
            .map_err(|error: PyErr| {
                let text = error.to_string();
                failure = Some(error);
                partita::Error::Device { device: "writable".to_owned(), reason: text }
            })
        };
        match released(py, || Writable::of(array, home.as_mut(), seen)) {
            Ok(lent) => {
                let (lent, loan) = (Mutex::new(Some((lent, home))), Some(Arc::new(AtomicBool::new(true))));
                Ok(Lending { handle, element, lent, loan })
            }
            Err((array, error)) => {
                handle.get().put(py, array);
                handle.get().move_in(py, home);
                Err(failure.unwrap_or_else(|| raised(error)))
            }
        }
    }
}

#[pymethods]
impl Lending {
    /// This process's parts, whose memory may be written; none any more once the loan has ended.
    fn parts(&self, py: Python<'_>) -> PyResult<Vec<Py<Part>>> {
        let lent = self.lent.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let parts = lent.as_ref().map(|(lent, _)| lent.parts().to_vec()).unwrap_or_default();
        drop(lent);
        shown(py, parts, self.element, &self.loan)
    }

    /// Gives the array back, with what was written. Waits for CUDA devices.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let lent = self.lent.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).take();
        let Some((lent, mut home)) = lent else { return Ok(()) };
        if let Some(open) = &self.loan {
            open.store(false, Ordering::Release);
        }
        let array = released(py, || lent.end(home.as_mut())).map_err(raised)?;
        let handle = self.handle.get();
        handle.put(py, array);
        handle.move_in(py, home);
        if self.element != Element::Real(DType::Bool) {
            return Ok(());
        }
        // Any bytes may have been written, but operations expect 0 and 1.
        let bools = handle.value(py)?.array.cast(DType::U8).not_equal(0);
        detached(py, || bools.eval())?;
        handle.restore(py, bools)
    }
}
