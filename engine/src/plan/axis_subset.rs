//! [`AxisSubset`]: the cells of its two boxes that a move takes along one dimension. [`AxisOverlap`]: the
//! cells along one dimension that a source has and a destination needs.

use std::sync::Arc;

/// The cells of one dimension that a move takes, as distances from the first cell of either box.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum AxisSubset {
    /// `count` runs of `run` neighbours. What two periodic divisions share repeats with the least common
    /// multiple of their periods: one subset describes all repetitions.
    Runs {
        /// Cells per run, at least 1.
        run: i64,
        /// Runs, at least 1.
        count: i64,
        /// From the beginning of one run to that of the next, in the source.
        from_step: i64,
        /// The same in the destination.
        to_step: i64,
    },
    /// Any cells, one by one.
    List(Arc<Pairs>),
}

/// Distances that belong together: the cell at `from[k]` goes to `to[k]`. Equally long.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Pairs {
    /// In the source.
    pub from: Vec<i64>,
    /// In the destination.
    pub to: Vec<i64>,
}

impl AxisSubset {
    /// All of `count` neighbours.
    pub fn whole(count: i64) -> AxisSubset {
        AxisSubset::Runs { run: count, count: 1, from_step: 0, to_step: 0 }
    }

    /// The number of cells.
    pub fn len(&self) -> i64 {
        match self {
            AxisSubset::Runs { run, count, .. } => run * count,
            AxisSubset::List(pairs) => pairs.from.len() as i64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distances of the `k`-th cell.
    pub fn nth(&self, k: i64) -> (i64, i64) {
        match self {
            AxisSubset::Runs { run, from_step, to_step, .. } => {
                let (turn, rest) = (k / run, k % run);
                (turn * from_step + rest, turn * to_step + rest)
            }
            AxisSubset::List(pairs) => (pairs.from[k as usize], pairs.to[k as usize]),
        }
    }

    /// How far the cells reach in source and destination: one more than the largest distances.
    pub fn extents(&self) -> (i64, i64) {
        match self {
            AxisSubset::Runs { run, count, from_step, to_step } => {
                (run + (count - 1) * from_step, run + (count - 1) * to_step)
            }
            AxisSubset::List(pairs) => {
                let reach = |side: &[i64]| side.iter().max().map_or(0, |most| most + 1);
                (reach(&pairs.from), reach(&pairs.to))
            }
        }
    }

    /// The subset of the reversed move.
    pub(super) fn reversed(&self) -> AxisSubset {
        match self {
            AxisSubset::Runs { run, count, from_step, to_step } => {
                AxisSubset::Runs { run: *run, count: *count, from_step: *to_step, to_step: *from_step }
            }
            AxisSubset::List(pairs) => {
                AxisSubset::List(Arc::new(Pairs { from: pairs.to.clone(), to: pairs.from.clone() }))
            }
        }
    }
}

/// The cells along one dimension that one part has and another part needs, in packed coordinates.
#[derive(Clone, Debug)]
pub(super) struct AxisOverlap {
    pub from: (i64, i64),
    pub to: (i64, i64),
    /// None for all cells of two equally long intervals.
    pub subset: Option<AxisSubset>,
}

impl AxisOverlap {
    /// `count` runs of `run` cells.
    pub fn runs(from: i64, to: i64, run: i64, count: i64, (from_step, to_step): (i64, i64)) -> AxisOverlap {
        if count == 1 || (from_step, to_step) == (run, run) {
            let all = run * count;
            return AxisOverlap { from: (from, from + all), to: (to, to + all), subset: None };
        }
        let subset = AxisSubset::Runs { run, count, from_step, to_step };
        let (here, there) = subset.extents();
        AxisOverlap { from: (from, from + here), to: (to, to + there), subset: Some(subset) }
    }

    /// Cells listed one by one: a few boxes if they are that, a progression, or a list.
    pub fn listed(pairs: Pairs) -> Vec<AxisOverlap> {
        let Pairs { from, to } = pairs;
        let joined = |k: usize| from[k] == from[k - 1] + 1 && to[k] == to[k - 1] + 1;
        let breaks: Vec<usize> = (1..from.len()).filter(|&k| !joined(k)).take(FEW).collect();
        if breaks.len() + 1 < FEW {
            let starts = std::iter::once(0).chain(breaks.iter().copied());
            let stops = breaks.iter().copied().chain([from.len()]);
            let runs = starts.zip(stops).filter(|(start, stop)| start < stop);
            let single = |(start, stop): (usize, usize)| {
                AxisOverlap::runs(from[start], to[start], (stop - start) as i64, 1, (0, 0))
            };
            return runs.map(single).collect();
        }
        let steps = (from[1] - from[0], to[1] - to[0]);
        let even = |list: &[i64], step: i64| step > 0 && list.windows(2).all(|two| two[1] - two[0] == step);
        if even(&from, steps.0) && even(&to, steps.1) {
            return vec![AxisOverlap::runs(from[0], to[0], 1, from.len() as i64, steps)];
        }
        let low = |list: &[i64]| list.iter().copied().min().unwrap_or(0);
        let (first_from, first_to) = (low(&from), low(&to));
        let pairs = Pairs {
            from: from.iter().map(|at| at - first_from).collect(),
            to: to.iter().map(|at| at - first_to).collect(),
        };
        let subset = AxisSubset::List(Arc::new(pairs));
        let (here, there) = subset.extents();
        vec![AxisOverlap {
            from: (first_from, first_from + here),
            to: (first_to, first_to + there),
            subset: Some(subset),
        }]
    }
}

/// Up to so many subsets along one dimension are moved each on its own; more become a list. Subsets of
/// several dimensions multiply, and each is a launch or a piece of one; a list costs one index per row.
pub(super) const FEW: usize = 8;
