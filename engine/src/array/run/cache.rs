//! Evaluations cached once: what computing a group of results came down to, cache_of by the form of the
//! expressions, so that computing the same form again, of other memory, is one walk over the nodes, fresh
//! memory and the launches.
//!
//! Invariant: a [`Key`] contains everything that lowering, planning and binding read of nodes, storages and
//! targets, the memory itself apart. What they read of the team need not be in it, because every team keeps
//! its own. The walk matches every variant and names every field, so that a new one cannot be forgotten.
//!
//! Only what is launches on this process's devices over memory of the operands and results is cache_of: what
//! travels between devices or ranks, is uploaded, or needs memory in between is planned anew each time. So
//! whether one rank finds an evaluation cached and another does not makes no difference to a third.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::{DType, Launch, Scalar};

use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::lower::body::{Leaf, Source};
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::record::map::Map;
use crate::array::record::node::{
    Expr, Node, NodeLayout, NodeState, Operands, Pointwise, Portion, Reduction,
};
use crate::array::run::evaluate::{Placement, Target};
use crate::device::{Device, Job, Program};
use crate::error::Result;
use crate::index::{Distribution, Index};
use crate::program::{Command, execute};
use crate::team::Team;
use crate::wire::{Ranks, pass};

/// Larger expressions are lowered every time: next to what they compute that is little.
const MAX_NODES: usize = 512;

/// Nodes and launches of everything a team keeps. Beyond it everything is forgotten, which costs one lowering
/// each; a program with so many forms in use gains little anyway.
const MAX_KEPT: usize = 1 << 15;

/// The form of some expressions: nodes are told apart by when they were first visited, shapes and distributions
/// by their contents.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Key {
    nodes: Vec<NodeKey>,
    targets: Vec<TargetKey>,
    indices: Vec<Index>,
    maps: Vec<Arc<Map>>,
    dists: Vec<Arc<Distribution>>,
}

/// A place in one of a key's lists.
type Position = u32;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct NodeKey {
    shape: Position,
    dtype: DType,
    value: ValueKey,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum ValueKey {
    Fill(Scalar, LayoutKey),
    Coord(usize, LayoutKey),
    Apply(Pointwise, [Option<Position>; 3], LayoutKey),
    View {
        base: Position,
        map: Position,
        layout_key: LayoutKey,
    },
    Reduce {
        operand: Position,
        reduction: Reduction,
        axes: Vec<usize>,
        layout_key: LayoutKey,
    },
    /// Starts and values.
    Joined(Vec<(Position, Position)>, LayoutKey),
    /// Computed: how it lies in memory, its own distribution, and how much of its halo is current.
    Memory {
        dist: Position,
        declared: Position,
        lo: Position,
        hi: Position,
        corners: bool,
    },
}

/// A [`NodeLayout`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum LayoutKey {
    Free,
    Known(Position),
    ViewOf(Position, Position),
}

/// A [`Target`]: the node, and the distribution, memory layout and shift of what it is a window of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct TargetKey {
    node: Position,
    placement: PlacementKey,
}

/// An [`Placement`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum PlacementKey {
    Fresh,
    WindowOfFresh(Position, Position, Position),
    InPlace(Position, Position, Position),
    Temporary(Position, Position, Position),
}

/// Distributions take no part: few forms differ in them alone.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Key { nodes, targets, indices, maps, dists } = self;
        nodes.hash(state);
        targets.hash(state);
        indices.iter().for_each(|index| index.iter().for_each(|&value| state.write_i64(value)));
        maps.iter().for_each(|map| map.axes().hash(state));
        state.write_usize(dists.len());
    }
}

/// Rotates, adds and multiplies by a number without pattern: enough for keys of ours, which nobody makes to
/// collide.
#[derive(Default)]
pub(crate) struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn write_i64(&mut self, value: i64) {
        self.write_u64(value as u64);
    }
}

pub(crate) type MixBuildHasher = BuildHasherDefault<MixHasher>;

/// What is to be computed: its form, and the memory that this time it is about.
pub(crate) struct CacheLookup {
    key: Key,
    hash: u64,
    /// The computed nodes in the order in which they were visited.
    leaves: Vec<(Arc<Node>, Arc<Storage>)>,
}

/// A walk over expressions that writes their key.
struct KeyBuilder {
    key: Key,
    /// The nodes visited so far, in order.
    visited: Vec<Arc<Node>>,
    number: HashMap<*const Node, Position, MixBuildHasher>,
    leaves: Vec<(Arc<Node>, Arc<Storage>)>,
}

