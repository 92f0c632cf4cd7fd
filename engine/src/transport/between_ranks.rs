//! Lowering of exchanges between ranks: the cells that leave this rank for another are packed on their
//! device and sent as one message of all fields; received cells are unpacked. All ranks lower the same
//! plans, each with the moves of its own members, and get the commands of these.

use std::collections::BTreeMap;
use std::sync::Arc;

use partita_kernels::DType;

use super::batches::{MoveEnd, contiguous, extents};
use super::exchange::{self, Exchange, Field, PartLink};
use crate::device::{Buffer, DeviceKind, GroupedSpan};
use crate::error::Result;
use crate::index::{Index, Region};
use crate::plan::{AxisSubset, Move, MoveOp, Pairs, Plan};
use crate::program::{
    Command, LinkTable, MemorySpan, Message, MessageDownload, Op, Place, Schedule, Transport,
};
use crate::team::Team;
use crate::wire::{CollectiveSignature, Ranks};

/// Lowers plans between two teams over the same ranks, as [`lower`](exchange::lower) does within one rank.
/// `operation` names the exchange in errors. Collective, unless all moves stay within ranks.
///
/// # Errors
/// As [`lower`](exchange::lower).
pub fn lower_between_ranks(operation: &str, teams: (&Team, &Team), fields: &[Field]) -> Result<Exchange> {
    let Some(ranks) = teams.0.wire() else { return exchange::lower(fields) };
    let crosses = |m: &Move| teams.0.rank_of(m.from_part) != teams.1.rank_of(m.to_part);
    let (from, to) = (|part| teams.0.rank_of(part), |part| teams.1.rank_of(part));
    if !fields.iter().any(|field| field.plan.crosses(from, to)) {
        let here = fields.iter().map(|field| part_of(field.plan, |m| teams.0.is_here(m.from_part)));
        return exchange::lower(&with_plans(fields, &here.collect::<Result<Vec<Plan>>>()?));
    }
    // Sums have one order whichever rank holds the parts, so if any move crosses ranks, all additions wait
    // for the messages.
    let waits = |m: &Move| crosses(m) || m.op == MoveOp::Add;
    let here = fields.iter().map(|field| part_of(field.plan, |m| teams.0.is_here(m.from_part) && !waits(m)));
    let here = here.collect::<Result<Vec<Plan>>>()?;
    let local = exchange::lower(&with_plans(fields, &here))?;
    // Other exchanges may begin between departure and arrival.
    let ranks = &ranks.in_new_epoch();
    let mut builder = MessageBuilder::new(teams, ranks)?;
    let (mut packing, mut unpacking) = (Vec::new(), Vec::new());
    for field in fields {
        let moves: Vec<&Move> = field.plan.moves().iter().filter(|m| waits(m)).collect();
        let slots = moves.iter().map(|m| builder.add(m, field)).collect::<Result<Vec<MessageSlot>>>()?;
        packing.push(StagingPlan::new(field, &moves, &slots, true)?);
        unpacking.push(StagingPlan::new(field, &moves, &slots, false)?);
    }
    let incoming = builder.messages(ranks, &builder.incoming);
    let outgoing = builder.messages(ranks, &builder.outgoing);
    let MessageBuilder { table, links, mut leases, .. } = builder;
    let mut pack = exchange::lower(&fields_of(&packing, fields))?;
    let mut unpack = exchange::lower(&fields_of(&unpacking, fields))?;
    [&mut pack, &mut unpack].into_iter().for_each(|half| leases.append(&mut half.leases));
    leases.extend(local.leases);
    let plans: Vec<(&Plan, DType)> = fields.iter().map(|field| (field.plan, field.dtype)).collect();
    let dtypes: Vec<String> = fields.iter().map(|field| field.dtype.to_string()).collect();
    let name = format!("{operation} of {}", dtypes.join(", "));
    let signature = Arc::new(CollectiveSignature::new(name, &plans));
    let (in_place, copied): (Vec<&Message>, Vec<&Message>) =
        incoming.iter().partition(|message| message.transport.is_in_place());
    let mut departure: Schedule = vec![Op::BeginCollective { ranks: ranks.clone(), signature }.into()];
    departure.extend(copied.iter().map(|message| {
        let (ranks, from, bytes) = (ranks.clone(), message.peer, message.wire_bytes());
        Command::from(Op::PostReceive { ranks, from, bytes })
    }));
    departure.extend(pack.commands().cloned());
    let exports = outgoing.iter().any(|message| message.transport == Transport::Ipc);
    let grouped = grouped(outgoing.iter().map(|one| (one, true)).chain(incoming_of(&copied)));
    let link = table.and_then(|table| table.nccl().ok()).filter(|_| !grouped.is_empty());
    let peers: Arc<[usize]> = grouped.iter().map(|span| span.peer).collect();
    let mut posted = Schedule::new();
    let of_devices = |messages: &[Message]| -> Vec<MemorySpan> {
        let in_place = messages.iter().filter(|message| message.transport == Transport::DevicePointers);
        in_place.flat_map(|message| message.memory.iter().cloned()).collect()
    };
    let (sent, received) = (of_devices(&outgoing), of_devices(&incoming));
    if !(sent.is_empty() && received.is_empty()) {
        posted.push(Op::WaitForDevices { sent, received }.into());
    }
    for message in outgoing {
        let download = MessageDownload::default();
        if message.transport == Transport::Staged && MessageDownload::is_useful(&message.memory) {
            let (memory, download) = (message.memory.clone(), download.clone());
            departure.push(Op::StartDownload { memory, download }.into());
        }
        posted.push(Op::Send { message, download }.into());
    }
    if let Some(link) = link {
        let (ranks, link) = (ranks.clone(), Arc::clone(link));
        posted.push(Op::SendReceive { ranks, link, spans: grouped }.into());
    }
    // Receives in place may complete at once, so they are posted after the earlier commands that read the
    // memory and after the sends: an MPI library may copy a message that has come while its receive is
    // posted, and the neighbour would wait meanwhile. All together, because messages of one rank to another
    // keep their order.
    posted.extend(in_place.into_iter().map(|message| Command::from(Op::PostReceiveInPlace(message.clone()))));
    let is_device =
        |command: &Command| command.op.devices().iter().any(|device| device.kind() != DeviceKind::Host);
    let mut dispatch = Schedule::new();
    if posted.iter().any(is_device) {
        dispatch.extend(posted);
    } else {
        departure.extend(posted);
    }
    departure.extend(local.departure);
    dispatch.extend(local.dispatch);
    let mut arrival: Schedule =
        incoming.into_iter().map(|message| Command::from(Op::Receive(message))).collect();
    arrival.extend(unpack.commands().cloned());
    arrival.extend(local.arrival);
    if let Some(link) = link {
        arrival.push(Op::WaitForPeers { ranks: ranks.clone(), link: Arc::clone(link), peers }.into());
    }
    if let Some(table) = table.filter(|_| exports) {
        let ipc = Arc::clone(&table.ipc);
        arrival.push(Op::WaitForReaders { ranks: ranks.clone(), ipc }.into());
    }
    arrival.push(Op::WaitAll { ranks: ranks.clone() }.into());
    let mut links: Vec<PartLink> = local.links.into_iter().chain(links.into_values()).collect();
    links.sort_by_key(|link| (link.to_part, link.from_part, link.transport));
    Ok(Exchange { departure, dispatch, arrival, join: Schedule::new(), links, leases })
}

