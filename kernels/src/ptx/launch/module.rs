//! A kernel as PTX, and what its launches are made of: a box of points, the quantities that move linearly
//! through it, and how it fills in an entry's parameters.
//!
//! Points may be visited in any order, and a quantity that is linear stays linear, so dimensions may be
//! dropped, reordered and merged freely: a fully contiguous array becomes one-dimensional whatever its
//! rank, and the coordinates a kernel asks for still come out right.

use crate::ir::{Form, Kernel, Launch};
use crate::ptx::schedule::{FoldPlan, PITCH, SIDE, Schedule};
use crate::ptx::text::{Entry, Field, FoldField, LazyEntry, PtxTarget, Quantity, quantities};
use crate::verify::{Footprint, Verified};

/// A kernel as PTX, and how to launch it.
pub struct Module {
    /// Its entry points.
    pub entries: Vec<LazyEntry>,
    pub(crate) target: PtxTarget,
    /// The kernel in basic instructions, as it was written.
    pub(crate) kernel: Verified,
    /// By parameters: where its loads are counted from, seen from where a launch's view is.
    pub(crate) centers: Vec<Vec<i64>>,
    pub(crate) schedule: Schedule,
    pub(crate) limits: Limits,
}

/// Memory of one parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Address of element 0.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
}

/// The properties of the device that the schedule needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// An eighth, roughly, of the number of blocks that can run side by side.
    pub multiprocessors: u32,
}

/// One launch of one entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Index into [`Module::entries`]; beyond them, of the same entry with a table of launches.
    pub entry: usize,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// The bytes of the entry's one parameter.
    pub params: Vec<u8>,
    /// The positions of addresses in scratch memory among these.
    pub(crate) scratch_at: Vec<usize>,
}

/// The grids that carry out a launch, in order on one stream.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LaunchPlan {
    /// Bytes of scratch memory, aligned to 256, that the grids need for partial results; 0 for most.
    pub scratch_bytes: u64,
    /// Their scratch memory begins at 0.
    pub(crate) grids: Vec<Grid>,
}

impl LaunchPlan {
    /// The grids, with scratch memory at an address.
    pub fn grids(mut self, scratch: u64) -> Vec<Grid> {
        for Grid { params, scratch_at, .. } in &mut self.grids {
            for &at in scratch_at.iter() {
                let mut address = [0; 8];
                address.copy_from_slice(&params[at..][..8]);
                let moved = u64::from_le_bytes(address) + scratch;
                params[at..][..8].copy_from_slice(&moved.to_le_bytes());
            }
        }
        self.grids
    }

    /// This launch and then another, which may use the same scratch memory.
    pub fn then(mut self, next: LaunchPlan) -> LaunchPlan {
        self.scratch_bytes = self.scratch_bytes.max(next.scratch_bytes);
        self.grids.extend(next.grids);
        self
    }
}

/// The size limits of one grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Points along x; points that stay, and points that fold into one, of a reduction.
    pub points: u64,
    /// Blocks along y and along z.
    pub blocks: u64,
    /// Shares of a point in a block of a reduction.
    pub shares: u64,
    /// Groups of a share.
    pub groups: u64,
    /// Planes that streaming must have for each that is loaded before the first; four count at least.
    pub planes_per_fill: u64,
    /// The part of the threads of streaming that must have points, in percent.
    pub filled: u64,
}

impl Limits {
    pub(crate) const DEVICE: Limits = Limits {
        points: 1 << 30,
        blocks: 65535,
        shares: 256,
        groups: FoldPlan::MOST_GROUPS,
        planes_per_fill: 2,
        filled: 50,
    };
    pub(crate) const SMALL: Limits =
        Limits { points: 100, blocks: 2, shares: 2, groups: 8, planes_per_fill: 0, filled: 0 };
}

/// One dimension of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    pub extent: u64,
    /// The increments of each quantity by one step.
    pub steps: Vec<i64>,
    /// The dimension folds away, or is that of the lines of a scan.
    pub folded: bool,
}

