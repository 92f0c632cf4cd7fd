//! The threads that help with launches. Work that several threads may share is put on a board; helpers that
//! are free join in, and leave when they find nothing left of it. Whoever put it there works along, takes it
//! off the board, and waits for helpers that have joined; one that comes too late is not waited for.
//!
//! To wake a thread takes tens of microseconds, as long as a small launch. So whoever waits looks for a while
//! before it sleeps, and launches in a row find their helpers awake. It does not know what is computed.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::processors::Processors;

/// How long a thread looks for what it waits for before it sleeps.
const AWAKE: Duration = Duration::from_micros(200);
/// Looks before other threads are let in between them.
const LOOKS: u32 = 200;

/// Who is asked to help.
#[derive(Clone, Copy)]
pub(super) struct Parallelism {
    /// At most so many threads work, this one included.
    pub threads: usize,
    /// It takes so long that helpers are woken, even if nothing was shared just before.
    pub wakes: bool,
}

/// Calls `serve` on this thread and on those that help, and returns when all these calls have. Each call must
/// do what the others leave, so that any number of them does all of the work.
pub(super) fn share(help: Parallelism, serve: &(dyn Fn() + Sync)) {
    if help.threads <= 1 {
        return serve();
    }
    let job = Arc::new(Job {
        // SAFETY: only the lifetime changes; `Posted` ends before the borrow does.
        serve: unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(serve) },
        inside: AtomicUsize::new(0),
        poster: thread::current(),
        panic: Mutex::new(None),
    });
    let posted = Posted::new(&job, help);
    serve();
    drop(posted);
    if let Some(panic) = locked(&job.panic).take() {
        resume_unwind(panic);
    }
}

/// Work on the board.
struct Job {
    /// Not called by those who did not join before it was taken off the board.
    serve: &'static (dyn Fn() + Sync),
    /// Helpers that have joined and not left.
    inside: AtomicUsize,
    poster: Thread,
    /// Of a helper.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job {
    fn serve(&self) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(self.serve)) {
            *locked(&self.panic) = Some(panic);
        }
        if self.inside.fetch_sub(1, Ordering::Release) == 1 {
            self.poster.unpark();
        }
    }

    fn is_left(&self) -> bool {
        self.inside.load(Ordering::Acquire) == 0
    }
}

/// As long as this lives, helpers may join; when it has gone, none is inside, be it that the poster panicked.
struct Posted<'j>(&'j Arc<Job>);

impl<'j> Posted<'j> {
    fn new(job: &'j Arc<Job>, help: Parallelism) -> Posted<'j> {
        CREW.post(job, help);
        Posted(job)
    }
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        CREW.withdraw(self.0);
        if !is_seen_soon(|| self.0.is_left()) {
            while !self.0.is_left() {
                thread::park();
            }
        }
    }
}

struct Crew {
    board: Mutex<Board>,
    /// How often something was put on the board.
    posts: AtomicUsize,
}

struct Board {
    open: Vec<Open>,
    helpers: usize,
    asleep: Vec<Sleeper>,
    /// When something was taken from here last while some slept.
    last: Option<Instant>,
}

impl Board {
    /// Takes those that are to be woken off the list. For short work they are if it is not the only one: more
    /// will come, which finds them awake.
    fn woken(&mut self, help: Parallelism) -> Vec<Sleeper> {
        let wakes = help.wakes || self.last.is_some_and(|last| last.elapsed() < AWAKE);
        let woken = if wakes { help.threads - 1 } else { 0 };
        self.asleep.split_off(self.asleep.len().saturating_sub(woken))
    }
}

/// Work with room for so many helpers more.
struct Open {
    job: Arc<Job>,
    room: usize,
}

static CREW: Crew = Crew {
    board: Mutex::new(Board { open: Vec::new(), helpers: 0, asleep: Vec::new(), last: None }),
    posts: AtomicUsize::new(0),
};

impl Crew {
    fn post(&'static self, job: &Arc<Job>, help: Parallelism) {
        let helpers = help.threads - 1;
        let mut board = locked(&self.board);
        while board.helpers < helpers {
            // Where the system gives no thread, fewer do the same.
            let helper = thread::Builder::new().name(format!("partita helper {}", board.helpers));
            if helper.spawn(|| self.help()).is_err() {
                break;
            }
            board.helpers += 1;
        }
        board.open.push(Open { job: Arc::clone(job), room: helpers });
        self.posts.fetch_add(1, Ordering::Release);
        let woken = board.woken(help);
        drop(board);
        woken.into_iter().for_each(Sleeper::wake);
    }

    fn withdraw(&self, job: &Arc<Job>) {
        let mut board = locked(&self.board);
        board.open.retain(|open| !Arc::ptr_eq(&open.job, job));
        board.last = (!board.asleep.is_empty()).then(Instant::now);
    }

