//! Exchange of partial reduction results: one contiguous buffer per part, one message per pair of ranks.

use std::hash::Hash;
use std::sync::Arc;

use partita_kernels::DType;

use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::memory::storage::bytes_of;
use crate::device::{Buffer, Device};
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::program::{MemorySpan, Message, MessageDownload, Op, Place};
use crate::team::Team;
use crate::wire::{CollectiveSignature, Ranks};

/// What one part found: one buffer per partial result of a reduction.
pub(crate) type Partial = Vec<Place>;

/// A buffer for partial results over a region of results.
pub(crate) fn scratch(
    device: &Device,
    region: &Region,
    dtype: DType,
    leases: &mut Vec<Buffer>,
) -> Result<Place> {
    let buffer = device.alloc(bytes_of(region, dtype)?)?;
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
    dtypes: &[DType],
) -> Result<Partial> {
    if partial[0].device == root.device {
        return Ok(partial.clone());
    }
    let mut arrived = Partial::new();
    for (from, &dtype) in partial.iter().zip(dtypes) {
        let to = scratch(&root.device, &from.stored, dtype, &mut work.leases)?;
        work.push(Op::Transfer {
            from_device: from.device.clone(),
            from: Arc::clone(&from.allocation),
            from_offset: 0,
            to_device: to.device.clone(),
            to: Arc::clone(&to.allocation),
            to_offset: 0,
            bytes: bytes_of(&from.stored, dtype)?,
        });
        arrived.push(to);
    }
    Ok(arrived)
}

/// The results of parts that go to parts of another rank, in the order of the parts.
pub(crate) struct PartialExchange<'a> {
    team: &'a Team,
    dtypes: &'a [DType],
    /// Sender and receiver.
    parts: Vec<(usize, usize)>,
}

impl PartialExchange<'_> {
    /// Of those among all `travelling` pairs, each of a part and its root, that lie on two ranks.
    pub fn new<'a>(
        team: &'a Team,
        travelling: &[(usize, usize)],
        dtypes: &'a [DType],
    ) -> PartialExchange<'a> {
        let crosses = |&(part, root): &(usize, usize)| team.rank_of(part) != team.rank_of(root);
        let mut parts: Vec<(usize, usize)> = travelling.iter().copied().filter(crosses).collect();
        // In the order in which the receivers combine them.
        parts.sort_by_key(|&(part, root)| (root, part));
        PartialExchange { team, dtypes, parts }
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
            let region = result.owned(root);
            if self.team.is_here(root) {
                let bytes = self.dtypes.iter().map(|&dtype| bytes_of(&region, dtype)).sum::<Result<u64>>()?;
                work.push(Op::PostReceive { ranks: ranks.clone(), from, bytes });
            } else if let Some(partial) = &partials[part] {
                let message = Message::staged(ranks, to, self.spans(partial, &region)?);
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
        let arrived = self.dtypes.iter().map(|&dtype| scratch(device, region, dtype, &mut work.leases));
        let arrived = arrived.collect::<Result<Partial>>()?;
        let memory = self.spans(&arrived, region)?;
        let from = self.team.rank_of(part);
        work.push(Op::Receive(Message::staged(ranks, from, memory)));
        Ok(arrived)
    }

    fn spans(&self, partial: &Partial, region: &Region) -> Result<Vec<MemorySpan>> {
        let span = |(place, &dtype): (&Place, &DType)| {
            let (device, allocation) = (place.device.clone(), Arc::clone(&place.allocation));
            Ok(MemorySpan { device, allocation, offset: 0, bytes: bytes_of(region, dtype)? })
        };
        partial.iter().zip(self.dtypes).map(span).collect()
    }

    pub fn wait_all(&self, work: &mut ScheduleBuilder) {
        if let Some(ranks) = self.ranks() {
            work.push(Op::WaitAll { ranks: ranks.clone() });
        }
    }
}
