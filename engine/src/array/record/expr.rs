//! [`Expr`]: how a value is computed from its operands, which are recorded nodes or, in lowering, the numbers
//! of a graph's nodes; and the operations, without their operands. A plain number is an argument of kernels:
//! a recorded node has its value, a graph its [`Slot`], so programs that differ in numbers alone are one.
//!
//! [`Map`]: from a reader's coordinates to the coordinates of a node. Views are maps; lowering composes
//! them. Below it: the numbers of elements in C order.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::slice;
use std::sync::Arc;

use partita_kernels::{BinaryOp, CompareOp, DType, Draw, FoldOp, MAX_RANK, Math1, Math2, Scalar, UnaryOp};

use crate::array::memory::step_numbers::StepNumbers;
use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Index, Region};
use crate::plan::Plan;
/// The expression of a value. Operands of `Apply` broadcast: dimensions align at the end, and an
/// extent of 1 stretches.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Expr<N, V> {
    /// One number everywhere.
    Fill(V),
    /// One value everywhere that kernels contain: what they do depends on it.
    Constant(Scalar),
    /// The element's own global coordinate in a dimension.
    Coord(usize),
    /// A number of the current step of a `Loop`.
    Number(Arc<StepNumbers>, usize),
    /// One result per point.
    Apply(Pointwise, Operands<N>),
    /// The base's elements where the map says. Beyond the edge of a periodic dimension it wraps.
    View { base: N, map: Arc<Map> },
    /// Folds the marked dimensions away; they stay with extent 1.
    Reduce { operand: N, reduction: Reduction, axes: Vec<usize> },
    /// Boxes that share no element and together are all of it.
    Joined(Vec<Portion<N>>),
    /// The base's elements in C order, in its memory: every part holds them in the order in which it holds
    /// the base's.
    Reshaped { base: N },
    /// The elements of an array of another team; or what a plan makes of those of any, zero where no move
    /// comes.
    Moved { base: N, plan: Option<Arc<Plan>> },
    /// An operation with steps of its own.
    Whole(WholeOp, Vec<N>),
}

/// An operation on whole arrays, which never shares a kernel with others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum WholeOp {
    /// Folds of all elements up to each along one dimension.
    Scan(AxisScan),
    /// Lines along one dimension in order.
    Sort(AxisSort),
    /// The elements in C order.
    Listed(Which),
    /// The elements on another distribution.
    Redistribute,
    /// A pass of a Fourier transform over the first operand, with the factors that are the second.
    Butterflies(Butterflies),
    /// All passes of Fourier transforms over the first operand, with the factors of each that are the others.
    Fourier(Arc<FourierLines>),
    /// The first operand, but for a place where its elements are those of the second.
    Update(UpdatedCells),
    /// The first operand's elements, a line, at the indices that are the second's.
    Take,
    /// The first operand's elements, a line, where the second, a mask, is true. The third counts the kept
    /// ones up to each; those of part `p` are the result's from the `p`-th number on to the next.
    Compress(Arc<Vec<i64>>),
}

/// Elements that an update replaces.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum UpdatedCells {
    Window(Box<StridedWindow>),
    /// Those with these numbers in C order; of a number that comes several times the last counts.
    At(Arc<Vec<i64>>),
}

/// A window, or every so many-th element of it along each dimension, from its first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StridedWindow {
    pub region: Region,
    pub steps: Index,
}

impl StridedWindow {
    /// True if it has no gaps.
    pub fn is_box(&self) -> bool {
        self.steps.iter().all(|&step| step == 1)
    }
}

/// The place of a number among those of a graph.
pub(crate) type Slot = u32;

/// A pass of a Fourier transform, of arrays of pairs. Dimension `from` of the operand, of `radix` cells, is
/// transformed and moved behind the `span` dimensions that follow. Then all but the first of its cells are
/// multiplied by the factors, if there are any: pairs by a dimension of one cell, the cell from the second
/// on, and those dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Butterflies {
    pub radix: usize,
    pub from: usize,
    pub span: usize,
    /// With conjugated roots and factors.
    pub is_inverse: bool,
    /// The factor of the results, if any.
    pub scale: Option<Scalar>,
}

