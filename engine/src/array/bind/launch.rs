//! Binding of launches and exchanges of which every rank knows all: views of memory, uploaded lists, and
//! numbers that depend on how memory is laid out.

use std::sync::Arc;

use partita_kernels::{Access, DType, Scalar, View};

use crate::array::bind::schedule::{BoundLaunch, ScheduleBuilder, Values, missing_part};
use crate::array::lower::steps::list::{
    KernelLaunch, LaunchArgument, LaunchOperand, MemoryId, PartCells, PartLaunch, PlanExchange,
};
use crate::device::{Buffer, integers};
use crate::error::Result;
use crate::index::{Index, Region};
use crate::program::{Place, offset_in};
use crate::team::Team;
use crate::transport::{Field, lower_between_ranks};

/// Adds the commands of an exchange.
pub(crate) fn exchange(step: &PlanExchange, work: &mut ScheduleBuilder, values: &Values) -> Result<()> {
    let team = work.team.clone();
    let places = |memory| values.places(&team, memory);
    let ends = step.fields.iter().map(|field| Ok((places(field.from)?, places(field.to)?)));
    let ends = ends.collect::<Result<Vec<_>>>()?;
    let both = step.fields.iter().zip(&ends);
    let fields: Vec<Field> =
        both.map(|(field, (from, to))| Field { plan: &field.plan, from, to, dtype: field.dtype }).collect();
    let messages = step.fields.iter().map(|field| field.plan.messages()).sum();
    work.exchange(lower_between_ranks(step.operation, (&team, &team), &fields)?, messages);
    Ok(())
}

/// Queues the launches of this rank's parts.
pub(crate) fn launch(step: &KernelLaunch, work: &mut ScheduleBuilder, values: &Values) -> Result<()> {
    let team = work.team.clone();
    let lists = step.operands.iter().map(|operand| match operand {
        LaunchOperand::WindowList { indices, dim } => indices.upload(&team, *dim, &mut work.uploads),
        _ => Ok(Vec::new()),
    });
    let lists = lists.collect::<Result<Vec<Vec<Option<Place>>>>>()?;
    for launch in step.launches.iter().filter(|launch| team.is_here(launch.part)) {
        let (part, region) = (launch.part, launch.region);
        let on = OnPart { team: &team, values, part };
        let mut memory: Vec<(View, Place)> = Vec::with_capacity(step.operands.len());
        for (operand, lists) in step.operands.iter().zip(&lists) {
            memory.push(on.operand((step, launch), operand, lists, &mut work.uploads)?);
        }
        let place = |operand: usize| &memory[operand].1;
        let arguments = launch.arguments.iter().map(|argument| match *argument {
            LaunchArgument::Number(number) => number,
            LaunchArgument::Stride { operand, dim, dtype } => {
                Scalar::from_i64(dtype, place(operand).strides()[dim])
            }
            LaunchArgument::Distance { operand, dim, coordinate, dtype } => {
                Scalar::from_i64(dtype, coordinate - place(operand).stored.start()[dim])
            }
        });
        let (kernel, arguments) = (&step.kernel, arguments.collect());
        work.launch(&BoundLaunch { kernel, part, region, memory, arguments, numbers: None })?;
    }
    // Neighbours still show the old elements.
    for (param, operand) in step.kernel.kernel().params.iter().zip(&step.operands) {
        if let (Access::Out | Access::InOut, Some(MemoryId::Array(node))) = (param.access, operand.memory()) {
            work.invalidate_halo(&values.storage(node)?);
        }
    }
    Ok(())
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
                let stride =
                    |along: &Option<(usize, i64)>| along.map_or(0, |(d, step)| step * inner.strides[d]);
                (View { offset: inner.offset, strides: axes.iter().map(stride).collect() }, place)
            }
            LaunchOperand::OfLaunch(at) => {
                let PartCells { memory, part, first } = &launch.memory[*at];
                let place = self.values.place(self.team, *memory, *part)?;
                let place = place.ok_or_else(|| missing_part("operand"))?;
                (place.view(first), place)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::array::record::map::point;
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
