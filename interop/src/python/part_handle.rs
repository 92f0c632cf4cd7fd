//! The classes of parts, and the parts of an array; the methods of the classes are in `part`.

use std::sync::Arc;

use partita::array::Cells;
use pyo3::prelude::*;

use super::arrays::typed::Typed;
use super::runtime::error::{detached, raised};
use crate::element::TypedPart;

/// What one member of the team holds of an array. Its memory is the cells it owns.
#[pyclass(frozen, module = "partita")]
pub struct Part(pub TypedPart);

/// A part with its halo: its memory is all cells it stores.
#[pyclass(frozen, module = "partita")]
pub struct Stored(pub TypedPart);

/// The parts of an array; of one without dimensions the only one, at the process that has it.
pub fn parts(py: Python<'_>, typed: &Typed, is_scalar: bool) -> PyResult<Vec<Part>> {
    let parts = detached(py, || typed.array.parts())?;
    let typed = |part| TypedPart { part: Arc::new(part), element: typed.element };
    let mut parts = parts.into_iter().map(typed);
    if !is_scalar {
        return Ok(parts.map(Part).collect());
    }
    let holder = parts.find(|part| !part.region(Cells::Owned).is_empty());
    holder.map(|part| part.without_dimensions().map(Part).map_err(raised)).into_iter().collect()
}
