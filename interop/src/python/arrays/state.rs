//! Saved states: the engine's, with arrays in the shapes and types that Python's users see.

use std::path::PathBuf;

use partita::io::{self, Saved, Value};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::handle::Array;
use super::typed::Typed;
use crate::element::Element;
use crate::python::device::Team;
use crate::python::distribution::Distribution;
use crate::python::runtime::{detached, raised};

/// A value that is saved under a name. To Python a bool is an int too, so it comes first.
#[derive(FromPyObject)]
pub enum Item<'py> {
    Array(PyRef<'py, Array>),
    Bool(Bound<'py, PyBool>),
    Int(i64),
    Float(f64),
    Text(String),
}

/// The value of a name in a saved state: of an array the shape and the name of its elements.
#[derive(IntoPyObject)]
pub enum Described {
    Array((Vec<i64>, &'static str)),
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// An array in the shape that Python's users see.
fn shaped(value: Typed) -> Saved {
    let shape = value.shape().to_vec();
    let Typed { array, element } = value;
    Saved::Shaped { array, shape, pairs: matches!(element, Element::Complex(_)) }
}

/// Writes an array to a `.npy` file. Collective.
#[pyfunction]
pub fn save_npy(py: Python<'_>, team: &Team, file: PathBuf, array: PyRef<'_, Array>) -> PyResult<()> {
    let (team, saved) = (&team.0, shaped(array.value(py)?));
    detached(py, || io::save_npy(team, file, &saved))
}

/// Saves what has names. Collective.
#[pyfunction]
pub fn save_state(
    py: Python<'_>,
    team: &Team,
    folder: PathBuf,
    items: Vec<(String, Item<'_>)>,
) -> PyResult<()> {
    let saved = |(name, item): (String, Item<'_>)| {
        let value = match item {
            Item::Array(array) => shaped(array.value(py)?),
            Item::Bool(value) => value.is_true().into(),
            Item::Int(value) => value.into(),
            Item::Float(value) => value.into(),
            Item::Text(value) => value.into(),
        };
        Ok((name, value))
    };
    let items = items.into_iter().map(saved).collect::<PyResult<Vec<_>>>()?;
    let team = &team.0;
    detached(py, || {
        let named: Vec<(&str, Saved)> = items.iter().map(|(name, item)| (&name[..], item.clone())).collect();
        io::save_state(team, folder, &named)
    })
}

/// A state that was saved.
#[pyclass(frozen, module = "partita._native")]
pub struct SavedState(io::SavedState);

#[pymethods]
impl SavedState {
    /// The state that was saved last in a folder. Collective.
    #[new]
    fn new(py: Python<'_>, team: &Team, folder: PathBuf) -> PyResult<SavedState> {
        let team = &team.0;
        detached(py, || io::SavedState::open(team, folder)).map(SavedState)
    }

    /// The names, each with what it stands for.
    fn items(&self) -> PyResult<Vec<(&str, Described)>> {
        let item = |name| {
            let described = match self.0.value(name)? {
                Some(Value::Bool(value)) => Described::Bool(*value),
                Some(Value::Int(value)) => Described::Int(*value),
                Some(Value::Float(value)) => Described::Float(*value),
                Some(Value::Text(value)) => Described::Text(value.clone()),
                None => Described::Array((self.0.layout(name)?.0.to_vec(), self.element(name)?.name())),
            };
            Ok((name, described))
        };
        self.0.names().map(item).collect::<partita::Result<_>>().map_err(raised)
    }

    /// An array. Collective.
    fn array(&self, py: Python<'_>, name: &str, dist: &Distribution) -> PyResult<Array> {
        let loaded = detached(py, || {
            let element = self.element(name)?;
            let array = self.0.array(name, &dist.team, &element.stored(&dist.dist)?)?;
            Ok(Typed { array, element })
        });
        loaded.map(Array::of)
    }
}

impl SavedState {
    fn element(&self, name: &str) -> partita::Result<Element> {
        let (_, dtype, pairs) = self.0.layout(name)?;
        Ok(if pairs { Element::Complex(dtype) } else { Element::Real(dtype) })
    }
}
