//! Conversions of Python's arguments to the engine's terms: dtypes by NumPy's names, numbers, views; and of
//! results to tuples.

use partita::index::Index;
use partita::{DType, Scalar};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt, PyTuple};

use super::typed::Number;
use crate::element::Element;

/// The element type of a name.
pub fn element(name: &str) -> PyResult<Element> {
    Element::named(name).ok_or_else(|| {
        let names = Element::names();
        PyTypeError::new_err(format!("dtype: expected one of {names}, given {name}; convert it first"))
    })
}

/// True for the numbers of Python that are no complex ones, and none of NumPy's.
pub fn is_number(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyBool>()
}

/// A Python number as a constant. As in NumPy's assignments, integer dtypes take the integral part of a
/// float. What they do not hold is an error: ValueError for NaN, OverflowError for infinities and for
/// integers beyond the ends.
pub fn scalar(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Scalar> {
    if value.is_instance_of::<PyBool>() || dtype == DType::Bool {
        return Ok(Scalar::from_i64(dtype, i64::from(value.is_truthy()?)));
    }
    if value.is_instance_of::<PyFloat>() && dtype.is_integer() {
        return scalar(&value.call_method0("__trunc__")?, dtype);
    }
    if value.is_instance_of::<PyInt>() && dtype.is_integer() {
        let given = value.extract::<i128>().ok();
        let fitting = given.and_then(|value| {
            let scalar = Scalar { dtype, bits: value as u64 & (u64::MAX >> (64 - 8 * dtype.size_bytes())) };
            let back =
                if dtype == DType::U64 { i128::from(scalar.bits) } else { i128::from(scalar.to_i64()) };
            (back == value).then_some(scalar)
        });
        return fitting.ok_or_else(|| {
            let name = Element::Real(dtype).name();
            let text = format!("Python integer {value} out of bounds for {name}");
            PyOverflowError::new_err(text)
        });
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(Scalar::from_f64(dtype, value.extract::<f64>()?));
    }
    let (name, given) = (Element::Real(dtype).name(), value.get_type().name()?);
    let text = format!("number for {name}: expected a bool, int or float, given {given}; convert it first");
    Err(PyTypeError::new_err(text))
}

/// A Python number in a type.
pub fn number(value: &Bound<'_, PyAny>, element: Element) -> PyResult<Number> {
    let Element::Complex(_) = element else { return scalar(value, element.dtype()).map(Number::Real) };
    match value.cast::<PyComplex>() {
        Ok(value) => Ok(Number::Complex(value.real(), value.imag())),
        Err(_) => {
            let real = scalar(value, element.dtype())?;
            Ok(Number::Complex(real.to_f64(), 0.0))
        }
    }
}

/// A constant as a Python number.
pub fn python_number(py: Python<'_>, scalar: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match scalar.dtype {
        DType::Bool => (scalar.bits != 0).into_pyobject(py)?.to_owned().into_any(),
        DType::U64 => scalar.bits.into_pyobject(py)?.into_any(),
        dtype if dtype.is_float() => scalar.to_f64().into_pyobject(py)?.into_any(),
        _ => scalar.to_i64().into_pyobject(py)?.into_any(),
    })
}

/// A number of parts or the like: an int of at least 0.
pub fn count(operation: &str, what: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let expected = format!("{operation}: expected {what}");
    let Ok(number) = value.extract::<i64>() else {
        return Err(PyTypeError::new_err(format!("{expected} an int, given {value}; convert it with int()")));
    };
    usize::try_from(number).map_err(|_| {
        PyValueError::new_err(format!("{expected} of at least 0, given {number}; use a larger number"))
    })
}

/// Coordinates as a tuple.
pub fn tuple<'py>(py: Python<'py>, index: &Index) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, index.iter())
}
