//! Linear operators between arrays over partitions, each with its adjoint: what DistDL calls primitives.
//!
//! Here an array is what its members hold, side by side: the local array of the member at `(i, j)` of the
//! grid is block `(i, j)` of the global one. Where members hold copies, the global array has the copies side
//! by side too, so that they may differ, as gradients do. Then `<F x, y> == <x, F* y>` with the ordinary sums
//! over all elements. For copies that are one element each, use a replicated dimension and
//! [`redistribute`](crate::array::Array::redistribute).
//!
//! Every operator is one or two plans. Sums are made in the order of the members, so they are the same every
//! time.

mod partition;
mod plans;

use std::sync::Arc;

pub use crate::array::collective::partition::{Data, Partition};

use partita_kernels::DType;

use crate::array::Array;
use crate::array::record::expr::{Expr, NodeLayout};
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::array::run::moves::{PendingExchange, moving};
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::plan::Plan;
use crate::team::evaluation;

/// A linear operator from arrays over one partition to arrays over another. Shapes are not part of it: they
/// are found when it is applied.
///
/// ```
/// use partita::prelude::*;
/// # fn main() -> partita::Result<()> {
/// let world = Partition::world(&Team::on(&[Device::host()], 4)?)?;
/// let (root, all) = (world.inclusive(&[2])?, world.cartesian(&[4])?);
/// let x = Array::from_slice(&root.team()?, &Distribution::builder(&[2]).build()?, &[1.0, 2.0])?;
/// let copies = Collective::broadcast(&root, &all)?;
/// let y = copies.forward(&x)?;
/// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
/// assert_eq!(copies.adjoint().forward(&y)?.to_vec::<f64>()?, [4.0, 8.0]);
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Collective {
    from: Partition,
    to: Partition,
    kind: CollectiveKind,
    layout: Option<Distribution>,
    adjoint_layout: Option<Distribution>,
}

#[derive(Clone, PartialEq, Debug)]
enum CollectiveKind {
    Broadcast,
    SumReduce,
    AllSumReduce(Vec<usize>),
    /// The distribution whose halos are meant.
    Halo(Arc<Distribution>),
    HaloAdjoint(Arc<Distribution>),
    Repartition,
    AllGather(Vec<usize>),
    SumScatter(Vec<usize>),
}

/// One plan of an operator, and the layout of what it makes over which partition.
pub(super) struct CollectiveStep<'a> {
    pub plan: Plan,
    pub to: &'a Partition,
    pub layout: Distribution,
}

impl Collective {
    fn new(from: &Partition, to: &Partition, kind: CollectiveKind) -> Result<Collective> {
        from.check_world("Collective", to)?;
        Ok(Collective { from: from.clone(), to: to.clone(), kind, layout: None, adjoint_layout: None })
    }

    /// Every member of `to` gets a copy of what one member of `from` holds: along each dimension of the
    /// grids, compared from the last on, `from` has as many members as `to`, or one.
    ///
    /// # Errors
    /// Other extents; partitions of two worlds.
    pub fn broadcast(from: &Partition, to: &Partition) -> Result<Collective> {
        from.members().broadcast_to(to.members())?;
        Collective::new(from, to, CollectiveKind::Broadcast)
    }

    /// Every member of `to` gets the sum of what several members of `from` hold: a broadcast from `to` with
    /// its ends exchanged.
    ///
    /// # Errors
    /// As [`Collective::broadcast`].
    pub fn sum_reduce(from: &Partition, to: &Partition) -> Result<Collective> {
        from.members().sum_reduce_to(to.members())?;
        Collective::new(from, to, CollectiveKind::SumReduce)
    }

    /// Every member gets the sum over all members that differ from it along `axes` of the grid alone.
    ///
    /// # Errors
    /// An axis beyond the grid.
    pub fn all_sum_reduce(over: &Partition, axes: &[usize]) -> Result<Collective> {
        over.members().all_sum_reduce(axes)?;
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        axes.dedup();
        Collective::new(over, over, CollectiveKind::AllSumReduce(axes))
    }

