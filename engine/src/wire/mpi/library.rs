//! The MPI library of this process: its version, whether it is initialised and with which thread support, and
//! its return codes as results.

use std::ffi::c_int;

use mpi::ffi;

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
    // SAFETY: a constant of the library; the call is allowed at any time.
    let most = unsafe { ffi::RSMPI_MAX_LIBRARY_VERSION_STRING } as usize;
    let (mut text, mut length) = (vec![0u8; most + 1], 0);
    // SAFETY: the text is as long as the library asks for.
    let code = unsafe { ffi::MPI_Get_library_version(text.as_mut_ptr().cast(), &mut length) };
    text.truncate(if code == 0 { length.max(0) as usize } else { 0 });
    String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned()
}

pub(super) fn is_initialized() -> bool {
    let mut flag: c_int = 0;
    // SAFETY: allowed at any time.
    let code = unsafe { ffi::MPI_Initialized(&mut flag) };
    code == 0 && flag != 0
}

pub(super) fn is_finalized() -> bool {
    let mut flag: c_int = 0;
    // SAFETY: allowed at any time.
    let code = unsafe { ffi::MPI_Finalized(&mut flag) };
    code != 0 || flag != 0
}

/// Requires that threads may call the library one after the other.
pub(super) fn check_threads() -> Result<()> {
    let mut provided: c_int = 0;
    // SAFETY: MPI is initialised, and the place for the answer is ours.
    check(unsafe { ffi::MPI_Query_thread(&mut provided) })?;
    // SAFETY: a constant of the library.
    if provided >= unsafe { ffi::RSMPI_THREAD_SERIALIZED } {
        return Ok(());
    }
    let given = format!("thread support {provided}");
    let remedy =
        "initialise MPI with it (in Python mpi4py.rc.thread_level = 'serialized'), or let Partita do it";
    Err(Error::invalid("MPI", "thread support MPI_THREAD_SERIALIZED", given, remedy))
}
