//! Scans as steps. The order of the definition ([`Array::scan`](crate::Array::scan)): 16 neighbours are a
//! run, the runs' totals are the next level, and a level's runs start from the scan of the level above. All
//! levels are computed by two kernels, a fold of each run and a walk along each run, one line per thread.
//!
//! An axis that is divided is cut at multiples of 16^k elements. Each part finds the totals of its blocks of
//! that size; all parts get all totals in one exchange and scan these on their own, then each part goes
//! on with those of its blocks.

use std::sync::Arc;

use partita_kernels::{Builder, DType, Fold, Scan, Value, Verified};

use crate::array::lower::steps::list::{
    LaunchAxis, LaunchOperand, MemoryId, PartLaunch, StepList, StoredArray,
};
use crate::array::record::expr::AxisScan;
use crate::error::Result;
use crate::index::{DimMap, Distribution, Index, Region};
use crate::team::Team;

/// Elements of a run.
const RUN: i64 = 16;
/// Most levels below the one that all parts get: of 4096 elements each.
const MOST_LEVELS: u32 = 3;
/// Levels that existing cuts must allow to be left as they are.
const FEW_LEVELS: u32 = 2;

/// The scan of an array into another one, on the array's own distribution.
pub(crate) fn scan(
    list: &mut StepList,
    team: &Team,
    base: &StoredArray,
    scan: AxisScan,
    to: &StoredArray,
) -> Result<()> {
    list.allocate(to);
    let (dist, dtype, shape) = (&to.dist, to.dtype, to.shape);
    let kernels = ScanKernels::new(dist.rank(), scan, dtype)?;
    let Some(cut) = cut_lines(dist, scan.axis)? else {
        ScanPass { list, axis: scan.axis, dtype, layout: dist, kernels }
            .whole(&Lines::of(base.memory(), dist), &Lines::of(to.memory(), dist));
        return Ok(());
    };
    let is_moved = !Arc::ptr_eq(&cut.lines, dist);
    let (mut from, mut result) = (base.memory(), to.memory());
    if is_moved {
        let lines = list.temporary(dtype, &cut.lines);
        let ends = [(from, &*base.dist), (lines, &*cut.lines)];
        list.redistribute(team, "lines cut elsewhere", ends, (dtype, shape))?;
        (from, result) = (lines, list.temporary(dtype, &cut.lines));
    }
    let ends = [from, result].map(|memory| Lines::of(memory, &cut.lines));
    ScanPass { list, axis: scan.axis, dtype, layout: &cut.lines, kernels }.divided(team, &ends, &cut)?;
    if is_moved {
        let ends = [(result, &*cut.lines), (to.memory(), &**dist)];
        list.redistribute(team, "lines as they were cut", ends, (dtype, shape))?;
    }
    Ok(())
}

/// The distributions of a scan along an axis that is divided.
pub(crate) struct CutLines {
    /// Cut at multiples of 16^`levels` elements.
    pub lines: Arc<Distribution>,
    /// Of the totals of 16^`levels` elements, where they are computed, and where they are needed.
    pub totals: Arc<Distribution>,
    pub all_totals: Arc<Distribution>,
    levels: u32,
    /// The first total of each part along the axis.
    firsts: Vec<i64>,
}

/// The distributions of a scan along an axis, unless each part has whole lines.
pub(crate) fn cut_lines(dist: &Arc<Distribution>, axis: usize) -> Result<Option<CutLines>> {
    let (lines, levels) = match cuts(dist.map(axis))? {
        Cuts::None => return Ok(None),
        Cuts::Fitting(levels) => (Arc::clone(dist), levels),
        Cuts::Moved(map, levels) => (Arc::new(dist.with_map(axis, map)?), levels),
    };
    let map = lines.map(axis);
    let (parts, block) = (map.parts(), RUN.pow(levels));
    let bound = |part: usize| if part == parts { map.size() } else { map.owned(part).start };
    let firsts: Vec<i64> = (0..=parts).map(|part| blocks_of(bound(part), block)).collect();
    let totals = Arc::new(lines.with_map(axis, DimMap::irregular(&firsts)?)?);
    let all_totals = Arc::new(lines.with_map(axis, DimMap::replicated(firsts[parts], parts)?)?);
    Ok(Some(CutLines { lines, totals, all_totals, levels, firsts }))
}

/// The cuts of the axis.
enum Cuts {
    /// Each part has whole lines in order.
    None,
    /// At multiples of 16^k elements.
    Fitting(u32),
    /// Elsewhere; and a map that fits.
    Moved(DimMap, u32),
}

