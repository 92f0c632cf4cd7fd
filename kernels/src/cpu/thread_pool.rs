//! The threads of the CPU engine: a small pool, whose threads take numbered tasks one by one. Jobs are posted
//! to a shared queue; idle pool threads join them, and the posting thread works along.
//!
//! The poster takes its job off the queue when its own call returns and waits for the threads that have
//! joined, not for others. Waking a thread takes tens of microseconds, as long as a small launch, so idle
//! threads spin and yield for a while before they park: launches in a row find them running.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};

/// The time that a waiting thread polls before it parks.
const POLL_TIME: Duration = Duration::from_micros(200);
/// Polls before the processor is yielded between them.
const SPINS: u32 = 200;

/// The number of threads that a job is worth.
#[derive(Clone, Copy)]
pub(super) struct Parallelism {
    /// At most this many threads work, the poster included.
    pub threads: usize,
    /// The job takes so long that parked threads are woken, even if no other job was posted just before.
    pub wakes: bool,
}

static INTERRUPT: OnceLock<fn() -> bool> = OnceLock::new();

/// Has long reductions ask, between pieces of work, on the thread that launched them, whether to give up.
/// Their results are arbitrary then; who installed the check knows. The first check of a process stays.
pub fn interrupt_by(check: fn() -> bool) {
    let _ = INTERRUPT.set(check);
}

/// Whether the work that one thread posted is given up.
pub(super) struct Interruption {
    poster: ThreadId,
    flag: AtomicBool,
}

impl Interruption {
    pub(super) fn new() -> Interruption {
        Interruption { poster: thread::current().id(), flag: AtomicBool::new(false) }
    }

    /// Whether it was given up.
    pub(super) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// The same, after the poster has asked.
    pub(super) fn poll(&self) -> bool {
        let check = INTERRUPT.get().filter(|_| thread::current().id() == self.poster);
        if check.is_some_and(|check| check()) {
            self.flag.store(true, Ordering::Relaxed);
        }
        self.is_set()
    }
}

/// Calls `serve` on up to `threads` threads of the pool, each with the tasks below `tasks` that it takes, one
/// after the other; tasks are taken in ascending order. For work that is itself made of launches.
pub fn share_tasks(threads: usize, tasks: usize, serve: impl Fn(&mut dyn Iterator<Item = usize>) + Sync) {
    in_turns(Parallelism { threads, wakes: true }, tasks, serve);
}

/// Calls `work` once for each task below `tasks`, with a `worker` of each thread that joins.
pub(super) fn share_out<W>(
    parallelism: Parallelism,
    tasks: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) + Sync,
) {
    in_turns(parallelism, tasks, |turns| {
        let mut worker = worker();
        turns.for_each(|n| work(&mut worker, n));
    });
}

/// Calls `serve` on the threads that join, each with the tasks below `tasks` that it takes, one after the
/// other.
pub(super) fn in_turns(
    parallelism: Parallelism,
    tasks: usize,
    serve: impl Fn(&mut dyn Iterator<Item = usize>) + Sync,
) {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < tasks);
    let serve = || serve(&mut std::iter::from_fn(take));
    share(Parallelism { threads: parallelism.threads.min(tasks), ..parallelism }, &serve);
}

/// Calls `work` on this thread and on pool threads, and returns when all these calls have. Each call must do
/// what the others leave, so that any number of them does all of the work.
fn share(parallelism: Parallelism, work: &(dyn Fn() + Sync)) {
    if parallelism.threads <= 1 {
        return work();
    }
    let job = Arc::new(PoolJob {
        // SAFETY: only the lifetime changes; `PostedJob` ends before the borrow does.
        work: unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) },
        joined: AtomicUsize::new(0),
        poster: thread::current(),
        panic: Mutex::new(None),
    });
    let posted = PostedJob::new(&job, parallelism);
    work();
    drop(posted);
    if let Some(panic) = locked(&job.panic).take() {
        resume_unwind(panic);
    }
}

/// Work in the queue.
struct PoolJob {
    /// Not called by threads that did not join before the job was taken off the queue.
    work: &'static (dyn Fn() + Sync),
    /// Pool threads that have joined and not left.
    joined: AtomicUsize,
    poster: Thread,
    /// Of a pool thread.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl PoolJob {
    fn run(&self) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(self.work)) {
            *locked(&self.panic) = Some(panic);
        }
        if self.joined.fetch_sub(1, Ordering::Release) == 1 {
            self.poster.unpark();
        }
    }

    fn is_left(&self) -> bool {
        self.joined.load(Ordering::Acquire) == 0
    }
}

/// While this lives, pool threads may join the job; after its drop none is inside, even if the poster
/// panicked.
struct PostedJob<'j>(&'j Arc<PoolJob>);

impl<'j> PostedJob<'j> {
    fn new(job: &'j Arc<PoolJob>, parallelism: Parallelism) -> PostedJob<'j> {
        POOL.post(job, parallelism);
        PostedJob(job)
    }
}

impl Drop for PostedJob<'_> {
    fn drop(&mut self) {
        POOL.withdraw(self.0);
        if !poll(|| self.0.is_left()) {
            while !self.0.is_left() {
                thread::park();
            }
        }
    }
}

