//! The lock of each device, held by one evaluation at a time.
//!
//! The contract of all work that this crate queues on a device, which nothing checks: the caller holds the
//! device's lock while it queues work on memory that others can reach, or it owns the memory alone (allocated
//! for the purpose and in no array yet). Users of the crate cannot break it: they queue work on arrays, which
//! takes the locks, or through `raw`, which is unsafe.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The locks of several devices, held until this is dropped.
pub(crate) struct DeviceLocks<'t> {
    // Most teams have one device, for which nothing is allocated.
    _first: Option<HeldLock<'t>>,
    _others: Vec<HeldLock<'t>>,
}

/// One held lock, and its address.
struct HeldLock<'t> {
    number: usize,
    _guard: MutexGuard<'t, ()>,
}

thread_local! {
    /// The addresses of the locks that this thread holds.
    static HELD: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

impl<'t> DeviceLocks<'t> {
    /// Waits for all these locks, each once, by ascending address: since all threads take them in one order,
    /// no two wait for each other. Locks that this thread holds already are left out, so that a map of a
    /// user's own, which evaluations call, may evaluate on the same devices.
    pub(crate) fn take(locks: impl Iterator<Item = &'t Mutex<()>> + Clone) -> DeviceLocks<'t> {
        let after = |last: usize| {
            let numbered = locks.clone().map(|lock| (std::ptr::from_ref(lock).addr(), lock));
            numbered.filter(|(number, _)| *number > last).min_by_key(|(number, _)| *number)
        };
        let mut locked = DeviceLocks { _first: None, _others: Vec::new() };
        let mut last = 0;
        while let Some((number, lock)) = after(last) {
            last = number;
            match HeldLock::take(number, lock) {
                held if locked._first.is_none() => locked._first = held,
                held => locked._others.extend(held),
            }
        }
        locked
    }
}

impl<'t> HeldLock<'t> {
    fn take(number: usize, lock: &'t Mutex<()>) -> Option<HeldLock<'t>> {
        if HELD.with_borrow(|held| held.contains(&number)) {
            return None;
        }
        // A panic of an evaluation leaves nothing behind that the next one relies on.
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        HELD.with_borrow_mut(|held| held.push(number));
        Some(HeldLock { number, _guard: guard })
    }
}

impl Drop for HeldLock<'_> {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| held.retain(|&number| number != self.number));
    }
}
