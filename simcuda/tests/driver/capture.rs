//! Cases about captures and graphs: what is recorded, what a launch does, and what a capture forbids.

use super::calls::*;
use super::{Case, bad, good};
use cudarc::driver::sys::{self, CUstreamCaptureMode as Mode};
use std::ptr::null_mut;

const GLOBAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_GLOBAL;
const LOCAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
const RELAXED: Mode = Mode::CU_STREAM_CAPTURE_MODE_RELAXED;

pub fn cases() -> Vec<Case> {
    vec![
        good("graph_equals_direct", graph_equals_direct),
        good("graph_across_streams", graph_across_streams),
        bad("graph_missing_wait", graph_missing_wait, "in a graph"),
        bad("graph_beside_other_work", graph_beside_other_work, "race"),
        good("capture_violations", capture_violations).seeds(1),
        good("capture_modes", capture_modes).seeds(1),
        good("capture_ends", capture_ends).seeds(1),
    ]
}

fn begin(stream: sys::CUstream, mode: Mode) {
    // SAFETY: the handle came from the driver.
    ok(unsafe { sys::cuStreamBeginCapture_v2(stream, mode) });
}

fn end(stream: sys::CUstream) -> Result<sys::CUgraph, Code> {
    let mut graph = null_mut();
    // SAFETY: the pointer is to a local.
    let code = unsafe { sys::cuStreamEndCapture(stream, &mut graph) };
    assert_eq!(graph.is_null(), code != Code::CUDA_SUCCESS);
    code.result().map_err(|error| error.0).map(|()| graph)
}

fn executable(graph: sys::CUgraph) -> sys::CUgraphExec {
    let mut exec = null_mut();
    // SAFETY: the handle came from the driver.
    ok(unsafe { sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0) });
    exec
}

fn replay(exec: sys::CUgraphExec, stream: sys::CUstream) {
    // SAFETY: the handles came from the driver.
    ok(unsafe { sys::cuGraphLaunch(exec, stream) });
}

/// `y = x + 1; x = y + 10`, with a copy through pinned memory.
fn work(bump: sys::CUfunction, x: u64, y: u64, staging: *mut u32, stream: sys::CUstream) {
    launch(bump, y, x, 1, stream);
    launch(bump, x, y, 10, stream);
    // SAFETY: all memory is of this size.
    ok(unsafe { sys::cuMemcpyDtoHAsync_v2(staging.cast(), x, BYTES, stream) });
}

fn graph_equals_direct() {
    start(0);
    let (a, bump, x, y, staging) = (stream(), bump(), alloc(), alloc(), pinned());
    upload(x, &numbers(), a);
    for _ in 0..3 {
        work(bump, x, y, staging, a);
    }
    ok(sync(a));
    let direct = elements(staging).to_vec();
    upload(x, &numbers(), a);
    begin(a, GLOBAL);
    work(bump, x, y, staging, a);
    let graph = end(a).unwrap();
    let exec = executable(graph);
    for _ in 0..3 {
        replay(exec, a);
    }
    // SAFETY: the handles came from the driver; queued launches outlive them.
    unsafe {
        ok(sys::cuGraphExecDestroy(exec));
        ok(sys::cuGraphDestroy(graph));
    }
    ok(sync(a));
    assert_eq!(elements(staging), direct);
    assert_eq!(elements(staging), plus(&numbers(), 33));
}

/// `y = x + 1` on one stream, `z = x + 2` on the other, `x = y + 10` after both.
fn fork(bump: sys::CUfunction, m: [u64; 3], a: sys::CUstream, b: sys::CUstream, joined: bool) {
    let (forked, done) = (event(), event());
    let [x, y, z] = m;
    record(forked, a);
    wait(b, forked);
    launch(bump, y, x, 1, a);
    launch(bump, z, x, 2, b);
    record(done, b);
    if joined {
        wait(a, done);
    }
    launch(bump, x, y, 10, a);
    if !joined {
        wait(a, done);
    }
}

fn graph_across_streams() {
    start(0);
    let (a, b, bump, memory) = (stream(), stream(), bump(), [alloc(), alloc(), alloc()]);
    upload(memory[0], &numbers(), a);
    begin(a, LOCAL);
    fork(bump, memory, a, b, true);
    let exec = executable(end(a).unwrap());
    for _ in 0..3 {
        replay(exec, a);
    }
    assert_eq!(download(memory[0], a), plus(&numbers(), 33));
    assert_eq!(download(memory[2], a), plus(&numbers(), 24));
}

/// The other branch still reads what the last kernel writes.
fn graph_missing_wait() {
    start(0);
    let (a, b, bump, memory) = (stream(), stream(), bump(), [alloc(), alloc(), alloc()]);
    upload(memory[0], &numbers(), a);
    begin(a, LOCAL);
    fork(bump, memory, a, b, false);
    replay(executable(end(a).unwrap()), a);
    assert_eq!(sync(a), Code::CUDA_ERROR_LAUNCH_FAILED);
}