impl KeyBuilder {
    /// With room for what is usual.
    fn new() -> KeyBuilder {
        const USUAL: usize = 28;
        let key = Key { nodes: Vec::with_capacity(USUAL), ..Key::default() };
        let number = HashMap::with_capacity_and_hasher(USUAL, MixBuildHasher::default());
        KeyBuilder { key, visited: Vec::with_capacity(USUAL), number, leaves: Vec::new() }
    }

    fn node(&mut self, node: &Arc<Node>) -> Position {
        *self.number.entry(Arc::as_ptr(node)).or_insert_with(|| {
            self.visited.push(Arc::clone(node));
            (self.visited.len() - 1) as Position
        })
    }

    fn index(&mut self, index: &Index) -> Position {
        let indices = &mut self.key.indices;
        let known = indices.iter().rposition(|other| other == index);
        known.unwrap_or_else(|| push(indices, *index)) as Position
    }

    fn map(&mut self, map: &Arc<Map>) -> Position {
        let maps = &mut self.key.maps;
        let known = maps.iter().rposition(|other| other == map);
        known.unwrap_or_else(|| push(maps, Arc::clone(map))) as Position
    }

    fn dist(&mut self, dist: &Arc<Distribution>) -> Position {
        let dists = &mut self.key.dists;
        let known = dists.iter().position(|other| other == dist);
        known.unwrap_or_else(|| push(dists, Arc::clone(dist))) as Position
    }

    fn layout(&mut self, layout: &NodeLayout) -> LayoutKey {
        match layout {
            NodeLayout::Free => LayoutKey::Free,
            NodeLayout::Known(dist) => LayoutKey::Known(self.dist(dist)),
            NodeLayout::ViewOf(node, map) => LayoutKey::ViewOf(self.node(node), self.map(map)),
        }
    }

    /// `None` for a node that failed, and for what is never cache_of.
    fn value(&mut self, node: &Arc<Node>) -> Option<ValueKey> {
        Some(match &*node.state() {
            NodeState::Failed(_) => return None,
            NodeState::Ready(storage) => {
                self.leaves.push((Arc::clone(node), Arc::clone(storage)));
                let HaloWidths { lo, hi, corners } = storage.valid_halo();
                let dist = self.dist(&storage.dist);
                let declared = self.dist(&storage.declared);
                ValueKey::Memory { dist, declared, lo: self.index(&lo), hi: self.index(&hi), corners }
            }
            NodeState::Lazy { expr, layout } => {
                let layout_key = self.layout(layout);
                match expr {
                    Expr::Fill(scalar) => ValueKey::Fill(*scalar, layout_key),
                    Expr::Coord(dim) => ValueKey::Coord(*dim, layout_key),
                    Expr::Apply(op, operands) => ValueKey::Apply(*op, self.operands(operands), layout_key),
                    Expr::View { base, map } => {
                        ValueKey::View { base: self.node(base), map: self.map(map), layout_key }
                    }

                    Expr::Reduce { operand, reduction, axes } => ValueKey::Reduce {
                        operand: self.node(operand),
                        reduction: *reduction,
                        axes: axes.clone(),
                        layout_key,
                    },
                    Expr::Joined(portions) => {
                        let portion =
                            |Portion { start, value }: &Portion| (self.index(start), self.node(value));
                        ValueKey::Joined(portions.iter().map(portion).collect(), layout_key)
                    }
                    // Its lists are uploaded each time.
                    Expr::Listed { .. } => return None,
                    // Where it is read is known to its loop.
                    Expr::Number(..) => return None,
                    // Becomes something else before anything is computed of it.
                    Expr::Reshaped { .. } => return None,
                }
            }
        })
    }

