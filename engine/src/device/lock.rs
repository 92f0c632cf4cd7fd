//! The lock of each device, held by one evaluation at a time, and what a fork does to locks.
//!
//! The contract of all work that this crate queues on a device, which nothing checks: the caller holds the
//! device's lock while it queues work on memory that others can reach, or it owns the memory alone (allocated
//! for the purpose and in no array yet). Users of the crate cannot break it: they queue work on arrays, which
//! takes the locks, or through `raw`, which is unsafe.
//!
//! A fork copies the memory and one thread. Locks that other threads held at that moment stay held in the
//! forked process, and what these threads were changing stays half changed. Threads that evaluate are
//! therefore counted, and a process that was forked while another thread evaluated refuses all work
//! ([`check_fork`]) before it takes a lock. Memory is copied as each thread wrote it, so a held lock is never
//! without its count.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// The locks of several devices, held until this is dropped.
pub(crate) struct DeviceLocks<'t> {
    // Most teams have one device, for which nothing is allocated.
    _first: Option<HeldLock<'t>>,
    _others: Vec<HeldLock<'t>>,
    // Dropped after the locks.
    _evaluating: Evaluating,
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
        let _evaluating = Evaluating::begin();
        let mut locked = DeviceLocks { _first: None, _others: Vec::new(), _evaluating };
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

/// This process's number; 0 before the first call, and in a process that was just forked.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The threads of this process that evaluate.
static EVALUATING: AtomicUsize = AtomicUsize::new(0);

/// Whether this process was forked while another thread evaluated.
static IS_TORN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The evaluations of this thread, one inside the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// One evaluation of this thread, until it is dropped. Begins before the evaluation takes a lock.
pub(crate) struct Evaluating(());

impl Evaluating {
    pub fn begin() -> Evaluating {
        if DEPTH.replace(DEPTH.get() + 1) == 0 {
            // A fork that finds no number has no handler, which would have read the count.
            process_id();
            EVALUATING.fetch_add(1, Ordering::SeqCst);
        }
        Evaluating(())
    }
}

impl Drop for Evaluating {
    fn drop(&mut self) {
        if DEPTH.replace(DEPTH.get() - 1) == 1 {
            EVALUATING.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Refuses all work in a process that was forked while another thread computed.
///
/// # Errors
/// [`Error::Forked`] in such a process.
pub fn check_fork() -> Result<()> {
    match IS_TORN.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(Error::Forked {
            device: "partita".to_owned(),
            reason: "another thread computed at that moment, so its locks stay held",
        }),
    }
}

/// This process's number.
pub(crate) fn process_id() -> u32 {
    match NUMBER.load(Ordering::Relaxed) {
        0 => system_process_id(),
        number => number,
    }
}

#[cold]
fn system_process_id() -> u32 {
    let number = std::process::id();
    if is_noticed_by_forks() {
        NUMBER.store(number, Ordering::Relaxed);
    }
    number
}

/// Makes forked processes forget the number, and remember whether other threads evaluated; false where it
/// cannot be, so that the number must not be kept.
#[cfg(unix)]
fn is_noticed_by_forks() -> bool {
    extern "C" fn in_forked_process() {
        let own = usize::from(DEPTH.get() > 0);
        if EVALUATING.swap(own, Ordering::Relaxed) != own {
            IS_TORN.store(true, Ordering::Relaxed);
        }
        NUMBER.store(0, Ordering::Relaxed);
    }
    static DONE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    // SAFETY: the function only reads and stores numbers, which may be done between a fork and what follows.
    *DONE.get_or_init(|| unsafe { libc::pthread_atfork(None, None, Some(in_forked_process)) } == 0)
}

/// Nothing forks here.
#[cfg(not(unix))]
fn is_noticed_by_forks() -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// The status of a forked process that leaves with 0 if a condition holds there.
    fn in_forked_process(condition: impl FnOnce() -> bool) -> i32 {
        // SAFETY: the forked process reads numbers and leaves, without destructors of the parent's threads.
        match unsafe { libc::fork() } {
            // SAFETY: as above.
            0 => unsafe { libc::_exit(i32::from(!condition())) },
            child => {
                let mut status = -1;
                // SAFETY: the pointer is to a local.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                status
            }
        }
    }

    /// The number is cached before the fork, and differs after it.
    #[test]
    fn a_forked_process_has_a_number_of_its_own() {
        let before = process_id();
        assert_eq!((before, process_id()), (std::process::id(), before));
        assert_eq!(in_forked_process(|| process_id() == std::process::id() && process_id() != before), 0);
        assert_eq!(process_id(), before);
    }

    #[test]
    fn a_process_forked_while_another_thread_evaluated_refuses_all_work() {
        let (begun, is_begun) = mpsc::channel();
        let (end, may_end) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _evaluating = (Evaluating::begin(), Evaluating::begin());
                begun.send(()).and_then(|()| may_end.recv().map_err(|_| mpsc::SendError(())))
            });
            is_begun.recv().expect("the other thread begins");
            // Evaluations of the thread that forks go on in the forked process.
            let _own = Evaluating::begin();
            assert_eq!(in_forked_process(|| matches!(check_fork(), Err(Error::Forked { .. }))), 0);
            end.send(()).expect("the other thread waits");
        });
        assert!(check_fork().is_ok(), "the parent goes on");
    }
}
