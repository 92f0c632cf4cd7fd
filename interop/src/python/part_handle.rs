//! The classes of parts, and the parts of an array; the methods of the classes are in `part`.

use std::sync::Arc;

use partita::array::Cells;
use pyo3::prelude::*;

use super::arrays::typed::Typed;
use super::runtime::{detached, raised};
use crate::element::TypedPart;

/// Cells in one device's memory that other packages can read.
#[pyclass(frozen, subclass, module = "partita")]
pub struct Memory {
    /// The part that has them.
    pub typed: TypedPart,
    /// Which of its cells.
    pub cells: Cells,
}

/// What one member of the team holds of an array. Its memory is the cells it owns.
#[pyclass(frozen, extends = Memory, module = "partita")]
pub struct Part;

/// A part with its halo: its memory is all cells it stores.
#[pyclass(frozen, extends = Memory, module = "partita")]
pub struct Stored;

impl Part {
    fn of(py: Python<'_>, typed: TypedPart) -> PyResult<Py<Part>> {
        let memory = Memory { typed, cells: Cells::Owned };
        Py::new(py, PyClassInitializer::from(memory).add_subclass(Part))
    }
}

impl Stored {
    /// All cells that a part stores.
    pub fn of(py: Python<'_>, typed: TypedPart) -> PyResult<Py<Stored>> {
        let memory = Memory { typed, cells: Cells::Stored };
        Py::new(py, PyClassInitializer::from(memory).add_subclass(Stored))
    }
}

/// The parts of an array; of one without dimensions the only one, at the process that has it.
pub fn parts(py: Python<'_>, typed: &Typed, is_scalar: bool) -> PyResult<Vec<Py<Part>>> {
    let parts = detached(py, || typed.array.parts())?;
    let typed = |part| TypedPart { part: Arc::new(part), element: typed.element };
    let mut parts = parts.into_iter().map(typed);
    if !is_scalar {
        return parts.map(|part| Part::of(py, part)).collect();
    }
    let holder = parts.find(|part| !part.region(Cells::Owned).is_empty());
    holder.map(|part| Part::of(py, part.without_dimensions().map_err(raised)?)).into_iter().collect()
}
