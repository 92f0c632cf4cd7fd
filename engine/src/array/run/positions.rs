//! Elements by lists of positions: gathered into an array of any shape, and scattered over one. The lists are
//! the host's; the elements travel between parts by one fetch plan and are picked by one kernel per part.
//! Gathering is recorded; scattering computes, since it changes the array.
//!
//! Each part is brought the bounding box of the positions it reads, so lists that jump about cost the memory
//! of that box on every part.

use std::collections::BTreeMap;
use std::sync::Arc;

use partita_kernels::{Builder, DType, Verified, View};

use crate::array::Array;
use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::memory::storage::Storage;
use crate::array::record::node::{Node, Which};
use crate::array::run::elements::{line, sliced};
use crate::device::{Arena, Device};
use crate::error::{Error, Result};
use crate::index::{Index, Region};
use crate::program::{Place, keep};

impl Array {
    /// An array of shape `shape` whose elements in C order are those at `positions`, which number the
    /// elements of this array in C order. Its first dimension of more than one cell is cut into all parts.
    /// Recorded.
    ///
    /// # Errors
    /// Positions outside the array, or not one per element of the shape; the error the array carries.
    pub fn gathered(&self, shape: &[i64], positions: &[i64]) -> Result<Array> {
        self.recorded()?;
        let dist = sliced(self.team().size(), shape)?;
        check("gather", &self.shape(), positions)?;
        check_count("gather", dist.global().volume()?, positions)?;
        self.listed(dist, Which::At(positions.into()))
    }

    /// Replaces the elements at `positions` by those of `value`, a line of as many; of a position that is
    /// named several times the last counts. Dimensions that are not blocks become blocks. Computes.
    ///
    /// # Errors
    /// Positions outside the array; a value of another shape or dtype; those of [`Array::eval`]. The array
    /// then keeps its value.
    pub fn scatter(&mut self, positions: &[i64], value: &Array) -> Result<()> {
        self.recorded()?;
        value.recorded()?;
        let shape = self.shape();
        check("scatter", &shape, positions)?;
        if value.dtype() != self.dtype() {
            return Err(Error::dtypes("scatter", self.dtype(), value.dtype()));
        }
        if value.rank() != 1 {
            let given = format!("shape {}", value.shape());
            return Err(Error::invalid("scatter", "a line of values", given, "reshape it to one dimension"));
        }
        check_count("scatter", value.shape()[0], positions)?;
        let (base, old) = self.in_blocks()?;
        let (line, values) = value.in_blocks()?;
        let mut picked: Vec<BTreeMap<i64, i64>> = vec![BTreeMap::new(); old.dist.parts()];
        for (k, &at) in positions.iter().enumerate() {
            picked[old.dist.owner(&point(&shape, at))?].insert(at, k as i64);
        }
        let new = old.like(self.team(), self.dtype())?;
        let needs: Vec<Region> =
            picked.iter().map(|picked| hull(&value.shape(), picked.values().copied())).collect();
        let guard = self.team().evaluation();
        let mut work = ScheduleBuilder::new(self.team());
        work.extend(old.copy_owned(self.team(), self.dtype(), &new)?);
        let places = work.fetch_missing(&line.node, &values, &needs)?;
        for (part, from) in places.iter().enumerate() {
            let (Some(from), Some(to)) = (from, new.place(self.team(), part)) else { continue };
            let sources = picked[part].values().map(|&k| within(from, &value.shape(), k)).collect();
            let targets = picked[part].keys().map(|&at| within(&to, &shape, at)).collect();
            let aside = work.aside(part, picked[part].len(), self.dtype())?;
            work.gather(part, &PositionList::of(sources), from, &aside, self.dtype())?;
            work.scatter(part, &PositionList::of(targets), &aside, &to, self.dtype())?;
        }
        work.finish()?;
        drop(guard);
        self.node = Node::ready(base.dtype(), base.team(), new);
        Ok(())
    }
}

/// Fills an array, in C order, with the elements of a base at these positions.
pub(crate) fn gather(base: &Node, from: &Storage, result: &Storage, positions: &[i64]) -> Result<()> {
    let own = |part: usize| {
        let (start, stop) = line(&result.dist, part);
        &positions[start as usize..stop as usize]
    };
    let parts = result.dist.parts();
    let needs: Vec<Region> = (0..parts).map(|part| hull(&base.shape, own(part).iter().copied())).collect();
    let mut work = ScheduleBuilder::new(&base.team);
    let places = work.fetch_missing(base, from, &needs)?;
    for (part, from) in places.iter().enumerate() {
        let (Some(from), Some(to)) = (from, result.place(&base.team, part)) else { continue };
        let list = PositionList::of(own(part).iter().map(|&at| within(from, &base.shape, at)).collect());
        work.gather(part, &list, from, &to, base.dtype)?;
    }
    work.finish()
}

fn check(operation: &'static str, shape: &Index, positions: &[i64]) -> Result<()> {
    let volume = Region::from_shape(shape)?.volume()?;
    let Some(outside) = positions.iter().find(|at| !(0..volume).contains(*at)) else { return Ok(()) };
    let expected = format!("positions from 0 to below {volume}, the size of shape {shape}");
    Err(Error::invalid(operation, expected, outside.to_string(), "count elements in C order from 0"))
}

