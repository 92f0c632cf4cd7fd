//! Cases about what goes wrong: kernels that fault, calls that fail as wanted, devices that are lost, texts
//! and handles that are no good. All of it must be said, and stay where it belongs.

use super::calls::*;
use super::{Case, Log, bad, good};
use cudarc::driver::sys;
use std::ptr::null_mut;

pub fn cases() -> Vec<Case> {
    vec![
        bad("out_of_bounds", out_of_bounds, "out of bounds in `bump`").seeds(3),
        bad("misaligned", misaligned, "misaligned in `bump`").seeds(3),
        bad("use_after_free", use_after_free, "freed").seeds(5),
        bad("uninitialised", uninitialised, "uninitialised").seeds(3),
        good("double_free", double_free).seeds(1),
        good("out_of_memory", out_of_memory).under(&[("PARTITA_SIM_MEMORY_BYTES", "1000000")]).seeds(3),
        good("third_alloc_fails", third_alloc_fails).under(&[FAIL_ALLOC]).seeds(1),
        good("every_alloc_can_fail", every_alloc_can_fail).under(&[FAIL_ALL]).seeds(1),
        bad("second_launch_fails", second_launch_fails, "call 2 of cuLaunchKernel")
            .under(&[FAIL_LAUNCH])
            .seeds(3),
        bad("lost_device", lost_device, "device 0 is lost")
            .under(&[("PARTITA_SIM_DEVICES", "2"), LOSE])
            .seeds(3),
        good("ptx_error_log", ptx_error_log).seeds(1),
        good("newer_target", newer_target).under(&[("PARTITA_SIM_SM", "75")]).seeds(1),
        good("launch_shapes", launch_shapes).seeds(1),
        good("stale_handles", stale_handles).seeds(1),
        good("unloaded_early", unloaded_early),
        good("unloaded_late", unloaded_late),
        good("unknown_symbol", unknown_symbol).seeds(1),
        good("no_init", no_init).seeds(1),
        good("misspelled_failure", refused_setting)
            .under(&[("PARTITA_SIM_FAIL", "cuMemAlloc:1:lost")])
            .seeds(1),
        good("nine_devices", refused_setting).under(&[("PARTITA_SIM_DEVICES", "9")]).seeds(1),
        Case {
            name: "first_fault_only",
            program: first_fault_only,
            seeds: 5,
            environment: &[],
            log: Log::One("fault"),
        },
    ]
}

const FAIL_ALLOC: (&str, &str) = ("PARTITA_SIM_FAIL", "cuMemAlloc_v2:3:out_of_memory");
const FAIL_ALL: (&str, &str) = ("PARTITA_SIM_FAIL", "cuMemAlloc_v2:1:out_of_memory,cuMemAlloc_v2:2:unknown");
const FAIL_LAUNCH: (&str, &str) = ("PARTITA_SIM_FAIL", "cuLaunchKernel:2:launch_failed");
const LOSE: (&str, &str) = ("PARTITA_SIM_FAIL", "cuMemcpyHtoDAsync_v2:2:lost");

/// Every call on a device with a fault reports it.
fn stays(code: Code) {
    let (mut event, mut free, mut total) = (null_mut(), 0, 0);
    assert_eq!(try_alloc(4), Err(code));
    // SAFETY: the pointers are to locals.
    unsafe {
        assert_eq!(sys::cuCtxSynchronize(), code);
        assert_eq!(sys::cuEventCreate(&mut event, 0), code);
        assert_eq!(sys::cuMemGetInfo_v2(&mut free, &mut total), code);
    }
    assert_eq!(try_load(BUMP).unwrap_err(), code);
}

fn out_of_bounds() {
    start(0);
    let (a, bump, x, y) = (stream(), bump(), alloc(), try_alloc(BYTES - 4).unwrap());
    upload(x, &numbers(), a);
    launch(bump, y, x, 1, a);
    assert_eq!(sync(a), Code::CUDA_ERROR_ILLEGAL_ADDRESS);
    stays(Code::CUDA_ERROR_ILLEGAL_ADDRESS);
}

fn misaligned() {
    start(0);
    let (a, bump, x) = (stream(), bump(), try_alloc(2 * BYTES).unwrap());
    upload(x, &numbers(), a);
    launch(bump, x + 2, x, 1, a);
    assert_eq!(sync(a), Code::CUDA_ERROR_MISALIGNED_ADDRESS);
    stays(Code::CUDA_ERROR_MISALIGNED_ADDRESS);
}

fn use_after_free() {
    start(0);
    let (a, bump, x, y) = (stream(), bump(), alloc(), alloc());
    upload(x, &numbers(), a);
    // SAFETY: the address is of an allocation.
    ok(unsafe { sys::cuMemFree_v2(x) });
    launch(bump, y, x, 1, a);
    assert_eq!(sync(a), Code::CUDA_ERROR_ILLEGAL_ADDRESS);
    stays(Code::CUDA_ERROR_ILLEGAL_ADDRESS);
}

