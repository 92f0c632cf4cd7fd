//! [`KernelBody`]: from expressions to one straight-line body. Pointwise operations, constants, coordinates
//! and windows of the roots become instructions; computed values become parameters, plain numbers arguments.
//!
//! Every node is reached through a [`Map`] from the result's coordinates to its own; a view only changes
//! the map, a broadcast dimension pins it. A node reached through several maps is computed again for each:
//! recomputing a few operations is cheaper than a trip through memory.
//!
//! [`Footprint`]: the cells of one operand that each part reads, in the operand's packed coordinates.

use std::collections::HashMap;
use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, MAX_RANK, Scalar, Value, random};
use rustc_hash::FxHashMap;

use crate::array::lower::graph::{Graph, NodeId};
use crate::array::memory::index_lists::IndexList;
use crate::array::memory::step_numbers::StepNumbers;
use crate::array::memory::storage::HaloWidths;
use crate::array::memory::window::ComputeRegion;
use crate::array::record::expr::{Expr, Map, Pointwise, Slot};
use crate::error::Result;
use crate::index::{Along, DimMap, Distribution, Index, Region};
/// Largest body: beyond it an intermediate result is stored. The figure is a guess at where
/// registers and first-level caches are surely exhausted; it was not tuned.
const MAX_BODY: usize = 4000;

/// The most loads and arguments: their distances and numbers fit, with those of 40 arrays, into the 4 KiB
/// that a CUDA launch passes.
const MAX_LOADS: usize = 256;

/// Something the kernel reads.
#[derive(Clone)]
pub(crate) struct Leaf {
    pub source: Source,
    /// Every map it is read through; the first is the anchor of the load offsets.
    pub maps: Vec<Map>,
    pub param: u32,
    pub dtype: DType,
}

/// The source of a value that a kernel reads.
#[derive(Clone)]
pub(crate) enum Source {
    /// A computed value.
    Memory(NodeId),
    /// A list along a dimension of the result.
    List(IndexList, usize),
    /// One of the numbers of a `Loop`'s step.
    Number(Arc<StepNumbers>, usize),
}

/// One scalar argument of a kernel.
#[derive(Clone, Hash)]
pub(crate) enum KernelArgument {
    /// A plain number of the recorded program.
    Number(Slot),
    /// A number of a formula of coordinates.
    PerPart(Vec<Scalar>),
}

/// The scalar arguments of a kernel, in order.
#[derive(Clone, Default, Hash)]
pub(crate) struct KernelArguments(Vec<KernelArgument>);

impl KernelArguments {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn push(&mut self, argument: KernelArgument) {
        self.0.push(argument);
    }

    pub fn iter(&self) -> impl Iterator<Item = &KernelArgument> {
        self.0.iter()
    }
}

/// Why lowering stopped: this node must be computed first.
pub(crate) struct Prerequisite(pub NodeId);

/// The body under construction.
pub(crate) struct KernelBody {
    pub builder: Builder,
    pub leaves: Vec<Leaf>,
    dist: Arc<Distribution>,
    max_leaves: usize,
    /// The type that coordinates are computed in.
    coord: DType,
    /// The global coordinate in each dimension, once it is computed.
    globals: [Option<Value>; MAX_RANK],
    pub arguments: KernelArguments,
    /// The arguments that are plain numbers.
    numbers: FxHashMap<Slot, Value>,
    known: FxHashMap<(NodeId, Map), Value>,
    leaf_of: FxHashMap<(NodeId, Map), usize>,
    /// The last operation finished: where to cut.
    last: Option<NodeId>,
}

impl KernelBody {
    /// A body over the packed coordinates of `dist`.
    pub fn new(name: &str, dist: &Arc<Distribution>, max_leaves: usize) -> KernelBody {
        KernelBody {
            builder: Builder::new(name, dist.rank()),
            leaves: Vec::new(),
            max_leaves,
            coord: if fits_i32(dist) { DType::I32 } else { DType::I64 },
            dist: Arc::clone(dist),
            globals: [None; MAX_RANK],
            arguments: KernelArguments::default(),
            numbers: HashMap::default(),
            known: HashMap::default(),
            leaf_of: HashMap::default(),
            last: None,
        }
    }

