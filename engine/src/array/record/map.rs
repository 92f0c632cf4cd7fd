//! [`Map`]: from a reader's coordinates to the coordinates of a node. Views are maps; lowering composes
//! them. Below it: the numbers of elements in C order.

use std::hash::{Hash, Hasher};

use partita_kernels::MAX_RANK;

use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Index, Region};

/// One [`Along`] per dimension of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Map {
    axes: [Along; MAX_RANK],
    rank: usize,
}

impl Hash for Map {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.axes().hash(state);
    }
}

impl Map {
    /// `axes(d)` for every dimension.
    pub fn from_fn(rank: usize, axes: impl Fn(usize) -> Along) -> Map {
        let mut all = [Along::Pinned(0); MAX_RANK];
        all.iter_mut().enumerate().take(rank).for_each(|(d, along)| *along = axes(d));
        Map { axes: all, rank }
    }

    /// The map with another rule for one dimension.
    pub fn with(mut self, d: usize, along: Along) -> Map {
        self.axes[d] = along;
        self
    }

    pub fn identity(rank: usize) -> Map {
        Map::from_fn(rank, Along::same)
    }

    /// The map of a window that begins at `start`.
    pub fn window(start: &Index) -> Map {
        Map::from_fn(start.rank(), |dim| Along::Dim { dim, offset: start[dim], step: 1 })
    }

    pub fn axes(&self) -> &[Along] {
        &self.axes[..self.rank]
    }

    /// The start of the window, if it is that of one of a node of this rank.
    pub fn as_window(&self, rank: usize) -> Option<Index> {
        let along = |d: usize| match self.axes[d] {
            Along::Dim { dim, offset, step: 1 } if dim == d => Some(offset),
            Along::Dim { .. } | Along::Pinned(_) => None,
        };
        let fits = rank == self.rank && (0..rank).all(|d| along(d).is_some());
        fits.then(|| Index::from_fn(rank, |d| along(d).unwrap_or_default()))
    }

    /// The map to the cells of memory, where every node has a dimension.
    pub fn in_memory(self) -> Map {
        if self.rank == 0 { Map::from_fn(1, |_| Along::Pinned(0)) } else { self }
    }

    /// True if a view of this shape is all of its base, without some axes of extent 1.
    pub fn drops_axes(&self, base: &Index, shape: &Index) -> bool {
        let mut kept = 0..shape.rank();
        let drops = |(d, along): (usize, &Along)| match along {
            Along::Pinned(_) => base[d] == 1,
            Along::Dim { dim, offset: 0, step: 1 } => kept.next() == Some(*dim) && base[d] == shape[*dim],
            Along::Dim { .. } => false,
        };
        self.axes().iter().enumerate().all(drops) && kept.next().is_none()
    }

    /// The map of a view's base, where `self` is that of the view and `view` says which cell of the base each
    /// of its elements is.
    pub fn through(&self, view: &Map) -> Map {
        Map::from_fn(view.rank, |d| match view.axes[d] {
            Along::Dim { dim, offset, step } => self.axes[dim].then(offset, step),
            Along::Pinned(at) => Along::Pinned(at),
        })
    }

    /// True if `through` would go wrong: where the points of `shape` mean elements of the view, which has
    /// `extents`, beyond its ends. There the view wraps around; the base, of shape `base`, has the same
    /// elements there only along dimensions of which the view shows all.
    pub fn leaves(&self, shape: &[i64], view: &Map, extents: &[i64], base: &[i64]) -> bool {
        let beyond = |e: usize| match self.axes[e] {
            Along::Dim { dim, .. } if shape[dim] > 0 => {
                let (first, stop) = self.axes[e].span(0, shape[dim]);
                first < 0 || stop > extents[e]
            }
            Along::Dim { .. } | Along::Pinned(_) => false,
        };
        view.axes().iter().zip(base).any(|(along, extent)| match *along {
            Along::Dim { dim, step, .. } => (step.abs() != 1 || extents[dim] != *extent) && beyond(dim),
            Along::Pinned(_) => false,
        })
    }

    /// The map of an operand of shape `operand` broadcast to a node of shape `node`.
    pub fn broadcast(&self, node: &Index, operand: &Index) -> Map {
        let skipped = node.rank() - operand.rank();
        Map::from_fn(operand.rank(), |d| match operand[d] == 1 && node[skipped + d] != 1 {
            true => Along::Pinned(0),
            false => self.axes[skipped + d],
        })
    }

    /// The map of a list along dimension `dim` of the result.
    pub fn line(dim: usize) -> Map {
        Map::from_fn(1, |_| Along::same(dim))
    }

    /// True if it steps over elements, and only forwards.
    pub fn skips(&self) -> bool {
        let steps = |along: &Along| if let Along::Dim { step, .. } = along { *step } else { 1 };
        let (least, most) = (self.axes().iter().map(steps).min(), self.axes().iter().map(steps).max());
        least >= Some(1) && most > Some(1)
    }