fn uninitialised() {
    start(0);
    let (a, bump, x, y) = (stream(), bump(), alloc(), alloc());
    launch(bump, y, x, 1, a);
    assert_eq!(sync(a), Code::CUDA_ERROR_LAUNCH_FAILED);
}

fn double_free() {
    start(0);
    let (a, x) = (stream(), alloc());
    let wrong = Code::CUDA_ERROR_INVALID_VALUE;
    // SAFETY: wrong addresses are what is tried.
    unsafe {
        assert_eq!(sys::cuMemFree_v2(x + 256), wrong);
        ok(sys::cuMemFree_v2(x));
        assert_eq!(sys::cuMemFree_v2(x), wrong);
        assert_eq!(sys::cuMemcpyHtoDAsync_v2(x, numbers().as_ptr().cast(), BYTES, a), wrong);
        assert_eq!(
            sys::cuMemcpyHtoDAsync_v2(alloc(), vec![0u8; BYTES + 1].as_ptr().cast(), BYTES + 1, a),
            wrong
        );
    }
    ok(sync(a));
}

fn out_of_memory() {
    start(0);
    let first = try_alloc(600_000).unwrap();
    assert_eq!(try_alloc(600_000), Err(Code::CUDA_ERROR_OUT_OF_MEMORY));
    assert_eq!(try_alloc(1 << 40), Err(Code::CUDA_ERROR_OUT_OF_MEMORY));
    // Not sticky: smaller memory is still there, and what was freed comes back.
    let second = try_alloc(300_000).unwrap();
    // SAFETY: the addresses are of allocations.
    unsafe {
        ok(sys::cuMemFree_v2(second));
        ok(sys::cuMemFree_v2(first));
    }
    try_alloc(900_000).unwrap();
}

fn third_alloc_fails() {
    start(0);
    let results: Vec<bool> = (0..5).map(|_| try_alloc(4).is_ok()).collect();
    assert_eq!(results, [true, true, false, true, true]);
}

fn every_alloc_can_fail() {
    start(0);
    assert_eq!(try_alloc(4), Err(Code::CUDA_ERROR_OUT_OF_MEMORY));
    assert_eq!(try_alloc(4), Err(Code::CUDA_ERROR_UNKNOWN));
    try_alloc(4).unwrap();
}

fn second_launch_fails() {
    start(0);
    let (a, bump, x) = (stream(), bump(), alloc());
    upload(x, &numbers(), a);
    let again = Bump { to: x, from: x, count: 1, add: 1 };
    ok(try_launch(bump, again, a));
    assert_eq!(try_launch(bump, again, a), Code::CUDA_ERROR_LAUNCH_FAILED);
    stays(Code::CUDA_ERROR_LAUNCH_FAILED);
}

fn lost_device() {
    let (first, second) = (start(0), start(1));
    let lost = Code::CUDA_ERROR_DEVICE_UNAVAILABLE;
    let (b, y) = (stream(), alloc());
    upload(y, &numbers(), b);
    choose(first);
    let (a, bump_here, x) = (stream_on(first), bump(), alloc());
    // SAFETY: the slice is as long as it says.
    let code = unsafe { sys::cuMemcpyHtoDAsync_v2(x, numbers().as_ptr().cast(), BYTES, a) };
    assert_eq!(code, lost);
    stays(lost);
    let params = Bump { to: x, from: x, count: 1, add: 1 };
    assert_eq!(try_launch(bump_here, params, a), lost);
    assert_eq!(sync(a), lost);
    // The other device goes on.
    choose(second);
    let there = bump();
    launch(there, y, y, 1, b);
    assert_eq!(download(y, b), plus(&numbers(), 1));
}

fn stream_on(primary: sys::CUcontext) -> sys::CUstream {
    choose(primary);
    stream()
}

/// A fault on one device is explained once, however often it is reported.
fn first_fault_only() {
    start(0);
    let (a, b, bump, x) = (stream(), stream(), bump(), alloc());
    launch(bump, x, x, 1, a);
    launch(bump, x, x, 1, b);
    assert_ne!(sync_both(a, b), Code::CUDA_SUCCESS);
    for _ in 0..3 {
        assert_ne!(sync_both(b, a), Code::CUDA_SUCCESS);
    }
}

fn ptx_error_log() {
    use sys::CUjit_option::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    start(0);
    let wrong = BUMP.replace("add.u32 %r8", "frobnicate.u32 %r8");
    let (text, mut module, mut log) = (std::ffi::CString::new(wrong).unwrap(), null_mut(), vec![0u8; 500]);
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
    // SAFETY: options and values are as many as it says.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    assert_eq!(code, Code::CUDA_ERROR_INVALID_PTX);
    let said = String::from_utf8(log[..values[1] as usize].to_vec()).unwrap();
    assert!(said.contains("frobnicate") && said.contains("PTX line"), "{said}");
    assert_eq!(log[values[1] as usize], 0, "the text ends with a nul");
    assert_eq!(try_load("\u{7f}ELF").unwrap_err(), Code::CUDA_ERROR_NO_BINARY_FOR_GPU);
}