/// A box of points.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Region {
    pub quantities: Vec<Quantity>,
    /// Each quantity at the first point.
    pub starts: Vec<i64>,
    pub dims: Vec<Dim>,
}

impl Region {
    pub(crate) fn new(source: &Source) -> Region {
        let Source { module, kernel, launch, memory } = source;
        let quantities = quantities(source.footprint());
        let start = |q: &Quantity| match *q {
            Quantity::Param(p) => {
                let size = kernel.params[p as usize].dtype.size_bytes() as i64;
                let view = &launch.views[p as usize];
                let center = view.strides.iter().zip(&module.centers[p as usize]);
                let offset =
                    center.fold(view.offset, |at, (stride, by)| at.wrapping_add(stride.wrapping_mul(*by)));
                let bytes = offset.wrapping_mul(size);
                bytes.wrapping_add(memory[p as usize].address as i64)
            }
            Quantity::Coord(k, _) => launch.origin[k as usize],
        };
        let step = |q: &Quantity, dim: usize| match *q {
            Quantity::Param(p) => {
                let size = kernel.params[p as usize].dtype.size_bytes() as i64;
                launch.views[p as usize].strides[dim].wrapping_mul(size)
            }
            Quantity::Coord(k, _) => i64::from(k as usize == dim),
        };
        let folded = |k: usize| match &kernel.form {
            Form::Reduce { axes, .. } => axes[k],
            Form::Scan(scan) => scan.axis == k,
            Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => false,
        };
        let dims = (0..kernel.rank).map(|k| Dim {
            extent: launch.extents[k] as u64,
            steps: quantities.iter().map(|q| step(q, k)).collect(),
            folded: folded(k),
        });
        Region { starts: quantities.iter().map(start).collect(), dims: dims.collect(), quantities }
    }

    /// Position of a quantity.
    pub(crate) fn of(&self, quantity: Quantity) -> usize {
        self.quantities.iter().position(|&q| q == quantity).expect("the kernel has this quantity")
    }

    pub(crate) fn points(&self) -> u64 {
        self.dims.iter().map(|d| d.extent).product()
    }

    /// Drops dimensions of one point, orders the others so that `lead` takes its largest steps in the
    /// outermost, and merges neighbours that all quantities cross evenly. Folded dimensions come last.
    pub(crate) fn arrange(&mut self, lead: Option<usize>) {
        self.dims.retain(|d| d.extent != 1);
        self.dims.sort_by_key(|d| {
            let step = lead.map_or(0, |q| d.steps[q].unsigned_abs());
            (d.folded, std::cmp::Reverse(step))
        });
        self.merge();
    }

    /// As [`Region::arrange`] where dimensions are folded: these in the order in which folded points are
    /// numbered, which merging keeps.
    pub(crate) fn arrange_fold(&mut self, order: &[usize], lead: Option<usize>) {
        let folded: Vec<Dim> = order.iter().map(|&dim| self.dims[dim].clone()).collect();
        self.dims.retain(|d| !d.folded);
        self.dims.sort_by_key(|d| std::cmp::Reverse(lead.map_or(0, |q| d.steps[q].unsigned_abs())));
        self.dims.extend(folded);
        self.dims.retain(|d| d.extent != 1);
        self.merge();
    }

    /// Merges neighbours that all quantities cross evenly.
    fn merge(&mut self) {
        let mut merged: Vec<Dim> = Vec::new();
        for inner in self.dims.drain(..) {
            match merged.last_mut() {
                Some(outer) if outer.continues(&inner) => {
                    *outer = Dim { extent: outer.extent * inner.extent, ..inner };
                }
                _ => merged.push(inner),
            }
        }
        self.dims = merged;
    }

    /// The dimensions of the slots: `kept`, then `folded`. Missing ones have one point.
    pub(crate) fn fill(&mut self, kept: usize, folded: usize) {
        let quantities = self.quantities.len();
        let one = |folded| Dim { extent: 1, steps: vec![0; quantities], folded };
        let (inner, outer): (Vec<Dim>, Vec<Dim>) = self.dims.drain(..).partition(|d| d.folded);
        let pad = |dims: Vec<Dim>, slots: usize, folded| {
            let missing = slots - dims.len();
            std::iter::repeat_n(one(folded), missing).chain(dims).collect::<Vec<Dim>>()
        };
        self.dims = pad(outer, kept, false);
        self.dims.extend(pad(inner, folded, true));
    }

