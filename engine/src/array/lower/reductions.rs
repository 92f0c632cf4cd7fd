//! Reductions: which ones are computed together, and their steps. One fused map-reduce kernel per part folds
//! a group of them; what is on other devices travels by one exchange; another kernel combines what the parts
//! found, in ascending order of parts.
//!
//! The pass stores what else is wanted of the values that it computes at its points: a step of Jacobi's and
//! the norm of its change are one kernel. Such a kernel waits for the halo as a whole: the order of its
//! additions is that of all its points, so that it cannot begin with those that need nothing.
//!
//! Every element counts once, at its owner: among the coordinates that a part lists, copies are replaced by
//! what changes no result.

use std::ops::Range;
use std::sync::Arc;

use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, Scalar, UnaryOp, Value, Verified, simplify,
};
use rustc_hash::FxHashSet;

use crate::array::lower::access::computed_elsewhere;
use crate::array::lower::body::KernelBody;
use crate::array::lower::compute::{Compute, ComputeKernel, Folds};
use crate::array::lower::graph::NodeId;
use crate::array::lower::lowerer::{LowerTarget, Lowerer, NotLowered, Placement};
use crate::array::lower::steps::list::{
    ExchangeField, KernelLaunch, LaunchArgument, LaunchOperand, MemoryId, PartCells, PartLaunch, Step,
    StepList, StoredArray,
};
use crate::array::lower::steps::listed::{copy, owned};
use crate::array::memory::index_lists::IndexList;
use crate::array::record::expr::{Expr, Reduction};
use crate::error::Result;
use crate::index::{DimMap, Distribution, Index, Region};
use crate::plan::{Move, MoveOp, Plan};
use crate::team::Team;

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
    /// The axes that are folded away, ascending.
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
        let mut targets = self.targets_beside(dist, axes)?;
        let reserved = partials + listed.len() + positions + targets.len();
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
        targets.retain(|target| {
            self.graph.is_operation(target.node) && body.at_point(self.graph, target.node).is_some()
        });
        let wanted: Vec<NodeId> = targets.iter().map(|target| target.node).collect();
        let reads = (&body.leaves[..], &accesses[..]);
        if computed_elsewhere(self.graph, &wanted, reads, dist, self.team)?.is_some() {
            targets.clear();
        }
        let stored = targets.iter().filter_map(|target| body.at_point(self.graph, target.node));
        let stored: Vec<Value> = stored.collect();
        let outputs = stored.into_iter().map(|value| (body.builder.output(body.builder.dtype(value)), value));
        let outputs: Vec<(u32, Value)> = outputs.collect();
        let marks: Vec<bool> = (0..dist.rank()).map(|d| axes.contains(&d)).collect();
        let placed = body.placed();
        let kernel = simplify(&body.builder.reduce_and_store(&marks, &folds, &outputs)?);
        self.update_halos(&accesses)?;
        let KernelBody { leaves, arguments, .. } = body;
        let (results, stores) = self.results(&targets, &leaves)?;
        let dist = Arc::clone(dist);
        let kernel = ComputeKernel { kernel, leaves, accesses, placed, arguments, dist, stores, folds: None };
        self.combined(Compute { results, kernels: vec![kernel] }, axes, &members)?;
        Ok(true)
    }

    /// What a pass over `dist` may store: targets that have the layout, of types that no two points have in
    /// one word, where every part folds what it owns.
    fn targets_beside(&self, dist: &Arc<Distribution>, axes: &[usize]) -> Result<Vec<LowerTarget>> {
        let idles = |part: usize| !dist.owned(part).is_empty() && root_of(dist, axes, part).is_none();
        if self.shares_exchanges() || (0..dist.parts()).any(idles) {
            return Ok(Vec::new());
        }
        let fresh = |&node: &NodeId| LowerTarget { node, placement: Placement::Fresh, result: node };
        let mut targets: Vec<LowerTarget> = Vec::new();
        for target in self.roots.iter().map(fresh).chain(self.fresh_windows()?) {
            let is_wide = self.graph.dtype(target.node).size_bytes() >= 4;
            let is_due = self.graph.is_operation(target.node) && !self.graph.is_memory(target.result);
            let has_layout = *self.graph.shape(target.node) == dist.shape()
                && self.distribution(&target)?.same_layout(dist);
            if is_wide && is_due && has_layout {
                targets.push(target);
            }
        }
        Ok(targets)
    }

    /// Has the parts fold what they own, and the part that keeps the result combine what the parts found, in
    /// ascending order of parts. What parts on other devices found travels.
    fn combined(
        &mut self,
        Compute { results: stored, mut kernels }: Compute,
        axes: &[usize],
        members: &[ReduceMember],
    ) -> Result<()> {
        let dist = Arc::clone(&kernels[0].dist);
        let result = Arc::new(dist.reduced(axes)?);
        let parts = dist.parts();
        let mut givers: Vec<Vec<usize>> = vec![Vec::new(); parts];
        (0..parts).filter_map(|part| Some((part, root_of(&dist, axes, part)?))).for_each(|(part, root)| {
            givers[root].push(part);
        });
        let mut finds = vec![false; parts];
        givers.iter().flatten().for_each(|&part| finds[part] = true);
        for member in members {
            self.computed(member.node, &result);
            let made = self.stored(member.node)?;
            self.list.allocate(&made);
        }
        // The last of a member's partial results becomes the result.
        let partials: Vec<(DType, Option<NodeId>)> =
            members.iter().flat_map(ReduceMember::partials).collect();
        let dtypes: Vec<DType> = partials.iter().map(|partial| partial.0).collect();
        let is_first = |part: usize| givers[part].first() == Some(&part);
        let (mut found, mut kept) = (Vec::with_capacity(dtypes.len()), Vec::with_capacity(dtypes.len()));
        for &(dtype, result_node) in &partials {
            let in_result = |part: usize| result_node.filter(|_| is_first(part)).map(MemoryId::Array);
            let boxes = |list: &mut StepList, has: &dyn Fn(usize) -> bool| {
                let cells = (0..parts).map(|part| match has(part) {
                    true => flatten(&if finds[part] { dist.owned(part) } else { result.owned(part) }, axes),
                    false => Region::empty(dist.rank()),
                });
                list.boxes(dtype, cells.collect())
            };
            let own = boxes(&mut self.list, &|part| finds[part] && in_result(part).is_none());
            let fold = |part: usize| finds[part].then(|| in_result(part).unwrap_or(own));
            let folds: Vec<Option<MemoryId>> = (0..parts).map(fold).collect();
            // Where another part's comes first, it is copied before the own one is combined.
            let copies = |part: usize| !givers[part].is_empty() && !is_first(part);
            let copied = boxes(&mut self.list, &|part| result_node.is_none() && copies(part));
            let keep = |part: usize| match result_node {
                _ if givers[part].is_empty() => None,
                Some(node) => Some(MemoryId::Array(node)),
                None => Some(if is_first(part) { own } else { copied }),
            };
            kept.push((0..parts).map(keep).collect());
            found.push(folds);
        }
        let (folded, memory) = (axes.to_vec(), found.clone());
        let results = members.iter().map(|member| member.dtype).collect();
        kernels[0].folds = Some(Folds { axes: folded, result: Arc::clone(&result), results, memory });
        let rest = stored.clone();
        self.push_compute(Compute { results: stored, kernels })?;
        self.copy_rest(&rest);
        if (0..parts).any(|root| givers[root].iter().any(|&giver| giver != root)) {
            let (dtypes, found, kept, givers) = (&dtypes[..], &found[..], &kept[..], &givers[..]);
            let (axis, result, team) = (axes[0], &result, self.team);
            let combining = Combining { dtypes, found, kept, givers, axis, result, team };
            combining.steps(&mut self.list, members)?;
        }
        // Folds of nothing.
        let empty: Vec<bool> =
            (0..parts).map(|part| givers[part].is_empty() && !result.owned(part).is_empty()).collect();
        for member in members.iter().filter(|_| empty.contains(&true)) {
            let made = self.stored(member.node)?;
            fill(&mut self.list, &made, member.reduction.neutral(member.dtype), &empty)?;
        }
        Ok(())
    }
}

