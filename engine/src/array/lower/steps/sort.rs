//! Sorts as steps. Each part sorts its pieces of the lines on the host. Pieces of equal length are then
//! merged by Batcher's odd-even merge network: in a round, pairs of parts exchange their pieces, one keeps
//! the smaller half, the other the larger. Last pieces may be shorter: what they lack counts as larger than
//! everything.
//!
//! Invariant: which part exchanges with which depends on the distribution alone, so all ranks agree.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::lower::steps::list::{
    ExchangeField, HostSort, Pieces, Round, SortInput, Step, StepList, StoredArray,
};
use crate::array::memory::storage::fetch_plan;
use crate::array::record::expr::AxisSort;
use crate::error::Result;
use crate::index::{DimMap, Distribution, Region};
use crate::team::Team;

/// The elements of an array in order along an axis, or their positions, in another array, on its
/// distribution.
pub(crate) fn sort(
    list: &mut StepList,
    team: &Team,
    base: &StoredArray,
    sort: AxisSort,
    to: &StoredArray,
) -> Result<()> {
    list.allocate(to);
    let (dtype, shape) = (base.dtype, base.shape);
    let lines = sorted_pieces(&to.dist, sort.axis)?;
    let dist = lines.as_ref().unwrap_or(&to.dist);
    let mut elements = base.memory();
    if let Some(lines) = &lines {
        elements = list.temporary(dtype, lines);
        let ends = [(base.memory(), &*base.dist), (elements, &**lines)];
        list.redistribute(team, "lines cut elsewhere", ends, (dtype, shape))?;
    }
    let rounds = exchanges(dist, sort.axis)?;
    // Elements of one key may differ: floats.
    let has_positions = sort.positions || (!rounds.is_empty() && dtype.is_float());
    let pieces = |list: &mut StepList| Pieces {
        values: list.temporary(dtype, dist),
        positions: has_positions.then(|| list.temporary(DType::I64, dist)),
    };
    let host = |list: &mut StepList, from, to| {
        let dist = Arc::clone(dist);
        list.steps.push(Step::Sort(HostSort { sort, dtype, dist, from, to }));
    };
    let mut sorted = match (&lines, sort.positions) {
        (Some(_), _) => pieces(list),
        (None, false) => Pieces { values: to.memory(), positions: None },
        (None, true) => Pieces { values: list.temporary(dtype, dist), positions: Some(to.memory()) },
    };
    host(list, SortInput::Elements(elements), sorted);
    for round in rounds {
        let nothing = Region::from_fn(dist.rank(), |_| (0, 0));
        let needs = round.iter().map(|other| other.as_ref().map_or(nothing, |(region, _)| *region));
        let needs: Vec<Region> = needs.collect();
        let plan = fetch_plan(&dist.packed(), needs.clone(), team)?;
        let fetch = |list: &mut StepList, from, dtype| {
            let to = list.boxes(dtype, needs.clone());
            let (operation, what, plan) = ("fetch", "sorted pieces", Arc::clone(&plan));
            (to, ExchangeField { operation, what, plan, from, to, dtype, shape, halo: None })
        };
        let (values, field) = fetch(list, sorted.values, dtype);
        let positions = sorted.positions.map(|positions| fetch(list, positions, DType::I64));
        let other = Pieces { values, positions: positions.as_ref().map(|(to, _)| *to) };
        list.exchange([Some(field), positions.map(|(_, field)| field)].into_iter().flatten().collect());
        // Into new memory: other ranks may still be reading the old.
        let next = pieces(list);
        host(list, SortInput::Merged { own: sorted, other, round }, next);
        sorted = next;
    }
    if let Some(lines) = &lines {
        let from = sorted.positions.filter(|_| sort.positions).unwrap_or(sorted.values);
        let ends = [(from, &**lines), (to.memory(), &*to.dist)];
        list.redistribute(team, "lines as they were cut", ends, (to.dtype, shape))?;
    }
    Ok(())
}

/// The distribution of a sort along an axis, unless each part has whole lines in order.
fn sorted_pieces(dist: &Arc<Distribution>, axis: usize) -> Result<Option<Arc<Distribution>>> {
    let map = dist.map(axis);
    let (size, parts) = (map.size(), map.parts());
    match map {
        DimMap::Replicated { .. } => return Ok(None),
        DimMap::Block { .. } | DimMap::Cyclic(_) if parts == 1 => return Ok(None),
        DimMap::Block { .. } | DimMap::Cyclic(_) | DimMap::Unstructured(_) | DimMap::Custom(_) => {}
    }
    let piece = (size + parts as i64 - 1) / parts as i64;
    let bounds: Vec<i64> = (0..=parts as i64).map(|part| (part * piece).min(size)).collect();
    Ok(Some(Arc::new(dist.with_map(axis, DimMap::irregular(&bounds)?)?)))
}

/// The rounds of the network: pairs of positions, the one of the smaller half first. D. Knuth, The Art of
/// Computer Programming 3, algorithm 5.2.2M.
fn rounds(count: usize) -> Vec<Vec<(usize, usize)>> {
    let top = count.next_power_of_two() / 2;
    let (mut found, mut p) = (Vec::new(), top);
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            found.push((0..count - d).filter(|i| i & p == r).map(|i| (i, i + d)).collect());
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    found
}

/// The rounds of exchanges that merge the parts' pieces of the lines along an axis.
fn exchanges(dist: &Distribution, axis: usize) -> Result<Vec<Round>> {
    let lines = dist.map(axis).parts();
    if matches!(dist.map(axis), DimMap::Replicated { .. }) || lines == 1 {
        return Ok(Vec::new());
    }
    let exchange = |pairs: &Vec<(usize, usize)>| {
        let partner = |part: usize| {
            let mut at = dist.grid().coordinate(part);
            let own = at[axis] as usize;
            let Some(&(low, high)) = pairs.iter().find(|&&(a, b)| a == own || b == own) else {
                return Ok(None);
            };
            at[axis] = (low + high - own) as i64;
            let (own_cells, other) = (dist.owned(part), dist.owned(dist.grid().part(&at)?));
            // Whoever has no elements is the higher one, and stays so.
            let is_idle = own_cells.is_empty() || other.is_empty();
            Ok((!is_idle).then_some((other, low == own)))
        };
        (0..dist.parts()).map(partner).collect::<Result<Vec<_>>>()
    };
    rounds(lines).iter().map(exchange).collect()
}