    /// The life of a helper.
    fn help(&self) {
        loop {
            let posts = self.posts.load(Ordering::Acquire);
            match self.join() {
                Some(job) => job.serve(),
                None => self.rest(posts),
            }
        }
    }

    fn join(&self) -> Option<Arc<Job>> {
        let mut board = locked(&self.board);
        let open = board.open.iter_mut().find(|open| open.room > 0)?;
        open.room -= 1;
        open.job.inside.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(&open.job))
    }

    /// Returns when there have been more posts than these, or another that it is woken for.
    fn rest(&self, posts: usize) {
        let is_news = || self.posts.load(Ordering::Acquire) != posts;
        if is_seen_soon(is_news) {
            return;
        }
        let woken = Arc::new(AtomicBool::new(false));
        let sleeper = Sleeper {
            thread: thread::current(),
            processors: Processors::allowed(),
            woken: Arc::clone(&woken),
        };
        let mut board = locked(&self.board);
        if is_news() {
            return;
        }
        let processors = sleeper.processors;
        board.asleep.push(sleeper);
        drop(board);
        while !woken.load(Ordering::Acquire) {
            thread::park();
        }
        processors.allow();
    }
}

/// Looks for a while whether something is so.
fn is_seen_soon(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..LOOKS {
        if is_so() {
            return true;
        }
        std::hint::spin_loop();
    }
    let start = Instant::now();
    while start.elapsed() < AWAKE {
        if is_so() {
            return true;
        }
        thread::yield_now();
    }
    is_so()
}

/// A helper that sleeps.
struct Sleeper {
    thread: Thread,
    /// Where it may run.
    processors: Processors,
    woken: Arc<AtomicBool>,
}

impl Sleeper {
    fn wake(self) {
        self.processors.avoid_this();
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Nobody panics with one of these locks, so what they guard is as it should be.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// Calls `each` with the numbers below `count`, each once, on up to `threads` threads.
    fn shared(threads: usize, count: usize, each: impl Fn(usize) + Sync) {
        let next = AtomicUsize::new(0);
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < count);
        share(Parallelism { threads, wakes: true }, &|| std::iter::from_fn(take).for_each(&each));
    }

    #[test]
    fn every_piece_is_done_once_before_it_returns() {
        let launcher = || {
            // Miri takes a thousand times as long, and repeats the test in other orders.
            for round in 0..if cfg!(miri) { 20 } else { 300 } {
                let done: Vec<_> = (0..round % 7).map(|_| AtomicUsize::new(0)).collect();
                shared(1 + round % 5, done.len(), |n| {
                    done[n].fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{done:?}");
                if round % 50 == 0 {
                    // Until helpers sleep.
                    thread::sleep(2 * AWAKE);
                }
            }
        };
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(launcher))));
    }

    #[test]
    fn as_many_threads_help_as_are_asked_for() {
        for threads in 1..5 {
            // Nobody passes before all are there, be they asleep.
            thread::sleep(2 * AWAKE);
            let (all, calls) = (Barrier::new(threads), AtomicUsize::new(0));
            share(Parallelism { threads, wakes: true }, &|| {
                assert!(calls.fetch_add(1, Ordering::Relaxed) < threads);
                all.wait();
            });
            assert_eq!(calls.load(Ordering::Relaxed), threads);
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn woken_threads_may_run_where_they_might_before() {
        let allowed = || {
            // SAFETY: a set is plain bits, of the size that is told.
            unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                assert_eq!(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set), 0);
                set
            }
        };
        let all = allowed();
        for _ in 0..20 {
            thread::sleep(2 * AWAKE);
            let both = Barrier::new(2);
            share(Parallelism { threads: 2, wakes: true }, &|| {
                both.wait();
                // SAFETY: plain bits.
                assert!(unsafe { libc::CPU_EQUAL(&allowed(), &all) });
            });
        }
    }

    #[test]
    fn work_within_work() {
        let sum = AtomicUsize::new(0);
        shared(3, 4, |n| {
            shared(3, 5, |m| {
                sum.fetch_add(10 * n + m, Ordering::Relaxed);
            });
        });
        assert_eq!(sum.load(Ordering::Relaxed), 5 * 10 * 6 + 4 * 10);
    }

    #[test]
    fn a_panic_of_any_thread_reaches_the_poster_when_the_others_are_done() {
        let poster = thread::current().id();
        for of_poster in [true, false] {
            let (both, left) = (Barrier::new(2), AtomicUsize::new(0));
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                share(Parallelism { threads: 2, wakes: true }, &|| {
                    both.wait();
                    if (thread::current().id() == poster) == of_poster {
                        panic!("as expected");
                    }
                    thread::sleep(2 * AWAKE);
                    left.fetch_add(1, Ordering::Relaxed);
                });
            }));
            assert_eq!(outcome.expect_err("a panic").downcast_ref(), Some(&"as expected"));
            assert_eq!(left.load(Ordering::Relaxed), 1);
        }
    }
}