    /// Appends what computes `root` at the current point. `Err` if another node has to be computed first.
    pub fn lower(&mut self, graph: &Graph, root: NodeId) -> Result<std::result::Result<Value, Prerequisite>> {
        let start = (root, Map::identity(graph.rank(root)));
        let mut pending = vec![start];
        while let Some((node, map)) = pending.pop() {
            if self.known.contains_key(&(node, map)) {
                continue;
            }
            let before = pending.len();
            match self.step(graph, node, map, &mut pending)? {
                LoweringStep::Done(value) => {
                    self.known.insert((node, map), value);
                }
                LoweringStep::Wait => pending.insert(before, (node, map)),
                LoweringStep::Prerequisite(node) => return Ok(Err(Prerequisite(node))),
            }
            if (self.builder.len() > MAX_BODY || self.binds_too_much()) && !pending.is_empty() {
                return Ok(Err(Prerequisite(self.cut(graph, root, &pending))));
            }
        }
        Ok(Ok(self.known[&start]))
    }

    /// What a node was lowered to at the point itself, if it is part of the body.
    pub fn at_point(&self, graph: &Graph, node: NodeId) -> Option<Value> {
        self.known.get(&(node, Map::identity(graph.rank(node)))).copied()
    }

    /// Whether the kernel reads more arrays, or at more places, or has more arguments, than a launch can
    /// name.
    pub fn binds_too_much(&self) -> bool {
        let loads: usize = self.leaves.iter().map(|leaf| leaf.maps.len()).sum();
        self.leaves.len() > self.max_leaves || loads + self.arguments.len() > MAX_LOADS
    }

    /// The node to store first when the kernel grows too large: the last operation finished, or the
    /// deepest one that still waits for operands. Each cut leaves fewer operations to compute, so
    /// cutting ends.
    fn cut(&self, graph: &Graph, root: NodeId, pending: &[(NodeId, Map)]) -> NodeId {
        let waiting = || pending.iter().rev().map(|(node, _)| *node).find(|&node| graph.is_operation(node));
        self.last.or_else(waiting).unwrap_or(root)
    }

    fn step(
        &mut self,
        graph: &Graph,
        node: NodeId,
        map: Map,
        pending: &mut Vec<(NodeId, Map)>,
    ) -> Result<LoweringStep> {
        let shape = graph.shape(node);
        let Some(expr) = graph.expr(node) else {
            return Ok(LoweringStep::Done(self.load(graph, node, map)?));
        };
        let operands: Vec<(NodeId, Map)> = match expr {
            Expr::Fill(slot) => return Ok(LoweringStep::Done(self.plain_number(*slot, graph.dtype(node)))),
            Expr::Constant(scalar) => return Ok(LoweringStep::Done(self.builder.constant(*scalar))),
            Expr::Coord(d) => {
                let value = self.coordinate(map.axes()[*d], shape[*d], graph.dtype(node));
                return Ok(LoweringStep::Done(value));
            }
            Expr::Number(numbers, which) => {
                return Ok(LoweringStep::Done(self.number(numbers, *which)));
            }
            Expr::Reduce { .. }
            | Expr::Joined(_)
            | Expr::Reshaped { .. }
            | Expr::Moved { .. }
            | Expr::Whole(..) => return Ok(LoweringStep::Prerequisite(node)),
            Expr::View { base, map: view } => {
                let leaves = || map.leaves(&self.dist.shape(), view, shape, graph.shape(*base));
                if graph.is_scattered(*base, shape, view)? || leaves() {
                    return Ok(LoweringStep::Prerequisite(node));
                }
                match graph.view_within_box(*base, shape, view) {
                    Some((value, within)) if !graph.is_scattered(value, shape, &within)? => {
                        vec![(value, map.through(&within))]
                    }
                    _ => vec![(*base, map.through(view))],
                }
            }
            Expr::Apply(_, operands) => operands
                .as_slice()
                .iter()
                .map(|&operand| (operand, map.broadcast(shape, graph.shape(operand))))
                .collect(),
        };
        let values: Option<Vec<Value>> =
            operands.iter().map(|operand| self.known.get(operand).copied()).collect();
        let Some(values) = values else {
            pending.extend(operands.into_iter().rev());
            return Ok(LoweringStep::Wait);
        };
        Ok(LoweringStep::Done(match expr {
            Expr::Apply(op, _) => {
                let value = apply(&mut self.builder, *op, &values, graph.dtype(node));
                self.last = Some(node);
                value
            }
            _ => values[0],
        }))
    }

