//! Evaluations prepared once: what computing a group of results came down to, kept by the form of the
//! expressions, so that computing the same form again, of other memory, is one walk over the nodes, fresh
//! memory and the launches.
//!
//! Invariant: a [`Key`] contains everything that lowering, planning and binding read of nodes, storages and
//! targets, the memory itself apart. What they read of the team need not be in it, because every team keeps
//! its own. The walk matches every variant and names every field, so that a new one cannot be forgotten.
//!
//! Only what is launches on this process's devices over memory of the operands and results is kept: what
//! travels between devices or ranks, is uploaded, or needs memory in between is planned anew each time. So
//! whether one rank finds an evaluation prepared and another does not makes no difference to a third.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::{DType, Launch, Scalar};

use super::eval::{Onto, Target};
use super::lower::{Leaf, Source};
use super::map::Map;
use super::node::{Expr, Layout, Node, Operands, Pointwise, Portion, Reduction, State};
use super::storage::{Fresh, Storage};
use super::work::Work;
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

/// The form of some expressions: nodes are told apart by when they were first met, shapes and distributions
/// by their contents.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Key {
    nodes: Vec<Form>,
    targets: Vec<Goal>,
    indices: Vec<Index>,
    maps: Vec<Arc<Map>>,
    dists: Vec<Arc<Distribution>>,
}

/// A place in one of a key's lists.
type At = u32;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Form {
    shape: At,
    dtype: DType,
    value: Value,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Value {
    Fill(Scalar, Whose),
    Coord(usize, Whose),
    Apply(Pointwise, [Option<At>; 3], Whose),
    View {
        base: At,
        map: At,
        whose: Whose,
    },
    Reduce {
        operand: At,
        reduction: Reduction,
        axes: Vec<usize>,
        whose: Whose,
    },
    /// Starts and values.
    Joined(Vec<(At, At)>, Whose),
    /// Computed: how it lies in memory, its own distribution, and how much of its halo is current.
    Memory {
        dist: At,
        declared: At,
        lo: At,
        hi: At,
        corners: bool,
    },
}

/// A [`Layout`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Whose {
    Nobodys,
    Known(At),
    ViewOf(At, At),
}

/// A [`Target`]: the node, and the distribution, memory layout and shift of what it is a window of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Goal {
    node: At,
    onto: Memory,
}

/// An [`Onto`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Memory {
    Own,
    Whole(At, At, At),
    Over(At, At, At),
    Aside(At, At, At),
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
pub(crate) struct Mix(u64);

impl Hasher for Mix {
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

pub(crate) type Mixed = BuildHasherDefault<Mix>;

/// What is to be computed: its form, and the memory that this time it is about.
pub(crate) struct Sketch {
    key: Key,
    hash: u64,
    /// The computed nodes in the order in which they were met.
    leaves: Vec<(Arc<Node>, Arc<Storage>)>,
}

/// A walk over expressions that writes their key.
struct Walk {
    key: Key,
    /// The nodes met so far, in order.
    met: Vec<Arc<Node>>,
    number: HashMap<*const Node, At, Mixed>,
    leaves: Vec<(Arc<Node>, Arc<Storage>)>,
}

impl Walk {
    /// With room for what is usual.
    fn new() -> Walk {
        const USUAL: usize = 28;
        let key = Key { nodes: Vec::with_capacity(USUAL), ..Key::default() };
        let number = HashMap::with_capacity_and_hasher(USUAL, Mixed::default());
        Walk { key, met: Vec::with_capacity(USUAL), number, leaves: Vec::new() }
    }

    fn node(&mut self, node: &Arc<Node>) -> At {
        *self.number.entry(Arc::as_ptr(node)).or_insert_with(|| {
            self.met.push(Arc::clone(node));
            (self.met.len() - 1) as At
        })
    }

    fn index(&mut self, index: &Index) -> At {
        let indices = &mut self.key.indices;
        let known = indices.iter().rposition(|other| other == index);
        known.unwrap_or_else(|| push(indices, *index)) as At
    }

    fn map(&mut self, map: &Arc<Map>) -> At {
        let maps = &mut self.key.maps;
        let known = maps.iter().rposition(|other| other == map);
        known.unwrap_or_else(|| push(maps, Arc::clone(map))) as At
    }

    fn dist(&mut self, dist: &Arc<Distribution>) -> At {
        let dists = &mut self.key.dists;
        let known = dists.iter().position(|other| other == dist);
        known.unwrap_or_else(|| push(dists, Arc::clone(dist))) as At
    }

    fn layout(&mut self, layout: &Layout) -> Whose {
        match layout {
            Layout::Free => Whose::Nobodys,
            Layout::Known(dist) => Whose::Known(self.dist(dist)),
            Layout::ViewOf(node, map) => Whose::ViewOf(self.node(node), self.map(map)),
        }
    }