fn incoming_of<'a>(copied: &'a [&'a Message]) -> impl Iterator<Item = (&'a Message, bool)> {
    copied.iter().map(|&one| (one, false))
}

/// The messages that NCCL carries, in the order in which both ranks have them.
fn grouped<'a>(messages: impl Iterator<Item = (&'a Message, bool)>) -> Vec<GroupedSpan> {
    let spans = messages.filter(|(message, _)| message.transport == Transport::Nccl).flat_map(
        |(Message { peer, memory, .. }, sends)| {
            memory.iter().map(move |MemorySpan { allocation, offset, bytes, .. }| GroupedSpan {
                peer: *peer,
                sends,
                allocation: Arc::clone(allocation),
                offset: *offset,
                bytes: *bytes,
            })
        },
    );
    spans.collect()
}

/// The link between two ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankLink {
    /// Whether the wire reads and writes host memory in place.
    pub host: bool,
    /// Whether it takes device pointers.
    pub device_pointers: bool,
    /// Whether the receiver maps the sender's CUDA memory.
    pub ipc: bool,
    /// Whether NCCL connects their CUDA devices.
    pub nccl: bool,
}

/// The transport between devices of two ranks; both ranks select the same.
pub fn select_between_ranks(from: DeviceKind, to: DeviceKind, link: RankLink) -> Transport {
    match (from, to) {
        (DeviceKind::Host, DeviceKind::Host) if link.host => Transport::ZeroCopy,
        (DeviceKind::Cuda, DeviceKind::Cuda) if link.ipc => Transport::Ipc,
        (DeviceKind::Cuda, DeviceKind::Cuda) if link.nccl => Transport::Nccl,
        (DeviceKind::Cuda, DeviceKind::Cuda) if link.device_pointers => Transport::DevicePointers,
        (DeviceKind::Host | DeviceKind::Cuda | DeviceKind::Wgpu, _) => Transport::Staged,
    }
}

