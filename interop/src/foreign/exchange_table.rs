//! DLPack's table of C functions (`__dlpack_c_exchange_api__`, version 1.3): what `__dlpack__` does, without
//! calls of Python. Its functions wait for no CUDA device; consumers ask for our stream and order their work
//! themselves.
//!
//! Each function is called attached to the interpreter, and leaves an exception set when it returns -1. A
//! panic in one ends the process, because it is `extern "C"`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

use dlpark::Managed;
use dlpark::ffi::{
    DLDevice, DLDeviceType, DLManagedTensorVersioned, DLPackExchangeAPI, DLPackExchangeAPIHeader,
    DLPackVersion, DLTensor,
};

use partita::array::Cells;
use partita::{Distribution, Team};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;

use super::capsule::{held, location, place};
use crate::dlpack::{Borrowed, Loan, element_of, place_name};
use crate::element::TypedPart;
use crate::python::arrays::array::Array;
use crate::python::arrays::typed::Typed;
use crate::python::part_handle::Memory;
use crate::python::runtime::{detached, raised};

const NAME: &CStr = c"dlpack_exchange_api";

/// The way in which an allocator says what went wrong.
type SetError = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);

/// dlpark's struct, shared between threads.
struct Table(DLPackExchangeAPI);

// SAFETY: constants and functions only.
unsafe impl Sync for Table {}

static TABLE: Table = Table(DLPackExchangeAPI {
    header: DLPackExchangeAPIHeader { version: DLPackVersion::CURRENT, prev_api: std::ptr::null_mut() },
    managed_tensor_allocator: Some(allocate),
    managed_tensor_from_py_object_no_sync: Some(from_object),
    managed_tensor_to_py_object_no_sync: Some(to_object),
    // Optional, and absent: it would lend memory that nothing keeps alive.
    dltensor_from_py_object_no_sync: None,
    current_work_stream: Some(current_stream),
});

/// The table in its capsule.
pub fn table(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let pointer = std::ptr::from_ref(&TABLE.0).cast_mut().cast::<c_void>();
    // SAFETY: attached; table and name are static, and nobody writes through the pointer.
    let capsule = unsafe { ffi::PyCapsule_New(pointer, NAME.as_ptr(), None) };
    // SAFETY: a new reference, or null with an exception set.
    Ok(unsafe { Bound::from_owned_ptr_or_err(py, capsule) }?.unbind())
}

