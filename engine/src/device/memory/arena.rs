//! Arenas: memory that is kept apart for a step.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory kept apart: what is first allocated [`within`](Arena::within) it is reused only there, until it
/// [retires](Arena::retire).
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena(Arc<AtomicU64>);

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::new(Arena::default());
}

impl Arena {
    pub(crate) fn new() -> Arena {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arena(Arc::new(AtomicU64::new(NEXT.fetch_add(1, Ordering::Relaxed))))
    }

    /// Runs `step`; what this thread allocates meanwhile comes from the arena.
    pub(crate) fn within<T>(&self, step: impl FnOnce() -> T) -> T {
        struct Restore(Arena);
        impl Drop for Restore {
            fn drop(&mut self) {
                ARENA.set(std::mem::take(&mut self.0));
            }
        }
        let _restore = Restore(ARENA.replace(self.clone()));
        step()
    }

    /// The arena of this thread.
    pub(super) fn current() -> Arena {
        ARENA.with_borrow(Arena::clone)
    }

    /// From now on its memory is everybody's.
    pub(super) fn dissolve(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(super) fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
