//! [`Array`], the handle that users hold, and the [`Node`] behind it: a recorded or computed value. Here are
//! also recorded values without operands; every other method stands in the module of its subject.
//!
//! A node's value never changes. Assignment makes a new node and swaps it into the handle, so an expression
//! recorded earlier still sees the value it was recorded with.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::{DType, Draw, Scalar};

use crate::array::memory::storage::Storage;
use crate::array::record::expr::{DistKey, Expr, Map, NodeLayout, Operands, Pointwise, WholeOp};
use crate::error::{Error, Result};
use crate::index::{Distribution, Domain, Index, ProcessGrid, Region};
use crate::team::Team;

type NodeExpr = Expr<Arc<Node>, Scalar>;

impl NodeExpr {
    /// The error of the first operand that carries one.
    fn error(&self) -> Option<Error> {
        self.operands().find_map(|node| node.error())
    }

    /// The teams but `own` that hold operands, directly or further below.
    fn sources(&self, own: &Team) -> Vec<Team> {
        let mut sources = Vec::new();
        for node in self.operands() {
            let is_moved = matches!(self, Expr::Moved { .. });
            for team in is_moved.then_some(&node.team).into_iter().chain(&node.sources) {
                if team != own && !sources.contains(team) {
                    sources.push(team.clone());
                }
            }
        }
        sources
    }
}

#[derive(Debug)]
pub(crate) enum NodeState {
    Lazy { expr: NodeExpr, layout: NodeLayout<Arc<Node>> },
    Ready(Arc<Storage>),
    Failed(Error),
}

/// A value: shape, type, team, and either how to compute it or where it is.
#[derive(Debug)]
pub(crate) struct Node {
    pub shape: Index,
    pub dtype: DType,
    pub team: Team,
    /// The indices of the elements, if somebody gave them other ones than `0..n`.
    pub domain: Option<Arc<Domain>>,
    /// The other teams whose devices computing it may use.
    sources: Vec<Team>,
    state: Mutex<NodeState>,
    /// True if it was made to carry an error, so that recording with it takes no lock.
    is_failed: bool,
    depth: AtomicU32,
    /// True if another value was computed by way of it, so that doing so again repeats work.
    is_repeated: AtomicBool,
}

/// The longest chain of nodes, one computed from the other, from an expression on. It counts from when they
/// were recorded, so it may be too large, never too small.
fn depth_of(expr: &NodeExpr) -> u32 {
    match expr {
        Expr::Fill(_) | Expr::Constant(_) | Expr::Number(..) => 0,
        _ => expr.operands().map(|node| node.depth()).max().unwrap_or(0).saturating_add(1),
    }
}

/// The domain of a result. Views take the indices of their elements along; what is computed element by
/// element has those of the first operand that has any; elements that move or are replaced in an array, that
/// array's; all else counts from 0.
fn domain_of(expr: &NodeExpr, shape: &Index) -> Option<Arc<Domain>> {
    let mut operands = expr.operands().map(|node| node.domain.as_ref());
    let fits = |domain: &&Arc<Domain>| domain.shape() == *shape;
    match expr {
        Expr::View { base, map } => {
            return base.domain.as_ref()?.seen(shape, map.axes()).map(Arc::new);
        }
        Expr::Apply(..) => operands.flatten().find(fits),
        Expr::Moved { .. } => operands.next()?.filter(fits),
        Expr::Whole(op, _) => match op {
            WholeOp::Scan(_) | WholeOp::Sort(_) | WholeOp::Redistribute | WholeOp::Update(_) => {
                operands.next()?.filter(fits)
            }
            WholeOp::Take => operands.nth(1)?.filter(fits),
            WholeOp::Listed(_) | WholeOp::Butterflies(_) | WholeOp::Fourier(_) | WholeOp::Compress(_) => None,
        },
        Expr::Fill(_)
        | Expr::Constant(_)
        | Expr::Coord(_)
        | Expr::Number(..)
        | Expr::Reduce { .. }
        | Expr::Joined(_)
        | Expr::Reshaped { .. } => None,
    }
    .map(Arc::clone)
}

