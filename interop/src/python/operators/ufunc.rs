//! `UfuncBase`: the base of functions of elements. A call with arrays alone, where no rule of NumPy's has to
//! decide, is recorded here; all other calls are Python's `_called`.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::foreign::array_base::{plain, plain1};

/// The function's name in the engine, for those that the engine has.
#[pyclass(subclass, frozen, module = "partita._native")]
pub struct UfuncBase(Option<String>);

#[pymethods]
impl UfuncBase {
    /// Of a Python function, whose attribute `operation` is the engine's name.
    #[new]
    #[pyo3(signature = (_name, function, *_rest, **_words))]
    fn new(
        _name: &str,
        function: &Bound<'_, PyAny>,
        _rest: &Bound<'_, PyTuple>,
        _words: Option<&Bound<'_, PyDict>>,
    ) -> UfuncBase {
        UfuncBase(function.getattr("operation").and_then(|name| name.extract()).ok())
    }

    #[pyo3(signature = (*args, **settings))]
    fn __call__<'py>(
        slf: &Bound<'py, UfuncBase>,
        args: &Bound<'py, PyTuple>,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let (Some(name), None) = (&slf.get().0, settings) {
            let made = match args.len() {
                1 => plain1(name, &args.get_item(0)?)?,
                2 => plain(name, &args.get_item(0)?, &args.get_item(1)?)?,
                _ => None,
            };
            if let Some(made) = made {
                return Ok(made);
            }
        }
        slf.call_method(intern!(slf.py(), "_called"), args, settings)
    }
}
