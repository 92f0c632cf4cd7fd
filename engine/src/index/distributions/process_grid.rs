//! [`ProcessGrid`]: the C-order N-D arrangement of parts, and the choice of a grid for the shape of an array.

use std::cmp::Reverse;
use std::fmt;

use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::maps::MAX_PARTS;
use crate::index::sets::{Index, Region};

/// An N-D grid of parts. One that is made is in C order: the last dimension varies fastest, as in
/// `MPI_Cart_create`. A grid without dimensions has one part.
///
/// The grid of a view names the same parts by other coordinates, so that every element stays with its part:
/// those of a transposed array are in another order, and along a flipped dimension the last one comes first.
/// As with the memory of a view, [`ProcessGrid::strides`] says which.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProcessGrid {
    shape: Index,
    parts: usize,
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
                let inner = |d: usize| shape[d + 1..].iter().product();
                let strides = Index::from_fn(shape.rank(), |d| if shape[d] == 1 { 0 } else { inner(d) });
                Ok(ProcessGrid { shape, parts, strides })
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
        let mut grid = ProcessGrid::new(shape)?;
        grid.strides = Index::from_fn(shape.len(), |d| if shape[d] == 1 { 0 } else { strides[d] });
        debug_assert!((0..grid.parts.min(64)).all(|part| grid.part_at(|d| grid.coordinate(part)[d]) == part));
        Ok(grid)
    }

    /// The grid with other numbers, see [`ProcessGrid::strides`]; refuses strides that do not number every
    /// part once.
    pub(crate) fn renumbered(&self, strides: &[i64]) -> Result<ProcessGrid> {
        check_rank("process grid", self.rank(), strides.len())?;
        let small = strides.iter().all(|stride| stride.unsigned_abs() <= self.parts as u64);
        let grid = ProcessGrid {
            strides: Index::from_fn(self.rank(), |d| if self.shape[d] == 1 { 0 } else { strides[d] }),
            ..*self
        };
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

    /// The default: dimension 0 is cut into all parts, the others are whole.
    pub fn slabs(parts: usize, rank: usize) -> Result<ProcessGrid> {
        let parts = check_parts("ProcessGrid::slabs", parts, rank)?;
        let rank = Index::new(&vec![1; rank])?.rank();
        ProcessGrid::new(&Index::from_fn(rank, |d| if d == 0 { parts } else { 1 }))
    }

    /// The grid of `parts` parts that cuts an array of this shape with the smallest total cut surface, and so
    /// with the least halo traffic. Grids that leave fewer parts empty come first; of equals, the one that
    /// cuts the earlier dimensions more, whose faces are nearer to contiguous.
    pub fn balanced(parts: usize, global_shape: &[i64]) -> Result<ProcessGrid> {
        Region::from_shape(global_shape)?;
        check_parts("ProcessGrid::balanced", parts, global_shape.len())?;
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

    /// The coordinate of a part.
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
        (0..self.rank()).map(|d| self.strides[d].abs() * self.turned(d, f(d))).sum::<i64>() as usize
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

fn check_parts(operation: &'static str, parts: usize, rank: usize) -> Result<i64> {
    let most = if rank == 0 { 1 } else { MAX_PARTS };
    if (1..=most).contains(&parts) {
        return Ok(parts as i64);
    }
    Err(IndexError::new(
        ErrorKind::Grid,
        operation,
        format!("1 to {most} parts of an array with {rank} dimensions"),
        parts.to_string(),
        "an array without dimensions is one part",
    ))
}

/// How good a choice of factors is: first the parts that get cells, then the cut surface. `None` is
/// impossible.
type Score = Option<(u128, Reverse<u128>)>;

/// Both halves of the score are separable over the dimensions, so the best factors follow from a table over
/// (dimension, divisor) instead of all factorisations.
fn best_factors(parts: u128, shape: &[i64]) -> Index {
    let divisors: Vec<u128> = divisors(parts);
    // The score of cutting the dimensions after the present one into divisors[k] parts.
    let mut after: Vec<Score> = divisors.iter().map(|&m| (m == 1).then_some((1, Reverse(0)))).collect();
    let mut choices = Vec::new();
    for d in (0..shape.len()).rev() {
        let column: Vec<(Score, u128)> =
            divisors.iter().map(|&m| best_factor(m, &divisors, &after, shape, d)).collect();
        after = column.iter().map(|&(score, _)| score).collect();
        choices.push(column.into_iter().map(|(_, factor)| factor).collect::<Vec<_>>());
    }
    let mut rest = parts;
    Index::from_fn(shape.len(), |d| {
        let factor = choices[shape.len() - 1 - d][position(&divisors, rest)];
        rest /= factor;
        factor as i64
    })
}

/// The best number of cuts of dimension `d` when it and the dimensions after it make `m` parts.
fn best_factor(m: u128, divisors: &[u128], after: &[Score], shape: &[i64], d: usize) -> (Score, u128) {
    let size = u128::from(shape[d].max(1).unsigned_abs());
    let plane = (0..shape.len())
        .filter(|&e| e != d)
        .fold(1u128, |area, e| area.saturating_mul(u128::from(shape[e].unsigned_abs())));
    let mut best = (None, 1);
    for &factor in divisors.iter().filter(|&&factor| m.is_multiple_of(factor)) {
        let score = after[position(divisors, m / factor)].map(|(used, Reverse(surface))| {
            let cuts = plane.saturating_mul(factor - 1);
            (used * factor.min(size), Reverse(cuts.saturating_add(surface)))
        });
        if score >= best.0 {
            best = (score, factor);
        }
    }
    best
}

fn position(divisors: &[u128], divisor: u128) -> usize {
    divisors.partition_point(|&other| other < divisor)
}

/// All divisors, ascending.
fn divisors(n: u128) -> Vec<u128> {
    let small: Vec<u128> = (1..).take_while(|k| k * k <= n).filter(|&k| n.is_multiple_of(k)).collect();
    let large = small.iter().rev().map(|&k| n / k).filter(|&k| k * k > n);
    small.iter().copied().chain(large).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_c_order() {
        let grid = ProcessGrid::new(&[2, 3, 4]).unwrap();
        assert_eq!(grid.parts(), 24);
        let mut part = 0;
        for i in 0..2 {
            for j in 0..3 {
                for k in 0..4 {
                    assert_eq!(grid.part(&[i, j, k]).unwrap(), part);
                    assert_eq!(grid.coordinate(part), Index::from([i, j, k]));
                    part += 1;
                }
            }
        }
        assert_eq!(grid.part(&[2, 0, 0]).unwrap_err().kind, ErrorKind::Range);
        assert_eq!(grid.part(&[0, -1, 0]).unwrap_err().kind, ErrorKind::Range);
        assert_eq!(grid.part(&[0]).unwrap_err().kind, ErrorKind::Rank);
    }

    #[test]
    fn parts_of_a_view_are_found_by_its_coordinates() {
        // A grid of 2 x 3 turned on its side, with its rows upside down.
        let whole = ProcessGrid::new(&[2, 3]).unwrap();
        let view = ProcessGrid::numbered(&[3, 1, 2], &[1, 7, -3]).unwrap();
        for (part, at) in (0..6).map(|part| (part, whole.coordinate(part))) {
            assert_eq!(view.coordinate(part), Index::from([at[1], 0, 1 - at[0]]), "{part}");
            assert_eq!(view.part(&[at[1], 0, 1 - at[0]]).unwrap(), part);
        }
        assert_eq!(ProcessGrid::numbered(&[2, 3], &[3, 1]).unwrap(), whole);
        assert_ne!(ProcessGrid::numbered(&[2, 3], &[1, 2]).unwrap(), whole);
    }

    #[test]
    fn neighbors_are_none_at_edges_and_wrap_where_periodic() {
        let grid = ProcessGrid::new(&[2, 3]).unwrap();
        assert_eq!(grid.neighbors(0, &[false, false]).unwrap(), [(None, Some(3)), (None, Some(1))]);
        assert_eq!(grid.neighbors(5, &[false, true]).unwrap(), [(Some(2), None), (Some(4), Some(3))]);
        let line = ProcessGrid::new(&[1]).unwrap();
        assert_eq!(line.neighbors(0, &[true]).unwrap(), [(Some(0), Some(0))]);
        assert!(line.neighbors(1, &[true]).is_err());
    }

    #[test]
    fn impossible_grids_are_refused() {
        for shape in [&[0][..], &[2, -1], &[1 << 20, 1 << 20], &[i64::MAX, i64::MAX]] {
            assert_eq!(ProcessGrid::new(shape).unwrap_err().kind, ErrorKind::Grid, "{shape:?}");
        }
        assert!(ProcessGrid::slabs(0, 1).is_err());
        assert!(ProcessGrid::slabs(2, 0).is_err());
        assert!(ProcessGrid::slabs(2, 9).is_err());
        assert_eq!(ProcessGrid::slabs(1, 0).unwrap().parts(), 1);
        assert!(ProcessGrid::balanced(0, &[3]).is_err());
        assert!(ProcessGrid::balanced(2, &[-3]).is_err());
    }

    #[test]
    fn balanced_grids_have_the_smallest_cuts() {
        let grid = |parts, shape: &[i64]| ProcessGrid::balanced(parts, shape).unwrap().shape().to_vec();
        assert_eq!(grid(4, &[100, 100]), [2, 2]);
        assert_eq!(grid(6, &[100, 100]), [3, 2]);
        assert_eq!(grid(7, &[100, 100]), [7, 1]);
        assert_eq!(grid(4, &[10, 100]), [1, 4]);
        assert_eq!(grid(64, &[64, 64, 64]), [4, 4, 4]);
        assert_eq!(grid(2, &[8, 8]), [2, 1]);
        assert_eq!(grid(4, &[2, 1]), [4, 1]);
        assert_eq!(grid(4, &[0, 5]), [1, 4]);
        assert_eq!(grid(1, &[]), [0i64; 0]);
        assert_eq!(ProcessGrid::balanced(720_720, &[4096; 8]).unwrap().parts(), 720_720);
    }

    #[test]
    fn balanced_agrees_with_trying_every_factorisation() {
        for (parts, shape) in [(12, [7i64, 30, 11]), (24, [5, 5, 5]), (30, [1, 2, 90]), (36, [16, 9, 100])] {
            let score = |grid: [i64; 3]| {
                let used: i64 = (0..3).map(|d| grid[d].min(shape[d])).product();
                let volume: i64 = shape.iter().product();
                let surface: i64 = (0..3).map(|d| (grid[d] - 1) * (volume / shape[d])).sum();
                (used, -surface, grid)
            };
            let all = (1..=parts).flat_map(|a| (1..=parts).map(move |b| (a, b)));
            let best = all
                .filter(|(a, b)| parts % (a * b) == 0)
                .map(|(a, b)| score([a, b, parts / (a * b)]))
                .max()
                .unwrap();
            let given = ProcessGrid::balanced(parts as usize, &shape).unwrap();
            assert_eq!(given.shape().to_vec(), best.2, "{parts} parts of {shape:?}");
        }
    }
}