fn graph_beside_other_work() {
    start(0);
    let (a, b, bump, x, y) = (stream(), stream(), bump(), alloc(), alloc());
    upload(x, &numbers(), a);
    ok(sync(a));
    begin(a, RELAXED);
    launch(bump, y, x, 1, a);
    let exec = executable(end(a).unwrap());
    replay(exec, a);
    launch(bump, x, x, 1, b);
    assert_eq!(sync_both(b, a), Code::CUDA_ERROR_LAUNCH_FAILED);
}

/// Calls that must not happen during a capture, with the code they return; each breaks the capture.
fn capture_violations() {
    start(0);
    let (a, b, bump, x, outside) = (stream(), stream(), bump(), alloc(), event());
    let blocking = stream_with(0);
    record(outside, b);
    let (mut address, mut data, refused) = (0, numbers(), Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    let violation = |name: &str, stream: sys::CUstream, code: Code, forbidden: &mut dyn FnMut() -> Code| {
        begin(stream, GLOBAL);
        let inside = event();
        launch(bump, x, x, 1, stream);
        record(inside, stream);
        assert_eq!(forbidden(), code, "{name}");
        let after = try_launch(bump, Bump { to: x, from: x, count: 1, add: 1 }, stream);
        assert_eq!(after, Code::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "{name}");
        assert_eq!(end(stream), Err(Code::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED), "{name}");
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;
        // SAFETY: the pointer is to a local.
        ok(unsafe { sys::cuStreamIsCapturing(stream, &mut status) });
        assert_eq!(status, sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, "{name}");
    };
    // SAFETY: all handles came from the driver, all memory is as long as it says.
    unsafe {
        violation("wait for the stream", a, refused, &mut || sys::cuStreamSynchronize(a));
        violation("wait for the device", a, refused, &mut || sys::cuCtxSynchronize());
        violation("allocation", a, refused, &mut || sys::cuMemAlloc_v2(&mut address, 4));
        violation("wait for another stream", a, refused, &mut || sys::cuStreamSynchronize(b));
        violation("query of an event", a, refused, &mut || sys::cuEventQuery(outside));
        violation("pageable upload", a, refused, &mut || {
            sys::cuMemcpyHtoDAsync_v2(x, data.as_mut_ptr().cast(), BYTES, a)
        });
        violation("an event of before", a, Code::CUDA_ERROR_STREAM_CAPTURE_ISOLATION, &mut || {
            sys::cuStreamWaitEvent(a, outside, 0)
        });
        violation("the legacy stream", blocking, Code::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, &mut || {
            sys::cuMemsetD8Async(x, 0, 4, null_mut())
        });
    }
}

fn capture_modes() {
    start(0);
    let a = stream();
    begin(a, RELAXED);
    alloc();
    end(a).unwrap();
    let allocation_beside = |mut mode: Mode| {
        let primary = start(0) as usize;
        std::thread::spawn(move || {
            choose(primary as sys::CUcontext);
            // SAFETY: the pointer is to a local.
            ok(unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) });
            assert_eq!(mode, GLOBAL, "that of a new thread");
            try_alloc(4).err()
        })
        .join()
        .unwrap()
    };
    begin(a, LOCAL);
    assert_eq!(allocation_beside(GLOBAL), None);
    end(a).unwrap();
    begin(a, GLOBAL);
    assert_eq!(allocation_beside(RELAXED), None);
    assert_eq!(allocation_beside(LOCAL), None);
    end(a).unwrap();
    begin(a, GLOBAL);
    assert_eq!(allocation_beside(GLOBAL), Some(Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
    assert_eq!(end(a), Err(Code::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
}

fn capture_ends() {
    start(0);
    let (a, b, bump, x, done) = (stream(), stream(), bump(), alloc(), event());
    assert_eq!(end(a), Err(Code::CUDA_ERROR_ILLEGAL_STATE));
    // SAFETY: the legacy stream cannot be captured.
    let code = unsafe { sys::cuStreamBeginCapture_v2(null_mut(), LOCAL) };
    assert_eq!(code, Code::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    begin(a, LOCAL);
    record(done, a);
    wait(b, done);
    launch(bump, x, x, 1, b);
    assert_eq!(end(b), Err(Code::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
    assert_eq!(end(a), Err(Code::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
    begin(a, LOCAL);
    record(done, a);
    wait(b, done);
    launch(bump, x, x, 1, b);
    assert_eq!(end(a), Err(Code::CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
    begin(a, LOCAL);
    let other = a as usize;
    let code = std::thread::spawn(move || end(other as sys::CUstream).map(|_| ())).join().unwrap();
    assert_eq!(code, Err(Code::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD));
    end(a).unwrap();
}
