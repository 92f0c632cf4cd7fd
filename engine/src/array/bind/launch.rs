//! Binding of launches, of exchanges of which every rank knows all, and of copies within parts: views of
//! memory, uploaded lists, and numbers that depend on how memory is laid out. While elements travel, what
//! needs nothing of them, the *core*, is computed; afterwards the *rim* around it.

use std::sync::Arc;

use partita_kernels::{Access, DType, Form, Launch, Scalar, Verified, View};

use crate::array::bind::schedule::{ScheduleBuilder, Values, missing_part};
use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::list::{
    CopiedCells, ExchangeField, KernelLaunch, LaunchArgument, LaunchAxis, LaunchOperand, MemoryId, PartCells,
    PartLaunch, PlanExchange,
};
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::memory::window::{ArrayWindow, ComputeRegion, RegionBox};
use crate::array::record::expr::{Slot, StridedWindow};
use crate::device::{Buffer, DeviceKind, Job, Stream, integers};
use crate::error::Result;
use crate::index::{Index, Region};
use crate::program::{Command, CopyMode, Op, Place, Schedule, copy_views, offset_in};
use crate::team::Team;
use crate::transport::{Exchange, Field, OverlapCapability, lower, lower_between_ranks};
/// Adds the commands of an exchange, and of the launches that follow it.
pub(crate) fn exchange(step: &PlanExchange, work: &mut ScheduleBuilder, values: &Values) -> Result<()> {
    let team = work.team.clone();
    let launches = bind_launches(&step.launches, work, values)?;
    let places = |memory| values.places(&team, memory);
    let ends = step.fields.iter().map(|field| Ok((places(field.from)?, places(field.to)?)));
    let ends = ends.collect::<Result<Vec<_>>>()?;
    let both = step.fields.iter().zip(&ends);
    let fields: Vec<Field> =
        both.map(|(field, (from, to))| Field { plan: &field.plan, from, to, dtype: field.dtype }).collect();
    let exchange = match team.wire() {
        Some(_) => lower_between_ranks(step.operation(), (&team, &team), &fields)?,
        None => lower(&fields)?,
    };
    work.count_messages(step.fields.iter().map(|field| field.plan.messages()).sum());
    let exchange = if launches.is_empty() { exchange } else { exchange.overlapped() };
    queue(work, exchange, launches)?;
    for ExchangeField { to, halo, .. } in &step.fields {
        if let (MemoryId::Array(node), Some(halo)) = (to, halo) {
            work.updated_halos.push((values.storage(*node)?, halo.clone()));
        }
    }
    step.launches.iter().try_for_each(|launch| note_halos(launch, work, values))
}

/// Adds the launches of this rank's parts.
pub(crate) fn launch(step: &KernelLaunch, work: &mut ScheduleBuilder, values: &Values) -> Result<()> {
    let launches = bind_launches(std::slice::from_ref(step), work, values)?;
    queue(work, Exchange::default(), launches)?;
    note_halos(step, work, values)
}

/// The launches of this rank's parts, with their memory.
fn bind_launches<'s>(
    steps: &'s [KernelLaunch],
    work: &mut ScheduleBuilder,
    values: &Values,
) -> Result<Vec<BoundLaunch<'s>>> {
    let team = work.team.clone();
    let mut bound = Vec::new();
    for step in steps {
        let numbers = step.fused.as_ref().map(|fused| Arc::clone(&fused.numbers)).unwrap_or_default();
        if let (Some(ranks), Some(kernel)) = (team.wire(), step.fused.as_ref().and_then(|fused| fused.hash)) {
            let given = numbers.iter().map(|&(_, slot)| values.numbers[slot as usize]).collect();
            let op = Op::RecordHash { ranks: ranks.clone(), kernel, numbers: given };
            work.push(Command { numbers: Some(Arc::clone(&numbers)), ..op.into() });
        }
        let numbers = Some(numbers).filter(|numbers| !numbers.is_empty());
        let lists = step.operands.iter().map(|operand| match operand {
            LaunchOperand::WindowList { indices, dim } => indices.upload(&team, *dim, &mut work.uploads),
            LaunchOperand::List { list, dim } => list.upload(&team, &step.layout, *dim, &mut work.uploads),
            _ => Ok(Vec::new()),
        });
        let lists = lists.collect::<Result<Vec<Vec<Option<Place>>>>>()?;
        for launch in step.launches.iter().filter(|launch| team.is_here(launch.part)) {
            let on = OnPart { team: &team, values, part: launch.part };
            let mut memory: Vec<(View, Place)> = Vec::with_capacity(step.operands.len());
            for (operand, lists) in step.operands.iter().zip(&lists) {
                memory.push(on.operand((step, launch), operand, lists, &mut work.uploads)?);
            }
            let place = |operand: usize| &memory[operand].1;
            let arguments = launch.arguments.iter().map(|argument| match *argument {
                LaunchArgument::Number(number) => number,
                LaunchArgument::Recorded(slot) => values.numbers[slot as usize],
                LaunchArgument::Stride { operand, dim, dtype } => {
                    Scalar::from_i64(dtype, place(operand).strides()[dim])
                }
                LaunchArgument::Distance { operand, dim, coordinate, dtype } => {
                    Scalar::from_i64(dtype, coordinate - place(operand).stored.start()[dim])
                }
            });
            let (kernel, arguments, numbers) = (&step.kernel, arguments.collect(), numbers.clone());
            let is_fold = step.fused.as_ref().is_some_and(|fused| fused.is_fold);
            bound.push(BoundLaunch { kernel, launch, memory, arguments, numbers, is_fold });
        }
    }
    Ok(bound)
}

