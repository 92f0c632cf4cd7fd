//! Reductions: one fused map-reduce kernel per part computes a group of them, then the parts' results are
//! combined on the part that keeps the results, in ascending order of parts. Knows no plans: what travels is
//! one small contiguous buffer per part and reduction.
//!
//! Every element counts once, at its owner: parts that hold nothing but copies contribute nothing, and
//! among the coordinates that a part lists, copies are replaced by what changes no result.

use std::sync::Arc;

use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, Scalar, UnaryOp, Value, Verified, View, exact,
    simplify,
};

use crate::array::bind::schedule::{ScheduleBuilder, bind, missing_part};
use crate::array::explain::outline::{is_telling, tell_reductions};
use crate::array::loops::analysis;
use crate::array::lower::body::Lowering;
use crate::array::lower::reduction_groups::{PendingReduction, ReductionGroup};
use crate::array::memory::index_lists::IndexList;
use crate::array::memory::storage::Storage;
use crate::array::record::node::{Node, Reduction};
use crate::array::run::evaluate::lower_all;
use crate::array::run::partials::{Partial, PartialExchange, PartialKind, arrive, scratch};
use crate::error::Result;
use crate::index::{DimMap, Distribution, Index, Region};
use crate::program::{Copying, Place, copy_box, fill_box};
use crate::team::Team;
use crate::wire::pass;

/// Computes the reductions of a group.
pub(crate) fn compute(group: &ReductionGroup) -> Result<()> {
    compute_some(&group.dist, &group.axes, &group.members)
}

/// Computes reductions in one pass, or in two if they are too many for one kernel of this team.
fn compute_some(dist: &Arc<Distribution>, axes: &[usize], members: &[PendingReduction]) -> Result<()> {
    let team = &members[0].node.team;
    if is_telling() {
        let results = tell_reductions(dist, axes, members)?;
        members.iter().zip(results).for_each(|(member, storage)| member.node.set_ready(storage));
        return Ok(());
    }
    let kinds: Vec<PartialKind> = members.iter().flat_map(kinds).collect();
    let pass = ReductionPass { team, dist, axes, members, kinds };
    // The kernel that combines two partial results binds both.
    let fits = members.len() == 1 || 2 * pass.kinds.len() <= team.max_params();
    if fits && let Some(storages) = pass.run()? {
        members.iter().zip(storages).for_each(|(member, storage)| member.node.set_ready(storage));
        return Ok(());
    }
    let (left, right) = members.split_at(members.len() / 2);
    compute_some(dist, axes, left)?;
    compute_some(dist, axes, right)
}

/// The partial results of one reduction.
fn kinds(member: &PendingReduction) -> Vec<PartialKind> {
    let value = PartialKind { dtype: member.operand.dtype, width: 1 };
    match member.reduction {
        Reduction::Fold(_) => vec![value],
        Reduction::Arg { .. } => vec![value, PartialKind { dtype: DType::I64, width: 1 }],
        Reduction::Exact => vec![PartialKind { dtype: DType::I32, width: exact::width(value.dtype) }],
    }
}

/// Reductions that one kernel per part computes.
struct ReductionPass<'a> {
    team: &'a Team,
    dist: &'a Arc<Distribution>,
    axes: &'a [usize],
    members: &'a [PendingReduction],
    /// The partial results of all members, one after the other.
    kinds: Vec<PartialKind>,
}

