//! From plans and places to commands. Cells that stay on their device are copied there; all others of one
//! pair of parts, of all fields, travel as one message: packed, transferred, unpacked. What is contiguous is
//! transferred from where it is and to where it belongs. Knows no arrays and no distributions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use partita_kernels::{DType, View};

use super::batch::{Piece, batched};
use super::cells::{Cells, End, contiguous, extents};
use super::path::{Path, path};
use super::rounds::{Cover, Next, Sum, in_rounds};
use crate::config::{config, say};
use crate::device::{Allocation, Buffer, Device};
use crate::error::Result;
use crate::plan::{Move, MoveOp, Plan};
use crate::program::copies::{BoxCopy, Direction, Listed, copy_listed};
use crate::program::{Command, Place, Schedule, execute};

/// One array's part in an exchange.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// What moves.
    pub plan: &'a Plan,
    /// Where the parts of the source are; `None` for parts that the plan does not name.
    pub from: &'a [Option<Place>],
    /// Where the parts of the destination are.
    pub to: &'a [Option<Place>],
    /// The element type of both.
    pub dtype: DType,
}

/// An exchange of one or more fields, ready to be queued: departure, dispatch, arrival, join. Work that reads
/// nothing that arrives, and writes nothing that leaves, may be queued between departure and arrival.
#[derive(Default)]
pub struct Exchange {
    /// Copies within devices, packing, and copies between devices that the driver makes.
    pub departure: Schedule,
    /// What the host waits for: bytes that go through it. On devices with lanes ([`Exchange::aside`]), and of
    /// messages that were begun ([`Command::Fetch`]) on others, this waits for the departure alone, so work
    /// is queued there before it; the host's own work is queued after it.
    pub dispatch: Schedule,
    /// Unpacking, and everything that is added.
    pub arrival: Schedule,
    /// After the arrival, and after what is queued on its lane behind it: waits for what was done beside the
    /// computation. None if nothing was ([`Exchange::aside`]).
    pub join: Schedule,
    /// What goes between which parts of this rank, and from and to them, by receiving and then sending part.
    pub links: Vec<Link>,
    /// Memory that the commands use on the way. To be kept until they have been queued.
    pub leases: Vec<Buffer>,
}

/// Everything that goes from one part to one part in an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The sending part.
    pub from_part: usize,
    /// The receiving part.
    pub to_part: usize,
    /// Its way.
    pub path: Path,
    /// How many moves, of all fields.
    pub moves: usize,
    /// The bytes of the cells.
    pub bytes: u64,
    /// Whether this rank copies the cells together before they leave, or apart after they came.
    pub packed: bool,
}

impl Exchange {
    /// All commands, in the order in which they are queued back to back.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        let Exchange { departure, dispatch, arrival, join, .. } = self;
        departure.iter().chain(dispatch).chain(arrival).chain(join)
    }

    /// Queues all of it back to back.
    ///
    /// # Errors
    /// Those of the commands.
    pub(crate) fn run(self) -> Result<()> {
        execute(self.commands().cloned().collect())
    }

    /// How many launches and transfers there are before anything arrives.
    pub fn departing(&self) -> (usize, usize) {
        let all = self.departure.iter().chain(&self.dispatch);
        let transfers = all.filter(|c| matches!(c, Command::Transfer { .. })).count();
        (self.departure.len() + self.dispatch.len() - transfers, transfers)
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (launches, transfers) = self.departing();
        let arrival = self.arrival.len();
        write!(f, "{launches} launches and {transfers} transfers depart, {arrival} launches arrive")?;
        for Link { from_part, to_part, path, moves, bytes, packed } in &self.links {
            let how = match (path, packed) {
                (Path::Kernel, _) => "",
                (_, true) => ", packed",
                (_, false) => ", as it lies",
            };
            write!(f, "\n  {from_part} -> {to_part}: {moves} moves, {bytes} bytes, {path}{how}")?;
        }
        Ok(())
    }
}

/// The commands that carry out plans, one per field, between the same parts.
///
/// # Errors
/// Memory for messages, or a kernel that a device cannot compile.
pub fn lower(fields: &[Field]) -> Result<Exchange> {
    let mut links: BTreeMap<(usize, usize), Vec<Cargo>> = BTreeMap::new();
    for field in fields {
        for step in field.plan.moves() {
            let (Some(from), Some(to)) = (&field.from[step.from_part], &field.to[step.to_part]) else {
                unreachable!("a plan names only parts that hold something");
            };
            let cargo = Cargo { step, from, to, dtype: field.dtype };
            links.entry((step.to_part, step.from_part)).or_default().push(cargo);
        }
    }
    let mut work = Work::default();
    for ((to_part, from_part), cargo) in links {
        work.link(from_part, to_part, cargo)?;
    }
    let exchange = work.finish()?;
    if config().debug >= 4 {
        say(format_args!("exchange: {exchange}"));
    }
    Ok(exchange)
}

