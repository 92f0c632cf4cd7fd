//! DLPack capsules: export of loans, import of foreign arrays, the order of streams, and the locations of
//! devices.

use dlpark::ffi::{DLDevice, DLDeviceType};
use dlpark::python::{ImportRequest, ImportedDlpack};
use partita::array;
use partita::device::{Buffer, DeviceKind, Foreign};
use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::dlpack::{Borrowed, Elements, ForeignMemory, place_name};
use crate::python::runtime::raised;

/// The place of a device's memory, in DLPack's terms.
pub fn location(of: &partita::Device) -> DLDevice {
    let device_type = match of.kind() {
        DeviceKind::Host => return DLDevice::CPU,
        DeviceKind::Cuda => DLDeviceType::CUDA,
        DeviceKind::Wgpu => DLDeviceType::WEBGPU,
        _ => DLDeviceType::EXTDEV,
    };
    let alike = partita::Device::all().iter().filter(|device| device.kind() == of.kind());
    DLDevice { device_type, device_id: alike.take_while(|device| *device != of).count() as i32 }
}

/// The place of a part's memory: the host's, too, if it is a device's whose memory this process addresses.
pub fn place(part: &array::Part) -> DLDevice {
    if part.device().is_addressable() { DLDevice::CPU } else { location(part.device()) }
}

/// The elements of the array in a capsule, which is then used up.
pub fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Elements> {
    let elements = adopt(capsule)?.elements();
    elements.map_err(|refusal| refused(&refusal.advised("pass a copy on the host")))
}

/// The memory of the array in a capsule, used where it is by `device`, whose place in DLPack's terms is
/// `here`. The capsule is then used up.
pub fn share(
    capsule: &Bound<'_, PyAny>,
    device: &partita::Device,
    here: DLDevice,
    writable: bool,
) -> PyResult<(ForeignMemory, Option<Buffer>)> {
    held(adopt(capsule)?, device, here, writable)
}

/// The memory of a struct that is ours to end, as [`share`]; to be written, if the producer allows it.
pub fn held(
    borrowed: Borrowed,
    device: &partita::Device,
    here: DLDevice,
    writable: bool,
) -> PyResult<(ForeignMemory, Option<Buffer>)> {
    if writable && !borrowed.is_writable() {
        let given = "memory that is read-only, or whose struct from before DLPack 1 does not say (JAX's, \
                     whose arrays never change)";
        let remedy = "leave writable out, or pass a copy";
        return Err(refused(&format!("expected memory that may be written, given {given}; {remedy}")));
    }
    let refuse = |text: String| refused(&format!("{text}; allow a copy"));
    let memory = borrowed.memory().map_err(|refusal| refused(&refusal.advised("allow a copy")))?;
    let is_pinned = memory.location.device_type == DLDeviceType::CUDAHOST && here == DLDevice::CPU;
    if memory.location != here && !is_pinned {
        let (here, given) = (place_name(here), place_name(memory.location));
        return Err(refuse(format!("expected memory at {here}, given {given}")));
    }
    if memory.bytes == 0 {
        return Ok((memory, None));
    }
    let foreign = Foreign { address: memory.address, bytes: memory.bytes, owner: Box::new(borrowed) };
    // SAFETY: the producer keeps the memory readable until its deleter is called, which dropping the owner
    // does; that nobody writes meanwhile is what sharing asks of people.
    let buffer = unsafe { if writable { device.borrow_mut(foreign) } else { device.borrow(foreign) } };
    let buffer = buffer.map_err(|error| refuse(error.to_string()))?;
    Ok((memory, Some(buffer)))
}

fn refused(text: &str) -> PyErr {
    PyBufferError::new_err(format!("from_dlpack: {text}"))
}

/// Lets the consumer's stream wait for what is queued on a device so far, as `stream` says in DLPack's terms.
pub fn publish(device: &partita::Device, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let legacy: i64 = 1;
    let handle = match stream {
        None => legacy,
        Some(given) => match given.call_method0("__cuda_stream__") {
            Ok(pair) => pair.extract::<(u32, i64)>()?.1,
            Err(_) => given.extract::<i64>().map_err(|_| no_stream(&given.to_string()))?,
        },
    };
    match handle {
        // The consumer orders its work itself.
        -1 => Ok(()),
        ..=0 => Err(no_stream(&handle.to_string())),
        // SAFETY: the consumer says that it is a stream of its own on this device, or one of the special
        // ones.
        _ => unsafe { device.publish_to(handle as u64) }.map_err(raised),
    }
}

fn no_stream(given: &str) -> PyErr {
    let expected = "None, -1, 1 (legacy), 2 (per thread) or the handle of a CUDA stream";
    PyBufferError::new_err(format!(
        "__dlpack__: expected stream={expected}, given {given}; pass one of these"
    ))
}

/// Takes the struct out of a capsule.
pub fn adopt(capsule: &Bound<'_, PyAny>) -> PyResult<Borrowed> {
    let py = capsule.py();
    if !capsule.is_instance_of::<PyCapsule>() {
        return Err(not_one(capsule));
    }
    let taken = ImportRequest::new(capsule.as_borrowed()).and_then(|request| request.import(None, None));
    match taken {
        Ok(ImportedDlpack::Versioned(managed)) => Ok(managed.into()),
        Ok(ImportedDlpack::Legacy(managed)) => Ok(managed.into()),
        Err(error) if error.is_instance_of::<PyValueError>(py) => Err(PyValueError::new_err(
            "from_dlpack: expected a fresh capsule, given one that was used; export again",
        )),
        Err(error) if error.is_instance_of::<PyTypeError>(py) => Err(not_one(capsule)),
        Err(error) if error.is_instance_of::<PyRuntimeError>(py) => Err(refused(&format!(
            "expected DLPack version 1, given one that is not ({}); export that version: max_version=(1, 0)",
            error.value(py)
        ))),
        Err(error) => Err(error),
    }
}

fn not_one(capsule: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("from_dlpack: expected a DLPack capsule, given {}", capsule.get_type()))
}
