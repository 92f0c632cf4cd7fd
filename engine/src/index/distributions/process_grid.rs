//! [`ProcessGrid`]: the C-order N-D arrangement of parts, and the choice of a grid for the shape of an array.

use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::maps::{MAX_PARTS, check_parts};
use crate::index::region::{Index, Region};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

/// An N-D grid of parts. One that is made is in C order: the last dimension varies fastest, as in
/// `MPI_Cart_create`. A grid without dimensions has one coordinate, one part's; other parts have none.
///
/// The grid of a view names the same parts by other coordinates, so that every element stays with its part:
/// those of a transposed array are in another order, and along a flipped dimension the last one comes first.
/// As with the memory of a view, [`ProcessGrid::strides`] says which.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProcessGrid {
    shape: Index,
    parts: usize,
    // The part at coordinate 0, 0 but without dimensions.
    first: usize,
    // Of dimensions of one coordinate 0, so that equal grids look alike.
    strides: Index,
}

impl ProcessGrid {
    /// A grid with `shape[d]` coordinates in dimension `d`.
    pub fn new(shape: &[i64]) -> Result<ProcessGrid> {
        let shape = Index::new(shape)?;
        let parts = shape.iter().try_fold(1usize, |parts, &n| {
            usize::try_from(n).ok().filter(|&n| n > 0).and_then(|n| parts.checked_mul(n))
        });
        match parts.filter(|&parts| parts <= MAX_PARTS) {
            Some(parts) => {
                let strides = Index::from_fn(shape.rank(), |d| shape[d + 1..].iter().product());
                Ok(ProcessGrid { shape, parts, first: 0, strides }.with_strides(&strides))
            }
            None => Err(IndexError::new(
                ErrorKind::Grid,
                "ProcessGrid",
                format!("at least 1 part per dimension and at most {MAX_PARTS} in all"),
                shape.to_string(),
                "use 1 for a dimension that is not cut",
            )),
        }
    }

    /// The grid whose part numbers change by `strides[d]` from one coordinate of dimension `d` to the next.
    /// Ordered by size, each is the product of the shape's extents along the smaller ones; a negative one
    /// counts down.
    pub(crate) fn numbered(shape: &[i64], strides: &[i64]) -> Result<ProcessGrid> {
        let grid = ProcessGrid::new(shape)?.with_strides(strides);
        debug_assert!((0..grid.parts.min(64)).all(|part| grid.part_at(|d| grid.coordinate(part)[d]) == part));
        Ok(grid)
    }

    /// The grid without dimensions of so many parts, of which `part` has the coordinate.
    pub(crate) fn lone(part: usize, parts: usize) -> ProcessGrid {
        let none = Index::zeros(0);
        ProcessGrid { shape: none, parts, first: part, strides: none }
    }

    fn with_strides(self, strides: &[i64]) -> ProcessGrid {
        let strides = Index::from_fn(self.rank(), |d| if self.shape[d] == 1 { 0 } else { strides[d] });
        ProcessGrid { strides, ..self }
    }

    /// The grid with other numbers, see [`ProcessGrid::strides`]; refuses strides that do not number every
    /// part once.
    pub(crate) fn renumbered(&self, strides: &[i64]) -> Result<ProcessGrid> {
        check_rank("process grid", self.rank(), strides.len())?;
        let small = strides.iter().all(|stride| stride.unsigned_abs() <= self.parts as u64);
        let grid = self.with_strides(strides);
        if small && (0..grid.parts).all(|part| grid.part_at(|d| grid.coordinate(part)[d]) == part) {
            return Ok(grid);
        }
        Err(IndexError::new(
            ErrorKind::Grid,
            "process grid",
            format!("strides that number the parts of the grid {} once each", self.shape),
            format!("{strides:?}"),
            "take those of an existing grid",
        ))
    }

    /// The default: dimension 0 is cut into all parts, the others are whole. Without dimensions part 0 has
    /// the coordinate.
    pub fn slabs(parts: usize, rank: usize) -> Result<ProcessGrid> {
        check_parts("ProcessGrid::slabs", parts)?;
        if rank == 0 {
            return Ok(ProcessGrid::lone(0, parts));
        }
        let rank = Index::new(&vec![1; rank])?.rank();
        ProcessGrid::new(&Index::from_fn(rank, |d| if d == 0 { parts as i64 } else { 1 }))
    }