    fn operands(&mut self, operands: &Operands) -> [Option<Position>; 3] {
        let mut numbers = [None; 3];
        for (number, node) in numbers.iter_mut().zip(operands.as_slice()) {
            *number = Some(self.node(node));
        }
        numbers
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> usize {
    list.push(item);
    list.len() - 1
}

impl CacheLookup {
    /// `None` for what is too large, has failed or is never cache_of.
    pub fn of(targets: &[Target]) -> Result<Option<CacheLookup>> {
        let mut walk = KeyBuilder::new();
        for Target { node, placement } in targets {
            let placement = match placement {
                Placement::Fresh => PlacementKey::Fresh,
                Placement::WindowOfFresh(base, start)
                | Placement::InPlace(base, start)
                | Placement::Temporary(base, start) => {
                    let (dist, layout) = (base.distribution()?, base.memory_layout()?);
                    let (dist, layout) = (walk.dist(&dist), walk.dist(&layout));
                    let memory = match placement {
                        Placement::InPlace(..) => PlacementKey::InPlace,
                        Placement::Temporary(..) => PlacementKey::Temporary,
                        Placement::Fresh | Placement::WindowOfFresh(..) => PlacementKey::WindowOfFresh,
                    };
                    memory(dist, layout, walk.index(start))
                }
            };
            let node = walk.node(node);
            walk.key.targets.push(TargetKey { node, placement });
        }
        while walk.key.nodes.len() < walk.visited.len() {
            let node = Arc::clone(&walk.visited[walk.key.nodes.len()]);
            let Some(value) = walk.value(&node) else { return Ok(None) };
            let form = NodeKey { shape: walk.index(&node.shape), dtype: node.dtype, value };
            walk.key.nodes.push(form);
            if walk.visited.len() > MAX_NODES {
                return Ok(None);
            }
        }
        #[cfg(test)]
        tests::leave_out(&mut walk.key);
        let hash = MixBuildHasher::default().hash_one(&walk.key);
        Ok(Some(CacheLookup { key: walk.key, hash, leaves: walk.leaves }))
    }

    /// Computes it, if it is cached: the storages in the order of the targets.
    pub fn repeat(&self, team: &Team, targets: &[Target]) -> Result<Option<Vec<Storage>>> {
        let Some(cached) = cache_of(team).find(self) else { return Ok(None) };
        pass("eval-lowered")?;
        let memory = |(target, (dist, declared, dtype)): (&Target, &(_, _, DType))| {
            target.memory(team, (dist, declared), *dtype)
        };
        let results = targets.iter().zip(&cached.results).map(memory).collect::<Result<Vec<Storage>>>()?;
        let part = |&(source, part): &MemorySlot| {
            let storage = match source.checked_sub(self.leaves.len()) {
                None => &*self.leaves[source].1,
                Some(result) => &results[result],
            };
            storage.parts[part].as_ref().map(|buffer| Arc::clone(buffer.allocation()))
        };
        let job = |CachedLaunch { program, launch, memory }: &CachedLaunch| {
            let memory = memory.iter().map(part).collect::<Option<Vec<_>>>()?;
            Some(Job { program: Arc::clone(program), launch: Arc::clone(launch), memory })
        };
        let command = |step: &CachedCommand| match step {
            CachedCommand::Launch(device, launched) => {
                Some(Command::Launch { device: device.clone(), job: job(launched)? })
            }
            CachedCommand::Boxes(device, boxes) => {
                let jobs = boxes.iter().map(job).collect::<Option<Vec<Job>>>()?;
                Some(Command::Boxes { device: device.clone(), jobs })
            }
            CachedCommand::Note(ranks, computed) => {
                Some(Command::Note { ranks: ranks.clone(), computed: *computed })
            }
        };
        let Some(schedule) = cached.steps.iter().map(command).collect() else { return Ok(None) };
        team.count_messages(cached.messages);
        execute(schedule)?;
        pass("eval-queued")?;
        for (leaf, fresh) in &cached.updated_halos {
            self.leaves[*leaf].1.set_valid_halo(fresh.clone());
        }
        Ok(Some(results))
    }

    /// What `work`, complete and not queued yet, does for these leaves and results; `None` if it is not to be
    /// cache_of.
    pub fn prepare<'a>(
        self,
        mut leaves: impl Iterator<Item = &'a Leaf>,
        work: &ScheduleBuilder,
        results: &[Storage],
        dtypes: &[DType],
    ) -> Option<CachedEvaluation> {
        let place = |storage: &Arc<Storage>| self.leaves.iter().position(|(_, at)| Arc::ptr_eq(at, storage));
        // What was computed on the way, or moved to memory of other extents, was not there when the key was
        // made.
        let is_met = |leaf: &Leaf| match &leaf.source {
            Source::Array(_, storage) => place(storage).is_some(),
            Source::List(..) | Source::Number(..) => false,
        };
        let stays =
            |(node, storage): &(Arc<Node>, _)| node.storage().is_some_and(|now| Arc::ptr_eq(&now, storage));
        if !leaves.all(is_met) || !self.leaves.iter().all(stays) {
            return None;
        }
        let names = names(self.leaves.iter().map(|(_, storage)| &**storage).chain(results))?;
        let launched = |Job { program, launch, memory }: &Job| {
            Some(CachedLaunch {
                program: Arc::clone(program),
                launch: Arc::clone(launch),
                memory: memory.iter().map(|memory| names.get(&memory.id).copied()).collect::<Option<_>>()?,
            })
        };
        let step = |command: &Command| match command {
            Command::Launch { device, job } => Some(CachedCommand::Launch(device.clone(), launched(job)?)),
            Command::Boxes { device, jobs } => {
                Some(CachedCommand::Boxes(device.clone(), jobs.iter().map(launched).collect::<Option<_>>()?))
            }
            Command::Note { ranks, computed } => Some(CachedCommand::Note(ranks.clone(), *computed)),
            Command::Transfer { .. } | Command::After { .. } | Command::Aside(_) => None,
            Command::Meet { .. } | Command::Expect { .. } | Command::ExpectInPlace { .. } => None,
            Command::Fetch { .. } | Command::Send { .. } | Command::Receive { .. } => None,
            Command::Settle { .. } | Command::Reclaim { .. } => None,
        };
        let steps = work.commands().iter().map(step).collect::<Option<Vec<CachedCommand>>>()?;
        let updated_halos =
            work.updated_halos().iter().map(|(storage, fresh)| Some((place(storage)?, fresh.clone())));
        let updated_halos = updated_halos.collect::<Option<_>>()?;
        let result = |(r, &dtype): (&Storage, &DType)| (Arc::clone(&r.dist), Arc::clone(&r.declared), dtype);
        let results = results.iter().zip(dtypes).map(result).collect();
        let messages = work.messages();
        Some(CachedEvaluation { hash: self.hash, key: self.key, steps, results, updated_halos, messages })
    }
}

/// LayoutKey memory, leaves first and then results, and of which part.
type MemorySlot = (usize, usize);

/// The name of every allocation; `None` if one has two.
fn names<'a>(
    storages: impl Iterator<Item = &'a Storage>,
) -> Option<HashMap<u64, MemorySlot, MixBuildHasher>> {
    let mut names = HashMap::default();
    for (source, storage) in storages.enumerate() {
        for (part, buffer) in storage.parts.iter().enumerate() {
            let Some(buffer) = buffer else { continue };
            if names.insert(buffer.allocation().id, (source, part)).is_some() {
                return None;
            }
        }
    }
    Some(names)
}