/// The chosen moves of a plan.
fn part_of(plan: &Plan, choose: impl Fn(&Move) -> bool) -> Result<Plan> {
    let chosen = plan.moves().iter().filter(|m| choose(m)).cloned().collect();
    Ok(Plan::new(plan.from_parts(), plan.to_parts(), chosen)?)
}

fn with_plans<'a>(fields: &[Field<'a>], plans: &'a [Plan]) -> Vec<Field<'a>> {
    fields.iter().zip(plans).map(|(field, plan)| Field { plan, ..*field }).collect()
}

fn fields_of<'a>(halves: &'a [StagingPlan], fields: &[Field]) -> Vec<Field<'a>> {
    let field = |(half, field): (&'a StagingPlan, &Field)| {
        let StagingPlan { plan, from, to } = half;
        Field { plan, from, to, dtype: field.dtype }
    };
    halves.iter().zip(fields).map(field).collect()
}

/// Message memory for the cells of one move; none if this rank has neither end, or if the cells are sent and
/// received without packing.
struct MessageSlot {
    /// On the source's device for an outgoing move, on the target's otherwise.
    place: Option<Place>,
    packs: bool,
    unpacks: bool,
}

/// By the other rank and the transport. This is also the order of the messages between two ranks, on both:
/// receives in place are posted last.
type MessageSpans = BTreeMap<(usize, Transport), Vec<MemorySpan>>;

/// Builds the messages of one exchange; the cells in them are in the order of fields and moves.
struct MessageBuilder<'a> {
    teams: (&'a Team, &'a Team),
    takes_host_memory: bool,
    /// Probed only if a move may go from CUDA memory to CUDA memory.
    table: Option<&'a LinkTable>,
    leases: Vec<Buffer>,
    outgoing: MessageSpans,
    incoming: MessageSpans,
    links: BTreeMap<(usize, usize), PartLink>,
}

impl<'a> MessageBuilder<'a> {
    /// Probing links is collective: it follows from the teams, because each rank knows its own moves.
    fn new(teams: (&'a Team, &'a Team), ranks: &Ranks) -> Result<MessageBuilder<'a>> {
        let has_cuda = |team: &Team| (0..team.size()).any(|part| team.kind(part) == DeviceKind::Cuda);
        let table = if has_cuda(teams.0) && has_cuda(teams.1) { teams.0.links()? } else { None };
        let (outgoing, incoming, links) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let takes_host_memory = ranks.takes_host_memory();
        Ok(MessageBuilder { teams, takes_host_memory, table, leases: Vec::new(), outgoing, incoming, links })
    }

    fn ranks_of(&self, m: &Move) -> (usize, usize) {
        (self.teams.0.rank_of(m.from_part), self.teams.1.rank_of(m.to_part))
    }

    /// The transport of a move; both its ranks select the same.
    fn select(&self, m: &Move) -> Transport {
        let (from, to) = self.ranks_of(m);
        if from == to {
            return Transport::SameMemory;
        }
        let link = RankLink {
            host: self.takes_host_memory,
            device_pointers: self.table.is_some_and(LinkTable::takes_device_pointers),
            ipc: self.table.is_some_and(|table| table.has_ipc(from, to)),
            nccl: self.table.is_some_and(|table| table.nccl().is_ok()),
        };
        select_between_ranks(self.teams.0.kind(m.from_part), self.teams.1.kind(m.to_part), link)
    }

    fn messages(&self, ranks: &Ranks, spans: &MessageSpans) -> Vec<Message> {
        let message = |(&(peer, transport), memory): (&(usize, Transport), &Vec<MemorySpan>)| {
            let ipc = self.table.filter(|_| transport == Transport::Ipc).map(|table| Arc::clone(&table.ipc));
            Message { ranks: ranks.clone(), peer, memory: memory.clone(), transport, ipc }
        };
        spans.iter().map(message).collect()
    }

    fn add(&mut self, m: &Move, field: &Field) -> Result<MessageSlot> {
        let slot = self.slot(m, field)?;
        let &Move { from_part, to_part, .. } = m;
        if self.teams.0.is_here(from_part) || self.teams.1.is_here(to_part) {
            let transport = self.select(m);
            let new = || PartLink { from_part, to_part, transport, moves: 0, bytes: 0, packed: false };
            let link = self.links.entry((to_part, from_part)).or_insert_with(new);
            link.moves += 1;
            link.bytes += m.elements() * field.dtype.size_bytes() as u64;
            link.packed |= slot.packs || slot.unpacks;
        }
        Ok(slot)
    }

    fn slot(&mut self, m: &Move, field: &Field) -> Result<MessageSlot> {
        let ((from_rank, to_rank), transport) = (self.ranks_of(m), self.select(m));
        match (&field.from[m.from_part], &field.to[m.to_part]) {
            (Some(_), Some(target)) if from_rank == to_rank => {
                let (place, _) = self.memory(target, None, m, field.dtype)?;
                Ok(MessageSlot { place, packs: true, unpacks: true })
            }
            (Some(source), _) if self.teams.0.is_here(m.from_part) => {
                // Exported memory is never freed, so an array's memory is not exported.
                let first = contiguous(&extents(m), &MoveEnd::source(m, source)?);
                let first = first.filter(|_| transport != Transport::Ipc);
                let (place, span) = self.memory(source, first, m, field.dtype)?;
                self.outgoing.entry((to_rank, transport)).or_default().push(span);
                Ok(MessageSlot { packs: place.is_some(), place, unpacks: false })
            }
            (_, Some(target)) if self.teams.1.is_here(m.to_part) => {
                let first = contiguous(&extents(m), &MoveEnd::target(m, target)?);
                let first = first.filter(|_| m.op == MoveOp::Copy);
                let (place, span) = self.memory(target, first, m, field.dtype)?;
                self.incoming.entry((from_rank, transport)).or_default().push(span);
                Ok(MessageSlot { unpacks: place.is_some(), place, packs: false })
            }
            _ => Ok(MessageSlot { place: None, packs: false, unpacks: false }),
        }
    }

    /// The cells of a move at one of its ends, from element `first` on; otherwise in contiguous memory of
    /// their own on the same device.
    fn memory(
        &mut self,
        end: &Place,
        first: Option<i64>,
        m: &Move,
        dtype: DType,
    ) -> Result<(Option<Place>, MemorySpan)> {
        if let Some(first) = first {
            return Ok((None, span(end, first, m, dtype)));
        }
        let buffer = end.device.alloc(m.elements() * dtype.size_bytes() as u64)?;
        let (device, allocation) = (end.device.clone(), Arc::clone(buffer.allocation()));
        self.leases.push(buffer);
        let place = Place { device, allocation, stored: counted_cells(m)? };
        let span = span(&place, 0, m, dtype);
        Ok((Some(place), span))
    }
}