    /// The part that starts at `first` and has these extents.
    pub(crate) fn part(&self, first: &[u64], extents: &[u64]) -> Region {
        let mut part = self.clone();
        for ((dim, &first), &extent) in part.dims.iter_mut().zip(first).zip(extents) {
            for (start, step) in part.starts.iter_mut().zip(&dim.steps) {
                *start = start.wrapping_add(step.wrapping_mul(first as i64));
            }
            dim.extent = extent;
        }
        part
    }

    /// Cuts the region into parts of at most `most` points along each dimension, in C order.
    pub(crate) fn parts(&self, most: &[u64]) -> Vec<Region> {
        let mut parts = vec![(Vec::new(), Vec::new())];
        for (dim, &most) in self.dims.iter().zip(most) {
            let cuts: Vec<(u64, u64)> =
                (0..dim.extent).step_by(most as usize).map(|at| (at, most.min(dim.extent - at))).collect();
            parts = parts
                .iter()
                .flat_map(|(first, extents): &(Vec<u64>, Vec<u64>)| {
                    cuts.iter().map(|&(at, len)| {
                        ([first.as_slice(), &[at]].concat(), [extents.as_slice(), &[len]].concat())
                    })
                })
                .collect();
        }
        parts.iter().map(|(first, extents)| self.part(first, extents)).collect()
    }
}

impl Dim {
    /// A walk along `inner` goes on where the next step of this dimension begins.
    fn continues(&self, inner: &Dim) -> bool {
        let even = |(&step, &small): (&i64, &i64)| {
            i64::try_from(inner.extent).ok().and_then(|n| small.checked_mul(n)) == Some(step)
        };
        self.folded == inner.folded && self.steps.iter().zip(&inner.steps).all(even)
    }

    /// So many points become one.
    pub(crate) fn group(&mut self, points: u64) {
        self.extent /= points;
        self.steps.iter_mut().for_each(|step| *step *= points as i64);
    }

    /// A step along this dimension fits the 32-bit multiplier of the text.
    pub(crate) fn fits(&self) -> bool {
        self.steps.iter().all(|&s| i32::try_from(s).is_ok())
    }
}

/// The kernel and the module whose blocks are filled.
pub(crate) struct Source<'a> {
    pub module: &'a Module,
    pub kernel: &'a Kernel,
    pub launch: &'a Launch,
    pub memory: &'a [Span],
}