/// Notes what is current of the halos of written arrays: what neighbours show is old, but for what the part
/// computed itself.
fn note_halos(step: &KernelLaunch, work: &mut ScheduleBuilder, values: &Values) -> Result<()> {
    for (param, operand) in step.kernel.kernel().params.iter().zip(&step.operands) {
        if let (Access::Out | Access::InOut, Some(MemoryId::Array(node))) = (param.access, operand.memory()) {
            let storage = values.storage(node)?;
            match step.fused.as_ref().filter(|fused| !fused.grow.is_zero()) {
                Some(fused) => work.updated_halos.push((storage, fused.grow.clone())),
                None => work.invalidate_halo(&storage),
            }
        }
    }
    Ok(())
}

/// A kernel over the region of one part, with its memory. The views are those of the region.
struct BoundLaunch<'a> {
    kernel: &'a Verified,
    launch: &'a PartLaunch,
    memory: Vec<(View, Place)>,
    arguments: Vec<Scalar>,
    /// Those of the arguments that are plain numbers.
    numbers: Option<Arc<[(usize, Slot)]>>,
    is_fold: bool,
}

impl BoundLaunch<'_> {
    /// The launch over a box of the region, whose first cell has these coordinates.
    fn over(&self, team: &Team, (cells, origin): (&Region, &Index)) -> Result<Command> {
        let device = team.device(self.launch.part);
        let skipped = |d: usize| cells.start()[d] - self.launch.region.start()[d];
        let view = |view: &View| {
            let skipped = (0..cells.rank()).map(|d| skipped(d) * view.strides[d]).sum::<i64>();
            View { offset: view.offset + skipped, strides: view.strides.clone() }
        };
        let launch = Launch {
            extents: cells.extents().iter().map(|&extent| extent as usize).collect(),
            origin: origin.to_vec(),
            views: self.memory.iter().map(|(region_view, _)| view(region_view)).collect(),
            arguments: self.arguments.clone(),
        };
        let memory = self.memory.iter().map(|(_, place)| Arc::clone(&place.allocation)).collect();
        let job = Job { program: device.compile(self.kernel.clone())?, launch: Arc::new(launch), memory };
        let op = Op::Launch { device: device.clone(), job };
        Ok(Command { numbers: self.numbers.clone(), ..op.into() })
    }
}