/// A command layout_key memory is named.
enum CachedCommand {
    Launch(Device, CachedLaunch),
    /// As [`Command::Boxes`].
    Boxes(Device, Vec<CachedLaunch>),
    /// As [`Command::Note`].
    Note(Ranks, u64),
}

/// A job layout_key memory is named.
struct CachedLaunch {
    program: Arc<Program>,
    launch: Arc<Launch>,
    memory: Vec<MemorySlot>,
}

/// How to compute what has a certain form.
pub(crate) struct CachedEvaluation {
    hash: u64,
    key: Key,
    steps: Vec<CachedCommand>,
    /// PlacementKey layouts, distributions and types.
    results: Vec<(Arc<Distribution>, Arc<Distribution>, DType)>,
    /// Leaves layout_key halos are as fresh as this afterwards.
    updated_halos: Vec<(usize, HaloWidths)>,
    messages: u64,
}

impl CachedEvaluation {
    /// Keeps it for the next time.
    pub fn keep(self, team: &Team) {
        cache_of(team).insert(self);
    }

    fn weight(&self) -> usize {
        self.key.nodes.len() + self.steps.len()
    }
}

/// What a team keeps, by hash: of two forms with one hash, the later.
#[derive(Default)]
struct EvaluationCache {
    cached: HashMap<u64, Arc<CachedEvaluation>, MixBuildHasher>,
    weight: usize,
    #[cfg(test)]
    found: usize,
}

impl EvaluationCache {
    fn find(&mut self, lookup: &CacheLookup) -> Option<Arc<CachedEvaluation>> {
        let cached = self.cached.get(&lookup.hash).filter(|cached| cached.key == lookup.key)?;
        #[cfg(test)]
        (self.found += 1);
        Some(Arc::clone(cached))
    }

    fn insert(&mut self, cached: CachedEvaluation) {
        if self.weight + cached.weight() > MAX_KEPT {
            (self.cached, self.weight) = Default::default();
        }
        self.weight += cached.weight();
        let before = self.cached.insert(cached.hash, Arc::new(cached));
        self.weight -= before.map_or(0, |before| before.weight());
    }
}

fn cache_of(team: &Team) -> MutexGuard<'_, EvaluationCache> {
    let any: &(dyn Any + Send + Sync) = team.notes(|| Box::new(Mutex::<EvaluationCache>::default()));
    let Some(cache_of) = any.downcast_ref::<Mutex<EvaluationCache>>() else {
        unreachable!("nobody else keeps notes")
    };
    cache_of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
