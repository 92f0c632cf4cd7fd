//! Cases written with cudarc's safe layer, as the engine and users' programs are.

use super::calls::{BUMP, Bump, COUNT, numbers, plus};
use super::{Case, good};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUresult, CUstreamCaptureMode, is_culib_present};
use cudarc::driver::{CudaContext, DevicePtr, DeviceRepr, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

// SAFETY: plain numbers in C order.
unsafe impl DeviceRepr for Bump {}

pub fn cases() -> Vec<Case> {
    vec![
        good("cudarc", cudarc).seeds(5),
        good("cudarc_two_streams", cudarc_two_streams).seeds(5),
        good("cudarc_graph", cudarc_graph).seeds(3),
    ]
}

fn config() -> LaunchConfig {
    LaunchConfig { grid_dim: (COUNT.div_ceil(128) as u32, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 }
}

fn cudarc() {
    // SAFETY: nothing else loads libraries here.
    assert!(unsafe { is_culib_present() });
    assert_eq!(CudaContext::device_count(), Ok(1));
    let device = CudaContext::new(0).unwrap();
    assert_eq!(device.compute_capability(), Ok((9, 0)));
    assert!(device.name().unwrap().contains("simulated"));
    assert!(!device.has_async_alloc());
    let (free, total) = device.mem_get_info().unwrap();
    assert_eq!((free, total), (2 << 30, 2 << 30));

    let stream = device.default_stream();
    let x = stream.clone_htod(&numbers()).unwrap();
    let y = stream.alloc_zeros::<u32>(COUNT).unwrap();
    let module = device.load_module(Ptx::from_src(BUMP)).unwrap();
    let bump = module.load_function("bump").unwrap();
    let params =
        Bump { to: y.device_ptr(&stream).0, from: x.device_ptr(&stream).0, count: COUNT as u32, add: 5 };
    // SAFETY: the kernel has one parameter of this type, and the memory is as long as it says.
    unsafe { stream.launch_builder(&bump).arg(&params).launch(config()) }.unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), plus(&numbers(), 5));
    assert!(device.load_module(Ptx::from_src("nonsense")).is_err());
    drop((x, y));
    device.synchronize().unwrap();
    assert_eq!(device.mem_get_info().unwrap().0, free, "all memory is given back");
}

/// cudarc records events for each slice when there are several streams.
fn cudarc_two_streams() {
    let device = CudaContext::new(0).unwrap();
    let (a, b) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let x = a.clone_htod(&numbers()).unwrap();
    let mut y = b.alloc_zeros::<u32>(COUNT).unwrap();
    b.memcpy_dtod(&x, &mut y).unwrap();
    drop(x);
    // SAFETY: it is written before it is read.
    let mut pinned = unsafe { device.alloc_pinned::<u32>(COUNT) }.unwrap();
    b.memcpy_dtoh(&y, &mut pinned).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), numbers());
    let c = b.fork().unwrap();
    c.memset_zeros(&mut y).unwrap();
    assert_eq!(c.clone_dtoh(&y).unwrap(), vec![0; COUNT]);
    device.check_err().unwrap();
}

fn cudarc_graph() {
    let device = CudaContext::new(0).unwrap();
    // SAFETY: one stream orders everything.
    unsafe { device.disable_event_tracking() };
    let stream = device.new_stream().unwrap();
    let mut x = stream.clone_htod(&numbers()).unwrap();
    stream.synchronize().unwrap();
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    stream.memset_zeros(&mut x).unwrap();
    assert_eq!(stream.synchronize().unwrap_err().0, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert!(stream.end_capture(CUgraphInstantiate_flags(0)).is_err(), "the wait broke the capture");
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    stream.memset_zeros(&mut x).unwrap();
    let graph = stream.end_capture(CUgraphInstantiate_flags(0)).unwrap().unwrap();
    assert_eq!(stream.clone_dtoh(&x).unwrap(), numbers(), "captured work does not run");
    graph.launch().unwrap();
    assert_eq!(stream.clone_dtoh(&x).unwrap(), vec![0; COUNT]);
}
