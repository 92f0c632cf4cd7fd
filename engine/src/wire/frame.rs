//! How a message is cut into what a wire is given. Both ends cut alike, from lengths that both know; what
//! each then does with a piece, send it from where it lies or copy it, is its own affair.

/// A stretch of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// Where in the message it begins.
    pub offset: u64,
    /// Its length.
    pub bytes: usize,
}

/// Neighbouring runs travel together up to here: below it the number of messages counts, above it their
/// bytes.
const TOGETHER_BYTES: u64 = 1 << 15;

/// Messages that are copied travel in pieces, so that one travels while the next is copied.
const PIECE_BYTES: u64 = 1 << 20;

/// The pieces of a message that is copied.
pub(crate) fn copied(bytes: u64) -> Vec<Piece> {
    frame(&[bytes], PIECE_BYTES)
}

/// The pieces of a message of runs of these lengths: short runs together, each longer one alone, or, if it is
/// longer than `longest`, in several. One piece, of nothing, if all is empty.
pub(crate) fn frame(lengths: &[u64], longest: u64) -> Vec<Piece> {
    let mut stretches: Vec<u64> = Vec::new();
    for &length in lengths.iter().filter(|&&length| length > 0) {
        match stretches.last_mut() {
            Some(last) if *last + length <= TOGETHER_BYTES => *last += length,
            _ => stretches.push(length),
        }
    }
    if stretches.is_empty() {
        return vec![Piece { offset: 0, bytes: 0 }];
    }
    let mut begin = 0;
    let mut pieces = Vec::new();
    for length in stretches {
        for k in 0..length.div_ceil(longest) {
            let bytes = (length - k * longest).min(longest) as usize;
            pieces.push(Piece { offset: begin + k * longest, bytes });
        }
        begin += length;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Piece, frame};

    fn lengths(pieces: &[Piece]) -> Vec<usize> {
        let mut next = 0;
        for piece in pieces {
            assert_eq!(piece.offset, next, "pieces follow one another");
            next += piece.bytes as u64;
        }
        pieces.iter().map(|piece| piece.bytes).collect()
    }

    #[test]
    fn short_runs_travel_together_and_long_ones_alone() {
        assert_eq!(lengths(&frame(&[], 100)), [0]);
        assert_eq!(lengths(&frame(&[0, 0], 100)), [0]);
        assert_eq!(lengths(&frame(&[10, 0, 20], 100)), [30]);
        assert_eq!(lengths(&frame(&[1 << 20, 10, 10, 1 << 20, 7], 1 << 40)), [1 << 20, 20, 1 << 20, 7]);
        assert_eq!(lengths(&frame(&[250], 100)), [100, 100, 50]);
        assert_eq!(lengths(&frame(&[30_000, 3_000], 1 << 20)), [30_000, 3_000]);
    }
}