/// Adds an exchange and launches: while operands travel, what needs nothing of them; afterwards the rims
/// around it. No launch of another kernel reads what one of these writes.
fn queue(work: &mut ScheduleBuilder, exchange: Exchange, mut launches: Vec<BoundLaunch>) -> Result<()> {
    let mut overlap = exchange.overlap_capability();
    work.uploads.extend(exchange.uploads().into_iter().cloned());
    let Exchange { departure, mut dispatch, mut arrival, mut join, leases, .. } = exchange;
    work.leases.extend(leases);
    work.extend(departure);
    if overlap == OverlapCapability::None || launches.iter().any(|launch| launch.is_fold) {
        overlap = OverlapCapability::None;
        [&mut dispatch, &mut arrival, &mut join]
            .into_iter()
            .for_each(|part| work.extend(std::mem::take(part)));
    }
    let team = work.team.clone();
    // The host's own come last: all other devices work while the host waits for what leaves them.
    let is_host = |bound: &BoundLaunch| team.device(bound.launch.part).kind() == DeviceKind::Host;
    launches.sort_by_key(is_host);
    let (mut cores, mut rims) = (Vec::new(), Vec::new());
    for (at, bound) in launches.iter().enumerate() {
        let PartLaunch { part, region, pieces, core, .. } = bound.launch;
        let core = match overlap {
            OverlapCapability::None => *region,
            _ if overlap.covers(team.device(*part)) => *core,
            _ => Region::from_fn(core.rank(), |_| (0, 0)),
        };
        if is_host(bound) {
            work.extend(together(std::mem::take(&mut cores)));
            work.extend(std::mem::take(&mut dispatch));
        }
        let whole = [RegionBox { cells: *region, origin: *region.start() }];
        for piece in if pieces.is_empty() { &whole[..] } else { pieces } {
            let inside = piece.cells.intersect(&core);
            if !inside.is_empty() {
                cores.push((at, bound.over(&team, (&inside, &piece.origin_of(&inside)))?));
            }
            for rim in piece.cells.subtract(&inside) {
                let command = bound.over(&team, (&rim, &piece.origin_of(&rim)))?;
                rims.push((at, command.on(rim_stream(&team, &join, *part))));
            }
        }
    }
    [together(cores), dispatch, arrival, together(rims), join].into_iter().for_each(|part| work.extend(part));
    Ok(())
}

/// Launches with so many points begin for longer than they run.
const FEW_POINTS: usize = 1 << 17;

/// Launches, each with the number of what it computes boxes of, as commands. Small ones of one kernel that
/// follow each other on one stream of a GPU are one: boxes of one thing have nothing to do with each other,
/// others share no memory that is written.
fn together(launches: impl IntoIterator<Item = (usize, Command)>) -> Schedule {
    let uses = |user: &Job, writer: &Job| {
        let mut all = writer.program.kernel().kernel().params.iter().zip(&writer.memory);
        all.any(|(param, memory)| {
            param.access != Access::In && user.memory.iter().any(|used| used.id == memory.id)
        })
    };
    let joins = |(of, one): &(usize, Command), (next, other): &(usize, Command)| match (&one.op, &other.op) {
        (Op::Launch { device, job: a }, Op::Launch { device: on, job: b }) => {
            let is_pointwise = matches!(a.program.kernel().kernel().form, Form::Elementwise { .. });
            let are_small = [a, b].iter().all(|job| job.launch.points() <= FEW_POINTS);
            let is_same = device == on && one.stream == other.stream && Arc::ptr_eq(&a.program, &b.program);
            let are_free = || of == next || !uses(a, b) && !uses(b, a);
            is_same && device.has_streams() && is_pointwise && are_small && are_free()
        }
        _ => false,
    };
    let mut runs: Vec<Vec<(usize, Command)>> = Vec::new();
    for launch in launches {
        match runs.last_mut().filter(|run| run.iter().all(|before| joins(before, &launch))) {
            Some(run) => run.push(launch),
            None => runs.push(vec![launch]),
        }
    }
    let one = |mut run: Vec<(usize, Command)>| match &run[..] {
        [(_, first @ Command { op: Op::Launch { device, .. }, .. }), _, ..] => {
            let jobs = run.iter().flat_map(|(_, command)| command.op.jobs()).cloned().collect();
            Command { op: Op::BatchedLaunch { device: device.clone(), jobs }, ..first.clone() }
        }
        _ => run.swap_remove(0).1,
    };
    runs.into_iter().map(one).collect()
}

/// The stream of a part's launches that come after the exchange has arrived there, beside what is still
/// computed.
fn rim_stream(team: &Team, join: &Schedule, part: usize) -> Stream {
    let device = team.device(part);
    let joins = |command: &Command| match &command.op {
        Op::StreamWait { first, .. } => *first == (device.clone(), Stream::Exchange),
        _ => false,
    };
    if join.iter().any(joins) { Stream::Exchange } else { Stream::Compute }
}

/// A part of this rank, and where its memory is.
struct OnPart<'a> {
    team: &'a Team,
    values: &'a Values,
    part: usize,
}