/// The partial results of parts, and the parts that combine them.
struct Combining<'a> {
    /// Those of all partial results.
    dtypes: &'a [DType],
    /// Per partial result and part the memory of what it found, and of what it keeps if it combines.
    found: &'a [Vec<Option<MemoryId>>],
    kept: &'a [Vec<Option<MemoryId>>],
    /// The parts that each part combines, ascending.
    givers: &'a [Vec<usize>],
    /// A folded dimension, along which what arrives lies.
    axis: usize,
    result: &'a Arc<Distribution>,
    team: &'a Team,
}

/// The cells of a region in a part's memory of each partial result.
fn cells(memory: &[Vec<Option<MemoryId>>], part: usize, region: &Region) -> Vec<PartCells> {
    let of = |memory: MemoryId| PartCells { memory, part, first: *region.start() };
    memory.iter().filter_map(|parts| parts[part].map(of)).collect()
}

impl Combining<'_> {
    /// The exchange of what other devices found, and the launches that combine it with what is kept.
    fn steps(&self, list: &mut StepList, members: &[ReduceMember]) -> Result<()> {
        let arrived = self.exchange(list)?;
        let (rank, partials) = (self.result.rank(), self.dtypes.len());
        let (mut copies, mut combinations) = (Vec::new(), Vec::new());
        let is_kept =
            |(part, givers): (usize, &Vec<usize>)| givers.first().is_none_or(|&first| first == part);
        let has_copies = !self.givers.iter().enumerate().all(is_kept);
        let has_combinations = self.givers.iter().any(|givers| givers.len() > 1);
        for (part, givers) in self.givers.iter().enumerate().filter(|(part, _)| list.lists(*part)) {
            let region = self.result.owned(part);
            let kept = cells(self.kept, part, &region);
            let mut slots = 0..;
            for (at, &giver) in givers.iter().enumerate() {
                let later: Vec<PartCells> = match self.is_here(giver, part) {
                    true => cells(self.found, giver, &region),
                    false => {
                        let slot = slots.next().unwrap_or(0);
                        let first = self.slot(&region, slot..slot + 1);
                        let cells = |&memory: &MemoryId| PartCells { memory, part, first: *first.start() };
                        arrived.iter().map(cells).collect()
                    }
                };
                let (arguments, memory) = (Vec::new(), kept.iter().copied().chain(later).collect());
                let launch = PartLaunch { part, memory, ..PartLaunch::new(region, arguments) };
                match at {
                    // The first partial result is copied if it is another part's.
                    0 if giver == part => {}
                    0 => copies.push(launch),
                    _ => combinations.push(launch),
                }
            }
        }
        for (at, &dtype) in self.dtypes.iter().enumerate().filter(|_| has_copies) {
            let of = |launch: &PartLaunch| PartLaunch {
                part: launch.part,
                memory: vec![launch.memory[partials + at], launch.memory[at]],
                ..PartLaunch::new(launch.region, Vec::new())
            };
            self.launch(list, copy("keep", rank, dtype)?, copies.iter().map(of).collect(), 2);
        }
        if has_combinations {
            self.launch(list, combine_kernel(members, rank)?, combinations, 2 * partials);
        }
        Ok(())
    }

    fn launch(&self, list: &mut StepList, kernel: Verified, launches: Vec<PartLaunch>, operands: usize) {
        let operand = |at: usize| LaunchOperand::OfLaunch { at, folded: Vec::new() };
        let (operands, layout) = ((0..operands).map(operand).collect(), Arc::clone(self.result));
        list.steps.push(Step::Launch(KernelLaunch { kernel, layout, operands, launches, fused: None }));
    }

    /// Whether one part's launches can read the memory of another.
    fn is_here(&self, giver: usize, part: usize) -> bool {
        self.team.device_of(giver) == self.team.device_of(part)
    }

    /// The place of what arrives.
    fn slot(&self, region: &Region, slots: Range<i64>) -> Region {
        Region::from_fn(region.rank(), |d| match d == self.axis {
            true => (slots.start, slots.end),
            false => (region.start()[d], region.stop()[d]),
        })
    }

    /// Has what is on other devices travel to the parts that combine it; gives the memory where it arrives,
    /// in the order of the parts along the axis.
    fn exchange(&self, list: &mut StepList) -> Result<Vec<MemoryId>> {
        let parts = self.givers.len();
        let mut cells = vec![Region::empty(self.result.rank()); parts];
        let mut moves: Vec<Move> = Vec::new();
        for (root, givers) in self.givers.iter().enumerate() {
            let region = self.result.owned(root);
            for &giver in givers.iter().filter(|&&giver| !self.is_here(giver, root)) {
                let slot = if cells[root].is_empty() { 0 } else { cells[root].stop()[self.axis] };
                cells[root] = self.slot(&region, 0..slot + 1);
                let to = self.slot(&region, slot..slot + 1);
                let (from_part, to_part, op) = (giver, root, MoveOp::Copy);
                moves.push(Move { from_part, to_part, from: region, to, subsets: None, op });
            }
        }
        let Some(first) = moves.first().map(|first| first.from_part) else { return Ok(Vec::new()) };
        let plan = Arc::new(Plan::new(parts, parts, moves)?);
        let (mut fields, mut arrived) = (Vec::new(), Vec::new());
        for (found, &dtype) in self.found.iter().zip(self.dtypes) {
            let to = list.boxes(dtype, cells.clone());
            let (plan, shape) = (Arc::clone(&plan), self.result.shape());
            let (operation, what, halo) = ("reduction", "partial results", None);
            let field = |from| ExchangeField { operation, what, plan, from, to, dtype, shape, halo };
            fields.extend(found[first].map(field));
            arrived.push(to);
        }
        list.exchange(fields);
        Ok(arrived)
    }
}

