//! Binds scans. The order of the definition ([`Array::scan`](crate::Array::scan)): 16 neighbours are a run,
//! the runs' totals are the next level, and what a level's runs start from is the scan of the level above.
//! All levels are computed by two kernels, a fold of each run and a walk along each run, one line per thread.
//!
//! An axis that is divided is cut at multiples of 16^k elements. Each part finds the totals of its blocks of
//! so many; all parts get the totals of all in one redistribution and scan these on their own, then each part
//! goes on with those of its blocks.

use std::sync::Arc;

use partita_kernels::{Builder, DType, Fold, Scan, Value, Verified, View};

use crate::array::bind::reduce::scratch;
use crate::array::bind::schedule::{BoundLaunch, ScheduleBuilder, missing_part};
use crate::array::loops::recorder::Recorder;
use crate::array::memory::plans::moved;
use crate::array::memory::storage::Storage;
use crate::array::record::expr::AxisScan;
use crate::device::Buffer;
use crate::error::Result;
use crate::index::{DimMap, Distribution, Region};
use crate::program::Place;
use crate::team::Team;

/// Elements of a run.
const RUN: i64 = 16;
/// Most levels below the one that all parts get: of 4096 elements each.
const MOST_LEVELS: u32 = 3;
/// Levels that existing cuts must allow to be left as they are.
const FEW_LEVELS: u32 = 2;

/// The scan of a computed array, on distribution `dist`, which is the array's own.
pub(crate) fn scan_lines(
    (team, recorder): (&Team, &Recorder),
    base: &Storage,
    scan: AxisScan,
    dist: &Arc<Distribution>,
    dtype: DType,
) -> Result<Storage> {
    let kernels = ScanKernels::new(dist.rank(), scan, dtype)?;
    let pass = ScanPass { team, recorder, scan, dtype, kernels };
    let Some(cut) = cut_lines(dist, scan.axis)? else { return pass.whole(base, dist) };
    if Arc::ptr_eq(&cut.lines, dist) {
        return pass.divided(base, &cut);
    }
    let base = moved(recorder, base, (team, team), &cut.lines, dtype)?;
    let result = pass.divided(&base, &cut)?;
    moved(recorder, &result, (team, team), dist, dtype)
}

/// The distributions of a scan along an axis that is divided.
pub(crate) struct CutLines {
    /// Cut at multiples of 16^`levels` elements.
    pub lines: Arc<Distribution>,
    /// Of the totals of so many elements, where they are computed, and where they are needed.
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

/// How the axis is cut.
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

/// How many blocks hold so many elements.
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

/// Lines of a part: where they are, and how many of them and how long.
#[derive(Clone)]
struct Lines {
    place: Place,
    view: View,
    region: Region,
}

/// How an operand of a launch over runs is read or written.
enum Operand<'a> {
    /// Element by element.
    Elements(&'a Lines),
    /// One per run.
    Runs(&'a Lines),
}

struct ScanPass<'a> {
    team: &'a Team,
    recorder: &'a Recorder,
    scan: AxisScan,
    dtype: DType,
    kernels: ScanKernels,
}

/// What is queued for one part, and the memory it needs meanwhile.
struct PartScan<'p, 'a> {
    pass: &'p ScanPass<'a>,
    part: usize,
    work: &'p mut ScheduleBuilder,
    leases: &'p mut Vec<Buffer>,
}

impl ScanPass<'_> {
    /// The lines of a part, if it has any.
    fn lines(&self, storage: &Storage, dist: &Distribution, part: usize) -> Result<Option<Lines>> {
        let region = dist.owned(part);
        if region.is_empty() || !self.team.is_here(part) {
            return Ok(None);
        }
        let place = storage.place(self.team, part).ok_or_else(|| missing_part("scan"))?;
        Ok(Some(Lines { view: place.view(region.start()), place, region }))
    }

