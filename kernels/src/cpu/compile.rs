//! From the graph to a program of steps over chunks of lanes: which operations run together as one
//! chain of the accumulator machine, in which order, and which slot holds what. It does not know
//! launches; where loads and stores lie is resolved per chunk, by [`super::worker`].

use super::chain::{self, ChainArgs, Do, Micro};
use super::level::{Compiled, Level};
use super::link::{self, Link};
use super::lower::{Graph, NodeId, Roots, What};
use super::ops::MapFn;
use super::place::{Lane, SPLAT};

/// Where a place of the program gets its address.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlaceKind {
    /// One block, at this byte of the fixed area, of `size` bytes per lane: a splatted value, or a
    /// value inside a chain.
    Block { offset: usize, size: usize },
    /// A slot: `offset` bytes times the lanes of a slot; `size` bytes per lane.
    Slot { offset: usize, size: usize },
    /// Row of a load: the memory itself, or the load's slot. Set by [`Step::Load`].
    Load,
    /// Row of a store: the memory itself, or the slot of the stored value.
    Out,
}

/// One load of the body.
pub(super) struct Load {
    pub param: usize,
    pub offsets: Vec<i32>,
    /// Its place, and its slot for when the memory cannot be read in place.
    pub place: u32,
    pub slot: u32,
    /// Every block of it is read before that block of the parameter is stored, if it is.
    pub read_before_store: bool,
}

/// One coordinate of the body: `place` is its slot.
pub(super) struct Coord {
    pub dim: usize,
    pub lane: Lane,
    pub place: u32,
}

/// A splatted value that is known before the first chunk.
pub(super) enum Splat {
    Constant(u64),
    Argument(usize),
}

/// One store of an elementwise kernel.
pub(super) struct Stored {
    pub param: usize,
    /// Where the value is.
    pub place: u32,
    /// The place through which a chain writes it, if it does.
    pub out: Option<u32>,
}

/// A part of the program, run over all lanes of a chunk.
pub(super) enum Step {
    Load(usize),
    Coord(usize),
    Map { f: MapFn, dst: u32, args: [Option<u32>; 3] },
    Chain { f: Compiled<ChainArgs>, code: Vec<Micro> },
}

/// A compiled body.
pub(super) struct Code {
    pub places: Vec<PlaceKind>,
    pub splats: Vec<(Splat, u32, usize)>,
    /// Run once per worker, on one block: values that depend on constants and arguments only.
    pub prologue: Vec<Step>,
    pub steps: Vec<Step>,
    pub loads: Vec<Load>,
    pub coords: Vec<Coord>,
    pub stores: Vec<Stored>,
    /// Place of each node the form uses, in the order of [`Roots::nodes`].
    pub roots: Vec<u32>,
    /// Bytes per lane of all slots.
    pub slot_bytes: usize,
    /// Bytes of the fixed area.
    pub fixed_bytes: usize,
    /// The whole body is at most one chain, so that a row in place needs no slots.
    pub single_pass: bool,
}

/// Compiles a graph.
pub(super) fn compile(graph: &Graph, level: Level) -> Code {
    let count = graph.nodes.len();
    let mut compiler = Compiler {
        graph,
        level,
        groups: groups(graph),
        place: vec![u32::MAX; count],
        uses: vec![0; count],
        last_use: vec![0; count],
        read_outside: vec![false; count],
        free: Vec::new(),
        code: Code {
            places: Vec::new(),
            splats: Vec::new(),
            prologue: Vec::new(),
            steps: Vec::new(),
            loads: Vec::new(),
            coords: Vec::new(),
            stores: Vec::new(),
            roots: Vec::new(),
            slot_bytes: 0,
            fixed_bytes: 0,
            single_pass: true,
        },
    };
    compiler.find_uses();
    compiler.declare_stores();
    for at in 0..compiler.groups.len() {
        compiler.group(at);
    }
    compiler.finish();
    compiler.code
}

