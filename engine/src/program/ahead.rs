//! A message that leaves through this process's memory, copied out of its devices ahead of being sent: what
//! is queued after [`Ahead::begin`] keeps a device busy while the host waits for the message alone. Knows
//! spans and devices; knows no wire.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Span, span_bytes, spread};
use crate::device::{DeviceKind, Download, Stream};
use crate::error::Result;
use crate::wire::{Piece, copied};

/// What of one message is on its way out of devices' memory. Clones name the same.
#[derive(Clone, Default)]
pub struct Ahead(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    begun: VecDeque<Begun>,
    /// Pieces that have not begun.
    left: VecDeque<Piece>,
}

/// One piece: what comes of which device, and where it belongs. What is in this process's memory is not
/// among it.
struct Begun(Vec<(Download, Range<usize>)>);

/// How many pieces of a message are begun at once. On a lane of its own a second one travels while the first
/// is copied and sent. A wgpu device works in one order, so what is begun later comes after what it computes
/// meanwhile; beyond so many the memory counts.
fn most_begun(memory: &[Span]) -> usize {
    let most = |span: &Span| match span.device.kind() {
        DeviceKind::Host => 0,
        DeviceKind::Cuda => 2,
        DeviceKind::Wgpu => 64,
    };
    memory.iter().map(most).max().unwrap_or(0)
}

impl Ahead {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it makes a difference for such a message.
    pub(crate) fn helps(memory: &[Span]) -> bool {
        most_begun(memory) > 0
    }

    /// Begins a message, behind all that is queued on a lane so far.
    pub(super) fn begin(&self, lane: Stream, memory: &[Span]) -> Result<()> {
        let mut left: VecDeque<Piece> = copied(span_bytes(memory)).into();
        let first = left.drain(..most_begun(memory).min(left.len()));
        let begun = first.map(|piece| Begun::new(lane, memory, piece)).collect::<Result<_>>()?;
        *self.state() = State { begun, left };
        Ok(())
    }

    /// The next piece of the message, which begins at `offset`; the one after those that are begun takes its
    /// turn. A message that was not begun is copied now.
    pub(super) fn take(&self, lane: Stream, memory: &[Span], offset: u64, out: &mut [u8]) -> Result<()> {
        let mut state = self.state();
        let Some(Begun(parts)) = state.begun.pop_front() else {
            return spread(memory, offset, out.len()).try_for_each(|(span, at, range)| {
                span.device.download_on(lane, &span.allocation, at, &mut out[range])
            });
        };
        for (span, at, range) in spread(memory, offset, out.len()) {
            if span.device.kind() == DeviceKind::Host {
                span.device.download_on(lane, &span.allocation, at, &mut out[range])?;
            }
        }
        parts.into_iter().try_for_each(|(fetch, range)| fetch.finish(&mut out[range]))?;
        if let Some(piece) = state.left.pop_front() {
            state.begun.push_back(Begun::new(lane, memory, piece)?);
        }
        Ok(())
    }
}

impl Begun {
    fn new(lane: Stream, memory: &[Span], piece: Piece) -> Result<Begun> {
        let parts = spread(memory, piece.offset, piece.bytes).filter_map(|(span, at, range)| {
            let fetch = span.device.start_download(lane, &span.allocation, at, range.len()).transpose()?;
            Some(fetch.map(|fetch| (fetch, range)))
        });
        Ok(Begun(parts.collect::<Result<_>>()?))
    }
}
