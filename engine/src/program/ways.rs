//! How one message gets from a rank to another, and the commands that carry it: copied through this process's
//! memory, handed to the wire where it lies, or opened by the receiver, who then copies from device to
//! device. Which of them is the planner's choice; both ends make the same.

use std::sync::Arc;

use super::ahead::Ahead;
use super::shares::Shares;
use super::{Span, span_bytes, spread};
use crate::device::{DeviceKind, Stream};
use crate::error::Result;
use crate::wire::{InPlace, Piece, Ranks, frame};

/// How a message travels.
#[derive(Clone)]
pub enum Way {
    /// Copied through this process's memory, piece by piece.
    Staged,
    /// Read and written by the wire where it lies.
    InPlace,
    /// Named to the receiver, who opens the sender's memory and copies.
    Shared(Arc<Shares>),
}

impl Way {
    /// As a trace calls a message that is sent this way.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Way::Staged => "send",
            Way::InPlace => "send in place",
            Way::Shared(_) => "share",
        }
    }
}

/// Pieces that are not copied may be as long as messages are.
const UNCUT: u64 = 1 << 62;

fn pieces_in_place(memory: &[Span]) -> Vec<Piece> {
    let lengths: Vec<u64> = memory.iter().map(|span| span.bytes).collect();
    frame(&lengths, UNCUT)
}

/// Makes ready for a message that lands where it belongs.
pub(super) fn expect_in_place(lane: Stream, ranks: &Ranks, from: usize, memory: &[Span]) -> Result<()> {
    idle(lane, memory)?;
    ranks.expect_pieces(from, &pieces_in_place(memory), |piece| place(memory, piece))
}

pub(super) fn send(
    lane: Stream,
    ranks: &Ranks,
    to: usize,
    memory: &[Span],
    way: &Way,
    ahead: &Ahead,
) -> Result<()> {
    let fill = |offset: u64, out: &mut [u8]| ahead.take(lane, memory, offset, out);
    match way {
        Way::Staged => ranks.send(to, span_bytes(memory), fill),
        Way::InPlace => {
            idle(lane, memory)?;
            ranks.send_pieces(to, &pieces_in_place(memory), |piece| place(memory, piece), fill)
        }
        Way::Shared(shares) => shares.show(lane, ranks, to, memory),
    }
}

pub(super) fn receive(lane: Stream, ranks: &Ranks, from: usize, memory: &[Span], way: &Way) -> Result<()> {
    let put = |offset: u64, bytes: &[u8]| {
        spread(memory, offset, bytes.len()).try_for_each(|(span, at, range)| {
            span.device.upload_on(lane, &span.allocation, at, &bytes[range])
        })
    };
    match way {
        Way::Staged => ranks.receive(from, span_bytes(memory), put),
        Way::InPlace => ranks.receive_pieces(from, pieces_in_place(memory).len(), put),
        Way::Shared(shares) => shares.fetch(lane, ranks, from, memory),
    }
}

/// Waits for the devices whose memory a wire is about to use: it knows nothing of their queues. What a lane
/// has queued so far comes after everything that used the memory before.
fn idle(lane: Stream, memory: &[Span]) -> Result<()> {
    let mut waited: Vec<&Span> = Vec::new();
    for span in memory.iter().filter(|span| span.device.kind() != DeviceKind::Host) {
        if waited.iter().all(|other| other.device != span.device) {
            span.device.wait_for(lane)?;
            waited.push(span);
        }
    }
    Ok(())
}

/// Where a piece of a message lies, if that is one stretch of one memory that has an address.
fn place(memory: &[Span], piece: Piece) -> Option<InPlace> {
    let mut parts = spread(memory, piece.offset, piece.bytes);
    let (first, begin, range) = parts.next()?;
    let mut next = begin + range.len() as u64;
    for (span, at, range) in parts {
        if span.allocation.id != first.allocation.id || at != next {
            return None;
        }
        next += range.len() as u64;
    }
    let lent = first.allocation.lend(begin, piece.bytes as u64)?;
    let address = lent.address();
    // SAFETY: a lent allocation stays and is not leased again while it is lent. The command before waited for
    // the device, and what is queued next touches neither what leaves nor what arrives, as an exchange asks.
    Some(unsafe { InPlace::new(address, piece.bytes, Arc::new(lent)) })
}

/// The length of a message in which `memory` is named to another rank.
pub(crate) fn message_bytes(memory: &[Span], way: &Way) -> u64 {
    match way {
        Way::Staged | Way::InPlace => span_bytes(memory),
        Way::Shared(_) => Shares::message_bytes(memory.len()),
    }
}