    fn each_part(
        &self,
        leases: &mut Vec<Buffer>,
        mut queue: impl FnMut(PartScan<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let mut work = ScheduleBuilder::new(self.team, self.recorder);
        for part in 0..self.team.size() {
            queue(PartScan { pass: self, part, work: &mut work, leases })?;
        }
        work.finish()
    }

    /// Lines that no part has a piece of.
    fn whole(&self, base: &Storage, dist: &Arc<Distribution>) -> Result<Storage> {
        let result = Storage::new(self.team, Arc::clone(dist), self.dtype)?;
        let mut leases = Vec::new();
        self.each_part(&mut leases, |mut on| {
            let part = on.part;
            let Some(values) = self.lines(base, dist, part)? else { return Ok(()) };
            let to = self.lines(&result, dist, part)?.ok_or_else(|| missing_part("scan"))?;
            let before = if on.length(&values) > RUN {
                let totals = on.totals(&values)?;
                Some(on.before(&totals)?)
            } else {
                None
            };
            on.walk([&self.kernels.first, &self.kernels.next], &values, before.as_ref(), &to)
        })?;
        Ok(result)
    }

    /// Lines that are cut.
    fn divided(&self, base: &Storage, cut: &CutLines) -> Result<Storage> {
        let CutLines { lines: dist, totals: blocks, all_totals: all, levels, firsts } = cut;
        let (axis, levels) = (self.scan.axis, *levels);
        let result = Storage::new(self.team, Arc::clone(dist), self.dtype)?;
        let totals = Storage::new(self.team, Arc::clone(blocks), self.dtype)?;
        let mut leases = Vec::new();
        let mut below: Vec<Vec<Lines>> = vec![Vec::new(); self.team.size()];
        self.each_part(&mut leases, |mut on| {
            let part = on.part;
            let Some(values) = self.lines(base, dist, part)? else { return Ok(()) };
            let top = self.lines(&totals, blocks, part)?.ok_or_else(|| missing_part("scan"))?;
            below[part].push(values);
            for level in 1..levels {
                let next = on.totals(&below[part][level as usize - 1])?;
                below[part].push(next);
            }
            on.totals_into(&below[part][levels as usize - 1], &top)
        })?;
        let totals = moved(self.recorder, &totals, (self.team, self.team), all, self.dtype)?;
        self.each_part(&mut leases, |mut on| {
            let part = on.part;
            let (Some(to), Some(totals)) =
                (self.lines(&result, dist, part)?, self.lines(&totals, all, part)?)
            else {
                return Ok(());
            };
            let mut before = on.before(&totals)?;
            let first = firsts[dist.grid().coordinate(part)[axis] as usize];
            before.view.offset += first * before.view.strides[axis];
            for level in (1..levels as usize).rev() {
                let lines = &below[part][level];
                let next = on.scratch(&lines.region)?;
                on.walk(
                    [&self.kernels.first_before, &self.kernels.next_before],
                    lines,
                    Some(&before),
                    &next,
                )?;
                before = next;
            }
            on.walk([&self.kernels.first, &self.kernels.next], &below[part][0], Some(&before), &to)
        })?;
        Ok(result)
    }
}

impl PartScan<'_, '_> {
    fn length(&self, lines: &Lines) -> i64 {
        lines.region.extent(self.pass.scan.axis)
    }

    /// Memory for lines of these extents.
    fn scratch(&mut self, region: &Region) -> Result<Lines> {
        let device = self.pass.team.device(self.part);
        let place = scratch(device, region, self.pass.dtype, self.leases)?;
        Ok(Lines { view: place.view(region.start()), place, region: *region })
    }

    /// The totals of the runs.
    fn totals(&mut self, values: &Lines) -> Result<Lines> {
        let (axis, runs) = (self.pass.scan.axis, blocks_of(self.length(values), RUN));
        let region = Region::from_fn(values.region.rank(), |d| match d == axis {
            true => (0, runs),
            false => (values.region.start()[d], values.region.stop()[d]),
        });
        let totals = self.scratch(&region)?;
        self.totals_into(values, &totals)?;
        Ok(totals)
    }

    fn totals_into(&mut self, values: &Lines, totals: &Lines) -> Result<()> {
        let pass = self.pass;
        self.over_runs(&pass.kernels.totals, values, &[Operand::Elements(values), Operand::Runs(totals)])
    }

    /// What is before each element of whole lines.
    fn before(&mut self, values: &Lines) -> Result<Lines> {
        let pass = self.pass;
        let mut levels = vec![values.clone()];
        while let Some(last) = levels.last().filter(|last| self.length(last) > RUN).cloned() {
            levels.push(self.totals(&last)?);
        }
        let mut before: Option<Lines> = None;
        for lines in levels.iter().rev() {
            let next = self.scratch(&lines.region)?;
            let kernels = [&pass.kernels.first_before, &pass.kernels.next_before];
            self.walk(kernels, lines, before.as_ref(), &next)?;
            before = Some(next);
        }
        before.ok_or_else(|| missing_part("scan"))
    }

    /// Walks along all runs, from what is before each, or along the first from the neutral element.
    fn walk(
        &mut self,
        [first, next]: [&Verified; 2],
        values: &Lines,
        before: Option<&Lines>,
        to: &Lines,
    ) -> Result<()> {
        let (values_of, to) = (Operand::Elements(values), Operand::Elements(to));
        match before {
            Some(before) => self.over_runs(next, values, &[values_of, Operand::Runs(before), to]),
            None => self.over_runs(first, values, &[values_of, to]),
        }
    }

    /// Launches a kernel over all whole runs, and over the rest.
    fn over_runs(&mut self, kernel: &Verified, lines: &Lines, operands: &[Operand<'_>]) -> Result<()> {
        let (axis, part, length) = (self.pass.scan.axis, self.part, self.length(lines));
        let (whole, rest) = (length / RUN, length % RUN);
        for (first, runs, run) in [(0, whole, RUN), (whole, 1, rest)] {
            if runs == 0 || run == 0 {
                continue;
            }
            let region = Region::from_fn(lines.region.rank() + 1, |d| match d {
                d if d == axis => (0, runs),
                d if d == axis + 1 => (0, run),
                d => (0, lines.region.extent(if d < axis { d } else { d - 1 })),
            });
            let bound = |operand: &Operand<'_>| {
                let (lines, apart, within) = match operand {
                    Operand::Elements(lines) => (lines, RUN, 1),
                    Operand::Runs(lines) => (lines, 1, 0),
                };
                let mut view = lines.view.clone();
                let step = view.strides[axis];
                view.offset += first * apart * step;
                view.strides[axis] = apart * step;
                view.strides.insert(axis + 1, within * step);
                (view, lines.place.clone())
            };
            let memory = operands.iter().map(bound).collect();
            self.work.launch(&BoundLaunch {
                kernel,
                part,
                region,
                memory,
                arguments: Vec::new(),
                numbers: None,
            })?;
        }
        Ok(())
    }
}
