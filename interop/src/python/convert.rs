//! Dtypes by NumPy's names, numbers and tuples.

use partita::index::Index;
use partita::{DType, Scalar};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple};

const NAMES: [(&str, DType); 13] = [
    ("bool", DType::Bool),
    ("int8", DType::I8),
    ("int16", DType::I16),
    ("int32", DType::I32),
    ("int64", DType::I64),
    ("uint8", DType::U8),
    ("uint16", DType::U16),
    ("uint32", DType::U32),
    ("uint64", DType::U64),
    ("float16", DType::F16),
    ("bfloat16", DType::BF16),
    ("float32", DType::F32),
    ("float64", DType::F64),
];

/// The dtype of a name.
pub fn dtype(name: &str) -> PyResult<DType> {
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, dtype)| *dtype).ok_or_else(|| {
        let names = NAMES.map(|(known, _)| known).join(", ");
        PyTypeError::new_err(format!("dtype: expected one of {names}, given {name}; convert it first"))
    })
}

/// The name of a dtype.
pub fn name(dtype: DType) -> &'static str {
    NAMES.iter().find(|(_, known)| *known == dtype).map_or("", |(name, _)| name)
}

/// A Python number as a constant; integers must fit integer dtypes.
pub fn scalar(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Scalar> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Scalar::from_i64(dtype, i64::from(value.extract::<bool>()?)));
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
            let text = format!("Python integer {value} out of bounds for {}", name(dtype));
            PyOverflowError::new_err(text)
        });
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(Scalar::from_f64(dtype, value.extract::<f64>()?));
    }
    let given = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("expected a bool, int or float, given {given}; convert it first")))
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