/// One move of one field.
#[derive(Clone, Copy)]
struct Cargo<'a> {
    step: &'a Move,
    from: &'a Place,
    to: &'a Place,
    dtype: DType,
}

impl Cargo<'_> {
    fn bytes(&self) -> u64 {
        self.step.elements() * self.dtype.size_bytes() as u64
    }

    /// The message where it is, if its cells lie one after the other: memory, and the first byte.
    fn ready(&self) -> Option<(Arc<Allocation>, u64)> {
        let first = contiguous(&extents(self.step), &End::source(self.step, self.from))?;
        Some((Arc::clone(&self.from.allocation), first as u64 * self.dtype.size_bytes() as u64))
    }

    /// Where the message belongs, if it needs no unpacking.
    fn landing(&self) -> Option<(Arc<Allocation>, u64)> {
        if self.step.op != MoveOp::Copy {
            return None;
        }
        let first = contiguous(&extents(self.step), &End::target(self.step, self.to))?;
        Some((Arc::clone(&self.to.allocation), first as u64 * self.dtype.size_bytes() as u64))
    }
}

/// Which commands a copy is put among: those that depart, or that arrive, in any order. What must follow
/// others comes after all of these.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Queue {
    Departing,
    Arriving,
}

/// A copy within one device: where, what, between which memories.
#[derive(Clone, Copy)]
struct Copy<'a> {
    device: &'a Device,
    dtype: DType,
    op: MoveOp,
    from: &'a Arc<Allocation>,
    to: &'a Arc<Allocation>,
    /// For sums, the cells that it reads and writes; none: any that the memories have.
    reads: Option<&'a Cover>,
    writes: Option<&'a Cover>,
}

/// An exchange under construction.
#[derive(Default)]
struct Work {
    leases: Vec<Buffer>,
    departing: Vec<Piece>,
    departing_next: Vec<Next>,
    transfers: Schedule,
    dispatch: Schedule,
    arriving: Vec<Piece>,
    arriving_next: Vec<Next>,
    links: Vec<Link>,
}

impl Work {
    fn finish(self) -> Result<Exchange> {
        let Work { leases, transfers, dispatch, links, .. } = self;
        let mut departure = batched(self.departing, MoveOp::Copy)?;
        departure.extend(in_rounds(self.departing_next)?);
        departure.extend(transfers);
        let mut arrival = batched(self.arriving, MoveOp::Copy)?;
        arrival.extend(in_rounds(self.arriving_next)?);
        Ok(Exchange { departure, dispatch, arrival, join: Schedule::new(), links, leases })
    }

    fn link(&mut self, from_part: usize, to_part: usize, cargo: Vec<Cargo>) -> Result<()> {
        let mut by_path: BTreeMap<Path, Vec<Cargo>> = BTreeMap::new();
        for cargo in cargo {
            by_path.entry(path(cargo.from, cargo.to)).or_default().push(cargo);
        }
        for (path, mut cargo) in by_path {
            // The largest elements first: so each begins where one of its size may.
            cargo.sort_by_key(|cargo| std::cmp::Reverse(cargo.dtype.size_bytes()));
            let packed = match path {
                Path::Kernel => {
                    cargo.iter().try_for_each(|cargo| self.within(cargo))?;
                    false
                }
                Path::Packed | Path::Peer | Path::Staged => self.message(path, &cargo)?,
                Path::Shared | Path::InPlace | Path::Pointers => unreachable!("paths between ranks"),
            };
            let (moves, bytes) = (cargo.len(), cargo.iter().map(Cargo::bytes).sum());
            self.links.push(Link { from_part, to_part, path, moves, bytes, packed });
        }
        Ok(())
    }

    /// A move that stays on its device.
    fn within(&mut self, cargo: &Cargo) -> Result<()> {
        let Cargo { step, from, to, dtype } = *cargo;
        let is_sum = step.op == MoveOp::Add;
        let covers = is_sum.then(|| (Cover::source(step, from), Cover::target(step, to)));
        let copy = Copy {
            device: &from.device,
            dtype,
            op: step.op,
            from: &from.allocation,
            to: &to.allocation,
            reads: covers.as_ref().map(|covers| &covers.0),
            writes: covers.as_ref().map(|covers| &covers.1),
        };
        let queue = match step.op {
            MoveOp::Copy => Queue::Departing,
            MoveOp::Add => Queue::Arriving,
        };
        self.carry(queue, copy, &extents(step), End::source(step, from), End::target(step, to))
    }

