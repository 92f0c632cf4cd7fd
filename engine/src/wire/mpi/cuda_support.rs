//! What the MPI library says about device pointers (`MPIX_Query_cuda_support`). A yes is checked by the value
//! trial of the engine before messages use it; without a yes no device pointer reaches the library.

use std::ffi::{CStr, c_int};

/// Whether the library takes device pointers; if not, why. `forced` is the user's setting, for libraries
/// whose transport layer handles devices although the library itself does not say so.
pub(super) fn takes_device_pointers(forced: Option<bool>) -> Result<(), String> {
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