    /// Every member gets the values of its halo from their owners. Applied to arrays of the
    /// [`padded`](Collective::padded) layout of `dist`: the local array of a member is what it stores, its
    /// own cells and its halo. What the halo held before is lost, and the adjoint adds it to the owners'
    /// cells and leaves zeros.
    ///
    /// # Errors
    /// A distribution of another grid, or not of blocks.
    pub fn halo_exchange(over: &Partition, dist: &Distribution) -> Result<Collective> {
        if dist.grid() != over.members().grid() || !dist.is_block() {
            return Err(Error::invalid(
                "halo_exchange",
                format!("blocks in a grid of {}", over.members().grid()),
                dist.to_string(),
                "make the distribution for the partition",
            ));
        }
        Collective::new(over, over, CollectiveKind::Halo(Arc::new(dist.clone())))
    }

    /// The same array divided over other members. The result is divided evenly, see
    /// [`with_layout`](Collective::with_layout) for other divisions; what is divided may be of any kind.
    ///
    /// # Errors
    /// Partitions of two worlds.
    pub fn repartition(from: &Partition, to: &Partition) -> Result<Collective> {
        Collective::new(from, to, CollectiveKind::Repartition)
    }

    /// The whole array at the member of one rank: a partition of one member in a grid of as many dimensions.
    ///
    /// # Errors
    /// No such member.
    pub fn gather(from: &Partition, root: usize) -> Result<Collective> {
        let one = vec![1; from.shape().rank()];
        Collective::repartition(from, &from.inclusive(&[root])?.cartesian(&one)?)
    }

    /// An array of the one member of rank `root` divided over all: the adjoint of [`Collective::gather`].
    ///
    /// # Errors
    /// No such member.
    pub fn scatter(to: &Partition, root: usize) -> Result<Collective> {
        Ok(Collective::gather(to, root)?.adjoint())
    }

    /// Every member gets what all members hold that differ from it along `axes` alone, side by side. The
    /// adjoint sums what the members hold of each element, and gives every member its share.
    ///
    /// # Errors
    /// An axis beyond the grid.
    pub fn allgather(over: &Partition, axes: &[usize]) -> Result<Collective> {
        over.members().all_sum_reduce(axes)?;
        Collective::new(over, over, CollectiveKind::AllGather(axes.to_vec()))
    }

    /// Asks for a division of the result, for operators that are free to choose: repartition, gather, scatter
    /// and the adjoint of allgather.
    pub fn with_layout(mut self, layout: &Distribution) -> Collective {
        self.layout = Some(layout.clone());
        self
    }

    /// Asks for the division of what the adjoint makes.
    pub fn with_adjoint_layout(mut self, layout: &Distribution) -> Collective {
        self.adjoint_layout = Some(layout.clone());
        self
    }

    /// The transposed operator: `<F x, y> == <x, F* y>` for all `x` and `y`.
    pub fn adjoint(&self) -> Collective {
        let kind = match &self.kind {
            CollectiveKind::Broadcast => CollectiveKind::SumReduce,
            CollectiveKind::SumReduce => CollectiveKind::Broadcast,
            CollectiveKind::AllSumReduce(axes) => CollectiveKind::AllSumReduce(axes.clone()),
            CollectiveKind::Halo(dist) => CollectiveKind::HaloAdjoint(Arc::clone(dist)),
            CollectiveKind::HaloAdjoint(dist) => CollectiveKind::Halo(Arc::clone(dist)),
            CollectiveKind::Repartition => CollectiveKind::Repartition,
            CollectiveKind::AllGather(axes) => CollectiveKind::SumScatter(axes.clone()),
            CollectiveKind::SumScatter(axes) => CollectiveKind::AllGather(axes.clone()),
        };
        Collective {
            from: self.to.clone(),
            to: self.from.clone(),
            kind,
            layout: self.adjoint_layout.clone(),
            adjoint_layout: self.layout.clone(),
        }
    }

