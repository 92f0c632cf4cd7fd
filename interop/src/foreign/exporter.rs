//! `Exporter`: the base of Python's classes whose objects export memory as buffers (PEP 3118), which classes
//! written in Python can do from Python 3.12 on only.
//!
//! A request goes to the method `_exported(writable, strided)` of the object, and then to its result, which
//! the consumer holds.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;

/// The class. Its objects are made as those of `object` are, which costs nothing.
pub fn class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let (get_buffer, release_buffer): (ffi::getbufferproc, ffi::releasebufferproc) =
        (get_buffer, release_buffer);
    let mut slots = [
        ffi::PyType_Slot { slot: ffi::Py_bf_getbuffer, pfunc: get_buffer as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_bf_releasebuffer, pfunc: release_buffer as *mut c_void },
        ffi::PyType_Slot { slot: 0, pfunc: null_mut() },
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"partita._native.Exporter".as_ptr(),
        basicsize: 0,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: attached; the slots end with an empty one, and the name is static.
    let class = unsafe { ffi::PyType_FromSpec(&raw mut spec) };
    // SAFETY: a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, class) }
}

/// Never called, because the exporter of a view is another object. That it is there tells consumers such as
/// `numpy.frombuffer` to keep the view: they keep the object alone of a class without it.
unsafe extern "C" fn release_buffer(_: *mut ffi::PyObject, _: *mut ffi::Py_buffer) {}

/// Fills a view, whose exporter is the result of `_exported`.
unsafe extern "C" fn get_buffer(
    object: *mut ffi::PyObject,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> c_int {
    Python::attach(|py| {
        // SAFETY: the interpreter passes an object that is alive.
        let object = unsafe { Bound::from_borrowed_ptr(py, object) };
        let has = |flag: c_int| flags & flag == flag;
        let is_strided = has(ffi::PyBUF_STRIDES) && !has(ffi::PyBUF_C_CONTIGUOUS);
        match object.call_method1("_exported", (has(ffi::PyBUF_WRITABLE), is_strided)) {
            // SAFETY: the interpreter passes a place for the view, which holds the exporter from now on.
            Ok(exporter) => unsafe { ffi::PyObject_GetBuffer(exporter.as_ptr(), view, flags) },
            Err(error) => {
                // SAFETY: as above; a view without an object is none.
                unsafe { (*view).obj = null_mut() };
                error.restore(py);
                -1
            }
        }
    })
}
