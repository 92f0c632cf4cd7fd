//! Exchanges, and their lowering within one rank. Cells that stay on their device are copied there. All
//! other cells of one pair of parts, of all fields, are one message: packed, transferred, unpacked; a
//! contiguous source or target needs no packing.
//!
//! Overlap of an exchange with computation: on devices with streams its commands go to
//! [`Stream::Exchange`], and the waits between streams are commands of their own.
//!
//! - *Fork*, first: the exchange comes after everything that was queued before it.
//! - Before copies between devices the receiver waits for the sender's packing. Once per pair of devices
//!   and before the first copy, so that the copies of all pairs run concurrently.
//! - *Join*, last: the computation comes after the exchange on every device, and after the copies that
//!   other devices make of its memory, because its next kernel may write there.
//!
//! No wait is per allocation. The memory of an exchange is leased before the fork and freed after the join,
//! and the pool orders memory by [`Stream::Compute`].

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use partita_kernels::{DType, View};

use crate::config::{config, say};
use crate::device::{Allocation, Buffer, Device, DeviceKind, Stream};
use crate::error::{Error, Result};
use crate::plan::{Move, MoveOp, Plan};
use crate::program::copies::{BoxCopy, ListedCells, ListedDirection, copy_listed};
use crate::program::{Command, Op, Place, Schedule, Transport};
use crate::transport::batches::{
    BoxSum, CellLoops, CellSet, DeviceCopy, MoveEnd, OrderedCopy, batched, contiguous, extents, in_order,
};
/// One array's part in an exchange.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// The moves.
    pub plan: &'a Plan,
    /// The places of the source's parts; `None` for parts that the plan does not name.
    pub from: &'a [Option<Place>],
    /// The places of the destination's parts.
    pub to: &'a [Option<Place>],
    /// The element type of both.
    pub dtype: DType,
}

/// An exchange of one or more fields, ready to be queued: departure, dispatch, arrival, join. Independent
/// work may be queued between departure and arrival: it must not read what arrives nor write what leaves.
#[derive(Default)]
pub struct Exchange {
    /// Copies within devices, packing, and copies between devices that the driver makes.
    pub departure: Schedule,
    /// Staged transfers and messages, for which the host waits. They wait for the departure alone on
    /// devices with streams ([`Exchange::overlapped`]), and where their download was started
    /// ([`Op::StartDownload`]); there the core is queued before the dispatch. The host's own core is queued
    /// after it.
    pub dispatch: Schedule,
    /// Unpacking and additions.
    pub arrival: Schedule,
    /// Waits of the computation for the exchange streams, after the arrival and the rims behind it. Empty
    /// unless the exchange is [`Exchange::overlapped`].
    pub join: Schedule,
    /// The links from and to this rank's parts, ordered by receiving and then sending part.
    pub links: Vec<PartLink>,
    /// Temporary memory of the commands; to be kept until they have been queued.
    pub leases: Vec<Buffer>,
}

/// All moves from one part to one part in an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartLink {
    /// The sending part.
    pub from_part: usize,
    /// The receiving part.
    pub to_part: usize,
    /// The transport of the cells.
    pub transport: Transport,
    /// The number of moves, of all fields.
    pub moves: usize,
    /// The bytes of the cells.
    pub bytes: u64,
    /// Whether this rank packs or unpacks the cells.
    pub packed: bool,
}

