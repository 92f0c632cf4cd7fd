//! The grids of elementwise kernels, gathers and scatters: which entry, and how its threads lie in the
//! region; and many boxes in one grid of the entry `batched_copy`.

use super::module::{Dim, Facts, Grid, LaunchPlan, Limits, Mirror, Module, Region, Source, Span, fill_up};
use crate::ir::{Access, Form, Launch, Scan};
use crate::ptx::columns::{HEIGHT, StreamingPlan, WIDTH};
use crate::ptx::entries::pointwise::batch_rows;
use crate::ptx::entries::scan::line_slots;
use crate::ptx::schedule::{Planes, SIDE, TURNS, turnable};
use crate::ptx::text::{FoldField, Quantity, THREADS, slots};

/// Blocks per multiprocessor that streaming has at least, if there are enough planes: three waves or more.
const BLOCKS_PER_MULTIPROCESSOR: u64 = 10;

/// The most planes of a walk, so that blocks that run at the same time are near each other in memory: on an
/// H200 walks of 128 planes took a tenth longer.
const LONGEST_WALK: u64 = 16;

/// Only the text of a reduction reads such a number.
fn no_fold(_: FoldField) -> u64 {
    0
}

impl Source<'_> {
    pub(crate) fn pointwise(&self, facts: Facts) -> LaunchPlan {
        let region = Region::new(self);
        if region.points() == 0 {
            return LaunchPlan::default();
        }
        let walked = self.planes(&region, facts).or_else(|| self.streaming(&region, facts));
        let (region, shape) = walked.unwrap_or_else(|| self.at_once(region));
        LaunchPlan { scratch_bytes: 0, grids: self.cut(&region, &shape) }
    }

    /// The grids of a region.
    fn cut(&self, region: &Region, shape: &Shape) -> Vec<Grid> {
        let slots = region.dims.len();
        let Limits { points, blocks, .. } = self.module.limits;
        let mut most = vec![1; slots];
        most[slots - 1] = points;
        if slots >= 2 {
            let outer = slots - 1 - usize::from(shape.across);
            if shape.across {
                most[slots - 2] = blocks * shape.height;
            }
            fill_up(&region.dims[..outer], blocks, &mut most[..outer]);
            if outer > 0 {
                most[0] = (most[0] * shape.planes).min(points);
            }
        }
        for (most, dim) in most.iter_mut().zip(&region.dims) {
            if !dim.fits() {
                *most = 1;
            }
        }
        let entry = self.module.entry(shape.entry).expect("the schedule offers it");
        let grids = |part: &Region| {
            if shape.entry == "planes" && !self.has_planes(part) {
                let (part, shape) = self.at_once(part.clone());
                return self.cut(&part, &shape);
            }
            let (mut blocks, mut threads) = (shape.blocks(part), shape.threads);
            let is_mirrored = shape.entry == "transpose" && self.mirror(part).is_some();
            let mirrored = is_mirrored.then(|| self.module.entry("mirrored")).flatten();
            if mirrored.is_some() {
                // Half of a triangle, and the other half beside it.
                let even = blocks[0].next_multiple_of(2);
                blocks = [even + 1, even / 2, blocks[2]];
                threads = [SIDE as u64, (SIDE / TURNS) as u64, 1];
            }
            let entry = mirrored.unwrap_or(entry);
            vec![self.grid(entry, part, [blocks, threads], shape.planes, no_fold)]
        };
        region.parts(&most).iter().flat_map(grids).collect()
    }

    /// One line per thread.
    pub(crate) fn scan(&self, scan: &Scan) -> LaunchPlan {
        let mut lines = Region::new(self);
        if lines.points() == 0 {
            return LaunchPlan::default();
        }
        let line = lines.dims.remove(scan.axis);
        lines.arrange(self.leader(&lines));
        let slots = line_slots(self.kernel);
        lines.fill(slots, 0);
        fill_y(&mut lines.dims);
        let shape = Shape::rows("scan", 1, 1, &lines);
        let Limits { points, blocks, .. } = self.module.limits;
        let mut most = vec![1; slots];
        most[slots - 1] = points;
        if slots >= 2 {
            most[slots - 2] = blocks * shape.height;
            fill_up(&lines.dims[..slots - 2], blocks, &mut most[..slots - 2]);
        }
        for (most, _) in most.iter_mut().zip(&lines.dims).filter(|(_, dim)| !dim.fits()) {
            *most = 1;
        }
        let entry = self.module.entry("scan").expect("a scan has one entry");
        let grid = |part: &Region| {
            let mut region = part.clone();
            region.dims.push(line.clone());
            self.grid(entry, &region, [shape.blocks(part), shape.threads], 1, no_fold)
        };
        LaunchPlan { scratch_bytes: 0, grids: lines.parts(&most).iter().map(grid).collect() }
    }

    /// All points side by side.
    fn at_once(&self, mut region: Region) -> (Region, Shape) {
        region.arrange(self.leader(&region));
        region.fill(slots(self.kernel), 0);
        fill_y(&mut region.dims);
        let shape = self.tile(&mut region).or_else(|| self.vector(&region));
        let shape = shape.unwrap_or_else(|| Shape::rows("pointwise", 1, 1, &region));
        (region, shape)
    }

    /// A vector in each of several planes per thread, if the vectors of all arrays are aligned together, and
    /// there is a block for every multiprocessor.
    fn planes(&self, whole: &Region, facts: Facts) -> Option<(Region, Shape)> {
        let plan = self.module.schedule.planes.as_ref()?;
        let dims = plan.slots.iter().map(|&dim| whole.dims[dim].clone()).collect();
        let region = Region { dims, ..whole.clone() };
        if !self.has_planes(&region) || !self.in_phase(plan.lanes, &region) {
            return None;
        }
        let shape = Shape::planes(plan, self.common_phase(&region, plan.lanes), &region);
        let blocks: u64 = shape.blocks(&region).iter().product();
        let is_filled = plan.alike || blocks >= u64::from(facts.multiprocessors);
        (is_filled && self.module.entry("planes").is_some()).then_some((region, shape))
    }

    /// A region has the planes and the vectors that a thread takes together.
    fn has_planes(&self, region: &Region) -> bool {
        let Some(plan) = &self.module.schedule.planes else { return false };
        let (x, _) = last_two(region);
        region.dims[plan.walk].extent >= plan.count as u64
            && x >= 2 * plan.lanes as u64
            && region.dims.iter().all(|dim| dim.fits() && (!plan.alike || self.is_alike(region, dim)))
    }

    /// A step along a dimension is the same for all arrays that are read, and for all that are written.
    fn is_alike(&self, region: &Region, dim: &Dim) -> bool {
        let is_read = |p: u32| self.kernel.params[p as usize].access == Access::In;
        [true, false].into_iter().all(|read| {
            let of = |q: &Quantity| matches!(q, Quantity::Param(p) if is_read(*p) == read);
            let mut steps = region.quantities.iter().zip(&dim.steps).filter(|(q, _)| of(q)).map(|(_, s)| s);
            steps.next().is_none_or(|first| steps.all(|step| step == first))
        })
    }

    /// Planes one after the other, if there are enough of them to be worth filling the registers, and
    /// enough walks for every multiprocessor to have one.
    fn streaming(&self, whole: &Region, facts: Facts) -> Option<(Region, Shape)> {
        let plan = self.module.schedule.streaming.as_ref()?;
        let dims = plan.slots.iter().map(|&dim| whole.dims[dim].clone()).collect();
        let region = Region { dims, ..whole.clone() };
        let Limits { planes_per_fill, filled, .. } = self.module.limits;
        let least = planes_per_fill * plan.fill().max(4) as u64;
        if region.dims[0].extent < least
            || !region.dims.iter().all(Dim::fits)
            || !self.in_phase(plan.lanes, &region)
        {
            return None;
        }
        let phase = self.common_phase(&region, plan.lanes);
        let multiprocessors = u64::from(facts.multiprocessors);
        let shape = Shape::streaming(plan, phase, least, &region, multiprocessors);
        let blocks: u64 = shape.blocks(&region).iter().product();
        let room = u128::from(blocks * u64::from(THREADS) * shape.lanes) * u128::from(shape.planes);
        let is_filled = u128::from(region.points()) * 100 >= room * u128::from(filled);
        let is_picked = blocks >= u64::from(facts.multiprocessors) && is_filled;
        (is_picked && self.module.entry("streaming").is_some()).then_some((region, shape))
    }

    /// Every vector of every parameter is aligned where those of the first output are.
    fn in_phase(&self, lanes: usize, region: &Region) -> bool {
        let Form::Elementwise { stores } = &self.kernel.form else { return false };
        let first = |param: u32| region.starts[region.of(Quantity::Param(param))] / self.size(param);
        let leader = first(stores[0].param);
        region.quantities.iter().enumerate().all(|(q, quantity)| {
            let Quantity::Param(param) = *quantity else { return true };
            let size = self.size(param);
            let vector = lanes as i64 * size;
            let [others @ .., _] = region.dims.as_slice() else { return false };
            self.adjacent(region, param)
                && others.iter().all(|dim| dim.steps[q] % vector == 0)
                && (first(param) - leader) % lanes as i64 == 0
        })
    }

    /// Transposed inputs through shared memory, if the output is contiguous and an input is along some
    /// other dimension, which then becomes y.
    fn tile(&self, region: &mut Region) -> Option<Shape> {
        let long = |dim: &Dim| dim.extent >= SIDE as u64 / 2;
        let Form::Elementwise { stores } = &self.kernel.form else { return None };
        let [outer @ .., x] = region.dims.as_slice() else { return None };
        let turns = self.module.schedule.transpose?;
        if !long(x) || !self.adjacent(region, stores[0].param) {
            return None;
        }
        let turned = turnable(self.footprint()).filter(|&p| !self.adjacent(region, p)).find_map(|p| {
            let q = region.of(Quantity::Param(p));
            // A parameter that is the same along x is best loaded as it is.
            outer.iter().position(|d| long(d) && d.steps[q] == self.size(p)).filter(|_| x.steps[q] != 0)
        })?;
        self.module.entry("transpose")?;
        let y = region.dims.len() - 2;
        region.dims[turned..=y].rotate_left(1);
        let height = SIDE as u64;
        let threads = [SIDE as u64, (SIDE / turns) as u64, 1];
        Some(Shape {
            entry: "transpose",
            lanes: 1,
            width: height,
            height,
            planes: 1,
            across: true,
            phase: None,
            threads,
        })
    }

    /// Arrays of a square region of which some are others' mirror images: a twin has its source's memory with
    /// x and y exchanged. `None` if a transposed one has no source, or the text is for more or fewer sources.
    pub(crate) fn mirror(&self, region: &Region) -> Option<Mirror> {
        let count = self.module.schedule.mirrored?;
        let [outer @ .., y, x] = region.dims.as_slice() else { return None };
        let of = |param: u32| region.of(Quantity::Param(param));
        let is_image = |p: u32, q: u32| {
            let (p, q) = (of(p), of(q));
            region.starts[p] == region.starts[q]
                && (x.steps[p], y.steps[p]) == (y.steps[q], x.steps[q])
                && outer.iter().all(|dim| dim.steps[p] == dim.steps[q])
        };
        let is_turned = |&p: &u32| y.steps[of(p)] == self.size(p) && !self.adjacent(region, p);
        let (turned, straight): (Vec<u32>, Vec<u32>) = turnable(self.footprint()).partition(is_turned);
        let mut mirror = Mirror::default();
        for param in straight.into_iter().chain(turned) {
            let source = mirror.sources.iter().position(|&source| is_image(source, param));
            if source.is_none() && is_turned(&param) {
                return None;
            }
            let at = source.unwrap_or(mirror.sources.len());
            mirror.twins.push((param, (at, source.is_some())));
            mirror.sources.extend(source.is_none().then_some(param));
        }
        let has_twins = mirror.twins.len() > mirror.sources.len();
        (x.extent == y.extent && has_twins && mirror.sources.len() == count).then_some(mirror)
    }

    /// Several points per thread, if the outputs allow it.
    fn vector(&self, region: &Region) -> Option<Shape> {
        let plan = self.module.schedule.vector.as_ref()?;
        if !self.fits(plan.lanes, plan.sideways(), region) || self.module.entry("vector").is_none() {
            return None;
        }
        let shape = Shape::rows("vector", plan.lanes as u64, plan.vectors as u64, region);
        Some(Shape { phase: self.common_phase(region, plan.lanes), ..shape })
    }

    /// The first output and the size of its elements, if all its rows begin at the same place of a vector.
    fn common_phase(&self, region: &Region, lanes: usize) -> Option<(usize, i64)> {
        let Form::Elementwise { stores } = &self.kernel.form else { return None };
        let (leader, size) = (region.of(Quantity::Param(stores[0].param)), self.size(stores[0].param));
        let [others @ .., _] = region.dims.as_slice() else { return None };
        let is_common = others.iter().all(|dim| dim.steps[leader] % (lanes as i64 * size) == 0);
        is_common.then_some((leader, size))
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

/// The shape in which the threads of a pointwise entry cover a region.
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
    /// Blocks have several rows of the slot before x.
    across: bool,
    /// The quantity whose phase every row has, and the size of its elements.
    phase: Option<(usize, i64)>,
    threads: [u64; 3],
}

