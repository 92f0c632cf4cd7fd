//! Views: slices, transpositions, flips, diagonals, broadcasts. Recorded as maps; elements are read in
//! place. Spans are how a view is written ([`crate::s!`]). And updates: arrays of which a view, or elements
//! at positions, are those of a value.

use std::ops::{Range, RangeFrom, RangeFull, RangeTo};
use std::sync::Arc;

use partita_kernels::MAX_RANK;

use crate::array::Stride;
use crate::array::record::expr::{
    Expr, Map, NodeLayout, StridedWindow, UpdatedCells, WholeOp, check_count, check_positions,
};
use crate::array::record::node::{Array, Node};
use crate::array::record::ops::{broadcast, stretch};
use crate::device::collect;
use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Domain, Index, Region};
impl Array {
    /// The view of shape `shape` whose elements are this array's at the cells that `map` says, all of them
    /// inside. Every element stays where its cell is.
    pub(crate) fn seen(&self, shape: Index, map: Map) -> Array {
        Array::of(self.node.view_in_place(shape, map))
    }

    /// A view: the elements that spans name, recorded, not copied. `u.slice(&s![1..-1, ..; 2])`; see
    /// [`crate::s!`]. What computes with it reads the elements where they are.
    #[doc = example!(
        "assert_eq!(u.slice(&s![1, ..;2]).to_vec::<f64>()?, [3.0, 5.0]);"
        "let n = 2usize;"
        "assert_eq!(u.slice(&s![0..n, -1]).to_vec::<f64>()?, [2.0, 5.0]);"
    )]
    pub fn slice(&self, spans: &[Span]) -> Array {
        self.spanned("slice", spans)
    }

    fn spanned(&self, operation: &'static str, spans: &[Span]) -> Array {
        let selected = resolve(operation, &self.shape(), spans);
        self.or_failed(selected.map(|Selected { shape, map }| self.seen(shape, map)))
    }

    /// The array moved: element `i` of the result is element `i + offsets` of this one, wrapping
    /// around. Dimensions with a nonzero offset must be periodic.
    #[doc = example!(
        "let round = Distribution::builder(&[2, 3]).grid(&[1, 2]).periodic(&[true, true]).build()?;"
        "let u = u.redistribute(&round);"
        "assert_eq!(u.shift(&[1, 0]).to_vec::<f64>()?, [3.0, 4.0, 5.0, 0.0, 1.0, 2.0]);"
    )]
    pub fn shift(&self, offsets: &[i64]) -> Array {
        self.or_failed(self.try_shift(offsets))
    }

    fn try_shift(&self, offsets: &[i64]) -> Result<Array> {
        let offsets = Index::new(offsets)?;
        if offsets.rank() != self.rank() {
            return Err(Error::invalid(
                "shift",
                format!("{} offsets, one per dimension", self.rank()),
                offsets.to_string(),
                "use 0 for dimensions that stay",
            ));
        }
        let dist = self.distribution()?;
        for d in 0..self.rank() {
            if offsets[d] != 0 && !dist.periodic(d) {
                return Err(Error::invalid(
                    "shift",
                    "offset 0 in dimensions that are not periodic",
                    format!("{} in dimension {d}", offsets[d]),
                    "make the dimension periodic, or use slices",
                ));
            }
        }
        self.turned_round(&offsets)
    }

    /// Element `i` is element `i + offsets`, going round the ends.
    pub(crate) fn turned_round(&self, offsets: &Index) -> Result<Array> {
        if self.shape().contains(&0) {
            return Ok(self.clone());
        }
        let wrapped = Index::from_fn(self.rank(), |d| {
            let extent = self.shape()[d];
            let forward = offsets[d].rem_euclid(extent);
            if 2 * forward > extent { forward - extent } else { forward }
        });
        Ok(Array::of(self.node.view(self.shape(), Map::window(&wrapped), self.node.layout())))
    }

    /// The dimensions in another order: `axes[d]` becomes dimension d. Recorded; every element stays on its
    /// part, of which the grid is transposed too.
    #[doc = example!("assert_eq!(u.transpose(&[1, 0]).to_vec::<f64>()?, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);")]
    pub fn transpose(&self, axes: &[usize]) -> Array {
        self.or_failed(self.try_transpose(axes))
    }

    fn try_transpose(&self, axes: &[usize]) -> Result<Array> {
        let place = |d: usize| axes.iter().position(|&axis| axis == d);
        let places: Option<Vec<usize>> = (0..self.rank()).map(place).collect();
        let Some(places) = places.filter(|places| places.len() == axes.len()) else {
            let expected = format!("each of {} dimensions once", self.rank());
            return Err(Error::invalid("transpose", expected, format!("{axes:?}"), "count from 0"));
        };
        let shape = Index::from_fn(self.rank(), |d| self.shape()[axes[d]]);
        Ok(self.seen(shape, Map::from_fn(self.rank(), |d| Along::same(places[d]))))
    }

    /// The elements in reverse order along a dimension. Recorded; along blocks every element stays on its
    /// part, and the last one comes first.
    #[doc = example!("assert_eq!(u.flip(1).to_vec::<f64>()?, [2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);")]
    pub fn flip(&self, axis: usize) -> Array {
        if axis >= self.rank() {
            let expected = format!("a dimension below {}", self.rank());
            return self.failed(Error::invalid("flip", expected, axis.to_string(), "count from 0"));
        }
        let spans: Vec<Span> = (0..=axis)
            .map(|d| Span::Range { start: None, stop: None, step: if d == axis { -1 } else { 1 } })
            .collect();
        self.slice(&spans)
    }

    /// The elements whose coordinate in dimension 1 is `offset` larger than that in dimension 0, as the last
    /// dimension of the result; the other dimensions come before it. Recorded.
    #[doc = example!("assert_eq!(u.diagonal(1).to_vec::<f64>()?, [1.0, 5.0]);")]
    pub fn diagonal(&self, offset: i64) -> Array {
        self.or_failed(self.try_diagonal(offset))
    }

    fn try_diagonal(&self, offset: i64) -> Result<Array> {
        if self.rank() < 2 {
            let given = format!("shape {}", self.shape());
            return Err(Error::invalid("diagonal", "two dimensions or more", given, "reshape it first"));
        }
        let (rank, rows, columns) = (self.rank(), self.shape()[0], self.shape()[1]);
        let (first, second) = (offset.saturating_neg().clamp(0, rows), offset.clamp(0, columns));
        let count = (rows - first).min(columns - second);
        let shape = Index::from_fn(rank - 1, |d| if d + 2 == rank { count } else { self.shape()[d + 2] });
        let map = Map::from_fn(rank, |d| match d {
            0 => Along::Dim { dim: rank - 2, offset: first, step: 1 },
            1 => Along::Dim { dim: rank - 2, offset: second, step: 1 },
            d => Along::same(d - 2),
        });
        Ok(self.seen(shape, map))
    }

    /// The array seen with a larger shape: dimensions of extent 1 stretch, missing ones are added in front.
    /// Recorded; where its elements are depends on what they are used with.
    #[doc = example!("assert_eq!(u.slice(&s![0, ..]).broadcast_to(&[4, 3]).sum(&[]).item::<f64>()?, 12.0);")]
    pub fn broadcast_to(&self, shape: &[i64]) -> Array {
        self.or_failed(
            Index::new(shape).map_err(Error::from).and_then(|s| self.stretched("broadcast_to", &s)),
        )
    }

    /// As [`Array::broadcast_to`], for an operation that needs it.
    pub(crate) fn stretched(&self, operation: &'static str, shape: &Index) -> Result<Array> {
        if self.shape() == *shape {
            return Ok(self.clone());
        }
        if broadcast(operation, &self.shape(), shape)? != *shape {
            return Err(Error::invalid(
                operation,
                format!("a value that broadcasts to {shape}"),
                self.shape().to_string(),
                "take a window of the right extents",
            ));
        }
        let map = Map::identity(shape.rank()).broadcast(shape, &self.shape());
        Ok(Array::of(self.node.view(*shape, map, NodeLayout::Free)))
    }

    /// The elements that `axes`, one per dimension of the result, select from the source, of which every
    /// dimension is named once. Recorded.
    ///
    /// Carries an error for dimensions not named once, elements outside the source, and too many dimensions.
    pub fn rearranged(&self, axes: &[Stride]) -> Array {
        self.or_failed(self.try_rearranged(axes))
    }

    pub(super) fn try_rearranged(&self, axes: &[Stride]) -> Result<Array> {
        check(&self.shape(), axes)?;
        let shape = Index::new(&axes.iter().map(|axis| axis.count()).collect::<Vec<i64>>())?;
        let mut along = [Along::Pinned(0); MAX_RANK];
        for (r, axis) in axes.iter().enumerate() {
            match *axis {
                Stride::Of { dim, start, step: 0, .. } => along[dim] = Along::Pinned(start),
                Stride::Of { dim, start, step, .. } => {
                    along[dim] = Along::Dim { dim: r, offset: start, step };
                }
                Stride::New { .. } => {}
            }
        }
        let view = self.seen(shape, Map::from_fn(self.rank(), |d| along[d]));
        let stretches = |axis: &Stride| match axis {
            Stride::Of { step, count, .. } => *step == 0 && *count > 1,
            Stride::New { count } => *count > 1,
        };
        Ok(if axes.iter().any(stretches) { view.anywhere() } else { view })
    }

    /// The view, computed wherever what it is used with is.
    fn anywhere(self) -> Array {
        Array::of(self.node.view(self.shape(), Map::identity(self.rank()), NodeLayout::Free))
    }

    /// The array without the dimensions `axes`, which have extent 1. Recorded.
    ///
    /// Carries an error for other extents.
    #[doc = example!(
        "assert_eq!(u.sum(&[0]).squeeze(&[0]).shape()[..], [3]);"
        "assert_eq!(u.sum(&[]).squeeze(&[0, 1]).rank(), 0);"
    )]
    pub fn squeeze(&self, axes: &[usize]) -> Array {
        if axes.iter().any(|&d| d >= self.rank() || self.shape()[d] != 1) {
            let given = format!("dimensions {axes:?} of shape {}", self.shape());
            let error = Error::invalid("squeeze", "dimensions of extent 1", given, "drop other dimensions");
            return self.failed(error);
        }
        let spans: Vec<Span> =
            (0..self.rank()).map(|d| if axes.contains(&d) { Span::At(0) } else { whole() }).collect();
        self.spanned("squeeze", &spans)
    }

    /// The array with a dimension of extent 1 inserted before each of the dimensions `before`, several where
    /// one is named several times; the rank stands for the end. Recorded.
    ///
    /// Carries an error for dimensions beyond the rank, and for too many dimensions.
    #[doc = example!("assert_eq!(u.unsqueeze(&[1]).shape()[..], [2, 1, 3]);")]
    pub fn unsqueeze(&self, before: &[usize]) -> Array {
        if before.iter().any(|&d| d > self.rank()) {
            let (expected, given) = (format!("dimensions of at most {}", self.rank()), format!("{before:?}"));
            let remedy = "use the rank to add one at the end";
            return self.failed(Error::invalid("unsqueeze", expected, given, remedy));
        }
        let new = |d: usize| std::iter::repeat_n(Span::New, before.iter().filter(|&&b| b == d).count());
        let old = |d: usize| (d < self.rank()).then(whole);
        let spans: Vec<Span> = (0..=self.rank()).flat_map(|d| new(d).chain(old(d))).collect();
        self.spanned("unsqueeze", &spans)
    }

    /// The region that spans name in this array.
    ///
    /// # Errors
    /// Spans outside the shape; steps, dropped and new dimensions.
    #[doc = example!("assert_eq!(u.region(&s![.., 1..])?, Region::new(&[0, 1], &[2, 3])?);")]
    pub fn region(&self, spans: &[Span]) -> Result<Region> {
        self.recorded()?;
        let Selected { shape, map } = resolve("region", &self.shape(), spans)?;
        let Some(start) = map.as_window(shape.rank()) else {
            let given = format!("{spans:?}");
            return Err(Error::invalid("region", "spans in steps of 1", given, "name a window"));
        };
        Ok(Region::from_shape(&shape)?.shift(&start)?)
    }
}

