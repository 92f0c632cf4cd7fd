//! Where a thread that is woken begins to run. On a virtual machine Linux takes processors that are idle for
//! taken (`vcpu_is_preempted`: they were handed back to the host), so a woken thread gets the one of whoever
//! woke it, and waits there until that one has done the work alone.

//! Miri, which has no processors to choose from, counts as another system.

#[cfg(all(target_os = "linux", not(miri)))]
pub(super) use linux::Processors;
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) use others::Processors;

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    const BYTES: usize = size_of::<libc::cpu_set_t>();

    /// The processors that a thread may run on.
    #[derive(Clone, Copy)]
    pub struct Processors {
        thread: libc::pid_t,
        allowed: libc::cpu_set_t,
    }

    impl Processors {
        /// Those of this thread: none, if the system does not say.
        pub fn allowed() -> Processors {
            // SAFETY: a set is plain bits, of the size that is told.
            unsafe {
                let mut allowed = std::mem::zeroed();
                libc::sched_getaffinity(0, BYTES, &mut allowed);
                Processors { thread: libc::gettid(), allowed }
            }
        }

        /// Has the sleeping thread wake on another processor than this thread's, if it may.
        pub fn avoid_this(&self) {
            let mut others = self.allowed;
            // SAFETY: the number is a processor's, so it lies in the set if that is not empty; the thread
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

        /// Lets this thread, which had these, run on all of them again.
        pub fn allow(&self) {
            // SAFETY: as above. An empty set is refused.
            unsafe { libc::sched_setaffinity(0, BYTES, &self.allowed) };
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod others {
    /// Nothing is known of other systems.
    #[derive(Clone, Copy)]
    pub struct Processors;

    impl Processors {
        pub fn allowed() -> Processors {
            Processors
        }

        pub fn avoid_this(&self) {}

        pub fn allow(&self) {}
    }
}