impl ReductionPass<'_> {
    /// The results; `None` if they do not fit into one kernel.
    fn run(&self) -> Result<Option<Vec<Storage>>> {
        pass("reduce")?;
        analysis::mark_unsupported(|| "the step has a reduction".to_owned());
        let result = Arc::new(self.dist.reduced(self.axes)?);
        let mut work = ScheduleBuilder::new(self.team);
        let Some(partials) = self.fold(&mut work)? else { return Ok(None) };
        let storage =
            |member: &PendingReduction| Storage::new(self.team, Arc::clone(&result), member.node.dtype);
        let storages = self.members.iter().map(storage).collect::<Result<Vec<Storage>>>()?;
        let with_root = |part: usize| Some((part, self.root_of_partial(part)?));
        let rooted: Vec<(usize, usize)> = (0..self.dist.parts()).filter_map(with_root).collect();
        // The parts that each root combines, ascending.
        let mut givers: Vec<Vec<usize>> = vec![Vec::new(); result.parts()];
        rooted.iter().for_each(|&(part, root)| givers[root].push(part));
        let travelling: Vec<(usize, usize)> =
            rooted.into_iter().filter(|(part, root)| part != root).collect();
        let crossing = PartialExchange::new(self.team, &travelling, &self.kinds);
        let reductions: Vec<Reduction> = self.members.iter().map(|member| member.reduction).collect();
        let what = (&**self.dist, reductions, self.axes, &self.kinds);
        crossing.depart(what, &result, &partials, &mut work)?;
        for root in (0..result.parts()).filter(|&root| !result.owned(root).is_empty()) {
            if self.team.is_here(root) {
                let ends = (&givers[root][..], root);
                self.gather(ends, &result.owned(root), &partials, &crossing, &storages, &mut work)?;
            }
        }
        crossing.wait_all(&mut work);
        self.team.count_messages(travelling.len() as u64);
        pass("reduce-queued")?;
        work.finish()?;
        Ok(Some(storages))
    }

    /// The part to which the result of `part` goes, if it has one.
    fn root_of_partial(&self, part: usize) -> Option<usize> {
        let has = contributes(self.dist, part, self.axes) && !self.dist.owned(part).is_empty();
        has.then(|| root_of(self.dist, part, self.axes))
    }

    /// Folds what each part owns.
    fn fold(&self, work: &mut ScheduleBuilder) -> Result<Option<Vec<Option<Partial>>>> {
        let ReductionPass { team, dist, axes, .. } = *self;
        let listed = listed_copies(dist, axes);
        let listed =
            if self.members.iter().any(PendingReduction::counts_copies) { listed } else { Vec::new() };
        // Room for the results, and for the lists that the copies and the position depend on.
        let has_positions = self.members.iter().any(|m| matches!(m.reduction, Reduction::Arg { .. }));
        let positions = axes.iter().filter(|&&d| has_positions && dist.map(d).formula(0).is_none()).count();
        let reserved = self.kinds.len() + listed.len() + positions;
        let operands: Vec<&Arc<Node>> = self.members.iter().map(|member| &member.operand).collect();
        let Some((mut lowering, values)) = lower_all("reduce", &operands, dist, reserved)? else {
            return Ok(None);
        };
        let owned: Vec<Value> = listed.iter().map(|&d| lowering.list(IndexList::Owned, d)).collect();
        let fold = |(member, value): (&PendingReduction, Value)| {
            let value = member.owned_only(&mut lowering, value, &owned);
            member.fold(&mut lowering, value, axes)
        };
        let folds: Vec<Fold> = self.members.iter().zip(values).map(fold).collect();
        let inputs = work.bind_all(&lowering.leaves, dist)?;
        let arguments: Vec<Vec<Scalar>> = (0..dist.parts()).map(|part| lowering.arguments(part)).collect();
        let marks: Vec<bool> = (0..dist.rank()).map(|d| axes.contains(&d)).collect();
        let kernel = simplify(&lowering.builder.reduce(&marks, &folds)?);
        work.note(&kernel, &arguments);
        let mut partials = Vec::with_capacity(dist.parts());
        for (part, arguments) in arguments.into_iter().enumerate() {
            if self.root_of_partial(part).is_none() || !team.is_here(part) {
                partials.push(None);
                continue;
            }
            let region = dist.owned(part);
            let mut bound = bind(&lowering.leaves, &inputs, part, region.rank())?;
            let partial = self.room(part, &flatten(&region, axes)?, work)?;
            bound.extend(partial.iter().zip(&self.kinds).map(|(place, stream)| {
                let mut view: View = place.view(place.stored.start());
                view.strides.iter_mut().for_each(|stride| *stride *= stream.width as i64);
                axes.iter().for_each(|&axis| view.strides[axis] = 0);
                (view, place.clone())
            }));
            work.launch(&kernel, part, &region, bound, arguments)?;
            partials.push(Some(partial));
        }
        Ok(Some(partials))
    }

    /// Memory on a part's device for its partial results.
    fn room(&self, part: usize, kept: &Region, work: &mut ScheduleBuilder) -> Result<Partial> {
        let device = self.team.device(part);
        self.kinds.iter().map(|&stream| scratch(device, kept, stream, &mut work.leases)).collect()
    }

    /// Combines what parts have for one of them, and stores it there.
    fn gather(
        &self,
        (givers, root): (&[usize], usize),
        region: &Region,
        partials: &[Option<Partial>],
        crossing: &PartialExchange,
        storages: &[Storage],
        work: &mut ScheduleBuilder,
    ) -> Result<()> {
        let missing = || missing_part("reduce");
        let places = storages.iter().map(|storage| storage.place(self.team, root).ok_or_else(missing));
        let places = places.collect::<Result<Vec<Place>>>()?;
        let mut kept: Option<Partial> = None;
        for &part in givers {
            let partial = match &partials[part] {
                Some(partial) => arrive(work, partial, &places[0], &self.kinds)?,
                None => crossing.arrive(part, &places[0].device, region, work)?,
            };
            match &kept {
                None => kept = Some(partial),
                Some(kept) => self.combine(root, region, kept, &partial, work)?,
            }
        }
        let mut kept = kept.map(|kept| kept.into_iter());
        for (member, to) in self.members.iter().zip(&places) {
            let dtype = member.node.dtype;
            // The result is the last buffer: the fold's value, or the arg reduction's index.
            let last = kept.as_mut().and_then(|kept| kept.by_ref().take(kinds(member).len()).last());
            let last = match (last, member.reduction) {
                (Some(number), Reduction::Exact) => Some(self.rounded(root, region, number, dtype, work)?),
                (last, _) => last,
            };
            work.push(match last {
                Some(from) => copy_box(&from, region, to, region, Copying { dtype, add: false })?,
                None => fill_box(to, region, neutral(member.reduction, dtype))?,
            });
        }
        Ok(())
    }

    /// Combines later partial results into those that are kept.
    fn combine(
        &self,
        root: usize,
        region: &Region,
        kept: &Partial,
        later: &Partial,
        work: &mut ScheduleBuilder,
    ) -> Result<()> {
        let elements = region.volume()? * self.kinds[0].width as i64;
        let line = || View { offset: 0, strides: vec![1] };
        let bound = kept.iter().chain(later).map(|place| (line(), place.clone())).collect();
        let line = Region::new(&[0], &[elements])?;
        work.launch(&self.combine_kernel()?, root, &line, bound, Vec::new())
    }

    /// The floats of exact sums.
    fn rounded(
        &self,
        root: usize,
        region: &Region,
        numbers: Place,
        dtype: DType,
        work: &mut ScheduleBuilder,
    ) -> Result<Place> {
        let width = exact::width(dtype) as i64;
        let mut k = Builder::new("round_exact", 2);
        let (input, output) = (k.input(DType::I32), k.output(dtype));
        let elements: Vec<Value> = (0..width).map(|at| k.load(input, &[at as i32, 0])).collect();
        let value = exact::round(&mut k, &elements, dtype);
        let kernel = simplify(&k.elementwise(&[(output, value)])?);
        let to = scratch(&numbers.device, region, PartialKind { dtype, width: 1 }, &mut work.leases)?;
        let view = |strides: [i64; 2]| View { offset: 0, strides: strides.into() };
        let bound = vec![(view([1, width]), numbers), (view([1, 1]), to.clone())];
        let line = Region::new(&[0, 0], &[1, region.volume()?])?;
        work.launch(&kernel, root, &line, bound, Vec::new())?;
        Ok(to)
    }

    /// Combines second partial results into the first, all of which lie contiguously.
    fn combine_kernel(&self) -> Result<Verified> {
        let mut k = Builder::new("combine", 1);
        let kept: Vec<u32> = self.kinds.iter().map(|stream| k.inout(stream.dtype)).collect();
        let later: Vec<u32> = self.kinds.iter().map(|stream| k.input(stream.dtype)).collect();
        let mut of = |params: &[u32]| params.iter().map(|&p| k.load(p, &[0])).collect::<Vec<Value>>();
        let (a, b) = (of(&kept), of(&later));
        let mut results = Vec::with_capacity(a.len());
        for member in self.members {
            let at = results.len();
            match member.reduction {
                Reduction::Fold(op) => results.push(k.binary(op.step(), a[at], b[at])),
                Reduction::Arg { largest } => {
                    let better = is_better(&mut k, largest, (a[at], a[at + 1]), (b[at], b[at + 1]));
                    results.extend([at, at + 1].map(|at| k.select(better, b[at], a[at])));
                }
                // Element by element; the digits carry when they are rounded.
                Reduction::Exact => results.push(k.binary(BinaryOp::Add, a[at], b[at])),
            }
        }
        let stores: Vec<(u32, Value)> = kept.into_iter().zip(results).collect();
        Ok(k.elementwise(&stores)?)
    }
}

