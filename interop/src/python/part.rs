//! Methods of the classes of parts, among them the DLPack methods that lend memory.

use partita::DType;
use partita::array::{self, Cells};
use partita::device::DeviceKind;
use partita::index::Index;
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::arrays::convert::tuple;
use super::device::Device;
use super::distribution::owned;
use super::part_handle::{Part, Stored};
use super::runtime::error::{detached, raised};
use crate::dlpack::{Legacy, Loan, Location, Versioned};
use crate::element::{Element, TypedPart};
use crate::foreign::capsules::capsule::{offer, publish};
use crate::foreign::capsules::exchange_table;
use crate::foreign::capsules::location::place;

/// What a consumer asks of `__dlpack__`.
struct ExportRequest<'a, 'py> {
    stream: Option<&'a Bound<'py, PyAny>>,
    versioned: bool,
    device: Option<(i32, i32)>,
    copy: Option<bool>,
}

impl<'a, 'py> ExportRequest<'a, 'py> {
    fn of(
        stream: Option<&'a Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> ExportRequest<'a, 'py> {
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        ExportRequest { stream, versioned, device, copy }
    }
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
        DeviceKind::Host | DeviceKind::Cuda => work().map_err(raised),
    }
}

/// A capsule with the cells, as the consumer request, or BufferError.
fn lend(py: Python<'_>, typed: &TypedPart, cells: Cells, request: &ExportRequest) -> PyResult<Py<PyAny>> {
    let part = &typed.part;
    let refuse = |text: String| Err(PyBufferError::new_err(format!("__dlpack__: {text}")));
    let here = place(part);
    let wanted = request.device.map_or(here, |(kind, number)| Location { kind, number });
    if request.stream.is_some() && wanted == Location::HOST {
        return refuse("expected stream=None for host memory, given a stream; leave it out".to_owned());
    }
    let reachable = wanted == Location::HOST || (wanted == here && here.kind == Location::CUDA);
    if !reachable {
        return refuse(format!(
            "expected a consumer of host memory, given {} and a request for device {wanted:?}; ask for a \
             copy on the host: dl_device=(1, 0), in NumPy from_dlpack(x, device='cpu')",
            part.device().name()
        ));
    }
    let loan = if request.copy == Some(true) || wanted != here {
        if request.copy == Some(false) {
            let name = part.device().name();
            return refuse(format!(
                "expected memory of this process for copy=False, given {name}; allow a copy"
            ));
        }
        match wanted == Location::HOST {
            true => Some(detached(py, || Loan::copy_of(typed, cells))?),
            false => detached(py, || Loan::copied(typed, cells, here))?,
        }
    } else {
        waiting(py, part, || Loan::of(typed, cells, here))?
    };
    let Some(loan) = loan else {
        return refuse(format!(
            "expected memory with an address, given {here:?}; ask for a copy on the host"
        ));
    };
    if wanted.kind == Location::CUDA {
        publish(part.device(), request.stream)?;
    }
    if request.versioned { offer::<Versioned>(py, loan) } else { offer::<Legacy>(py, loan) }
}

/// NumPy's code of an element type; None for bfloat16, which has none.
fn typestr(element: Element) -> Option<String> {
    let letter = match element {
        Element::Real(DType::Bool) => 'b',
        Element::Real(DType::I8 | DType::I16 | DType::I32 | DType::I64) => 'i',
        Element::Real(DType::U8 | DType::U16 | DType::U32 | DType::U64) => 'u',
        Element::Real(DType::F16 | DType::F32 | DType::F64) => 'f',
        Element::Complex(_) => 'c',
        Element::Real(DType::BF16) => return None,
    };
    let order = if element.size_bytes() == 1 { '|' } else { '<' };
    Some(format!("{order}{letter}{}", element.size_bytes()))
}

/// What `__array_interface__` and `__cuda_array_interface__`, version 3, say of memory at an address. Objects
/// elsewhere have no such attribute.
fn interface<'py>(
    py: Python<'py>,
    name: &str,
    typed: &TypedPart,
    cells: Cells,
    address: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let (region, strides) = (typed.region(cells), typed.strides());
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
    described.set_item("data", (address, true))?;
    described.set_item("strides", tuple(py, &strides)?)?;
    described.set_item("version", 3)?;
    Ok(described)
}

fn array_interface<'py>(py: Python<'py>, typed: &TypedPart, cells: Cells) -> PyResult<Bound<'py, PyDict>> {
    let part = &typed.part;
    let address = || Ok(part.address(cells)?.map(|address| address.as_ptr().expose_provenance() as u64));
    let address = waiting(py, part, address)?;
    interface(py, "__array_interface__", typed, cells, address)
}