impl Shape {
    /// Blocks of whole rows or stretches of one: `vectors` vectors of `lanes` points per thread.
    fn rows(entry: &'static str, lanes: u64, vectors: u64, region: &Region) -> Shape {
        let (x, y) = last_two(region);
        let [width, height] = block_shape(items(x, lanes).div_ceil(vectors), y);
        let threads = [width, height, 1];
        Shape { entry, lanes, width: width * vectors, height, planes: 1, across: true, phase: None, threads }
    }

    /// Blocks of narrow rows, in the order of memory.
    fn planes(plan: &Planes, phase: Option<(usize, i64)>, region: &Region) -> Shape {
        let (x, _) = last_two(region);
        let (lanes, count) = (plan.lanes as u64, plan.count as u64);
        if count == 1 {
            return Shape { phase, ..Shape::rows("planes", lanes, 1, region) };
        }
        let vectors = Shape { phase, ..Shape::rows("planes", lanes, 1, region) }.vectors(region, x);
        let widths = [WIDTH as u64, 16];
        let width = widths.into_iter().min_by_key(|&width| vectors.next_multiple_of(width)).unwrap_or(1);
        let threads = [width, u64::from(THREADS) / 2 / width, 1];
        let [height, planes] = if plan.walk > 0 || region.dims.len() == 2 {
            [threads[1] * count, 1]
        } else {
            [threads[1], count]
        };
        Shape { entry: "planes", lanes, width, height, planes, across: true, phase, threads }
    }

