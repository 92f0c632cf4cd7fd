//! Wires: nonblocking messages of bytes between ranks, and short control messages beside them. [`Wire`] is
//! implemented by MPI, sockets, threads and a simulation in tests; no call of it waits for another rank.
//!
//! [`MessageChunk`]: how a message is cut into the pieces that a wire sends. Both ends cut alike, from
//! lengths that both know; each end then decides alone whether a chunk is copied or transferred in place.

use std::fmt;
use std::time::Duration;

use crate::device::LentMemory;

/// A transfer that was started. Numbers are not reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request(pub u64);

/// The state of a request.
#[derive(PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Not complete.
    Pending,
    /// The bytes were sent; here is their memory, for reuse.
    Sent(Vec<u8>),
    /// A message with its sender's tag. It may have another length than was expected.
    Arrived {
        /// The sender's.
        tag: u32,
        /// As many as came.
        bytes: Vec<u8>,
    },
    /// The same for [`Wire::receive_into`].
    ArrivedInPlace {
        /// The sender's.
        tag: u32,
        /// The number of bytes.
        bytes: usize,
    },
}

/// A wire's own failure, in its words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WireError(pub String);

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One rank's end of a transport for bytes between ranks. No call waits for another rank.
pub trait Wire: Send + Sync {
    /// This rank, below [`Wire::ranks`].
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn ranks(&self) -> usize;

    /// A name for people, such as the library's version.
    fn name(&self) -> String;

    /// The largest tag of a message; at least 32767.
    fn max_tag(&self) -> u32;

    /// Starts a send. Messages from one rank to another arrive in the order in which they were sent.
    ///
    /// # Errors
    /// If nothing can be sent any more.
    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<Request, WireError>;

    /// Starts to receive the next message of a rank, which is expected to fill `memory`.
    ///
    /// # Errors
    /// If nothing can be received any more.
    fn receive(&self, from: usize, memory: Vec<u8>) -> Result<Request, WireError>;

    /// Whether it may be asked from a thread of its own while the program does anything.
    fn takes_all_threads(&self) -> bool {
        true
    }

    /// Whether [`Wire::send_from`] and [`Wire::receive_into`] take this process's own memory.
    fn takes_host_memory(&self) -> bool {
        false
    }

    /// Whether they take CUDA device pointers, as far as the wire itself says.
    ///
    /// # Errors
    /// Why not, in words for people.
    fn takes_device_memory(&self) -> std::result::Result<(), String> {
        Err("the wire carries this process's memory only".to_owned())
    }

    /// As [`Wire::send`], in place.
    ///
    /// # Errors
    /// As [`Wire::send`]; memory the wire does not take.
    fn send_from(&self, _to: usize, _tag: u32, memory: LentMemory) -> Result<Request, WireError> {
        Err(WireError(format!("it cannot send {memory:?}")))
    }

    /// As [`Wire::receive`], in place; the outcome is [`Outcome::ArrivedInPlace`].
    ///
    /// # Errors
    /// As [`Wire::receive`]; memory the wire does not take.
    fn receive_into(&self, _from: usize, memory: LentMemory) -> Result<Request, WireError> {
        Err(WireError(format!("it cannot receive {memory:?}")))
    }

    /// The state of a request. Once it is complete, its number is invalid.
    ///
    /// # Errors
    /// If it failed.
    fn test(&self, request: Request) -> Result<Outcome, WireError>;

    /// Sends a short control message, which the other rank gets from [`Wire::receive_control`].
    ///
    /// # Errors
    /// If nothing can be sent any more.
    fn send_control(&self, to: usize, message: &[u8]) -> Result<(), WireError>;

    /// The next control message of any rank, with its sender; those of one sender come in order.
    ///
    /// # Errors
    /// If nothing can be received any more.
    fn receive_control(&self) -> Result<Option<(usize, Vec<u8>)>, WireError>;

    /// The ranks that the wire knows to have ended, whether they said so before or not, and how it knows.
    fn lost(&self) -> Vec<(usize, String)> {
        Vec::new()
    }

    /// Whether its library has ended, so that no message can be sent any more.
    fn is_over(&self) -> bool {
        false
    }

    /// Ends the processes of all ranks, where the wire can. May not return.
    fn end_all(&self) {}

    /// The time since some beginning, by which deadlines are counted.
    fn now(&self) -> Duration;

    /// Records what this rank begins, for a message if the process is terminated from outside.
    fn record_progress(&self, _operation: &str, _step: u64) {}

    /// Prints a notice that must reach the user even if this rank is terminated at once.
    fn print_notice(&self, _notice: &str) {}

    /// Lets others run between two tests; `spins` counts the tests since the last success.
    fn pause(&self, spins: u32);
}

/// The back-off of ranks that share CPUs with other ranks: spin, then yield, then sleep.
pub(crate) fn back_off(spins: u32) {
    match spins {
        0..200 => std::hint::spin_loop(),
        200..2000 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(50)),
    }
}

/// A range of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MessageChunk {
    /// Its offset in the message.
    pub offset: u64,
    /// Its length.
    pub bytes: usize,
}

/// Neighbouring runs share a chunk up to this size: below it the number of messages costs more than copying.
const TOGETHER_BYTES: u64 = 1 << 15;

/// Staged messages are cut into chunks of this size, so that one is in flight while the next is copied.
const CHUNK_BYTES: u64 = 1 << 20;

/// The chunks of a staged message.
pub(crate) fn staged_chunks(bytes: u64) -> Vec<MessageChunk> {
    chunks_of(&[bytes], CHUNK_BYTES)
}

/// The chunks of a message of runs of these lengths: short runs together, each longer one alone, or, if it is
/// longer than `longest`, in several. One chunk, of nothing, if all is empty.
pub(crate) fn chunks_of(lengths: &[u64], longest: u64) -> Vec<MessageChunk> {
    let mut stretches: Vec<u64> = Vec::new();
    for &length in lengths.iter().filter(|&&length| length > 0) {
        match stretches.last_mut() {
            Some(last) if *last + length <= TOGETHER_BYTES => *last += length,
            _ => stretches.push(length),
        }
    }
    if stretches.is_empty() {
        return vec![MessageChunk { offset: 0, bytes: 0 }];
    }
    let mut begin = 0;
    let mut chunks = Vec::new();
    for length in stretches {
        for k in 0..length.div_ceil(longest) {
            let bytes = (length - k * longest).min(longest) as usize;
            chunks.push(MessageChunk { offset: begin + k * longest, bytes });
        }
        begin += length;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(chunks: &[MessageChunk]) -> Vec<usize> {
        let mut next = 0;
        for chunk in chunks {
            assert_eq!(chunk.offset, next, "chunks follow one another");
            next += chunk.bytes as u64;
        }
        chunks.iter().map(|chunk| chunk.bytes).collect()
    }

    #[test]
    fn short_runs_travel_together_and_long_ones_alone() {
        assert_eq!(lengths(&chunks_of(&[], 100)), [0]);
        assert_eq!(lengths(&chunks_of(&[0, 0], 100)), [0]);
        assert_eq!(lengths(&chunks_of(&[10, 0, 20], 100)), [30]);
        assert_eq!(lengths(&chunks_of(&[1 << 20, 10, 10, 1 << 20, 7], 1 << 40)), [1 << 20, 20, 1 << 20, 7]);
        assert_eq!(lengths(&chunks_of(&[250], 100)), [100, 100, 50]);
        assert_eq!(lengths(&chunks_of(&[30_000, 3_000], 1 << 20)), [30_000, 3_000]);
    }
}
