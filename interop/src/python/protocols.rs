//! `__distarray__` and `__partitioned__`: descriptions of parts, and distributions from descriptions. Python
//! fetches the memory itself.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::device::{Team, default_team};
use super::distribution::Distribution;
use super::part_handle::{Memory, Stored};
use super::runtime::{detached, raised};
use super::value::{read, write};
use crate::distarray;
use crate::partitioned::{self, PartitionLocation};
use crate::value::{Refusal, Value};

fn refused(refusal: Refusal) -> PyErr {
    PyValueError::new_err(refusal.to_string())
}

/// A part's description in `__distarray__`, its buffer None; that buffer's shape, and its memory. A
/// part that owns nothing has no memory, whatever the shape.
#[pyfunction]
pub fn export_distarray<'py>(
    py: Python<'py>,
    part: &Memory,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>, Py<Stored>)> {
    let (dist, index) = (part.typed.distribution().map_err(raised)?, part.typed.part.index());
    let described = distarray::PartDescription::from_distribution(&dist, index).map_err(refused)?;
    let window = distarray::PartDescription::window(&dist, index).map_err(refused)?;
    let memory = Stored::of(py, part.typed.narrowed(&window).map_err(raised)?, part.loan.clone())?;
    Ok((write(py, &described.to_value(Value::None))?, PyTuple::new(py, described.shape())?, memory))
}

/// `__partitioned__` of a distribution, with None as data and `get`; and the parts that hold each entry.
#[pyfunction]
pub fn export_partitioned<'py>(
    py: Python<'py>,
    dist: &Distribution,
    locations: Vec<(String, i64, String)>,
) -> PyResult<(Bound<'py, PyAny>, Vec<Vec<usize>>)> {
    let place = |part: usize| {
        let (ip, pid, device) = locations.get(part).cloned().unwrap_or_default();
        PartitionLocation::Process { ip, pid, device: Some(device) }
    };
    let described = partitioned::Description::from_distribution(&dist.dist, place).map_err(refused)?;
    let holders = partitioned::tiles(&dist.dist).map_err(refused)?.1.into_iter().map(|(_, parts)| parts);
    Ok((write(py, &described.to_value(Value::Callable).map_err(refused)?)?, holders.collect()))
}

/// The distribution that the descriptions of all parts, in order, describe together.
#[pyfunction]
#[pyo3(signature = (parts, team = None))]
pub fn read_distarray(
    py: Python<'_>,
    parts: &Bound<'_, PyList>,
    team: Option<&Team>,
) -> PyResult<Distribution> {
    let values: Vec<Value> = parts.iter().map(|part| read(&part)).collect();
    let described = distarray::parse_all(&values).map_err(refused)?;
    over(py, distarray::to_distribution(&described).map_err(refused)?, team)
}

/// The distribution that a `__partitioned__` describes.
#[pyfunction]
#[pyo3(signature = (described, team = None))]
pub fn read_partitioned(
    py: Python<'_>,
    described: &Bound<'_, PyAny>,
    team: Option<&Team>,
) -> PyResult<Distribution> {
    let described = partitioned::Description::parse(&read(described)).map_err(refused)?;
    over(py, described.to_distribution().map_err(refused)?, team)
}

/// The distribution over a team that has as many members.
fn over(py: Python<'_>, dist: partita::Distribution, team: Option<&Team>) -> PyResult<Distribution> {
    let team = match team {
        Some(team) => team.0.clone(),
        None => match default_team(py)? {
            team if team.ranks() > 1 => team,
            _ => detached(py, || partita::Team::local(dist.parts()))?,
        },
    };
    if team.size() == dist.parts() {
        return Ok(Distribution { team, dist });
    }
    let (expected, given) = (dist.parts(), team.size());
    Err(PyValueError::new_err(format!(
        "expected a team of {expected} members, one per part described, given {given}; make one of that size"
    )))
}

/// Whether a description, or a list of those of all parts, is well-formed; and why not.
#[pyfunction]
pub fn validate_distarray(described: &Bound<'_, PyAny>) -> (bool, String) {
    distarray::validate(&read(described))
}

/// Whether a dim_data, all entries of a part, is well-formed without its buffer; and why not. Local.
#[pyfunction]
pub fn validate_dim_data(dim_data: &Bound<'_, PyAny>) -> (bool, String) {
    distarray::validate_dim_data(&read(dim_data))
}

/// Whether one entry of a dim_data is well-formed; and why not. Local.
#[pyfunction]
pub fn validate_dim_dict(dim_dict: &Bound<'_, PyAny>) -> (bool, String) {
    distarray::validate_dim_data(&Value::Tuple(vec![read(dim_dict)]))
}

/// The ranks of a part's (left, right) neighbours per dimension, from its own description alone; None at the
/// ends of dimensions that are not periodic. ValueError for what is malformed. Local.
#[pyfunction]
pub fn neighbors_from_distarray<'py>(
    py: Python<'py>,
    described: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyTuple>> {
    let part = distarray::PartDescription::parse(&read(described)).map_err(refused)?;
    PyTuple::new(py, part.neighbors().map_err(raised)?)
}

/// Whether a description is well-formed; and why not.
#[pyfunction]
pub fn validate_partitioned(described: &Bound<'_, PyAny>) -> (bool, String) {
    partitioned::validate(&read(described))
}
