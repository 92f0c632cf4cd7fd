//! On which processor a woken thread begins to run.
//!
//! On a virtual machine Linux treats idle processors as taken (`vcpu_is_preempted`: they were handed back to
//! the host) and starts a woken thread on the processor of its waker, where it waits until the waker has done
//! the work alone. So the waker excludes its own processor from the thread's affinity before it wakes the
//! thread. Without this module the pool is correct, only slower there. Other systems, and Miri, keep the
//! default.

#[cfg(all(target_os = "linux", not(miri)))]
pub(super) use linux::Affinity;
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) use others::Affinity;

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    const BYTES: usize = size_of::<libc::cpu_set_t>();

    /// The processors that a thread may run on.
    #[derive(Clone, Copy)]
    pub struct Affinity {
        thread: libc::pid_t,
        allowed: libc::cpu_set_t,
    }

    impl Affinity {
        /// The affinity of this thread; empty if the system call fails.
        pub fn of_this_thread() -> Affinity {
            // SAFETY: a set is plain bits, of the size that is passed.
            unsafe {
                let mut allowed = std::mem::zeroed();
                libc::sched_getaffinity(0, BYTES, &mut allowed);
                Affinity { thread: libc::gettid(), allowed }
            }
        }

        /// Lets the parked thread wake on another processor than this thread's, if it may.
        pub fn avoid_this_processor(&self) {
            let mut others = self.allowed;
            // SAFETY: the number is a processor's, so it is within the set if that is not empty; the thread
            // lives as long as the process.
            unsafe {
                if let Ok(this) = usize::try_from(libc::sched_getcpu())
                    && libc::CPU_COUNT(&others) > 1
                    && this < 8 * BYTES
                {
                    libc::CPU_CLR(this, &mut others);
                    libc::sched_setaffinity(self.thread, BYTES, &others);
                }
            }
        }

        /// Gives this thread its affinity back.
        pub fn restore(&self) {
            // SAFETY: as above. An empty set is refused.
            unsafe { libc::sched_setaffinity(0, BYTES, &self.allowed) };
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod others {
    /// The default affinity.
    #[derive(Clone, Copy)]
    pub struct Affinity;

    impl Affinity {
        pub fn of_this_thread() -> Affinity {
            Affinity
        }

        pub fn avoid_this_processor(&self) {}

        pub fn restore(&self) {}
    }
}
