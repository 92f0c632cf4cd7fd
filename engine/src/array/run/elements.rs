//! Elements in other shapes: recorded, and computed by one fetch plan and one copy kernel per part. Knows
//! boxes; what a stride per dimension describes are views, and lists of positions are `positions`' business.

use std::sync::Arc;

use partita_kernels::{Builder, DType, Verified, View};

use crate::array::Array;
use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::explain::outline::{is_telling, nowhere, tell_gathering};
use crate::array::loops::analysis;
use crate::array::memory::storage::Storage;
use crate::array::record::map::Map;
use crate::array::record::node::{Expr, Node, NodeLayout, NodeState, Which};
use crate::array::run::evaluate::evaluate;
use crate::array::run::positions::gather;
use crate::error::{Error, Result};
use crate::index::{Distribution, Region};

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
    pub(crate) fn count(self) -> i64 {
        match self {
            Stride::Of { count, .. } | Stride::New { count } => count,
        }
    }
}

impl Array {
    /// The same elements, in C order, in another shape of as many. Recorded.
    ///
    /// Where the parts hold their elements in the order of the new shape, these stay where they are: where
    /// dimensions are split and merged of which only the first is divided, at whole rows of both shapes.
    /// Then the result shares memory without halos, and is computed together with what it is computed from.
    /// Otherwise elements move, and the first dimension that has more than one cell is cut into all parts.
    ///
    /// # Errors
    /// Another number of elements; the error the array carries.
    pub fn reshaped(&self, shape: &[i64]) -> Result<Array> {
        self.recorded()?;
        let dist = sliced(self.team().size(), shape)?;
        if dist.global().volume()? != Region::from_shape(&self.shape())?.volume()? {
            let (expected, given) =
                (format!("as many elements as shape {}", self.shape()), format!("{shape:?}"));
            return Err(Error::invalid("reshape", expected, given, "check the product of the extents"));
        }
        match self.in_place(&dist.shape())? {
            Some(seen) => Ok(seen),
            None => self.listed(dist, Which::All),
        }
    }

    /// Elements of this array on `dist`, in C order.
    pub(crate) fn listed(&self, dist: Distribution, which: Which) -> Result<Array> {
        let (held, node) = (self.distribution()?, &self.node);
        let base = match held.is_block() {
            true => Arc::clone(node),
            false => {
                let blocks = Distribution::default_partition(self.team().size(), &self.shape())?;
                let map = Arc::new(Map::identity(self.rank()));
                let expr = Expr::View { base: Arc::clone(node), map };
                Node::lazy(node.shape, node.dtype, &node.team, expr, NodeLayout::Known(Arc::new(blocks)))
            }
        };
        let (shape, layout) = (dist.shape(), NodeLayout::Known(Arc::new(dist)));
        Ok(Array::recording(Node::lazy(shape, node.dtype, &node.team, Expr::Listed { base, which }, layout)))
    }

    /// The array, or one of the same elements cut into blocks; computed, with its storage.
    pub(crate) fn in_blocks(&self) -> Result<(Array, Arc<Storage>)> {
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

/// Base and elements of a list that is not computed yet.
pub(crate) fn listed(node: &Node) -> Option<(Arc<Node>, Which)> {
    match &*node.state() {
        NodeState::Lazy { expr: Expr::Listed { base, which }, .. } => Some((Arc::clone(base), which.clone())),
        NodeState::Lazy { .. } | NodeState::Ready(_) | NodeState::Failed(_) => None,
    }
}

/// Computes elements of a base in C order.
pub(crate) fn compute(node: &Node, base: &Arc<Node>, which: &Which) -> Result<Storage> {
    analysis::mark_unsupported(|| "the step takes elements by their number in C order".to_owned());
    evaluate(std::slice::from_ref(base))?;
    let Some(from) = base.storage() else { unreachable!("just computed") };
    let dist = node.distribution()?;
    if is_telling() {
        tell_gathering("list", &dist, node.dtype)?;
        return Ok(nowhere(dist));
    }
    let result = Storage::new(&node.team, dist, node.dtype)?;
    match which {
        Which::All => reshape(base, &from, &result)?,
        Which::At(positions) => gather(base, &from, &result, positions)?,
    }
    Ok(result)
}

fn reshape(base: &Node, from: &Storage, result: &Storage) -> Result<()> {
    let (team, shape) = (&base.team, base.shape);
    let ranges: Vec<(i64, i64)> = (0..result.dist.parts()).map(|part| line(&result.dist, part)).collect();
    let needs: Vec<Region> = ranges.iter().map(|range| rows(&shape, *range)).collect::<Result<_>>()?;
    let kernel = copy("reshape", 1, base.dtype)?;
    let mut work = ScheduleBuilder::new(team);
    // Always fetched, so that the rows lie in C order without gaps.
    let places = work.fetch(base, from, &needs)?;
    for (part, from) in places.into_iter().enumerate() {
        let (Some(from), Some(to)) = (from, result.place(team, part)) else { continue };
        let (start, stop) = ranges[part];
        let first = number(&shape, from.stored.start());
        let bound = vec![
            (View { offset: start - first, strides: vec![1] }, from),
            (View { offset: 0, strides: vec![1] }, to),
        ];
        work.launch(&kernel, part, &Region::new(&[0], &[stop - start])?, bound, Vec::new())?;
    }
    work.finish()
}

/// The elements of every part are consecutive: the first dimension of more than one cell is cut.
pub(crate) fn sliced(parts: usize, shape: &[i64]) -> Result<Distribution> {
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
pub(crate) fn line(dist: &Distribution, part: usize) -> (i64, i64) {
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
    fn rows_hold_what_is_asked() {
        assert_eq!(rows(&[1, 5, 4], (6, 9)).unwrap(), Region::new(&[0, 1, 0], &[1, 3, 4]).unwrap());
        assert_eq!(rows(&[5], (2, 4)).unwrap(), Region::new(&[2], &[4]).unwrap());
        assert!(rows(&[3, 0], (0, 0)).unwrap().is_empty());
    }
}