impl Exchange {
    /// All commands, in the order in which they are queued back to back.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        let Exchange { departure, dispatch, arrival, join, .. } = self;
        departure.iter().chain(dispatch).chain(arrival).chain(join)
    }

    /// Index lists: of the leases those that no command writes. A replay does not repeat their upload.
    pub(crate) fn uploads(&self) -> Vec<&Buffer> {
        let written: HashSet<u64> =
            self.commands().flat_map(|command| command.op.writes()).map(|memory| memory.id).collect();
        self.leases.iter().filter(|lease| !written.contains(&lease.allocation().id)).collect()
    }

    /// The numbers of launches and of transfers before anything arrives.
    pub fn departing(&self) -> (usize, usize) {
        let all = self.departure.iter().chain(&self.dispatch);
        let transfers = all.filter(|c| matches!(c.op, Op::Transfer { .. })).count();
        (self.departure.len() + self.dispatch.len() - transfers, transfers)
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (launches, transfers) = self.departing();
        let arrival = self.arrival.len();
        write!(f, "{launches} launches and {transfers} transfers depart, {arrival} launches arrive")?;
        for PartLink { from_part, to_part, transport, moves, bytes, packed } in &self.links {
            let how = match (transport, packed) {
                (Transport::SameDevice, _) => "",
                (_, true) => ", packed",
                (_, false) => ", unpacked",
            };
            write!(f, "\n  {from_part} -> {to_part}: {moves} moves, {bytes} bytes, {transport}{how}")?;
        }
        Ok(())
    }
}

/// The transport between two places of one rank.
pub fn select_within_rank(from: &Place, to: &Place) -> Transport {
    if from.device == to.device {
        return if from.allocation.id == to.allocation.id {
            Transport::SameMemory
        } else {
            Transport::SameDevice
        };
    }
    match (from.device.kind(), to.device.kind()) {
        (DeviceKind::Cuda, DeviceKind::Cuda) => Transport::Peer,
        _ => Transport::Staged,
    }
}

/// Lowers plans, one per field, between the same parts of one rank.
///
/// # Errors
/// Memory for messages, or a kernel that a device cannot compile.
pub fn lower(fields: &[Field]) -> Result<Exchange> {
    let mut links: BTreeMap<(usize, usize), Vec<FieldMove>> = BTreeMap::new();
    for field in fields {
        for step in field.plan.moves() {
            let (Some(from), Some(to)) = (&field.from[step.from_part], &field.to[step.to_part]) else {
                unreachable!("a plan names only parts that hold something");
            };
            let one = FieldMove { step, from, to, dtype: field.dtype };
            links.entry((step.to_part, step.from_part)).or_default().push(one);
        }
    }
    let mut work = ExchangeBuilder::default();
    for ((to_part, from_part), moves) in links {
        work.link(from_part, to_part, moves)?;
    }
    let exchange = work.finish()?;
    if config().debug >= 4 {
        say(format_args!("exchange: {exchange}"));
    }
    Ok(exchange)
}

/// One move of one field.
#[derive(Clone, Copy)]
struct FieldMove<'a> {
    step: &'a Move,
    from: &'a Place,
    to: &'a Place,
    dtype: DType,
}

impl FieldMove<'_> {
    fn bytes(&self) -> u64 {
        self.step.elements() * self.dtype.size_bytes() as u64
    }

    /// The source memory and its first byte, if the cells are contiguous there.
    fn source_in_place(&self) -> Option<(Arc<Allocation>, u64)> {
        self.in_place(self.from, &MoveEnd::source(self.step, self.from).ok()?)
    }

    /// The target memory and its first byte, if the message needs no unpacking.
    fn target_in_place(&self) -> Option<(Arc<Allocation>, u64)> {
        let end = MoveEnd::target(self.step, self.to).ok().filter(|_| self.step.op == MoveOp::Copy);
        self.in_place(self.to, &end?)
    }

    fn in_place(&self, place: &Place, end: &MoveEnd) -> Option<(Arc<Allocation>, u64)> {
        let first = contiguous(&extents(self.step), end)?;
        Some((Arc::clone(&place.allocation), first as u64 * self.dtype.size_bytes() as u64))
    }
}

/// The phase of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Departure,
    Arrival,
}

/// The copies of a phase: unordered ones come first, ordered ones after them.
#[derive(Default)]
struct PhaseCopies {
    unordered: Vec<DeviceCopy>,
    ordered: Vec<OrderedCopy>,
}

impl PhaseCopies {
    fn lower(self) -> Result<Schedule> {
        let mut schedule = batched(self.unordered, MoveOp::Copy)?;
        schedule.extend(in_order(self.ordered)?);
        Ok(schedule)
    }
}

