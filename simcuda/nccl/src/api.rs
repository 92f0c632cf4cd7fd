//! The exported functions.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::Ordering;

use crate::communicator::Communicator;
use crate::group::{Part, queue};
use crate::{Code, locked};

/// As NCCL 2.30.7 says it.
const VERSION: i32 = 23_007;

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UniqueId([u8; 128]);

/// The beginning of `ncclConfig_t`, as all versions have it.
#[repr(C)]
pub struct Configuration {
    size: usize,
    magic: u32,
    version: u32,
    blocking: i32,
}

const MAGIC: u32 = 0xcafe_beef;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static PARTS: RefCell<Vec<Part>> = const { RefCell::new(Vec::new()) };
}

fn named<'a>(communicator: *mut c_void) -> Option<&'a Communicator> {
    // SAFETY: callers pass what `ncclCommInitRankConfig` gave, which lives for ever.
    unsafe { communicator.cast::<Communicator>().as_ref() }
}

fn code(outcome: Result<(), Code>) -> u32 {
    outcome.err().unwrap_or(Code::SUCCESS).0
}

/// `ncclGetVersion`.
///
/// # Safety
/// As NCCL's documentation says; so for all functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(version: *mut i32) -> u32 {
    // SAFETY: the caller's place.
    unsafe { version.write(VERSION) };
    0
}

/// `ncclGetUniqueId`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(id: *mut UniqueId) -> u32 {
    let random = std::fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap_or_default();
    let mut bytes = [0; 128];
    let name = format!("simnccl-{}", random.trim());
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: the caller's place.
    unsafe { id.write(UniqueId(bytes)) };
    0
}

/// `ncclCommInitRankConfig`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRankConfig(
    out: *mut *mut c_void,
    count: i32,
    id: UniqueId,
    rank: i32,
    configuration: *const Configuration,
) -> u32 {
    // SAFETY: the caller's configuration, or none.
    let blocks = match unsafe { configuration.as_ref() } {
        Some(given) if given.magic != MAGIC => return Code::INVALID_ARGUMENT.0,
        Some(given) => given.blocking != 0,
        None => true,
    };
    if !(0..count).contains(&rank) {
        return Code::INVALID_ARGUMENT.0;
    }
    let name = id.0.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    match Communicator::begin(name, rank as usize, count as usize, blocks) {
        Ok(new) => {
            // SAFETY: the caller's place.
            unsafe { out.write(std::ptr::from_ref(new).cast_mut().cast()) };
            new.code().0
        }
        Err(code) => code.0,
    }
}

/// `ncclCommGetAsyncError`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommGetAsyncError(communicator: *mut c_void, out: *mut u32) -> u32 {
    let Some(communicator) = named(communicator) else { return Code::INVALID_ARGUMENT.0 };
    // SAFETY: the caller's place.
    unsafe { out.write(communicator.code().0) };
    0
}

/// `ncclCommFinalize`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommFinalize(communicator: *mut c_void) -> u32 {
    match named(communicator) {
        Some(communicator) if communicator.code() == Code::SUCCESS => communicator.finalise().0,
        _ => Code::INVALID_ARGUMENT.0,
    }
}

/// `ncclCommDestroy`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommDestroy(communicator: *mut c_void) -> u32 {
    let Some(communicator) = named(communicator) else { return Code::INVALID_ARGUMENT.0 };
    communicator.end();
    0
}

/// `ncclCommAbort`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommAbort(communicator: *mut c_void) -> u32 {
    let Some(communicator) = named(communicator) else { return Code::INVALID_ARGUMENT.0 };
    communicator.end();
    0
}

/// `ncclGroupStart`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGroupStart() -> u32 {
    DEPTH.set(DEPTH.get() + 1);
    0
}

/// `ncclGroupEnd`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGroupEnd() -> u32 {
    let Some(left) = DEPTH.get().checked_sub(1) else { return Code::INVALID_USAGE.0 };
    DEPTH.set(left);
    if left > 0 {
        return 0;
    }
    let mut all = PARTS.take();
    let mut outcome = Ok(());
    while let Some(first) = all.first() {
        let communicator: *const Communicator = first.communicator;
        let (own, others) = all.into_iter().partition(|part| std::ptr::eq(part.communicator, communicator));
        all = others;
        outcome = outcome.and(queue(own));
    }
    code(outcome)
}

fn add(
    sends: bool,
    (address, count, dtype): (u64, usize, u32),
    peer: i32,
    communicator: *mut c_void,
    stream: usize,
) -> u32 {
    // By `ncclDataType_t`.
    const SIZES: [u64; 12] = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1];
    let (Some(communicator), Some(size)) = (named(communicator), SIZES.get(dtype as usize)) else {
        return Code::INVALID_ARGUMENT.0;
    };
    let is_other = (0..communicator.count as i32).contains(&peer) && peer as usize != communicator.rank;
    if !is_other || communicator.is_over.load(Ordering::Acquire) {
        return Code::INVALID_ARGUMENT.0;
    }
    let bytes = count as u64 * size;
    let part = Part { communicator, stream, sends, peer: peer as usize, dtype, address, bytes };
    if DEPTH.get() == 0 {
        return code(queue(vec![part]));
    }
    PARTS.with_borrow_mut(|parts| parts.push(part));
    0
}

/// `ncclSend`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclSend(
    from: u64,
    count: usize,
    dtype: u32,
    peer: i32,
    communicator: *mut c_void,
    stream: usize,
) -> u32 {
    add(true, (from, count, dtype), peer, communicator, stream)
}

/// `ncclRecv`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclRecv(
    to: u64,
    count: usize,
    dtype: u32,
    peer: i32,
    communicator: *mut c_void,
    stream: usize,
) -> u32 {
    add(false, (to, count, dtype), peer, communicator, stream)
}

/// `ncclGetErrorString`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetErrorString(code: u32) -> *const c_char {
    let text: &CStr = match code {
        0 => c"no error",
        1 => c"unhandled cuda error",
        2 => c"unhandled system error",
        3 => c"internal error",
        4 => c"invalid argument",
        5 => c"invalid usage",
        6 => c"remote process exited or there was a network error",
        7 => c"NCCL operation in progress",
        _ => c"unknown result code",
    };
    text.as_ptr()
}

/// `ncclGetLastError`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetLastError(communicator: *mut c_void) -> *const c_char {
    let text = named(communicator).map(|communicator| locked(&communicator.state).text.clone());
    let text = text.and_then(|text| std::ffi::CString::new(text).ok()).unwrap_or_default();
    // Few, and the caller keeps the address.
    text.into_raw()
}