impl Node {
    /// A value to be computed; it carries the error of the first operand that has one.
    pub fn lazy(
        shape: Index,
        dtype: DType,
        team: &Team,
        expr: NodeExpr,
        layout: NodeLayout<Arc<Node>>,
    ) -> Arc<Node> {
        match expr.error() {
            None => {
                let (depth, sources) = (depth_of(&expr), expr.sources(team));
                let domain = domain_of(&expr, &shape);
                Node::new((shape, dtype, team, sources), NodeState::Lazy { expr, layout }, depth).over(domain)
            }
            Some(error) => Node::new((shape, dtype, team, Vec::new()), NodeState::Failed(error), 0),
        }
    }

    fn new(
        (shape, dtype, team, sources): (Index, DType, &Team, Vec<Team>),
        state: NodeState,
        depth: u32,
    ) -> Arc<Node> {
        let is_failed = matches!(state, NodeState::Failed(_));
        let (team, state, depth) = (team.clone(), Mutex::new(state), AtomicU32::new(depth));
        let is_repeated = AtomicBool::new(false);
        Arc::new(Node { shape, dtype, team, domain: None, sources, state, is_failed, depth, is_repeated })
    }

    /// The value, which was just made, under these indices.
    pub fn over(mut self: Arc<Node>, domain: Option<Arc<Domain>>) -> Arc<Node> {
        if let Some(node) = Arc::get_mut(&mut self) {
            node.domain = domain;
        }
        self
    }

    /// The elements of this value that a map says, as a value of this shape.
    pub fn view(self: &Arc<Node>, shape: Index, map: Map, layout: NodeLayout<Arc<Node>>) -> Arc<Node> {
        let expr = Expr::View { base: Arc::clone(self), map: Arc::new(map) };
        Node::lazy(shape, self.dtype, &self.team, expr, layout)
    }

    /// A view whose elements all stay where their cells are.
    pub fn view_in_place(self: &Arc<Node>, shape: Index, map: Map) -> Arc<Node> {
        self.view(shape, map, NodeLayout::ViewOf(Arc::clone(self), Arc::new(map)))
    }

    pub fn ready(dtype: DType, team: &Team, storage: Storage) -> Arc<Node> {
        Node::shared(dtype, team, Arc::new(storage))
    }

    /// A computed value whose memory others may hold too.
    pub fn shared(dtype: DType, team: &Team, storage: Arc<Storage>) -> Arc<Node> {
        let shape = storage.declared.shape();
        Node::new((shape, dtype, team, Vec::new()), NodeState::Ready(storage), 0)
    }

    /// A value that carries an error, of the shape of another one.
    pub fn failed(like: &Node, dtype: DType, error: Error) -> Arc<Node> {
        let of = (like.shape, dtype, &like.team, Vec::new());
        Node::new(of, NodeState::Failed(error), 0)
    }

    /// The longest chain of recorded operations that leads to it.
    pub fn depth(&self) -> u32 {
        self.depth.load(Ordering::Relaxed)
    }

    /// Another value is computed by way of it.
    pub fn mark_repeated(&self) {
        self.is_repeated.store(true, Ordering::Relaxed);
    }

    /// True if one was before.
    pub fn is_repeated(&self) -> bool {
        self.is_repeated.load(Ordering::Relaxed)
    }

    /// Counts the chain again, from its operands' counts.
    pub fn recount(&self) {
        let depth = match &*self.state() {
            NodeState::Lazy { expr, .. } => depth_of(expr),
            NodeState::Ready(_) | NodeState::Failed(_) => 0,
        };
        self.depth.store(depth, Ordering::Relaxed);
    }

