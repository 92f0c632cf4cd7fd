//! Arrays over or from the memory of other libraries, given as DLPack capsules.

use partita::{Array, Result};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

use super::typed::Typed;
use crate::element::Element;
use crate::foreign::capsule;
use crate::foreign::capsule::location;
use crate::python::device::{Team, default_team};
use crate::python::distribution::Distribution;
use crate::python::runtime::detached;
use crate::python::runtime::released;

/// The memory of the arrays in the capsules, one per part of this process, where it is. A process without
/// parts says what the elements are.
pub fn over(
    py: Python<'_>,
    dist: &Distribution,
    element: Option<Element>,
    capsules: &[Bound<'_, PyAny>],
) -> PyResult<Typed> {
    let (team, mut pieces) = (&dist.team, Vec::new());
    let mut kind = element;
    let refuse = |text: String| PyBufferError::new_err(format!("from_dlpack: {text}; allow a copy"));
    let here: Vec<usize> = (0..team.size()).filter(|&part| team.is_here(part)).collect();
    if capsules.len() != here.len() {
        return Err(refuse(format!("expected {} capsules, given {}", here.len(), capsules.len())));
    }
    for (part, capsule) in here.into_iter().zip(capsules) {
        let device = team.device(part);
        let (memory, buffer) = capsule::share(capsule, device, location(device))?;
        let extents = dist.dist.owned(part).extents();
        if memory.shape != extents {
            let (expected, given) = (extents, memory.shape);
            return Err(refuse(format!("expected shape {expected} for part {part}, given {given}")));
        }
        if *kind.get_or_insert(memory.element) != memory.element {
            let (one, other) = (memory.element.name(), kind.map_or("", Element::name));
            return Err(refuse(format!("expected parts of one dtype, given {other} and {one}")));
        }
        pieces.push(buffer);
    }
    let Some(element) = kind else {
        return Err(refuse("expected at least one part, given none".into()));
    };
    let make = || {
        let array = Array::over(team, &element.stored(&dist.dist)?, element.dtype(), pieces)?;
        Ok(Typed { array, element })
    };
    let made: Result<Typed> = released(py, make);
    made.map_err(|error| PyBufferError::new_err(error.to_string()))
}

/// A copy of the array in a capsule.
pub fn copy_of(
    py: Python<'_>,
    capsule: &Bound<'_, PyAny>,
    dist: Option<&Distribution>,
    team: Option<&Team>,
) -> PyResult<Typed> {
    let elements = capsule::take(capsule)?;
    let team = match (dist, team) {
        (Some(dist), _) => dist.team.clone(),
        (None, Some(team)) => team.0.clone(),
        (None, None) => default_team(py)?,
    };
    let made = detached(py, || {
        let dist = match dist {
            Some(dist) => dist.dist.clone(),
            None => partita::Distribution::default_partition(team.size(), &elements.shape)?,
        };
        if dist.shape() != elements.shape {
            return Ok(None);
        }
        let element = elements.element;
        let stored = element.stored(&dist)?;
        let array = Array::from_bytes(&team, &stored, element.dtype(), &elements.bytes)?;
        Ok(Some(Typed { array, element }))
    })?;
    made.ok_or_else(|| {
        PyValueError::new_err(format!(
            "from_dlpack: expected an array of the distribution's shape, given {}; make one for it",
            elements.shape
        ))
    })
}
