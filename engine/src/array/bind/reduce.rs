//! Binding of reductions: each part folds what it owns, and the part that keeps the result combines what the
//! parts found. What travels is one small contiguous buffer per part and reduction, in one message per pair
//! of ranks.

use std::hash::Hash;
use std::sync::Arc;

use partita_kernels::{DType, View};

use crate::array::bind::operands::bind;
use crate::array::bind::schedule::{BoundLaunch, BoundStep, ScheduleBuilder, Values, missing_part};
use crate::array::lower::steps::list::{Reduce, ReduceMember};
use crate::array::memory::storage::{Storage, bytes_of};
use crate::array::record::expr::Reduction;
use crate::device::{Buffer, Device};
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::program::{
    Command, CopyMode, MemorySpan, Message, MessageDownload, Op, Place, copy_box, fill_box,
};
use crate::team::Team;
use crate::wire::{CollectiveSignature, Ranks, pass};

/// The commands that compute the reductions of a step.
pub(crate) fn reduce(task: &Reduce, mut work: ScheduleBuilder, values: &mut Values) -> Result<BoundStep> {
    pass("reduce")?;
    let team = work.team.clone();
    let dtypes: Vec<DType> = task.members.iter().flat_map(ReduceMember::partials).collect();
    let reduction = ReductionPass { team: &team, task, dtypes };
    let storages = reduction.bind(&mut work, values)?.into_iter().map(Arc::new);
    let made = task.members.iter().map(|member| member.node).zip(storages).collect();
    Ok(BoundStep { work, made })
}

/// Reductions that one kernel per part computes.
struct ReductionPass<'a> {
    team: &'a Team,
    task: &'a Reduce,
    /// The types of the partial results of all members, one after the other.
    dtypes: Vec<DType>,
}

