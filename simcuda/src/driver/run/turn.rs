//! One call at a time uses the driver. A call that waits for what others must do first gives up its turn
//! meanwhile, although it holds the driver.

use crate::driver::state::Driver;
use std::cell::UnsafeCell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The driver, and whether somebody has the turn.
struct Shared {
    taken: Mutex<bool>,
    free: Condvar,
    driver: UnsafeCell<Option<Driver>>,
}

// SAFETY: the driver is used by whoever has the turn.
unsafe impl Sync for Shared {}

static SHARED: Shared =
    Shared { taken: Mutex::new(false), free: Condvar::new(), driver: UnsafeCell::new(None) };

/// The right to use the driver, until it is dropped.
pub struct Turn(());

impl Turn {
    /// Waits for the turn.
    pub fn take() -> Turn {
        let mut taken = taken();
        while *taken {
            taken = SHARED.free.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
        Turn(())
    }

    /// The driver; none before the first call.
    pub fn driver(&mut self) -> &mut Option<Driver> {
        // SAFETY: nobody else has the turn.
        unsafe { &mut *SHARED.driver.get() }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *taken() = false;
        SHARED.free.notify_one();
    }
}

fn taken() -> MutexGuard<'static, bool> {
    SHARED.taken.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Driver {
    /// Other threads use this driver for a moment. The caller has the turn, and has it again afterwards; what
    /// it knew of the state may be wrong then.
    #[inline(never)]
    pub fn let_others_use(&mut self, moment: Duration) {
        drop(Turn(()));
        std::thread::sleep(moment);
        std::mem::forget(Turn::take());
    }
}
