//! Reductions: one fused map-reduce kernel per part, then the parts' results are combined on the
//! part that keeps the result, in ascending order of parts. Knows no plans: what travels is one
//! small contiguous buffer per part.
//!
//! Every element counts once, at its owner: parts that hold nothing but copies contribute nothing, and
//! among the coordinates that a part lists, copies are replaced by what changes no result.

use std::hash::Hash;
use std::sync::Arc;

use partita_kernels::{
    BinaryOp, Builder, CompareOp, DType, Fold, FoldOp, Scalar, UnaryOp, Value, Verified, View, simplify,
};

use super::deep;
use super::eval::lower_all;
use super::lists::List;
use super::lower::Lowering;
use super::node::{Expr, Node, Reduction, State};
use super::storage::Storage;
use super::work::{Work, bind};
use super::zone::Zone;
use crate::device::{Buffer, Device};
use crate::error::Result;
use crate::index::{DimMap, Distribution, Index, Region};
use crate::program::{Command, Copying, Place, Span, copy_box, fill_box};
use crate::team::Team;
use crate::wire::{Meeting, Ranks, pass};

/// Operand, reduction and axes of a reduction that is not computed yet.
pub(crate) fn parts_of(node: &Node) -> Option<(Arc<Node>, Reduction, Vec<usize>)> {
    match &*node.state() {
        State::Lazy { expr: Expr::Reduce { operand, reduction, axes }, .. } => {
            Some((Arc::clone(operand), *reduction, axes.clone()))
        }
        _ => None,
    }
}

/// One part's result: one buffer for a fold, value and index for an arg reduction.
type Partial = Vec<Place>;

/// Computes a reduction.
pub(crate) fn compute(
    node: &Node,
    operand: &Arc<Node>,
    reduction: Reduction,
    axes: &[usize],
) -> Result<Storage> {
    pass("reduce")?;
    deep::refuse(|| "the step has a reduction".to_owned());
    let dist = operand.distribution()?;
    let result = Arc::new(dist.reduced(axes)?);
    let dtypes = output_dtypes(operand.dtype, reduction);
    let mut work = Work::new(&node.team);
    let partials = reduce_parts(operand, reduction, axes, &dist, &dtypes, &mut work)?;
    let storage = Storage::new(&node.team, Arc::clone(&result), node.dtype)?;
    let combine = combine_kernel(result.rank(), reduction, &dtypes)?;
    let crossing = Crossing::new(&node.team, &dist, axes, &dtypes);
    crossing.depart((&*dist, reduction, axes, &dtypes), &result, &partials, &mut work)?;
    for root in 0..result.parts() {
        let Some(place) = storage.place(&node.team, root) else { continue };
        let region = result.owned(root);
        let mut kept: Option<Partial> = None;
        for part in (0..dist.parts()).filter(|&part| partial_of(&dist, part, axes) == Some(root)) {
            let partial = match &partials[part] {
                Some(partial) => arrive(&mut work, partial, &place, &dtypes)?,
                None => crossing.arrive(part, &place.device, &region, &mut work)?,
            };
            match &kept {
                None => kept = Some(partial),
                Some(kept) => {
                    let bound = kept.iter().chain(&partial);
                    let bound = bound.map(|p| (p.view(region.start()), p.clone())).collect();
                    work.launch(&combine, root, &region, bound, Vec::new())?;
                }
            }
        }
        work.push(match kept {
            // The result is the last buffer: the fold's value, or the arg reduction's index.
            Some(partial) => copy_box(
                &partial[partial.len() - 1],
                &region,
                &place,
                &region,
                Copying { dtype: node.dtype, add: false },
            )?,
            None => fill_box(&place, &region, neutral(reduction, node.dtype))?,
        });
    }
    crossing.settle(&mut work);
    let travelling = (0..dist.parts()).filter(|&p| partial_of(&dist, p, axes).is_some_and(|root| root != p));
    node.team.count_messages(travelling.count() as u64);
    pass("reduce-queued")?;
    work.finish()?;
    Ok(storage)
}

/// The part to which the result of `part` goes, if it has one.
fn partial_of(dist: &Distribution, part: usize, axes: &[usize]) -> Option<usize> {
    let has = contributes(dist, part, axes) && !dist.owned(part).is_empty();
    has.then(|| root_of(dist, part, axes))
}

/// The results of parts that go to parts of another rank, in the order of the parts.
struct Crossing<'a> {
    team: &'a Team,
    dtypes: &'a [DType],
    /// Sender and receiver.
    parts: Vec<(usize, usize)>,
}

