//! The MPI library of this process: its return codes as results, its version, its thread support, and what it
//! says about device pointers (`MPIX_Query_cuda_support`). A yes is checked by the value trial of the engine
//! before messages use it; without a yes no device pointer reaches the library.

use std::ffi::{CStr, c_int};

use mpi::{Threading, environment, ffi};

use crate::error::{Error, Result};
use crate::wire::interface::WireError;

/// A communicator. Its handle may be a pointer.
#[derive(Clone, Copy)]
pub(super) struct Comm(pub ffi::MPI_Comm);

// SAFETY: a handle that the library resolves; all calls with it are made under one lock.
unsafe impl Send for Comm {}
// SAFETY: as for Send.
unsafe impl Sync for Comm {}

/// An MPI return code as a result.
pub(super) fn check(code: c_int) -> Result<()> {
    checked(code).map_err(|error| Error::of_driver("MPI", error))
}

pub(super) fn checked(code: c_int) -> std::result::Result<(), WireError> {
    if code == 0 {
        return Ok(());
    }
    let (mut text, mut length) = ([0u8; 1024], 0);
    // SAFETY: longer than MPI_MAX_ERROR_STRING of every library.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) };
    let message = String::from_utf8_lossy(&text[..length.clamp(0, 1024) as usize]).into_owned();
    Err(WireError(format!("MPI error {code}: {}", message.trim_end_matches('\0'))))
}

/// The version text of the library.
pub fn library_version() -> String {
    environment::library_version().unwrap_or_default().trim_end_matches('\0').to_owned()
}

/// Requires that threads may call the library one after the other.
pub(super) fn check_threads() -> Result<()> {
    let provided = environment::threading_support();
    if provided >= Threading::Serialized {
        return Ok(());
    }
    let given = format!("thread support {provided:?}");
    let remedy =
        "initialise MPI with it (in Python mpi4py.rc.thread_level = 'serialized'), or let Partita do it";
    Err(Error::invalid("MPI", "thread support MPI_THREAD_SERIALIZED", given, remedy))
}

/// Whether the library takes device pointers; if not, why. `forced` is the user's setting, for libraries
/// whose transport layer handles devices although the library itself does not say so.
pub(super) fn takes_device_pointers(forced: Option<bool>) -> std::result::Result<(), String> {
    match forced {
        Some(true) => Ok(()),
        Some(false) => Err("PARTITA_CUDA_AWARE_MPI=0".to_owned()),
        None => match query() {
            Some(true) => Ok(()),
            Some(false) => Err("the library says that it takes no device pointers".to_owned()),
            None => Err("the library does not say whether it takes device pointers".to_owned()),
        },
    }
}

/// The answer of Open MPI or MPICH, looked up at run time because not every library has the function.
fn query() -> Option<bool> {
    let found = symbol(c"MPIX_Query_cuda_support");
    if found.is_null() {
        return None;
    }
    // SAFETY: the library's function of this name takes nothing and returns an int. MPI is initialised, which
    // MPICH requires: making a wire initialises it.
    let query = unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> c_int>(found) };
    Some(query() != 0)
}

/// A symbol of this process, or of an MPI library that was loaded for itself alone, as Python does.
fn symbol(name: &CStr) -> *mut libc::c_void {
    // SAFETY: a C string; the default scope needs no handle.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if !found.is_null() {
        return found;
    }
    let libraries = [c"libmpi.so.40", c"libmpi.so.12"].into_iter().map(|library| {
        // SAFETY: a C string; a library that is not loaded already is left alone.
        unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
    });
    // SAFETY: a live handle, never closed.
    let mut found = libraries
        .filter(|library| !library.is_null())
        .map(|library| unsafe { libc::dlsym(library, name.as_ptr()) });
    found.find(|found| !found.is_null()).unwrap_or(std::ptr::null_mut())
}