/// A copy within one device: where, what, between which memories.
#[derive(Clone, Copy)]
struct LocalCopy<'a> {
    device: &'a Device,
    dtype: DType,
    op: MoveOp,
    from: &'a Arc<Allocation>,
    to: &'a Arc<Allocation>,
    /// For sums, the cells that it reads and writes; none: any that the memories have.
    reads: Option<&'a CellSet>,
    writes: Option<&'a CellSet>,
}

/// An exchange under construction.
#[derive(Default)]
struct ExchangeBuilder {
    leases: Vec<Buffer>,
    /// Of the departure and the arrival.
    copies: [PhaseCopies; 2],
    transfers: Schedule,
    dispatch: Schedule,
    links: Vec<PartLink>,
}

impl ExchangeBuilder {
    fn finish(self) -> Result<Exchange> {
        let ExchangeBuilder { leases, copies: [departing, arriving], transfers, dispatch, links } = self;
        let (mut departure, arrival) = (departing.lower()?, arriving.lower()?);
        departure.extend(transfers);
        Ok(Exchange { departure, dispatch, arrival, join: Schedule::new(), links, leases })
    }

    fn link(&mut self, from_part: usize, to_part: usize, moves: Vec<FieldMove>) -> Result<()> {
        let mut by_transport: BTreeMap<Transport, Vec<FieldMove>> = BTreeMap::new();
        for one in moves {
            by_transport.entry(select_within_rank(one.from, one.to)).or_default().push(one);
        }
        for (transport, mut moves) in by_transport {
            // The largest elements first: so each begins where one of its size may.
            moves.sort_by_key(|one| std::cmp::Reverse(one.dtype.size_bytes()));
            let packed = match transport {
                Transport::SameDevice => {
                    moves.iter().try_for_each(|one| self.within_device(one))?;
                    false
                }
                Transport::SameMemory | Transport::Peer | Transport::Staged => {
                    self.message(transport, &moves)?
                }
                Transport::Ipc | Transport::Nccl | Transport::ZeroCopy | Transport::DevicePointers => {
                    unreachable!("transports between ranks")
                }
            };
            let (moves, bytes) = (moves.len(), moves.iter().map(FieldMove::bytes).sum());
            self.links.push(PartLink { from_part, to_part, transport, moves, bytes, packed });
        }
        Ok(())
    }

    /// A move within one device.
    fn within_device(&mut self, one: &FieldMove) -> Result<()> {
        let FieldMove { step, from, to, dtype } = *one;
        let is_sum = step.op == MoveOp::Add;
        let covers = is_sum.then(|| (CellSet::source(step, from), CellSet::target(step, to)));
        let copy = LocalCopy {
            device: &from.device,
            dtype,
            op: step.op,
            from: &from.allocation,
            to: &to.allocation,
            reads: covers.as_ref().map(|covers| &covers.0),
            writes: covers.as_ref().map(|covers| &covers.1),
        };
        let phase = match step.op {
            MoveOp::Copy => Phase::Departure,
            MoveOp::Add => Phase::Arrival,
        };
        self.copy_cells(phase, copy, &extents(step), MoveEnd::source(step, from)?, MoveEnd::target(step, to)?)
    }