/// Nodes that run as one step: one compiled loop, or one chain.
struct Group {
    nodes: Vec<NodeId>,
    uniform: bool,
}

/// The class of a node: compiled loops run before chains of f32 before chains of f64.
fn class(what: &What) -> usize {
    match what {
        What::Chain(_, Lane::F64) => 2,
        What::Chain(..) => 1,
        _ => 0,
    }
}

fn is_source(what: &What) -> bool {
    matches!(what, What::Constant(_) | What::Argument(_) | What::Load { .. } | What::Coord(_))
}

/// Orders the operations in as few steps as dependences allow: uniform ones first, then by phase,
/// the number of times a chain's results must go back into a compiled loop.
fn groups(graph: &Graph) -> Vec<Group> {
    let mut phase = vec![0; graph.nodes.len()];
    let mut order: Vec<(bool, usize, usize, NodeId)> = Vec::new();
    for (id, node) in graph.nodes.iter().enumerate().filter(|(_, n)| !is_source(&n.what)) {
        let own = class(&node.what);
        let inputs = node
            .args
            .iter()
            .filter(|&&a| !is_source(&graph.nodes[a].what) && graph.nodes[a].uniform == node.uniform);
        phase[id] =
            inputs.map(|&a| phase[a] + usize::from(class(&graph.nodes[a].what) > own)).max().unwrap_or(0);
        order.push((!node.uniform, phase[id], own, id));
    }
    order.sort_unstable();
    let mut groups: Vec<Group> = Vec::new();
    let mut previous = None;
    for (varying, phase, own, id) in order {
        match groups.last_mut() {
            Some(group) if own > 0 && previous == Some((varying, phase, own)) => group.nodes.push(id),
            _ => groups.push(Group { nodes: vec![id], uniform: !varying }),
        }
        previous = Some((varying, phase, own));
    }
    groups
}

/// Can the accumulator machine write this value to its store itself? Not masks.
fn written_by_chain(graph: &Graph, id: NodeId) -> bool {
    let node = &graph.nodes[id];
    !node.uniform && matches!(node.what, What::Chain(_, lane) if lane == node.lane)
}

struct Compiler<'g> {
    graph: &'g Graph,
    level: Level,
    groups: Vec<Group>,
    place: Vec<u32>,
    /// How many operations and roots use a node.
    uses: Vec<usize>,
    /// The last group that uses a node; past the end for roots.
    last_use: Vec<usize>,
    /// Is it read by another group, or by a root other than a store that a chain writes itself?
    read_outside: Vec<bool>,
    /// Slots that are free again: `(size, offset)`.
    free: Vec<(usize, usize)>,
    code: Code,
}