impl PendingReduction {
    /// Counting an element again matters to sums and products alone.
    fn counts_copies(&self) -> bool {
        match self.reduction {
            Reduction::Fold(FoldOp::Sum | FoldOp::Product) | Reduction::Exact => true,
            Reduction::Fold(FoldOp::Min | FoldOp::Max | FoldOp::All | FoldOp::Any)
            | Reduction::Arg { .. } => false,
        }
    }

    /// The value where the part owns the element, and what leaves the result as it is elsewhere.
    fn owned_only(&self, lowering: &mut Lowering, value: Value, owned: &[Value]) -> Value {
        let owned = if self.counts_copies() { owned } else { &[] };
        owned.iter().fold(value, |value, &owned| {
            let k = &mut lowering.builder;
            let nothing = k.constant(neutral(self.reduction, k.dtype(value)));
            k.select(owned, value, nothing)
        })
    }

    fn fold(&self, lowering: &mut Lowering, value: Value, axes: &[usize]) -> Fold {
        let dtype = lowering.builder.dtype(value);
        match self.reduction {
            Reduction::Fold(op) => Fold::Value { op, value, output: lowering.builder.output(dtype) },
            Reduction::Arg { largest } => {
                let index = linear_index(lowering, &self.operand.shape, axes);
                let [value_output, index_output] =
                    [dtype, DType::I64].map(|dtype| lowering.builder.output(dtype));
                Fold::Arg { largest, value, index, value_output, index_output }
            }
            Reduction::Exact => Fold::Exact { value, output: lowering.builder.output(DType::I32) },
        }
    }
}

