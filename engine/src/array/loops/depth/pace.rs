//! Chooses the number of steps per exchange from measured step times: first with one step per exchange, then
//! with the largest possible number.

use std::fmt;
use std::time::Duration;

/// Depths that are tried, the first that is possible.
pub(crate) const DEEPEST: [usize; 3] = [8, 4, 2];

/// The smallest depth is taken whose steps are as fast as the fastest up to this.
const WORTH_IT: f64 = 0.97;

/// Seconds per step when `depth` steps share an exchange: each computes for its neighbours what these would
/// otherwise send. `compute(j)` is a step that computes for `j` more, `exchange(depth)` an exchange of halos
/// for so many steps. In turn: what of an exchange is hidden is no part of it.
pub fn time_per_step(depth: usize, compute: impl Fn(usize) -> f64, exchange: impl Fn(usize) -> f64) -> f64 {
    ((0..depth).map(|step| compute(depth - 1 - step)).sum::<f64>() + exchange(depth)) / depth as f64
}

/// Times of steps that were measured, the shortest of each kind.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    /// With an exchange in every step.
    pub plain: f64,
    /// With one exchange before the first.
    pub shared: Vec<f64>,
    /// How many cells each of the latter computes.
    pub cells: Vec<u64>,
}

/// What steps and exchanges take, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Pace {
    launch: f64,
    per_cell: f64,
    latency: f64,
    per_layer: f64,
}

impl Times {
    pub fn of(cells: &[u64]) -> Times {
        Times { plain: f64::INFINITY, shared: vec![f64::INFINITY; cells.len()], cells: cells.to_vec() }
    }

    /// The step that follows `phase` steps after a shared exchange, or one with an exchange of its own.
    pub fn take(&mut self, phase: Option<usize>, time: Duration) {
        let known = match phase {
            Some(phase) => &mut self.shared[phase],
            None => &mut self.plain,
        };
        *known = known.min(time.as_secs_f64());
    }

    fn pace(&self) -> Pace {
        let depth = self.shared.len();
        let last = self.cells[depth - 1] as f64;
        let per_cell = self.slope();
        let launch = self.shared[depth - 1] - per_cell * last;
        let own = self.shared[depth - 1];
        let single = (self.plain - own).max(0.0);
        let shared = (self.shared[0] - launch - per_cell * self.cells[0] as f64).max(0.0);
        let per_layer = ((shared - single) / (depth - 1) as f64).clamp(0.0, single.max(shared));
        Pace { launch, per_cell, latency: (single - per_layer).max(0.0), per_layer }
    }

    /// What a cell takes: the line of least squares through the steps without an exchange. No more than if
    /// launches took nothing, which is also what is assumed where the steps hardly differ.
    fn slope(&self) -> f64 {
        let points: Vec<(f64, f64)> =
            self.cells.iter().map(|&cells| cells as f64).zip(self.shared.iter().copied()).skip(1).collect();
        let count = points.len() as f64;
        let mean = points.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / count, m.1 + p.1 / count));
        let sum =
            |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| f(p.0 - mean.0, p.1 - mean.1)).sum::<f64>();
        let (last_cells, last) = points[points.len() - 1];
        let most = last / last_cells.max(1.0);
        match points[0].0 > 1.05 * last_cells {
            true => (sum(&|x, y| x * y) / sum(&|x, _| x * x)).clamp(0.0, most),
            false => most,
        }
    }

    /// The best depth of those up to the one that was tried, and what it follows from. `cells(k)` says how
    /// many cells the steps between two exchanges compute.
    pub fn choose(&self, cells: impl Fn(usize) -> Option<Vec<u64>>) -> (usize, Pace) {
        let pace = self.pace();
        let deepest = self.cells.len();
        let time = |depth: usize| match depth {
            1 => Some(pace.per_step(&self.cells[deepest - 1..])),
            depth => cells(depth).map(|cells| pace.per_step(&cells)),
        };
        let times: Vec<(usize, f64)> = (1..=deepest).filter_map(|k| Some((k, time(k)?))).collect();
        let least = times.iter().fold(f64::INFINITY, |least, (_, time)| least.min(*time));
        let first = times.iter().find(|(_, time)| WORTH_IT * time <= least);
        (first.map_or(1, |(depth, _)| *depth), pace)
    }
}

impl Pace {
    fn per_step(&self, cells: &[u64]) -> f64 {
        let compute = |more: usize| self.launch + self.per_cell * cells[cells.len() - 1 - more] as f64;
        time_per_step(cells.len(), compute, |depth| self.latency + self.per_layer * depth as f64)
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pace { launch, per_cell, latency, per_layer } = self;
        write!(
            f,
            "measured {:.1} us and {:.3} ns a cell for a step, {:.1} us and {:.1} us a layer for an exchange",
            launch * 1e6,
            per_cell * 1e9,
            latency * 1e6,
            per_layer * 1e6
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip of cells with neighbours on both sides: the steps grow by 10 cells each.
    fn cells(depth: usize) -> Vec<u64> {
        (0..depth).map(|step| 1000 + 10 * (depth - 1 - step) as u64).collect()
    }

    fn times(launch: f64, per_cell: f64, latency: f64, per_layer: f64) -> Times {
        let compute = |cells: u64| launch + per_cell * cells as f64;
        let mut shared: Vec<f64> = cells(8).into_iter().map(compute).collect();
        shared[0] += latency + 8.0 * per_layer;
        Times { plain: compute(1000) + latency + per_layer, shared, cells: cells(8) }
    }

    #[test]
    fn slow_links_want_deep_halos_and_fast_ones_none() {
        let choose = |times: &Times| times.choose(|depth| Some(cells(depth))).0;
        assert_eq!(choose(&times(1e-6, 1e-9, 1e-3, 0.0)), 8);
        assert_eq!(choose(&times(1e-6, 1e-6, 0.0, 0.0)), 1);
        // Nothing is saved where layers cost all.
        assert_eq!(choose(&times(1e-6, 1e-9, 0.0, 1e-3)), 1);
        // A millisecond for a step and 300 us for an exchange: 3 % more are not gained by a fifth step, as
        // they would be if its cells cost nothing.
        assert_eq!(choose(&times(0.0, 1e-6, 300e-6, 0.0)), 4);
    }

    #[test]
    fn a_pace_gives_back_what_it_was_measured_from() {
        let pace = times(3e-6, 2e-9, 5e-5, 4e-6).pace();
        let given = [pace.launch, pace.per_cell, pace.latency, pace.per_layer];
        for (given, expected) in given.into_iter().zip([3e-6, 2e-9, 5e-5, 4e-6]) {
            assert!((given / expected - 1.0).abs() < 1e-6, "{pace:?}");
        }
    }
}
