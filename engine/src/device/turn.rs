//! Who may use memory now: one lock per device, held by whole evaluations. Knows neither teams nor what is
//! computed.
//!
//! The contract of everything that this crate queues on a device, and does not check: whoever queues work
//! that reads or writes memory which others can reach holds the device's lock, or is the only one that knows
//! of the memory (it was allocated for the purpose and is in no array yet). Users of the crate cannot break
//! it: they queue work on arrays, which takes the locks, or by `raw`, which is unsafe.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks that an evaluation holds until this is dropped.
pub(crate) struct Turns<'t> {
    // Most teams have one device, for which nothing is allocated.
    _first: Option<Held<'t>>,
    _others: Vec<Held<'t>>,
}

/// One lock, and its number among those that this thread holds.
struct Held<'t> {
    number: usize,
    _guard: MutexGuard<'t, ()>,
}

thread_local! {
    /// The locks that this thread holds.
    static HELD: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

impl<'t> Turns<'t> {
    /// Waits for all these locks, each once, by ascending address: since all threads take them in one order,
    /// no two wait for each other. Locks that this thread holds already are left out, so that a map of a
    /// user's own, which evaluations call, may evaluate on the same devices.
    pub(crate) fn take(locks: impl Iterator<Item = &'t Mutex<()>> + Clone) -> Turns<'t> {
        let after = |last: usize| {
            let numbered = locks.clone().map(|lock| (std::ptr::from_ref(lock).addr(), lock));
            numbered.filter(|(number, _)| *number > last).min_by_key(|(number, _)| *number)
        };
        let mut turns = Turns { _first: None, _others: Vec::new() };
        let mut last = 0;
        while let Some((number, lock)) = after(last) {
            last = number;
            match Held::take(number, lock) {
                held if turns._first.is_none() => turns._first = held,
                held => turns._others.extend(held),
            }
        }
        turns
    }
}

impl<'t> Held<'t> {
    fn take(number: usize, lock: &'t Mutex<()>) -> Option<Held<'t>> {
        if HELD.with_borrow(|held| held.contains(&number)) {
            return None;
        }
        // A panic of an evaluation leaves nothing behind that the next one relies on.
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        HELD.with_borrow_mut(|held| held.push(number));
        Some(Held { number, _guard: guard })
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| held.retain(|&number| number != self.number));
    }
}
