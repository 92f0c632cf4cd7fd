//! Elements that lie scattered in memory, as steps: elements by their number in C order, windows along
//! unordered lists or in steps, and what masks and index arrays select. One exchange at most, and one copy,
//! gather or scatter kernel.
//!
//! Of elements by number each part fetches the bounding box of the positions it reads, so lists that jump
//! about cost the memory of that box on every part. Elements of windows stay on their parts.

use std::sync::Arc;

use partita_kernels::{BinaryOp, Builder, DType, Scalar, Value, Verified};

use crate::array::lower::steps::list::{
    ExchangeField, LaunchArgument, LaunchAxis, LaunchOperand, MemoryId, PartLaunch, PositionRange, StepList,
    StoredArray,
};
use crate::array::lower::steps::window::{WindowIndices, is_small};
use crate::array::memory::storage::fetch_plan;
use crate::array::record::expr::{Which, lead, line, number};
use crate::device::collect;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::program::copies::ListedDirection;
use crate::team::Team;

/// The cells that the parts of an array own, in an operand of kernels over them.
pub(crate) fn owned(memory: MemoryId, dist: &Distribution) -> LaunchOperand {
    let first = (0..dist.parts()).map(|part| *dist.owned(part).start()).collect();
    LaunchOperand::Cells { memory, first, axes: LaunchAxis::same(dist.rank()) }
}

impl StepList {
    /// Brings each part a box of an array, in packed coordinates, into temporary memory without gaps.
    fn fetch(&mut self, team: &Team, from: &StoredArray, needs: Vec<Region>) -> Result<MemoryId> {
        let (dtype, shape) = (from.dtype, from.shape);
        let plan = fetch_plan(&from.dist.packed(), needs.clone(), team)?;
        let (from, to, operation, what) = (from.memory(), self.boxes(dtype, needs), "fetch", "boxes");
        self.exchange(vec![ExchangeField { operation, what, plan, from, to, dtype, shape, halo: None }]);
        Ok(to)
    }

    /// The same for parts that do not own their box.
    fn fetch_missing(
        &mut self,
        team: &Team,
        from: &StoredArray,
        mut needs: Vec<Region>,
    ) -> Result<Option<MemoryId>> {
        for (part, need) in needs.iter_mut().enumerate() {
            if from.dist.owned(part).contains_region(need) {
                *need = Region::from_fn(need.rank(), |_| (0, 0));
            }
        }
        match needs.iter().all(Region::is_empty) {
            true => Ok(None),
            false => self.fetch(team, from, needs).map(Some),
        }
    }

    /// Moves elements between memory and a line, one kernel for all parts: the k-th element of the line is
    /// the one at the part's k-th position in the array.
    fn move_listed(
        &mut self,
        (direction, layout): (ListedDirection, &Arc<Distribution>),
        positions: Vec<PositionRange>,
        (array, fetched): (&StoredArray, Option<MemoryId>),
        line: MemoryId,
    ) -> Result<()> {
        let boxes = fetched.map_or(&[][..], |fetched| self.cells(fetched));
        let room = |part: usize| array.pitch.room(&array.dist.stored(part));
        let small = (0..array.dist.parts()).all(|part| is_small(&room(part)))
            && boxes.iter().all(|(_, cells)| is_small(cells));
        let dtype = if small { DType::I32 } else { DType::I64 };
        let name = match direction {
            ListedDirection::Gather => "gather_elements",
            ListedDirection::Scatter => "scatter_elements",
        };
        let mut k = Builder::new(name, 1);
        let numbers = k.input(dtype);
        let index = k.load(numbers, &[0]);
        let kernel = direction.kernel(k, index, 1, array.dtype)?;
        let part = |positions: &PositionRange| {
            let region = Region::from_fn(1, |_| (0, positions.range.len() as i64));
            (!region.is_empty()).then_some(PartLaunch::new(region, Vec::new()))
        };
        let parts: Vec<Option<PartLaunch>> = positions.iter().map(part).collect();
        let first = vec![0; parts.len()];
        let operands = vec![
            LaunchOperand::Positions { positions, of: 1, shape: array.shape, dtype },
            LaunchOperand::Numbered { memory: array.memory(), fetched, from: None },
            LaunchOperand::Line { memory: line, first },
        ];
        self.launch(kernel, layout, operands, parts);
        Ok(())
    }

