//! A wire that counts what goes over it.
#![allow(clippy::unwrap_used, dead_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use partita::wire::{Outcome, Ranks, Request, Wire, WireError, threads};

/// What went over the wires of all ranks.
#[derive(Default)]
pub struct Counts {
    pub control_messages: AtomicUsize,
    /// All other messages, and their bytes.
    pub messages: AtomicUsize,
    pub bytes: AtomicU64,
}

/// Runs a program on so many ranks; gives what each came to, and what went over the wires.
pub fn counted<T: Send>(ranks: usize, program: impl Fn(&Ranks) -> T + Sync) -> (Vec<T>, Arc<Counts>) {
    let (counts, program) = (Arc::new(Counts::default()), &program);
    let ends = std::thread::scope(|scope| {
        let start = |end| {
            let wire = Counting(end, Arc::clone(&counts));
            scope.spawn(move || program(&Ranks::with_deadline(wire, Duration::from_secs(60))))
        };
        let running: Vec<_> = threads::Threads::ends(ranks).into_iter().map(start).collect();
        running.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    (ends, counts)
}

struct Counting(threads::Threads, Arc<Counts>);

impl Wire for Counting {
    fn rank(&self) -> usize {
        self.0.rank()
    }
    fn ranks(&self) -> usize {
        self.0.ranks()
    }
    fn name(&self) -> String {
        self.0.name()
    }
    fn max_tag(&self) -> u32 {
        self.0.max_tag()
    }
    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> std::result::Result<Request, WireError> {
        self.1.messages.fetch_add(1, Ordering::SeqCst);
        self.1.bytes.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        self.0.send(to, tag, bytes)
    }
    fn receive(&self, from: usize, memory: Vec<u8>) -> std::result::Result<Request, WireError> {
        self.0.receive(from, memory)
    }
    fn test(&self, request: Request) -> std::result::Result<Outcome, WireError> {
        self.0.test(request)
    }
    fn send_control(&self, to: usize, message: &[u8]) -> std::result::Result<(), WireError> {
        self.1.control_messages.fetch_add(1, Ordering::SeqCst);
        self.0.send_control(to, message)
    }
    fn receive_control(&self) -> std::result::Result<Option<(usize, Vec<u8>)>, WireError> {
        self.0.receive_control()
    }
    fn now(&self) -> Duration {
        self.0.now()
    }
    fn pause(&self, spins: u32) {
        self.0.pause(spins);
    }
}
