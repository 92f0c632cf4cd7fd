//! Cases about stream memory operations: waits for words, and writes of them, in one process and between two,
//! alone and in graphs; values and messages that a program must not take for new ones.

use super::calls::*;
use super::processes::{self, hear, other_process};
use super::{Case, bad, good};
use cudarc::driver::sys;
use std::io::Write;

pub fn cases() -> Vec<Case> {
    vec![
        good("words_order_streams", words_order_streams),
        good("words_in_batches_of_graphs", words_in_batches_of_graphs),
        good("words_refusals", words_refusals).seeds(1),
        bad("word_not_set_back", word_not_set_back, "stale"),
        good("words_between_processes", words_between_processes).seeds(5),
        bad("message_overwritten", message_overwritten, "written again before it was read").seeds(3),
        bad("word_of_before", word_of_before, "stale").seeds(3),
        // The other processes, which the cases above start.
        good("words_answerer", words_answerer).seeds(0),
        good("words_hasty_sender", words_hasty_sender).seeds(0),
        good("words_silent_sender", words_silent_sender).seeds(0),
    ]
}

fn wait_for(stream: sys::CUstream, word: u64, value: u64) {
    // SAFETY: the handle came from the driver, the word is of an allocation.
    ok(unsafe { sys::cuStreamWaitValue64_v2(stream, word, value, 0) });
}

fn write(stream: sys::CUstream, word: u64, value: u64) {
    // SAFETY: as above.
    ok(unsafe { sys::cuStreamWriteValue64_v2(stream, word, value, 0) });
}

/// Waits for a word, and sets it back.
fn take(stream: sys::CUstream, word: u64) {
    wait_for(stream, word, 1);
    write(stream, word, 0);
}

fn zeros() -> u64 {
    let memory = alloc();
    // SAFETY: as long as it says.
    ok(unsafe { sys::cuMemsetD8Async(memory, 0, BYTES, std::ptr::null_mut()) });
    // SAFETY: a context is current.
    ok(unsafe { sys::cuCtxSynchronize() });
    memory
}

/// What was queued before a wait does not run after it, and a host need not wait for the other stream.
fn words_order_streams() {
    start(0);
    let (a, b, bump, words, x, y) = (stream(), stream(), bump(), zeros(), alloc(), alloc());
    upload(x, &numbers(), a);
    ok(sync(a));
    wait_for(b, words, 3);
    launch(bump, y, x, 1, b);
    for _ in 0..30 {
        // SAFETY: the handle came from the driver.
        assert_eq!(unsafe { sys::cuStreamQuery(b) }, Code::CUDA_ERROR_NOT_READY);
    }
    write(a, words, 2);
    ok(sync(a));
    // SAFETY: as above.
    assert_eq!(unsafe { sys::cuStreamQuery(b) }, Code::CUDA_ERROR_NOT_READY);
    // A value that is greater, in the cyclic order.
    write(a, words, 1 << 62);
    assert_eq!(download(y, b), plus(&numbers(), 1));
}

fn words_in_batches_of_graphs() {
    start(0);
    let (a, b, bump, words, x) = (stream(), stream(), bump(), zeros(), alloc());
    let batch = |stream: sys::CUstream, ops: &[(bool, u64, u64)]| {
        let mut params: Vec<sys::CUstreamBatchMemOpParams> = ops
            .iter()
            .map(|&(waits, word, value)| {
                let kind = if waits { 4 } else { 5 };
                sys::CUstreamBatchMemOpParams { pad: [kind, word, value, 0, 0, 0] }
            })
            .collect();
        // SAFETY: as many as stated.
        ok(unsafe { sys::cuStreamBatchMemOp_v2(stream, params.len() as u32, params.as_mut_ptr(), 0) });
    };
    upload(x, &numbers(), a);
    ok(sync(a));
    let graph = |stream: sys::CUstream, queue: &dyn Fn()| {
        let (mut graph, mut exec) = (std::ptr::null_mut(), std::ptr::null_mut());
        let local = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: handles came from the driver, pointers are to locals.
        unsafe {
            ok(sys::cuStreamBeginCapture_v2(stream, local));
            queue();
            ok(sys::cuStreamEndCapture(stream, &mut graph));
            ok(sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0));
        }
        exec
    };
    // One gives, the other takes and answers, round after round.
    let gives = graph(a, &|| batch(a, &[(false, words, 1), (true, words + 8, 1), (false, words + 8, 0)]));
    let takes = graph(b, &|| {
        batch(b, &[(true, words, 1), (false, words, 0)]);
        launch(bump, x, x, 1, b);
        batch(b, &[(false, words + 8, 1)]);
    });
    for _ in 0..5 {
        // SAFETY: handles came from the driver.
        unsafe {
            ok(sys::cuGraphLaunch(takes, b));
            ok(sys::cuGraphLaunch(gives, a));
        }
    }
    ok(sync(a));
    assert_eq!(download(x, b), plus(&numbers(), 5));
}

