//! Ranks as threads of one process, so that programs for many ranks run, and are tested, without MPI.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// One rank's end.
pub struct Threads {
    rank: usize,
    mailboxes: Arc<Mailboxes>,
    open: Mutex<OpenRequests>,
}

/// One mailbox per rank.
struct Mailboxes {
    all: Vec<Mutex<Mailbox>>,
    begin: Instant,
}

#[derive(Default)]
struct Mailbox {
    /// By sender: messages that were sent and not received yet.
    messages: HashMap<usize, VecDeque<(u32, Vec<u8>)>>,
    control: VecDeque<(usize, Vec<u8>)>,
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
        let mailboxes = Arc::new(Mailboxes { all, begin: Instant::now() });
        (0..ranks)
            .map(|rank| Threads { rank, mailboxes: Arc::clone(&mailboxes), open: Mutex::default() })
            .collect()
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
        locked(&self.mailboxes.all[to]).messages.entry(self.rank).or_default().push_back((tag, bytes));
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
        let Some((tag, bytes)) = arrived.remove(&request) else { return Ok(Outcome::Pending) };
        senders.remove(&request);
        Ok(Outcome::Arrived { tag, bytes })
    }

    fn send_control(&self, to: usize, message: &[u8]) -> Result<(), WireError> {
        locked(&self.mailboxes.all[to]).control.push_back((self.rank, message.to_vec()));
        Ok(())
    }

    fn receive_control(&self) -> Result<Option<(usize, Vec<u8>)>, WireError> {
        Ok(locked(&self.mailboxes.all[self.rank]).control.pop_front())
    }

    fn now(&self) -> Duration {
        self.mailboxes.begin.elapsed()
    }

    fn pause(&self, spins: u32) {
        back_off(spins);
    }
}

impl OpenRequests {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}