impl OnPart<'_> {
    fn place(&self, memory: MemoryId) -> Result<Place> {
        self.values.place(self.team, memory, self.part)?.ok_or_else(|| missing_part("operand"))
    }

    /// The memory that is reached by number: that of the array, or what was fetched of it.
    fn numbered(&self, memory: MemoryId, fetched: Option<MemoryId>) -> Result<Place> {
        let fetched = fetched.map(|fetched| self.values.place(self.team, fetched, self.part)).transpose()?;
        fetched.flatten().map_or_else(|| self.place(memory), Ok)
    }

    /// The view that a kernel of `rank` dimensions has of an operand, and its memory.
    fn operand(
        &self,
        (step, launch): (&KernelLaunch, &PartLaunch),
        operand: &LaunchOperand,
        lists: &[Option<Place>],
        uploads: &mut Vec<Buffer>,
    ) -> Result<(View, Place)> {
        let anywhere = |offset| View { offset, strides: vec![0; launch.region.rank()] };
        let in_line = |offset| View { offset, strides: vec![1] };
        Ok(match operand {
            LaunchOperand::Cells { memory, first, axes } => {
                let place = self.place(*memory)?;
                let inner = place.view(&first[self.part]);
                let mut view = anywhere(inner.offset);
                for LaunchAxis { dim, along, step } in axes {
                    view.strides[*dim] += step * inner.strides[*along];
                }
                (view, place)
            }
            LaunchOperand::OfLaunch { at, folded } => {
                let PartCells { memory, part, first } = &launch.memory[*at];
                let place = self.values.place(self.team, *memory, *part)?;
                let place = place.ok_or_else(|| missing_part("operand"))?;
                let mut view = place.view(first);
                folded.iter().for_each(|&axis| view.strides[axis] = 0);
                (view, place)
            }
            LaunchOperand::Line { memory, first } => (in_line(first[self.part]), self.place(*memory)?),
            LaunchOperand::Numbered { memory, fetched, from } => {
                let place = self.numbered(*memory, *fetched)?;
                (anywhere(from.as_ref().map_or(0, |cell| place.view(cell).offset)), place)
            }
            LaunchOperand::Positions { positions, of, shape, dtype } => {
                let LaunchOperand::Numbered { memory, fetched, .. } = &step.operands[*of] else {
                    return Err(missing_part("operand"));
                };
                let numbering = Numbering::of(&self.numbered(*memory, *fetched)?, shape);
                let numbers = positions[self.part].positions().iter().map(|&at| numbering.place(at));
                (in_line(0), self.upload(numbers, *dtype, uploads)?)
            }
            LaunchOperand::WindowList { dim, .. } => {
                let mut view = anywhere(0);
                view.strides[*dim] = 1;
                (view, lists[self.part].clone().ok_or_else(|| missing_part("operand"))?)
            }
            LaunchOperand::List { dim, .. } => {
                let place = lists[self.part].clone().ok_or_else(|| missing_part("operand"))?;
                let mut view = anywhere(place.view(&[step.layout.owned(self.part).start()[*dim]]).offset);
                view.strides[*dim] = 1;
                (view, place)
            }
            LaunchOperand::StepNumber(numbers, which) => {
                let (place, first) = numbers.place(self.team, self.part, *which)?;
                let place = place.ok_or_else(|| missing_part("operand"))?;
                (anywhere(place.view(&first).offset), place)
            }
        })
    }

    /// Numbers for a kernel to read.
    fn upload(
        &self,
        numbers: impl ExactSizeIterator<Item = i64>,
        dtype: DType,
        uploads: &mut Vec<Buffer>,
    ) -> Result<Place> {
        let count = numbers.len() as i64;
        let bytes = integers("numbers for a kernel", dtype, numbers)?;
        let device = self.team.device(self.part).clone();
        let buffer = device.alloc_for_upload(bytes.len() as u64)?;
        device.upload(buffer.allocation(), 0, &bytes)?;
        let (allocation, stored) = (Arc::clone(buffer.allocation()), Region::from_fn(1, |_| (0, count)));
        uploads.push(buffer);
        Ok(Place { device, allocation, stored })
    }
}

/// The positions in a memory of the elements of an array, by their number in C order.
struct Numbering {
    /// Extents and distances, the innermost first; neighbours that go on alike are one.
    axes: Vec<(i64, i64)>,
    /// The place of element 0, which the memory may not hold.
    first: i64,
}

impl Numbering {
    /// For an array of shape `shape`.
    fn of(place: &Place, shape: &Index) -> Numbering {
        let strides = place.strides();
        let mut axes: Vec<(i64, i64)> = Vec::new();
        for d in (0..shape.rank()).rev() {
            match axes.last_mut() {
                Some((extent, stride)) if strides[d] == *stride * *extent => *extent *= shape[d],
                _ => axes.push((shape[d], strides[d])),
            }
        }
        Numbering { axes, first: offset_in(&place.stored, &Index::zeros(shape.rank())) }
    }

