//! Cases about order: what streams, events, the default stream and the host order, and what they do not.

use super::calls::*;
use super::{Case, bad, good};
use cudarc::driver::sys;
use std::ptr::null_mut;

const FAULT: Code = Code::CUDA_ERROR_LAUNCH_FAILED;

pub fn cases() -> Vec<Case> {
    vec![
        bad("missing_wait", missing_wait, "race"),
        good("event_wait", event_wait),
        bad("late_record", late_record, "race"),
        bad("write_after_read", write_after_read, "race"),
        good("unrecorded_event", unrecorded_event),
        good("host_wait", host_wait),
        good("default_stream_orders_blocking", default_stream_orders_blocking),
        bad("default_stream_and_non_blocking", default_stream_and_non_blocking, "race"),
        bad("device_copy_returns_early", device_copy_returns_early, "race"),
        good("free_waits", free_waits),
        good("staging_reused", staging_reused),
        good("staging_kept", staging_kept),
        bad("pinned_freed_early", pinned_freed_early, "pinned memory"),
        good("queries_end", queries_end),
        good("pageable_is_staged", pageable_is_staged),
        good("elapsed", elapsed),
        good("times_say_what_the_order_allows", times_say_what_the_order_allows),
        good("threads", threads),
    ]
}

/// `y = x + 1` on one stream.
fn begin(a: sys::CUstream, bump: sys::CUfunction) -> (u64, u64) {
    let (x, y) = (alloc(), alloc());
    upload(x, &numbers(), a);
    launch(bump, y, x, 1, a);
    (x, y)
}

fn missing_wait() {
    start(0);
    let (a, b, bump) = (stream(), stream(), bump());
    let (_, y) = begin(a, bump);
    let z = alloc();
    launch(bump, z, y, 10, b);
    assert_eq!(sync_both(b, a), FAULT);
    assert_eq!(try_alloc(4), Err(FAULT), "the fault stays");
}

fn event_wait() {
    start(0);
    let (a, b, bump, done) = (stream(), stream(), bump(), event());
    let (_, y) = begin(a, bump);
    let z = alloc();
    record(done, a);
    wait(b, done);
    launch(bump, z, y, 10, b);
    assert_eq!(download(z, b), plus(&numbers(), 11));
}

/// A wait takes the latest record before it, not one that comes later.
fn late_record() {
    start(0);
    let (a, b, bump, done) = (stream(), stream(), bump(), event());
    let (x, z) = (alloc(), alloc());
    upload(x, &numbers(), a);
    record(done, a);
    wait(b, done);
    launch(bump, x, x, 1, a);
    record(done, a);
    launch(bump, z, x, 10, b);
    assert_eq!(sync_both(a, b), FAULT);
}

fn write_after_read() {
    start(0);
    let (a, b, bump) = (stream(), stream(), bump());
    let (x, _) = begin(a, bump);
    upload(x, &numbers(), b);
    assert_eq!(sync_both(a, b), FAULT);
}

fn unrecorded_event() {
    start(0);
    let (a, bump, never) = (stream(), bump(), event());
    wait(a, never);
    let (_, y) = begin(a, bump);
    assert_eq!(download(y, a), plus(&numbers(), 1));
    // SAFETY: the handle came from the driver.
    ok(unsafe { sys::cuEventQuery(never) });
}

fn host_wait() {
    start(0);
    let (a, b, bump) = (stream(), stream(), bump());
    let (_, y) = begin(a, bump);
    let z = alloc();
    ok(sync(a));
    launch(bump, z, y, 10, b);
    assert_eq!(download(z, b), plus(&numbers(), 11));
}

fn default_stream_orders_blocking() {
    start(0);
    let (a, b, legacy, bump) = (stream_with(0), stream_with(0), null_mut(), bump());
    let (x, y) = begin(a, bump);
    launch(bump, y, y, 10, legacy);
    launch(bump, x, y, 100, b);
    assert_eq!(download(x, b), plus(&numbers(), 111));
}

fn default_stream_and_non_blocking() {
    start(0);
    let (a, legacy, bump) = (stream(), null_mut(), bump());
    let (_, y) = begin(a, bump);
    launch(bump, y, y, 10, legacy);
    assert_eq!(sync_both(legacy, a), FAULT);
}

/// `cuMemcpyDtoD` does not wait, and a non-blocking stream does not order with it.
fn device_copy_returns_early() {
    start(0);
    let (a, bump, x, y, z) = (stream(), bump(), alloc(), alloc(), alloc());
    upload(x, &numbers(), a);
    ok(sync(a));
    // SAFETY: the addresses are of allocations of this size.
    ok(unsafe { sys::cuMemcpyDtoD_v2(y, x, BYTES) });
    launch(bump, z, y, 1, a);
    assert_eq!(sync_both(a, null_mut()), FAULT);
}