    /// Walks of at least `least` planes; so many that they fill the multiprocessors if they can.
    fn streaming(
        plan: &StreamingPlan,
        phase: Option<(usize, i64)>,
        least: u64,
        region: &Region,
        multiprocessors: u64,
    ) -> Shape {
        let [wide, high] = [WIDTH as u64, HEIGHT as u64];
        let [width, height] = if plan.across { [wide, high] } else { [wide * high, 1] };
        let (planes, lanes, across) = (region.dims[0].extent, plan.lanes as u64, plan.across);
        let threads = [wide, high, 1];
        let whole = Shape { entry: "streaming", lanes, width, height, planes, across, phase, threads };
        let walks: u64 = whole.blocks(region).iter().product();
        let most = (planes / least.max(1)).max(1);
        let cuts = (BLOCKS_PER_MULTIPROCESSOR * multiprocessors).div_ceil(walks);
        // Rounding never makes a walk longer than that or `least`: then there is one more.
        let most = most + u64::from(planes.div_ceil(most) > LONGEST_WALK.max(least));
        let cuts = cuts.max(planes.div_ceil(LONGEST_WALK)).clamp(1, most);
        Shape { planes: planes.div_ceil(cuts), ..whole }
    }

    /// Vectors of a row: exactly, if all rows have the same phase.
    fn vectors(&self, part: &Region, points: u64) -> u64 {
        let Some((leader, size)) = self.phase else { return items(points, self.lanes) };
        let phase = (part.starts[leader] / size).rem_euclid(self.lanes as i64) as u64;
        (phase + points).div_ceil(self.lanes)
    }