fn check_count(operation: &'static str, expected: i64, positions: &[i64]) -> Result<()> {
    if expected == positions.len() as i64 {
        return Ok(());
    }
    let (expected, given) = (format!("{expected} positions"), positions.len().to_string());
    Err(Error::invalid(operation, expected, given, "name one position per element"))
}

/// The coordinates of the element with a number.
fn point(shape: &Index, number: i64) -> Index {
    let (mut point, mut rest) = (Index::zeros(shape.rank()), number);
    for d in (0..shape.rank()).rev() {
        (point[d], rest) = (rest % shape[d], rest / shape[d]);
    }
    point
}

/// The smallest box around elements.
fn hull(shape: &Index, numbers: impl Iterator<Item = i64>) -> Region {
    let ends = numbers.map(|number| point(shape, number)).fold(None, |ends: Option<(Index, Index)>, at| {
        let (low, high) = ends.unwrap_or((at, at));
        let each = |pick: fn(i64, i64) -> i64, end: Index| Index::from_fn(at.rank(), |d| pick(end[d], at[d]));
        Some((each(i64::min, low), each(i64::max, high)))
    });
    Region::from_fn(shape.rank(), |d| ends.map_or((0, 0), |(low, high)| (low[d], high[d] + 1)))
}

/// Where an element is in a place's memory.
fn within(place: &Place, shape: &Index, number: i64) -> i64 {
    let (at, strides, start) = (point(shape, number), place.strides(), place.stored.start());
    (0..at.rank()).map(|d| (at[d] - start[d]) * strides[d]).sum()
}

/// StepNumbers for a kernel to read, in the narrower integers where these hold them: not every device has wide
/// ones.
struct PositionList {
    count: usize,
    dtype: DType,
    bytes: Vec<u8>,
}

impl PositionList {
    fn of(numbers: Vec<i64>) -> PositionList {
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
    fn aside(&mut self, part: usize, count: usize, dtype: DType) -> Result<Place> {
        let device = self.device(part);
        let buffer = device.alloc((count * dtype.size_bytes()) as u64)?;
        let place = line_of(device, buffer.allocation(), count)?;
        self.leases.push(buffer);
        Ok(place)
    }

    /// As `lists::upload`: apart from what a Loop's steps reuse, and kept by a recording.
    fn upload(&mut self, part: usize, list: &PositionList) -> Result<Place> {
        let device = self.device(part);
        let buffer = Arena::default().within(|| device.alloc(list.bytes.len() as u64))?;
        device.upload(buffer.allocation(), 0, &list.bytes)?;
        keep(&buffer);
        let place = line_of(device, buffer.allocation(), list.count)?;
        self.leases.push(buffer);
        Ok(place)
    }

    /// Element k of `to` becomes the element of `from` whose number in memory is the k-th of the list.
    fn gather(
        &mut self,
        part: usize,
        list: &PositionList,
        from: &Place,
        to: &Place,
        dtype: DType,
    ) -> Result<()> {
        let mut k = Builder::new("gather_list", 1);
        let (numbers, source, output) = (k.input(list.dtype), k.input(dtype), k.output(dtype));
        let index = k.load(numbers, &[0]);
        let kernel = k.gather(index, source, output)?;
        let bound = |numbers| vec![numbers, (nowhere(), from.clone()), (in_line(), to.clone())];
        self.listed(part, list, &kernel, bound)
    }

    /// The k-th element of `from` goes to the element of `to` whose number in memory is the k-th of the list.
    fn scatter(
        &mut self,
        part: usize,
        list: &PositionList,
        from: &Place,
        to: &Place,
        dtype: DType,
    ) -> Result<()> {
        let mut k = Builder::new("scatter_list", 1);
        let (numbers, output, input) = (k.input(list.dtype), k.output(dtype), k.input(dtype));
        let (index, value) = (k.load(numbers, &[0]), k.load(input, &[0]));
        let kernel = k.scatter(index, value, output, false)?;
        let bound = |numbers| vec![numbers, (nowhere(), to.clone()), (in_line(), from.clone())];
        self.listed(part, list, &kernel, bound)
    }

    fn listed(
        &mut self,
        part: usize,
        list: &PositionList,
        kernel: &Verified,
        bound: impl Fn((View, Place)) -> Vec<(View, Place)>,
    ) -> Result<()> {
        let numbers = self.upload(part, list)?;
        let region = Region::new(&[0], &[list.count as i64])?;
        self.launch(kernel, part, &region, bound((in_line(), numbers)), Vec::new())
    }
}

fn line_of(device: Device, memory: &Arc<crate::device::Allocation>, count: usize) -> Result<Place> {
    Ok(Place { device, allocation: Arc::clone(memory), stored: Region::new(&[0], &[count as i64])? })
}

fn in_line() -> View {
    View { offset: 0, strides: vec![1] }
}

/// Of memory that is reached by number.
fn nowhere() -> View {
    View { offset: 0, strides: vec![0] }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn boxes_hold_all_their_elements_and_no_more() {
        let shape = Index::new(&[3, 4, 5]).unwrap();
        assert_eq!(point(&shape, 33), Index::new(&[1, 2, 3]).unwrap());
        let region = hull(&shape, [33, 7, 46].into_iter());
        assert_eq!(region, Region::new(&[0, 1, 1], &[3, 3, 4]).unwrap());
        assert!(hull(&shape, std::iter::empty()).is_empty());
    }
}