    /// All moves of one pair of parts as one message; true if it was packed.
    fn message(&mut self, path: Path, cargo: &[Cargo]) -> Result<bool> {
        let bytes: u64 = cargo.iter().map(Cargo::bytes).sum();
        let alone = <&[Cargo; 1]>::try_from(cargo).ok().map(|[cargo]| cargo);
        let (from, to) = (&cargo[0].from.device, &cargo[0].to.device);
        let ready = alone.filter(|_| path != Path::Packed).and_then(Cargo::ready);
        let packed = ready.is_none();
        let (leaving, from_offset) = match ready {
            Some(ready) => ready,
            None => (self.pack(cargo, from, bytes)?, 0),
        };
        if path == Path::Packed {
            self.unpack(cargo, to, &leaving)?;
            return Ok(packed);
        }
        let landing = alone.and_then(Cargo::landing);
        let (arrived, to_offset) = match &landing {
            Some((memory, offset)) => (Arc::clone(memory), *offset),
            None => (self.stage(to, bytes)?, 0),
        };
        let transfer = Command::Transfer {
            from_device: from.clone(),
            from: leaving,
            from_offset,
            to_device: to.clone(),
            to: Arc::clone(&arrived),
            to_offset,
            bytes,
        };
        match path {
            Path::Staged => self.dispatch.push(transfer),
            _ => self.transfers.push(transfer),
        }
        if landing.is_none() {
            self.unpack(cargo, to, &arrived)?;
        }
        Ok(packed)
    }

    /// A message with the cells of every move, one move after the other.
    fn pack(&mut self, cargo: &[Cargo], device: &Device, bytes: u64) -> Result<Arc<Allocation>> {
        let message = self.stage(device, bytes)?;
        for (cargo, first) in cargo.iter().zip(firsts(cargo)) {
            let (extents, from) = (extents(cargo.step), &cargo.from.allocation);
            let (dtype, op) = (cargo.dtype, MoveOp::Copy);
            let copy = Copy { device, dtype, op, from, to: &message, reads: None, writes: None };
            let ends = (End::source(cargo.step, cargo.from), End::packed(&extents, first));
            self.carry(Queue::Departing, copy, &extents, ends.0, ends.1)?;
        }
        Ok(message)
    }

    fn unpack(&mut self, cargo: &[Cargo], device: &Device, message: &Arc<Allocation>) -> Result<()> {
        for (cargo, first) in cargo.iter().zip(firsts(cargo)) {
            let (extents, op) = (extents(cargo.step), cargo.step.op);
            let (dtype, to) = (cargo.dtype, &cargo.to.allocation);
            let writes = (op == MoveOp::Add).then(|| Cover::target(cargo.step, cargo.to));
            let copy = Copy { device, dtype, op, from: message, to, reads: None, writes: writes.as_ref() };
            let ends = (End::packed(&extents, first), End::target(cargo.step, cargo.to));
            self.carry(Queue::Arriving, copy, &extents, ends.0, ends.1)?;
        }
        Ok(())
    }

    fn stage(&mut self, device: &Device, bytes: u64) -> Result<Arc<Allocation>> {
        let buffer = device.alloc(bytes)?;
        let allocation = Arc::clone(buffer.allocation());
        self.leases.push(buffer);
        Ok(allocation)
    }

    /// Copies, or adds, within a device.
    fn carry(&mut self, queue: Queue, copy: Copy, extents: &[i64], from: End, to: End) -> Result<()> {
        Cells::between(extents, from, to).into_iter().try_for_each(|cells| match copy.op {
            MoveOp::Copy => self.copy(queue, copy, &cells),
            MoveOp::Add => self.add(copy, &cells),
        })
    }

    /// Cells in listed places are gathered into a box or scattered from one.
    fn copy(&mut self, queue: Queue, copy: Copy, cells: &Cells) -> Result<()> {
        match (cells.from.view(), cells.to.view()) {
            (Some(from), Some(to)) => self.piece(queue, Piece::of(&copy, cells, from, to)),
            (None, Some(view)) => {
                let gather = self.gather(&copy, cells, (&cells.from, copy.from), (copy.to, view))?;
                self.next(queue, Next::Alone(gather));
            }
            (Some(view), None) => {
                let scatter = self.scatter(&copy, cells, (copy.from, view))?;
                self.next(queue, Next::Alone(scatter));
            }
            (None, None) => {
                let (aside, view) = self.aside(&copy, cells)?;
                let gather = self.gather(&copy, cells, (&cells.from, copy.from), (&aside, view.clone()))?;
                let scatter = self.scatter(&copy, cells, (&aside, view))?;
                [gather, scatter].into_iter().for_each(|command| self.next(queue, Next::Alone(command)));
            }
        }
        Ok(())
    }

