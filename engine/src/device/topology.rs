//! The place of CUDA devices in their machine: which of them reach each other's memory, and the NUMA nodes of
//! GPUs and of this process. It is read from the driver that is loaded and from `/sys`; what is not known is
//! `None`.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::mem::transmute;

/// The ordinal of a CUDA device in its name, which begins with `cuda:0`.
pub(crate) fn ordinal(name: &str) -> Option<i32> {
    name.strip_prefix("cuda:")?.split(' ').next()?.parse().ok()
}

/// A function of the driver, if it is loaded and has it.
#[cfg(unix)]
fn function(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: C strings; a library is found only if the process has opened it, and never closed.
    let found = unsafe {
        let library = libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() { library } else { libc::dlsym(library, name.as_ptr()) }
    };
    (!found.is_null()).then_some(found)
}

/// As on Unix: not searched for here.
#[cfg(not(unix))]
fn function(_name: &CStr) -> Option<*mut c_void> {
    None
}

/// Whether a CUDA device of this process reaches the memory of another.
pub(crate) fn peer_access(from: i32, to: i32) -> Option<bool> {
    type CanAccess = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;
    // SAFETY: the type of this function in every version of the driver.
    let ask = unsafe { transmute::<*mut c_void, CanAccess>(function(c"cuDeviceCanAccessPeer")?) };
    let mut can = 0;
    // SAFETY: a place for the answer; the driver refuses what is no device of its.
    (unsafe { ask(&mut can, from, to) } == 0).then_some(can != 0)
}

/// The NUMA node of a CUDA device.
pub(crate) fn numa_node(device: i32) -> Option<usize> {
    type Address = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
    // SAFETY: the type of this function in every version of the driver.
    let ask = unsafe { transmute::<*mut c_void, Address>(function(c"cuDeviceGetPCIBusId")?) };
    let mut text = [0u8; 32];
    // SAFETY: room for the longest address, and its length.
    if unsafe { ask(text.as_mut_ptr().cast(), text.len() as c_int, device) } != 0 {
        return None;
    }
    let address = CStr::from_bytes_until_nul(&text).ok()?.to_str().ok()?.to_lowercase();
    // -1 where the machine has one node only.
    fs::read_to_string(format!("/sys/bus/pci/devices/{address}/numa_node")).ok()?.trim().parse().ok()
}

/// The NUMA nodes of the processors that this process may run on.
pub(crate) fn nodes_of_process() -> BTreeSet<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("");
    let allowed: BTreeSet<usize> = numbers(allowed).collect();
    let nodes = fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
    let node = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        let list = fs::read_to_string(entry.path().join("cpulist")).ok()?;
        numbers(&list).any(|processor| allowed.contains(&processor)).then_some(number)
    };
    nodes.filter_map(node).collect()
}

/// The numbers of a list such as `0-3,8`.
fn numbers(list: &str) -> impl Iterator<Item = usize> {
    let range = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten()
}