    /// Another thing that the kernel reads; its place among the leaves.
    fn leaf(&mut self, source: Source, maps: Vec<Map>, dtype: DType) -> usize {
        let param = self.builder.input(dtype);
        self.leaves.push(Leaf { source, maps, param, dtype });
        self.leaves.len() - 1
    }

    /// The element of a computed node that a map names.
    pub fn load(&mut self, graph: &Graph, node: NodeId, map: Map) -> Result<Value> {
        let key = match graph.memory(node) {
            Some(source) => (node, without_load_offsets(&map, source, &self.dist)?),
            None => (node, map),
        };
        let at = match self.leaf_of.get(&key) {
            Some(&at) => at,
            None => {
                let at = self.leaf(Source::Memory(node), Vec::new(), graph.dtype(node));
                self.leaf_of.insert(key, at);
                at
            }
        };
        let leaf = &mut self.leaves[at];
        if !leaf.maps.contains(&map) {
            leaf.maps.push(map);
        }
        let mut offsets = vec![0; self.dist.rank()];
        for (axis, anchor) in map.axes().iter().zip(leaf.maps[0].axes()) {
            if let (Along::Dim { dim, offset, step }, Along::Dim { offset: first, .. }) = (axis, anchor) {
                offsets[*dim] = ((offset - first) / step) as i32;
            }
        }
        Ok(self.builder.load(leaf.param, &offsets))
    }

    /// A global coordinate along a dimension of this extent. Beyond the ends, where rolled arrays read, it
    /// wraps around.
    fn coordinate(&mut self, axis: Along, extent: i64, dtype: DType) -> Value {
        match axis {
            Along::Pinned(at) => self.builder.int(dtype, at),
            Along::Dim { dim, offset, step } => {
                let point = self.global(dim);
                // A view's base may be larger than the view.
                let ends =
                    [0, self.dist.map(dim).size()].map(|at| offset.saturating_add(step.saturating_mul(at)));
                let wide = ends.iter().any(|end| !is_small(*end)) || !is_small(step);
                let within = if wide { DType::I64 } else { self.coord };
                let point = self.builder.cast(point, within);
                let (step, shift) = (self.builder.int(within, step), self.builder.int(within, offset));
                let far = self.builder.binary(BinaryOp::Mul, point, step);
                let mut moved = self.builder.binary(BinaryOp::Add, far, shift);
                let (first, stop) = axis.span(0, self.dist.map(dim).size().max(1));
                if first < 0 || stop > extent {
                    // The remainder has the sign of what is divided.
                    let size = self.builder.int(within, extent.max(1));
                    let part = self.builder.binary(BinaryOp::Rem, moved, size);
                    let above = self.builder.binary(BinaryOp::Add, part, size);
                    moved = self.builder.binary(BinaryOp::Rem, above, size);
                }
                self.builder.cast(moved, dtype)
            }
        }
    }

    /// The point's global coordinate: the packed one for blocks, a formula's result, or from a list.
    pub fn global(&mut self, dim: usize) -> Value {
        if let Some(value) = self.globals[dim] {
            return value;
        }
        let map = self.dist.map(dim);
        let (is_block, has_formula) = (map.is_block(), map.formula(0).is_some());
        let value = if is_block {
            self.builder.coord(dim, self.coord)
        } else if has_formula {
            self.formula(dim)
        } else {
            self.list(IndexList::Coordinates(self.coord), dim)
        };
        self.globals[dim] = Some(value);
        value
    }

    /// The dimensions whose global coordinate is computed.
    pub fn placed(&self) -> Vec<bool> {
        self.globals[..self.dist.rank()].iter().map(Option::is_some).collect()
    }

