//! [`Expr`]: how a value is computed from its operands, which are recorded nodes or, in lowering, the numbers
//! of a graph's nodes; and the operations, without their operands. A plain number is an argument of kernels:
//! a recorded node has its value, a graph its [`Slot`], so programs that differ in numbers alone are one.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::slice;
use std::sync::Arc;

use partita_kernels::{BinaryOp, CompareOp, DType, Draw, FoldOp, Math1, Math2, Scalar, UnaryOp};

use crate::array::memory::step_numbers::StepNumbers;
use crate::array::record::map::Map;
use crate::index::{Distribution, Index, Region};
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
