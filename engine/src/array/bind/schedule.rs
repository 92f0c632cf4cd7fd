//! [`ScheduleBuilder`]: a schedule under construction; [`BoundStep`]: what a step comes down to; [`Values`]:
//! the memory that the nodes of a graph stand for meanwhile. Operands are moved to where launches read them,
//! launches follow.
//!
//! Transfers are collected and begin as ONE exchange: one message per pair of ranks, whatever the number of
//! operands. Launches that read nothing of it, the *core*, may be queued before it ends; every other launch
//! comes after.

use std::fmt::Display;
use std::sync::{Arc, Weak};

use partita_kernels::{DType, Launch, Scalar, Verified, View};
use rustc_hash::FxHashMap;

use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::list::{Boxes, ComputeKernel, MemoryId};
use crate::array::memory::storage::{HaloWidths, Storage, bytes_of};
use crate::array::record::expr::Slot;
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::device::{Buffer, Job, Stream};
use crate::error::{Error, Result};
use crate::index::{Index, Region};
use crate::plan::Plan;
use crate::program::{Command, Op, Place, Schedule};
use crate::team::Team;
use crate::transport::{Exchange, Field, OverlapCapability, lower_between_ranks};
use crate::wire::{hash, pass};

pub(crate) fn missing_part(operation: &'static str) -> Error {
    Error::invalid(
        operation,
        "a result stored by the part that computes it",
        "a part without storage",
        "please report this defect of the engine",
    )
}

/// The transfer of one operand by an exchange.
pub(crate) struct PendingTransfer {
    pub(super) operation: &'static str,
    pub(super) plan: Arc<Plan>,
    pub(super) from: Vec<Option<Place>>,
    pub(super) to: Vec<Option<Place>>,
    pub(super) dtype: DType,
    /// Which of [`ScheduleBuilder::updated_halos`], if it is a halo exchange.
    pub(super) updates: Option<usize>,
}

/// The boxes fetched of a value: one per part, and its place.
pub(crate) type FetchedBoxes = (NodeId, Vec<Region>, Vec<Option<Place>>);

/// A schedule under construction, the leases its commands rely on, and the halos it makes current.
pub(crate) struct ScheduleBuilder {
    pub team: Team,
    pub recorder: Recorder,
    pub(super) schedule: Schedule,
    /// The transfers of the next exchange.
    pub(super) pending: Vec<PendingTransfer>,
    /// The commands of the departed exchange that the host has to wait for.
    pub(super) dispatch: Schedule,
    /// The commands of the departed exchange that are left to do.
    pub(super) arrival: Schedule,
    /// The waits by which it joins what is queued afterwards.
    pub(super) join: Schedule,
    pub leases: Vec<Buffer>,
    /// Index lists: a replay of the schedule does not repeat their upload.
    pub uploads: Vec<Buffer>,
    pub(super) updated_halos: Vec<(Arc<Storage>, HaloWidths)>,
    pub(super) fetched: Vec<FetchedBoxes>,
    pub(super) messages: u64,
}

/// A step with its memory: commands that are not queued yet, and the arrays that they compute.
pub(crate) struct BoundStep {
    pub work: ScheduleBuilder,
    pub made: Vec<(NodeId, Arc<Storage>)>,
}

impl ScheduleBuilder {
    pub fn new(team: &Team, recorder: &Recorder) -> ScheduleBuilder {
        ScheduleBuilder {
            team: team.clone(),
            recorder: recorder.clone(),
            schedule: Schedule::new(),
            pending: Vec::new(),
            dispatch: Schedule::new(),
            arrival: Schedule::new(),
            join: Schedule::new(),
            leases: Vec::new(),
            uploads: Vec::new(),
            updated_halos: Vec::new(),
            fetched: Vec::new(),
            messages: 0,
        }
    }

    /// The commands so far, those of the exchange included.
    pub fn commands(&self) -> &[Command] {
        &self.schedule
    }

    /// Adds a complete exchange, queued back to back.
    pub fn exchange(&mut self, exchange: Exchange, messages: u64) {
        self.uploads.extend(exchange.uploads().into_iter().cloned());
        self.team.count_messages(messages);
        self.messages += messages;
        self.schedule.extend(exchange.commands().cloned());
        self.leases.extend(exchange.leases);
    }

    /// The halos that will be current afterwards.
    pub fn updated_halos(&self) -> &[(Arc<Storage>, HaloWidths)] {
        &self.updated_halos
    }

    /// No halo of an array is current afterwards.
    pub fn invalidate_halo(&mut self, storage: &Arc<Storage>) {
        if !self.valid_halo(storage).is_zero() {
            self.updated_halos.push((Arc::clone(storage), HaloWidths::zero(storage.dist.rank())));
        }
    }

