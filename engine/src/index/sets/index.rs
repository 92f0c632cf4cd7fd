//! [`Index`]: up to eight coordinates kept inline.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::index::error::{ErrorKind, IndexError, Result};

/// The largest number of dimensions of an array.
pub const MAX_RANK: usize = 8;

/// One `i64` per dimension: a point, a shape, strides or widths. It lives inline and is copied freely; as a
/// slice it has exactly its rank many values. The order is lexicographic, which for points of one rank is C
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Index {
    // Values beyond the rank stay zero, so that the derived comparisons and hash are right.
    values: [i64; MAX_RANK],
    rank: u8,
}

impl Index {
    /// The values of a slice, at most [`MAX_RANK`] of them.
    pub fn new(values: &[i64]) -> Result<Index> {
        if values.len() > MAX_RANK {
            return Err(IndexError::new(
                ErrorKind::Rank,
                "Index",
                format!("at most {MAX_RANK} dimensions"),
                values.len().to_string(),
                "merge dimensions or use several arrays",
            ));
        }
        Ok(Index::from_fn(values.len(), |d| values[d]))
    }

    /// The value `f(d)` in every dimension `d`.
    ///
    /// # Panics
    /// If `rank` exceeds [`MAX_RANK`].
    pub fn from_fn(rank: usize, mut f: impl FnMut(usize) -> i64) -> Index {
        assert!(rank <= MAX_RANK, "an Index has at most {MAX_RANK} dimensions, not {rank}");
        let mut values = [0; MAX_RANK];
        for (d, value) in values[..rank].iter_mut().enumerate() {
            *value = f(d);
        }
        Index { values, rank: rank as u8 }
    }

    /// The same value in every dimension; `rank` is at most [`MAX_RANK`].
    pub fn filled(rank: usize, value: i64) -> Index {
        Index::from_fn(rank, |_| value)
    }

    /// Zero in every dimension; `rank` is at most [`MAX_RANK`].
    pub fn zeros(rank: usize) -> Index {
        Index::filled(rank, 0)
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }
}

impl Deref for Index {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        &self.values[..self.rank()]
    }
}

impl DerefMut for Index {
    fn deref_mut(&mut self) -> &mut [i64] {
        let rank = self.rank();
        &mut self.values[..rank]
    }
}

impl<const N: usize> From<[i64; N]> for Index {
    fn from(values: [i64; N]) -> Index {
        const { assert!(N <= MAX_RANK, "an Index has at most MAX_RANK dimensions") };
        Index::from_fn(N, |d| values[d])
    }
}

impl TryFrom<&[i64]> for Index {
    type Error = IndexError;

    fn try_from(values: &[i64]) -> Result<Index> {
        Index::new(values)
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (d, value) in self.iter().enumerate() {
            write!(f, "{}{value}", if d == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn equality_and_order_look_at_the_rank_too() {
        assert_eq!(Index::from([1, 2]), Index::new(&[1, 2]).unwrap());
        assert_ne!(Index::from([1]), Index::from([1, 0]));
        assert!(Index::from([1, 2]) < Index::from([2, 0]));
        assert_eq!(Index::from([]).len(), 0);
    }

    #[test]
    fn eight_dimensions_are_accepted_and_nine_are_an_error() {
        assert_eq!(Index::new(&[7; 8]).unwrap().len(), 8);
        let error = Index::new(&[7; 9]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Rank);
        assert_eq!(
            error.to_string(),
            "Index: expected at most 8 dimensions, given 9; merge dimensions or use several arrays"
        );
    }

    #[test]
    fn display() {
        assert_eq!(Index::from([3, -4]).to_string(), "(3, -4)");
        assert_eq!(Index::zeros(0).to_string(), "()");
    }
}