impl ReductionPass<'_> {
    fn bind(&self, work: &mut ScheduleBuilder, values: &mut Values) -> Result<Vec<Storage>> {
        let Reduce { dist, axes, result, members, .. } = self.task;
        // Before the partial results, which are free again at the end: so a step of a `Loop` soon finds the
        // memory that it found before.
        let storage = |member: &ReduceMember| Storage::new(self.team, Arc::clone(result), member.dtype);
        let storages = members.iter().map(storage).collect::<Result<Vec<Storage>>>()?;
        let rooted = self.task.contributions();
        // The parts that each root combines, ascending.
        let mut givers: Vec<Vec<usize>> = vec![Vec::new(); result.parts()];
        rooted.iter().for_each(|&(part, root)| givers[root].push(part));
        let partials = self.fold(values, &givers, &storages, work)?;
        let moving: Vec<(usize, usize)> = rooted.into_iter().filter(|(part, root)| part != root).collect();
        let exchange = PartialExchange::new(self.team, &moving, &self.dtypes);
        let reductions: Vec<Reduction> = members.iter().map(|member| member.reduction).collect();
        let what = (&**dist, reductions, &axes[..], &self.dtypes);
        exchange.depart(what, result, &partials, work)?;
        for root in (0..result.parts()).filter(|&root| !result.owned(root).is_empty()) {
            if self.team.is_here(root) {
                let ends = (&givers[root][..], root);
                self.gather(ends, &result.owned(root), &partials, &exchange, &storages, work)?;
            }
        }
        exchange.wait_all(work);
        let messages = moving.len() as u64;
        self.team.count_messages(messages);
        work.messages += messages;
        pass("reduce-queued")?;
        Ok(storages)
    }

    /// Folds what each part owns: into the results themselves where no other part adds to them.
    fn fold(
        &self,
        values: &mut Values,
        givers: &[Vec<usize>],
        storages: &[Storage],
        work: &mut ScheduleBuilder,
    ) -> Result<Vec<Option<Partial>>> {
        let Reduce { dist, axes, kernel, leaves, accesses, arguments, .. } = self.task;
        let inputs = work.bind_operands(values, (leaves, accesses), dist)?;
        work.note(kernel, arguments, &values.numbers);
        let numbers = Some(arguments.slots()).filter(|slots| !slots.is_empty());
        // A rank without parts launches nothing, but its exchange of operands comes first too.
        work.join_exchange()?;
        let mut partials = Vec::with_capacity(dist.parts());
        for part in 0..dist.parts() {
            if self.task.root_of(part).is_none() || !self.team.is_here(part) {
                partials.push(None);
                continue;
            }
            let region = dist.owned(part);
            let mut memory = bind(leaves, &inputs, part, region.rank())?;
            let kept = flatten(&region, axes)?;
            let device = self.team.device(part);
            let is_alone =
                givers.get(part).is_some_and(|g| *g == [part]) && self.task.result.owned(part) == kept;
            let mut partial = Partial::new();
            for (member, storage) in self.task.members.iter().zip(storages) {
                // The last buffer becomes the result.
                let dtypes = member.partials();
                let to = storage.place(self.team, part).filter(|_| is_alone);
                let scratched = dtypes.len() - usize::from(to.is_some());
                for &dtype in &dtypes[..scratched] {
                    partial.push(scratch(device, &kept, dtype, &mut work.leases)?);
                }
                partial.extend(to);
            }
            memory.extend(partial.iter().map(|place| {
                let mut view: View = place.view(kept.start());
                axes.iter().for_each(|&axis| view.strides[axis] = 0);
                (view, place.clone())
            }));
            let (arguments, numbers) = (arguments.on(part, &values.numbers), numbers.clone());
            work.launch(&BoundLaunch { kernel, part, region, memory, arguments, numbers })?;
            partials.push(Some(partial));
        }
        Ok(partials)
    }

    /// Combines what parts have for one of them, and stores it there.
    fn gather(
        &self,
        (givers, root): (&[usize], usize),
        region: &Region,
        partials: &[Option<Partial>],
        exchange: &PartialExchange,
        storages: &[Storage],
        work: &mut ScheduleBuilder,
    ) -> Result<()> {
        let missing = || missing_part("reduce");
        let places = storages.iter().map(|storage| storage.place(self.team, root).ok_or_else(missing));
        let places = places.collect::<Result<Vec<Place>>>()?;
        let mut kept: Option<Partial> = None;
        for &part in givers {
            let partial = match &partials[part] {
                Some(partial) => arrive(work, partial, &places[0], &self.dtypes)?,
                None => exchange.arrive(part, &places[0].device, region, work)?,
            };
            match &kept {
                None => kept = Some(partial),
                Some(kept) => self.combine(root, region, kept, &partial, work)?,
            }
        }
        let mut kept = kept.map(|kept| kept.into_iter());
        for (member, to) in self.task.members.iter().zip(&places) {
            let dtype = member.dtype;
            // The result is the last buffer: the fold's value, or the arg reduction's index.
            let last = kept.as_mut().and_then(|kept| kept.by_ref().take(member.partials().len()).last());
            if last.as_ref().is_some_and(|last| Arc::ptr_eq(&last.allocation, &to.allocation)) {
                continue;
            }
            work.push(match last {
                Some(from) => copy_box(&from, region, to, region, CopyMode { dtype, add: false })?,
                // The neutral element is no number of the recorded program, which a repetition would replace.
                None => {
                    let fill = fill_box(to, region, member.reduction.neutral(dtype))?;
                    Command { numbers: None, ..fill }
                }
            });
        }
        Ok(())
    }

    /// Combines later partial results into those that are kept.
    fn combine(
        &self,
        root: usize,
        region: &Region,
        kept: &Partial,
        later: &Partial,
        work: &mut ScheduleBuilder,
    ) -> Result<()> {
        let line = || View { offset: 0, strides: vec![1] };
        let memory = kept.iter().chain(later).map(|place| (line(), place.clone())).collect();
        let region = Region::new(&[0], &[region.volume()?])?;
        let (kernel, arguments, numbers) = (&self.task.combine, Vec::new(), None);
        work.launch(&BoundLaunch { kernel, part: root, region, memory, arguments, numbers })
    }
}

/// The region with the reduced dimensions at `0..1`.
fn flatten(region: &Region, axes: &[usize]) -> Result<Region> {
    let (mut start, mut stop) = (*region.start(), *region.stop());
    for &axis in axes {
        (start[axis], stop[axis]) = (0, 1);
    }
    Ok(Region::new(&start, &stop)?)
}

/// What one part found: one buffer per partial result of a reduction.
type Partial = Vec<Place>;

/// A buffer for partial results over a region of results.
fn scratch(device: &Device, region: &Region, dtype: DType, leases: &mut Vec<Buffer>) -> Result<Place> {
    let buffer = device.alloc(bytes_of(region, dtype)?)?;
    let place =
        Place { device: device.clone(), allocation: Arc::clone(buffer.allocation()), stored: *region };
    leases.push(buffer);
    Ok(place)
}

/// The partial results of a part of this rank on the root's device.
fn arrive(work: &mut ScheduleBuilder, partial: &Partial, root: &Place, dtypes: &[DType]) -> Result<Partial> {
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
struct PartialExchange<'a> {
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