/// `cuMemFree` waits by itself.
fn free_waits() {
    start(0);
    let (a, bump) = (stream(), bump());
    let (x, y) = begin(a, bump);
    // SAFETY: the addresses are of allocations.
    unsafe {
        ok(sys::cuMemFree_v2(x));
        ok(sys::cuMemFree_v2(y));
    }
    ok(sync(a));
}

/// Without a wait the copy reads what the host wrote afterwards: it shows as wrong data.
fn staging_reused() {
    start(0);
    let (a, x, staging) = (stream(), alloc(), pinned());
    elements(staging).copy_from_slice(&numbers());
    upload(x, elements(staging), a);
    elements(staging).fill(0);
    assert_eq!(download(x, a), vec![0; COUNT]);
}

fn staging_kept() {
    start(0);
    let (a, x, y, staging, done) = (stream(), alloc(), alloc(), pinned(), event());
    elements(staging).copy_from_slice(&numbers());
    upload(x, elements(staging), a);
    record(done, a);
    // SAFETY: the handle came from the driver.
    ok(unsafe { sys::cuEventSynchronize(done) });
    elements(staging).fill(0);
    upload(y, elements(staging), a);
    assert_eq!(download(x, a), numbers());
    assert_eq!(download(y, a), vec![0; COUNT]);
}

fn pinned_freed_early() {
    start(0);
    let (a, x, staging) = (stream(), alloc(), pinned());
    upload(x, elements(staging), a);
    // SAFETY: the memory came from the driver.
    unsafe { sys::cuMemFreeHost(staging.cast()) };
    assert_eq!(sync(a), Code::CUDA_ERROR_ILLEGAL_ADDRESS);
}

fn queries_end() {
    start(0);
    let (a, bump, done) = (stream(), bump(), event());
    let (_, y) = begin(a, bump);
    record(done, a);
    launch(bump, y, y, 1, a);
    let polls = |query: &dyn Fn() -> Code| (0..1000).position(|_| query() == Code::CUDA_SUCCESS);
    // SAFETY: the handle came from the driver.
    let event_polls = polls(&|| unsafe { sys::cuEventQuery(done) });
    assert!(event_polls.is_some());
    assert_eq!(download(y, a), plus(&numbers(), 2));
}

fn pageable_is_staged() {
    start(0);
    let (a, x) = (stream(), alloc());
    let mut data = numbers();
    upload(x, &data, a);
    data.fill(0);
    assert_eq!(download(x, a), numbers());
}

fn elapsed() {
    start(0);
    let (a, bump, from, to) = (stream(), bump(), event(), event());
    record(from, a);
    begin(a, bump);
    record(to, a);
    let mut milliseconds = 0.0;
    // SAFETY: the handles came from the driver.
    unsafe {
        assert_eq!(sys::cuEventElapsedTime_v2(&mut milliseconds, from, to), Code::CUDA_ERROR_NOT_READY);
        ok(sync(a));
        ok(sys::cuEventElapsedTime_v2(&mut milliseconds, from, to));
    }
    assert!(milliseconds > 0.0);
}

/// Streams that nothing orders work at the same time, whichever the seed lets run first; a wait shows.
fn times_say_what_the_order_allows() {
    start(0);
    let (a, b, bump) = (stream(), stream(), bump());
    let events: [sys::CUevent; 5] = std::array::from_fn(|_| event());
    let [a_begin, a_end, b_begin, b_end, later] = events;
    record(a_begin, a);
    begin(a, bump);
    record(a_end, a);
    record(b_begin, b);
    begin(b, bump);
    record(b_end, b);
    wait(b, a_end);
    begin(b, bump);
    record(later, b);
    ok(sync(b));
    ok(sync(a));
    let between = |from, to| {
        let mut milliseconds = 0.0;
        // SAFETY: the handles came from the driver.
        ok(unsafe { sys::cuEventElapsedTime_v2(&mut milliseconds, from, to) });
        milliseconds
    };
    assert!(between(a_begin, b_begin) == 0.0 && between(a_end, b_end) == 0.0);
    assert!(between(a_begin, a_end) > 0.0);
    assert!(between(a_end, later) >= between(a_begin, a_end));
}

fn threads() {
    let primary = start(0) as usize;
    let bump = bump() as usize;
    let work = move |add: u32| {
        choose(primary as sys::CUcontext);
        let (a, x) = (stream(), alloc());
        upload(x, &numbers(), a);
        for _ in 0..20 {
            launch(bump as sys::CUfunction, x, x, add, a);
        }
        assert_eq!(download(x, a), plus(&numbers(), 20 * add));
    };
    let all: Vec<_> = (1..5).map(|add| std::thread::spawn(move || work(add))).collect();
    all.into_iter().for_each(|thread| thread.join().unwrap());
}