    /// The place of an element.
    fn place(&self, number: i64) -> i64 {
        let Some(((_, outer), inner)) = self.axes.split_last() else { return 0 };
        let step = |(sum, rest): (i64, i64), (extent, stride): &(i64, i64)| {
            (sum + rest % extent * stride, rest / extent)
        };
        let (sum, rest) = inner.iter().fold((self.first, number), step);
        sum + rest * outer
    }
}

impl ScheduleBuilder {
    /// Adds the copies from one array to another.
    pub fn copy_cells(
        &mut self,
        values: &Values,
        (from, to): (NodeId, NodeId),
        dtype: DType,
        cells: &CopiedCells,
    ) -> Result<()> {
        let (from, to) = (values.storage(from)?, values.storage(to)?);
        let team = self.team.clone();
        match cells {
            CopiedCells::Owned => {
                self.copies(from.copy_owned(&team, dtype, &to)?);
                Ok(())
            }
            CopiedCells::Current => {
                let (copies, halo) = from.copy_current(&team, dtype, &to)?;
                self.copies(copies);
                self.updated_halos.push((to, halo));
                Ok(())
            }
            CopiedCells::Outside(window) => {
                let frame = ArrayWindow { base: Arc::clone(&from.dist), window: *window };
                let halo = to.valid_halo();
                let boxes = |part| frame.outside(part, &halo);
                self.copies(from.copy_boxes(&team, dtype, &to, boxes)?);
                Ok(())
            }
            CopiedCells::Window(window) => self.copy_window(&from, &to, dtype, window),
        }
    }

    /// Adds copies of boxes that have nothing to do with each other.
    fn copies(&mut self, copies: Schedule) {
        self.extend(together(copies.into_iter().map(|copy| (0, copy))));
    }

    /// Copies an array that is distributed like a window to the cells of the window.
    fn copy_window(
        &mut self,
        value: &Arc<Storage>,
        whole: &Arc<Storage>,
        dtype: DType,
        StridedWindow { region: window, steps }: &StridedWindow,
    ) -> Result<()> {
        let team = self.team.clone();
        let in_steps = steps.iter().any(|&step| step != 1);
        let halo = if in_steps { HaloWidths::zero(window.rank()) } else { value.valid_halo() };
        let frame = ArrayWindow { base: Arc::clone(&whole.dist), window: *window };
        let regions = match in_steps {
            true => ComputeRegion::owned(&value.dist),
            false => frame.regions(&value.dist, &halo, &vec![false; window.rank()])?,
        };
        let mut copies = Schedule::new();
        for (part, zone) in regions.iter().enumerate() {
            let (Some(from), Some(to)) = (value.place(&team, part), whole.place(&team, part)) else {
                continue;
            };
            if zone.bounds.is_empty() {
                continue;
            }
            let corner = frame.corner(part, &zone.bounds)?;
            let first = |d: usize| match steps[d] {
                1 => corner[d],
                step => window.start()[d] + zone.bounds.start()[d] * step,
            };
            let mut into = to.view(&Index::from_fn(window.rank(), first));
            into.strides.iter_mut().zip(steps.iter()).for_each(|(stride, step)| *stride *= step);
            let ends = ((from.view(zone.bounds.start()), &from), (into, &to));
            copies.push(copy_views(&zone.bounds.extents(), ends, CopyMode { dtype, add: false })?);
        }
        self.copies(copies);
        self.updated_halos.push((Arc::clone(whole), self.valid_halo(whole).min(&halo)));
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::array::record::expr::point;
    use crate::device::Device;

    #[test]
    fn numbers_become_places_in_memory_with_rows_longer_than_the_array_s() {
        let (shape, device) = (Index::new(&[4, 2, 3]).unwrap(), Device::host());
        let buffer = device.alloc(200).unwrap();
        for (stored, axes) in [([(1, 4), (0, 2), (0, 3)], 1), ([(1, 3), (0, 2), (-1, 3)], 2)] {
            let stored = Region::from_fn(3, |d| stored[d]);
            let allocation = Arc::clone(buffer.allocation());
            let place = Place { device: device.clone(), allocation, stored };
            let numbering = Numbering::of(&place, &shape);
            assert_eq!(numbering.axes.len(), axes);
            for number in 6..18 {
                assert_eq!(numbering.place(number), place.view(&point(&shape, number)).offset, "{number}");
            }
        }
    }
}