fn whole() -> Span {
    Span::Range { start: None, stop: None, step: 1 }
}

/// Every dimension of the source once, and nothing outside of it.
fn check(shape: &Index, axes: &[Stride]) -> Result<()> {
    let mut named = vec![0; shape.rank()];
    let inside = axes.iter().all(|axis| match *axis {
        Stride::New { count } => count >= 0,
        Stride::Of { dim, start, step, count } => {
            let Some(extent) = shape.get(dim) else { return false };
            named[dim] += 1;
            let last =
                step.checked_mul(count.saturating_sub(1).max(0)).and_then(|reach| start.checked_add(reach));
            let held = |at: i64| (0..*extent).contains(&at);
            count == 0 || (count > 0 && held(start) && last.is_some_and(held))
        }
    });
    if inside && named.iter().all(|&times| times == 1) && axes.len() <= MAX_RANK {
        return Ok(());
    }
    let expected =
        format!("at most {MAX_RANK} dimensions that name each one of shape {shape} once, inside of it");
    Err(Error::invalid("rearrange", expected, format!("{axes:?}"), "check starts, steps and counts"))
}

/// The selection of one dimension, or a new one. Coordinates below 0 count from the dimension's end, as in
/// NumPy; unlike in NumPy, ends outside the dimension are an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Span {
    /// Every `step`-th element from `start` on, before `stop`; by default all of them. A negative step goes
    /// down, by default from the last element.
    Range {
        /// The first one.
        start: Option<i64>,
        /// The end; itself not taken.
        stop: Option<i64>,
        /// The distance of neighbours; not 0.
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

/// An argument of [`crate::s!`]: `..`, `a..b`, `a..`, `..b`, a number, `NewAxis`. Numbers are i32, i64 or
/// usize.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name elements of a dimension",
    label = "expected `..`, `a..b`, `a..`, `..b`, a number (i32, i64 or usize) or `NewAxis`",
    note = "write `a..b + 1` for `a..=b`; numbers below 0 count from the end"
)]
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
    NewAxis: _ => Span::New;
}

