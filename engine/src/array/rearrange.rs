//! Elements in another order that a stride per dimension describes: steps, flips, transposition, new
//! dimensions, stretched ones, and other shapes. Computed at once, by one fetch plan and one copy kernel per
//! part; where a part already holds what it is to get, nothing travels. Knows boxes and strides; lists of
//! positions are `positions`' business.

use std::sync::Arc;

use partita_kernels::{Builder, DType, MAX_RANK, Verified, View};

use super::Array;
use super::node::Node;
use super::storage::Storage;
use super::work::Work;
use crate::error::{Error, Result};
use crate::index::{DimMap, Distribution, Index, Region};
use crate::program::Place;

/// Where one dimension of a rearranged array comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride {
    /// A dimension of the source: element `i` is the source's `start + i * step`. Step 0 repeats one element.
    Of {
        /// Which one.
        dim: usize,
        /// The source's coordinate of element 0.
        start: i64,
        /// What one element further adds to it.
        step: i64,
        /// The extent of the result.
        count: i64,
    },
    /// A new one, along which the elements are the same.
    New {
        /// The extent of the result.
        count: i64,
    },
}

impl Stride {
    fn count(self) -> i64 {
        match self {
            Stride::Of { count, .. } | Stride::New { count } => count,
        }
    }

    /// How the dimension is divided: every element stays with its part, where the parts' order allows it.
    fn map(self, source: &Distribution) -> Result<DimMap> {
        let (dim, start, step, count) = match self {
            Stride::New { count } => return Ok(DimMap::even(count, 1)?),
            Stride::Of { dim, step: 0, count, .. } => {
                return Ok(DimMap::even(count, source.map(dim).parts())?);
            }
            Stride::Of { dim, start, step, count } => (dim, start, step, count),
        };
        let map = source.map(dim);
        // How many elements come before the source's cell `bound` does, in the order of the result.
        let before = |bound: i64| match step > 0 {
            true => (bound - start + step - 1).div_euclid(step).clamp(0, count),
            false => (start - bound).div_euclid(-step).saturating_add(1).clamp(0, count),
        };
        let mut bounds: Vec<i64> = (0..map.parts()).map(|part| before(map.owned(part).start)).collect();
        bounds.push(before(map.size()));
        if step < 0 {
            bounds.reverse();
        }
        let last = bounds.len() - 1;
        (bounds[0], bounds[last]) = (0, count);
        Ok(DimMap::irregular(&bounds)?)
    }
}

impl Array {
    /// The elements that `axes`, one per dimension of the result, select from the source, of which every
    /// dimension is named once. Dimensions that are not blocks become blocks. Computes.
    ///
    /// # Errors
    /// Dimensions not named once; elements outside the source; too many dimensions; those of
    /// [`Array::eval`].
    pub fn rearranged(&self, axes: &[Stride]) -> Result<Array> {
        check(&self.shape(), axes)?;
        let (base, storage) = self.in_blocks()?;
        let source = &storage.dist;
        let maps = axes.iter().map(|axis| axis.map(source)).collect::<Result<Vec<DimMap>>>()?;
        let grid: Vec<i64> = maps.iter().map(|map| map.parts() as i64).collect();
        let shape: Vec<i64> = axes.iter().map(|axis| axis.count()).collect();
        let builder = Distribution::builder(&shape).grid(&grid);
        let dist = maps.into_iter().enumerate().fold(builder, |b, (d, map)| b.map(d, map)).build()?;
        let result = Storage::new(self.team(), Arc::new(dist), self.dtype())?;
        let needs: Vec<Region> =
            (0..result.dist.parts()).map(|part| read(axes, source, &result.dist.owned(part))).collect();
        let kernel = copy("rearrange", axes.len(), self.dtype())?;
        let _guard = self.team().evaluation();
        let mut work = Work::new(self.team());
        let places = work.near(&base.node, &storage, &needs)?;
        for (part, from) in places.iter().enumerate() {
            let (Some(from), Some(to)) = (from, result.place(self.team(), part)) else { continue };
            let region = result.dist.owned(part);
            let bound = vec![(seen(axes, from, &region), from.clone()), (to.view(region.start()), to)];
            work.launch(&kernel, part, &region, bound, Vec::new())?;
        }
        work.finish()?;
        Ok(Array::of(Node::ready(self.dtype(), self.team(), result)))
    }