    fn cells(&self, memory: MemoryId) -> &[(usize, Region)] {
        match memory {
            MemoryId::Boxes(at) => &self.boxes[at].cells,
            MemoryId::Array(_) => &[],
        }
    }
}

/// Elements of an array in C order, in another one.
pub(crate) fn gather_elements(
    (list, team): (&mut StepList, &Team),
    from: &StoredArray,
    which: &Which,
    to: &StoredArray,
) -> Result<()> {
    list.allocate(to);
    match which {
        Which::All => reshape((list, team), from, to),
        Which::At(positions) => gather((list, team), [from, to], positions),
    }
}

fn reshape((list, team): (&mut StepList, &Team), from: &StoredArray, to: &StoredArray) -> Result<()> {
    let (shape, dist) = (&from.shape, &to.dist);
    let ranges: Vec<(i64, i64)> = (0..dist.parts()).map(|part| line(dist, part)).collect();
    let needs: Vec<Region> = ranges.iter().map(|range| rows(shape, *range)).collect::<Result<_>>()?;
    let first = |((start, _), need): (&(i64, i64), &Region)| start - number(shape, need.start());
    let firsts = ranges.iter().zip(&needs).map(first).collect();
    // Always fetched, so that the rows lie in C order without gaps.
    let rows = list.fetch(team, from, needs)?;
    let part = |&(start, stop): &(i64, i64)| {
        let region = Region::from_fn(1, |_| (0, stop - start));
        (!region.is_empty()).then_some(PartLaunch::new(region, Vec::new()))
    };
    let parts = ranges.iter().map(part).collect();
    let operands = vec![
        LaunchOperand::Line { memory: rows, first: firsts },
        LaunchOperand::Line { memory: to.memory(), first: vec![0; dist.parts()] },
    ];
    list.launch(copy("reshape", 1, from.dtype)?, dist, operands, parts);
    Ok(())
}

/// Fills an array, in C order, with the elements of another one at these positions.
fn gather(
    (list, team): (&mut StepList, &Team),
    [from, to]: [&StoredArray; 2],
    positions: &Arc<Vec<i64>>,
) -> Result<()> {
    let own = |part: usize| {
        let (start, stop) = line(&to.dist, part);
        PositionRange { all: Arc::clone(positions), range: start as usize..stop as usize }
    };
    let own: Vec<PositionRange> = (0..to.dist.parts()).map(own).collect();
    let needs = own.iter().map(|own| hull(&from.shape, own.positions().iter().copied())).collect();
    let fetched = list.fetch_missing(team, from, needs)?;
    list.move_listed((ListedDirection::Gather, &to.dist), own, (from, fetched), to.memory())
}

/// Has each part replace elements at positions that it owns, ascending, by elements of a line of values.
/// `picked` names both by part.
pub(crate) fn scatter_elements(
    (list, team): (&mut StepList, &Team),
    array: &StoredArray,
    values: &StoredArray,
    picked: &[Vec<(i64, i64)>],
) -> Result<()> {
    let needs = picked.iter().map(|picked| hull(&values.shape, picked.iter().map(|pick| pick.1)));
    let fetched = list.fetch_missing(team, values, needs.collect())?;
    let chosen = |which: fn(&(i64, i64)) -> i64| -> Result<Vec<PositionRange>> {
        let of = |picked: &Vec<(i64, i64)>| {
            let all = Arc::new(collect("scatter", picked.iter().map(which))?);
            Ok(PositionRange { all, range: 0..picked.len() })
        };
        picked.iter().map(of).collect()
    };
    let line = |picked: &Vec<(i64, i64)>| Region::from_fn(1, |_| (0, picked.len() as i64));
    let moved = list.boxes(array.dtype, picked.iter().map(line).collect());
    let layout = &array.dist;
    let sources = chosen(|pick| pick.1)?;
    list.move_listed((ListedDirection::Gather, layout), sources, (values, fetched), moved)?;
    list.move_listed((ListedDirection::Scatter, layout), chosen(|pick| pick.0)?, (array, None), moved)
}