fn cuts(map: &DimMap) -> Result<Cuts> {
    let (size, parts) = (map.size(), map.parts());
    match map {
        DimMap::Replicated { .. } => return Ok(Cuts::None),
        DimMap::Block { .. } | DimMap::Cyclic(_) if parts == 1 => return Ok(Cuts::None),
        DimMap::Block { bounds } => {
            let is_fitting = |&levels: &u32| {
                let fits = |bound: i64| bound == size || bound % RUN.pow(levels) == 0;
                (1..parts).all(|part| fits(bounds.start(part)))
            };
            if let Some(levels) = (FEW_LEVELS..=MOST_LEVELS).rev().find(is_fitting) {
                return Ok(Cuts::Fitting(levels));
            }
        }
        DimMap::Cyclic(_) | DimMap::Unstructured(_) | DimMap::Custom(_) => {}
    }
    let share = size / parts as i64;
    let levels = (1..=MOST_LEVELS).rev().find(|&levels| RUN.pow(levels) <= share).unwrap_or(1);
    let (block, parts) = (RUN.pow(levels), parts as i64);
    let blocks = blocks_of(size, block);
    let bounds: Vec<i64> = (0..=parts).map(|part| (part * blocks / parts * block).min(size)).collect();
    Ok(Cuts::Moved(DimMap::irregular(&bounds)?, levels))
}

/// The number of blocks that hold `elements` elements.
fn blocks_of(elements: i64, block: i64) -> i64 {
    (elements + block - 1) / block
}

/// The kernels of a scan. Lines are cut into runs: the axis becomes two dimensions.
struct ScanKernels {
    /// The total of each run.
    totals: Verified,
    /// From the neutral element, or what is before each run: the elements before each one.
    first_before: Verified,
    next_before: Verified,
    /// The same as the result wants it.
    first: Verified,
    next: Verified,
}

impl ScanKernels {
    fn new(rank: usize, scan: AxisScan, dtype: DType) -> Result<ScanKernels> {
        let axis = scan.axis + 1;
        let point = vec![0; rank + 1];
        let mut k = Builder::new("scan_totals", rank + 1);
        let input = k.input(dtype);
        let (value, output) = (k.load(input, &point), k.output(dtype));
        let axes: Vec<bool> = (0..=rank).map(|dim| dim == axis).collect();
        let totals = k.reduce(&axes, &[Fold::Value { op: scan.op, value, output }])?;
        let walk = |is_first: bool, exclusive: bool| -> Result<Verified> {
            let mut k = Builder::new(if is_first { "scan_line" } else { "scan_runs" }, rank + 1);
            let input = k.input(dtype);
            let value = k.load(input, &point);
            let start: Value = match is_first {
                true => k.constant(scan.op.neutral(dtype)),
                false => {
                    let before = k.input(dtype);
                    k.load(before, &point)
                }
            };
            let output = k.output(dtype);
            Ok(k.scan(Scan { axis, op: scan.op, start, value, output, exclusive })?)
        };
        Ok(ScanKernels {
            totals,
            first_before: walk(true, true)?,
            next_before: walk(false, true)?,
            first: walk(true, scan.exclusive)?,
            next: walk(false, scan.exclusive)?,
        })
    }
}

/// Lines of every part: where they are, and how many of them and how long. Parts without any have an empty
/// box.
#[derive(Clone)]
struct Lines {
    memory: MemoryId,
    cells: Vec<Region>,
}

impl Lines {
    /// All that the parts of a distribution own.
    fn of(memory: MemoryId, dist: &Distribution) -> Lines {
        Lines { memory, cells: (0..dist.parts()).map(|part| dist.owned(part)).collect() }
    }
}

/// An operand of a launch over runs.
enum Operand<'a> {
    /// Element by element.
    Elements(&'a Lines),
    /// One per run.
    Runs(&'a Lines),
}

struct ScanPass<'a> {
    list: &'a mut StepList,
    axis: usize,
    dtype: DType,
    layout: &'a Arc<Distribution>,
    kernels: ScanKernels,
}

