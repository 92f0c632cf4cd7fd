//! Conversion between Python objects and [`Value`]s. Reading never raises: an unreadable object becomes
//! `Other` with the name of its type, and the description is then refused.

use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple};

use super::part_handle::Memory;
use crate::value::{Buffer, Dict, IndexArray, Value};

/// Descriptions are shallow; what goes deeper is no description, and may contain itself.
const DEEPEST: usize = 8;

/// The way to read an object: the key it stands under says whether its numbers matter.
#[derive(Clone, Copy)]
enum Role {
    Plain,
    Indices,
    Cells,
}

impl Role {
    fn of(key: &Value) -> Role {
        match key {
            Value::Str(key) if key == "indices" => Role::Indices,
            Value::Str(key) if key == "buffer" || key == "data" => Role::Cells,
            _ => Role::Plain,
        }
    }
}

/// The value of an object.
pub fn read(object: &Bound<'_, PyAny>) -> Value {
    seen(object, Role::Plain, DEEPEST)
}

fn seen(object: &Bound<'_, PyAny>, role: Role, deepest: usize) -> Value {
    let other = || Value::Other(object.get_type().name().map_or("object".to_owned(), |n| n.to_string()));
    let Some(deepest) = deepest.checked_sub(1) else { return other() };
    let inner = |item: Bound<'_, PyAny>| seen(&item, Role::Plain, deepest);
    // NumPy's numbers are Python's, too, and have a buffer without dimensions.
    if matches!(role, Role::Cells)
        && !object.is_exact_instance_of::<PyFloat>()
        && let Some(memory) = cells(object)
    {
        return memory;
    }
    if object.is_none() {
        Value::None
    } else if let Ok(flag) = object.cast::<PyBool>() {
        Value::Bool(flag.is_true())
    } else if object.is_instance_of::<PyInt>() {
        object.extract().map_or(Value::HugeInt, Value::Int)
    } else if object.is_instance_of::<PyFloat>() {
        object.extract().map_or_else(|_| other(), Value::Float)
    } else if object.is_instance_of::<PyString>() {
        object.extract().map_or_else(|_| other(), Value::Str)
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        Value::Tuple(tuple.iter().map(inner).collect())
    } else if let Ok(list) = object.cast::<PyList>() {
        Value::List(list.iter().map(inner).collect())
    } else if let Ok(dict) = object.cast::<PyDict>() {
        let entries = dict.iter().map(|(key, value)| {
            let key = inner(key);
            let value = seen(&value, Role::of(&key), deepest);
            (key, value)
        });
        Value::Dict(Dict(entries.collect()))
    } else {
        let read = match role {
            Role::Plain => integer(object),
            Role::Indices => indices(object),
            Role::Cells => None,
        };
        read.unwrap_or_else(|| if object.is_callable() { Value::Callable } else { other() })
    }
}

/// NumPy's integers; arrays of one integer would pass, too, and are none.
fn integer(object: &Bound<'_, PyAny>) -> Option<Value> {
    let scalar = object.getattr("ndim").map_or(true, |ndim| ndim.extract::<usize>().is_ok_and(|n| n == 0));
    let index = object.call_method0("__index__").ok().filter(|_| scalar)?;
    Some(index.extract().map_or(Value::HugeInt, Value::Int))
}

fn untyped(object: &Bound<'_, PyAny>) -> Option<PyUntypedBuffer> {
    PyUntypedBuffer::get(object).ok()
}

fn shape(buffer: &PyUntypedBuffer) -> Option<Vec<i64>> {
    buffer.shape().iter().map(|&extent| i64::try_from(extent).ok()).collect()
}

fn indices(object: &Bound<'_, PyAny>) -> Option<Value> {
    let buffer = untyped(object)?;
    let dtype = object
        .getattr("dtype")
        .map_or_else(|_| buffer.format().to_string_lossy().into_owned(), |d| d.to_string());
    let data =
        PyBuffer::<i64>::get(object).ok().and_then(|buffer| buffer.to_vec(object.py()).ok()).or_else(|| {
            // Other integers, if all fit.
            let listed = object.call_method0("tolist").ok()?;
            listed.cast::<PyList>().ok()?.iter().map(|i| i.cast::<PyInt>().ok()?.extract().ok()).collect()
        });
    Some(Value::Array(IndexArray { dtype, shape: shape(&buffer)?, data }))
}

/// Memory of ours, which nobody needs to fetch to know what it is.
fn ours(object: &Bound<'_, PyAny>) -> Option<Value> {
    let Memory { typed: part, cells, .. } = object.cast::<Memory>().ok()?.get();
    let (region, itemsize) = (part.region(*cells), part.element.size_bytes() as i64);
    Some(Value::Buffer(Buffer {
        shape: region.extents().to_vec(),
        format: part.element.format().to_owned(),
        itemsize,
        nbytes: region.volume().ok()?.checked_mul(itemsize)?,
    }))
}

fn cells(object: &Bound<'_, PyAny>) -> Option<Value> {
    if let Some(known) = ours(object) {
        return Some(known);
    }
    // PyO3's buffers have at least one dimension.
    let buffer = PyMemoryView::from(object).ok().or_else(|| {
        // Peers whose arrays have DLPack alone.
        object.getattr("__dlpack__").ok()?;
        let keywords = PyDict::new(object.py());
        keywords.set_item("device", "cpu").ok()?;
        let numpy = object.py().import("numpy").ok()?;
        PyMemoryView::from(&numpy.call_method("from_dlpack", (object,), Some(&keywords)).ok()?).ok()
    })?;
    let count = |name: &str| buffer.getattr(name).ok()?.extract().ok();
    Some(Value::Buffer(Buffer {
        shape: buffer.getattr("shape").ok()?.extract().ok()?,
        format: buffer.getattr("format").ok()?.extract().ok()?,
        itemsize: count("itemsize")?,
        nbytes: count("nbytes")?,
    }))
}

/// The object of a value that we made.
pub fn write<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    let all = |values: &[Value]| values.iter().map(|value| write(py, value)).collect::<PyResult<Vec<_>>>();
    Ok(match value {
        Value::None | Value::Callable => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Str(text) => PyString::new(py, text).into_any(),
        Value::Tuple(values) => PyTuple::new(py, all(values)?)?.into_any(),
        Value::List(values) => PyList::new(py, all(values)?)?.into_any(),
        Value::Dict(Dict(entries)) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(write(py, key)?, write(py, value)?)?;
            }
            dict.into_any()
        }
        Value::Array(IndexArray { data: Some(data), .. }) => {
            py.import("numpy")?.call_method1("array", (PyList::new(py, data)?, "int64"))?
        }
        Value::Array(_) | Value::Buffer(_) | Value::HugeInt | Value::Other(_) => {
            return Err(PyTypeError::new_err(format!(
                "a description holds {}, which has no object",
                value.kind()
            )));
        }
    })
}