/// 0, or -1 with the exception set.
fn status<T>(py: Python<'_>, outcome: PyResult<T>, take: impl FnOnce(T)) -> c_int {
    match outcome {
        Ok(value) => {
            take(value);
            0
        }
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

/// Memory of ours for a consumer to write to: zeros on the host.
unsafe extern "C" fn allocate(
    prototype: *mut DLTensor,
    out: *mut *mut DLManagedTensorVersioned,
    receiver: *mut c_void,
    set_error: Option<SetError>,
) -> c_int {
    // SAFETY: the caller passes a description with `rank` extents.
    let asked = unsafe { prototype.read() };
    let outcome = Python::attach(|py| {
        if asked.device != DLDevice::CPU {
            return Err(PyBufferError::new_err("expected a request for host memory; use partita.empty"));
        }
        let rank = usize::try_from(asked.ndim).unwrap_or(usize::MAX);
        let element = element_of(asked.dtype).filter(|element| rank <= element.most_dimensions());
        let Some(element) = element else {
            return Err(PyBufferError::new_err("expected a type and rank that partita has"));
        };
        // SAFETY: as above.
        let shape = partita::index::Index::from_fn(rank, |d| unsafe { asked.shape.add(d).read() });
        let zeros = || {
            let team = Team::on(&partita::Device::named("host")?, 1)?;
            let dist = Distribution::default_partition(1, &shape)?;
            let array = partita::Array::zeros(&team, &element.stored(&dist)?, element.dtype())?;
            let part = Arc::new(array.parts()?.remove(0));
            Loan::copy_of(&TypedPart { part, element }, Cells::Owned)
        };
        detached(py, zeros)
    });
    match outcome {
        Ok(loan) => {
            // SAFETY: the caller passes a place for the pointer.
            unsafe { out.write(loan.versioned().into_raw()) };
            0
        }
        Err(error) => {
            let text = std::ffi::CString::new(error.to_string()).unwrap_or_default();
            if let Some(set_error) = set_error {
                // SAFETY: the caller's function, with the caller's value and strings that live as long as
                // the call.
                unsafe { set_error(receiver, c"BufferError".as_ptr(), text.as_ptr()) };
            }
            -1
        }
    }
}

/// The cells of a part, where they are.
unsafe extern "C" fn from_object(object: *mut c_void, out: *mut *mut DLManagedTensorVersioned) -> c_int {
    Python::attach(|py| {
        // SAFETY: the caller passes an object that is alive.
        let object = unsafe { Bound::from_borrowed_ptr(py, object.cast()) };
        let outcome = lent(&object).map(Loan::versioned);
        // SAFETY: the caller passes a place for the pointer.
        status(py, outcome, |managed| unsafe { out.write(managed.into_raw()) })
    })
}

fn lent(object: &Bound<'_, PyAny>) -> PyResult<Loan> {
    let Ok(memory) = object.cast::<Memory>() else {
        let text = format!("expected a part of partita's, given {}; use its parts", object.get_type());
        return Err(PyTypeError::new_err(text));
    };
    let memory = memory.get();
    let Memory { typed: part, cells, .. } = memory;
    let here = place(&part.part);
    let loan = detached(object.py(), || Loan::of(part, *cells, here))?;
    let loan = if memory.is_writable() { loan.map(Loan::writable) } else { loan };
    loan.ok_or_else(|| {
        let name = part.part.device().name();
        PyBufferError::new_err(format!("expected memory with an address, given {name}; copy it to the host"))
    })
}

/// An array of one part over foreign memory: `partita.Array`.
unsafe extern "C" fn to_object(head: *mut DLManagedTensorVersioned, out: *mut *mut c_void) -> c_int {
    Python::attach(|py| {
        // SAFETY: the caller gives the struct up.
        let managed = unsafe { Managed::from_raw(head) };
        let managed = managed.map_err(|error| {
            PyBufferError::new_err(format!("expected a struct of version 1, given another: {error}"))
        });
        let outcome = managed.and_then(|managed| shown(py, managed.into()));
        // SAFETY: the caller passes a place for the pointer, and gets the reference.
        status(py, outcome, |object| unsafe { out.write(object.into_ptr().cast()) })
    })
}

fn shown(py: Python<'_>, borrowed: Borrowed) -> PyResult<Py<PyAny>> {
    let memory =
        borrowed.memory().map_err(|refusal| PyBufferError::new_err(refusal.advised("copy it first")))?;
    let device =
        partita::Device::all().iter().find(|device| location(device) == memory.location).ok_or_else(
            || PyBufferError::new_err(format!("expected a device, given {}", place_name(memory.location))),
        )?;
    let team = Team::on(std::slice::from_ref(device), 1).map_err(raised)?;
    let (_, buffer) = held(borrowed, device, memory.location, false)?;
    let dist = Distribution::default_partition(1, &memory.shape).map_err(raised)?;
    let (element, buffers) = (memory.element, vec![buffer]);
    let over = |dist| partita::Array::from_buffers(&team, &dist, element.dtype(), buffers);
    let array = element.stored(&dist).and_then(over).map_err(raised)?;
    let class = py.import("partita")?.getattr("Array")?;
    Ok(class.call1((Array::of(Typed { array, element }),))?.unbind())
}

/// The stream on which a device of ours queues its work; null for the host.
unsafe extern "C" fn current_stream(
    device_type: DLDeviceType,
    device_id: i32,
    out: *mut *mut c_void,
) -> c_int {
    Python::attach(|py| {
        let asked = DLDevice { device_type, device_id };
        let device = partita::Device::all().iter().find(|device| location(device) == asked);
        let outcome = device.ok_or_else(|| {
            let given = place_name(asked);
            PyBufferError::new_err(format!("expected a device of partita's, given {given}; see devices()"))
        });
        let handle = outcome.map(|device| device.stream().unwrap_or(0));
        // SAFETY: the caller passes a place for the pointer.
        status(py, handle, |handle| unsafe {
            out.write(std::ptr::with_exposed_provenance_mut(handle as usize));
        })
    })
}