/// Fills what some parts own of an array.
fn fill(list: &mut StepList, array: &StoredArray, value: Scalar, parts: &[bool]) -> Result<()> {
    let mut k = Builder::new("fill", array.shape.rank());
    let (output, argument) = (k.output(value.dtype), k.argument(value.dtype));
    let kernel = k.elementwise(&[(output, argument)])?;
    let launch = |(part, fills): (usize, &bool)| {
        let arguments = || vec![LaunchArgument::Number(value)];
        fills.then(|| PartLaunch::new(array.dist.owned(part), arguments()))
    };
    let launches = parts.iter().enumerate().map(launch).collect();
    list.launch(kernel, &array.dist, vec![owned(array.memory(), &array.dist)], launches);
    Ok(())
}

/// The part that keeps what `part` finds, if it finds something: grid coordinate 0 in every reduced
/// dimension. Along replicated dimensions the first part owns all.
fn root_of(dist: &Distribution, axes: &[usize], part: usize) -> Option<usize> {
    let grid = dist.grid();
    let at = grid.coordinate(part);
    let replicated = |d: usize| matches!(dist.map(d), DimMap::Replicated { .. });
    let is_copy = axes.iter().any(|&d| at[d] != 0 && replicated(d));
    let finds = !is_copy && !dist.owned(part).is_empty();
    finds.then(|| grid.part_at(|d| if axes.contains(&d) { 0 } else { at[d] }))
}

