//! Reductions: which ones are computed together, and their kernels. One fused map-reduce kernel per part
//! folds a group of them; another one combines the parts' results, in ascending order of parts.
//!
//! Every element counts once, at its owner: among the coordinates that a part lists, copies are replaced by
//! what changes no result.

use std::sync::Arc;

use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, UnaryOp, Value, Verified, simplify,
};
use rustc_hash::FxHashSet;

use crate::array::lower::body::KernelBody;
use crate::array::lower::graph::NodeId;
use crate::array::lower::lowerer::{Lowerer, NotLowered};
use crate::array::lower::steps::list::{Reduce, ReduceMember, Step};
use crate::array::memory::index_lists::IndexList;
use crate::array::record::expr::{Expr, Reduction};
use crate::error::Result;
use crate::index::{DimMap, Distribution, Index};

/// One reduction that is not computed yet.
#[derive(Clone)]
struct PendingReduction {
    operand: NodeId,
    member: ReduceMember,
}

/// Reductions that one pass over their operands computes.
struct ReductionGroup {
    /// Of the operands.
    dist: Arc<Distribution>,
    /// What is folded away, ascending.
    axes: Vec<usize>,
    members: Vec<PendingReduction>,
}

impl Lowerer<'_> {
    /// Computes every reduction that `roots` are or are computed from, each group of them in one pass.
    pub fn reductions(&mut self, roots: &[NodeId]) -> Result<()> {
        loop {
            let innermost = self.innermost(roots);
            if innermost.is_empty() {
                return Ok(());
            }
            for group in self.grouped(innermost)? {
                self.reduce(&group.dist, &group.axes, &group.members)?;
            }
        }
    }

    /// The reductions that need no other one first, in the order in which they are found: the same on every
    /// rank.
    fn innermost(&self, roots: &[NodeId]) -> Vec<NodeId> {
        // The nodes that are reductions or need one.
        let mut needy: FxHashSet<NodeId> = FxHashSet::default();
        let mut found = Vec::new();
        for node in self.graph.reached(roots.iter().copied(), None).lazy {
            let (below, is_reduction) =
                (self.graph.operands(node).any(|x| needy.contains(&x)), self.graph.is_reduction(node));
            if below || is_reduction {
                needy.insert(node);
            }
            if is_reduction && !below {
                found.push(node);
            }
        }
        found
    }

    /// Reductions that need each other's operands only: over the same axes of operands of one layout.
    fn grouped(&self, nodes: Vec<NodeId>) -> Result<Vec<ReductionGroup>> {
        let mut groups: Vec<ReductionGroup> = Vec::new();
        for node in nodes {
            let Some(Expr::Reduce { operand, reduction, axes }) = self.graph.expr(node).cloned() else {
                continue;
            };
            let dist = self.graph.distribution(operand)?;
            let (shape, dtype) = (*self.graph.shape(operand), self.graph.dtype(node));
            let operand_dtype = self.graph.dtype(operand);
            let member = ReduceMember { node, reduction, operand: operand_dtype, shape, dtype };
            let fits = |group: &ReductionGroup| {
                let first = &group.members[0].member;
                first.reduction.shares_a_pass()
                    && reduction.shares_a_pass()
                    && group.axes == axes
                    && first.shape == shape
                    && group.dist.same_layout(&dist)
            };
            let pending = PendingReduction { operand, member };
            match groups.iter().position(fits) {
                Some(at) => groups[at].members.push(pending),
                None => groups.push(ReductionGroup { dist, axes, members: vec![pending] }),
            }
        }
        Ok(groups)
    }

    /// Computes reductions in one pass, or in two if they are too many for one kernel of this team.
    fn reduce(
        &mut self,
        dist: &Arc<Distribution>,
        axes: &[usize],
        members: &[PendingReduction],
    ) -> Result<()> {
        self.mark_unsupported("the step has a reduction");
        let partials: usize = members.iter().map(|pending| pending.member.partials().len()).sum();
        // The kernel that combines two partial results binds both.
        let fits = members.len() == 1 || 2 * partials <= self.team.max_params();
        if fits && self.reduce_together(dist, axes, members, partials)? {
            return Ok(());
        }
        let (left, right) = members.split_at(members.len() / 2);
        self.reduce(dist, axes, left)?;
        self.reduce(dist, axes, right)
    }

    /// Whether they fit into one kernel.
    fn reduce_together(
        &mut self,
        dist: &Arc<Distribution>,
        axes: &[usize],
        pending: &[PendingReduction],
        partials: usize,
    ) -> Result<bool> {
        let members: Vec<ReduceMember> = pending.iter().map(|pending| pending.member.clone()).collect();
        let listed = listed_copies(dist, axes);
        let listed = if members.iter().any(ReduceMember::counts_copies) { listed } else { Vec::new() };
        // Room for the results, and for the lists that the copies and the position depend on.
        let has_positions = members.iter().any(|m| matches!(m.reduction, Reduction::Arg { .. }));
        let positions = axes.iter().filter(|&&d| has_positions && dist.map(d).formula(0).is_none()).count();
        let reserved = partials + listed.len() + positions;
        let operands: Vec<NodeId> = pending.iter().map(|pending| pending.operand).collect();
        let (mut body, values) = loop {
            match self.attempt("reduce", &operands, dist, reserved)? {
                Ok(lowered) => break lowered,
                Err(NotLowered::Retry) => {}
                Err(NotLowered::TooLarge) => return Ok(false),
            }
        };
        let owned: Vec<Value> = listed.iter().map(|&d| body.list(IndexList::Owned, d)).collect();
        let fold = |(member, value): (&ReduceMember, Value)| {
            let value = member.owned_only(&mut body, value, &owned);
            member.fold(&mut body, value, axes)
        };
        let folds: Vec<Fold> = members.iter().zip(values).map(fold).collect();
        let accesses = self.accesses(&body.leaves, dist)?;
        let marks: Vec<bool> = (0..dist.rank()).map(|d| axes.contains(&d)).collect();
        let kernel = simplify(&body.builder.reduce(&marks, &folds)?);
        let result = Arc::new(dist.reduced(axes)?);
        self.update_halos(&accesses)?;
        for member in &members {
            self.computed(member.node, &result);
        }
        self.list.steps.push(Step::Reduce(Box::new(Reduce {
            combine: combine_kernel(&members)?,
            members,
            axes: axes.to_vec(),
            dist: Arc::clone(dist),
            result,
            kernel,
            leaves: body.leaves,
            accesses,
            arguments: body.arguments,
        })));
        Ok(true)
    }
}

