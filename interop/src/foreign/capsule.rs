//! DLPack capsules: export of loans, import of foreign arrays, the order of streams, and the locations of
//! devices.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Mutex;

use partita::array;
use partita::device::{Buffer, DeviceKind, Foreign};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::dlpack::{Borrowed, Elements, ForeignMemory, Head, Legacy, Loan, Location, Versioned, release};
use crate::python::runtime::raised;

/// Where a device's memory is, in DLPack's terms.
pub fn location(of: &partita::Device) -> Location {
    let kind = match of.kind() {
        DeviceKind::Host => return Location::HOST,
        DeviceKind::Cuda => Location::CUDA,
        DeviceKind::Wgpu => Location::WEBGPU,
    };
    let alike = partita::Device::all().iter().filter(|device| device.kind() == of.kind());
    let number = alike.take_while(|device| *device != of).count();
    Location { kind, number: number as i32 }
}

/// Where a part's memory is: the host's, too, if it is a device's whose memory this process addresses.
pub fn place(part: &array::Part) -> Location {
    if part.device().is_addressable() { Location::HOST } else { location(part.device()) }
}

/// A capsule that a consumer may take once.
pub fn offer<H: Head>(py: Python<'_>, loan: Loan) -> PyResult<Py<PyAny>> {
    let head = loan.hand_out::<H>();
    // SAFETY: attached; the name is static; the destructor ends the loan while the name says nobody took it.
    let capsule =
        unsafe { ffi::PyCapsule_New(head.as_ptr().cast(), H::NAMES[0].as_ptr(), Some(untaken::<H>)) };
    if capsule.is_null() {
        // SAFETY: just handed out, and no capsule holds it.
        unsafe { release(head) };
        return Err(PyErr::fetch(py));
    }
    // SAFETY: a new reference that is not null.
    Ok(unsafe { Bound::from_owned_ptr(py, capsule) }.unbind())
}

/// The capsule's destructor. A consumer renames what it takes; then nothing is left to do.
unsafe extern "C" fn untaken<H: Head>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this attached, with the capsule that is going away.
    if unsafe { ffi::PyCapsule_IsValid(capsule, H::NAMES[0].as_ptr()) } == 1 {
        // SAFETY: valid under this name, as just asked.
        let head = unsafe { ffi::PyCapsule_GetPointer(capsule, H::NAMES[0].as_ptr()) };
        if let Some(head) = NonNull::new(head.cast::<H>()) {
            // SAFETY: under this name nobody took it, and the capsule ends here.
            unsafe { release(head) };
        }
    }
}

/// The elements of the array in a capsule, which is then used up.
pub fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Elements> {
    match adopt::<Versioned>(capsule)? {
        Some(mut borrowed) => borrowed.elements(),
        None => match adopt::<Legacy>(capsule)? {
            Some(mut borrowed) => borrowed.elements(),
            None => return Err(not_one(capsule)),
        },
    }
    .map_err(|refusal| refused(&refusal.advised("pass a copy on the host")))
}

/// The memory of the array in a capsule, used where it is by `device`, whose place in DLPack's terms is
/// `here`. The capsule is then used up.
pub fn share(
    capsule: &Bound<'_, PyAny>,
    device: &partita::Device,
    here: Location,
) -> PyResult<(ForeignMemory, Option<Buffer>)> {
    match adopt::<Versioned>(capsule)? {
        Some(borrowed) => held(borrowed, device, here),
        None => match adopt::<Legacy>(capsule)? {
            Some(borrowed) => held(borrowed, device, here),
            None => Err(not_one(capsule)),
        },
    }
}

/// The memory of a struct that is ours to end, as [`share`].
pub fn held<H: Head + 'static>(
    mut borrowed: Borrowed<H>,
    device: &partita::Device,
    here: Location,
) -> PyResult<(ForeignMemory, Option<Buffer>)> {
    let refuse = |text: String| refused(&format!("{text}; allow a copy"));
    let memory = borrowed.memory().map_err(|refusal| refused(&refusal.advised("allow a copy")))?;
    let pinned = Location { kind: Location::PINNED, ..memory.location };
    if memory.location != here && !(memory.location == pinned && here == Location::HOST) {
        return Err(refuse(format!("expected memory at {here:?}, given {:?}", memory.location)));
    }
    if memory.bytes == 0 {
        return Ok((memory, None));
    }
    let (address, bytes) = (memory.address, memory.bytes);
    let foreign = Foreign { address, bytes, owner: Box::new(Mutex::new(borrowed)) };
    // SAFETY: the producer keeps the memory readable until its deleter is called, which dropping the owner
    // does; that nobody writes meanwhile is what sharing asks of people.
    let buffer = unsafe { device.borrow(foreign) }.map_err(|error| refuse(error.to_string()))?;
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

/// Takes the struct out if the capsule has the name that offers one.
fn adopt<H: Head>(capsule: &Bound<'_, PyAny>) -> PyResult<Option<Borrowed<H>>> {
    let [fresh, used] = H::NAMES;
    // SAFETY: attached, and `capsule` is alive; any object may be asked.
    if unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), fresh.as_ptr()) } != 1 {
        return Ok(None);
    }
    // SAFETY: valid under this name, as just asked; the new name is static.
    let (head, renamed) = unsafe {
        let head: *mut c_void = ffi::PyCapsule_GetPointer(capsule.as_ptr(), fresh.as_ptr());
        (head, ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()))
    };
    match NonNull::new(head.cast::<H>()) {
        // SAFETY: renamed, so that the struct is ours alone.
        Some(head) if renamed == 0 => Ok(Some(unsafe { Borrowed::new(head) })),
        _ => Err(PyErr::fetch(capsule.py())),
    }
}

fn not_one(capsule: &Bound<'_, PyAny>) -> PyErr {
    let used = [Versioned::NAMES[1], Legacy::NAMES[1]];
    // SAFETY: as in `adopt`.
    if used.iter().any(|name| unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) } == 1) {
        return PyValueError::new_err(
            "from_dlpack: expected a fresh capsule, given one that was used; export again",
        );
    }
    PyTypeError::new_err(format!("from_dlpack: expected a DLPack capsule, given {}", capsule.get_type()))
}
