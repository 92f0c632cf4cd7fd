//! Interruption of long work from outside, such as Ctrl-C in Python. Whoever embeds the engine installs a
//! check, which is called between pieces of work: between the steps of a [`crate::Loop`], between the
//! launches of an evaluation, and while one rank waits for another. If it says true, the work ends with
//! [`Error::Interrupted`].
//!
//! One launch is never interrupted, neither is a step of a `Loop`: its state is that after a whole step; nor
//! the wait for a device, for which a `Loop` queues no more than some 50 ms of work. Over several ranks, the
//! interruption of one ends the common work of all.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The time between two calls of the check by one thread, at least.
const BETWEEN: Duration = Duration::from_millis(20);

static CHECK: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    /// How many pieces of work are under way that are not to be interrupted, one inside the other.
    static WHOLE: Cell<usize> = const { Cell::new(0) };
}

/// Installs the check of this process. Every thread that computes calls it, at most once in 20 ms, and
/// gives up its work with [`Error::Interrupted`] when it says true. False if there is a check already.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// static STOP: AtomicBool = AtomicBool::new(false);
/// assert!(partita::interrupt::install(|| STOP.swap(false, Ordering::Relaxed)));
/// ```
pub fn install(check: fn() -> bool) -> bool {
    CHECK.set(check).is_ok()
}

/// Whether there is a check.
pub(crate) fn is_installed() -> bool {
    CHECK.get().is_some()
}

/// Asks whether to go on, unless a piece of work is under way that is to stay whole.
pub(crate) fn check(operation: &'static str) -> Result<()> {
    if WHOLE.get() > 0 { Ok(()) } else { check_waiting(operation) }
}

/// The same for a wait, which no piece of work is whole without.
pub(crate) fn check_waiting(operation: &'static str) -> Result<()> {
    let Some(check) = CHECK.get() else { return Ok(()) };
    let now = Instant::now();
    if LAST.get().is_some_and(|last| now - last < BETWEEN) {
        return Ok(());
    }
    LAST.set(Some(now));
    if check() { Err(Error::Interrupted { operation }) } else { Ok(()) }
}

/// Does a piece of work that is to be interrupted in waits for other ranks alone.
pub(crate) fn whole<T>(work: impl FnOnce() -> T) -> T {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            WHOLE.set(WHOLE.get() - 1);
        }
    }
    WHOLE.set(WHOLE.get() + 1);
    let _end = End;
    work()
}
