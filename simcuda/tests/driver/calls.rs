//! The driver's calls as the cases use them: checked, and with fewer arguments. Each case owns what it
//! passes.

use cudarc::driver::sys::{self, CUresult};
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

pub use cudarc::driver::sys::CUresult as Code;

/// `to[i] = from[i] + add` for `i < count`; the parameters are in [`Bump`].
pub const BUMP: &str = "
.version 7.0
.target sm_75
.address_size 64

.visible .entry bump(.param .align 8 .b8 launch[24])
{
    .reg .pred %p<2>;
    .reg .b32 %r<10>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [launch];
    ld.param.u64 %rd2, [launch+8];
    ld.param.u32 %r1, [launch+16];
    ld.param.u32 %r2, [launch+20];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r6, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r6, 4;
    add.u64 %rd6, %rd4, %rd5;
    add.u64 %rd7, %rd3, %rd5;
    ld.global.u32 %r7, [%rd6];
    add.u32 %r8, %r7, %r2;
    st.global.u32 [%rd7], %r8;
DONE:
    ret;
}
";

/// The parameters of [`BUMP`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bump {
    pub to: u64,
    pub from: u64,
    pub count: u32,
    pub add: u32,
}

/// The only numbers of elements that matter here.
pub const COUNT: usize = 300;
pub const BYTES: usize = 4 * COUNT;

/// Fails the case if a call failed.
#[track_caller]
pub fn ok(code: CUresult) {
    assert_eq!(code, Code::CUDA_SUCCESS);
}

/// A device with its primary context current.
pub fn start(device: i32) -> sys::CUcontext {
    let mut primary = null_mut();
    // SAFETY: all pointers are to locals.
    unsafe {
        ok(sys::cuInit(0));
        ok(sys::cuDevicePrimaryCtxRetain(&mut primary, device));
        ok(sys::cuCtxSetCurrent(primary));
    }
    primary
}

pub fn choose(primary: sys::CUcontext) {
    // SAFETY: the handle came from the driver.
    ok(unsafe { sys::cuCtxSetCurrent(primary) });
}

/// A stream that orders with nothing by itself.
pub fn stream() -> sys::CUstream {
    stream_with(1)
}

pub fn stream_with(flags: u32) -> sys::CUstream {
    let mut stream = null_mut();
    // SAFETY: the pointer is to a local.
    ok(unsafe { sys::cuStreamCreate(&mut stream, flags) });
    stream
}

pub fn event() -> sys::CUevent {
    let mut event = null_mut();
    // SAFETY: the pointer is to a local.
    ok(unsafe { sys::cuEventCreate(&mut event, 0) });
    event
}

pub fn record(event: sys::CUevent, stream: sys::CUstream) {
    // SAFETY: the handles came from the driver.
    ok(unsafe { sys::cuEventRecord(event, stream) });
}

pub fn wait(stream: sys::CUstream, event: sys::CUevent) {
    // SAFETY: the handles came from the driver.
    ok(unsafe { sys::cuStreamWaitEvent(stream, event, 0) });
}

pub fn sync(stream: sys::CUstream) -> CUresult {
    // SAFETY: the handle came from the driver.
    unsafe { sys::cuStreamSynchronize(stream) }
}

/// Waits for two streams; what the first failure is.
pub fn sync_both(a: sys::CUstream, b: sys::CUstream) -> CUresult {
    match sync(a) {
        Code::CUDA_SUCCESS => sync(b),
        code => code,
    }
}

pub fn try_alloc(bytes: usize) -> Result<u64, CUresult> {
    let mut address = 0;
    // SAFETY: the pointer is to a local.
    unsafe { sys::cuMemAlloc_v2(&mut address, bytes) }.result().map_err(|error| error.0)?;
    Ok(address)
}

#[track_caller]
pub fn alloc() -> u64 {
    try_alloc(BYTES).unwrap()
}

/// Pinned memory for [`COUNT`] elements.
pub fn pinned() -> *mut u32 {
    let mut address: *mut c_void = null_mut();
    // SAFETY: the pointer is to a local.
    ok(unsafe { sys::cuMemHostAlloc(&mut address, BYTES, 0) });
    address.cast()
}

/// The elements of pinned memory, which no copy may be using.
pub fn elements(pinned: *mut u32) -> &'static mut [u32] {
    // SAFETY: the memory has this size and lives until the case ends.
    unsafe { std::slice::from_raw_parts_mut(pinned, COUNT) }
}

/// The numbers that most cases compute with: no two elements equal.
pub fn numbers() -> Vec<u32> {
    (0..COUNT as u32).map(|i| 7 * i + 3).collect()
}

pub fn upload(to: u64, from: &[u32], stream: sys::CUstream) {
    // SAFETY: the slice is as long as it says.
    ok(unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), size_of_val(from), stream) });
}

/// Copies to pageable memory, and so waits.
pub fn try_download(from: u64, stream: sys::CUstream) -> Result<Vec<u32>, CUresult> {
    let mut data = vec![0; COUNT];
    // SAFETY: the vector is as long as it says.
    let code = unsafe { sys::cuMemcpyDtoHAsync_v2(data.as_mut_ptr().cast(), from, BYTES, stream) };
    code.result().map_err(|error| error.0).map(|()| data)
}

#[track_caller]
pub fn download(from: u64, stream: sys::CUstream) -> Vec<u32> {
    try_download(from, stream).unwrap()
}

pub fn try_load(text: &str) -> Result<sys::CUmodule, CUresult> {
    let text = CString::new(text).unwrap();
    let mut module = null_mut();
    // SAFETY: the text ends with a nul.
    let code = unsafe { sys::cuModuleLoadData(&mut module, text.as_ptr().cast()) };
    code.result().map_err(|error| error.0).map(|()| module)
}

pub fn function(text: &str, name: &CStr) -> sys::CUfunction {
    function_of(try_load(text).unwrap(), name)
}

pub fn function_of(module: sys::CUmodule, name: &CStr) -> sys::CUfunction {
    let mut function = null_mut();
    // SAFETY: the handle came from the driver, the name ends with a nul.
    ok(unsafe { sys::cuModuleGetFunction(&mut function, module, name.as_ptr()) });
    function
}

pub fn bump() -> sys::CUfunction {
    function(BUMP, c"bump")
}

pub fn try_launch(function: sys::CUfunction, mut params: Bump, stream: sys::CUstream) -> CUresult {
    let mut list = [(&raw mut params).cast::<c_void>()];
    let blocks = params.count.div_ceil(128);
    // SAFETY: the kernel has one parameter of this type.
    unsafe {
        sys::cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, stream, list.as_mut_ptr(), null_mut())
    }
}

/// `to = from + add` on a stream.
#[track_caller]
pub fn launch(function: sys::CUfunction, to: u64, from: u64, add: u32, stream: sys::CUstream) {
    ok(try_launch(function, Bump { to, from, count: COUNT as u32, add }, stream));
}

pub fn plus(numbers: &[u32], add: u32) -> Vec<u32> {
    numbers.iter().map(|number| number + add).collect()
}