fn newer_target() {
    start(0);
    try_load(BUMP).unwrap();
    let newer = BUMP.replace("sm_75", "sm_80");
    assert_eq!(try_load(&newer).unwrap_err(), Code::CUDA_ERROR_NO_BINARY_FOR_GPU);
}

fn launch_shapes() {
    start(0);
    let (a, bump) = (stream(), bump());
    let mut params = Bump { to: 0, from: 0, count: 0, add: 0 };
    let mut list = [(&raw mut params).cast::<std::ffi::c_void>()];
    let wrong = [[0, 1, 1, 1, 1, 1], [1, 65_536, 1, 1, 1, 1], [1, 1, 1, 1025, 1, 1], [1, 1, 1, 1, 1, 65]];
    for [gx, gy, gz, bx, by, bz] in wrong {
        // SAFETY: the kernel has one parameter of this type.
        let code =
            unsafe { sys::cuLaunchKernel(bump, gx, gy, gz, bx, by, bz, 0, a, list.as_mut_ptr(), null_mut()) };
        assert_eq!(code, Code::CUDA_ERROR_INVALID_VALUE);
    }
    let with = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the kernel is loaded.
    let allow = |bytes: i32| unsafe { sys::cuFuncSetAttribute(bump, with, bytes) };
    let mut give = |bytes: u32| {
        // SAFETY: as above.
        unsafe { sys::cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, bytes, a, list.as_mut_ptr(), null_mut()) }
    };
    ok(give(48 << 10));
    assert_eq!(give((48 << 10) + 1), Code::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(allow(228 << 10), Code::CUDA_ERROR_INVALID_VALUE);
    ok(allow(60 << 10));
    ok(give(60 << 10));
    assert_eq!(give((60 << 10) + 1), Code::CUDA_ERROR_INVALID_VALUE);
    // SAFETY: no parameters are what is tried.
    let code = unsafe { sys::cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, a, null_mut(), null_mut()) };
    assert_eq!(code, Code::CUDA_ERROR_INVALID_VALUE);
    ok(sync(a));
}

fn stale_handles() {
    start(0);
    let (a, done, stale) = (stream(), event(), Code::CUDA_ERROR_INVALID_HANDLE);
    // SAFETY: stale handles are what is tried.
    unsafe {
        ok(sys::cuEventDestroy_v2(done));
        assert_eq!(sys::cuEventRecord(done, a), stale);
        assert_eq!(sys::cuEventDestroy_v2(done), stale);
        ok(sys::cuStreamDestroy_v2(a));
        assert_eq!(sys::cuStreamSynchronize(a), stale);
        assert_eq!(sys::cuModuleUnload(a.cast()), stale, "a stream is no module");
        ok(sys::cuDevicePrimaryCtxRelease_v2(0));
        assert_eq!(sys::cuCtxSynchronize(), Code::CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
}

/// A launch of a module's function on a stream, and the unloading of the module; before it, `between`.
fn unload(between: impl FnOnce(sys::CUstream)) -> Code {
    start(0);
    let (a, x) = (stream(), alloc());
    let module = try_load(BUMP).unwrap();
    upload(x, &numbers(), a);
    launch(function_of(module, c"bump"), x, x, 1, a);
    between(a);
    // SAFETY: the handle came from the driver.
    unsafe { sys::cuModuleUnload(module) }
}

fn unloaded_early() {
    assert_eq!(unload(|_| ()), Code::CUDA_ERROR_INVALID_HANDLE);
}

fn unloaded_late() {
    ok(unload(|a| ok(sync(a))));
}

fn unknown_symbol() {
    start(0);
    // SAFETY: the library is the simulated driver.
    let library = unsafe { sys::culib() };
    let has = |name: &[u8]| {
        // SAFETY: what is found is not called.
        unsafe { library.get::<unsafe extern "C" fn()>(name) }.is_ok()
    };
    assert!(has(b"cuInit") && !has(b"cuArrayCreate_v2") && !has(b"cuCtxCreate_v4"));
}

fn no_init() {
    let mut count = 0;
    // SAFETY: the pointer is to a local.
    unsafe {
        assert_eq!(sys::cuDeviceGetCount(&mut count), Code::CUDA_ERROR_NOT_INITIALIZED);
        ok(sys::cuInit(0));
        ok(sys::cuDeviceGetCount(&mut count));
        assert_eq!(sys::cuCtxSynchronize(), Code::CUDA_ERROR_INVALID_CONTEXT);
    }
    assert_eq!(count, 1);
}

fn refused_setting() {
    // SAFETY: it takes a number.
    assert_eq!(unsafe { sys::cuInit(0) }, Code::CUDA_ERROR_INVALID_VALUE);
}
