//! Binds tasks whose elements lie scattered in memory: elements by their number in C order, and windows along
//! unordered lists or in steps. One fetch plan at most, and one copy, gather or scatter kernel per part.
//!
//! Of elements by number each part fetches the bounding box of the positions it reads, so lists that jump
//! about cost the memory of that box on every part. Elements of windows stay on their parts.

use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, Scalar, Value, Verified, View};

use crate::array::bind::schedule::{BoundLaunch, ScheduleBuilder};
use crate::array::memory::index_lists::upload;
use crate::array::memory::pitch::Pitch;
use crate::array::memory::storage::Storage;
use crate::array::record::expr::Which;
use crate::array::record::map::{lead, line, number};
use crate::device::Device;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::program::copies::ListedDirection;
use crate::program::{Place, offset_in};

/// Elements of `from`, an array of shape `shape`, in C order on `dist`.
pub(crate) fn gather_elements(
    (work, dtype): (ScheduleBuilder, DType),
    (shape, from): (&Index, &Storage),
    which: &Which,
    dist: &Arc<Distribution>,
) -> Result<Storage> {
    // Kernels go through it by number.
    let result = Storage::pitched(&work.team, Arc::clone(dist), dtype, Pitch::Packed)?;
    match which {
        Which::All => reshape((work, dtype), (shape, from), &result)?,
        Which::At(positions) => gather((work, dtype), (shape, from), &result, positions)?,
    }
    Ok(result)
}

fn reshape(
    (mut work, dtype): (ScheduleBuilder, DType),
    (shape, from): (&Index, &Storage),
    result: &Storage,
) -> Result<()> {
    let ranges: Vec<(i64, i64)> = (0..result.dist.parts()).map(|part| line(&result.dist, part)).collect();
    let needs: Vec<Region> = ranges.iter().map(|range| rows(shape, *range)).collect::<Result<_>>()?;
    let kernel = copy("reshape", 1, dtype)?;
    // Always fetched, so that the rows lie in C order without gaps.
    let places = work.fetch(dtype, from, &needs)?;
    for (part, from) in places.into_iter().enumerate() {
        let (Some(from), Some(to)) = (from, result.place(&work.team, part)) else { continue };
        let (start, stop) = ranges[part];
        let first = number(shape, from.stored.start());
        let memory = vec![
            (View { offset: start - first, strides: vec![1] }, from),
            (View { offset: 0, strides: vec![1] }, to),
        ];
        let (kernel, region) = (&kernel, Region::new(&[0], &[stop - start])?);
        work.launch(&BoundLaunch { kernel, part, region, memory, arguments: Vec::new(), numbers: None })?;
    }
    work.finish()
}

/// Fills an array, in C order, with the elements of a base at these positions.
fn gather(
    (mut work, dtype): (ScheduleBuilder, DType),
    (shape, from): (&Index, &Storage),
    result: &Storage,
    positions: &[i64],
) -> Result<()> {
    let own = |part: usize| {
        let (start, stop) = line(&result.dist, part);
        &positions[start as usize..stop as usize]
    };
    let parts = result.dist.parts();
    let needs: Vec<Region> = (0..parts).map(|part| hull(shape, own(part).iter().copied())).collect();
    let places = work.fetch_missing(dtype, from, &needs)?;
    for (part, from) in places.iter().enumerate() {
        let (Some(from), Some(to)) = (from, result.place(&work.team, part)) else { continue };
        let numbering = Numbering::of(from, shape);
        let list = PositionList::of(own(part).iter().map(|&at| numbering.place(at)).collect());
        work.move_listed(ListedDirection::Gather, part, &list, (from, &to), dtype)?;
    }
    work.finish()
}

/// The smallest box around elements.
pub(crate) fn hull(shape: &Index, numbers: impl Iterator<Item = i64>) -> Region {
    let (mut low, mut high) = (Index::filled(shape.rank(), i64::MAX), Index::zeros(shape.rank()));
    for number in numbers {
        let mut rest = number;
        for d in (0..shape.rank()).rev() {
            let at = if d == 0 { rest } else { rest % shape[d] };
            rest = if d == 0 { 0 } else { rest / shape[d] };
            (low[d], high[d]) = (low[d].min(at), high[d].max(at + 1));
        }
    }
    Region::from_fn(shape.rank(), |d| (low[d].min(high[d]), high[d]))
}