    /// The same elements, in C order, in another shape of as many. The first dimension that has more than one
    /// cell is cut into all parts. Computes.
    ///
    /// # Errors
    /// Another number of elements; those of [`Array::eval`].
    pub fn reshaped(&self, shape: &[i64]) -> Result<Array> {
        let dist = sliced(self.team().size(), shape)?;
        if dist.global().volume()? != Region::from_shape(&self.shape())?.volume()? {
            let (expected, given) =
                (format!("as many elements as shape {}", self.shape()), format!("{shape:?}"));
            return Err(Error::invalid("reshape", expected, given, "check the product of the extents"));
        }
        let (base, storage) = self.in_blocks()?;
        let result = Storage::new(self.team(), Arc::new(dist), self.dtype())?;
        let ranges: Vec<(i64, i64)> = (0..result.dist.parts()).map(|part| line(&result.dist, part)).collect();
        let needs: Vec<Region> =
            ranges.iter().map(|range| rows(&self.shape(), *range)).collect::<Result<_>>()?;
        let kernel = copy("reshape", 1, self.dtype())?;
        let _guard = self.team().evaluation();
        let mut work = Work::new(self.team());
        // Always fetched, so that the rows lie in C order without gaps.
        let places = work.fetch(&base.node, &storage, &needs)?;
        for (part, from) in places.into_iter().enumerate() {
            let (Some(from), Some(to)) = (from, result.place(self.team(), part)) else { continue };
            let (start, stop) = ranges[part];
            let first = number(&self.shape(), from.stored.start());
            let bound = vec![
                (View { offset: start - first, strides: vec![1] }, from),
                (View { offset: 0, strides: vec![1] }, to),
            ];
            work.launch(&kernel, part, &Region::new(&[0], &[stop - start])?, bound, Vec::new())?;
        }
        work.finish()?;
        Ok(Array::of(Node::ready(self.dtype(), self.team(), result)))
    }

    /// Replaces every `steps[d]`-th element of `region`, beginning with its first, by those of `value`, which
    /// broadcasts. Dimensions that are not blocks become blocks. Computes.
    ///
    /// # Errors
    /// Steps below 1; a region outside the array; another dtype; shapes that do not fit; those of
    /// [`Array::eval`]. The array then keeps its value.
    pub fn assign_strided(&mut self, region: &Region, steps: &[i64], value: &Array) -> Result<()> {
        if value.dtype() != self.dtype() {
            return Err(Error::dtypes("assign", self.dtype(), value.dtype()));
        }
        let (base, old) = self.in_blocks()?;
        let dist = old.dist.strided(region, steps)?;
        let value = value.broadcast_to("assign", &dist.shape())?.redistribute(&dist)?;
        let Some(from) = value.node.storage() else { unreachable!("redistribute computes") };
        let new = Storage::new(self.team(), Arc::clone(&old.dist), self.dtype())?;
        let kernel = copy("assign_strided", dist.rank(), self.dtype())?;
        let guard = self.team().evaluation();
        let mut work = Work::new(self.team());
        work.extend(old.copy_owned(self.team(), self.dtype(), &new)?);
        for part in 0..dist.parts() {
            let piece = from.dist.owned(part);
            if piece.is_empty() {
                continue;
            }
            let (Some(from), Some(to)) = (from.place(self.team(), part), new.place(self.team(), part)) else {
                continue;
            };
            let first = Index::from_fn(dist.rank(), |d| region.start()[d] + piece.start()[d] * steps[d]);
            let mut into = to.view(&first);
            into.strides.iter_mut().zip(steps).for_each(|(stride, step)| *stride *= step);
            let bound = vec![(from.view(piece.start()), from), (into, to)];
            work.launch(&kernel, part, &piece, bound, Vec::new())?;
        }
        work.finish()?;
        drop(guard);
        self.node = Node::ready(base.dtype(), base.team(), new);
        Ok(())
    }

    /// The array, or one of the same elements cut into blocks; computed, with its storage.
    pub(super) fn in_blocks(&self) -> Result<(Array, Arc<Storage>)> {
        self.eval()?;
        let array = match self.distribution()?.is_block() {
            true => self.clone(),
            false => {
                self.redistribute(&Distribution::default_partition(self.team().size(), &self.shape())?)?
            }
        };
        let Some(storage) = array.node.storage() else { unreachable!("eval and redistribute compute") };
        Ok((array, storage))
    }
}

/// The elements of every part are consecutive: the first dimension of more than one cell is cut.
pub(super) fn sliced(parts: usize, shape: &[i64]) -> Result<Distribution> {
    let mut grid = vec![1; shape.len()];
    if let Some(cut) = grid.get_mut(lead(shape)) {
        *cut = parts as i64;
    }
    Ok(Distribution::builder(shape).grid(&grid).build()?)
}