/// Fourier transforms along a dimension that is divided among no parts, of arrays of pairs, in passes of
/// these radices. Each but the last has factors.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FourierLines {
    pub axis: usize,
    pub radices: Vec<usize>,
    pub is_inverse: bool,
    /// The factor of the results, if any.
    pub scale: Option<Scalar>,
}

/// A box of a value: the elements from `start` on are another value's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Portion<N> {
    pub start: Index,
    pub value: N,
}

/// One to three operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Operands<N> {
    One([N; 1]),
    Two([N; 2]),
    Three([N; 3]),
}

impl<N> Operands<N> {
    pub fn as_slice(&self) -> &[N] {
        match self {
            Operands::One(nodes) => nodes,
            Operands::Two(nodes) => nodes,
            Operands::Three(nodes) => nodes,
        }
    }

    pub fn map<M>(&self, name: impl FnMut(&N) -> M) -> Operands<M> {
        match self {
            Operands::One(nodes) => Operands::One(nodes.each_ref().map(name)),
            Operands::Two(nodes) => Operands::Two(nodes.each_ref().map(name)),
            Operands::Three(nodes) => Operands::Three(nodes.each_ref().map(name)),
        }
    }
}

impl<N, V> Expr<N, V> {
    pub fn operands(&self) -> impl Iterator<Item = &N> {
        let (nodes, portions): (&[N], &[Portion<N>]) = match self {
            Expr::Fill(_) | Expr::Constant(_) | Expr::Coord(_) | Expr::Number(..) => (&[], &[]),
            Expr::Apply(_, operands) => (operands.as_slice(), &[]),
            Expr::View { base: node, .. }
            | Expr::Reduce { operand: node, .. }
            | Expr::Reshaped { base: node }
            | Expr::Moved { base: node, .. } => (slice::from_ref(node), &[]),
            Expr::Whole(_, operands) => (operands, &[]),
            Expr::Joined(portions) => (&[], portions),
        };
        nodes.iter().chain(portions.iter().map(|portion| &portion.value))
    }

    /// The same over other names of the operands and of the number.
    pub fn map<M, W>(&self, mut name: impl FnMut(&N) -> M, number: impl FnOnce(&V) -> W) -> Expr<M, W> {
        match self {
            Expr::Fill(value) => Expr::Fill(number(value)),
            Expr::Constant(value) => Expr::Constant(*value),
            Expr::Coord(dim) => Expr::Coord(*dim),
            Expr::Number(numbers, which) => Expr::Number(Arc::clone(numbers), *which),
            Expr::Apply(op, operands) => Expr::Apply(*op, operands.map(name)),
            Expr::View { base, map } => Expr::View { base: name(base), map: Arc::clone(map) },
            Expr::Reduce { operand, reduction, axes } => {
                Expr::Reduce { operand: name(operand), reduction: *reduction, axes: axes.clone() }
            }
            Expr::Joined(portions) => {
                let portion = |Portion { start, value }: &Portion<N>| (*start, name(value));
                let portions = portions.iter().map(portion);
                Expr::Joined(portions.map(|(start, value)| Portion { start, value }).collect())
            }
            Expr::Reshaped { base } => Expr::Reshaped { base: name(base) },
            Expr::Moved { base, plan } => Expr::Moved { base: name(base), plan: plan.clone() },
            Expr::Whole(op, operands) => Expr::Whole(op.clone(), operands.iter().map(name).collect()),
        }
    }

    /// The list of positions that is a part of it.
    pub fn positions(&self) -> Option<&Arc<Vec<i64>>> {
        match self {
            Expr::Whole(
                WholeOp::Listed(Which::At(positions))
                | WholeOp::Update(UpdatedCells::At(positions))
                | WholeOp::Compress(positions),
                _,
            ) => Some(positions),
            _ => None,
        }
    }