    /// The number of messages that the team has counted for it.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    pub fn push(&mut self, command: impl Into<Command>) {
        self.schedule.push(command.into());
    }

    pub fn extend(&mut self, schedule: Schedule) {
        self.schedule.extend(schedule);
    }

    /// Makes the next collective operation compare a kernel and the arguments of its launch on each part,
    /// whichever rank's it is; and what is folded, of which the results say nothing.
    pub fn note(
        &mut self,
        ComputeKernel { kernel, arguments, folds, dist, .. }: &ComputeKernel,
        numbers: &[Scalar],
    ) {
        if let Some(ranks) = self.team.wire() {
            let places = arguments.slots();
            let numbers = places.iter().map(|&(_, slot)| numbers[slot as usize]).collect();
            let kernel = hash(&(kernel, arguments, folds.as_ref().map(|_| &**dist)));
            let op = Op::RecordHash { ranks: ranks.clone(), kernel, numbers };
            self.push(Command { numbers: Some(places), ..op.into() });
        }
    }

    /// Begins the exchange of all pending transfers, as far as the host waits for nothing. Says which devices
    /// can compute during it: the host after [`ScheduleBuilder::send_staged`], others before.
    pub fn begin_exchange(&mut self) -> Result<OverlapCapability> {
        let pending = std::mem::take(&mut self.pending);
        let Some(first) = pending.first() else { return Ok(OverlapCapability::None) };
        let messages = pending.iter().map(|pending| pending.plan.messages()).sum();
        self.team.count_messages(messages);
        self.messages += messages;
        let alike = pending.iter().all(|other| other.operation == first.operation);
        let operation = if alike { first.operation } else { "exchange of operands" };
        let fields: Vec<Field> = pending
            .iter()
            .map(|PendingTransfer { plan, from, to, dtype, .. }| Field { plan, from, to, dtype: *dtype })
            .collect();
        let exchange = lower_between_ranks(operation, (&self.team, &self.team), &fields)?;
        self.uploads.extend(exchange.uploads().into_iter().cloned());
        let exchange = exchange.overlapped();
        let overlap = exchange.overlap_capability();
        self.schedule.extend(exchange.departure);
        self.dispatch.extend(exchange.dispatch);
        self.arrival.extend(exchange.arrival);
        self.join.extend(exchange.join);
        self.leases.extend(exchange.leases);
        Ok(overlap)
    }

    /// Queues the part of the exchange for which the host has to wait.
    pub fn send_staged(&mut self) {
        self.schedule.append(&mut self.dispatch);
    }

    /// Rims that are queued from now on come after the exchange.
    pub fn receive(&mut self) -> Result<()> {
        self.begin_exchange()?;
        self.send_staged();
        self.schedule.append(&mut self.arrival);
        Ok(())
    }

    /// Launches that are queued from now on come after the exchange.
    pub fn join_exchange(&mut self) -> Result<()> {
        self.receive()?;
        self.schedule.append(&mut self.join);
        Ok(())
    }

    /// Queues everything, the exchange joined; then, and only then, the halos are current.
    pub fn finish(self) -> Result<()> {
        self.recorder.keep(&self.uploads);
        self.recorder.execute(self.schedule)?;
        pass("eval-queued")?;
        for (storage, fresh) in self.updated_halos {
            storage.set_valid_halo(fresh);
        }
        Ok(())
    }

    /// Queues a launch over its whole region, after everything has arrived.
    pub fn launch(&mut self, launch: &BoundLaunch) -> Result<()> {
        self.join_exchange()?;
        let command = launch.over(&self.team, (&launch.region, launch.region.start()))?;
        self.push(command);
        Ok(())
    }

    /// The stream of a part's launches that come after the exchange has arrived there, beside what is still
    /// computed.
    pub fn rim_stream(&self, part: usize) -> Stream {
        let device = self.team.device(part);
        let joins = |command: &Command| match &command.op {
            Op::StreamWait { first, .. } => *first == (device.clone(), Stream::Exchange),
            _ => false,
        };
        if self.join.iter().any(joins) { Stream::Exchange } else { Stream::Compute }
    }
}

/// A kernel over the region of one part, with its memory. The views are those of the region.
pub(crate) struct BoundLaunch<'a> {
    pub kernel: &'a Verified,
    pub part: usize,
    pub region: Region,
    pub memory: Vec<(View, Place)>,
    pub arguments: Vec<Scalar>,
    /// Those of the arguments that are plain numbers.
    pub numbers: Option<Arc<[(usize, Slot)]>>,
}

impl BoundLaunch<'_> {
    /// The launch over a box of the region, whose first cell has these coordinates.
    pub fn over(&self, team: &Team, (cells, origin): (&Region, &Index)) -> Result<Command> {
        let device = team.device(self.part);
        let skipped = |d: usize| cells.start()[d] - self.region.start()[d];
        let view = |view: &View| {
            let skipped = (0..cells.rank()).map(|d| skipped(d) * view.strides[d]).sum::<i64>();
            View { offset: view.offset + skipped, strides: view.strides.clone() }
        };
        let launch = Launch {
            extents: cells.extents().iter().map(|&extent| extent as usize).collect(),
            origin: origin.to_vec(),
            views: self.memory.iter().map(|(region_view, _)| view(region_view)).collect(),
            arguments: self.arguments.clone(),
        };
        let memory = self.memory.iter().map(|(_, place)| Arc::clone(&place.allocation)).collect();
        let job = Job { program: device.compile(self.kernel.clone())?, launch: Arc::new(launch), memory };
        let op = Op::Launch { device: device.clone(), job };
        Ok(Command { numbers: self.numbers.clone(), ..op.into() })
    }
}

