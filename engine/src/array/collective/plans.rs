//! The plans of the collective operators, and the distributions of their results: along each dimension the
//! local extents of the grid's coordinates.

use crate::array::collective::Partition;
use crate::array::run::moves::lifted;
use crate::error::{Error, Result};
use crate::index::{BroadcastGroup, DimMap, Distribution, Index, Region};
use crate::plan::{Move, MoveOp, Plan};

/// Per dimension, what each coordinate of the grid holds.
type Extents = Vec<Vec<i64>>;

fn extents(dist: &Distribution) -> Extents {
    let along = |d: usize| (0..dist.map(d).parts()).map(|part| dist.map(d).count(part)).collect();
    (0..dist.rank()).map(along).collect()
}

fn layout(extents: &Extents) -> Result<Distribution> {
    let bounds = |counts: &Vec<i64>| {
        let mut bounds = vec![0i64];
        bounds.extend(counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        }));
        bounds
    };
    let bounds: Vec<Vec<i64>> = extents.iter().map(bounds).collect();
    let shape: Vec<i64> = bounds.iter().map(|bounds| bounds[bounds.len() - 1]).collect();
    let grid: Vec<i64> = extents.iter().map(|counts| counts.len() as i64).collect();
    let mut builder = Distribution::builder(&shape).grid(&grid);
    for (d, bounds) in bounds.iter().enumerate() {
        builder = builder.map(d, DimMap::irregular(bounds)?);
    }
    Ok(builder.build()?)
}

/// Each member's copy of its root's array.
pub(super) fn broadcast(
    from: &Partition,
    to: &Partition,
    dist: &Distribution,
) -> Result<(Plan, Distribution)> {
    let (source, target) = (from.shape(), to.shape());
    let front = target.rank() - source.rank();
    let held = extents(dist);
    let along = |d: usize| match d.checked_sub(front) {
        None => vec![1; target[d] as usize],
        Some(e) if source[e] == target[d] => held[e].clone(),
        Some(e) => vec![held[e][0]; target[d] as usize],
    };
    let made = layout(&(0..target.rank()).map(along).collect())?;
    let routes = from.members().broadcast_to(to.members())?;
    Ok((routed((from, dist), (to, &made), &routes, MoveOp::Copy)?, made))
}

/// Each root's sum of its members' arrays.
pub(super) fn sum_reduce(
    from: &Partition,
    to: &Partition,
    dist: &Distribution,
) -> Result<(Plan, Distribution)> {
    let (source, target) = (from.shape(), to.shape());
    let front = source.rank() - target.rank();
    let held = extents(dist);
    for (d, counts) in held.iter().enumerate() {
        let summed = d < front || (target[d - front] == 1 && source[d] != 1);
        let expected = if d < front { 1 } else { counts[0] };
        if summed && counts.iter().any(|&count| count != expected) {
            return Err(unequal("sum_reduce", d, counts));
        }
    }
    let along = |d: usize| match source[d + front] == target[d] {
        true => held[d + front].clone(),
        false => vec![held[d + front][0]],
    };
    let made = layout(&(0..target.rank()).map(along).collect())?;
    let routes = from.members().sum_reduce_to(to.members())?;
    Ok((routed((from, dist), (to, &made), &routes, MoveOp::Add)?, made))
}

/// The first member of each group gets the group's sum.
pub(super) fn sum_to_roots(
    over: &Partition,
    axes: &[usize],
    dist: &Distribution,
) -> Result<(Plan, Distribution)> {
    for &d in axes {
        let counts = &extents(dist)[d];
        if counts.iter().any(|&count| count != counts[0]) {
            return Err(unequal("all_sum_reduce", d, counts));
        }
    }
    let made = layout(&extents(dist))?;
    let routes = over.members().all_sum_reduce(axes)?;
    let to_root = |group: &BroadcastGroup| {
        let root = group.receivers[0];
        group.senders.iter().map(move |&id| (id, root)).collect()
    };
    Ok((between((over, dist), (over, &made), &routes, MoveOp::Add, to_root)?, made))
}