/// Where in a memory the elements of an array are, by their number in C order.
pub(crate) struct Numbering {
    /// Extents and distances, the innermost first; neighbours that go on alike are one.
    axes: Vec<(i64, i64)>,
    /// The place of element 0, which the memory may not hold.
    first: i64,
}

impl Numbering {
    /// For an array of shape `shape`.
    pub fn of(place: &Place, shape: &Index) -> Numbering {
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
    pub fn place(&self, number: i64) -> i64 {
        let Some(((_, outer), inner)) = self.axes.split_last() else { return 0 };
        let step = |(sum, rest): (i64, i64), (extent, stride): &(i64, i64)| {
            (sum + rest % extent * stride, rest / extent)
        };
        let (sum, rest) = inner.iter().fold((self.first, number), step);
        sum + rest * outer
    }
}

/// Numbers for a kernel to read, in the narrower integers where these hold them: not every device has
/// wide ones.
pub(crate) struct PositionList {
    count: usize,
    dtype: DType,
    bytes: Vec<u8>,
}

impl PositionList {
    pub(crate) fn of(numbers: Vec<i64>) -> PositionList {
        let wide = numbers.iter().any(|&number| number > i64::from(i32::MAX / 2));
        let (dtype, bytes) = match wide {
            true => (DType::I64, numbers.iter().flat_map(|number| number.to_le_bytes()).collect()),
            false => (DType::I32, numbers.iter().flat_map(|&number| (number as i32).to_le_bytes()).collect()),
        };
        PositionList { count: numbers.len(), dtype, bytes }
    }
}

impl ScheduleBuilder {
    /// Memory for a line of elements on the device of a part.
    pub(crate) fn temporary(&mut self, part: usize, count: usize, dtype: DType) -> Result<Place> {
        let device = self.team.device(part).clone();
        let buffer = device.alloc((count * dtype.size_bytes()) as u64)?;
        let place = line_of(device, buffer.allocation(), count)?;
        self.leases.push(buffer);
        Ok(place)
    }

    /// As [`upload`](crate::array::memory::index_lists::upload).
    fn upload(&mut self, part: usize, list: &PositionList) -> Result<Place> {
        let device = self.team.device(part).clone();
        let buffer = device.alloc_for_upload(list.bytes.len() as u64)?;
        device.upload(buffer.allocation(), 0, &list.bytes)?;
        let place = line_of(device, buffer.allocation(), list.count)?;
        self.uploads.push(buffer);
        Ok(place)
    }