/// A window of an array, which lies scattered in its memory, in an array of its own.
pub(crate) fn gather_window(
    list: &mut StepList,
    whole: &StoredArray,
    window: &Region,
    to: &StoredArray,
) -> Result<()> {
    list.allocate(to);
    let indices = WindowIndices::new(&whole.dist, window, &Index::filled(window.rank(), 1))?;
    indices.launch(list, (whole.memory(), to.memory()), (ListedDirection::Gather, whole.dtype))
}

/// Writes a value, which is distributed like the window, over the window's elements of an array.
pub(crate) fn scatter_window(
    list: &mut StepList,
    whole: &StoredArray,
    (window, steps): (&Region, &Index),
    value: MemoryId,
) -> Result<()> {
    let indices = WindowIndices::new(&whole.dist, window, steps)?;
    indices.launch(list, (whole.memory(), value), (ListedDirection::Scatter, whole.dtype))
}

/// The elements of a line that a mask keeps, in an array of as many: those of each part of `bounds`, in their
/// order. `ranks` counts the kept ones up to each element; all are divided alike.
pub(crate) fn compress(
    list: &mut StepList,
    [mask, ranks, values]: [&StoredArray; 3],
    bounds: &[i64],
    to: &StoredArray,
) -> Result<()> {
    list.allocate(to);
    let (counting, even) = (ranks.dtype, &values.dist);
    let mut k = Builder::new("compress", 1);
    let (kept_in, ranks_in) = (k.input(DType::Bool), k.input(counting));
    let (is_kept, rank) = (k.load(kept_in, &[0]), k.load(ranks_in, &[0]));
    let (first, nowhere) = (k.argument(counting), k.int(counting, -1));
    let place = k.binary(BinaryOp::Sub, rank, first);
    // Elements outside of the target are left out.
    let index = k.select(is_kept, place, nowhere);
    let (output, input) = (k.output(values.dtype), k.input(values.dtype));
    let value = k.load(input, &[0]);
    let kernel = k.scatter(index, value, output, false)?;
    let part = |part: usize| {
        let first = LaunchArgument::Number(Scalar::from_i64(counting, bounds[part] + 1));
        let launch = PartLaunch::new(even.owned(part), vec![first]);
        (bounds[part] < bounds[part + 1]).then_some(launch)
    };
    let parts = (0..even.parts()).map(part).collect();
    let operands = vec![
        owned(mask.memory(), &mask.dist),
        owned(ranks.memory(), &ranks.dist),
        LaunchOperand::Numbered { memory: to.memory(), fetched: None, from: None },
        owned(values.memory(), even),
    ];
    list.launch(kernel, &to.dist, operands, parts);
    Ok(())
}