impl Crossing<'_> {
    fn new<'a>(team: &'a Team, dist: &Distribution, axes: &[usize], dtypes: &'a [DType]) -> Crossing<'a> {
        let travels = |part: usize| {
            let root = partial_of(dist, part, axes)?;
            (team.rank_of(part) != team.rank_of(root)).then_some((part, root))
        };
        let mut parts: Vec<(usize, usize)> = (0..dist.parts()).filter_map(travels).collect();
        // In the order in which the receivers combine them.
        parts.sort_by_key(|&(part, root)| (root, part));
        Crossing { team, dtypes, parts }
    }

    fn ranks(&self) -> Option<&Ranks> {
        self.team.wire().filter(|_| !self.parts.is_empty())
    }

    fn depart(
        &self,
        what: impl Hash,
        result: &Distribution,
        partials: &[Option<Partial>],
        work: &mut Work,
    ) -> Result<()> {
        let Some(ranks) = self.ranks() else { return Ok(()) };
        let meeting = Arc::new(Meeting::new("reduction", &what));
        work.push(Command::Meet { ranks: ranks.clone(), meeting });
        for &(part, root) in &self.parts {
            let (from, to) = (self.team.rank_of(part), self.team.rank_of(root));
            let cells = result.owned(root).volume()? as u64;
            if self.team.is_here(root) {
                let bytes = self.dtypes.iter().map(|dtype| cells * dtype.size_bytes() as u64).sum();
                work.push(Command::Expect { ranks: ranks.clone(), from, bytes });
            } else if let Some(partial) = &partials[part] {
                work.push(Command::Send { ranks: ranks.clone(), to, memory: self.spans(partial, cells) });
            }
        }
        Ok(())
    }

    /// What a part of another rank sends, on the root's device.
    fn arrive(&self, part: usize, device: &Device, region: &Region, work: &mut Work) -> Result<Partial> {
        let Some(ranks) = self.ranks() else { unreachable!("a part of this rank has its result here") };
        let arrived = self.dtypes.iter().map(|&dtype| scratch(device, region, dtype, &mut work.leases));
        let arrived = arrived.collect::<Result<Partial>>()?;
        let memory = self.spans(&arrived, region.volume()? as u64);
        let from = self.team.rank_of(part);
        work.push(Command::Receive { ranks: ranks.clone(), from, memory });
        Ok(arrived)
    }

    fn spans(&self, partial: &Partial, cells: u64) -> Vec<Span> {
        let span = |(place, dtype): (&Place, &DType)| Span {
            device: place.device.clone(),
            allocation: Arc::clone(&place.allocation),
            offset: 0,
            bytes: cells * dtype.size_bytes() as u64,
        };
        partial.iter().zip(self.dtypes).map(span).collect()
    }

    fn settle(&self, work: &mut Work) {
        if let Some(ranks) = self.ranks() {
            work.push(Command::Settle { ranks: ranks.clone() });
        }
    }
}

/// Whether a part owns something of what is folded: along replicated dimensions the first one owns all.
fn contributes(dist: &Distribution, part: usize, axes: &[usize]) -> bool {
    let at = dist.grid().coordinate(part);
    axes.iter().all(|&d| at[d] == 0 || !matches!(dist.map(d), DimMap::Replicated { .. }))
}

/// The folded dimensions whose lists name coordinates of other parts too. Counting a copy again only matters
/// to sums and products.
fn with_listed_copies(dist: &Distribution, reduction: Reduction, axes: &[usize]) -> Vec<usize> {
    let listed = |d: &usize| matches!(dist.map(*d), DimMap::Unstructured(lists) if lists.has_copies());
    match reduction {
        Reduction::Fold(FoldOp::Sum | FoldOp::Product) => axes.iter().copied().filter(listed).collect(),
        Reduction::Fold(FoldOp::Min | FoldOp::Max | FoldOp::All | FoldOp::Any) | Reduction::Arg { .. } => {
            Vec::new()
        }
    }
}

/// The value where the part owns the element, and what leaves the result as it is elsewhere.
fn owned_only(lowering: &mut Lowering, value: Value, reduction: Reduction, copied: &[usize]) -> Value {
    copied.iter().fold(value, |value, &d| {
        let owned = lowering.list(List::Owned, d);
        let k = &mut lowering.builder;
        let nothing = k.constant(neutral(reduction, k.dtype(value)));
        k.select(owned, value, nothing)
    })
}

/// The part that keeps what `part` contributes to: grid coordinate 0 in every reduced dimension.
fn root_of(dist: &Distribution, part: usize, axes: &[usize]) -> usize {
    let at = dist.grid().coordinate(part);
    let mut root = 0;
    for d in 0..dist.rank() {
        let coordinate = if axes.contains(&d) { 0 } else { at[d] };
        root = root * dist.grid().shape()[d] as usize + coordinate as usize;
    }
    root
}

fn output_dtypes(operand: DType, reduction: Reduction) -> Vec<DType> {
    match reduction {
        Reduction::Fold(_) => vec![operand],
        Reduction::Arg { .. } => vec![operand, DType::I64],
    }
}