impl ReduceMember {
    /// The types of its partial results.
    pub fn partials(&self) -> Vec<DType> {
        match self.reduction {
            Reduction::Fold(_) => vec![self.operand],
            Reduction::Arg { .. } => vec![self.operand, DType::I64],
        }
    }

    /// Counting an element again matters to sums and products alone.
    fn counts_copies(&self) -> bool {
        match self.reduction {
            Reduction::Fold(FoldOp::Sum | FoldOp::Product) => true,
            Reduction::Fold(FoldOp::Min | FoldOp::Max | FoldOp::All | FoldOp::Any)
            | Reduction::Arg { .. } => false,
        }
    }

    /// The value where the part owns the element, and what leaves the result as it is elsewhere.
    fn owned_only(&self, body: &mut KernelBody, value: Value, owned: &[Value]) -> Value {
        let owned = if self.counts_copies() { owned } else { &[] };
        owned.iter().fold(value, |value, &owned| {
            let k = &mut body.builder;
            let nothing = k.constant(self.reduction.neutral(k.dtype(value)));
            k.select(owned, value, nothing)
        })
    }

    fn fold(&self, body: &mut KernelBody, value: Value, axes: &[usize]) -> Fold {
        let dtype = body.builder.dtype(value);
        match self.reduction {
            Reduction::Fold(op) => Fold::Value { op, value, output: body.builder.output(dtype) },
            Reduction::Arg { largest } => {
                let index = linear_index(body, &self.shape, axes);
                let [value_output, index_output] =
                    [dtype, DType::I64].map(|dtype| body.builder.output(dtype));
                Fold::Arg { largest, value, index, value_output, index_output }
            }
        }
    }
}

