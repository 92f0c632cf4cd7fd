//! Arrays over or from the memory of other libraries: of their objects, where nothing needs to be chosen, and
//! of DLPack capsules.

use std::cell::RefCell;
use std::collections::HashMap;

use dlpark::ffi::{DLDevice, DLDeviceType};
use partita::index::Index;
use partita::{Array, Result};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyType};

use super::typed::Typed;
use crate::dlpack::is_on_host;
use crate::element::Element;
use crate::foreign::capsule;
use crate::foreign::capsule::location;
use crate::python::device::{Team, default_team};
use crate::python::distribution::Distribution;
use crate::python::runtime::detached;
use crate::python::runtime::released;

/// Distributions of whole arrays on the host's one part: making one takes longer than sharing memory.
const MOST_LINES: usize = 256;

thread_local! {
    static LINES: RefCell<HashMap<Index, Distribution>> = RefCell::default();
}

/// The distribution of an array on the host's one part.
fn host_line(shape: &Index) -> Result<Distribution> {
    LINES.with_borrow_mut(|lines| {
        if let Some(known) = lines.get(shape) {
            return Ok(known.clone());
        }
        if lines.len() >= MOST_LINES {
            lines.clear();
        }
        let team = partita::Team::on(&partita::Device::named("host")?, 1)?;
        let made = Distribution { team, dist: partita::Distribution::default_partition(1, shape)? };
        lines.insert(*shape, made.clone());
        Ok(made)
    })
}

/// The host memory of an object that exports it as it is, on one part: what `from_dlpack` does when nothing
/// but the object is given, in one call. `None` for everything that takes a choice or explanation: capsules,
/// other devices, torch's views, exporters from before version 1, no dimensions; and unless it `must` be
/// shared, for what [`capsule::held`] refuses.
///
/// # Errors
/// The error that the exporter raises, and refusals.
pub fn on_host(py: Python<'_>, object: &Bound<'_, PyAny>, must: bool) -> PyResult<Option<Typed>> {
    match lent_by_host(py, object) {
        Err(error) if !must && error.is_instance_of::<PyBufferError>(py) => Ok(None),
        lent => lent,
    }
}

fn lent_by_host(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Option<Typed>> {
    if object.is_instance_of::<PyCapsule>() || is_view_of_torch(py, object)? {
        return Ok(None);
    }
    let Ok(place) = object.call_method0(intern!(py, "__dlpack_device__")) else { return Ok(None) };
    let Ok((kind, device_id)) = place.extract::<(u32, i32)>() else { return Ok(None) };
    if !is_on_host(DLDevice { device_type: DLDeviceType(kind), device_id }) {
        return Ok(None);
    }
    let capsule = match object.call_method(intern!(py, "__dlpack__"), (), Some(request(py)?)) {
        Ok(capsule) => capsule,
        Err(error) if error.is_instance_of::<PyTypeError>(py) => return Ok(None),
        Err(error) => return Err(error),
    };
    let borrowed = capsule::adopt(&capsule)?;
    if borrowed.rank() == 0 {
        return Ok(None);
    }
    let host = partita::Device::all().first().filter(|device| location(device) == DLDevice::CPU);
    let Some(host) = host else { return Ok(None) };
    let (memory, buffer) = capsule::held(borrowed, host, DLDevice::CPU, false)?;
    let element = memory.element;
    let make = || {
        let line = host_line(&memory.shape)?;
        let array =
            Array::from_buffers(&line.team, &element.stored(&line.dist)?, element.dtype(), vec![buffer])?;
        Ok(Typed { array, element })
    };
    let made: Result<Typed> = make();
    made.map(Some).map_err(|error| PyBufferError::new_err(error.to_string()))
}

/// The request of a consumer of version 1.
fn request(py: Python<'_>) -> PyResult<&Bound<'_, PyDict>> {
    static REQUEST: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let make = || {
        let asked = PyDict::new(py);
        asked.set_item("max_version", (1, 0))?;
        Ok::<_, PyErr>(asked.unbind())
    };
    Ok(REQUEST.get_or_try_init(py, make)?.bind(py))
}

/// True if the object is one of torch's whose elements are computed when they are read, or recorded.
fn is_view_of_torch(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let modules = || Ok::<_, PyErr>(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.unbind());
    let class = match CLASS.get(py) {
        Some(class) => class.bind(py),
        None => {
            let modules = MODULES.get_or_try_init(py, modules)?.bind(py);
            let Some(torch) = modules.get_item(intern!(py, "torch"))? else { return Ok(false) };
            // While torch is being imported its class is not there yet.
            let Ok(class) = torch.getattr(intern!(py, "Tensor")) else { return Ok(false) };
            CLASS.get_or_try_init(py, || Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind()))?.bind(py)
        }
    };
    if !object.get_type().is_subclass(class)? {
        return Ok(false);
    }
    let says = |name| object.call_method0(name)?.is_truthy();
    Ok(says(intern!(py, "is_conj"))?
        || says(intern!(py, "is_neg"))?
        || object.getattr(intern!(py, "requires_grad"))?.is_truthy()?)
}

/// The memory of the arrays in the capsules, one per part of this process, where it is. A process without
/// parts says what the elements are.
pub fn over(
    py: Python<'_>,
    dist: &Distribution,
    element: Option<Element>,
    capsules: &[Bound<'_, PyAny>],
    writable: bool,
) -> PyResult<Typed> {
    let (team, mut pieces, mut places) = (&dist.team, Vec::new(), Vec::new());
    let mut kind = element;
    let refuse = |text: String| PyBufferError::new_err(format!("from_dlpack: {text}; allow a copy"));
    let here: Vec<usize> = (0..team.size()).filter(|&part| team.is_here(part)).collect();
    if capsules.len() != here.len() {
        return Err(refuse(format!("expected {} capsules, given {}", here.len(), capsules.len())));
    }
    for (part, capsule) in here.into_iter().zip(capsules) {
        let device = team.device(part);
        let (memory, buffer) = capsule::share(capsule, device, location(device), writable)?;
        let extents = dist.dist.owned(part).extents();
        if memory.shape != extents {
            let (expected, given) = (extents, memory.shape);
            return Err(refuse(format!("expected shape {expected} for part {part}, given {given}")));
        }
        if *kind.get_or_insert(memory.element) != memory.element {
            let (one, other) = (memory.element.name(), kind.map_or("", Element::name));
            return Err(refuse(format!("expected parts of one dtype, given {other} and {one}")));
        }
        places.push((location(device).into(), memory.address, memory.bytes));
        pieces.push(buffer);
    }
    places.sort_unstable();
    let overlaps =
        |pair: &[((u32, i32), u64, u64)]| pair[0].0 == pair[1].0 && pair[1].1 - pair[0].1 < pair[0].2;
    if writable && places.windows(2).any(overlaps) {
        return Err(refuse("expected parts in memory of their own, given parts that overlap".into()));
    }
    let Some(element) = kind else {
        return Err(refuse("expected at least one part, given none".into()));
    };
    let make = || {
        let array = Array::from_buffers(team, &element.stored(&dist.dist)?, element.dtype(), pieces)?;
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
