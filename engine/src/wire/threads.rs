//! Ranks that are threads of one process: programs for many ranks run, and are tested, with nothing
//! installed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Broken, Outcome, Ranks, Request, Wire, doze};
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
    post: Arc<Post>,
    open: Mutex<Open>,
}

/// What lies between all ends: a letter box per rank.
struct Post {
    boxes: Vec<Mutex<LetterBox>>,
    begin: Instant,
}

struct LetterBox {
    /// By sender: what was sent and not received yet.
    letters: Vec<VecDeque<(u32, Vec<u8>)>>,
    news: VecDeque<(usize, Vec<u8>)>,
}

#[derive(Default)]
struct Open {
    next: u64,
    sent: HashMap<Request, ()>,
    /// By sender: who receives the next letters.
    awaited: HashMap<usize, VecDeque<Request>>,
    arrived: HashMap<Request, (u32, Vec<u8>)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Threads {
    /// The ends of a wire between `ranks` ranks, one for each.
    pub fn ends(ranks: usize) -> Vec<Threads> {
        let empty = || LetterBox { letters: vec![VecDeque::new(); ranks], news: VecDeque::new() };
        let boxes = (0..ranks).map(|_| Mutex::new(empty())).collect();
        let post = Arc::new(Post { boxes, begin: Instant::now() });
        (0..ranks).map(|rank| Threads { rank, post: Arc::clone(&post), open: Mutex::default() }).collect()
    }
}

impl Wire for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.post.boxes.len()
    }

    fn name(&self) -> String {
        "threads".to_owned()
    }

    fn max_mark(&self) -> u32 {
        u32::MAX
    }

    fn send(&self, to: usize, mark: u32, bytes: Vec<u8>) -> Result<Request, Broken> {
        locked(&self.post.boxes[to]).letters[self.rank].push_back((mark, bytes));
        let mut open = locked(&self.open);
        let request = open.number();
        open.sent.insert(request, ());
        Ok(request)
    }

    fn receive(&self, from: usize, _memory: Vec<u8>) -> Result<Request, Broken> {
        let mut open = locked(&self.open);
        let request = open.number();
        open.awaited.entry(from).or_default().push_back(request);
        Ok(request)
    }

    fn test(&self, request: Request) -> Result<Outcome, Broken> {
        let mut open = locked(&self.open);
        if open.sent.remove(&request).is_some() {
            return Ok(Outcome::Sent(Vec::new()));
        }
        let mut mine = locked(&self.post.boxes[self.rank]);
        let Open { awaited, arrived, .. } = &mut *open;
        for (from, requests) in awaited {
            while let (Some(_), Some(first)) = (mine.letters[*from].front(), requests.front()) {
                arrived.extend(mine.letters[*from].pop_front().map(|letter| (*first, letter)));
                requests.pop_front();
            }
        }
        Ok(match arrived.remove(&request) {
            Some((mark, bytes)) => Outcome::Arrived { mark, bytes },
            None => Outcome::Pending,
        })
    }

    fn tell(&self, to: usize, news: &[u8]) -> Result<(), Broken> {
        locked(&self.post.boxes[to]).news.push_back((self.rank, news.to_vec()));
        Ok(())
    }

    fn hear(&self) -> Result<Option<(usize, Vec<u8>)>, Broken> {
        Ok(locked(&self.post.boxes[self.rank]).news.pop_front())
    }

    fn now(&self) -> Duration {
        self.post.begin.elapsed()
    }

    fn pause(&self, looks: u32) {
        doze(looks);
    }
}

impl Open {
    fn number(&mut self) -> Request {
        self.next += 1;
        Request(self.next)
    }
}
