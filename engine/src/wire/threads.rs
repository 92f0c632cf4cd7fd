//! Ranks as threads of one process, so that programs for many ranks run, and are tested, without MPI.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::interface::{Outcome, Request, Wire, WireError, back_off};
use super::ranks::Ranks;
use crate::config::config;

/// Runs a program on so many ranks, each a thread, and gives what it returns on each, or its panic. The
/// ranks' deadline is the one `PARTITA_DEADLINE_SECONDS` sets.
pub fn run<T: Send>(ranks: usize, program: impl Fn(Ranks) -> T + Sync) -> Vec<std::thread::Result<T>> {
    run_with_deadline(ranks, config().deadline, program)
}

/// As [`run`], with a deadline.
pub fn run_with_deadline<T: Send>(
    ranks: usize,
    deadline: Duration,
    program: impl Fn(Ranks) -> T + Sync,
) -> Vec<std::thread::Result<T>> {
    let program = &program;
    std::thread::scope(|scope| {
        let start = |end| scope.spawn(move || program(Ranks::with_deadline(end, deadline)));
        let running: Vec<_> = Threads::ends(ranks).into_iter().map(start).collect();
        running.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    })
}

/// With more ranks than this those that wait sleep until something comes, or for this long.
const MOST_THAT_SPIN: usize = 64;
const SLEEP: Duration = Duration::from_millis(50);

/// One rank's end.
pub struct Threads {
    rank: usize,
    mailboxes: Arc<Mailboxes>,
    open: Mutex<OpenRequests>,
    /// How many messages had come when the first of those tests that found nothing began; 0 without any.
    seen: AtomicU64,
}

/// One mailbox per rank.
struct Mailboxes {
    all: Vec<Mutex<Mailbox>>,
    filled: Vec<Condvar>,
    begin: Instant,
}

#[derive(Default)]
struct Mailbox {
    /// By sender: messages that were sent and not received yet.
    messages: HashMap<usize, VecDeque<(u32, Vec<u8>)>>,
    control: VecDeque<(usize, Vec<u8>)>,
    /// All messages so far.
    count: u64,
}

#[derive(Default)]
struct OpenRequests {
    next: u64,
    /// By sender: the receives that get the next messages.
    posted: HashMap<usize, VecDeque<Request>>,
    /// The senders of those that have not arrived.
    senders: HashMap<Request, usize>,
    arrived: HashMap<Request, (u32, Vec<u8>)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Threads {
    /// The ends of a wire between `ranks` ranks, one for each.
    pub fn ends(ranks: usize) -> Vec<Threads> {
        let all = (0..ranks).map(|_| Mutex::default()).collect();
        let filled = (0..ranks).map(|_| Condvar::new()).collect();
        let mailboxes = Arc::new(Mailboxes { all, filled, begin: Instant::now() });
        let end = |rank| {
            let (open, seen) = Default::default();
            Threads { rank, mailboxes: Arc::clone(&mailboxes), open, seen }
        };
        (0..ranks).map(end).collect()
    }

    fn put(&self, to: usize, message: impl FnOnce(&mut Mailbox)) {
        let mut mailbox = locked(&self.mailboxes.all[to]);
        mailbox.count += 1;
        message(&mut mailbox);
        drop(mailbox);
        self.mailboxes.filled[to].notify_all();
    }

    fn found_nothing(&self, mailbox: &Mailbox) {
        let _ = self.seen.compare_exchange(0, mailbox.count + 1, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl Wire for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.mailboxes.all.len()
    }

    fn name(&self) -> String {
        "threads".to_owned()
    }

    fn max_tag(&self) -> u32 {
        u32::MAX
    }

    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<Request, WireError> {
        self.put(to, |mailbox| mailbox.messages.entry(self.rank).or_default().push_back((tag, bytes)));
        // Even numbers were sent, odd ones are posted.
        Ok(Request(2 * locked(&self.open).number()))
    }

    fn receive(&self, from: usize, _memory: Vec<u8>) -> Result<Request, WireError> {
        let mut open = locked(&self.open);
        let request = Request(2 * open.number() + 1);
        open.posted.entry(from).or_default().push_back(request);
        open.senders.insert(request, from);
        Ok(request)
    }

    fn test(&self, request: Request) -> Result<Outcome, WireError> {
        if request.0.is_multiple_of(2) {
            return Ok(Outcome::Sent(Vec::new()));
        }
        let mut open = locked(&self.open);
        let mut mine = locked(&self.mailboxes.all[self.rank]);
        let OpenRequests { posted, senders, arrived, .. } = &mut *open;
        let from = senders.get(&request);
        if let Some((from, requests)) = from.and_then(|from| Some((from, posted.get_mut(from)?))) {
            let messages = mine.messages.entry(*from).or_default();
            while !messages.is_empty() && !requests.is_empty() {
                arrived.extend(requests.pop_front().zip(messages.pop_front()));
            }
        }
        let Some((tag, bytes)) = arrived.remove(&request) else {
            self.found_nothing(&mine);
            return Ok(Outcome::Pending);
        };
        senders.remove(&request);
        Ok(Outcome::Arrived { tag, bytes })
    }

    fn send_control(&self, to: usize, message: &[u8]) -> Result<(), WireError> {
        self.put(to, |mailbox| mailbox.control.push_back((self.rank, message.to_vec())));
        Ok(())
    }

    fn receive_control(&self) -> Result<Option<(usize, Vec<u8>)>, WireError> {
        let mut mine = locked(&self.mailboxes.all[self.rank]);
        let first = mine.control.pop_front();
        if first.is_none() {
            self.found_nothing(&mine);
        }
        Ok(first)
    }

    fn now(&self) -> Duration {
        self.mailboxes.begin.elapsed()
    }

    fn pause(&self, spins: u32) {
        if self.ranks() <= MOST_THAT_SPIN {
            return back_off(spins);
        }
        let (mine, seen) = (locked(&self.mailboxes.all[self.rank]), self.seen.swap(0, Ordering::Relaxed));
        if mine.count + 1 == seen {
            drop(self.mailboxes.filled[self.rank].wait_timeout(mine, SLEEP));
        }
    }
}

impl OpenRequests {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}
