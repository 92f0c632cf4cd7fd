//! From the graph to a list of steps over chunks of lanes, and which slot holds which value.
//!
//! Each operation is one compiled loop from slots to a slot. The addresses of loads and stores are resolved
//! per chunk by [`super::worker`].

use super::lower::{Graph, NodeId, NodeKind, Roots};
use crate::cpu::loops::lanes::{BLOCK, Lane};
use crate::cpu::loops::map::MapFn;

/// The source of the address of a place of the program.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu) enum PlaceKind {
    /// One block of a value that is the same at all points, at this byte of the fixed area, of `size` bytes
    /// per lane.
    Block { offset: usize, size: usize },
    /// A slot: `offset` bytes times the lanes of a slot; `size` bytes per lane.
    Slot { offset: usize, size: usize },
    /// Row of a load: the memory itself, or the load's slot. Set by [`Step::Load`].
    Load,
}

/// One load of the body.
pub(in crate::cpu) struct Load {
    pub param: usize,
    pub offsets: Vec<i32>,
    /// Its place, and its slot for when the memory cannot be read in place.
    pub place: u32,
    pub slot: u32,
}

/// One coordinate of the body: `place` is its slot.
pub(in crate::cpu) struct Coord {
    pub dim: usize,
    pub lane: Lane,
    pub place: u32,
}

/// A value that is known before the first chunk.
pub(in crate::cpu) enum Uniform {
    Constant(u64),
    Argument(usize),
}

/// One store of an elementwise kernel, and the place of its value.
pub(in crate::cpu) struct StoreStep {
    pub param: usize,
    pub place: u32,
}

/// A part of the program, run over all lanes of a chunk.
pub(in crate::cpu) enum Step {
    Load(usize),
    Coord(usize),
    Map { f: MapFn, dst: u32, args: [Option<u32>; 3] },
}

/// A compiled body.
#[derive(Default)]
pub(in crate::cpu) struct Code {
    pub places: Vec<PlaceKind>,
    /// Values that are the same at all points, their places and bytes per lane.
    pub uniforms: Vec<(Uniform, u32, usize)>,
    /// Run once per worker, on one block: values that depend on constants and arguments only.
    pub prologue: Vec<Step>,
    pub steps: Vec<Step>,
    pub loads: Vec<Load>,
    pub coords: Vec<Coord>,
    pub stores: Vec<StoreStep>,
    /// Place of each node the form uses, in the order of [`Roots::nodes`].
    pub roots: Vec<u32>,
    /// Bytes per lane of all slots.
    pub slot_bytes: usize,
    /// Bytes of the fixed area.
    pub fixed_bytes: usize,
}

impl Code {
    /// Whether the values are just what was loaded, so that rows in place need no slots.
    pub fn only_loads(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Load(_)))
    }
}

/// Compiles a graph.
pub(in crate::cpu) fn compile(graph: &Graph) -> Code {
    let count = graph.nodes.len();
    let mut last_use = vec![0; count];
    for (id, node) in graph.nodes.iter().enumerate() {
        node.args.iter().for_each(|&arg| last_use[arg] = id);
    }
    graph.roots.nodes().into_iter().for_each(|root| last_use[root] = count);
    let mut compiler =
        Compiler { graph, place: vec![None; count], last_use, free: Vec::new(), code: Code::default() };
    for id in 0..count {
        compiler.operation(id);
    }
    compiler.finish();
    compiler.code
}

struct Compiler<'g> {
    graph: &'g Graph,
    place: Vec<Option<u32>>,
    /// The last node that uses a node; past the end for roots.
    last_use: Vec<NodeId>,
    /// Slots that are free again: `(size, offset)`.
    free: Vec<(usize, usize)>,
    code: Code,
}

impl Compiler<'_> {
    fn place_of(&mut self, kind: PlaceKind) -> u32 {
        self.code.places.push(kind);
        (self.code.places.len() - 1) as u32
    }

    fn block(&mut self, size: usize) -> u32 {
        let offset = self.code.fixed_bytes;
        self.code.fixed_bytes += BLOCK * size;
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

    /// Frees the slots of operands whose last user is `id`. Only after `id` has its own slot: a step must not
    /// write what it reads.
    fn release_operands(&mut self, id: NodeId) {
        let mut done = self.graph.nodes[id].args.clone();
        done.sort_unstable();
        done.dedup();
        done.retain(|&arg| self.last_use[arg] == id);
        for arg in done {
            let place = self.source(arg);
            let load = self.code.loads.iter().find(|load| load.place == place);
            let slot = load.map_or(place, |load| load.slot);
            if let PlaceKind::Slot { offset, size } = self.code.places[slot as usize] {
                self.free.push((size, offset));
            }
        }
    }

    /// The place of a value; sources are added to the program when they are first used.
    fn source(&mut self, id: NodeId) -> u32 {
        if let Some(place) = self.place[id] {
            return place;
        }
        let node = &self.graph.nodes[id];
        let size = node.lane.size();
        let place = match &node.kind {
            NodeKind::Constant(bits) => self.uniform(Uniform::Constant(*bits), size),
            NodeKind::Argument(n) => self.uniform(Uniform::Argument(*n), size),
            NodeKind::Load { param, offsets } => {
                let (place, slot) = (self.place_of(PlaceKind::Load), self.slot(size));
                self.code.steps.push(Step::Load(self.code.loads.len()));
                self.code.loads.push(Load { param: *param, offsets: offsets.clone(), place, slot });
                place
            }
            NodeKind::Coord(dim) => {
                let place = self.slot(size);
                self.code.steps.push(Step::Coord(self.code.coords.len()));
                self.code.coords.push(Coord { dim: *dim, lane: node.lane, place });
                place
            }
            NodeKind::Map(_) => unreachable!("operations are placed in order, before their users"),
        };
        self.place[id] = Some(place);
        place
    }

    fn uniform(&mut self, uniform: Uniform, size: usize) -> u32 {
        let place = self.block(size);
        self.code.uniforms.push((uniform, place, size));
        place
    }

    fn operation(&mut self, id: NodeId) {
        let node = &self.graph.nodes[id];
        let NodeKind::Map(f) = node.kind else { return };
        let mut args = [None; 3];
        for (arg, &operand) in args.iter_mut().zip(&node.args) {
            *arg = Some(self.source(operand));
        }
        let size = node.lane.size();
        let dst = if node.uniform { self.block(size) } else { self.slot(size) };
        self.place[id] = Some(dst);
        let step = Step::Map { f, dst, args };
        if node.uniform {
            self.code.prologue.push(step);
        } else {
            self.code.steps.push(step);
        }
        self.release_operands(id);
    }

    fn finish(&mut self) {
        self.code.roots = self.graph.roots.nodes().into_iter().map(|root| self.source(root)).collect();
        if let Roots::Stores(stores) = &self.graph.roots {
            let store = |(&(param, _), &place): (&(usize, NodeId), &u32)| StoreStep { param, place };
            self.code.stores = stores.iter().zip(&self.code.roots).map(store).collect();
        }
    }
}