impl Compiler<'_> {
    fn find_uses(&mut self) {
        let mut made = vec![usize::MAX; self.graph.nodes.len()];
        for (at, group) in self.groups.iter().enumerate() {
            for &id in &group.nodes {
                made[id] = at;
                for &arg in &self.graph.nodes[id].args {
                    self.uses[arg] += 1;
                    self.last_use[arg] = at;
                    self.read_outside[arg] |= made[arg] != at;
                }
            }
        }
        let stored = matches!(self.graph.roots, Roots::Stores(_));
        for root in self.graph.roots.nodes() {
            self.uses[root] += 1;
            self.last_use[root] = self.groups.len();
            self.read_outside[root] |= !(stored && written_by_chain(self.graph, root));
        }
    }

    fn place_of(&mut self, kind: PlaceKind) -> u32 {
        self.code.places.push(kind);
        (self.code.places.len() - 1) as u32
    }

    fn block(&mut self, size: usize) -> u32 {
        let offset = self.code.fixed_bytes;
        self.code.fixed_bytes += SPLAT * size;
        self.place_of(PlaceKind::Block { offset, size })
    }

    fn slot(&mut self, size: usize) -> u32 {
        let offset = match self.free.iter().position(|&(s, _)| s == size) {
            Some(at) => self.free.swap_remove(at).1,
            None => {
                self.code.slot_bytes += size;
                self.code.slot_bytes - size
            }
        };
        self.place_of(PlaceKind::Slot { offset, size })
    }

    fn release(&mut self, place: u32) {
        if let PlaceKind::Slot { offset, size } = self.code.places[place as usize] {
            self.free.push((size, offset));
        }
    }

    /// Frees the slots of nodes whose last user is the group `at`. Only after the group has its own
    /// slots: a step must not write what it reads.
    fn release_after(&mut self, at: usize) {
        let mut done: Vec<NodeId> =
            self.groups[at].nodes.iter().flat_map(|&id| &self.graph.nodes[id].args).copied().collect();
        done.sort_unstable();
        done.dedup();
        // Values that stayed in a chain's accumulator have no place.
        done.retain(|&id| self.last_use[id] == at && self.place[id] != u32::MAX);
        for id in done {
            let place = self.place[id];
            let load = self.code.loads.iter().find(|load| load.place == place);
            self.release(load.map_or(place, |load| load.slot));
        }
    }

    /// Stores come first in the tables, so that chains can write them.
    fn declare_stores(&mut self) {
        if let Roots::Stores(stores) = &self.graph.roots {
            for &(param, _) in stores {
                self.code.stores.push(Stored { param, place: u32::MAX, out: None });
            }
        }
    }

    /// Makes sure a source has a place.
    fn source(&mut self, id: NodeId) {
        if self.place[id] != u32::MAX {
            return;
        }
        let node = &self.graph.nodes[id];
        let size = node.lane.size();
        self.place[id] = match &node.what {
            What::Constant(bits) => {
                let place = self.block(size);
                self.code.splats.push((Splat::Constant(*bits), place, size));
                place
            }
            What::Argument(n) => {
                let place = self.block(size);
                self.code.splats.push((Splat::Argument(*n), place, size));
                place
            }
            What::Load { param, offsets } => {
                let (place, slot) = (self.place_of(PlaceKind::Load), self.slot(size));
                self.code.steps.push(Step::Load(self.code.loads.len()));
                self.code.loads.push(Load {
                    param: *param,
                    offsets: offsets.clone(),
                    place,
                    slot,
                    read_before_store: false,
                });
                place
            }
            What::Coord(dim) => {
                let place = self.slot(size);
                self.code.steps.push(Step::Coord(self.code.coords.len()));
                self.code.coords.push(Coord { dim: *dim, lane: node.lane, place });
                place
            }
            What::Chain(..) | What::Map(_) => unreachable!("operations are placed by their group"),
        };
    }

    fn group(&mut self, at: usize) {
        let nodes = self.groups[at].nodes.clone();
        let uniform = self.groups[at].uniform;
        for &id in &nodes {
            for arg in self.graph.nodes[id].args.clone() {
                if is_source(&self.graph.nodes[arg].what) {
                    self.source(arg);
                }
            }
        }
        let step = match self.graph.nodes[nodes[0]].what {
            What::Map(f) => self.map(nodes[0], f, uniform),
            _ => self.chain(at, &nodes, uniform),
        };
        if uniform {
            self.code.prologue.push(step)
        } else {
            self.code.steps.push(step)
        }
        self.release_after(at);
    }

    fn map(&mut self, id: NodeId, f: MapFn, uniform: bool) -> Step {
        let size = self.graph.nodes[id].lane.size();
        let dst = if uniform { self.block(size) } else { self.slot(size) };
        self.place[id] = dst;
        let args = &self.graph.nodes[id].args;
        let args = std::array::from_fn(|k| args.get(k).map(|&a| self.place[a]));
        self.code.single_pass &= uniform;
        Step::Map { f, dst, args }
    }

    /// Places the chain's values: those needed outside in slots, the others in blocks that only the
    /// machine sees; stores are written by the machine itself.
    fn chain(&mut self, at: usize, nodes: &[NodeId], uniform: bool) -> Step {
        let operations = link::operations(self.graph, nodes, &self.uses);
        let mut links = Vec::with_capacity(operations.len());
        let mut blocks: Vec<(usize, usize, u32)> = Vec::new();
        for (position, need) in link::plan(&operations).into_iter().enumerate() {
            let id = operations[position].id;
            let outs = self.outs(id);
            let size = self.graph.nodes[id].lane.size();
            let outside = self.last_use[id] > at;
            if outside {
                self.place[id] = if uniform { self.block(size) } else { self.slot(size) };
            } else if let Some(until) = need.in_memory_until {
                self.place[id] = self.reused_block(&mut blocks, position, until, size);
            }
            // A stored value goes to its slot only where something else reads it there.
            let read = outside && self.read_outside[id];
            let put = need.in_memory_until.is_some() || read || need.is_mask;
            self.code.single_pass &= uniform || !(put && outside);
            links.push(Link { place: put.then_some(self.place[id]), outs });
        }
        let Some(What::Chain(_, lane)) = nodes.first().map(|&id| &self.graph.nodes[id].what) else {
            unreachable!("a group of chain operations is not empty");
        };
        let code = link::link(&operations, &links, &self.place);
        self.code.single_pass &= uniform || !self.code.steps.iter().any(|s| matches!(s, Step::Chain { .. }));
        Step::Chain { f: chain::machine(self.level, *lane), code }
    }

    /// A block of the chain whose last reader, if it had one, ran before `position`.
    fn reused_block(
        &mut self,
        blocks: &mut Vec<(usize, usize, u32)>,
        position: usize,
        until: usize,
        size: usize,
    ) -> u32 {
        if let Some(free) = blocks.iter_mut().find(|b| b.0 == size && b.1 <= position) {
            free.1 = until;
            return free.2;
        }
        let place = self.block(size);
        blocks.push((size, until, place));
        place
    }

    /// The stores a chain can write itself: of floats, not of masks.
    fn outs(&mut self, id: NodeId) -> Vec<u32> {
        let Roots::Stores(stores) = &self.graph.roots else { return Vec::new() };
        if !written_by_chain(self.graph, id) {
            return Vec::new();
        }
        let mine: Vec<usize> = (0..stores.len()).filter(|&s| stores[s].1 == id).collect();
        let mut outs = Vec::new();
        for store in mine {
            let place = self.place_of(PlaceKind::Out);
            self.code.stores[store].out = Some(place);
            outs.push(place);
        }
        outs
    }

    fn finish(&mut self) {
        for root in self.graph.roots.nodes() {
            if is_source(&self.graph.nodes[root].what) {
                self.source(root);
            }
            self.code.roots.push(self.place[root]);
        }
        for (stored, &place) in self.code.stores.iter_mut().zip(&self.code.roots) {
            stored.place = place;
        }
        self.code.single_pass &= self.code.coords.is_empty();
        for at in 0..self.code.loads.len() {
            self.code.loads[at].read_before_store = self.read_before_store(&self.code.loads[at]);
        }
    }

    fn read_before_store(&self, load: &Load) -> bool {
        // What is stored as it was loaded is read when all chains have run.
        if self.code.roots.contains(&load.place) {
            return false;
        }
        let store =
            self.code.stores.iter().find(|store| store.param == load.param).and_then(|store| store.out);
        match (self.code.steps.last(), store) {
            (Some(Step::Chain { code, .. }), Some(out)) if self.code.single_pass => {
                let written = code.iter().position(|m| m.what == Do::Out && m.x == out);
                let read = code.iter().rposition(|m| m.reads(load.place));
                written.is_some_and(|written| read.is_some_and(|read| read < written))
            }
            _ => false,
        }
    }
}
