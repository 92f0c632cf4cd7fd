//! The number of this process, cached: a system call takes as long as a small launch, and every launch checks
//! that it runs in the process that opened its device. A forked process forgets the number.

use std::sync::atomic::{AtomicU32, Ordering};

/// This process's number; 0 before the first call, and in a process that was just forked.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// This process's number.
pub(in crate::device) fn process_id() -> u32 {
    match NUMBER.load(Ordering::Relaxed) {
        0 => system_process_id(),
        number => number,
    }
}

#[cold]
fn system_process_id() -> u32 {
    let number = std::process::id();
    if is_forgotten_by_forks() {
        NUMBER.store(number, Ordering::Relaxed);
    }
    number
}

/// Makes forked processes forget the number; false where it cannot be, so that it must not be kept.
#[cfg(unix)]
fn is_forgotten_by_forks() -> bool {
    extern "C" fn forget() {
        NUMBER.store(0, Ordering::Relaxed);
    }
    static DONE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    // SAFETY: the function only stores a number, which may be done between a fork and what follows it.
    *DONE.get_or_init(|| unsafe { libc::pthread_atfork(None, None, Some(forget)) } == 0)
}

/// Nothing forks here.
#[cfg(not(unix))]
fn is_forgotten_by_forks() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_systems() {
        for _ in 0..3 {
            assert_eq!(process_id(), std::process::id());
        }
    }

    /// The number is cached before the fork, and differs after it.
    #[test]
    #[cfg(unix)]
    fn a_forked_process_has_a_number_of_its_own() {
        let before = process_id();
        // SAFETY: the forked process reads a number and leaves, without destructors of the parent's threads.
        match unsafe { libc::fork() } {
            0 => {
                let right = process_id() == std::process::id() && process_id() != before;
                // SAFETY: as above.
                unsafe { libc::_exit(i32::from(!right)) }
            }
            child => {
                let mut status = -1;
                // SAFETY: the pointer is to a local.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!(status, 0);
                assert_eq!(process_id(), before);
            }
        }
    }
}
