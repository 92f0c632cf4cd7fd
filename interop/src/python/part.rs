//! Methods of the classes of parts, among them the DLPack methods that lend memory.

use dlpark::ffi::{DLDevice, DLDeviceType};
use partita::DType;
use partita::array::{self, Cells};
use partita::device::DeviceKind;
use partita::index::Index;
use pyo3::PyClass;
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::arrays::convert::tuple;
use super::device::Device;
use super::distribution::owned;
use super::part_handle::{Memory, Part, Stored};
use super::runtime::{detached, raised};
use crate::dlpack::{Loan, place_name};
use crate::element::Element;
use crate::foreign::capsule::{place, publish};
use crate::foreign::exchange_table;

/// The request of a consumer of `__dlpack__`.
struct ExportRequest<'a, 'py> {
    stream: Option<&'a Bound<'py, PyAny>>,
    versioned: bool,
    device: Option<(i32, i32)>,
    copy: Option<bool>,
}

/// Runs what waits for devices that share their memory with the host, and only for those: letting the
/// interpreter go takes as long as an export.
fn waiting<T: Send>(
    py: Python<'_>,
    part: &array::Part,
    work: impl FnOnce() -> partita::Result<T> + Send,
) -> PyResult<T> {
    match part.device().kind() {
        DeviceKind::Wgpu => detached(py, work),
        _ => work().map_err(raised),
    }
}

/// A capsule with the cells, as the consumer request, or BufferError.
fn lend(py: Python<'_>, memory: &Memory, request: &ExportRequest) -> PyResult<Py<PyAny>> {
    let Memory { typed, cells, .. } = memory;
    let (part, cells, writable) = (&typed.part, *cells, memory.is_writable());
    let refuse = |text: String| Err(PyBufferError::new_err(format!("__dlpack__: {text}")));
    let here = place(part);
    let asked = |(kind, device_id)| DLDevice { device_type: DLDeviceType(kind as u32), device_id };
    let wanted = request.device.map_or(here, asked);
    if request.stream.is_some() && wanted == DLDevice::CPU {
        return refuse("expected stream=None for host memory, given a stream; leave it out".to_owned());
    }
    let reachable = wanted == DLDevice::CPU || (wanted == here && here.device_type == DLDeviceType::CUDA);
    if !reachable {
        return refuse(format!(
            "expected a consumer of host memory, given {} and a request for {}; ask for a copy on the \
             host: dl_device=(1, 0), in NumPy from_dlpack(x, device='cpu')",
            part.device().name(),
            place_name(wanted)
        ));
    }
    if writable && !request.versioned && request.copy != Some(true) {
        return refuse(
            "expected a consumer of DLPack 1 for memory that is written, given a request for the struct from \
             before it, as JAX makes, whose arrays never change; pass a copy"
                .to_owned(),
        );
    }
    // JAX, which requests the legacy form, takes memory without gaps only.
    let is_packed = request.versioned || request.copy.is_some() || typed.is_contiguous(cells);
    let loan = if request.copy == Some(true) || wanted != here || !is_packed {
        if request.copy == Some(false) {
            let name = part.device().name();
            return refuse(format!(
                "expected memory of this process for copy=False, given {name}; allow a copy"
            ));
        }
        match wanted == DLDevice::CPU {
            true => Some(detached(py, || Loan::copy_of(typed, cells))?),
            false => detached(py, || Loan::copied(typed, cells, here))?,
        }
    } else {
        let lent = waiting(py, part, || Loan::of(typed, cells, here))?;
        if writable { lent.map(Loan::writable) } else { lent }
    };
    let Some(loan) = loan else {
        return refuse(format!(
            "expected memory with an address, given {}; ask for a copy on the host",
            place_name(here)
        ));
    };
    if wanted.device_type == DLDeviceType::CUDA {
        publish(part.device(), request.stream)?;
    }
    let capsule =
        if request.versioned { loan.versioned().into_pyobject(py) } else { loan.legacy().into_pyobject(py) };
    capsule.map(Bound::unbind)
}

/// NumPy's code of an element type; None for bfloat16, which has none.
fn typestr(element: Element) -> Option<String> {
    let letter = element.name().chars().next().filter(|_| element != Element::Real(DType::BF16))?;
    let order = if element.size_bytes() == 1 { '|' } else { '<' };
    Some(format!("{order}{letter}{}", element.size_bytes()))
}

