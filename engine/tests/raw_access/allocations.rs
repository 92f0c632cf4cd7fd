//! Counts the allocations of a thread, and the bytes that it holds.
#![allow(dead_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
    static MOST_HELD: Cell<i64> = const { Cell::new(0) };
}

fn hold(bytes: i64) {
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        MOST_HELD.try_with(|most| most.set(most.get().max(held.get())))
    });
}

/// The system's allocator, which counts per thread.
struct Counting;

// SAFETY: every call goes to the system's allocator as it is; counting touches only a cell of the thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        hold(layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        hold(-(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of this thread during `work`, the destruction of its result included.
pub fn allocations<T>(work: impl FnOnce() -> T) -> u64 {
    let before = ALLOCATIONS.get();
    drop(black_box(work()));
    ALLOCATIONS.get() - before
}

/// The most bytes that this thread holds at once during `work`, beyond those that it held before.
pub fn most_bytes<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD.get();
    MOST_HELD.set(before);
    let made = work();
    (made, MOST_HELD.get() - before)
}