/// All members of each group get what the first has.
pub(super) fn copy_from_roots(
    over: &Partition,
    axes: &[usize],
    dist: &Distribution,
) -> Result<(Plan, Distribution)> {
    let routes = over.members().all_sum_reduce(axes)?;
    let from_root = |group: &BroadcastGroup| {
        let root = group.senders[0];
        group.receivers.iter().map(move |&id| (root, id)).collect()
    };
    Ok((between((over, dist), (over, dist), &routes, MoveOp::Copy, from_root)?, dist.clone()))
}

/// The distribution of the cells that members store, side by side.
pub(super) fn padded(dist: &Distribution) -> Result<Distribution> {
    dist.check_block("Collective::padded")?;
    let stored = |d: usize| {
        let width = |at: usize| {
            let (start, stop) = dist.dim(d).stored(at);
            stop - start
        };
        (0..dist.map(d).parts()).map(width).collect()
    };
    layout(&(0..dist.rank()).map(stored).collect())
}

/// Own cells stay, halos come from their owners.
pub(super) fn halo(dist: &Distribution, given: &Distribution) -> Result<(Plan, Distribution)> {
    let made = padded(dist)?;
    if !made.same_layout(given) {
        return Err(Error::invalid(
            "halo_exchange",
            format!("an array of the padded layout, {made}"),
            given.to_string(),
            "make it with the distribution that Collective::padded gives",
        ));
    }
    // From the coordinates of what the distribution stores to those of the layout.
    let place = |part: usize, region: &Region| {
        let (stored, block) = (dist.stored(part), made.owned(part));
        let by = Index::from_fn(dist.rank(), |d| block.start()[d] - stored.start()[d]);
        region.shift(&by)
    };
    let mut moves = Vec::new();
    for part in 0..dist.parts() {
        let own = place(part, &dist.owned(part))?;
        moves.push(Move {
            from_part: part,
            to_part: part,
            from: own,
            to: own,
            subsets: None,
            op: MoveOp::Copy,
        });
    }
    for m in Plan::halo(dist, true)?.moves() {
        let (from, to) = (place(m.from_part, &m.from)?, place(m.to_part, &m.to)?);
        moves.push(Move { from, to, ..m.clone() });
    }
    Ok((Plan::new(dist.parts(), dist.parts(), moves)?, made))
}

pub(super) fn repartition(
    from: &Partition,
    to: &Partition,
    dist: &Distribution,
    asked: Option<&Distribution>,
) -> Result<(Plan, Distribution)> {
    let made = match asked {
        Some(asked) => asked.clone(),
        // Members on a line divide the first dimension.
        None if to.shape().rank() == 1 => {
            Distribution::default_partition(to.members().size(), &dist.shape())?
        }
        None => Distribution::builder(&dist.shape()).grid(to.shape()).build()?,
    };
    let fits = made.grid() == to.members().grid() || to.shape().rank() == 1;
    if !fits || made.parts() != to.members().size() {
        let (expected, given) =
            (format!("a division in a grid of {}", to.members().grid()), made.to_string());
        return Err(Error::invalid("repartition", expected, given, "ask for one over the partition"));
    }
    let near = |part: usize| from.members().rank_of(to.members().ids()[part]);
    Ok((Plan::between(dist, &made, near)?, made))
}

/// Every member gets, along the axes, everything.
pub(super) fn allgather(axes: &[usize], dist: &Distribution) -> Result<(Plan, Distribution)> {
    let held = extents(dist);
    let along = |d: usize| match axes.contains(&d) {
        true => vec![held[d].iter().sum(); held[d].len()],
        false => held[d].clone(),
    };
    let made = layout(&(0..dist.rank()).map(along).collect())?;
    Ok((gathered(axes, dist, &made, false)?, made))
}