    /// [`crate::index::Formula`] in instructions; its numbers differ between parts and are arguments.
    fn formula(&mut self, dim: usize) -> Value {
        let (map, grid, dtype) = (self.dist.map(dim), self.dist.grid(), self.coord);
        let formula = |part: usize| map.formula(grid.coordinate(part)[dim] as usize);
        let numbers = |part| formula(part).map_or([0; 4], |formula| formula.numbers());
        for n in 0..4 {
            let of_part = (0..self.dist.parts()).map(|part| Scalar::from_i64(dtype, numbers(part)[n]));
            self.arguments.push(KernelArgument::PerPart(of_part.collect()));
        }
        let k = &mut self.builder;
        let packed = k.coord(dim, dtype);
        let [shift, width, period, offset] = [(); 4].map(|()| k.argument(dtype));
        let hit = k.binary(BinaryOp::Add, packed, shift);
        let (block, within) = (k.binary(BinaryOp::Div, hit, width), k.binary(BinaryOp::Rem, hit, width));
        let begin = k.binary(BinaryOp::Mul, block, period);
        let inside = k.binary(BinaryOp::Sub, within, offset);
        k.binary(BinaryOp::Add, begin, inside)
    }

    /// The point's entry in a list along a dimension.
    pub fn list(&mut self, list: IndexList, dim: usize) -> Value {
        let at = self.leaf(Source::List(list, dim), vec![Map::line(dim)], list.dtype());
        self.builder.load(self.leaves[at].param, &vec![0; self.dist.rank()])
    }

    /// A number of a `Loop`'s step, the same at every point.
    fn number(&mut self, numbers: &Arc<StepNumbers>, which: usize) -> Value {
        let is_it = |leaf: &Leaf| match &leaf.source {
            Source::Number(of, at) => Arc::ptr_eq(of, numbers) && *at == which,
            Source::Memory(_) | Source::List(..) => false,
        };
        let at = self.leaves.iter().position(is_it).unwrap_or_else(|| {
            let (source, dtype) = (Source::Number(Arc::clone(numbers), which), numbers.dtypes()[which]);
            self.leaf(source, vec![Map::from_fn(1, |_| Along::Pinned(0))], dtype)
        });
        self.builder.load(self.leaves[at].param, &vec![0; self.dist.rank()])
    }

    /// A plain number of the recorded program.
    fn plain_number(&mut self, slot: Slot, dtype: DType) -> Value {
        *self.numbers.entry(slot).or_insert_with(|| {
            self.arguments.push(KernelArgument::Number(slot));
            self.builder.argument(dtype)
        })
    }
}

fn is_small(number: i64) -> bool {
    number.saturating_abs() <= i64::from(i32::MAX / 2)
}

/// Whether no coordinate, and nothing a formula computes on the way, exceeds 32 bits.
fn fits_i32(dist: &Distribution) -> bool {
    (0..dist.rank()).all(|d| {
        let map = dist.map(d);
        let formulas = || (0..map.parts()).filter_map(|part| map.formula(part));
        is_small(map.size())
            && is_small(map.packed_size())
            && (map.is_block() || formulas().flat_map(|formula| formula.numbers()).all(is_small))
    })
}

enum LoweringStep {
    Done(Value),
    Wait,
    Prerequisite(NodeId),
}

fn apply(k: &mut Builder, op: Pointwise, x: &[Value], dtype: DType) -> Value {
    match op {
        Pointwise::Unary(op) => k.unary(op, x[0]),
        Pointwise::Binary(op) => k.binary(op, x[0], x[1]),
        Pointwise::Compare(op) => k.compare(op, x[0], x[1]),
        Pointwise::Select => k.select(x[0], x[1], x[2]),
        Pointwise::Cast => k.cast(x[0], dtype),
        Pointwise::Bitcast => k.bitcast(x[0], dtype),
        Pointwise::Math1(function) => k.math1(function, x[0]),
        Pointwise::Math2(function) => k.math2(function, x[0], x[1]),
        Pointwise::Draw(draw) => random::draw(k, draw, x[0], [x[1], x[2]], dtype),
    }
}

/// The cells of one operand that the parts read.
#[derive(Clone)]
pub(crate) struct Footprint {
    /// Per part: the cell that the first point reads through the first map, where load offsets are anchored.
    pub anchors: Vec<Index>,
    /// Per part: the bounding box of all reads.
    pub needs: Vec<Region>,
    /// The halo that brings it within every part's stored cells; `None` if no halo does.
    pub halo: Option<HaloWidths>,
}