    /// True if two dimensions follow from the same one, as on a diagonal.
    pub fn repeats(&self, d: usize) -> bool {
        let Along::Dim { dim, .. } = self.axes[d] else { return false };
        let same = |other: &Along| matches!(other, Along::Dim { dim: named, .. } if *named == dim);
        self.axes().iter().filter(|other| same(other)).count() > 1
    }

    /// The map with the offset of one dimension replaced by the remainder of its step: maps that share this
    /// read elements a whole number of points apart.
    pub fn without_offset(mut self, d: usize) -> Map {
        if let Along::Dim { offset, step, .. } = &mut self.axes[d] {
            *offset = offset.rem_euclid(step.abs());
        }
        self
    }
}

/// The elements of every part are consecutive: the first dimension of more than one cell is cut.
pub(crate) fn sliced(parts: usize, shape: &[i64]) -> Result<Distribution> {
    let mut grid = vec![1; shape.len()];
    if let Some(cut) = grid.get_mut(lead(shape)) {
        *cut = parts as i64;
    }
    Ok(Distribution::builder(shape).parts(parts).grid(&grid).build()?)
}

/// The first dimension of more than one cell.
pub(crate) fn lead(shape: &[i64]) -> usize {
    shape.iter().position(|&extent| extent != 1).unwrap_or(0)
}

/// An element's number in C order.
pub(crate) fn number(shape: &[i64], point: &[i64]) -> i64 {
    shape.iter().zip(point).fold(0, |sum, (extent, at)| sum * extent + at)
}

/// The numbers of the elements that a part of a [`sliced`] array owns.
pub(crate) fn line(dist: &Distribution, part: usize) -> (i64, i64) {
    let owned = dist.owned(part);
    let volume: i64 = owned.extents().iter().product();
    let start = number(&dist.shape(), owned.start());
    (start, start + volume)
}

pub(crate) fn check_positions(operation: &'static str, shape: &Index, positions: &[i64]) -> Result<()> {
    let volume = Region::from_shape(shape)?.volume()?;
    let Some(outside) = positions.iter().find(|at| !(0..volume).contains(*at)) else { return Ok(()) };
    let expected = format!("positions from 0 to below {volume}, the size of shape {shape}");
    Err(Error::invalid(operation, expected, outside.to_string(), "count elements in C order from 0"))
}

pub(crate) fn check_count(operation: &'static str, expected: i64, positions: &[i64]) -> Result<()> {
    if expected == positions.len() as i64 {
        return Ok(());
    }
    let (expected, given) = (format!("{expected} positions"), positions.len().to_string());
    Err(Error::invalid(operation, expected, given, "name one position per element"))
}

/// The coordinates of the element with a number.
pub(crate) fn point(shape: &Index, number: i64) -> Index {
    let (mut point, mut rest) = (Index::zeros(shape.rank()), number);
    for d in (0..shape.rank()).rev() {
        (point[d], rest) = (rest % shape[d], rest / shape[d]);
    }
    point
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn maps_through_views_say_what_both_say() {
        let view = Map::from_fn(3, |d| match d {
            0 => Along::Dim { dim: 1, offset: 8, step: -2 },
            1 => Along::Pinned(5),
            _ => Along::Dim { dim: 0, offset: 1, step: 3 },
        });
        let reader = Map::window(&Index::new(&[2, 1]).unwrap());
        let both = reader.through(&view);
        let at =
            |map: &Map, point: &[i64]| map.axes().iter().map(|along| along.at(point)).collect::<Vec<_>>();
        assert_eq!(at(&both, &[4, 0]), at(&view, &at(&reader, &[4, 0])));
        assert_eq!(at(&both, &[4, 0]), [6, 5, 19]);
        assert_eq!(both.without_offset(0).axes()[0], Along::Dim { dim: 1, offset: 0, step: -2 });
    }

    #[test]
    fn elements_that_wrap_around_a_view_are_not_its_neighbours() {
        let leaves = |offset: i64, view: Along, base: i64| {
            let reader = Map::from_fn(1, |_| Along::Dim { dim: 0, offset, step: 1 });
            reader.leaves(&[6], &Map::from_fn(1, |_| view), &[6], &[base])
        };
        let step = |step: i64| Along::Dim { dim: 0, offset: if step < 0 { 5 } else { 0 }, step };
        assert!(leaves(1, step(1), 7) && leaves(-1, step(2), 12) && leaves(-1, step(1), 7));
        assert!(!leaves(0, step(1), 7) && !leaves(4, step(1), 6) && !leaves(4, step(-1), 6));
    }

    #[test]
    fn windows_are_distinguished_from_other_views() {
        let start = Index::new(&[3, 0]).unwrap();
        assert_eq!(Map::window(&start).as_window(2), Some(start));
        assert_eq!(Map::window(&start).as_window(3), None);
        let turned = Map::from_fn(2, |d| Along::same(1 - d));
        assert_eq!(turned.as_window(2), None);
        assert!(!turned.repeats(0) && Map::from_fn(2, |_| Along::same(0)).repeats(1));
    }
}