    /// The grid of `parts` parts that cuts an array of this shape with the smallest total cut surface, and so
    /// with the least halo traffic. Grids that leave fewer parts empty come first; of equals, the one that
    /// cuts the earlier dimensions more, whose faces are nearer to contiguous.
    pub fn balanced(parts: usize, global_shape: &[i64]) -> Result<ProcessGrid> {
        Region::from_shape(global_shape)?;
        check_parts("ProcessGrid::balanced", parts)?;
        if global_shape.is_empty() {
            return Ok(ProcessGrid::lone(0, parts));
        }
        ProcessGrid::new(&best_factors(parts as u128, global_shape))
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of coordinates of every dimension.
    pub fn shape(&self) -> &Index {
        &self.shape
    }

    /// By how much the part number changes from one coordinate of a dimension to the next; 0 along dimensions
    /// of one coordinate. In C order, as grids are made, each is the product of the extents after it.
    pub fn strides(&self) -> &Index {
        &self.strides
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The coordinate of a part; without dimensions of any part, whether it is there or not.
    ///
    /// # Panics
    /// If there is no such part; [`ProcessGrid::check_part`] is for numbers that come from outside.
    pub fn coordinate(&self, part: usize) -> Index {
        assert!(part < self.parts, "part {part} of {}", self.parts);
        Index::from_fn(self.rank(), |d| match self.strides[d] {
            0 => 0,
            stride => self.turned(d, part as i64 / stride.abs() % self.shape[d]),
        })
    }

    /// The part at a coordinate.
    pub fn part(&self, coordinate: &[i64]) -> Result<usize> {
        check_rank("ProcessGrid::part", self.rank(), coordinate.len())?;
        if (0..self.rank()).all(|d| (0..self.shape[d]).contains(&coordinate[d])) {
            return Ok(self.part_at(|d| coordinate[d]));
        }
        Err(IndexError::new(
            ErrorKind::Range,
            "ProcessGrid::part",
            format!("a coordinate inside the grid {}", self.shape),
            format!("{coordinate:?}"),
            "coordinates count from 0 in every dimension",
        ))
    }

    /// The part at the coordinate `f(d)`, which lies inside the grid.
    pub(crate) fn part_at(&self, f: impl Fn(usize) -> i64) -> usize {
        let along = |d: usize| self.strides[d].abs() * self.turned(d, f(d));
        self.first + (0..self.rank()).map(along).sum::<i64>() as usize
    }

    /// A coordinate counted from the other end where the numbers count down.
    fn turned(&self, d: usize, coordinate: i64) -> i64 {
        if self.strides[d] < 0 { self.shape[d] - 1 - coordinate } else { coordinate }
    }

    /// Refuses a number that is no part's.
    pub fn check_part(&self, part: usize) -> Result<()> {
        if part < self.parts {
            return Ok(());
        }
        Err(IndexError::new(
            ErrorKind::Range,
            "part number",
            format!("a part below {}", self.parts),
            part.to_string(),
            "parts are counted from 0",
        ))
    }

    /// The (left, right) neighbours of a part in every dimension: none at the ends of a dimension that is not
    /// periodic, itself where a periodic dimension has one coordinate.
    pub fn neighbors(&self, part: usize, periodic: &[bool]) -> Result<Vec<(Option<usize>, Option<usize>)>> {
        self.check_part(part)?;
        check_rank("ProcessGrid::neighbors", self.rank(), periodic.len())?;
        let own = self.coordinate(part);
        let beside = |d: usize, step: i64| {
            let there = own[d] + step;
            let inside = periodic[d] || (0..self.shape[d]).contains(&there);
            inside.then(|| self.part_at(|e| if e == d { there.rem_euclid(self.shape[d]) } else { own[e] }))
        };
        Ok((0..self.rank()).map(|d| (beside(d, -1), beside(d, 1))).collect())
    }
}

impl fmt::Display for ProcessGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.shape, f)
    }
}

/// The factors of the best grid: that in which most parts get cells, then that with the smallest cut surface.
/// Both are separable over the dimensions, so the best factors from one on follow from those after it.
fn best_factors(parts: u128, shape: &[i64]) -> Index {
    let divisors = divisors(parts);
    // By the number of parts that the dimensions so far make: cells and surface, and the factors.
    let mut best = BTreeMap::from([(1, ((1, Reverse(0)), Index::filled(shape.len(), 1)))]);
    for d in (0..shape.len()).rev() {
        let others = (0..shape.len()).filter(|&e| e != d).map(|e| u128::from(shape[e].unsigned_abs()));
        let (size, plane) =
            (u128::from(shape[d].max(1).unsigned_abs()), others.fold(1, u128::saturating_mul));
        let of = |&made: &u128| {
            let with = |&factor: &u128| {
                let after = best.get(&(made / factor)).filter(|_| made.is_multiple_of(factor));
                let &((used, Reverse(surface)), mut factors) = after?;
                factors[d] = factor as i64;
                let surface = plane.saturating_mul(factor - 1).saturating_add(surface);
                Some(((used * factor.min(size), Reverse(surface)), factors))
            };
            // Of equals the last, which cuts this dimension most.
            Some((made, divisors.iter().filter_map(with).max_by_key(|&(score, _)| score)?))
        };
        best = divisors.iter().filter_map(of).collect();
    }
    best[&parts].1
}

/// All divisors, ascending.
fn divisors(n: u128) -> Vec<u128> {
    let small: Vec<u128> = (1..).take_while(|k| k * k <= n).filter(|&k| n.is_multiple_of(k)).collect();
    let large = small.iter().rev().map(|&k| n / k).filter(|&k| k * k > n);
    small.iter().copied().chain(large).collect()
}
