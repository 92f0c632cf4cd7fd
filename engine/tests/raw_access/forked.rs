//! Runs a test's code in a forked process, and other calls of the system that tests of several processes
//! make.
#![allow(dead_code)]

/// Runs `body` in a forked process and returns the status of its end: 0 if `body` returned, 256 if it
/// panicked, 14 if it was still running after 20 seconds.
pub fn in_forked_process(body: impl FnOnce()) -> i32 {
    // No destructor of the parent's threads may run.
    forked(body, leave)
}

/// The same for a process that then exits as programs do.
pub fn in_forked_program(body: impl FnOnce()) -> i32 {
    forked(body, |code| std::process::exit(code))
}

fn forked(body: impl FnOnce(), end: impl FnOnce(i32)) -> i32 {
    // SAFETY: the forked process calls nothing that needs the threads it does not have, which is what is
    // tested, and leaves at the end.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: plain calls of the system.
            unsafe { libc::alarm(20) };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            end(if outcome.is_ok() { 0 } else { 1 });
            unreachable!("the forked process has left")
        }
        child => {
            let mut status = 0;
            // SAFETY: the pointer is to a local.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            status
        }
    }
}

/// Ends this process at once.
pub fn leave(code: i32) {
    // SAFETY: ends the process, which is meant.
    unsafe { libc::_exit(code) }
}

/// Sends this process a signal.
pub fn raise(signal: i32) {
    // SAFETY: a plain call of the system.
    unsafe { libc::raise(signal) };
}

/// From now on writing to a closed connection ends this process, as in programs that ask for the default.
pub fn end_by_closed_connections() {
    // SAFETY: the default action needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Limits how many files this process may open.
pub fn limit_files(count: u64) {
    let few = libc::rlimit { rlim_cur: count, rlim_max: count };
    // SAFETY: reads a local.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &few) }, 0);
}