    /// The partition of the arrays that it is applied to.
    pub fn source(&self) -> &Partition {
        &self.from
    }

    /// The partition of the arrays that it makes.
    pub fn target(&self) -> &Partition {
        &self.to
    }

    /// The layout in which every member has its own cells and its halo side by side: what a halo exchange is
    /// applied to.
    ///
    /// # Errors
    /// A distribution that is not blocks.
    pub fn padded(dist: &Distribution) -> Result<Distribution> {
        plans::padded(dist)
    }

    /// Applies it. Recorded: [`Array::explain`] prints the plans, and a [`Loop`](crate::array::Loop) repeats
    /// them. Computing the result is collective over the world that the partitions are of.
    ///
    /// # Errors
    /// An array that is not over the partition it is applied to, or whose members' extents do not fit each
    /// other.
    pub fn forward(&self, x: &Array) -> Result<Array> {
        self.check(x)?;
        let mut made = x.clone();
        for step in 0..self.step_count() {
            let CollectiveStep { plan, to, layout } = self.step(step, &*made.distribution()?)?;
            let expr = Expr::Moved { base: Arc::clone(&made.node), plan: Some(Arc::new(plan)) };
            let (shape, layout) = (layout.shape(), NodeLayout::known(layout));
            made = Array::recording(Node::lazy(shape, x.dtype(), &to.team()?, expr, layout));
        }
        Ok(made)
    }

    /// Begins to apply it: what leaves is packed and on its way out of its device when this returns, and the
    /// host has waited for nothing but the other ranks' agreement, the first time. Work that is
    /// queued before
    /// [`PendingCollective::finish`] runs while it travels. What goes through the host's memory is sent on at
    /// the end, or before the next exchange between ranks begins: others may come before the end.
    ///
    /// Collective over the world that the partitions are of, as is the end.
    ///
    /// # Errors
    /// As [`Collective::forward`].
    pub fn start(&self, x: &Array) -> Result<PendingCollective> {
        self.check(x)?;
        let (made, exchange) = begun(&self.step(0, &*x.distribution()?)?, x)?;
        Ok(PendingCollective { operator: self.clone(), made, exchange })
    }

    fn check(&self, x: &Array) -> Result<()> {
        let operation = match self.kind {
            CollectiveKind::SumReduce => "sum_reduce",
            CollectiveKind::AllSumReduce(_) => "all_sum_reduce",
            CollectiveKind::HaloAdjoint(_) => "adjoint of halo_exchange",
            CollectiveKind::SumScatter(_) => "adjoint of allgather",
            _ => "",
        };
        if x.dtype() == DType::Bool && !operation.is_empty() {
            let given = "an array of bool, which no sum is";
            return Err(Error::invalid(operation, "an array of numbers", given, "cast it first"));
        }
        // Of a repartition the members' order matters alone, not their places in the grid.
        let needs_grid = self.kind != CollectiveKind::Repartition;
        self.from.check_array("Collective::forward", x, needs_grid)
    }

    /// The plans that applying it to an array of this distribution takes, in their order.
    ///
    /// # Errors
    /// As [`Collective::forward`].
    pub fn plans(&self, dist: &Distribution) -> Result<Vec<Plan>> {
        let mut dist = dist.clone();
        let mut plans = Vec::new();
        for step in 0..self.step_count() {
            let CollectiveStep { plan, layout, .. } = self.step(step, &dist)?;
            plans.push(plan);
            dist = layout;
        }
        Ok(plans)
    }

    fn step_count(&self) -> usize {
        if matches!(self.kind, CollectiveKind::AllSumReduce(_)) { 2 } else { 1 }
    }