    /// All moves of one pair of parts as one message; true if it was packed.
    fn message(&mut self, transport: Transport, moves: &[FieldMove]) -> Result<bool> {
        let bytes: u64 = moves.iter().map(FieldMove::bytes).sum();
        let alone = <&[FieldMove; 1]>::try_from(moves).ok().map(|[one]| one);
        let (from, to) = (&moves[0].from.device, &moves[0].to.device);
        let source =
            alone.filter(|_| transport != Transport::SameMemory).and_then(FieldMove::source_in_place);
        let packed = source.is_none();
        let (leaving, from_offset) = match source {
            Some(source) => source,
            None => (self.pack(moves, from, bytes)?, 0),
        };
        if transport == Transport::SameMemory {
            self.unpack(moves, to, &leaving)?;
            return Ok(packed);
        }
        let target = alone.and_then(FieldMove::target_in_place);
        let (arrived, to_offset) = match &target {
            Some((memory, offset)) => (Arc::clone(memory), *offset),
            None => (self.alloc_temporary(to, bytes)?, 0),
        };
        let transfer = Op::Transfer {
            from_device: from.clone(),
            from: leaving,
            from_offset,
            to_device: to.clone(),
            to: Arc::clone(&arrived),
            to_offset,
            bytes,
        };
        match transport {
            Transport::Staged => self.dispatch.push(transfer.into()),
            _ => self.transfers.push(transfer.into()),
        }
        if target.is_none() {
            self.unpack(moves, to, &arrived)?;
        }
        Ok(packed)
    }

    /// A message with the cells of every move, one move after the other.
    fn pack(&mut self, moves: &[FieldMove], device: &Device, bytes: u64) -> Result<Arc<Allocation>> {
        let message = self.alloc_temporary(device, bytes)?;
        for (one, first) in moves.iter().zip(firsts(moves)) {
            let (extents, from) = (extents(one.step), &one.from.allocation);
            let (dtype, op) = (one.dtype, MoveOp::Copy);
            let copy = LocalCopy { device, dtype, op, from, to: &message, reads: None, writes: None };
            let ends = (MoveEnd::source(one.step, one.from)?, MoveEnd::packed(&extents, first));
            self.copy_cells(Phase::Departure, copy, &extents, ends.0, ends.1)?;
        }
        Ok(message)
    }

    fn unpack(&mut self, moves: &[FieldMove], device: &Device, message: &Arc<Allocation>) -> Result<()> {
        for (one, first) in moves.iter().zip(firsts(moves)) {
            let (extents, op) = (extents(one.step), one.step.op);
            let (dtype, to) = (one.dtype, &one.to.allocation);
            let writes = (op == MoveOp::Add).then(|| CellSet::target(one.step, one.to));
            let copy =
                LocalCopy { device, dtype, op, from: message, to, reads: None, writes: writes.as_ref() };
            let ends = (MoveEnd::packed(&extents, first), MoveEnd::target(one.step, one.to)?);
            self.copy_cells(Phase::Arrival, copy, &extents, ends.0, ends.1)?;
        }
        Ok(())
    }

    fn alloc_temporary(&mut self, device: &Device, bytes: u64) -> Result<Arc<Allocation>> {
        let buffer = device.alloc(bytes)?;
        let allocation = Arc::clone(buffer.allocation());
        self.leases.push(buffer);
        Ok(allocation)
    }

    /// Copies, or adds, within a device.
    fn copy_cells(
        &mut self,
        phase: Phase,
        copy: LocalCopy,
        extents: &[i64],
        from: MoveEnd,
        to: MoveEnd,
    ) -> Result<()> {
        CellLoops::between(extents, from, to).into_iter().try_for_each(|cells| match copy.op {
            MoveOp::Copy => self.copy(phase, copy, &cells),
            MoveOp::Add => self.add(copy, &cells),
        })
    }

    /// Listed cells are gathered into a box or scattered from one.
    fn copy(&mut self, phase: Phase, copy: LocalCopy, cells: &CellLoops) -> Result<()> {
        let (memory, view) = match (cells.from.view(), cells.to.view()) {
            (Some(from), Some(to)) => {
                let copy = DeviceCopy::of(&copy, cells, from, to);
                self.copies[phase as usize].unordered.push(copy);
                return Ok(());
            }
            (Some(view), None) => (Arc::clone(copy.from), view),
            (None, Some(view)) => (Arc::clone(copy.to), view),
            (None, None) => self.temporary_box(&copy, cells)?,
        };
        let ends = [
            (&cells.from, copy.from, ListedDirection::Gather),
            (&cells.to, copy.to, ListedDirection::Scatter),
        ];
        for listed in ends.into_iter().filter(|(end, ..)| end.view().is_none()) {
            let command = self.listed(&copy, cells, listed, (&memory, view.clone()))?;
            self.copies[phase as usize].ordered.push(OrderedCopy::Barrier(command));
        }
        Ok(())
    }

