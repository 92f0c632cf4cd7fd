//! The communicators this process knows: one line for each, kept until the process ends. Which line belongs
//! to a communicator is written on the communicator itself, so that a handle that the library uses again is
//! another.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mpi::ffi;

use super::super::line::Line;
use super::last_words;
use super::wire::{Comm, Mpi, check};
use crate::config::config;
use crate::error::Result;

static LINES: Mutex<Vec<Arc<Line>>> = Mutex::new(Vec::new());

/// All lines, in the order of their making.
pub(super) fn lines() -> Vec<Arc<Line>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The line over a communicator. All its ranks call this; the first time it is duplicated.
pub(super) fn line(comm: Comm) -> Result<Arc<Line>> {
    let mark = mark()?;
    let (mut value, mut found): (*mut c_void, c_int) = (std::ptr::null_mut(), 0);
    // SAFETY: a live communicator, a mark of our own, and places for the answers.
    check(unsafe { ffi::MPI_Comm_get_attr(comm.0, mark, (&raw mut value).cast(), &mut found) })?;
    if let Some(line) = lines().get(value.addr()).filter(|_| found != 0) {
        return Ok(Arc::clone(line));
    }
    let mpi = Mpi::over(comm)?;
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    if lines.is_empty() {
        last_words::prepare(mpi.rank_and_count());
    }
    let line = Arc::new(Line::new(mpi, config().deadline));
    lines.push(Arc::clone(&line));
    // SAFETY: a live communicator and a mark of our own; the value is a number.
    check(unsafe {
        ffi::MPI_Comm_set_attr(comm.0, mark, std::ptr::without_provenance_mut(lines.len() - 1))
    })?;
    Ok(line)
}

/// The name under which a communicator has the number of its line.
fn mark() -> Result<c_int> {
    static MARK: OnceLock<Result<c_int>> = OnceLock::new();
    MARK.get_or_init(|| {
        let mut mark = 0;
        // SAFETY: functions that live as long as the process, and a place for the answer.
        check(unsafe {
            ffi::MPI_Comm_create_keyval(Some(not_copied), Some(forgotten), &mut mark, std::ptr::null_mut())
        })?;
        Ok(mark)
    })
    .clone()
}

/// A duplicate is another communicator.
unsafe extern "C" fn not_copied(
    _comm: ffi::MPI_Comm,
    _mark: c_int,
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
    _mark: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    0
}
