//! The grids of elementwise kernels, gathers and scatters: which entry, and how its threads lie in the
//! region.

use super::module::{BLOCKS_PER_MULTIPROCESSOR, Facts, Grid, Limits};
use super::region::{Dim, Region};
use super::source::{Source, fill_up, leader};
use crate::ir::Form;
use crate::ptx::schedule::{SIDE, StreamingPlan, TURNS, streaming_slots, turnable};
use crate::ptx::text::{Field, Quantity, THREADS, slots};

/// Planes that a walk must have for each that is loaded before its first.
const PLANES_PER_FILL: u64 = 4;

impl Source<'_> {
    pub(in crate::ptx) fn pointwise(&self, facts: Facts) -> Vec<Grid> {
        let region = Region::new(self.kernel, self.launch, self.memory);
        if region.points() == 0 {
            return Vec::new();
        }
        let (region, shape) = self.streaming(&region, facts).unwrap_or_else(|| self.at_once(region));
        let slots = region.dims.len();
        let Limits { points, blocks, .. } = self.module.limits;
        let mut most = vec![1; slots];
        most[slots - 1] = points;
        if slots >= 2 {
            most[slots - 2] = blocks * shape.height;
            fill_up(&region.dims[..slots - 2], blocks, &mut most[..slots - 2]);
        }
        if slots >= 3 {
            most[0] = (most[0] * shape.planes).min(points);
        }
        for (most, dim) in most.iter_mut().zip(&region.dims) {
            if !dim.fits() {
                *most = 1;
            }
        }
        let entry = self.module.entries.iter().position(|&name| name == shape.entry);
        let entry = entry.expect("the schedule offers it");
        let grid = |part: &Region| {
            self.grid(entry, part, shape.blocks(part), shape.threads, |field| match field {
                Field::Planes => shape.planes,
                _ => unreachable!("only reductions ask"),
            })
        };
        region.parts(&most).iter().map(grid).collect()
    }

    /// All points side by side.
    fn at_once(&self, mut region: Region) -> (Region, Shape) {
        region.arrange(leader(self.kernel, &region));
        region.fill(slots(self.kernel), 0);
        fill_y(&mut region.dims);
        let shape = self.tile(&mut region).or_else(|| self.vector(&region));
        let shape = shape.unwrap_or_else(|| Shape::rows("pointwise", 1, 1, &region));
        (region, shape)
    }

    /// Planes one after the other, if there are enough of them to be worth filling the registers, and
    /// enough walks for every multiprocessor to have one.
    fn streaming(&self, whole: &Region, facts: Facts) -> Option<(Region, Shape)> {
        let plan = self.module.schedule.streaming.as_ref()?;
        let mut region = whole.clone();
        let walk = region.dims.remove(plan.along);
        let least = PLANES_PER_FILL * (plan.period as u64 - 1);
        if walk.extent < least || !walk.fits() || !self.module.entries.contains(&"streaming") {
            return None;
        }
        region.arrange(leader(self.kernel, &region));
        region.fill(streaming_slots(self.kernel) - 1, 0);
        fill_y(&mut region.dims);
        region.dims.insert(0, walk);
        let Form::Elementwise { stores } = &self.kernel.form else { return None };
        let in_phase = stores.iter().all(|s| self.planes_phase(&region, s.param) == 0);
        let sideways = self.module.schedule.vector.as_ref()?.sideways();
        if !in_phase || !self.fits(plan.lanes, sideways, &region) {
            return None;
        }
        let shape = Shape::streaming(plan, least, &region, u64::from(facts.multiprocessors));
        let blocks: u64 = shape.blocks(&region).iter().product();
        (blocks >= u64::from(facts.multiprocessors)).then_some((region, shape))
    }

    /// Transposed inputs through shared memory, if the output is contiguous and an input is along some
    /// other dimension, which then becomes y.
    fn tile(&self, region: &mut Region) -> Option<Shape> {
        let long = |dim: &Dim| dim.extent >= SIDE as u64 / 2;
        let Form::Elementwise { stores } = &self.kernel.form else { return None };
        let [outer @ .., x] = region.dims.as_slice() else { return None };
        if !self.module.schedule.transpose || !long(x) || !self.adjacent(region, stores[0].param) {
            return None;
        }
        let turned = turnable(self.kernel).filter(|&p| !self.adjacent(region, p)).find_map(|p| {
            let q = region.of(Quantity::Param(p));
            outer.iter().position(|d| long(d) && d.steps[q] == self.size(p))
        })?;
        let y = region.dims.len() - 2;
        region.dims[turned..=y].rotate_left(1);
        let height = SIDE as u64;
        let threads = [SIDE as u32, (SIDE / TURNS) as u32, 1];
        Some(Shape { entry: "transpose", lanes: 1, width: height, height, planes: 1, threads })
    }

    /// Several points per thread, if the outputs allow it.
    fn vector(&self, region: &Region) -> Option<Shape> {
        let plan = self.module.schedule.vector.as_ref()?;
        if !self.fits(plan.lanes, plan.sideways(), region) {
            return None;
        }
        Some(Shape::rows("vector", plan.lanes as u64, plan.vectors as u64, region))
    }

    /// Vectors of so many points can run this: outputs are contiguous, their phases agree in every row, and
    /// operands loaded sideways are contiguous.
    fn fits(&self, lanes: usize, mut sideways: impl Iterator<Item = u32>, region: &Region) -> bool {
        let Form::Elementwise { stores } = &self.kernel.form else { return false };
        let lanes = lanes as i64;
        let last = self.kernel.rank - 1;
        let x = region.dims.last().map_or(1, |d| d.extent);
        let residues = |param: u32| {
            let (q, size) = (region.of(Quantity::Param(param)), self.size(param));
            let steps = region.dims[..region.dims.len() - 1].iter().map(move |d| d.steps[q]);
            std::iter::once(region.starts[q]).chain(steps).map(move |v| (v / size).rem_euclid(lanes))
        };
        let contiguous = stores.iter().all(|s| self.adjacent(region, s.param));
        let agree = stores.iter().all(|s| residues(s.param).eq(residues(stores[0].param)));
        let beside = |p: u32| self.adjacent(region, p) && self.launch.views[p as usize].strides[last] == 1;
        x >= 2 * lanes as u64 && contiguous && agree && sideways.all(beside)
    }
}

