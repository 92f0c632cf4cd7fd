//! How a message is cut into the chunks that a wire sends. Both ends cut alike, from lengths that both know;
//! each end then decides alone whether a chunk is copied or transferred in place.

/// A range of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MessageChunk {
    /// Where in the message it begins.
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
    use super::{MessageChunk, chunks_of};

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
