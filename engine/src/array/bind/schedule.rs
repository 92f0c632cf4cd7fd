//! [`ScheduleBuilder`]: a schedule under construction; [`BoundStep`]: what a step comes down to; [`Values`]:
//! the memory that the nodes of a graph stand for meanwhile.

use std::collections::hash_map::Entry;
use std::fmt::Display;
use std::sync::{Arc, Weak};

use partita_kernels::Scalar;
use rustc_hash::FxHashMap;

use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::list::{Boxes, MemoryId};
use crate::array::memory::storage::{HaloWidths, Storage, bytes_of};
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::device::Buffer;
use crate::error::{Error, Result};
use crate::program::{Command, Place, Schedule};
use crate::team::Team;
use crate::transport::Exchange;
use crate::wire::pass;

pub(crate) fn missing_part(operation: &'static str) -> Error {
    Error::invalid(
        operation,
        "a result stored by the part that computes it",
        "a part without storage",
        "please report this defect of the engine",
    )
}

/// A schedule under construction, the leases its commands rely on, and the halos it makes current.
pub(crate) struct ScheduleBuilder {
    pub team: Team,
    schedule: Schedule,
    pub leases: Vec<Buffer>,
    /// Index lists: a replay of the schedule does not repeat their upload.
    pub uploads: Vec<Buffer>,
    pub(super) updated_halos: Vec<(Arc<Storage>, HaloWidths)>,
    messages: u64,
}

/// A step with its memory: commands that are not queued yet, and arrays that are complete after them.
pub(crate) struct BoundStep {
    pub work: ScheduleBuilder,
    pub made: Vec<(NodeId, Arc<Storage>)>,
}

impl ScheduleBuilder {
    pub fn new(team: &Team) -> ScheduleBuilder {
        ScheduleBuilder {
            team: team.clone(),
            schedule: Schedule::new(),
            leases: Vec::new(),
            uploads: Vec::new(),
            updated_halos: Vec::new(),
            messages: 0,
        }
    }

    /// The commands so far.
    pub fn commands(&self) -> &[Command] {
        &self.schedule
    }

    /// Adds a complete exchange, queued back to back. Whoever made it counts its messages.
    pub fn exchange(&mut self, exchange: Exchange) {
        self.uploads.extend(exchange.uploads().into_iter().cloned());
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

    /// The widths of a halo that are current after the commands so far.
    pub fn valid_halo(&self, storage: &Arc<Storage>) -> HaloWidths {
        let own = |(other, _): &&(Arc<Storage>, HaloWidths)| Arc::ptr_eq(other, storage);
        let updated = self.updated_halos.iter().rfind(own);
        updated.map_or_else(|| storage.valid_halo(), |(_, halo)| halo.clone())
    }

    /// Has the team count messages.
    pub fn count_messages(&mut self, messages: u64) {
        self.team.count_messages(messages);
        self.messages += messages;
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

    /// Queues everything; then, and only then, the halos are current. If that fails, none counts as current
    /// that may no longer be.
    pub fn finish(self, recorder: &Recorder) -> Result<()> {
        recorder.keep(&self.uploads);
        self.updated_halos.iter().for_each(|(storage, fresh)| storage.narrow_valid_halo(fresh));
        recorder.execute(self.schedule)?;
        pass("eval-queued")?;
        for (storage, fresh) in self.updated_halos {
            storage.set_valid_halo(fresh);
        }
        Ok(())
    }
}

/// Temporary memory: where each part has its box, and what keeps it.
pub(crate) type BoxMemory = Vec<Option<Box<(Place, Buffer)>>>;

/// Memory for boxes of parts of this rank; none for empty ones.
pub(crate) fn box_memory(team: &Team, Boxes { dtype, cells }: &Boxes) -> Result<BoxMemory> {
    let mut memory = vec![None; team.size()];
    for (part, cells) in cells.iter().filter(|(part, cells)| !cells.is_empty() && team.is_here(*part)) {
        let device = team.device(*part).clone();
        let buffer = device.alloc(bytes_of(cells, *dtype)?)?;
        let place = Place { device, allocation: Arc::clone(buffer.allocation()), stored: *cells };
        memory[*part] = Some(Box::new((place, buffer)));
    }
    Ok(memory)
}

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
    pub fn allocate(&mut self, team: &Team, at: usize, boxes: &Boxes) -> Result<()> {
        if let Entry::Vacant(place) = self.boxes.entry(at) {
            place.insert(box_memory(team, boxes)?);
        }
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
                Ok(boxes[part].as_ref().map(|one| one.0.clone()))
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