impl<'a> Source<'a> {
    pub(crate) fn new(module: &'a Module, launch: &'a Launch, memory: &'a [Span]) -> Source<'a> {
        Source { module, kernel: module.kernel.kernel(), launch, memory }
    }

    pub(crate) fn footprint(&self) -> &Footprint {
        self.module.kernel.footprint()
    }

    /// One grid of an entry: `planes` for each thread of streaming, and the numbers that a reduction reads.
    pub(crate) fn grid(
        &self,
        entry: usize,
        region: &Region,
        [grid, block]: [[u64; 3]; 2],
        planes: u64,
        fold: impl Fn(FoldField) -> u64,
    ) -> Grid {
        let Entry { block: fields, kind, .. } = &*self.module.entries[entry];
        let mirror =
            if *kind == "mirrored" { self.mirror(region).unwrap_or_default() } else { Mirror::default() };
        let source = |n: usize| region.of(Quantity::Param(mirror.sources[n]));
        let params = fields.pack(|field| match field {
            Field::Extent(slot) => region.dims[*slot].extent,
            Field::Start(quantity) => region.starts[region.of(*quantity)] as u64,
            Field::Step(quantity, slot) => region.dims[*slot].steps[region.of(*quantity)] as u64,
            Field::Stride(param, slot) => region.dims[*slot].steps[region.of(Quantity::Param(*param))] as u64,
            Field::Delta(param, offsets) => {
                let strides = &self.launch.views[*param as usize].strides;
                let elements = strides.iter().zip(offsets).map(|(&s, &d)| s.wrapping_mul(i64::from(d)));
                elements.fold(0, i64::wrapping_add).wrapping_mul(self.size(*param)) as u64
            }
            Field::Apart(param) => u64::from(!self.adjacent(region, *param)),
            Field::Turned(param) => {
                let [.., y, _] = region.dims.as_slice() else { unreachable!("squares have two sides") };
                let along_y = y.steps[region.of(Quantity::Param(*param))] == self.size(*param);
                u64::from(along_y && !self.adjacent(region, *param))
            }
            Field::SourceStart(n) => region.starts[source(*n)] as u64,
            Field::SourceStep(n, slot) => region.dims[*slot].steps[source(*n)] as u64,
            Field::Twin(param) => mirror.twin(*param).1.into(),
            Field::Pair(param) => {
                let bytes = 2 * SIDE * PITCH * self.size(*param) as usize;
                (mirror.twin(*param).0 * bytes) as u64
            }
            Field::Argument(n, dtype) => {
                let scalar = self.launch.arguments[*n as usize];
                // Narrow integers arrive as their registers hold them.
                if dtype.is_integer() { scalar.to_i64() as u64 } else { scalar.bits }
            }
            Field::IndexedStart => self.indexed().0,
            Field::IndexedCount => self.indexed().1,
            Field::Planes => planes,
            Field::Fold(field) => fold(*field),
        });
        let [grid, block] = [grid, block].map(|extents| extents.map(|n| n as u32));
        Grid { entry, grid, block, params, scratch_at: fields.scratch_at() }
    }

    pub(crate) fn size(&self, param: u32) -> i64 {
        self.kernel.params[param as usize].dtype.size_bytes() as i64
    }

    /// Neighbours along the last slot are neighbours in the parameter's memory.
    pub(crate) fn adjacent(&self, region: &Region, param: u32) -> bool {
        let last = region.dims.last().expect("a kernel has a slot");
        last.steps[region.of(Quantity::Param(param))] == self.size(param)
    }

    /// Address and number of the elements that an index counts.
    fn indexed(&self) -> (u64, u64) {
        let param = self.kernel.indexed_param().expect("only gather and scatter ask");
        let (size, offset) = (self.size(param) as u64, self.launch.views[param as usize].offset as u64);
        let span = self.memory[param as usize];
        (span.address + offset * size, span.bytes / size - offset)
    }

    /// The quantity that decides in which order memory is visited: the first output, or what a reduction or
    /// a scatter reads.
    pub(crate) fn leader(&self, region: &Region) -> Option<usize> {
        let written = match &self.kernel.form {
            Form::Elementwise { stores } => stores.first().map(|s| s.param),
            Form::Scan(scan) => Some(scan.output),
            Form::Gather { output, .. } => Some(*output),
            Form::Scatter { .. } | Form::Reduce { .. } => None,
        };
        let read = || (0..self.kernel.params.len() as u32).find(|&p| self.footprint().is_loaded(p));
        written.or_else(read).map(|p| region.of(Quantity::Param(p)))
    }
}

/// Extents of at most `limit` points in all, filled from the last dimension.
pub(crate) fn fill_up(dims: &[Dim], limit: u64, most: &mut [u64]) {
    let mut left = limit;
    for (most, dim) in most.iter_mut().zip(dims).rev() {
        *most = left.min(dim.extent).max(1);
        left /= *most;
    }
}

/// Which arrays of a launch a block loads, and which of them each array is or is the twin of.
#[derive(Clone, Default, Debug)]
pub(crate) struct Mirror {
    pub sources: Vec<u32>,
    /// Parameter, number of its source, and whether it is the twin.
    pub twins: Vec<(u32, (usize, bool))>,
}

impl Mirror {
    fn twin(&self, param: u32) -> (usize, bool) {
        let own = self.twins.iter().find(|(twin, _)| *twin == param);
        own.map_or((0, false), |&(_, twin)| twin)
    }
}
