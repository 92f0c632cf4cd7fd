//! What keeps a process alive while it finds out whether its MPI library takes device pointers. A library
//! that does not, whatever it says, reads and writes them as this process's memory, and the processor faults.
//! While a [`Guard`] lives such a fault at the addresses of the trial gives the page ordinary memory, of
//! zeros, and is remembered; the library goes on and nothing of its state is lost. Every other fault ends the
//! process as before.
//!
//! Only the processor's view of these addresses changes, and it is put back. Where a driver has reserved them
//! itself, the reserved page is made accessible instead; if it cannot be, the process ends.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::{c_int, c_void};

const PAGE: usize = 4096;
const MOST_RANGES: usize = 16;
const MOST_PAGES: usize = 1024;

/// What the signal's function knows: it may only look at numbers.
struct Watch {
    begins: [AtomicUsize; MOST_RANGES],
    ends: [AtomicUsize; MOST_RANGES],
    /// Pages that were touched, and how they were given memory: mapped, or, if odd, made accessible.
    pages: [AtomicUsize; MOST_PAGES],
    touched: AtomicUsize,
    /// What was done on faults before.
    before: [UnsafeCell<MaybeUninit<libc::sigaction>>; 2],
    watching: AtomicBool,
}

// SAFETY: `before` is written by the one guard while nothing is watched, and read while something is.
unsafe impl Sync for Watch {}

static WATCH: Watch = Watch {
    begins: [const { AtomicUsize::new(0) }; MOST_RANGES],
    ends: [const { AtomicUsize::new(0) }; MOST_RANGES],
    pages: [const { AtomicUsize::new(0) }; MOST_PAGES],
    touched: AtomicUsize::new(0),
    before: [const { UnsafeCell::new(MaybeUninit::uninit()) }; 2],
    watching: AtomicBool::new(false),
};

const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Faults at some addresses are survived while it lives. There is one at a time.
pub(super) struct Guard(#[allow(dead_code)] MutexGuard<'static, ()>);

impl Guard {
    /// Watches memory; beyond sixteen ranges faults end the process as ever.
    pub fn over(memory: impl Iterator<Item = Range<usize>>) -> Guard {
        static ONE: Mutex<()> = Mutex::new(());
        let guard = Guard(ONE.lock().unwrap_or_else(PoisonError::into_inner));
        let empty = std::iter::repeat_n(0..0, MOST_RANGES);
        for (k, range) in memory.chain(empty).take(MOST_RANGES).enumerate() {
            WATCH.begins[k].store(range.start, Ordering::Relaxed);
            WATCH.ends[k].store(range.end, Ordering::Relaxed);
        }
        WATCH.touched.store(0, Ordering::Relaxed);
        for (signal, before) in SIGNALS.into_iter().zip(&WATCH.before) {
            // SAFETY: zeroes are an action; its function is of the form that the flag asks for.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_fault as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &action, before.get().cast());
            }
        }
        WATCH.watching.store(true, Ordering::Release);
        guard
    }

    /// Whether the processor touched what it watches.
    pub fn was_touched(&self) -> bool {
        WATCH.touched.load(Ordering::Acquire) > 0
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        WATCH.watching.store(false, Ordering::Release);
        for (signal, before) in SIGNALS.into_iter().zip(&WATCH.before) {
            // SAFETY: written when the guard was made.
            unsafe { libc::sigaction(signal, before.get().cast(), std::ptr::null_mut()) };
        }
        let touched = WATCH.touched.load(Ordering::Acquire).min(MOST_PAGES);
        for page in WATCH.pages[..touched].iter().map(|page| page.load(Ordering::Relaxed)) {
            let start = std::ptr::with_exposed_provenance_mut::<c_void>(page & !1);
            // SAFETY: pages that a fault gave memory, which nobody else uses as this process's.
            unsafe {
                match page & 1 {
                    0 => libc::munmap(start, PAGE),
                    _ => libc::mprotect(start, PAGE, libc::PROT_NONE),
                }
            };
        }
    }
}

/// Calls only what may be called from a signal: the kernel.
extern "C" fn on_fault(signal: c_int, about: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes what SA_SIGINFO promises.
    let page = unsafe { (*about).si_addr() }.expose_provenance() & !(PAGE - 1);
    let watched = |k: usize| {
        let (begin, end) = (WATCH.begins[k].load(Ordering::Relaxed), WATCH.ends[k].load(Ordering::Relaxed));
        page + PAGE > begin && page < end
    };
    if WATCH.watching.load(Ordering::Acquire) && (0..MOST_RANGES).any(watched) {
        let seen = WATCH.touched.load(Ordering::Relaxed).min(MOST_PAGES);
        let again = WATCH.pages[..seen].iter().any(|other| other.load(Ordering::Relaxed) & !1 == page);
        if !again && seen < MOST_PAGES {
            let start = std::ptr::with_exposed_provenance_mut::<c_void>(page);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            // SAFETY: maps where nothing is, or opens a page that could not be accessed.
            let given = unsafe {
                match libc::mmap(start, PAGE, access, flags, -1, 0) {
                    mapped if mapped == start => Some(page),
                    _ => (libc::mprotect(start, PAGE, access) == 0).then_some(page | 1),
                }
            };
            if let Some(given) = given {
                WATCH.pages[seen].store(given, Ordering::Relaxed);
                WATCH.touched.store(seen + 1, Ordering::Release);
                return;
            }
        }
    }
    // It happens again, and then what was done before is done.
    let which = usize::from(signal == libc::SIGBUS);
    // SAFETY: written before this function was put in place.
    unsafe { libc::sigaction(signal, WATCH.before[which].get().cast(), std::ptr::null_mut()) };
}