impl Footprint {
    /// The cells read by launches over regions of `target`, one per part. `None` if memory along some
    /// dimension is not in the launches' order: then the operand is to be packed in that order.
    pub fn of(
        maps: &[Map],
        source: &Distribution,
        target: &Distribution,
        regions: &[ComputeRegion],
    ) -> Result<Option<Footprint>> {
        let rank = source.rank();
        let alignments = maps.iter().map(|map| alignments(map, source, target));
        let Some(alignments) = alignments.collect::<Option<Vec<Vec<Alignment>>>>() else { return Ok(None) };
        let (mut anchors, mut needs) = (Vec::new(), Vec::new());
        let mut halo = Some(HaloWidths { lo: Index::zeros(rank), hi: Index::zeros(rank), corners: false });
        for (part, zone) in regions.iter().enumerate() {
            let owned = source.owned(part);
            let reads = alignments.iter().map(|axes| read(axes, source, (target, &zone.bounds), part));
            let Some(reads) = reads.collect::<Result<Option<Vec<PartRead>>>>()? else { return Ok(None) };
            for read in reads.iter().map(|read| &read.cells).filter(|read| !read.is_empty()) {
                halo = halo.filter(|_| !owned.is_empty() && within(source, read, &owned));
                if let Some(halo) = halo.as_mut() {
                    halo.include(read, &owned);
                }
            }
            anchors.push(reads[0].first);
            needs.push(reads[1..].iter().fold(reads[0].cells, |hull, read| hull.hull(&read.cells)));
        }
        Ok(Some(Footprint { anchors, needs, halo }))
    }

    /// Whether bringing a halo takes fewer copies than bringing all that is read: flips and transpositions
    /// read from afar.
    pub fn halo_pays(&self, source: &Distribution) -> Result<bool> {
        let Some(halo) = self.halo.as_ref().filter(|halo| !halo.is_zero()) else { return Ok(true) };
        let (mut held, mut read) = (0, 0);
        for (part, need) in self.needs.iter().enumerate() {
            held += source.reach(part, &halo.lo, &halo.hi)?.volume()? - source.owned(part).volume()?;
            read += need.volume()?;
        }
        Ok(held < read)
    }
}

/// The positions of the cells that the parts read along one dimension of an operand.
#[derive(Clone, Copy, Debug)]
enum Alignment {
    /// Blocks or everything on both sides: a step in coordinates is a step in memory.
    Strided { dim: usize, offset: i64, step: i64 },
    /// The same division from coordinate `first` on: every part reads what it holds itself.
    Own { dim: usize, first: i64 },
    /// One coordinate for everybody.
    Single(i64),
}

/// The box that a part gets of an operand that is packed in the order of the launches, in the coordinates
/// of such a plan.
pub(crate) fn packed_box(map: &Map, target: &Distribution, part: usize) -> Result<Region> {
    let (owned, rank) = (target.owned(part), map.axes().len());
    let ends = |d: usize| match map.axes()[d] {
        Along::Dim { dim, .. } => (owned.start()[dim], owned.stop()[dim]),
        Along::Pinned(_) => (0, i64::from(!owned.is_empty())),
    };
    Ok(Region::new(&Index::from_fn(rank, |d| ends(d).0), &Index::from_fn(rank, |d| ends(d).1))?)
}

/// The map without the offsets by which loads of one parameter may differ: along what is blocks here and
/// there, and of what is packed as a box. What is packed in the order of the launches is there for
/// one map alone.
pub(crate) fn without_load_offsets(map: &Map, source: &Distribution, target: &Distribution) -> Result<Map> {
    let along_blocks = |d: usize| match map.axes()[d] {
        Along::Dim { dim, .. } => {
            source.map(d).is_block() && is_contiguous(target.map(dim)) && !map.repeats(d)
        }
        Along::Pinned(_) => false,
    };
    // Along an unordered list memory may be divided alike and the cells read still be no box.
    let whole = source.is_block() && target.is_block();
    let in_place = whole || Footprint::of(&[*map], source, target, &ComputeRegion::owned(target))?.is_some();
    let shared = |d: &usize| match in_place {
        true => along_blocks(*d),
        false => is_boxable(map, target) && !map.repeats(*d),
    };
    Ok((0..source.rank()).filter(shared).fold(*map, Map::without_offset))
}

/// Whether what a part reads through the map is a box in global coordinates, and most of that box.
pub(crate) fn is_boxable(map: &Map, target: &Distribution) -> bool {
    let in_order = |along: &Along| match along {
        Along::Dim { dim, .. } => is_contiguous(target.map(*dim)),
        Along::Pinned(_) => true,
    };
    !map.skips() && map.axes().iter().all(in_order)
}