    /// Whether both were recorded by the same operations of the same nodes. Compares as many as are `left`.
    pub fn is_recorded_as(self: &Arc<Node>, other: &Arc<Node>, left: &mut usize) -> bool {
        if Arc::ptr_eq(self, other) {
            return true;
        }
        let recorded = |node: &Node| match &*node.state() {
            NodeState::Lazy { expr, .. } => {
                let operands: Vec<Arc<Node>> = expr.operands().cloned().collect();
                Some((expr.map(|_| (), |&number| number), operands))
            }
            NodeState::Ready(_) | NodeState::Failed(_) => None,
        };
        let (Some((one, mine)), Some((two, theirs))) = (recorded(self), recorded(other)) else {
            return false;
        };
        *left = left.saturating_sub(1);
        let like = |node: &Node| (node.shape, node.dtype);
        *left > 0
            && one == two
            && like(self) == like(other)
            && mine.iter().zip(&theirs).all(|(mine, theirs)| mine.is_recorded_as(theirs, left))
    }

    pub fn state(&self) -> MutexGuard<'_, NodeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_ready(&self, storage: Arc<Storage>) {
        // Lowering gives every value a dimension.
        let storage = match self.rank() < storage.declared.rank() {
            true => Arc::new(storage.without_dimensions()),
            false => storage,
        };
        // The old state may hold the last reference to a long chain: drop it outside the lock.
        let old = std::mem::replace(&mut *self.state(), NodeState::Ready(storage));
        self.depth.store(0, Ordering::Relaxed);
        drop_iteratively(old);
    }

    /// A number of a `Loop`'s step that is not computed yet stays the number that it was.
    pub fn become_number(&self, number: Scalar) {
        if let NodeState::Lazy { expr: expr @ Expr::Number(..), .. } = &mut *self.state() {
            *expr = Expr::Fill(number);
        }
    }

    /// The plain number that it is everywhere, if it is one.
    pub fn as_number(&self) -> Option<Scalar> {
        match &*self.state() {
            NodeState::Lazy { expr: Expr::Fill(number), .. } => Some(*number),
            NodeState::Lazy { .. } | NodeState::Ready(_) | NodeState::Failed(_) => None,
        }
    }

    pub fn storage(&self) -> Option<Arc<Storage>> {
        match &*self.state() {
            NodeState::Ready(storage) => Some(Arc::clone(storage)),
            NodeState::Lazy { .. } | NodeState::Failed(_) => None,
        }
    }

    pub fn error(&self) -> Option<Error> {
        if !self.is_failed {
            return None;
        }
        match &*self.state() {
            NodeState::Failed(error) => Some(error.clone()),
            NodeState::Lazy { .. } | NodeState::Ready(_) => None,
        }
    }

    /// The base of a view that is not computed yet, through all views in between, and where its elements are
    /// in that.
    pub fn seen(self: &Arc<Node>) -> Option<(Arc<Node>, Map)> {
        let (mut node, mut map) = (Arc::clone(self), Map::identity(self.rank()));
        loop {
            let (base, view) = match &*node.state() {
                NodeState::Lazy { expr: Expr::View { base, map: view }, .. }
                    if !map.leaves(&self.shape, view, &node.shape, &base.shape) =>
                {
                    (Arc::clone(base), map.through(view))
                }
                NodeState::Lazy { .. } | NodeState::Ready(_) | NodeState::Failed(_) => break,
            };
            (node, map) = (base, view);
        }
        (!Arc::ptr_eq(&node, self)).then_some((node, map))
    }

    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The teams whose devices computing it may use.
    pub fn teams(&self) -> impl Iterator<Item = &Team> + Clone {
        std::iter::once(&self.team).chain(&self.sources)
    }

    /// The value as an operand beside `like`: itself if both are on one team, otherwise a value of the team
    /// of `like`, distributed as that if the shapes are equal.
    ///
    /// # Errors
    /// Teams over different ranks.
    pub fn beside(self: &Arc<Node>, operation: &'static str, like: &Node) -> Result<Arc<Node>> {
        if self.team == like.team {
            return Ok(Arc::clone(self));
        }
        if self.team.wire() != like.team.wire() {
            let given = format!("operands on {} and on {}", like.team, self.team);
            let remedy = "make both teams with Team::world, or one of members of the other";
            return Err(Error::invalid(operation, "operands on teams over the same ranks", given, remedy));
        }
        if let Some(number) = self.as_number() {
            let fill = Expr::Fill(number);
            return Ok(Node::lazy(self.shape, self.dtype, &like.team, fill, NodeLayout::Free));
        }
        let layout = if self.shape == like.shape { like.layout() } else { NodeLayout::Free };
        let expr = Expr::Moved { base: Arc::clone(self), plan: None };
        Ok(Node::lazy(self.shape, self.dtype, &like.team, expr, layout))
    }

    /// The layout to record in a node computed from this one point by point.
    pub fn layout(&self) -> NodeLayout<Arc<Node>> {
        match &*self.state() {
            NodeState::Lazy { layout, .. } => layout.clone(),
            NodeState::Ready(storage) => NodeLayout::known(Arc::clone(&storage.declared)),
            NodeState::Failed(_) => NodeLayout::Free,
        }
    }

    /// The distribution the value has or will have.
    pub fn distribution(&self) -> Result<Arc<Distribution>> {
        let base = |node: &Arc<Node>| (node.layout(), node.shape);
        distribution(self.team.size(), (self.layout(), self.shape), base)
    }
}