/// How the threads of a pointwise entry lie in a region.
struct Shape {
    entry: &'static str,
    /// Points of a vector.
    lanes: u64,
    /// Vectors along x of a block.
    width: u64,
    /// Rows of a block.
    height: u64,
    /// Points along slot 0 of a thread.
    planes: u64,
    threads: [u32; 3],
}

impl Shape {
    /// Blocks of whole rows or stretches of one: `vectors` vectors of `lanes` points per thread.
    fn rows(entry: &'static str, lanes: u64, vectors: u64, region: &Region) -> Shape {
        let (x, y) = last_two(region);
        let [width, height] = block_shape(items(x, lanes).div_ceil(vectors), y);
        let threads = [width, height, 1];
        Shape {
            entry,
            lanes,
            width: u64::from(width) * vectors,
            height: u64::from(height),
            planes: 1,
            threads,
        }
    }

    /// Walks of at least `least` planes, so many that they fill the multiprocessors if they can.
    fn streaming(plan: &StreamingPlan, least: u64, region: &Region, multiprocessors: u64) -> Shape {
        let (x, y) = last_two(region);
        let lanes = plan.lanes as u64;
        let [width, height] = streaming_shape(items(x, lanes), y);
        let threads = [width, height, 1];
        let (width, height) = (u64::from(width), u64::from(height));
        let planes = region.dims[0].extent;
        let whole = Shape { entry: "streaming", lanes, width, height, planes, threads };
        let walks: u64 = whole.blocks(region).iter().product();
        let cuts = (BLOCKS_PER_MULTIPROCESSOR * multiprocessors).div_ceil(walks).clamp(1, planes / least);
        Shape { planes: planes.div_ceil(cuts), ..whole }
    }

    fn blocks(&self, part: &Region) -> [u64; 3] {
        let (x, y) = last_two(part);
        let walks =
            |(slot, d): (usize, &Dim)| if slot == 0 { d.extent.div_ceil(self.planes) } else { d.extent };
        let outer = part.dims.len().saturating_sub(2);
        let outer = part.dims[..outer].iter().enumerate().map(walks).product();
        [items(x, self.lanes).div_ceil(self.width), y.div_ceil(self.height), outer]
    }
}

/// Vectors of a row, which may begin anywhere in its first.
fn items(points: u64, lanes: u64) -> u64 {
    if lanes == 1 { points } else { (points + lanes - 1).div_ceil(lanes) }
}

/// Extents of x and y.
fn last_two(region: &Region) -> (u64, u64) {
    let mut dims = region.dims.iter().rev().map(|d| d.extent);
    (dims.next().unwrap_or(1), dims.next().unwrap_or(1))
}

/// Where the last two dimensions are too short for a block, the longest of all becomes y.
fn fill_y(dims: &mut [Dim]) {
    let [outer @ .., y, x] = dims else { return };
    if let Some(longest) = outer.iter_mut().max_by_key(|d| d.extent)
        && x.extent * y.extent < u64::from(THREADS)
        && longest.extent > y.extent
    {
        std::mem::swap(longest, y);
    }
}

/// Threads along x and y of a block for rows of so many items: 256, or fewer if there is less to do.
fn block_shape(items: u64, rows: u64) -> [u32; 2] {
    let full = u64::from(THREADS);
    let waste = |width: u64| items.div_ceil(width) * width;
    let widest = items.next_power_of_two().min(full);
    let widths = (0..).map(|n| widest >> n).take_while(|&w| w >= widest.min(32));
    let width = if rows == 1 { widest } else { widths.min_by_key(|&w| waste(w)).unwrap_or(widest) };
    let height = (full / width).min(rows.next_power_of_two());
    [width as u32, height as u32]
}

/// Threads along x and y of a block of streaming: a warp along x, so that the rows of a block are
/// neighbours and find what they share in the first-level cache.
fn streaming_shape(items: u64, rows: u64) -> [u32; 2] {
    let full = u64::from(THREADS);
    let width = items.next_power_of_two().min(32);
    let height = (full / width).min(rows.next_power_of_two());
    let width = (full / height).min(items.next_power_of_two());
    [width as u32, height as u32]
}
