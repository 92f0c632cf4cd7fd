//! Runs a test's code in a forked process.

/// Runs `body` in a forked process and returns the status of its end: 0 if `body` returned, 256 if it
/// panicked, 14 if it was still running after 20 seconds.
pub fn in_forked_process(body: impl FnOnce()) -> i32 {
    // SAFETY: the forked process calls nothing that needs the threads it does not have, which is what is
    // tested, and leaves by `_exit`.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: plain calls of the system.
            unsafe { libc::alarm(20) };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: as above; no destructor of the parent's threads may run.
            unsafe { libc::_exit(if outcome.is_ok() { 0 } else { 1 }) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the pointer is to a local.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            status
        }
    }
}