fn reduce_parts(
    operand: &Arc<Node>,
    reduction: Reduction,
    axes: &[usize],
    dist: &Arc<Distribution>,
    dtypes: &[DType],
    work: &mut Work,
) -> Result<Vec<Option<Partial>>> {
    let copied = with_listed_copies(dist, reduction, axes);
    // Room for the results, and for the lists that the copies and the position depend on.
    let positions = match reduction {
        Reduction::Fold(_) => 0,
        Reduction::Arg { .. } => axes.iter().filter(|&&d| dist.map(d).formula(0).is_none()).count(),
    };
    let reserved = dtypes.len() + copied.len() + positions;
    let lowered = lower_all("reduce", &[operand], dist, reserved)?;
    let (mut lowering, values) = lowered.unwrap_or_else(|| unreachable!("a single root is never split"));
    let value = owned_only(&mut lowering, values[0], reduction, &copied);
    let fold = match reduction {
        Reduction::Fold(op) => Fold::Value { op, value, output: lowering.builder.output(dtypes[0]) },
        Reduction::Arg { largest } => {
            let index = linear_index(&mut lowering, &operand.shape, axes);
            let [value_output, index_output] = [0, 1].map(|k| lowering.builder.output(dtypes[k]));
            Fold::Arg { largest, value, index, value_output, index_output }
        }
    };
    let inputs = work.bring_all(&lowering.leaves, dist, &Zone::owned(dist))?;
    let arguments: Vec<Vec<Scalar>> = (0..dist.parts()).map(|part| lowering.arguments(part)).collect();
    let marks: Vec<bool> = (0..operand.rank()).map(|d| axes.contains(&d)).collect();
    let kernel = simplify(&lowering.builder.reduce(&marks, &[fold])?);
    let mut partials = Vec::with_capacity(dist.parts());
    for (part, arguments) in arguments.into_iter().enumerate() {
        let region = dist.owned(part);
        if partial_of(dist, part, axes).is_none() || !operand.team.is_here(part) {
            partials.push(None);
            continue;
        }
        let kept = flatten(&region, axes)?;
        let mut bound = bind(&lowering.leaves, &inputs, part, region.rank())?;
        let mut partial = Partial::new();
        for &dtype in dtypes {
            let place = scratch(operand.team.device(part), &kept, dtype, &mut work.leases)?;
            let mut view: View = place.view(kept.start());
            for &axis in axes {
                view.strides[axis] = 0;
            }
            bound.push((view, place.clone()));
            partial.push(place);
        }
        work.launch(&kernel, part, &region, bound, arguments)?;
        partials.push(Some(partial));
    }
    Ok(partials)
}

/// The region with the reduced dimensions at `0..1`.
fn flatten(region: &Region, axes: &[usize]) -> Result<Region> {
    let (mut start, mut stop) = (*region.start(), *region.stop());
    for &axis in axes {
        (start[axis], stop[axis]) = (0, 1);
    }
    Ok(Region::new(&start, &stop)?)
}

fn scratch(device: &Device, region: &Region, dtype: DType, leases: &mut Vec<Buffer>) -> Result<Place> {
    let buffer = device.alloc(region.volume()? as u64 * dtype.size_bytes() as u64)?;
    let place =
        Place { device: device.clone(), allocation: Arc::clone(buffer.allocation()), stored: *region };
    leases.push(buffer);
    Ok(place)
}

/// The partial on the root's device.
fn arrive(work: &mut Work, partial: &Partial, root: &Place, dtypes: &[DType]) -> Result<Partial> {
    if partial[0].device == root.device {
        return Ok(partial.clone());
    }
    let mut arrived = Partial::new();
    for (from, &dtype) in partial.iter().zip(dtypes) {
        let to = scratch(&root.device, &from.stored, dtype, &mut work.leases)?;
        work.push(Command::Transfer {
            from_device: from.device.clone(),
            from: Arc::clone(&from.allocation),
            from_offset: 0,
            to_device: to.device.clone(),
            to: Arc::clone(&to.allocation),
            to_offset: 0,
            bytes: from.stored.volume()? as u64 * dtype.size_bytes() as u64,
        });
        arrived.push(to);
    }
    Ok(arrived)
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

/// Combines a second partial into the first.
fn combine_kernel(rank: usize, reduction: Reduction, dtypes: &[DType]) -> Result<Verified> {
    let mut k = Builder::new("combine", rank);
    let kept: Vec<u32> = dtypes.iter().map(|&dtype| k.inout(dtype)).collect();
    let other: Vec<u32> = dtypes.iter().map(|&dtype| k.input(dtype)).collect();
    let zeros = vec![0; rank];
    let a: Vec<Value> = kept.iter().map(|&p| k.load(p, &zeros)).collect();
    let b: Vec<Value> = other.iter().map(|&p| k.load(p, &zeros)).collect();
    let results = match reduction {
        Reduction::Fold(op) => vec![k.binary(op.step(), a[0], b[0])],
        Reduction::Arg { largest } => {
            let better = is_better(&mut k, largest, (a[0], a[1]), (b[0], b[1]));
            vec![k.select(better, b[0], a[0]), k.select(better, b[1], a[1])]
        }
    };
    let stores: Vec<(u32, Value)> = kept.into_iter().zip(results).collect();
    Ok(k.elementwise(&stores)?)
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
        Reduction::Arg { .. } => Scalar::from_i64(dtype, 0),
    }
}
