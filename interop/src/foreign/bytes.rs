//! The bytes or numbers of Python's buffers where they are, so that whole arrays are copied once.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

/// The elements of a buffer, which is contiguous in C order.
///
/// # Errors
/// A buffer that is not.
pub fn of<T: Element>(buffer: &PyBuffer<T>) -> PyResult<&[T]> {
    contiguous(buffer)?;
    Ok(match buffer.item_count() {
        0 => &[],
        // SAFETY: a contiguous buffer of such elements, aligned, is so long, and its exporter keeps it until
        // the buffer is dropped; that nobody writes to it meanwhile is the module's contract.
        length => unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), length) },
    })
}

/// The bytes of a buffer that is written, which is contiguous in C order.
///
/// # Errors
/// A buffer that is not, or that is read-only.
pub fn of_mut(buffer: &mut PyBuffer<u8>) -> PyResult<&mut [u8]> {
    contiguous(buffer)?;
    if buffer.readonly() {
        return Err(PyBufferError::new_err(
            "buffer: expected memory that may be written, given a read-only one",
        ));
    }
    Ok(match buffer.len_bytes() {
        0 => &mut [],
        // SAFETY: as above; nobody else holds the buffer that is borrowed here.
        length => unsafe { std::slice::from_raw_parts_mut(buffer.buf_ptr().cast(), length) },
    })
}

fn contiguous<T: Element>(buffer: &PyBuffer<T>) -> PyResult<()> {
    match buffer.is_c_contiguous() {
        true => Ok(()),
        false => {
            Err(PyBufferError::new_err("buffer: expected contiguous bytes, given strides; copy it first"))
        }
    }
}