struct ThreadPool {
    queue: Mutex<JobQueue>,
    /// Number of jobs posted so far.
    posts: AtomicUsize,
}

struct JobQueue {
    jobs: Vec<QueuedJob>,
    threads: usize,
    parked: Vec<ParkedThread>,
    /// When a job was last withdrawn while threads were parked.
    last_withdrawn: Option<Instant>,
}

impl JobQueue {
    /// Takes the threads that are to be woken. Short jobs wake threads only if another job came just before:
    /// more will follow, and find them running.
    fn take_woken(&mut self, parallelism: Parallelism) -> Vec<ParkedThread> {
        let wakes = parallelism.wakes || self.last_withdrawn.is_some_and(|last| last.elapsed() < POLL_TIME);
        let woken = if wakes { parallelism.threads - 1 } else { 0 };
        self.parked.split_off(self.parked.len().saturating_sub(woken))
    }
}

/// A job that this many more threads may join.
struct QueuedJob {
    job: Arc<PoolJob>,
    room: usize,
}

static POOL: ThreadPool = ThreadPool {
    queue: Mutex::new(JobQueue { jobs: Vec::new(), threads: 0, parked: Vec::new(), last_withdrawn: None }),
    posts: AtomicUsize::new(0),
};

impl ThreadPool {
    fn post(&'static self, job: &Arc<PoolJob>, parallelism: Parallelism) {
        let room = parallelism.threads - 1;
        let mut queue = locked(&self.queue);
        while queue.threads < room {
            // If the system gives no thread, fewer do the same.
            let thread = thread::Builder::new().name(format!("partita worker {}", queue.threads));
            if thread.spawn(|| self.serve()).is_err() {
                break;
            }
            queue.threads += 1;
        }
        queue.jobs.push(QueuedJob { job: Arc::clone(job), room });
        self.posts.fetch_add(1, Ordering::Release);
        let woken = queue.take_woken(parallelism);
        drop(queue);
        woken.into_iter().for_each(ParkedThread::wake);
    }

    fn withdraw(&self, job: &Arc<PoolJob>) {
        let mut queue = locked(&self.queue);
        queue.jobs.retain(|queued| !Arc::ptr_eq(&queued.job, job));
        queue.last_withdrawn = (!queue.parked.is_empty()).then(Instant::now);
    }

    /// The loop of a pool thread.
    fn serve(&self) {
        loop {
            let posts = self.posts.load(Ordering::Acquire);
            match self.join() {
                Some(job) => job.run(),
                None => self.wait(posts),
            }
        }
    }

    fn join(&self) -> Option<Arc<PoolJob>> {
        let mut queue = locked(&self.queue);
        let queued = queue.jobs.iter_mut().find(|queued| queued.room > 0)?;
        queued.room -= 1;
        queued.job.joined.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(&queued.job))
    }

    /// Returns when more than `posts` jobs have been posted, or when a job wakes this thread.
    fn wait(&self, posts: usize) {
        let is_posted = || self.posts.load(Ordering::Acquire) != posts;
        if poll(is_posted) {
            return;
        }
        let woken = Arc::new(AtomicBool::new(false));
        let parked = ParkedThread { thread: thread::current(), woken: Arc::clone(&woken) };
        let mut queue = locked(&self.queue);
        if is_posted() {
            return;
        }
        queue.parked.push(parked);
        drop(queue);
        while !woken.load(Ordering::Acquire) {
            thread::park();
        }
    }
}

/// Polls a condition for a while: first spinning, then yielding the processor.
fn poll(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..SPINS {
        if is_so() {
            return true;
        }
        std::hint::spin_loop();
    }
    let start = Instant::now();
    while start.elapsed() < POLL_TIME {
        if is_so() {
            return true;
        }
        thread::yield_now();
    }
    is_so()
}

/// A pool thread that is parked.
struct ParkedThread {
    thread: Thread,
    woken: Arc<AtomicBool>,
}

impl ParkedThread {
    fn wake(self) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// No thread panics while it holds one of these locks, so their contents are consistent.
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
                    // Until pool threads park.
                    thread::sleep(2 * POLL_TIME);
                }
            }
        };
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(launcher))));
    }

    #[test]
    fn as_many_threads_join_as_the_job_allows() {
        for threads in 1..5 {
            // No thread passes the barrier before all have joined, parked ones included.
            thread::sleep(2 * POLL_TIME);
            let (all, calls) = (Barrier::new(threads), AtomicUsize::new(0));
            share(Parallelism { threads, wakes: true }, &|| {
                assert!(calls.fetch_add(1, Ordering::Relaxed) < threads);
                all.wait();
            });
            assert_eq!(calls.load(Ordering::Relaxed), threads);
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
                    thread::sleep(2 * POLL_TIME);
                    left.fetch_add(1, Ordering::Relaxed);
                });
            }));
            assert_eq!(outcome.expect_err("a panic").downcast_ref(), Some(&"as expected"));
            assert_eq!(left.load(Ordering::Relaxed), 1);
        }
    }
}