fn cuda_array_interface<'py>(
    py: Python<'py>,
    typed: &TypedPart,
    cells: Cells,
) -> PyResult<Bound<'py, PyDict>> {
    let part = &typed.part;
    let Some(stream) = part.device().stream() else {
        let text = format!("__cuda_array_interface__: not there on {}; use __dlpack__", part.device().name());
        return Err(PyAttributeError::new_err(text));
    };
    let address = part.cuda_address(cells);
    let described = interface(py, "__cuda_array_interface__", typed, cells, address)?;
    // The consumer orders its work behind this stream.
    described.set_item("stream", stream)?;
    Ok(described)
}

#[pymethods]
impl Part {
    /// Its number.
    #[getter]
    fn index(&self) -> usize {
        self.0.part.index()
    }

    /// Its place in the grid of parts.
    #[getter]
    fn grid_index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let dist = self.0.distribution().map_err(raised)?;
        tuple(py, &dist.grid().coordinate(self.0.part.index()))
    }

    /// The cells it owns: per dimension (start, stop), or an index array.
    #[getter]
    fn owned<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        owned(py, &self.0.distribution().map_err(raised)?, self.0.part.index())
    }

    /// The device that holds it.
    #[getter]
    fn device(&self) -> Device {
        Device::of(self.0.part.device().clone())
    }

    /// Extents of the cells it owns.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.0.region(Cells::Owned).extents())
    }

    /// The name of the dtype.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.element.name()
    }

    /// The part with its halo.
    #[getter]
    fn stored(&self) -> Stored {
        Stored(self.0.clone())
    }

    /// A DLPack capsule of the owned cells.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        lend(py, &self.0, Cells::Owned, &ExportRequest::of(stream, max_version, dl_device, copy))
    }

    /// NumPy's description of host memory, read-only.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface(py, &self.0, Cells::Owned)
    }

    /// The CUDA Array Interface, version 3, of CUDA memory; not to be written.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        cuda_array_interface(py, &self.0, Cells::Owned)
    }

    /// DLPack's table of C functions.
    #[classattr]
    fn __dlpack_c_exchange_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exchange_table::table(py)
    }

    /// DLPack's (device type, device number).
    fn __dlpack_device__(&self) -> (i32, i32) {
        let location = place(&self.0.part);
        (location.kind, location.number)
    }

    /// The part in the words of the Distributed Array Protocol 0.10. Its halo is padding: at each seam the
    /// narrower of the widths that the parts on both sides declare, since the protocol wants these to be
    /// equal.
    fn __distarray__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("partita._api.protocols")?.getattr("distarray")?.call1((slf,))
    }

    fn __repr__(&self) -> String {
        let (region, dtype) = (self.0.region(Cells::Owned), self.0.element.name());
        format!(
            "<partita.Part {} of {region} {dtype} on {}>",
            self.0.part.index(),
            self.0.part.device().name()
        )
    }
}

#[pymethods]
impl Stored {
    /// Extents of the cells it stores.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.0.region(Cells::Stored).extents())
    }

    /// The name of the dtype.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.element.name()
    }

    /// Widths of the halo per dimension, as pairs (below, above): how far the owned cells are from the ends.
    #[getter]
    fn halo<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (owned, stored) = (self.0.region(Cells::Owned), self.0.region(Cells::Stored));
        let widths = (0..owned.rank())
            .map(|d| (owned.start()[d] - stored.start()[d], stored.stop()[d] - owned.stop()[d]));
        PyTuple::new(py, widths.collect::<Vec<(i64, i64)>>())
    }

    /// A DLPack capsule of the stored cells.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        lend(py, &self.0, Cells::Stored, &ExportRequest::of(stream, max_version, dl_device, copy))
    }

    /// NumPy's description of host memory, read-only.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface(py, &self.0, Cells::Stored)
    }

    /// The CUDA Array Interface, version 3, of CUDA memory; not to be written.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        cuda_array_interface(py, &self.0, Cells::Stored)
    }

    /// DLPack's table of C functions.
    #[classattr]
    fn __dlpack_c_exchange_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exchange_table::table(py)
    }

    /// DLPack's (device type, device number).
    fn __dlpack_device__(&self) -> (i32, i32) {
        let location = place(&self.0.part);
        (location.kind, location.number)
    }

    fn __repr__(&self) -> String {
        let (region, dtype) = (self.0.region(Cells::Stored), self.0.element.name());
        format!(
            "<partita.Stored {} of {region} {dtype} on {}>",
            self.0.part.index(),
            self.0.part.device().name()
        )
    }
}
