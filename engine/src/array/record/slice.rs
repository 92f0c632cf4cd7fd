//! Spans: how a view of an array is written. Knows shapes only.

use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

use crate::array::record::map::Map;
use crate::error::{Error, Result};
use crate::index::{Along, Index};

/// What to take of one dimension, or a new one. Coordinates below 0 count from the dimension's end, as in
/// NumPy; unlike in NumPy, ends outside the dimension are an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Span {
    /// Every `step`-th element from `start` on, before `stop`; by default all of them. A negative step goes
    /// down, by default from the last element.
    Range {
        /// The first one.
        start: Option<i64>,
        /// Where to end; itself not taken.
        stop: Option<i64>,
        /// What the next one adds; not 0.
        step: i64,
    },
    /// One element; the dimension is dropped.
    At(i64),
    /// A new dimension of extent 1.
    New,
}

/// A new dimension of extent 1, in [`crate::s!`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewAxis;

impl Span {
    /// The same range in steps. Of others than ranges it says nothing.
    pub fn by(self, step: i64) -> Span {
        match self {
            Span::Range { start, stop, .. } => Span::Range { start, stop, step },
            Span::At(_) | Span::New => self,
        }
    }
}

/// What [`crate::s!`] accepts: `..`, `a..b`, `a..`, `..b`, a number, `NewAxis`.
pub trait IntoSpan {
    /// The span it means.
    fn into_span(self) -> Span;
}

macro_rules! into_span {
    ($($type:ty: $from:pat => $span:expr;)*) => {$(
        impl IntoSpan for $type {
            fn into_span(self) -> Span {
                let $from = self;
                $span
            }
        }
    )*};
}

into_span! {
    Span: span => span;
    RangeFull: _ => Span::Range { start: None, stop: None, step: 1 };
    Range<i64>: range => Span::Range { start: Some(range.start), stop: Some(range.end), step: 1 };
    RangeFrom<i64>: range => Span::Range { start: Some(range.start), stop: None, step: 1 };
    RangeTo<i64>: range => Span::Range { start: None, stop: Some(range.end), step: 1 };
    i64: at => Span::At(at);
    NewAxis: _ => Span::New;
}

/// The spans of a view, one per dimension: `s![1..-1, ..]` is a window, `s![..;2, 8..3;-1]` goes in steps
/// (down from 8 to 4 in the second dimension), `s![3, .., NewAxis]` drops a dimension and adds one.
#[macro_export]
macro_rules! s {
    ($($span:expr $(; $step:expr)?),* $(,)?) => {{
        // `1..-1` means something here.
        #[allow(clippy::reversed_empty_ranges)]
        let spans = [$($crate::array::IntoSpan::into_span($span)$(.by($step))?),*];
        spans
    }};
}

/// What spans mean in an array of some shape: the view's shape, and which element each of its elements is.
pub(crate) struct Selected {
    pub shape: Index,
    pub map: Map,
}

/// Missing spans at the end mean all.
pub(crate) fn resolve(operation: &'static str, shape: &Index, spans: &[Span]) -> Result<Selected> {
    let named = spans.iter().filter(|span| !matches!(span, Span::New)).count();
    if named > shape.rank() {
        return Err(Error::invalid(
            operation,
            format!("at most {} spans, one per dimension", shape.rank()),
            named.to_string(),
            "drop the extra spans",
        ));
    }
    let (mut extents, mut axes) = (Vec::new(), Vec::new());
    let all = std::iter::repeat_n((..).into_span(), shape.rank() - named);
    for span in spans.iter().copied().chain(all) {
        let d = axes.len();
        match span {
            Span::New => extents.push(1),
            Span::At(at) => {
                let inside = from_end(at, shape[d]);
                if !(0..shape[d]).contains(&inside) {
                    return Err(outside(operation, shape[d], format!("{at} in dimension {d}")));
                }
                axes.push(Along::Pinned(inside));
            }
            Span::Range { start, stop, step } => {
                let Some((offset, count)) = taken(start, stop, step, shape[d]) else {
                    let end = |end: Option<i64>| end.map_or(String::new(), |end| end.to_string());
                    let by = if step == 1 { String::new() } else { format!(" in steps of {step}") };
                    let given = format!("{}..{}{by} in dimension {d}", end(start), end(stop));
                    return Err(outside(operation, shape[d], given));
                };
                axes.push(Along::Dim { dim: extents.len(), offset, step });
                extents.push(count);
            }
        }
    }
    Ok(Selected { shape: Index::new(&extents)?, map: Map::from_fn(shape.rank(), |d| axes[d]) })
}

/// First element and number of elements; `None` for what is not inside.
fn taken(start: Option<i64>, stop: Option<i64>, step: i64, extent: i64) -> Option<(i64, i64)> {
    let (first, last) = if step < 0 { (extent - 1, -1) } else { (0, extent) };
    let start = start.map_or(first, |at| from_end(at, extent));
    let stop = stop.map_or(last, |at| from_end(at, extent));
    let (low, high) = if step < 0 { (stop + 1, start + 1) } else { (start, stop) };
    let inside = step != 0 && 0 <= low && low <= high && high <= extent;
    inside.then(|| (start.max(0), (high - low + step.abs() - 1) / step.abs()))
}

fn outside(operation: &'static str, extent: i64, given: String) -> Error {
    let remedy = "negative ends count from the end; clip the span to the shape";
    Error::invalid(operation, format!("a span within 0..{extent}, in steps other than 0"), given, remedy)
}

/// Negative coordinates count from the end.
fn from_end(at: i64, extent: i64) -> i64 {
    if at < 0 { at + extent } else { at }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ranges_mean_what_they_mean_in_numpy() {
        // NumPy's a[8:2:-1] begins with element 8 and ends with element 3.
        let of = |span: [Span; 1]| {
            let Selected { shape, map } = resolve("slice", &Index::filled(1, 9), &span).unwrap();
            (0..shape[0]).map(|i| map.axes()[0].at(&[i])).collect::<Vec<i64>>()
        };
        assert_eq!(of(s![..; 4]), [0, 4, 8]);
        assert_eq!(of(s![1..-1; 3]), [1, 4, 7]);
        assert_eq!(of(s![..; -4]), [8, 4, 0]);
        assert_eq!(of(s![8..2; -1]), [8, 7, 6, 5, 4, 3]);
        assert_eq!(of(s![-2..; -3]), [7, 4, 1]);
        assert_eq!(of(s![..4; -2]), [8, 6]);
        assert_eq!(of(s![3..3; -2]), [0i64; 0]);
        for span in [s![..; 0][0], s![9..; -1][0], s![2..8; -1][0], s![9][0], s![-10][0], s![4..3][0]] {
            assert!(resolve("slice", &Index::filled(1, 9), &[span]).is_err(), "{span:?}");
        }
        assert_eq!(resolve("slice", &Index::zeros(1), &s![..; -1]).unwrap().shape[0], 0);
    }

    #[test]
    fn dimensions_come_and_go() {
        let shape = Index::new(&[4, 5, 6]).unwrap();
        let Selected { shape, map } =
            resolve("slice", &shape, &s![NewAxis, -1, .., NewAxis, 1..; 2]).unwrap();
        assert_eq!(shape[..], [1, 5, 1, 3]);
        let axes = [
            Along::Pinned(3),
            Along::Dim { dim: 1, offset: 0, step: 1 },
            Along::Dim { dim: 3, offset: 1, step: 2 },
        ];
        assert_eq!(map.axes(), axes);
        assert!(resolve("slice", &shape, &s![.., .., .., .., 0]).is_err());
    }
}
