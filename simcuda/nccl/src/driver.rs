//! The simulated driver, as this process has loaded it.

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use crate::Code;

/// As the driver takes them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ForeignCalls {
    pub state: *mut c_void,
    pub begin: extern "C" fn(*mut c_void, u64) -> u32,
    pub send: extern "C" fn(*mut c_void, u64, usize, *const u8, usize),
    pub poll: extern "C" fn(*mut c_void, u64) -> u32,
    pub receive: extern "C" fn(*mut c_void, u64, usize, *mut u8, usize),
    pub end: extern "C" fn(*mut c_void, u64),
}

type Submit =
    unsafe extern "C" fn(*mut c_void, *const [u64; 2], u32, *const [u64; 2], u32, *const ForeignCalls) -> u32;

struct Functions {
    submit: Submit,
    current_device: unsafe extern "C" fn(*mut i32) -> u32,
}

fn functions() -> Option<&'static Functions> {
    static FOUND: OnceLock<Option<Functions>> = OnceLock::new();
    let find = || {
        // SAFETY: C strings; the library is never closed.
        let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) };
        let symbol = |name: &CStr| {
            // SAFETY: an open library, a C string.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!found.is_null()).then_some(found)
        };
        if library.is_null() {
            return None;
        }
        // SAFETY: the types of the functions of these names.
        unsafe {
            Some(Functions {
                submit: std::mem::transmute::<*mut c_void, Submit>(symbol(c"simcudaForeign")?),
                current_device: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut i32) -> u32>(
                    symbol(c"cuCtxGetDevice")?,
                ),
            })
        }
    };
    FOUND.get_or_init(find).as_ref()
}

/// Queues work on a stream.
pub fn submit(
    stream: usize,
    reads: &[[u64; 2]],
    writes: &[[u64; 2]],
    calls: ForeignCalls,
) -> Result<(), Code> {
    let functions = functions().ok_or(Code::UNHANDLED_CUDA_ERROR)?;
    // SAFETY: as many ranges as stated; the driver copies all of it.
    let code = unsafe {
        (functions.submit)(
            stream as *mut c_void,
            reads.as_ptr(),
            reads.len() as u32,
            writes.as_ptr(),
            writes.len() as u32,
            &calls,
        )
    };
    if code == 0 { Ok(()) } else { Err(Code::UNHANDLED_CUDA_ERROR) }
}

/// The device that is current on this thread.
pub fn current_device() -> Result<i32, Code> {
    let functions = functions().ok_or(Code::UNHANDLED_CUDA_ERROR)?;
    let mut device = -1;
    // SAFETY: the place is a local.
    let code = unsafe { (functions.current_device)(&mut device) };
    if code == 0 { Ok(device) } else { Err(Code::UNHANDLED_CUDA_ERROR) }
}
