//! Cases with two processes that share memory: the case starts this binary again as the other process.

use super::calls::*;
use super::{Case, WHICH, bad, good};
use cudarc::driver::sys;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;

pub fn cases() -> Vec<Case> {
    vec![
        good("ipc", ipc).seeds(5),
        good("ipc_refusals", ipc_refusals).seeds(1),
        bad("ipc_freed_by_owner", ipc_freed_by_owner, "freed by the process").seeds(3),
        // The other processes, which the cases above start.
        good("ipc_reader", ipc_reader).seeds(0),
        good("ipc_late_reader", ipc_late_reader).seeds(0),
    ]
}

const MEMORY: &str = "SIMCUDA_DRIVER_MEMORY";
const EVENT: &str = "SIMCUDA_DRIVER_EVENT";
/// `CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS`.
const SHARED_EVENT: u32 = 6;

pub fn export(address: u64) -> Result<sys::CUipcMemHandle, Code> {
    let mut handle = sys::CUipcMemHandle { reserved: [0; 64] };
    // SAFETY: the pointer is to a local.
    let code = unsafe { sys::cuIpcGetMemHandle(&mut handle, address) };
    code.result().map_err(|error| error.0).map(|()| handle)
}

fn open(handle: sys::CUipcMemHandle) -> Result<u64, Code> {
    let mut address = 0;
    // SAFETY: the pointer is to a local.
    let code = unsafe { sys::cuIpcOpenMemHandle_v2(&mut address, handle, 1) };
    code.result().map_err(|error| error.0).map(|()| address)
}

/// The memory that the case which started this process exports.
pub fn opened() -> u64 {
    open(sys::CUipcMemHandle { reserved: bytes(MEMORY) }).unwrap()
}

fn text(bytes: &[std::ffi::c_char]) -> String {
    bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect()
}

fn bytes(variable: &str) -> [std::ffi::c_char; 64] {
    let text = std::env::var(variable).unwrap();
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap() as std::ffi::c_char)
}

pub fn other_process(case: &str, memory: &sys::CUipcMemHandle, event: &sys::CUipcEventHandle) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "one_case", "--nocapture", "--test-threads=1"])
        .env(WHICH, case)
        .env(MEMORY, text(&memory.reserved))
        .env(EVENT, text(&event.reserved))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the other process prints a line that ends so.
pub fn hear(child: &mut Child, wanted: &str) {
    let output = BufReader::new(child.stdout.as_mut().unwrap());
    let mut lines = output.lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with(wanted)), "the other process never said `{wanted}`");
}

pub fn shared_event() -> (sys::CUevent, sys::CUipcEventHandle) {
    let (mut event, mut handle) = (null_mut(), sys::CUipcEventHandle { reserved: [0; 64] });
    // SAFETY: the pointers are to locals.
    unsafe {
        ok(sys::cuEventCreate(&mut event, SHARED_EVENT));
        ok(sys::cuIpcGetEventHandle(&mut handle, event));
    }
    (event, handle)
}

/// The other process waits for the event, reads what a kernel wrote here, and adds to it.
fn ipc() {
    start(0);
    let (a, bump, x, (done, event)) = (stream(), bump(), alloc(), shared_event());
    let memory = export(x).unwrap();
    upload(x, &numbers(), a);
    launch(bump, x, x, 1, a);
    record(done, a);
    let mut child = other_process("ipc_reader", &memory, &event);
    hear(&mut child, "finished: ipc_reader");
    assert!(child.wait().unwrap().success());
    assert_eq!(download(x, a), plus(&numbers(), 11));
}

fn ipc_reader() {
    start(0);
    let x = open(sys::CUipcMemHandle { reserved: bytes(MEMORY) }).unwrap();
    let (a, bump, mut done) = (stream(), bump(), null_mut());
    // SAFETY: the pointer is to a local.
    ok(unsafe { sys::cuIpcOpenEventHandle(&mut done, sys::CUipcEventHandle { reserved: bytes(EVENT) }) });
    wait(a, done);
    assert_eq!(download(x, a), plus(&numbers(), 1));
    launch(bump, x, x, 10, a);
    record(done, a);
    // SAFETY: the address is of opened memory.
    unsafe {
        assert_eq!(sys::cuMemFree_v2(x), Code::CUDA_ERROR_INVALID_VALUE);
        ok(sys::cuIpcCloseMemHandle(x));
        assert_eq!(sys::cuIpcCloseMemHandle(x), Code::CUDA_ERROR_INVALID_VALUE);
    }
}

fn ipc_refusals() {
    start(0);
    let x = alloc();
    let memory = export(x).unwrap();
    assert_eq!(open(memory), Err(Code::CUDA_ERROR_INVALID_CONTEXT), "a process's own memory");
    let refused = Code::CUDA_ERROR_INVALID_VALUE;
    assert_eq!(export(x + 256).unwrap().reserved, memory.reserved, "the middle stands for the whole");
    assert_eq!(open(sys::CUipcMemHandle { reserved: [1; 64] }), Err(refused));
    let (mut handle, plain) = (sys::CUipcEventHandle { reserved: [0; 64] }, event());
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { sys::cuIpcGetEventHandle(&mut handle, plain) }, refused);
}

fn ipc_freed_by_owner() {
    start(0);
    let (a, x, (_, event)) = (stream(), alloc(), shared_event());
    upload(x, &numbers(), a);
    let mut child = other_process("ipc_late_reader", &export(x).unwrap(), &event);
    hear(&mut child, "opened");
    // SAFETY: the address is of an allocation.
    ok(unsafe { sys::cuMemFree_v2(x) });
    child.stdin.as_mut().unwrap().write_all(b"freed\n").unwrap();
    hear(&mut child, "finished: ipc_late_reader");
    assert!(child.wait().unwrap().success());
}

fn ipc_late_reader() {
    start(0);
    let (a, x) = (stream(), open(sys::CUipcMemHandle { reserved: bytes(MEMORY) }).unwrap());
    assert_eq!(download(x, a), numbers());
    println!("opened");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    assert_eq!(try_download(x, a), Err(Code::CUDA_ERROR_ILLEGAL_ADDRESS));
}