/// Combines second partial results into the first, all of which lie contiguously.
fn combine_kernel(members: &[ReduceMember]) -> Result<Verified> {
    let partials: Vec<DType> = members.iter().flat_map(ReduceMember::partials).collect();
    let mut k = Builder::new("combine", 1);
    let kept: Vec<u32> = partials.iter().map(|&dtype| k.inout(dtype)).collect();
    let later: Vec<u32> = partials.iter().map(|&dtype| k.input(dtype)).collect();
    let mut of = |params: &[u32]| params.iter().map(|&p| k.load(p, &[0])).collect::<Vec<Value>>();
    let (a, b) = (of(&kept), of(&later));
    let mut results = Vec::with_capacity(a.len());
    for member in members {
        let at = results.len();
        match member.reduction {
            Reduction::Fold(op) => results.push(k.binary(op.step(), a[at], b[at])),
            Reduction::Arg { largest } => {
                let better = is_better(&mut k, largest, (a[at], a[at + 1]), (b[at], b[at + 1]));
                results.extend([at, at + 1].map(|at| k.select(better, b[at], a[at])));
            }
        }
    }
    let stores: Vec<(u32, Value)> = kept.into_iter().zip(results).collect();
    Ok(k.elementwise(&stores)?)
}

/// The folded dimensions whose lists name coordinates of other parts too.
fn listed_copies(dist: &Distribution, axes: &[usize]) -> Vec<usize> {
    let listed = |d: &usize| matches!(dist.map(*d), DimMap::Unstructured(lists) if lists.has_copies());
    axes.iter().copied().filter(listed).collect()
}

/// The element's position among the reduced elements, in C order of the reduced dimensions.
fn linear_index(body: &mut KernelBody, shape: &Index, axes: &[usize]) -> Value {
    let mut index = body.builder.int(DType::I64, 0);
    for d in (0..shape.rank()).filter(|d| axes.contains(d)) {
        let global = body.global(d);
        let k = &mut body.builder;
        let extent = k.int(DType::I64, shape[d]);
        let coord = k.cast(global, DType::I64);
        let scaled = k.binary(BinaryOp::Mul, index, extent);
        index = k.binary(BinaryOp::Add, scaled, coord);
    }
    index
}

/// Is `b` to be preferred: a NaN over numbers, else the better value, else the lower index?
fn is_better(k: &mut Builder, largest: bool, a: (Value, Value), b: (Value, Value)) -> Value {
    let order = if largest { CompareOp::Gt } else { CompareOp::Lt };
    let ahead = k.compare(order, b.0, a.0);
    let mut equal = k.compare(CompareOp::Eq, b.0, a.0);
    let earlier = k.compare(CompareOp::Lt, b.1, a.1);
    let mut ahead = ahead;
    if k.dtype(a.0).is_float() {
        let (nan_a, nan_b) = (k.unary(UnaryOp::IsNan, a.0), k.unary(UnaryOp::IsNan, b.0));
        let number_a = k.unary(UnaryOp::Not, nan_a);
        let only_b = k.binary(BinaryOp::And, number_a, nan_b);
        let both = k.binary(BinaryOp::And, nan_a, nan_b);
        ahead = k.binary(BinaryOp::Or, ahead, only_b);
        equal = k.binary(BinaryOp::Or, equal, both);
    }
    let tie = k.binary(BinaryOp::And, equal, earlier);
    k.binary(BinaryOp::Or, ahead, tie)
}