/// The region with the reduced dimensions at `0..1`.
fn flatten(region: &Region, axes: &[usize]) -> Region {
    let along = |d: usize| if axes.contains(&d) { (0, 1) } else { (region.start()[d], region.stop()[d]) };
    Region::from_fn(region.rank(), along)
}

/// One reduction.
#[derive(Clone, Debug)]
struct ReduceMember {
    node: NodeId,
    reduction: Reduction,
    /// The operand's type and shape, and the result's type.
    operand: DType,
    shape: Index,
    dtype: DType,
}

impl ReduceMember {
    /// The types of its partial results, and the node that each becomes, if it is the result.
    fn partials(&self) -> Vec<(DType, Option<NodeId>)> {
        match self.reduction {
            Reduction::Fold(_) => vec![(self.operand, Some(self.node))],
            Reduction::Arg { .. } => vec![(self.operand, None), (DType::I64, Some(self.node))],
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

/// Combines second partial results into the first.
fn combine_kernel(members: &[ReduceMember], rank: usize) -> Result<Verified> {
    let partials: Vec<DType> = members.iter().flat_map(ReduceMember::partials).map(|p| p.0).collect();
    let mut k = Builder::new("combine", rank);
    let kept: Vec<u32> = partials.iter().map(|&dtype| k.inout(dtype)).collect();
    let later: Vec<u32> = partials.iter().map(|&dtype| k.input(dtype)).collect();
    let mut of = |params: &[u32]| params.iter().map(|&p| k.load(p, &vec![0; rank])).collect::<Vec<Value>>();
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