/// The elements of a line at the indices that another array holds, divided as these. Each part reads the
/// whole line.
pub(crate) fn take(
    (list, team): (&mut StepList, &Team),
    line: &StoredArray,
    indices: &StoredArray,
    to: &StoredArray,
) -> Result<()> {
    list.allocate(to);
    let (dist, rank) = (&indices.dist, indices.shape.rank());
    let need = |part: usize| {
        let size = if dist.owned(part).is_empty() { 0 } else { line.shape[0] };
        Region::from_fn(1, |_| (0, size))
    };
    let fetched = list.fetch_missing(team, line, (0..dist.parts()).map(need).collect())?;
    let mut k = Builder::new("take", rank);
    let list_in = k.input(indices.dtype);
    let index = k.load(list_in, &vec![0; rank]);
    let (source, output) = (k.input(line.dtype), k.output(line.dtype));
    let kernel = k.gather(index, source, output)?;
    let part = |part: usize| {
        let region = dist.owned(part);
        (!region.is_empty()).then_some(PartLaunch::new(region, Vec::new()))
    };
    let parts = (0..dist.parts()).map(part).collect();
    let operands = vec![
        owned(indices.memory(), dist),
        LaunchOperand::Numbered { memory: line.memory(), fetched, from: Some(Index::zeros(1)) },
        owned(to.memory(), dist),
    ];
    list.launch(kernel, dist, operands, parts);
    Ok(())
}

impl WindowIndices {
    /// Moves the elements of the window between the memory of the whole and that of their own.
    fn launch(
        self,
        list: &mut StepList,
        (whole, own): (MemoryId, MemoryId),
        (direction, element): (ListedDirection, DType),
    ) -> Result<()> {
        let rank = self.whole.rank();
        let name = match direction {
            ListedDirection::Gather => "gather_window",
            ListedDirection::Scatter => "scatter_window",
        };
        let mut k = Builder::new(name, rank);
        let index = self.index(&mut k);
        let kernel = direction.kernel(k, index, rank, element)?;
        let lists = self.listed.iter().filter(|listed| **listed).count();
        let parts = (0..self.dist.parts()).map(|part| {
            let region = self.dist.owned(part);
            let arguments = || self.arguments(part, lists);
            (!region.is_empty()).then(|| PartLaunch::new(region, arguments()))
        });
        let (parts, layout) = (parts.collect(), Arc::clone(&self.dist));
        let first = (0..layout.parts()).map(|part| *layout.owned(part).start()).collect();
        let indices = Arc::new(self);
        let dims = (0..rank).filter(|&d| indices.listed[d]);
        let lists = dims.map(|dim| LaunchOperand::WindowList { indices: Arc::clone(&indices), dim });
        let mut operands: Vec<LaunchOperand> = lists.collect();
        operands.push(LaunchOperand::Numbered { memory: whole, fetched: None, from: None });
        operands.push(LaunchOperand::Cells { memory: own, first, axes: LaunchAxis::same(rank) });
        list.launch(kernel, &layout, operands, parts);
        Ok(())
    }

    /// The element's number in the memory of the whole, as [`WindowIndices::arguments`] says for each part.
    fn index(&self, k: &mut Builder) -> Value {
        let (zeros, dtype) = (vec![0; self.whole.rank()], self.dtype);
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

    /// Per dimension: what to add to a position or packed coordinate, and the stride of the whole, which is
    /// this operand.
    fn arguments(&self, part: usize, operand: usize) -> Vec<LaunchArgument> {
        let (at, dtype) = (self.whole.grid().coordinate(part), self.dtype);
        let numbers = (0..self.whole.rank()).flat_map(|dim| {
            let (map, coordinate) = (self.whole.map(dim), at[dim] as usize);
            let (below, ours) = match self.listed[dim] {
                true => (None, 0),
                false => {
                    let below = map.held_below(coordinate, self.window.start()[dim]);
                    (below, self.dist.owned(part).start()[dim])
                }
            };
            let coordinate = map.owned(coordinate).start + below.unwrap_or(0) - ours;
            [
                LaunchArgument::Distance { operand, dim, coordinate, dtype },
                LaunchArgument::Stride { operand, dim, dtype },
            ]
        });
        numbers.collect()
    }
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
pub(crate) fn copy(name: &str, rank: usize, dtype: DType) -> Result<Verified> {
    let mut k = Builder::new(name, rank);
    let (source, target) = (k.input(dtype), k.output(dtype));
    let value = k.load(source, &vec![0; rank]);
    Ok(k.elementwise(&[(target, value)])?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::array::record::expr::point;

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
}