/// The distribution over so many parts of a value of some layout and shape; `base` gives those of a base.
pub(crate) fn distribution<N>(
    parts: usize,
    (mut layout, mut shape): (NodeLayout<N>, Index),
    base: impl Fn(&N) -> (NodeLayout<N>, Index),
) -> Result<Arc<Distribution>> {
    let mut views = Vec::new();
    let mut dist = loop {
        match layout {
            NodeLayout::Known(DistKey(dist)) => break dist,
            NodeLayout::Free => {
                let grid = ProcessGrid::balanced(parts, &shape)?;
                break Arc::new(Distribution::builder(&shape).parts(parts).grid(grid.shape()).build()?);
            }
            NodeLayout::ViewOf(node, map) => {
                let of = base(&node);
                views.push((shape, of.1, map));
                (layout, shape) = of;
            }
        }
    };
    for (shape, base, map) in views.into_iter().rev() {
        dist = match map.as_window(shape.rank()) {
            Some(_) if base == shape => dist,
            Some(start) => Arc::new(dist.restricted(&Region::from_shape(&shape)?.shift(&start)?)?),
            None => Arc::new(dist.viewed(&shape, map.axes())?),
        };
    }
    Ok(dist)
}

/// A chain of a million nodes must not overflow the stack when it is dropped.
impl Drop for Node {
    fn drop(&mut self) {
        if let Some(state) = self.take_operands() {
            drop_iteratively(state);
        }
    }
}

impl Node {
    /// Takes out of a node that nobody else can see what holds on to other nodes.
    fn take_operands(&mut self) -> Option<NodeState> {
        /// Holds on to nothing.
        const HOLLOW: NodeState = NodeState::Lazy { expr: Expr::Coord(0), layout: NodeLayout::Free };
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        match state {
            NodeState::Lazy {
                expr: Expr::Fill(_) | Expr::Constant(_) | Expr::Coord(_) | Expr::Number(..),
                layout: NodeLayout::Free | NodeLayout::Known(_),
            } => None,
            NodeState::Lazy { .. } => Some(std::mem::replace(state, HOLLOW)),
            NodeState::Ready(_) | NodeState::Failed(_) => None,
        }
    }
}

