//! The classes of parts; their methods are in `part`.

use pyo3::prelude::*;

use crate::element::TypedPart;

/// What one member of the team holds of an array. Its memory is the cells it owns.
#[pyclass(frozen, module = "partita")]
pub struct Part(pub TypedPart);

/// A part with its halo: its memory is all cells it stores.
#[pyclass(frozen, module = "partita")]
pub struct Stored(pub TypedPart);