/// The first dimension of more than one cell.
fn lead(shape: &[i64]) -> usize {
    shape.iter().position(|&extent| extent != 1).unwrap_or(0)
}

/// An element's number in C order.
fn number(shape: &[i64], point: &[i64]) -> i64 {
    shape.iter().zip(point).fold(0, |sum, (extent, at)| sum * extent + at)
}

/// The numbers of the elements that a part of a [`sliced`] array owns.
pub(super) fn line(dist: &Distribution, part: usize) -> (i64, i64) {
    let owned = dist.owned(part);
    let volume: i64 = owned.extents().iter().product();
    let start = number(&dist.shape(), owned.start());
    (start, start + volume)
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

/// Every dimension of the source once, and nothing outside of it.
fn check(shape: &Index, axes: &[Stride]) -> Result<()> {
    let mut named = vec![0; shape.rank()];
    let inside = axes.iter().all(|axis| match *axis {
        Stride::New { count } => count >= 0,
        Stride::Of { dim, start, step, count } => {
            let Some(extent) = shape.get(dim) else { return false };
            named[dim] += 1;
            let last = step.checked_mul((count - 1).max(0)).and_then(|reach| start.checked_add(reach));
            let held = |at: i64| (0..*extent).contains(&at);
            count == 0 || (count > 0 && held(start) && last.is_some_and(held))
        }
    });
    if inside && named.iter().all(|&times| times == 1) && (1..=MAX_RANK).contains(&axes.len()) {
        return Ok(());
    }
    let expected =
        format!("1 to {MAX_RANK} dimensions that name each one of shape {shape} once, inside of it");
    Err(Error::invalid("rearrange", expected, format!("{axes:?}"), "check starts, steps and counts"))
}

/// The box of the source that a region of the result reads.
fn read(axes: &[Stride], source: &Distribution, region: &Region) -> Region {
    let mut ends = vec![(0, 0); source.rank()];
    for (d, axis) in axes.iter().enumerate() {
        if let (Stride::Of { dim, start, step, .. }, false) = (*axis, region.is_empty()) {
            let (a, b) = (start + region.start()[d] * step, start + (region.stop()[d] - 1) * step);
            ends[dim] = (a.min(b), a.max(b) + 1);
        }
    }
    Region::from_fn(source.rank(), |d| ends[d])
}

/// A place seen in the coordinates of the result.
fn seen(axes: &[Stride], from: &Place, region: &Region) -> View {
    let (strides, stored) = (from.strides(), from.stored.start());
    let mut view = View { offset: 0, strides: vec![0; axes.len()] };
    for (d, axis) in axes.iter().enumerate() {
        if let Stride::Of { dim, start, step, .. } = *axis {
            view.offset += (start + region.start()[d] * step - stored[dim]) * strides[dim];
            view.strides[d] = step * strides[dim];
        }
    }
    view
}

/// The kernel that copies element by element.
fn copy(name: &str, rank: usize, dtype: DType) -> Result<Verified> {
    let mut k = Builder::new(name, rank);
    let (source, target) = (k.input(dtype), k.output(dtype));
    let value = k.load(source, &vec![0; rank]);
    Ok(k.elementwise(&[(target, value)])?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_with_their_parts_where_the_order_allows_it() {
        let dist = Distribution::builder(&[10]).parts(3).build().unwrap();
        for (start, step, count) in [(0, 2, 5), (1, 3, 3), (4, 1, 6), (9, 1, 1), (3, 1, 0)] {
            let map = Stride::Of { dim: 0, start, step, count }.map(&dist).unwrap();
            for i in 0..count {
                assert_eq!(map.owner(i), dist.map(0).owner(start + i * step), "{start} {step} {i}");
            }
        }
        let flipped = Stride::Of { dim: 0, start: 9, step: -1, count: 10 }.map(&dist).unwrap();
        let counts: Vec<i64> = (0..3).map(|part| flipped.count(part)).collect();
        assert_eq!(counts, [4, 3, 3]);
    }

    #[test]
    fn rows_hold_what_is_asked() {
        assert_eq!(rows(&[1, 5, 4], (6, 9)).unwrap(), Region::new(&[0, 1, 0], &[1, 3, 4]).unwrap());
        assert_eq!(rows(&[5], (2, 4)).unwrap(), Region::new(&[2], &[4]).unwrap());
        assert!(rows(&[3, 0], (0, 0)).unwrap().is_empty());
    }
}