macro_rules! into_span_of {
    ($($type:ty, $at:ident => $coordinate:expr;)*) => {$(
        into_span! {
            Range<$type>: range => {
                let coordinate = |$at: $type| Some($coordinate);
                Span::Range { start: coordinate(range.start), stop: coordinate(range.end), step: 1 }
            };
            RangeFrom<$type>: range => {
                let $at = range.start;
                Span::Range { start: Some($coordinate), stop: None, step: 1 }
            };
            RangeTo<$type>: range => {
                let $at = range.end;
                Span::Range { start: None, stop: Some($coordinate), step: 1 }
            };
            $type: $at => Span::At($coordinate);
        }
    )*};
}

into_span_of! {
    i64, at => at;
    i32, at => i64::from(at);
    // Larger than any extent, and refused like one.
    usize, at => i64::try_from(at).unwrap_or(i64::MAX);
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

/// The selection of spans in an array: the view's shape, and which element each of its elements is.
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

/// An update and its operands.
pub(crate) struct RecordedUpdate {
    pub base: Arc<Node>,
    pub value: Arc<Node>,
    pub node: Arc<Node>,
    /// True if nothing of the base is left.
    pub covers: bool,
}

impl RecordedUpdate {
    fn new(base: &Arc<Node>, value: &Arc<Node>, cells: UpdatedCells) -> Result<RecordedUpdate> {
        let covers = match &cells {
            UpdatedCells::Window(window) => {
                window.region.volume()? == Region::from_shape(&base.shape)?.volume()?
            }
            UpdatedCells::At(_) => false,
        };
        let operands = vec![Arc::clone(base), Arc::clone(value)];
        let (expr, layout) = (Expr::Whole(WholeOp::Update(cells), operands), base.layout());
        let node = Node::lazy(base.shape, base.dtype, &base.team, expr, layout);
        Ok(RecordedUpdate { base: Arc::clone(base), value: Arc::clone(value), node, covers })
    }
}

impl Array {
    /// The array with the elements of `value` in a view, to whose shape the value broadcasts; the array
    /// itself stays as it is. [`Array::assign`] is the same for the array itself. Recorded.
    ///
    /// An array that carries an error for spans outside the shape, and for shapes or dtypes that do not fit.
    #[doc = example!(
        "let v = u.updated(&s![.., 0], &(u.slice(&s![.., 2]) * 10));"
        "assert_eq!(v.to_vec::<f64>()?, [20.0, 1.0, 2.0, 50.0, 4.0, 5.0]);"
    )]
    pub fn updated(&self, spans: &[Span], value: &Array) -> Array {
        let update = self.window_update("updated", spans, value);
        self.or_failed(update.map(|update| Array::recording(update.node)))
    }

    /// The array with the elements of `value`, a line, at as many `positions`; [`Array::scatter`] is the same
    /// for the array itself. Recorded.
    ///
    /// An array that carries an error for positions outside the shape, and a value of another shape or dtype.
    #[doc = example!(
        "let v = u.updated_at(&[0, 5], &u.slice(&s![0, 1..]));"
        "assert_eq!(v.to_vec::<f64>()?, [1.0, 1.0, 2.0, 3.0, 4.0, 2.0]);"
    )]
    pub fn updated_at(&self, positions: &[i64], value: &Array) -> Array {
        let update = self.scattered_update("updated_at", positions, value);
        self.or_failed(update.map(|update| Array::recording(update.node)))
    }

    /// The update of what spans selected. The value takes the array's dimensions, turned round where the view
    /// goes down.
    pub(crate) fn window_update(
        &self,
        operation: &'static str,
        spans: &[Span],
        value: &Array,
    ) -> Result<RecordedUpdate> {
        self.recorded()?;
        value.recorded()?;
        let Selected { shape, map } = &resolve(operation, &self.shape(), spans)?;
        if value.dtype() != self.dtype() {
            return Err(Error::dtypes(operation, self.dtype(), value.dtype()));
        }
        // Where nothing stretches, dimensions of extent 1 may be more or fewer.
        let is_over_domain = self.is_over_domain() || value.is_over_domain();
        let count = |shape: &Index| Domain::of_shape(shape).num_indices();
        if is_over_domain && count(&value.shape()) != count(shape) {
            stretch(operation, &self.seen(*shape, *map).node, &value.node)?;
        }
        let value = value.stretched(operation, shape)?;
        let value = match value.team() == self.team() {
            true => value,
            false => Array::of(value.node.beside(operation, &self.seen(*shape, *map).node)?),
        };
        let map = map.in_memory();
        let (axes, rank) = (map.axes(), map.axes().len());
        let (mut steps, mut extents) = (Index::filled(rank, 1), Index::filled(rank, 1));
        let mut back = Map::from_fn(shape.rank(), |_| Along::Pinned(0));
        for (d, along) in axes.iter().enumerate() {
            if let Along::Dim { dim, step, .. } = *along {
                (steps[d], extents[d]) = (step.abs(), shape[dim]);
                let (offset, step) = if step < 0 { (shape[dim] - 1, -1) } else { (0, 1) };
                back = back.with(dim, Along::Dim { dim: d, offset, step });
            }
        }
        let span = |d: usize| match axes[d] {
            Along::Dim { offset, .. } if extents[d] == 0 => (offset, offset),
            along => along.span(0, extents[d]),
        };
        let region = Region::from_fn(rank, span);
        let turned = back.as_window(rank).is_none() || shape.rank() != rank;
        let value = if turned { value.seen(extents, back) } else { value };
        RecordedUpdate::new(
            &self.node,
            &value.node,
            UpdatedCells::Window(Box::new(StridedWindow { region, steps })),
        )
    }

    /// The update of the elements at positions by those of a line.
    pub(crate) fn scattered_update(
        &self,
        operation: &'static str,
        positions: &[i64],
        value: &Array,
    ) -> Result<RecordedUpdate> {
        self.recorded()?;
        value.recorded()?;
        check_positions(operation, &self.shape(), positions)?;
        if value.dtype() != self.dtype() {
            return Err(Error::dtypes(operation, self.dtype(), value.dtype()));
        }
        if value.rank() != 1 {
            let given = format!("shape {}", value.shape());
            return Err(Error::invalid(operation, "a line of values", given, "reshape it to one dimension"));
        }
        check_count(operation, value.shape()[0], positions)?;
        let value = Array::of(value.node.beside(operation, &self.node)?);
        let (base, value) = (self.in_blocks()?, value.in_blocks()?);
        let positions = Arc::new(collect(operation, positions.iter().copied())?);
        RecordedUpdate::new(&base.node, &value.node, UpdatedCells::At(positions))
    }

    /// The array, or one of the same elements cut into blocks.
    pub(crate) fn in_blocks(&self) -> Result<Array> {
        Ok(match self.distribution()?.is_block() {
            true => self.clone(),
            false => self.redistribute(&Distribution::default_partition(self.team().size(), &self.shape())?),
        })
    }
}
