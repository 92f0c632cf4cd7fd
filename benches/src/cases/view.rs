//! Extents and views of a workload's arrays, where these are not whole arrays of the usual length.

use partita::array::{IntoSpan, Span};
use partita::prelude::*;
use serde::Serialize;

/// The lengths of the axes of a workload's arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extents {
    /// As wanted.
    Usual,
    /// The largest prime below that: nothing divides it, so every row begins somewhere else in its line.
    Prime,
    /// Half of it, for formulas of many arrays.
    Half,
    /// As many cells in a fourth of the planes, so that caches hold fewer of these. For three axes.
    Flat,
}

/// Elements at other places than those next to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// Every second one along the last axis.
    Second,
    /// Axes in reverse order.
    Turned,
}

impl Extents {
    /// Of arrays that are wanted with these.
    pub fn of(self, wanted: Vec<i64>) -> Vec<i64> {
        let each = |of: fn(i64) -> i64| wanted.iter().copied().map(of).collect();
        match self {
            Extents::Usual => wanted,
            Extents::Prime => each(prime_below),
            Extents::Half => each(|n| n / 2),
            Extents::Flat => match wanted[..] {
                [z, y, x] => vec![z / 4, 2 * y, 2 * x],
                _ => wanted,
            },
        }
    }
}

fn prime_below(wanted: i64) -> i64 {
    let is_prime = |n: &i64| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0);
    (2..wanted).rev().find(is_prime).unwrap_or(wanted)
}

impl View {
    /// The array seen through it.
    pub fn of(self, array: &Array) -> Array {
        match self {
            View::Second => array.slice(&self.spans(array.rank())),
            View::Turned => array.transpose(&(0..array.rank()).rev().collect::<Vec<_>>()),
        }
    }

    /// The spans that it selects of an array, along each axis.
    pub fn spans(self, rank: usize) -> Vec<Span> {
        let mut spans = vec![(..).into_span(); rank];
        if let (View::Second, Some(last)) = (self, spans.last_mut()) {
            *last = (..).into_span().by(2);
        }
        spans
    }

    /// The extents seen of an array with these.
    pub fn shape(self, mut shape: Vec<i64>) -> Vec<i64> {
        match self {
            View::Second => shape.last_mut().into_iter().for_each(|extent| *extent = (*extent + 1) / 2),
            View::Turned => shape.reverse(),
        }
        shape
    }

    /// The place in the array of the element at a place of the view.
    pub fn place(self, mut at: Vec<i64>) -> Vec<i64> {
        match self {
            View::Second => at.last_mut().into_iter().for_each(|at| *at *= 2),
            View::Turned => at.reverse(),
        }
        at
    }

    /// The place in the view of an array's element, if it has one.
    pub fn seen(self, mut at: Vec<i64>) -> Option<Vec<i64>> {
        match self {
            View::Second if at.last().is_some_and(|at| at % 2 != 0) => return None,
            View::Second => at.last_mut().into_iter().for_each(|at| *at /= 2),
            View::Turned => at.reverse(),
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_see_what_lies_where_they_say() {
        for view in [View::Second, View::Turned] {
            for at in [[0, 0], [3, 2], [1, 4]] {
                let place = view.place(at.to_vec());
                assert_eq!(view.seen(place), Some(at.to_vec()), "{view:?}");
            }
        }
        assert_eq!(View::Second.seen(vec![2, 3]), None);
        assert_eq!(View::Second.shape(vec![4, 7]), [4, 4]);
        assert_eq!(View::Turned.shape(vec![4, 7]), [7, 4]);
        assert_eq!(Extents::Prime.of(vec![8, 100, 4096]), [7, 97, 4093]);
        assert_eq!(Extents::Flat.of(vec![16, 16, 16]), [4, 32, 32]);
    }
}