fn span(place: &Place, first: i64, m: &Move, dtype: DType) -> MemorySpan {
    let size = dtype.size_bytes() as u64;
    MemorySpan {
        device: place.device.clone(),
        allocation: Arc::clone(&place.allocation),
        offset: first as u64 * size,
        bytes: m.elements() * size,
    }
}

/// The cells of a move by their numbers along each dimension.
fn counted_cells(m: &Move) -> Result<Region> {
    let counts = m.counts();
    Ok(Region::new(&Index::zeros(counts.rank()), &counts)?)
}

/// Copies between the parts of a field and the slots of its moves, as a plan of its own.
struct StagingPlan {
    plan: Plan,
    from: Vec<Option<Place>>,
    to: Vec<Option<Place>>,
}

impl StagingPlan {
    /// From the parts into the slots if it `packs`, from the slots to the parts otherwise.
    fn new(field: &Field, moves: &[&Move], slots: &[MessageSlot], packs: bool) -> Result<StagingPlan> {
        let mut staged = Vec::new();
        for (k, (m, slot)) in moves.iter().zip(slots).enumerate() {
            if !(if packs { slot.packs } else { slot.unpacks }) {
                continue;
            }
            let subsets =
                m.subsets.as_ref().map(|all| all.iter().map(|one| packed_subset(one, packs)).collect());
            let (copy, cells) = (Move { subsets, ..(*m).clone() }, counted_cells(m)?);
            staged.push(match packs {
                true => Move { to_part: k, to: cells, op: MoveOp::Copy, ..copy },
                false => Move { from_part: k, from: cells, ..copy },
            });
        }
        let places = slots.iter().map(|slot| slot.place.clone()).collect();
        let (parts, from, to) = match packs {
            true => ((field.plan.from_parts(), moves.len()), field.from.to_vec(), places),
            false => ((moves.len(), field.plan.to_parts()), places, field.to.to_vec()),
        };
        Ok(StagingPlan { plan: Plan::new(parts.0, parts.1, staged)?, from, to })
    }
}

/// The same subset with a contiguous target, or else a contiguous source.
fn packed_subset(subset: &AxisSubset, target: bool) -> AxisSubset {
    match subset {
        AxisSubset::Runs { run, count, from_step, to_step } => {
            let (from_step, to_step) = if target { (*from_step, *run) } else { (*run, *to_step) };
            AxisSubset::Runs { run: *run, count: *count, from_step, to_step }
        }
        AxisSubset::List(pairs) => {
            let packed: Vec<i64> = (0..subset.len()).collect();
            AxisSubset::List(Arc::new(match target {
                true => Pairs { from: pairs.from.clone(), to: packed },
                false => Pairs { from: packed, to: pairs.to.clone() },
            }))
        }
    }
}