/// Drops an expression and the nodes that only it holds on to. A chain needs no memory for that, only what
/// branches does.
fn drop_iteratively(state: NodeState) {
    let (mut next, mut pending) = (Some(state), Vec::new());
    while let Some(state) = next.take().or_else(|| pending.pop()) {
        let NodeState::Lazy { expr, layout } = state else { continue };
        let mut release = |mut node: Arc<Node>| {
            let Some(state) = Arc::get_mut(&mut node).and_then(Node::take_operands) else { return };
            if let Some(waiting) = next.replace(state) {
                pending.push(waiting);
            }
        };
        match expr {
            Expr::Fill(_) | Expr::Constant(_) | Expr::Coord(_) | Expr::Number(..) => {}
            Expr::Apply(_, Operands::One(nodes)) => nodes.into_iter().for_each(&mut release),
            Expr::Apply(_, Operands::Two(nodes)) => nodes.into_iter().for_each(&mut release),
            Expr::Apply(_, Operands::Three(nodes)) => nodes.into_iter().for_each(&mut release),
            Expr::View { base, .. } => release(base),
            Expr::Reduce { operand, .. } => release(operand),
            Expr::Joined(portions) => portions.into_iter().for_each(|portion| release(portion.value)),
            Expr::Whole(_, operands) => operands.into_iter().for_each(&mut release),
            Expr::Reshaped { base } | Expr::Moved { base, .. } => release(base),
        }
        if let NodeLayout::ViewOf(node, _) = layout {
            release(node);
        }
    }
}

/// A distributed N-D array: shape, dtype, team, and a value that is computed when it is needed.
///
/// Operations record. Values are computed by reading, [`Array::eval`] and assignment, and when a chain of
/// recorded operations, each an operand of the next, grows longer than 8192: then about half of it is
/// computed and stored. An error of that is carried by the result of the operation. All ranks of a program
/// do this at the same operation, because it depends only on what was recorded.
///
/// A recorded value that several kernels need, or one kernel at several points, is computed for each of
/// them as long as that is cheap. If it would be computed more than twice, and storing it is cheaper, it
/// is computed once and stored. Results of reductions are always computed once.
///
/// Operands of an operation may be on different teams over the same ranks: the result is on the team of the
/// first, and a plan moves the elements of the others there; [`Array::explain`] shows it.
///
/// Clones are cheap and independent: assigning to one does not change the other.
#[derive(Clone)]
pub struct Array {
    pub(crate) node: Arc<Node>,
}

impl Array {
    pub(crate) fn of(node: Arc<Node>) -> Array {
        Array { node }
    }