impl Reduction {
    /// Whether it may be computed in one pass with others. The position that an argument fold carries along
    /// makes it so much dearer than what it would share, the loads, that it stays alone; so does an exact
    /// sum.
    pub fn shares_a_pass(self) -> bool {
        match self {
            Reduction::Fold(_) => true,
            Reduction::Arg { .. } | Reduction::Exact => false,
        }
    }
}

/// Whether a part owns something of what is folded: along replicated dimensions the first one owns all.
fn contributes(dist: &Distribution, part: usize, axes: &[usize]) -> bool {
    let at = dist.grid().coordinate(part);
    axes.iter().all(|&d| at[d] == 0 || !matches!(dist.map(d), DimMap::Replicated { .. }))
}

/// The folded dimensions whose lists name coordinates of other parts too.
fn listed_copies(dist: &Distribution, axes: &[usize]) -> Vec<usize> {
    let listed = |d: &usize| matches!(dist.map(*d), DimMap::Unstructured(lists) if lists.has_copies());
    axes.iter().copied().filter(listed).collect()
}

/// The part that keeps what `part` contributes to: grid coordinate 0 in every reduced dimension.
fn root_of(dist: &Distribution, part: usize, axes: &[usize]) -> usize {
    let at = dist.grid().coordinate(part);
    dist.grid().part_at(|d| if axes.contains(&d) { 0 } else { at[d] })
}

/// The region with the reduced dimensions at `0..1`.
fn flatten(region: &Region, axes: &[usize]) -> Result<Region> {
    let (mut start, mut stop) = (*region.start(), *region.stop());
    for &axis in axes {
        (start[axis], stop[axis]) = (0, 1);
    }
    Ok(Region::new(&start, &stop)?)
}

/// The element's position among the reduced elements, in C order of the reduced dimensions.
fn linear_index(lowering: &mut Lowering, shape: &Index, axes: &[usize]) -> Value {
    let mut index = lowering.builder.int(DType::I64, 0);
    for d in (0..shape.rank()).filter(|d| axes.contains(d)) {
        let global = lowering.global(d);
        let k = &mut lowering.builder;
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

/// What a reduction over nothing gives.
fn neutral(reduction: Reduction, dtype: DType) -> Scalar {
    match reduction {
        Reduction::Fold(op) => op.neutral(dtype),
        Reduction::Arg { .. } | Reduction::Exact => Scalar::from_i64(dtype, 0),
    }
}