    /// Moves elements between memory and a line: the k-th of the line is that of the memory whose number is
    /// the k-th of the list.
    pub(crate) fn move_listed(
        &mut self,
        direction: ListedDirection,
        part: usize,
        list: &PositionList,
        (memory, line): (&Place, &Place),
        dtype: DType,
    ) -> Result<()> {
        let mut k = Builder::new("listed", 1);
        let numbers = k.input(list.dtype);
        let index = k.load(numbers, &[0]);
        let kernel = &direction.kernel(k, index, 1, dtype)?;
        let region = Region::new(&[0], &[list.count as i64])?;
        let numbers = self.upload(part, list)?;
        let memory = vec![(in_line(), numbers), (anywhere(1), memory.clone()), (in_line(), line.clone())];
        self.launch(&BoundLaunch { kernel, part, region, memory, arguments: Vec::new(), numbers: None })
    }
}

fn line_of(device: Device, memory: &Arc<crate::device::Allocation>, count: usize) -> Result<Place> {
    Ok(Place { device, allocation: Arc::clone(memory), stored: Region::new(&[0], &[count as i64])? })
}

fn in_line() -> View {
    View { offset: 0, strides: vec![1] }
}

/// Of memory that is reached by number.
pub(crate) fn anywhere(rank: usize) -> View {
    View { offset: 0, strides: vec![0; rank] }
}

/// The whole rows that hold a range of numbers.
fn rows(shape: &[i64], (start, stop): (i64, i64)) -> Result<Region> {
    let at = lead(shape);
    let row: i64 = shape[(at + 1).min(shape.len())..].iter().product();
    if start >= stop || row == 0 {
        return Ok(Region::new(&vec![0; shape.len()], &vec![0; shape.len()])?);
    }
    Ok(Region::from_fn(shape.len(), |d| match d == at {
        true => (start / row, (stop - 1) / row + 1),
        false => (0, shape[d]),
    }))
}

/// The kernel that copies element by element.
fn copy(name: &str, rank: usize, dtype: DType) -> Result<Verified> {
    let mut k = Builder::new(name, rank);
    let (source, target) = (k.input(dtype), k.output(dtype));
    let value = k.load(source, &vec![0; rank]);
    Ok(k.elementwise(&[(target, value)])?)
}

/// Computes a window of `whole`, which lies scattered in its memory, on `dist`.
pub(crate) fn gather_window(
    (work, dtype): (ScheduleBuilder, DType),
    whole: &Storage,
    window: &Region,
    dist: &Arc<Distribution>,
) -> Result<Storage> {
    let result = Storage::new(&work.team, Arc::clone(dist), dtype)?;
    let indices = WindowIndices::new(&whole.dist, window, &Index::filled(window.rank(), 1))?;
    indices.run(whole, &result, (work, dtype), ListedDirection::Gather)?;
    Ok(result)
}

/// Writes a value, which is distributed like the window, over the window's elements of `whole`.
pub(crate) fn scatter_window(
    (work, dtype): (ScheduleBuilder, DType),
    whole: &Storage,
    window: &Region,
    steps: &Index,
    value: &Storage,
) -> Result<()> {
    work.recorder.mark_unsupported(|| "the step assigns to a slice along an unordered list".to_owned());
    let indices = WindowIndices::new(&whole.dist, window, steps)?;
    indices.run(whole, value, (work, dtype), ListedDirection::Scatter)
}

/// Where the elements of a window lie in the memory of the whole.
struct WindowIndices<'a> {
    whole: &'a Distribution,
    window: Region,
    /// Of it every so many-th element, from its first.
    steps: Index,
    /// That of these elements.
    dist: Distribution,
    /// Per dimension, whether positions come from a list.
    listed: Vec<bool>,
}