    /// About how many instructions it takes per element, without its operands.
    pub fn weight(&self) -> u32 {
        match self {
            Expr::Apply(Pointwise::Math1(_) | Pointwise::Math2(_), _) => 30,
            Expr::Apply(Pointwise::Draw(_), _) => 200,
            Expr::Apply(..) | Expr::Coord(_) => 1,
            Expr::Fill(_) | Expr::Constant(_) | Expr::Number(..) => 0,
            Expr::View { .. } | Expr::Reduce { .. } => 0,
            Expr::Whole(WholeOp::Butterflies(pass), _) => 4 * pass.radix as u32,
            Expr::Whole(WholeOp::Fourier(lines), _) => 4 * lines.radices.iter().sum::<usize>() as u32,
            Expr::Whole(..) | Expr::Joined(_) | Expr::Reshaped { .. } | Expr::Moved { .. } => 0,
        }
    }
}

/// The division of a value that is not computed yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum NodeLayout<N> {
    /// Any will do: constants.
    Free,
    /// This one.
    Known(DistKey),
    /// That of another node, as seen through a map: every element where its cell is.
    ViewOf(N, Arc<Map>),
}

impl<N> NodeLayout<N> {
    /// The node that it is seen of.
    pub fn base(&self) -> Option<&N> {
        match self {
            NodeLayout::Free | NodeLayout::Known(_) => None,
            NodeLayout::ViewOf(node, _) => Some(node),
        }
    }

    pub fn known(dist: impl Into<Arc<Distribution>>) -> NodeLayout<N> {
        NodeLayout::Known(DistKey(dist.into()))
    }
}

/// A distribution in a key. Equal ones have the same kinds of maps, too: a cyclic map of one block per part
/// divides like blocks, but its memory has no halos. The hash says nothing: few graphs differ in
/// distributions alone.
#[derive(Clone, Debug)]
pub(crate) struct DistKey(pub Arc<Distribution>);

impl Deref for DistKey {
    type Target = Arc<Distribution>;
    fn deref(&self) -> &Arc<Distribution> {
        &self.0
    }
}

impl PartialEq for DistKey {
    fn eq(&self, DistKey(other): &DistKey) -> bool {
        let kind = |dist: &Distribution, d: usize| std::mem::discriminant(dist.map(d));
        let same_kinds = || (0..self.rank()).all(|d| kind(self, d) == kind(other, d));
        Arc::ptr_eq(self, other) || (**self == *other && same_kinds())
    }
}

impl Eq for DistKey {}

impl Hash for DistKey {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// An operation on one element of each operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pointwise {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Select,
    Cast,
    Bitcast,
    Math1(Math1),
    Math2(Math2),
    /// Of the cell's number and a key of two words.
    Draw(Draw),
}

/// The result of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reduction {
    Fold(FoldOp),
    Arg { largest: bool },
}

/// The operation of a scan, and its axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct AxisScan {
    pub axis: usize,
    pub op: FoldOp,
    /// Of the elements before each one, without it.
    pub exclusive: bool,
}

/// The axis, order and result of a sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct AxisSort {
    pub axis: usize,
    pub descending: bool,
    /// The positions of the elements before, not the elements.
    pub positions: bool,
}

/// Elements by their number in C order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Which {
    All,
    At(Arc<Vec<i64>>),
}

impl Reduction {
    /// True if it may be computed in one pass with others. The position that an argument fold carries along
    /// makes it so much dearer than what it would share, the loads, that it stays alone.
    pub fn shares_a_pass(self) -> bool {
        match self {
            Reduction::Fold(_) => true,
            Reduction::Arg { .. } => false,
        }
    }

    /// The result of a reduction over nothing.
    pub fn neutral(self, dtype: DType) -> Scalar {
        match self {
            Reduction::Fold(op) => op.neutral(dtype),
            Reduction::Arg { .. } => Scalar::from_i64(dtype, 0),
        }
    }
}

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

/// A shape with other dimensions in place of one.
pub(crate) fn spliced(shape: &[i64], axis: usize, by: &[i64]) -> Vec<i64> {
    let mut shape = shape.to_vec();
    shape.splice(axis..=axis, by.iter().copied());
    shape
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