    fn blocks(&self, part: &Region) -> [u64; 3] {
        let (x, y) = last_two(part);
        let walks =
            |(slot, d): (usize, &Dim)| if slot == 0 { d.extent.div_ceil(self.planes) } else { d.extent };
        let outer = part.dims.len().saturating_sub(1 + usize::from(self.across));
        let outer = part.dims[..outer].iter().enumerate().map(walks).product();
        let rows = if self.across { y.div_ceil(self.height) } else { 1 };
        [self.vectors(part, x).div_ceil(self.width), rows, outer]
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

/// Makes the longest dimension of all y if the last two are too short for a block.
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
fn block_shape(items: u64, rows: u64) -> [u64; 2] {
    let full = u64::from(THREADS);
    let waste = |width: u64| items.div_ceil(width) * width;
    let widest = items.next_power_of_two().min(full);
    let widths = (0..).map(|n| widest >> n).take_while(|&w| w >= widest.min(32));
    let width = if rows == 1 { widest } else { widths.min_by_key(|&w| waste(w)).unwrap_or(widest) };
    [width, (full / width).min(rows.next_power_of_two())]
}

/// Launches over many boxes: of one program, each with its own memory, in any order. `None` if one of them is
/// too large, or the module does not offer it.
pub(crate) fn plan_batch(module: &Module, boxes: &[(&Launch, &[Span])]) -> Option<LaunchPlan> {
    let entry = module.entry("batched_copy")?;
    let row = &module.entries[entry].block;
    let mut filled: Vec<(u32, Vec<u8>)> = Vec::new();
    for (launch, memory) in boxes {
        let source = Source::new(module, launch, memory);
        let mut region = Region::new(&source);
        if region.points() == 0 {
            continue;
        }
        let blocks = region.points().div_ceil(u64::from(THREADS)) as u32;
        region.arrange(source.leader(&region));
        region.fill(slots(source.kernel), 0);
        if region.points() > module.limits.points || !region.dims.iter().all(Dim::fits) {
            return None;
        }
        let grid = source.grid(entry, &region, [[1; 3]; 2], 1, no_fold);
        filled.push((blocks, grid.params));
    }
    let rows = batch_rows(row);
    let table = |boxes: &[(u32, Vec<u8>)]| {
        let mut blocks = 0;
        // No block is in the rows that are left.
        let mut params = vec![u8::MAX; 4 * rows];
        for (first, (count, _)) in params.chunks_exact_mut(4).zip(boxes) {
            first.copy_from_slice(&u32::to_le_bytes(blocks));
            blocks += count;
        }
        boxes.iter().for_each(|(_, row)| params.extend(row));
        params.resize(rows * (4 + row.length()), 0);
        Grid { entry, grid: [blocks, 1, 1], block: [THREADS, 1, 1], params, scratch_at: Vec::new() }
    };
    Some(LaunchPlan { scratch_bytes: 0, grids: filled.chunks(rows).map(table).collect() })
}