    /// Boxes are added to boxes. Every listed cell is named once, so its sum may be made in a box and put
    /// back.
    fn add(&mut self, copy: Copy, cells: &Cells) -> Result<()> {
        let (mut before, mut after) = (Schedule::new(), Schedule::new());
        let (from, from_view) = match cells.from.view() {
            Some(view) => (Arc::clone(copy.from), view),
            None => {
                let (aside, view) = self.aside(&copy, cells)?;
                before.push(self.gather(&copy, cells, (&cells.from, copy.from), (&aside, view.clone()))?);
                (aside, view)
            }
        };
        let (to, to_view) = match cells.to.view() {
            Some(view) => (Arc::clone(copy.to), view),
            None => {
                let (aside, view) = self.aside(&copy, cells)?;
                before.push(self.gather(&copy, cells, (&cells.to, copy.to), (&aside, view.clone()))?);
                after.push(self.scatter(&copy, cells, (&aside, view.clone()))?);
                (aside, view)
            }
        };
        let piece = Piece::of(&Copy { from: &from, to: &to, ..copy }, cells, from_view, to_view);
        let (reads, writes) = ((copy.from.id, copy.reads.cloned()), (copy.to.id, copy.writes.cloned()));
        self.next(Queue::Arriving, Next::Add(Box::new(Sum { piece, reads, writes, before, after })));
        Ok(())
    }

    /// Memory for the cells in a box of their own.
    fn aside(&mut self, copy: &Copy, cells: &Cells) -> Result<(Arc<Allocation>, View)> {
        let memory = self.stage(copy.device, cells.count() as u64 * copy.dtype.size_bytes() as u64)?;
        let packed = End::packed(&cells.extents, 0).view();
        Ok((memory, packed.unwrap_or_else(|| unreachable!("what is packed is not listed"))))
    }

    /// From listed places of a memory to a box.
    fn gather(
        &mut self,
        copy: &Copy,
        cells: &Cells,
        listed: (&End, &Arc<Allocation>),
        boxed: (&Arc<Allocation>, View),
    ) -> Result<Command> {
        self.listed(copy, cells, listed, boxed, Direction::Gather)
    }

    /// From a box to the listed places where the copy goes.
    fn scatter(&mut self, copy: &Copy, cells: &Cells, boxed: (&Arc<Allocation>, View)) -> Result<Command> {
        self.listed(copy, cells, (&cells.to, copy.to), boxed, Direction::Scatter)
    }

    fn listed(
        &mut self,
        copy: &Copy,
        cells: &Cells,
        (end, memory): (&End, &Arc<Allocation>),
        boxed: (&Arc<Allocation>, View),
        direction: Direction,
    ) -> Result<Command> {
        let listed = Listed { memory, first: end.offset, walks: &end.walks };
        copy_listed(copy.device, &cells.extents, &listed, boxed, direction, copy.dtype, &mut self.leases)
    }

    fn piece(&mut self, queue: Queue, piece: Piece) {
        match queue {
            Queue::Departing => self.departing.push(piece),
            Queue::Arriving => self.arriving.push(piece),
        }
    }

    /// Queues what must follow.
    fn next(&mut self, queue: Queue, next: Next) {
        match queue {
            Queue::Departing => self.departing_next.push(next),
            Queue::Arriving => self.arriving_next.push(next),
        }
    }
}

impl Piece {
    fn of(copy: &Copy, cells: &Cells, from: View, to: View) -> Piece {
        let copied = BoxCopy { from: (Arc::clone(copy.from), from), to: (Arc::clone(copy.to), to) };
        let (device, extents) = (copy.device.clone(), cells.extents.clone());
        Piece { device, extents, dtype: copy.dtype, copy: copied }
    }
}

/// Where in a message the cells of each move begin, in elements of its type.
fn firsts(cargo: &[Cargo]) -> Vec<i64> {
    let begin = |bytes: &mut u64, cargo: &Cargo| {
        let first = *bytes / cargo.dtype.size_bytes() as u64;
        *bytes += cargo.bytes();
        Some(first as i64)
    };
    cargo.iter().scan(0, begin).collect()
}