impl WindowIndices<'_> {
    fn new<'a>(whole: &'a Distribution, window: &Region, steps: &Index) -> Result<WindowIndices<'a>> {
        let dist = whole.strided(window, steps)?;
        let listed = (0..whole.rank()).map(|d| steps[d] > 1 || !whole.is_box_along(d, window)).collect();
        Ok(WindowIndices { whole, window: *window, steps: *steps, dist, listed })
    }

    fn run(
        &self,
        whole: &Storage,
        part_of: &Storage,
        (mut work, element): (ScheduleBuilder, DType),
        direction: ListedDirection,
    ) -> Result<()> {
        let rank = self.whole.rank();
        let small = (0..self.whole.parts()).all(|part| {
            self.whole.stored(part).volume().is_ok_and(|volume| volume < i64::from(i32::MAX / 2))
        }) && (0..rank).all(|d| self.dist.map(d).packed_size() < i64::from(i32::MAX / 2));
        let dtype = if small { DType::I32 } else { DType::I64 };
        let team = &work.team.clone();
        let mut lists = Vec::new();
        for d in (0..rank).filter(|&d| self.listed[d]) {
            let bytes = |coordinate| self.positions(d, coordinate, dtype);
            lists.push((d, upload(team, &self.dist, d, &mut work.uploads, bytes)?));
        }
        let mut k = Builder::new("listed_window", rank);
        let index = self.index(&mut k, dtype);
        let kernel = &direction.kernel(k, index, rank, element)?;
        for part in 0..self.dist.parts() {
            let region = self.dist.owned(part);
            let (Some(memory), Some(piece)) = (whole.place(team, part), part_of.place(team, part)) else {
                continue;
            };
            let arguments = self.arguments(part, &memory, dtype);
            let mut operands: Vec<(View, Place)> = Vec::new();
            for (d, places) in &lists {
                let Some(place) = &places[part] else { continue };
                let mut view = View { offset: 0, strides: vec![0; rank] };
                view.strides[*d] = 1;
                operands.push((view, place.clone()));
            }
            operands.push((anywhere(rank), memory));
            operands.push((piece.view(region.start()), piece));
            work.launch(&BoundLaunch { kernel, part, region, memory: operands, arguments, numbers: None })?;
        }
        work.finish()
    }

    /// Where the coordinates of the window lie among those that a part holds.
    fn positions(&self, d: usize, coordinate: usize, dtype: DType) -> Vec<u8> {
        let span = self.window.start()[d]..self.window.stop()[d];
        let held = self.whole.map(d).owned_set(coordinate);
        let taken = |global: i64| span.contains(&global) && (global - span.start) % self.steps[d] == 0;
        let inside = held.iter().enumerate().filter(|(_, global)| taken(*global));
        match dtype {
            DType::I64 => inside.flat_map(|(k, _)| (k as i64).to_le_bytes()).collect(),
            _ => inside.flat_map(|(k, _)| (k as i32).to_le_bytes()).collect(),
        }
    }

    /// The element's number in the memory of the whole, as [`WindowIndices::arguments`] says for each part.
    fn index(&self, k: &mut Builder, dtype: DType) -> Value {
        let zeros = vec![0; self.whole.rank()];
        let mut index = k.int(dtype, 0);
        for (d, &listed) in self.listed.iter().enumerate() {
            let position = if listed {
                let list = k.input(dtype);
                k.load(list, &zeros)
            } else {
                k.coord(d, dtype)
            };
            let (first, stride) = (k.argument(dtype), k.argument(dtype));
            let moved = k.binary(BinaryOp::Add, position, first);
            let term = k.binary(BinaryOp::Mul, moved, stride);
            index = k.binary(BinaryOp::Add, index, term);
        }
        index
    }

    /// Per dimension: what to add to a position or packed coordinate, and the stride.
    fn arguments(&self, part: usize, memory: &Place, dtype: DType) -> Vec<Scalar> {
        let (strides, at) = (memory.strides(), self.whole.grid().coordinate(part));
        let numbers = (0..self.whole.rank()).flat_map(|d| {
            let (map, coordinate) = (self.whole.map(d), at[d] as usize);
            let below =
                if self.listed[d] { None } else { map.held_below(coordinate, self.window.start()[d]) };
            let ours = if self.listed[d] { 0 } else { self.dist.owned(part).start()[d] };
            let first = map.owned(coordinate).start + below.unwrap_or(0) - memory.stored.start()[d] - ours;
            [first, strides[d]]
        });
        numbers.map(|number| Scalar::from_i64(dtype, number)).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::array::record::map::point;

    #[test]
    fn rows_hold_what_is_asked() {
        assert_eq!(rows(&[1, 5, 4], (6, 9)).unwrap(), Region::new(&[0, 1, 0], &[1, 3, 4]).unwrap());
        assert_eq!(rows(&[5], (2, 4)).unwrap(), Region::new(&[2], &[4]).unwrap());
        assert!(rows(&[3, 0], (0, 0)).unwrap().is_empty());
    }

    #[test]
    fn boxes_hold_all_their_elements_and_no_more() {
        let shape = Index::new(&[3, 4, 5]).unwrap();
        assert_eq!(point(&shape, 33), Index::new(&[1, 2, 3]).unwrap());
        let region = hull(&shape, [33, 7, 46].into_iter());
        assert_eq!(region, Region::new(&[0, 1, 1], &[3, 3, 4]).unwrap());
        assert!(hull(&shape, std::iter::empty()).is_empty());
    }

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