    /// An array filled with one value, of the value's dtype. [`Scalar::from_f64`] truncates and saturates
    /// where the dtype does not hold the number; [`Scalar::try_from_f64`] gives `None` then.
    ///
    /// # Errors
    /// If the distribution has another number of parts than the team has members.
    #[doc = example!(
        "let ones = Array::full(&team, &dist, 1i32.into())?;"
        "assert_eq!((ones.dtype(), ones.to_vec::<i32>()?), (DType::I32, vec![1; 6]));"
    )]
    pub fn full(team: &Team, dist: &Distribution, value: Scalar) -> Result<Array> {
        check_parts("Array::full", team, dist)?;
        let layout = NodeLayout::known(dist.clone());
        Ok(Array::of(Node::lazy(dist.shape(), value.dtype, team, Expr::Fill(value.normalized()), layout)))
    }

    /// An array of zeros (false for bool).
    ///
    /// # Errors
    /// As [`Array::full`].
    #[doc = example!(
        "let zeros = Array::zeros(&team, &dist, DType::F32)?;"
        "assert_eq!(zeros.to_vec::<f32>()?, [0.0; 6]);"
    )]
    pub fn zeros(team: &Team, dist: &Distribution, dtype: DType) -> Result<Array> {
        Array::full(team, dist, Scalar::from_i64(dtype, 0))
    }

    /// An array whose elements are their own global coordinate in dimension `d`.
    ///
    /// # Errors
    /// As [`Array::full`]; no such dimension.
    #[doc = example!(
        "let column = Array::coordinate(&team, &dist, 1, DType::I64)?;"
        "assert_eq!(column.to_vec::<i64>()?, [0, 1, 2, 0, 1, 2]);"
    )]
    pub fn coordinate(team: &Team, dist: &Distribution, d: usize, dtype: DType) -> Result<Array> {
        check_parts("Array::coordinate", team, dist)?;
        if d >= dist.rank() {
            let expected = format!("a dimension below {}", dist.rank());
            return Err(Error::invalid("Array::coordinate", expected, d.to_string(), "count from 0"));
        }
        let layout = NodeLayout::known(dist.clone());
        Ok(Array::of(Node::lazy(dist.shape(), dtype, team, Expr::Coord(d), layout)))
    }

    /// The global shape.
    #[doc = example!("assert_eq!(u.shape()[..], [2, 3]);")]
    pub fn shape(&self) -> Index {
        self.node.shape
    }

    /// Number of dimensions.
    #[doc = example!("assert_eq!(u.rank(), 2);")]
    pub fn rank(&self) -> usize {
        self.node.rank()
    }

    /// Element type.
    #[doc = example!("assert_eq!((&u + 1).dtype(), DType::F64);")]
    pub fn dtype(&self) -> DType {
        self.node.dtype
    }

    /// The members that hold the parts.
    #[doc = example!("assert_eq!(u.team().size(), 2);")]
    pub fn team(&self) -> &Team {
        &self.node.team
    }

    /// The division of the elements among parts.
    ///
    /// # Errors
    /// The error the array carries.
    #[doc = example!("assert_eq!(u.distribution()?.owned(1), Region::new(&[0, 1], &[2, 3])?);")]
    pub fn distribution(&self) -> Result<Arc<Distribution>> {
        match self.node.error() {
            Some(error) => Err(error),
            None => self.node.distribution(),
        }
    }

    /// True if the value is in memory. If not, reading it computes.
    #[doc = example!("assert!(u.is_computed() && !u.exp().is_computed());")]
    pub fn is_computed(&self) -> bool {
        self.node.storage().is_some()
    }

    /// True if the value is in memory, or a view of one that is.
    #[doc = example!("assert!(u.slice(&s![.., 1]).is_in_memory() && !u.exp().is_in_memory());")]
    pub fn is_in_memory(&self) -> bool {
        self.is_computed() || self.node.seen().is_some_and(|(base, _)| base.storage().is_some())
    }
}

pub(crate) fn check_parts(operation: &'static str, team: &Team, dist: &Distribution) -> Result<()> {
    if dist.parts() == team.size() {
        return Ok(());
    }
    Err(Error::invalid(
        operation,
        format!("a distribution over {} parts, one per member of the team", team.size()),
        format!("{} parts", dist.parts()),
        "build the distribution with `.parts(team.size())` or a grid of that many",
    ))
}

/// Random numbers, one operation for each draw: by a key of two words of u32.
///
/// # Errors
/// A distribution that does not fit the team.
pub(crate) fn drawn(
    team: &Team,
    dist: &Distribution,
    draw: Draw,
    dtype: DType,
    [first, second]: [Arc<Node>; 2],
) -> Result<Array> {
    let cells = cells(team, dist)?.node;
    let layout = cells.layout();
    let expr = Expr::Apply(Pointwise::Draw(draw), Operands::Three([cells, first, second]));
    Ok(Array::recording(Node::lazy(dist.shape(), dtype, team, expr, layout)))
}

/// The number of each element in C order: u32 where all fit, otherwise u64.
fn cells(team: &Team, dist: &Distribution) -> Result<Array> {
    let shape = dist.shape();
    let dtype = match shape.iter().product::<i64>() <= 1 << 32 {
        true => DType::U32,
        false => DType::U64,
    };
    let Some(first) = (dist.rank() > 0).then_some(0) else { return Array::zeros(team, dist, dtype) };
    (1..dist.rank()).try_fold(Array::coordinate(team, dist, first, dtype)?, |number, d| {
        let extent = Scalar { dtype, bits: shape[d] as u64 };
        Ok(number * extent + Array::coordinate(team, dist, d, dtype)?)
    })
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array {} {} over {}", self.shape(), self.dtype(), self.node.team)
    }
}