/// Temporary memory: where each part has its box, and what keeps it.
pub(crate) type BoxMemory = Vec<Option<(Place, Buffer)>>;

/// Recorded nodes keep their own memory; other values of the graph, temporary boxes and the numbers are kept
/// here.
#[derive(Default)]
pub(crate) struct Values {
    nodes: FxHashMap<NodeId, Arc<Node>>,
    others: FxHashMap<NodeId, Arc<Storage>>,
    /// Memory of arrays that are not complete yet.
    begun: FxHashMap<NodeId, Arc<Storage>>,
    boxes: FxHashMap<usize, BoxMemory>,
    /// The plain numbers of the recorded program.
    pub numbers: Vec<Scalar>,
}

impl Values {
    /// None but these numbers.
    pub fn with(numbers: Vec<Scalar>) -> Values {
        Values { numbers, ..Values::default() }
    }

    /// Has a node of the graph stand for a recorded one.
    pub fn hold(&mut self, node: NodeId, recorded: Arc<Node>) {
        self.nodes.insert(node, recorded);
    }

    /// Nobody reads or writes the memory any more.
    pub fn release(&mut self, memory: MemoryId) {
        match memory {
            MemoryId::Array(node) => {
                self.end(node);
                self.nodes.remove(&node);
                self.others.remove(&node);
            }
            MemoryId::Boxes(at) => {
                self.boxes.remove(&at);
            }
        }
    }

    /// The memory of a computed value.
    ///
    /// # Errors
    /// None, unless steps are out of order.
    pub fn storage(&self, node: NodeId) -> Result<Arc<Storage>> {
        let recorded = self.nodes.get(&node).and_then(|node| node.storage());
        let other = || self.others.get(&node).or_else(|| self.begun.get(&node)).cloned();
        recorded.or_else(other).ok_or_else(|| not_computed(node))
    }

    /// Memory for a value that several steps compute. The recorded node has it once they are done.
    pub fn begin(&mut self, node: NodeId, storage: Arc<Storage>) {
        self.begun.insert(node, storage);
    }

    /// The steps that compute a value are done.
    pub fn end(&mut self, node: NodeId) {
        if let Some(storage) = self.begun.remove(&node) {
            self.set(node, storage);
        }
    }

    /// The value is computed, or is in other memory from now on.
    pub fn set(&mut self, node: NodeId, storage: Arc<Storage>) {
        self.begun.remove(&node);
        match self.nodes.get(&node) {
            Some(recorded) => recorded.set_ready(storage),
            None => {
                self.others.insert(node, storage);
            }
        }
    }

    /// The recorded node, if it is one.
    pub fn recorded(&self, node: NodeId) -> Weak<Node> {
        self.nodes.get(&node).map(Arc::downgrade).unwrap_or_default()
    }

    /// Gives temporary boxes memory, unless they have some.
    pub fn allocate(&mut self, team: &Team, at: usize, Boxes { dtype, cells }: &Boxes) -> Result<()> {
        if self.boxes.contains_key(&at) {
            return Ok(());
        }
        let mut memory = Vec::with_capacity(cells.len());
        for (part, cells) in cells.iter().enumerate() {
            if cells.is_empty() || !team.is_here(part) {
                memory.push(None);
                continue;
            }
            let device = team.device(part).clone();
            let buffer = device.alloc(bytes_of(cells, *dtype)?)?;
            let place = Place { device, allocation: Arc::clone(buffer.allocation()), stored: *cells };
            memory.push(Some((place, buffer)));
        }
        self.boxes.insert(at, memory);
        Ok(())
    }

    /// Has a part's box be in the memory of other ones.
    pub fn share(&mut self, at: usize, other: usize, part: usize) {
        let shared = self.boxes.get(&other).and_then(|other| other[part].clone());
        if let Some(boxes) = self.boxes.get_mut(&at) {
            boxes[part] = shared;
        }
    }

    /// The place of some memory on a part.
    pub fn place(&self, team: &Team, memory: MemoryId, part: usize) -> Result<Option<Place>> {
        match memory {
            MemoryId::Array(node) => Ok(self.storage(node)?.place(team, part)),
            MemoryId::Boxes(at) => {
                let boxes = self.boxes.get(&at).ok_or_else(|| not_computed(at))?;
                Ok(boxes[part].as_ref().map(|(place, _)| place.clone()))
            }
        }
    }

    /// Temporary memory.
    pub fn boxes(&self, at: usize) -> Option<&BoxMemory> {
        self.boxes.get(&at)
    }

    /// The places of some memory on all parts.
    pub fn places(&self, team: &Team, memory: MemoryId) -> Result<Vec<Option<Place>>> {
        (0..team.size()).map(|part| self.place(team, memory, part)).collect()
    }
}

fn not_computed(what: impl Display) -> Error {
    Error::invalid(
        "an evaluation",
        "steps that read computed values",
        format!("value {what}, which is not computed"),
        "please report this defect of the engine",
    )
}