/// Every member gets the sum of what all have of its share.
pub(super) fn sum_scatter(
    axes: &[usize],
    dist: &Distribution,
    asked: Option<&Distribution>,
) -> Result<(Plan, Distribution)> {
    let held = extents(dist);
    for &d in axes {
        if held[d].iter().any(|&count| count != held[d][0]) {
            return Err(unequal("the adjoint of allgather", d, &held[d]));
        }
    }
    let even = |d: usize| -> Result<Vec<i64>> {
        let map = DimMap::even(held[d][0], held[d].len())?;
        Ok((0..map.parts()).map(|part| map.count(part)).collect())
    };
    let along = |d: usize| if axes.contains(&d) { even(d) } else { Ok(held[d].clone()) };
    let made = match asked {
        Some(asked) => asked.clone(),
        None => layout(&(0..dist.rank()).map(along).collect::<Result<_>>()?)?,
    };
    let whole = |d: usize| match axes.contains(&d) {
        true => made.map(d).packed_size() == held[d][0],
        false => extents(&made)[d] == held[d],
    };
    if made.grid() != dist.grid() || !(0..dist.rank()).all(whole) {
        let (expected, given) = (format!("a division of what {dist} holds"), made.to_string());
        return Err(Error::invalid("the adjoint of allgather", expected, given, "ask for one of that shape"));
    }
    Ok((gathered(axes, &made, dist, true)?, made))
}

/// The moves between shares and members' whole copies of them; `back` sums the copies.
fn gathered(axes: &[usize], shares: &Distribution, copies: &Distribution, back: bool) -> Result<Plan> {
    let grid = *shares.grid();
    let mut moves = Vec::new();
    for part in 0..grid.parts() {
        let (at, whole) = (grid.coordinate(part), copies.owned(part));
        let others = Index::from_fn(at.rank(), |d| if axes.contains(&d) { grid.shape()[d] } else { 1 });
        for choice in Region::from_shape(&others)?.points() {
            let along = |d: usize| if axes.contains(&d) { choice[d] } else { at[d] };
            let other = grid.part_at(along);
            let share = shares.owned(other);
            let by = |d: usize| whole.start()[d] - if axes.contains(&d) { 0 } else { share.start()[d] };
            let copy = share.shift(&Index::from_fn(at.rank(), by))?;
            let there = Move {
                from_part: other,
                to_part: part,
                from: share,
                to: copy,
                subsets: None,
                op: MoveOp::Copy,
            };
            moves.push(there);
        }
    }
    let plan = Plan::new(grid.parts(), grid.parts(), moves)?;
    Ok(if back { plan.adjoint() } else { plan })
}

/// A move of the whole local array from every sender to every receiver of a group.
fn routed(
    from: (&Partition, &Distribution),
    to: (&Partition, &Distribution),
    routes: &[BroadcastGroup],
    op: MoveOp,
) -> Result<Plan> {
    let all = |group: &BroadcastGroup| {
        let pairs = group.senders.iter().flat_map(|&a| group.receivers.iter().map(move |&b| (a, b)));
        pairs.collect()
    };
    between(from, to, routes, op, all)
}

fn between(
    (from, source): (&Partition, &Distribution),
    (to, target): (&Partition, &Distribution),
    routes: &[BroadcastGroup],
    op: MoveOp,
    pairs: impl Fn(&BroadcastGroup) -> Vec<(usize, usize)>,
) -> Result<Plan> {
    let rank = source.rank().max(target.rank());
    let mut moves = Vec::new();
    for (sender, receiver) in routes.iter().flat_map(pairs) {
        let ranks = (from.members().rank_of(sender), to.members().rank_of(receiver));
        let (Some(from_part), Some(to_part)) = ranks else { continue };
        let (from, to) = (source.owned(from_part), target.owned(to_part));
        let (from, to) = (lifted(&from, rank), lifted(&to, rank));
        moves.push(Move { from_part, to_part, from, to, subsets: None, op });
    }
    Ok(Plan::new(source.parts(), target.parts(), moves)?)
}

fn unequal(operation: &'static str, d: usize, counts: &[i64]) -> Error {
    Error::invalid(
        operation,
        format!("members that hold equally much along dimension {d}"),
        format!("{counts:?}"),
        "repartition the array evenly first",
    )
}