    /// Boxes are added to boxes. Every listed cell is named once, so its sum may be made in a box and put
    /// back.
    fn add(&mut self, copy: LocalCopy, cells: &CellLoops) -> Result<()> {
        let mut before = Schedule::new();
        let mut boxed = |builder: &mut Self, end: &MoveEnd, memory| {
            if let Some(view) = end.view() {
                return Ok((Arc::clone(memory), view));
            }
            let (temporary, view) = builder.temporary_box(&copy, cells)?;
            let gathered = (end, memory, ListedDirection::Gather);
            before.push(builder.listed(&copy, cells, gathered, (&temporary, view.clone()))?);
            Ok::<_, Error>((temporary, view))
        };
        let (from, from_view) = boxed(self, &cells.from, copy.from)?;
        let (to, to_view) = boxed(self, &cells.to, copy.to)?;
        let mut after = Schedule::new();
        if cells.to.view().is_none() {
            let scattered = (&cells.to, copy.to, ListedDirection::Scatter);
            after.push(self.listed(&copy, cells, scattered, (&to, to_view.clone()))?);
        }
        let device_copy =
            DeviceCopy::of(&LocalCopy { from: &from, to: &to, ..copy }, cells, from_view, to_view);
        let (reads, writes) = ((copy.from.id, copy.reads.cloned()), (copy.to.id, copy.writes.cloned()));
        let sum = BoxSum { copy: device_copy, reads, writes, before, after };
        self.copies[Phase::Arrival as usize].ordered.push(OrderedCopy::Sum(Box::new(sum)));
        Ok(())
    }

    /// A temporary box for the cells.
    fn temporary_box(&mut self, copy: &LocalCopy, cells: &CellLoops) -> Result<(Arc<Allocation>, View)> {
        let memory =
            self.alloc_temporary(copy.device, cells.count() as u64 * copy.dtype.size_bytes() as u64)?;
        let packed = MoveEnd::packed(&cells.extents, 0).view();
        Ok((memory, packed.unwrap_or_else(|| unreachable!("what is packed is not listed"))))
    }

    /// From listed places of a memory to a box, or back.
    fn listed(
        &mut self,
        copy: &LocalCopy,
        cells: &CellLoops,
        (end, memory, direction): (&MoveEnd, &Arc<Allocation>, ListedDirection),
        boxed: (&Arc<Allocation>, View),
    ) -> Result<Command> {
        let listed = ListedCells { memory, first: end.offset, offsets: &end.offsets };
        copy_listed(copy.device, &cells.extents, &listed, boxed, direction, copy.dtype, &mut self.leases)
    }
}

impl DeviceCopy {
    fn of(copy: &LocalCopy, cells: &CellLoops, from: View, to: View) -> DeviceCopy {
        let copied = BoxCopy { from: (Arc::clone(copy.from), from), to: (Arc::clone(copy.to), to) };
        let (device, extents) = (copy.device.clone(), cells.extents.clone());
        DeviceCopy { device, extents, dtype: copy.dtype, copy: copied }
    }
}

/// The position of the cells of each move in a message, in elements of its type.
fn firsts(moves: &[FieldMove]) -> Vec<i64> {
    let begin = |bytes: &mut u64, one: &FieldMove| {
        let first = *bytes / one.dtype.size_bytes() as u64;
        *bytes += one.bytes();
        Some(first as i64)
    };
    moves.iter().scan(0, begin).collect()
}