    fn step(&self, step: usize, dist: &Distribution) -> Result<CollectiveStep<'_>> {
        let (from, to, asked) = (&self.from, &self.to, self.layout.as_ref());
        let (plan, layout) = match &self.kind {
            CollectiveKind::Broadcast => plans::broadcast(from, to, dist)?,
            CollectiveKind::SumReduce => plans::sum_reduce(from, to, dist)?,
            CollectiveKind::AllSumReduce(axes) if step == 0 => plans::sum_to_roots(from, axes, dist)?,
            CollectiveKind::AllSumReduce(axes) => plans::copy_from_roots(from, axes, dist)?,
            CollectiveKind::Halo(halo) => plans::halo(halo, dist)?,
            CollectiveKind::HaloAdjoint(halo) => {
                let (plan, layout) = plans::halo(halo, dist)?;
                (plan.adjoint(), layout)
            }
            CollectiveKind::Repartition => plans::repartition(from, to, dist, asked)?,
            CollectiveKind::AllGather(axes) => plans::allgather(axes, dist)?,
            CollectiveKind::SumScatter(axes) => plans::sum_scatter(axes, dist, asked)?,
        };
        Ok(CollectiveStep { plan, to, layout })
    }
}

impl Array {
    /// Replaces what each member of `over` holds by the sum over all members that differ from it along `axes`
    /// of the grid alone, see [`Collective::all_sum_reduce`]. Clones and recorded expressions keep the old
    /// elements; if there are none, the sums of blocks are where the elements were. Computes at once.
    ///
    /// Collective over the world that the partition is of.
    ///
    /// # Errors
    /// As [`Collective::forward`] and [`Array::eval`]; the array then keeps its value.
    #[doc = example!(
        "let line = Distribution::default_partition(2, &[4])?;"
        "let mut v = Array::from_slice(&team, &line, &[1.0, 2.0, 3.0, 4.0])?;"
        "v.all_sum_reduce_in_place(&Partition::world(&team)?, &[0])?;"
        "assert_eq!(v.to_vec::<f64>()?, [4.0, 6.0, 4.0, 6.0]);"
    )]
    pub fn all_sum_reduce_in_place(&mut self, over: &Partition, axes: &[usize]) -> Result<()> {
        let sums = Collective::all_sum_reduce(over, axes)?.forward(self)?;
        sums.eval()?;
        if sums.distribution()?.same_layout(&*self.distribution()?) {
            return self.overwrite(&sums);
        }
        *self = sums;
        Ok(())
    }
}

/// An operator that is being applied. Its input may be assigned to meanwhile; the result has no value before
/// the end.
#[must_use = "the result is there only after `finish`"]
pub struct PendingCollective {
    operator: Collective,
    /// What the first plan makes.
    made: Array,
    exchange: PendingExchange,
}

impl PendingCollective {
    /// Queues what remains to be done where things arrive, and gives the result.
    ///
    /// # Errors
    /// The device's; those of [`Collective::forward`], for operators that take two plans.
    pub fn finish(self) -> Result<Array> {
        let PendingCollective { operator, mut made, exchange } = self;
        exchange.finish()?;
        for next in 1..operator.step_count() {
            let (next, exchange) = begun(&operator.step(next, &*made.distribution()?)?, &made)?;
            exchange.finish()?;
            made = next;
        }
        Ok(made)
    }
}

/// Begins to apply one plan. What no move replaces is zero.
fn begun(step: &CollectiveStep, x: &Array) -> Result<(Array, PendingExchange)> {
    x.eval()?;
    let (team, dtype) = (step.to.team()?, x.dtype());
    let Some(from) = x.node.storage() else { unreachable!("eval computes or fails") };
    let _guard = evaluation([x.team(), &team].into_iter())?;
    let recorder = Recorder::current();
    let moved = (Some(&step.plan), &Arc::new(step.layout.clone()), dtype);
    let (to, zeros, exchange) = moving(&recorder, &from, (x.team(), &team), moved)?;
    recorder.execute(zeros)?;
    let memory = to.parts.clone().into_iter().flatten();
    let pending = PendingExchange::begin((x, &from), (&team, memory), exchange)?;
    Ok((Array::of(Node::ready(dtype, &team, to)), pending))
}
