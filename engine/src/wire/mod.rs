//! Bytes between the ranks of a program: the processes, or threads that stand for them, which all run it.
//!
//! [`Wire`] is what a way to carry bytes must offer: no call of it waits. [`Ranks`] is what the engine uses:
//! waits with deadlines, agreement on what is done next, and failures that every rank gets to know. Knows
//! bytes and ranks; knows no devices, parts or plans.

mod agree;
mod fault;
mod frame;
mod line;
#[cfg(feature = "mpi")]
pub mod mpi;
mod news;
mod ranks;
pub mod sim;
pub mod threads;
mod trial;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use crate::config::POINTS;
pub(crate) use fault::pass;
pub(crate) use frame::{Piece, copied, frame};
pub(crate) use ranks::{Errand, hash};
pub use ranks::{Meeting, Ranks};

/// A transfer that was begun. Numbers are not reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request(pub u64);

/// What has become of a request.
#[derive(PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Not over yet.
    Pending,
    /// The bytes are gone; here is their memory, for reuse.
    Sent(Vec<u8>),
    /// A message with the mark its sender gave it. It may have another length than was expected.
    Arrived {
        /// The sender's.
        mark: u32,
        /// As many as came.
        bytes: Vec<u8>,
    },
    /// The same for a message that was received where it belongs.
    Landed {
        /// The sender's.
        mark: u32,
        /// How many bytes came.
        bytes: usize,
    },
}

/// Memory that a wire reads or writes where it lies: of this process, or of a device whose addresses the wire
/// understands. Kept until the wire is done with it.
#[derive(Clone)]
pub struct InPlace {
    address: usize,
    bytes: usize,
    _keep: Arc<dyn Any + Send + Sync>,
}

impl InPlace {
    /// `bytes` bytes from `address` on, which `keep` keeps.
    ///
    /// # Safety
    /// The memory is there while `keep` lives. Until the transfer is over nobody writes what is sent, and
    /// nobody uses what is received.
    pub(crate) unsafe fn new(address: usize, bytes: usize, keep: Arc<dyn Any + Send + Sync>) -> InPlace {
        InPlace { address, bytes, _keep: keep }
    }
}

impl fmt::Debug for InPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x}", self.bytes, self.address)
    }
}

/// A wire's own failure, in its words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One rank's end of what carries bytes between all ranks. No call waits for another rank.
pub trait Wire: Send + Sync {
    /// This rank, below [`Wire::ranks`].
    fn rank(&self) -> usize;

    /// How many there are.
    fn ranks(&self) -> usize;

    /// What people call it, such as the library's version.
    fn name(&self) -> String;

    /// The largest mark a message can carry; at least 32767.
    fn max_mark(&self) -> u32;

    /// Begins to send. Messages from one rank to another arrive in the order in which they were sent.
    ///
    /// # Errors
    /// If nothing can be sent any more.
    fn send(&self, to: usize, mark: u32, bytes: Vec<u8>) -> Result<Request, Broken>;

    /// Begins to receive the next message of a rank, which is expected to fill `memory`.
    ///
    /// # Errors
    /// If nothing can be received any more.
    fn receive(&self, from: usize, memory: Vec<u8>) -> Result<Request, Broken>;

    /// Whether [`Wire::send_from`] and [`Wire::receive_into`] take this process's own memory.
    fn takes_host_memory(&self) -> bool {
        false
    }

    /// Whether they take CUDA devices' memory, as far as the wire itself knows.
    ///
    /// # Errors
    /// Why not, in words for people.
    fn takes_device_memory(&self) -> std::result::Result<(), String> {
        Err("the wire carries this process's memory only".to_owned())
    }

    /// As [`Wire::send`], from where the bytes lie.
    ///
    /// # Errors
    /// As [`Wire::send`]; memory the wire does not take.
    fn send_from(&self, _to: usize, _mark: u32, memory: InPlace) -> Result<Request, Broken> {
        Err(Broken(format!("it cannot send {memory:?}")))
    }

    /// As [`Wire::receive`], to where the bytes belong; the outcome is [`Outcome::Landed`].
    ///
    /// # Errors
    /// As [`Wire::receive`]; memory the wire does not take.
    fn receive_into(&self, _from: usize, memory: InPlace) -> Result<Request, Broken> {
        Err(Broken(format!("it cannot receive {memory:?}")))
    }

    /// What has become of a request. Once it is over, its number names nothing.
    ///
    /// # Errors
    /// If it failed.
    fn test(&self, request: Request) -> Result<Outcome, Broken>;

    /// Sends a short message beside all others, which the other rank finds by [`Wire::hear`].
    ///
    /// # Errors
    /// If nothing can be sent any more.
    fn tell(&self, to: usize, news: &[u8]) -> Result<(), Broken>;

    /// The next short message of anybody, with its sender; those of one sender come in their order.
    ///
    /// # Errors
    /// If nothing can be received any more.
    fn hear(&self) -> Result<Option<(usize, Vec<u8>)>, Broken>;

    /// The time since some beginning, by which deadlines are counted.
    fn now(&self) -> Duration;

    /// Takes note of what this rank begins, for the case that it is ended from outside.
    fn note(&self, _operation: &str, _step: u64) {}

    /// Says what must reach a person even if this rank is ended at once.
    fn alarm(&self, _words: &str) {}

    /// Lets others work between two looks at what is awaited; `looks` counts them since the last success.
    fn pause(&self, looks: u32);
}

/// How those that share processors with other ranks pause: shortly at first, then by sleeping.
pub(crate) fn doze(looks: u32) {
    match looks {
        0..200 => std::hint::spin_loop(),
        200..2000 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(50)),
    }
}