fn words_refusals() {
    start(0);
    let (a, words) = (stream(), zeros());
    let refused = Code::CUDA_ERROR_INVALID_VALUE;
    // SAFETY: refused before anything is used.
    unsafe {
        assert_eq!(sys::cuStreamWaitValue64_v2(a, words + 4, 1, 0), refused);
        assert_eq!(sys::cuStreamWriteValue64_v2(a, 64, 1, 0), refused);
        assert_eq!(sys::cuStreamWriteValue64_v2(a, words, 1, 1), Code::CUDA_ERROR_NOT_SUPPORTED);
        let mut params = vec![sys::CUstreamBatchMemOpParams { pad: [5, words, 0, 0, 0, 0] }; 256];
        assert_eq!(sys::cuStreamBatchMemOp_v2(a, 256, params.as_mut_ptr(), 0), refused);
        ok(sys::cuStreamBatchMemOp_v2(a, 255, params.as_mut_ptr(), 0));
    }
    ok(sync(a));
}

/// The second wait passes at once, whatever the writer does.
fn word_not_set_back() {
    start(0);
    let (a, b, words) = (stream(), stream(), zeros());
    write(a, words, 1);
    wait_for(b, words, 1);
    wait_for(b, words, 1);
    assert_eq!(sync_both(a, b), Code::CUDA_ERROR_LAUNCH_FAILED);
}

/// Of the shared memory: the words, and the message.
const MESSAGE: u64 = 512;
const ROUNDS: u32 = 6;

fn shared() -> (u64, sys::CUipcMemHandle, sys::CUipcEventHandle) {
    let mut memory = 0;
    // SAFETY: the pointer is to a local.
    ok(unsafe { sys::cuMemAlloc_v2(&mut memory, MESSAGE as usize + BYTES) });
    // SAFETY: as long as it says.
    ok(unsafe { sys::cuMemsetD8Async(memory, 0, MESSAGE as usize + BYTES, std::ptr::null_mut()) });
    (memory, processes::export(memory).unwrap(), processes::shared_event().1)
}

/// Messages to another process and back; all is queued, and neither host waits before the end.
fn words_between_processes() {
    start(0);
    let (a, bump, (memory, handle, event)) = (stream(), bump(), shared());
    upload(memory + MESSAGE, &numbers(), a);
    ok(sync(a));
    let mut child = other_process("words_answerer", &handle, &event);
    for _ in 0..ROUNDS {
        launch(bump, memory + MESSAGE, memory + MESSAGE, 1, a);
        write(a, memory, 1);
        take(a, memory + 8);
    }
    assert_eq!(download(memory + MESSAGE, a), plus(&numbers(), 11 * ROUNDS));
    hear(&mut child, "finished: words_answerer");
    assert!(child.wait().unwrap().success());
}

fn words_answerer() {
    start(0);
    let (a, bump, memory) = (stream(), bump(), processes::opened());
    for _ in 0..ROUNDS {
        take(a, memory);
        launch(bump, memory + MESSAGE, memory + MESSAGE, 10, a);
        write(a, memory + 8, 1);
    }
    ok(sync(a));
}

/// The sender does not wait for the first message to be read.
fn message_overwritten() {
    start(0);
    let (_, handle, event) = shared();
    let mut child = other_process("words_hasty_sender", &handle, &event);
    hear(&mut child, "finished: words_hasty_sender");
    assert!(child.wait().unwrap().success());
}

fn words_hasty_sender() {
    start(0);
    let (a, bump, x, memory) = (stream(), bump(), alloc(), processes::opened());
    upload(x, &numbers(), a);
    for round in 0..3 {
        launch(bump, memory + MESSAGE, x, round, a);
        write(a, memory, 1);
    }
    assert_eq!(sync(a), Code::CUDA_ERROR_LAUNCH_FAILED);
}

/// The other process writes a word once, and this one waits for it twice without setting it back.
fn word_of_before() {
    start(0);
    let (a, (memory, handle, event)) = (stream(), shared());
    let mut child = other_process("words_silent_sender", &handle, &event);
    wait_for(a, memory, 1);
    ok(sync(a));
    wait_for(a, memory, 1);
    assert_eq!(sync(a), Code::CUDA_ERROR_LAUNCH_FAILED);
    child.stdin.as_mut().unwrap().write_all(b"end\n").unwrap();
    hear(&mut child, "finished: words_silent_sender");
    assert!(child.wait().unwrap().success());
}

fn words_silent_sender() {
    start(0);
    let (a, memory) = (stream(), processes::opened());
    write(a, memory, 1);
    ok(sync(a));
    std::io::stdin().read_line(&mut String::new()).unwrap();
}
