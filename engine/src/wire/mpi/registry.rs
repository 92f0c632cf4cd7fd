//! The endpoints of this process, one for each MPI communicator, kept until the process ends. An attribute of
//! the communicator names its endpoint, so a handle that the library reuses is a new communicator.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mpi::ffi;

use super::library::{Comm, check};
use super::termination_notice;
use super::wire::Mpi;
use crate::config::config;
use crate::error::Result;
use crate::wire::endpoint::Endpoint;

static ENDPOINTS: Mutex<Vec<Arc<Endpoint>>> = Mutex::new(Vec::new());

/// All endpoints, oldest first.
pub(super) fn endpoints() -> Vec<Arc<Endpoint>> {
    ENDPOINTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The endpoint over a communicator. All its ranks call this; the first time it is duplicated.
pub(super) fn endpoint(comm: Comm) -> Result<Arc<Endpoint>> {
    let key = key()?;
    let (mut value, mut found): (*mut c_void, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: a live communicator, a key of our own, and places for the answers.
    check(unsafe { ffi::MPI_Comm_get_attr(comm.0, key, (&raw mut value).cast(), &mut found) })?;
    if let Some(endpoint) = endpoints().get(value.addr()).filter(|_| found != 0) {
        return Ok(Arc::clone(endpoint));
    }
    let mpi = Mpi::over(comm)?;
    let mut endpoints = ENDPOINTS.lock().unwrap_or_else(PoisonError::into_inner);
    if endpoints.is_empty() {
        termination_notice::install(mpi.rank_and_count());
    }
    let endpoint = Arc::new(Endpoint::new(mpi, config().deadline));
    endpoints.push(Arc::clone(&endpoint));
    // SAFETY: a live communicator and a key of our own; the value is a number.
    check(unsafe {
        ffi::MPI_Comm_set_attr(comm.0, key, std::ptr::without_provenance_mut(endpoints.len() - 1))
    })?;
    Ok(endpoint)
}

/// The attribute that holds the number of a communicator's endpoint.
fn key() -> Result<c_int> {
    static KEY: OnceLock<Result<c_int>> = OnceLock::new();
    KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: functions that live as long as the process, and a place for the answer.
        check(unsafe {
            ffi::MPI_Comm_create_keyval(Some(not_copied), Some(forgotten), &mut key, std::ptr::null_mut())
        })?;
        Ok(key)
    })
    .clone()
}

/// A duplicate is another communicator.
unsafe extern "C" fn not_copied(
    _comm: ffi::MPI_Comm,
    _key: c_int,
    _extra: *mut c_void,
    _value: *mut c_void,
    _copy: *mut c_void,
    copies: *mut c_int,
) -> c_int {
    // SAFETY: the library passes a place for the answer.
    unsafe { copies.write(0) };
    0
}

unsafe extern "C" fn forgotten(
    _comm: ffi::MPI_Comm,
    _key: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    0
}
