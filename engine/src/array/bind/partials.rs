//! Exchange of partial reduction results: one contiguous buffer per part, one message per pair of ranks.

use std::hash::Hash;
use std::sync::Arc;

use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::lower::tasks::PartialKind;
use crate::device::{Buffer, Device};
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::program::{MemorySpan, Message, MessageDownload, Op, Place};
use crate::team::Team;
use crate::wire::{CollectiveSignature, Ranks};

/// What one part found: one buffer per stream.
pub(crate) type Partial = Vec<Place>;

/// A buffer for the partial results of a stream over a region of results.
pub(crate) fn scratch(
    device: &Device,
    region: &Region,
    stream: PartialKind,
    leases: &mut Vec<Buffer>,
) -> Result<Place> {
    let buffer = device.alloc(stream.bytes(region.volume()? as u64))?;
    let place =
        Place { device: device.clone(), allocation: Arc::clone(buffer.allocation()), stored: *region };
    leases.push(buffer);
    Ok(place)
}

/// The partial results of a part of this rank on the root's device.
pub(crate) fn arrive(
    work: &mut ScheduleBuilder,
    partial: &Partial,
    root: &Place,
    kinds: &[PartialKind],
) -> Result<Partial> {
    if partial[0].device == root.device {
        return Ok(partial.clone());
    }
    let mut arrived = Partial::new();
    for (from, &stream) in partial.iter().zip(kinds) {
        let to = scratch(&root.device, &from.stored, stream, &mut work.leases)?;
        work.push(Op::Transfer {
            from_device: from.device.clone(),
            from: Arc::clone(&from.allocation),
            from_offset: 0,
            to_device: to.device.clone(),
            to: Arc::clone(&to.allocation),
            to_offset: 0,
            bytes: stream.bytes(from.stored.volume()? as u64),
        });
        arrived.push(to);
    }
    Ok(arrived)
}

/// The results of parts that go to parts of another rank, in the order of the parts.
pub(crate) struct PartialExchange<'a> {
    team: &'a Team,
    kinds: &'a [PartialKind],
    /// Sender and receiver.
    parts: Vec<(usize, usize)>,
}

impl PartialExchange<'_> {
    /// Of those among all `travelling` pairs, each of a part and its root, that lie on two ranks.
    pub fn new<'a>(
        team: &'a Team,
        travelling: &[(usize, usize)],
        kinds: &'a [PartialKind],
    ) -> PartialExchange<'a> {
        let crosses = |&(part, root): &(usize, usize)| team.rank_of(part) != team.rank_of(root);
        let mut parts: Vec<(usize, usize)> = travelling.iter().copied().filter(crosses).collect();
        // In the order in which the receivers combine them.
        parts.sort_by_key(|&(part, root)| (root, part));
        PartialExchange { team, kinds, parts }
    }

    fn ranks(&self) -> Option<&Ranks> {
        self.team.wire().filter(|_| !self.parts.is_empty())
    }

    pub fn depart(
        &self,
        what: impl Hash,
        result: &Distribution,
        partials: &[Option<Partial>],
        work: &mut ScheduleBuilder,
    ) -> Result<()> {
        let Some(ranks) = self.ranks() else { return Ok(()) };
        let signature = Arc::new(CollectiveSignature::new("reduction", &what));
        work.push(Op::BeginCollective { ranks: ranks.clone(), signature });
        for &(part, root) in &self.parts {
            let (from, to) = (self.team.rank_of(part), self.team.rank_of(root));
            let cells = result.owned(root).volume()? as u64;
            if self.team.is_here(root) {
                let bytes = self.kinds.iter().map(|stream| stream.bytes(cells)).sum();
                work.push(Op::PostReceive { ranks: ranks.clone(), from, bytes });
            } else if let Some(partial) = &partials[part] {
                let message = Message::staged(ranks, to, self.spans(partial, cells));
                work.push(Op::Send { message, download: MessageDownload::default() });
            }
        }
        Ok(())
    }

    /// What a part of another rank sends, on the root's device.
    pub fn arrive(
        &self,
        part: usize,
        device: &Device,
        region: &Region,
        work: &mut ScheduleBuilder,
    ) -> Result<Partial> {
        let Some(ranks) = self.ranks() else { unreachable!("a part of this rank has its result here") };
        let arrived = self.kinds.iter().map(|&stream| scratch(device, region, stream, &mut work.leases));
        let arrived = arrived.collect::<Result<Partial>>()?;
        let memory = self.spans(&arrived, region.volume()? as u64);
        let from = self.team.rank_of(part);
        work.push(Op::Receive(Message::staged(ranks, from, memory)));
        Ok(arrived)
    }

    fn spans(&self, partial: &Partial, cells: u64) -> Vec<MemorySpan> {
        let span = |(place, stream): (&Place, &PartialKind)| MemorySpan {
            device: place.device.clone(),
            allocation: Arc::clone(&place.allocation),
            offset: 0,
            bytes: stream.bytes(cells),
        };
        partial.iter().zip(self.kinds).map(span).collect()
    }

    pub fn wait_all(&self, work: &mut ScheduleBuilder) {
        if let Some(ranks) = self.ranks() {
            work.push(Op::WaitAll { ranks: ranks.clone() });
        }
    }
}