impl ScanPass<'_> {
    /// Lines that no part has a piece of.
    fn whole(&mut self, values: &Lines, to: &Lines) {
        let before = (self.length(values) > RUN).then(|| {
            let totals = self.totals(values);
            self.before(totals)
        });
        self.walk(false, values, before.as_ref(), to);
    }

    /// Lines that are cut, and their results.
    fn divided(&mut self, team: &Team, [values, to]: &[Lines; 2], cut: &CutLines) -> Result<()> {
        let CutLines { lines: dist, totals: blocks, all_totals, levels, firsts } = cut;
        let (axis, levels) = (self.axis, *levels as usize);
        let mut below = vec![values.clone()];
        for level in 1..levels {
            let next = self.totals(&below[level - 1]);
            below.push(next);
        }
        let totals = Lines::of(self.list.temporary(self.dtype, blocks), blocks);
        self.totals_into(&below[levels - 1], &totals);
        let all = Lines::of(self.list.temporary(self.dtype, all_totals), all_totals);
        let ends = [(totals.memory, &**blocks), (all.memory, &**all_totals)];
        self.list.redistribute(team, "totals", ends, (self.dtype, blocks.shape()))?;
        let mut before = self.before(all);
        for (part, cells) in before.cells.iter_mut().enumerate() {
            let first = firsts[dist.grid().coordinate(part)[axis] as usize];
            *cells = Region::from_fn(cells.rank(), |d| match d == axis {
                true => (cells.start()[d] + first, cells.stop()[d]),
                false => (cells.start()[d], cells.stop()[d]),
            });
        }
        for lines in below[1..].iter().rev() {
            let next = self.scratch(lines.cells.clone());
            self.walk(true, lines, Some(&before), &next);
            before = next;
        }
        self.walk(false, values, Some(&before), to);
        Ok(())
    }

    /// The length of the longest lines.
    fn length(&self, lines: &Lines) -> i64 {
        lines.cells.iter().map(|cells| cells.extent(self.axis)).max().unwrap_or(0)
    }

    /// Memory for lines of these extents.
    fn scratch(&mut self, cells: Vec<Region>) -> Lines {
        Lines { memory: self.list.boxes(self.dtype, cells.clone()), cells }
    }

    /// The totals of the runs.
    fn totals(&mut self, values: &Lines) -> Lines {
        let axis = self.axis;
        let runs = |cells: &Region| {
            Region::from_fn(cells.rank(), |d| match d == axis {
                true => (0, blocks_of(cells.extent(d), RUN)),
                false => (cells.start()[d], cells.stop()[d]),
            })
        };
        let totals = self.scratch(values.cells.iter().map(runs).collect());
        self.totals_into(values, &totals);
        totals
    }

    fn totals_into(&mut self, values: &Lines, totals: &Lines) {
        let kernel = self.kernels.totals.clone();
        self.over_runs(kernel, values, &[Operand::Elements(values), Operand::Runs(totals)]);
    }

    /// The exclusive scan of whole lines.
    fn before(&mut self, values: Lines) -> Lines {
        let mut above = None;
        if self.length(&values) > RUN {
            let totals = self.totals(&values);
            above = Some(self.before(totals));
        }
        let before = self.scratch(values.cells.clone());
        self.walk(true, &values, above.as_ref(), &before);
        before
    }

    /// Walks along all runs, from what is before each, or along the first from the neutral element. The
    /// results are what is before each element, or what the scan is to give.
    fn walk(&mut self, is_before: bool, values: &Lines, before: Option<&Lines>, to: &Lines) {
        let (values_of, to) = (Operand::Elements(values), Operand::Elements(to));
        let ScanKernels { first_before, next_before, first, next, .. } = &self.kernels;
        let [first, next] = if is_before { [first_before, next_before] } else { [first, next] };
        match before {
            Some(before) => {
                self.over_runs(next.clone(), values, &[values_of, Operand::Runs(before), to]);
            }
            None => self.over_runs(first.clone(), values, &[values_of, to]),
        }
    }

    /// Launches a kernel over all whole runs, and over the rest.
    fn over_runs(&mut self, kernel: Verified, lines: &Lines, operands: &[Operand<'_>]) {
        let axis = self.axis;
        let runs = |cells: &Region, is_rest: bool| match (cells.extent(axis), is_rest) {
            (length, false) => (0, length / RUN, RUN),
            (length, true) => (length / RUN, 1, length % RUN),
        };
        for is_rest in [false, true] {
            let part = |cells: &Region| {
                let (_, runs, run) = runs(cells, is_rest);
                let region = Region::from_fn(cells.rank() + 1, |d| match d {
                    d if d == axis => (0, runs),
                    d if d == axis + 1 => (0, run),
                    d => (0, cells.extent(if d < axis { d } else { d - 1 })),
                });
                (!region.is_empty()).then_some(PartLaunch::new(region, Vec::new()))
            };
            let bound = |operand: &Operand<'_>| {
                let (of, apart, within) = match operand {
                    Operand::Elements(of) => {
                        (of, RUN, Some(LaunchAxis { dim: axis + 1, along: axis, step: 1 }))
                    }
                    Operand::Runs(of) => (of, 1, None),
                };
                let first = |(cells, of): (&Region, &Region)| {
                    let skipped = runs(cells, is_rest).0 * apart;
                    Index::from_fn(of.rank(), |d| of.start()[d] + if d == axis { skipped } else { 0 })
                };
                let first = lines.cells.iter().zip(&of.cells).map(first).collect();
                let along = |d: usize| LaunchAxis {
                    dim: if d > axis { d + 1 } else { d },
                    along: d,
                    step: if d == axis { apart } else { 1 },
                };
                let mut axes: Vec<LaunchAxis> = (0..self.layout.rank()).map(along).collect();
                axes.extend(within);
                LaunchOperand::Cells { memory: of.memory, first, axes }
            };
            let operands = operands.iter().map(bound).collect();
            let parts = lines.cells.iter().map(part).collect();
            self.list.launch(kernel.clone(), self.layout, operands, parts);
        }
    }
}