impl Exchange {
    /// The same exchange on the exchange streams, if bytes can be in flight while devices compute: from
    /// device to device, or from rank to rank. An exchange within one device would only compete with its
    /// kernels.
    pub fn overlapped(self) -> Exchange {
        let Exchange { departure, dispatch, arrival, join, links, leases } = self;
        let all = || departure.iter().chain(&dispatch).chain(&arrival);
        let devices =
            distinct(all().flat_map(|command| command.op.devices()).filter(|device| device.has_streams()));
        if devices.is_empty() || !all().any(travels) {
            return Exchange { departure, dispatch, arrival, join, links, leases };
        }
        let forks = devices.iter().map(|device| wait((device, Stream::Compute), (device, Stream::Exchange)));
        let joins = devices.iter().map(|device| wait((device, Stream::Exchange), (device, Stream::Compute)));
        let pairs = distinct(all().filter_map(peers));
        let copied = pairs.iter().map(|(from, to)| wait((to, Stream::Exchange), (from, Stream::Compute)));
        let join = join.into_iter().chain(joins).chain(copied).collect();
        let departure = forks.chain(on_exchange_stream(&departure)).collect();
        let (dispatch, arrival) = (on_exchange_stream(&dispatch), on_exchange_stream(&arrival));
        Exchange { departure, dispatch, arrival, join, links, leases }
    }

    /// The devices that can compute between departure and arrival.
    pub fn overlap_capability(&self) -> OverlapCapability {
        let receives = |command: &Command| matches!(command.op, Op::Receive(_));
        match (self.commands().any(receives), self.commands().any(travels)) {
            (true, _) => OverlapCapability::All,
            (false, true) => OverlapCapability::StreamsOnly,
            (false, false) => OverlapCapability::None,
        }
    }
}

/// The devices that can compute while an exchange is in flight.
///
/// Messages between ranks overlap with computation on every device: their downloads start before other work
/// is queued there ([`Op::StartDownload`]). Copies within a process overlap on devices with streams only.
/// The host itself makes the copies. A wgpu device has one queue: its downloads are waited for before more
/// is queued, and its uploads are done as soon as the other device has packed. So a host or wgpu device
/// gains nothing from computing its core separately.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverlapCapability {
    /// No device.
    None,
    /// Devices with streams.
    StreamsOnly,
    /// All devices.
    All,
}

impl OverlapCapability {
    /// Whether a device can compute while the exchange is in flight.
    pub fn covers(self, device: &Device) -> bool {
        match self {
            OverlapCapability::None => false,
            OverlapCapability::StreamsOnly => device.has_streams(),
            OverlapCapability::All => true,
        }
    }
}

/// Whether bytes are in flight while some device computes.
fn travels(command: &Command) -> bool {
    match &command.op {
        // Also of a rank that only sends: its device waits until the memory of the other's is free.
        Op::Receive(_) | Op::Send { .. } => true,
        Op::Transfer { from_device, to_device, .. } => from_device.has_streams() || to_device.has_streams(),
        _ => false,
    }
}

/// Sender and receiver of a copy that the driver makes from device to device.
fn peers(command: &Command) -> Option<(&Device, &Device)> {
    match &command.op {
        Op::Transfer { from_device, to_device, .. } => {
            (from_device.has_streams() && to_device.has_streams()).then_some((from_device, to_device))
        }
        _ => None,
    }
}

/// Commands on the exchange stream, each run of copies between devices behind its waits.
fn on_exchange_stream(commands: &[Command]) -> Schedule {
    let mut schedule = Schedule::new();
    for run in commands.chunk_by(|a, b| peers(a).is_some() == peers(b).is_some()) {
        let pairs = distinct(run.iter().filter_map(peers));
        let waits = pairs.into_iter();
        schedule.extend(waits.map(|(from, to)| wait((from, Stream::Exchange), (to, Stream::Exchange))));
        schedule.extend(run.iter().cloned().map(|command| {
            let has_streams = command.op.devices().iter().any(|device| device.has_streams());
            command.on(if has_streams { Stream::Exchange } else { Stream::Compute })
        }));
    }
    schedule
}

fn wait(first: (&Device, Stream), then: (&Device, Stream)) -> Command {
    Op::StreamWait { first: (first.0.clone(), first.1), then: (then.0.clone(), then.1) }.into()
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut found, one| {
        if !found.contains(&one) {
            found.push(one);
        }
        found
    })
}