    /// `None` for a node that failed, and for what is never kept.
    fn value(&mut self, node: &Arc<Node>) -> Option<Value> {
        Some(match &*node.state() {
            State::Failed(_) => return None,
            State::Ready(storage) => {
                self.leaves.push((Arc::clone(node), Arc::clone(storage)));
                let Fresh { lo, hi, corners } = storage.fresh();
                let dist = self.dist(&storage.dist);
                let declared = self.dist(&storage.declared);
                Value::Memory { dist, declared, lo: self.index(&lo), hi: self.index(&hi), corners }
            }
            State::Lazy { expr, layout } => {
                let whose = self.layout(layout);
                match expr {
                    Expr::Fill(scalar) => Value::Fill(*scalar, whose),
                    Expr::Coord(dim) => Value::Coord(*dim, whose),
                    Expr::Apply(op, operands) => Value::Apply(*op, self.operands(operands), whose),
                    Expr::View { base, map } => {
                        Value::View { base: self.node(base), map: self.map(map), whose }
                    }

                    Expr::Reduce { operand, reduction, axes } => Value::Reduce {
                        operand: self.node(operand),
                        reduction: *reduction,
                        axes: axes.clone(),
                        whose,
                    },
                    Expr::Joined(portions) => {
                        let portion =
                            |Portion { start, value }: &Portion| (self.index(start), self.node(value));
                        Value::Joined(portions.iter().map(portion).collect(), whose)
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

    fn operands(&mut self, operands: &Operands) -> [Option<At>; 3] {
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

impl Sketch {
    /// `None` for what is too large, has failed or is never kept.
    pub fn of(targets: &[Target]) -> Result<Option<Sketch>> {
        let mut walk = Walk::new();
        for Target { node, onto } in targets {
            let onto = match onto {
                Onto::Own => Memory::Own,
                Onto::Whole(base, start) | Onto::Over(base, start) | Onto::Aside(base, start) => {
                    let (dist, layout) = (base.distribution()?, base.memory_layout()?);
                    let (dist, layout) = (walk.dist(&dist), walk.dist(&layout));
                    let memory = match onto {
                        Onto::Over(..) => Memory::Over,
                        Onto::Aside(..) => Memory::Aside,
                        Onto::Own | Onto::Whole(..) => Memory::Whole,
                    };
                    memory(dist, layout, walk.index(start))
                }
            };
            let node = walk.node(node);
            walk.key.targets.push(Goal { node, onto });
        }
        while walk.key.nodes.len() < walk.met.len() {
            let node = Arc::clone(&walk.met[walk.key.nodes.len()]);
            let Some(value) = walk.value(&node) else { return Ok(None) };
            let form = Form { shape: walk.index(&node.shape), dtype: node.dtype, value };
            walk.key.nodes.push(form);
            if walk.met.len() > MAX_NODES {
                return Ok(None);
            }
        }
        #[cfg(test)]
        tests::leave_out(&mut walk.key);
        let hash = Mixed::default().hash_one(&walk.key);
        Ok(Some(Sketch { key: walk.key, hash, leaves: walk.leaves }))
    }

    /// Computes it, if it is prepared: the storages in the order of the targets.
    pub fn repeat(&self, team: &Team, targets: &[Target]) -> Result<Option<Vec<Storage>>> {
        let Some(prepared) = kept(team).find(self) else { return Ok(None) };
        pass("eval-lowered")?;
        let memory = |(target, (dist, declared, dtype)): (&Target, &(_, _, DType))| {
            target.memory(team, (dist, declared), *dtype)
        };
        let results = targets.iter().zip(&prepared.results).map(memory).collect::<Result<Vec<Storage>>>()?;
        let part = |&(source, part): &Name| {
            let storage = match source.checked_sub(self.leaves.len()) {
                None => &*self.leaves[source].1,
                Some(result) => &results[result],
            };
            storage.parts[part].as_ref().map(|buffer| Arc::clone(buffer.allocation()))
        };
        let job = |Launched { program, launch, memory }: &Launched| {
            let memory = memory.iter().map(part).collect::<Option<Vec<_>>>()?;
            Some(Job { program: Arc::clone(program), launch: Arc::clone(launch), memory })
        };
        let command = |step: &Step| match step {
            Step::Launch(device, launched) => {
                Some(Command::Launch { device: device.clone(), job: job(launched)? })
            }
            Step::Boxes(device, boxes) => {
                let jobs = boxes.iter().map(job).collect::<Option<Vec<Job>>>()?;
                Some(Command::Boxes { device: device.clone(), jobs })
            }
            Step::Note(ranks, computed) => Some(Command::Note { ranks: ranks.clone(), computed: *computed }),
        };
        let Some(schedule) = prepared.steps.iter().map(command).collect() else { return Ok(None) };
        team.count_messages(prepared.messages);
        execute(schedule)?;
        pass("eval-queued")?;
        for (leaf, fresh) in &prepared.refreshed {
            self.leaves[*leaf].1.set_fresh(fresh.clone());
        }
        Ok(Some(results))
    }

    /// What `work`, complete and not queued yet, does for these leaves and results; `None` if it is not to be
    /// kept.
    pub fn prepare<'a>(
        self,
        mut leaves: impl Iterator<Item = &'a Leaf>,
        work: &Work,
        results: &[Storage],
        dtypes: &[DType],
    ) -> Option<Prepared> {
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
            Some(Launched {
                program: Arc::clone(program),
                launch: Arc::clone(launch),
                memory: memory.iter().map(|memory| names.get(&memory.id).copied()).collect::<Option<_>>()?,
            })
        };
        let step = |command: &Command| match command {
            Command::Launch { device, job } => Some(Step::Launch(device.clone(), launched(job)?)),
            Command::Boxes { device, jobs } => {
                Some(Step::Boxes(device.clone(), jobs.iter().map(launched).collect::<Option<_>>()?))
            }
            Command::Note { ranks, computed } => Some(Step::Note(ranks.clone(), *computed)),
            Command::Transfer { .. } | Command::After { .. } | Command::Aside(_) => None,
            Command::Meet { .. } | Command::Expect { .. } | Command::ExpectInPlace { .. } => None,
            Command::Fetch { .. } | Command::Send { .. } | Command::Receive { .. } => None,
            Command::Settle { .. } | Command::Reclaim { .. } => None,
        };
        let steps = work.commands().iter().map(step).collect::<Option<Vec<Step>>>()?;
        let refreshed =
            work.refreshed().iter().map(|(storage, fresh)| Some((place(storage)?, fresh.clone())));
        let refreshed = refreshed.collect::<Option<_>>()?;
        let result = |(r, &dtype): (&Storage, &DType)| (Arc::clone(&r.dist), Arc::clone(&r.declared), dtype);
        let results = results.iter().zip(dtypes).map(result).collect();
        let messages = work.messages();
        Some(Prepared { hash: self.hash, key: self.key, steps, results, refreshed, messages })
    }
}

/// Whose memory, leaves first and then results, and of which part.
type Name = (usize, usize);

/// The name of every allocation; `None` if one has two.
fn names<'a>(storages: impl Iterator<Item = &'a Storage>) -> Option<HashMap<u64, Name, Mixed>> {
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

/// A command whose memory is named.
enum Step {
    Launch(Device, Launched),
    /// As [`Command::Boxes`].
    Boxes(Device, Vec<Launched>),
    /// As [`Command::Note`].
    Note(Ranks, u64),
}

/// A job whose memory is named.
struct Launched {
    program: Arc<Program>,
    launch: Arc<Launch>,
    memory: Vec<Name>,
}

/// How to compute what has a certain form.
pub(crate) struct Prepared {
    hash: u64,
    key: Key,
    steps: Vec<Step>,
    /// Memory layouts, distributions and types.
    results: Vec<(Arc<Distribution>, Arc<Distribution>, DType)>,
    /// Leaves whose halos are as fresh as this afterwards.
    refreshed: Vec<(usize, Fresh)>,
    messages: u64,
}

impl Prepared {
    /// Keeps it for the next time.
    pub fn keep(self, team: &Team) {
        kept(team).insert(self);
    }

    fn weight(&self) -> usize {
        self.key.nodes.len() + self.steps.len()
    }
}

/// What a team keeps, by hash: of two forms with one hash, the later.
#[derive(Default)]
struct Kept {
    prepared: HashMap<u64, Arc<Prepared>, Mixed>,
    weight: usize,
    #[cfg(test)]
    found: usize,
}

impl Kept {
    fn find(&mut self, sketch: &Sketch) -> Option<Arc<Prepared>> {
        let prepared = self.prepared.get(&sketch.hash).filter(|prepared| prepared.key == sketch.key)?;
        #[cfg(test)]
        (self.found += 1);
        Some(Arc::clone(prepared))
    }

    fn insert(&mut self, prepared: Prepared) {
        if self.weight + prepared.weight() > MAX_KEPT {
            (self.prepared, self.weight) = Default::default();
        }
        self.weight += prepared.weight();
        let before = self.prepared.insert(prepared.hash, Arc::new(prepared));
        self.weight -= before.map_or(0, |before| before.weight());
    }
}

fn kept(team: &Team) -> MutexGuard<'_, Kept> {
    let any: &(dyn Any + Send + Sync) = team.notes(|| Box::new(Mutex::<Kept>::default()));
    let Some(kept) = any.downcast_ref::<Mutex<Kept>>() else { unreachable!("nobody else keeps notes") };
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