/// The dict of `__array_interface__` and `__cuda_array_interface__`, version 3, for memory at an address.
/// Objects elsewhere have no such attribute.
fn interface<'py>(
    py: Python<'py>,
    name: &str,
    memory: &Memory,
    address: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let Memory { typed, cells, .. } = memory;
    let (region, strides) = (typed.region(*cells), typed.strides());
    let address = if region.is_empty() { Some(0) } else { address };
    let (Some(typestr), Some(address), Some(strides)) = (typestr(typed.element), address, strides) else {
        let given = format!("{} on {}", typed.element.name(), typed.part.device().name());
        return Err(PyAttributeError::new_err(format!("{name}: not there for {given}; use __dlpack__")));
    };
    let size = typed.element.size_bytes() as i64;
    let strides = Index::from_fn(region.rank(), |d| strides[d] * size);
    let described = PyDict::new(py);
    described.set_item("shape", tuple(py, &region.extents())?)?;
    described.set_item("typestr", typestr)?;
    described.set_item("data", (address, !memory.is_writable()))?;
    described.set_item("strides", tuple(py, &strides)?)?;
    described.set_item("version", 3)?;
    Ok(described)
}

fn array_interface<'py>(py: Python<'py>, memory: &Memory) -> PyResult<Bound<'py, PyDict>> {
    let part = &memory.typed.part;
    let address =
        || Ok(part.address(memory.cells)?.map(|address| address.as_ptr().expose_provenance() as u64));
    let address = waiting(py, part, address)?;
    interface(py, "__array_interface__", memory, address)
}

fn cuda_array_interface<'py>(py: Python<'py>, memory: &Memory) -> PyResult<Bound<'py, PyDict>> {
    let part = &memory.typed.part;
    let Some(stream) = part.device().stream() else {
        let text = format!("__cuda_array_interface__: not there on {}; use __dlpack__", part.device().name());
        return Err(PyAttributeError::new_err(text));
    };
    let address = waiting(py, part, || part.cuda_address(memory.cells))?;
    let described = interface(py, "__cuda_array_interface__", memory, address)?;
    // The consumer orders its work behind this stream.
    described.set_item("stream", stream)?;
    Ok(described)
}

#[pymethods]
impl Memory {
    /// Extents of the cells.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.typed.region(self.cells).extents())
    }

    /// The name of the dtype.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.typed.element.name()
    }

    /// A DLPack capsule of the cells.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        lend(py, self, &ExportRequest { stream, versioned, device: dl_device, copy })
    }

    /// NumPy's description of host memory, read-only unless it is lent to be written.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface(py, self)
    }

    /// The CUDA Array Interface, version 3, of CUDA memory; not to be written unless it is lent for that.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        cuda_array_interface(py, self)
    }

    /// DLPack's table of C functions.
    #[classattr]
    fn __dlpack_c_exchange_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exchange_table::table(py)
    }

    /// DLPack's (device type, device number).
    fn __dlpack_device__(&self) -> (u32, i32) {
        place(&self.typed.part).into()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (own, class) = (slf.get(), slf.get_type().name()?);
        let (region, dtype) = (own.typed.region(own.cells), own.typed.element.name());
        let part = &own.typed.part;
        Ok(format!("<partita.{class} {} of {region} {dtype} on {}>", part.index(), part.device().name()))
    }
}

#[pymethods]
impl Part {
    /// Its number.
    #[getter]
    fn index(slf: &Bound<'_, Self>) -> usize {
        memory(slf).typed.part.index()
    }

    /// Its place in the grid of parts.
    #[getter]
    fn grid_index<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let typed = &memory(slf).typed;
        let dist = typed.distribution().map_err(raised)?;
        tuple(slf.py(), &dist.grid().coordinate(typed.part.index()))
    }

    /// The cells it owns: per dimension (start, stop), or an index array.
    #[getter]
    fn owned<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let typed = &memory(slf).typed;
        owned(slf.py(), &typed.distribution().map_err(raised)?, typed.part.index())
    }

    /// The device that holds it.
    #[getter]
    fn device(slf: &Bound<'_, Self>) -> Device {
        Device(memory(slf).typed.part.device().clone())
    }

    /// The part with its halo.
    #[getter]
    fn stored(slf: &Bound<'_, Self>) -> PyResult<Py<Stored>> {
        Stored::of(slf.py(), memory(slf).typed.clone(), memory(slf).loan.clone())
    }

    /// The part in the words of the Distributed Array Protocol 0.10. Its halo is padding: at each seam the
    /// narrower of the widths that the parts on both sides declare, since the protocol wants these to be
    /// equal.
    fn __distarray__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("partita._core.describe")?.getattr("distarray")?.call1((slf,))
    }
}

#[pymethods]
impl Stored {
    /// Widths of the halo per dimension, as pairs (below, above): how far the owned cells are from the ends.
    #[getter]
    fn halo<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let typed = &memory(slf).typed;
        let (owned, stored) = (typed.region(Cells::Owned), typed.region(Cells::Stored));
        let widths = (0..owned.rank())
            .map(|d| (owned.start()[d] - stored.start()[d], stored.stop()[d] - owned.stop()[d]));
        PyTuple::new(slf.py(), widths.collect::<Vec<(i64, i64)>>())
    }
}

/// The cells that a part, or a part with its halo, holds.
fn memory<'a, T: PyClass<BaseType = Memory>>(object: &'a Bound<'_, T>) -> &'a Memory {
    object.as_super().get()
}