fn alignments(map: &Map, source: &Distribution, target: &Distribution) -> Option<Vec<Alignment>> {
    let align = |(d, along): (usize, &Along)| match *along {
        Along::Pinned(at) => Some(Alignment::Single(at)),
        Along::Dim { dim, offset, step } => {
            let (from, to) = (source.map(d), target.map(dim));
            let ends = along.span(0, to.size().max(1));
            let inside = 0 <= ends.0 && ends.1 <= from.size();
            if is_contiguous(from) && is_contiguous(to) && (from.is_block() || inside) {
                Some(Alignment::Strided { dim, offset, step })
            } else if step == 1 && same_division(from, to, offset) {
                Some(Alignment::Own { dim, first: offset })
            } else if to.size() == 1 && (0..from.size()).contains(&offset) {
                Some(Alignment::Single(offset))
            } else {
                None
            }
        }
    };
    map.axes().iter().enumerate().map(align).collect()
}

/// Whether every part holds one range of coordinates.
pub(crate) fn is_contiguous(map: &DimMap) -> bool {
    matches!(map, DimMap::Block { .. } | DimMap::Replicated { .. })
}

/// Packed coordinate minus global coordinate of what a part holds of such a map.
fn lead(map: &DimMap, coordinate: i64) -> i64 {
    if map.is_block() { 0 } else { map.owned(coordinate as usize).start }
}

/// Whether `to` divides its coordinates as `from` divides those from `first` on.
fn same_division(from: &DimMap, to: &DimMap, first: i64) -> bool {
    if first == 0 && from == to {
        return true;
    }
    let stop = first + to.size();
    let inside = 0 <= first && stop <= from.size() && from.parts() == to.parts();
    inside && from.sliced(first, stop, 1).is_ok_and(|slice| slice == *to)
}

/// The cells that a part reads through one map: that of its first point, and the box around all of them;
/// empty if it computes nothing.
struct PartRead {
    first: Index,
    cells: Region,
}

/// `None` along lists without order, where the cells read are no box.
fn read(
    axes: &[Alignment],
    source: &Distribution,
    (target, region): (&Distribution, &Region),
    part: usize,
) -> Result<Option<PartRead>> {
    let zeros = Index::zeros(axes.len());
    if region.is_empty() {
        return Ok(Some(PartRead { first: zeros, cells: Region::new(&zeros, &zeros)? }));
    }
    let (here, there) = (source.grid().coordinate(part), target.grid().coordinate(part));
    let (mut start, mut stop, mut backwards) = (zeros, zeros, [false; MAX_RANK]);
    for (d, axis) in axes.iter().enumerate() {
        let map = source.map(d);
        (start[d], stop[d]) = match *axis {
            Alignment::Strided { dim, offset, step } => {
                let by = offset + lead(map, here[d]) - step * lead(target.map(dim), there[dim]);
                backwards[d] = step < 0;
                let along = Along::Dim { dim, offset: by, step };
                along.span(region.start()[dim], region.stop()[dim])
            }
            Alignment::Own { dim, first } => {
                let coordinate = there[dim] as usize;
                let whole = map.size() == target.map(dim).size();
                let below = if whole { Some(0) } else { map.held_below(coordinate, first) };
                let Some(below) = below else { return Ok(None) };
                let first = map.owned(coordinate).start + below;
                (first, first + region.extent(dim))
            }
            Alignment::Single(at) => {
                let packed = map.nearest(here[d] as usize, at).unwrap_or(at);
                (packed, packed + 1)
            }
        };
    }
    let first = Index::from_fn(axes.len(), |d| if backwards[d] { stop[d] - 1 } else { start[d] });
    Ok(Some(PartRead { first, cells: Region::new(&start, &stop)? }))
}

/// Along other maps than blocks there are no halos: what a part reads there it holds, or it must be fetched.
/// Nor are there any beyond physical edges.
fn within(source: &Distribution, read: &Region, owned: &Region) -> bool {
    let inside = |d: usize, start, stop| start <= read.start()[d] && read.stop()[d] <= stop;
    (0..source.rank()).all(|d| match source.map(d).is_block() {
        true => source.periodic(d) || inside(d, 0, source.map(d).size()),
        false => inside(d, owned.start()[d], owned.stop()[d]),
    })
}
