//! The depth of a loop, how many of its steps share an exchange: as many as the user wants, or as the loop's
//! own first steps show to be fastest. Timed are steps with an exchange in each, then with one in as many as
//! possible.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::array::Array;
use crate::array::loops::cycle::storage;
use crate::array::loops::passes::deep_halos::{DepthPlan, StepTrace};
use crate::array::recorder::recording::{HaloRequest, StepRecord};
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::program::Schedule;

/// Steps that may share an exchange. Plans list what each of them does.
const MAX_DEPTH: usize = 1 << 17;

/// Steps that a loop may need until it replays, in exchanges, and then those that are timed.
const WARM_UP: usize = 4;
const TIMED: usize = 3;

/// The number of steps that shall share an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Depth {
    Steps(usize),
    /// As many as measurements say.
    Auto,
}

/// The number of steps that share an exchange, and the trial by which a loop finds it.
pub(crate) struct DepthChoice {
    pub wanted: Depth,
    /// The tasks of a step, until it is decided what follows from them.
    trace: Option<StepTrace>,
    /// The plan by which several steps share an exchange; none if every step has its own.
    plan: Option<DepthPlan>,
    /// Steps since the last shared exchange.
    pub phase: usize,
    /// Why it is so.
    reason: Option<String>,
    trial: Option<DepthTrial>,
}

/// Measures what a deep halo gains. Every rank goes through this step by step, whatever it measures, and
/// does in the end what rank 0 found.
struct DepthTrial {
    trace: StepTrace,
    layouts: Vec<Arc<Distribution>>,
    /// The deepest plan that is possible.
    deepest: Option<DepthPlan>,
    times: Times,
    /// Steps since the trial, or its second half, began.
    steps: usize,
}

impl fmt::Display for DepthChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.plan {
            None => write!(f, "an exchange in every step")?,
            Some(plan) => plan.fmt(f)?,
        }
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

impl DepthChoice {
    pub fn new() -> DepthChoice {
        let (trace, plan, reason, trial) = (None, None, None, None);
        DepthChoice { wanted: Depth::Steps(1), trace, plan, phase: 0, reason, trial }
    }

    pub fn steps_per_exchange(&self) -> usize {
        self.plan.as_ref().map_or(1, |plan| plan.depth)
    }

    /// Whether steps are timed, or about to be.
    pub fn is_measuring(&self) -> bool {
        self.trial.is_some()
    }

    /// # Errors
    /// More steps than can be planned.
    pub fn check(&self) -> Result<()> {
        match self.wanted {
            Depth::Steps(steps) if steps > MAX_DEPTH => {
                let expected = format!("at most {MAX_DEPTH} steps that share an exchange");
                let remedy = "ask for fewer, or use auto_depth";
                Err(Error::invalid("Loop::depth", expected, steps.to_string(), remedy))
            }
            Depth::Steps(_) | Depth::Auto => Ok(()),
        }
    }

    /// The prescriptions for the evaluations of the step that follows `done` others.
    pub fn prescribe(&self, done: u64, state: &[Array]) -> StepRecord {
        let is_analysed = done == 1 && self.wanted != Depth::Steps(1);
        let mut record = StepRecord { commands: Some(Schedule::new()), ..StepRecord::default() };
        record.tasks = is_analysed.then(Vec::new);
        record.shares_exchange = is_analysed || self.plan.is_some();
        let Some(plan) = &self.plan else { return record };
        record.extensions = plan.extensions[self.phase].iter().cloned().collect();
        if self.phase == 0 {
            let nodes = state.iter().map(|array| Some(Arc::clone(&array.node))).zip(&plan.state);
            let constants = plan.constants.iter().map(|(node, halo)| (node.upgrade(), halo));
            let all = nodes.chain(constants).filter(|(_, halo)| !halo.is_zero());
            record.halo_requests = all
                .filter_map(|(node, halo)| Some(HaloRequest { node: node?, halo: halo.clone() }))
                .collect();
        }
        record
    }

    /// Takes what a step has shown: its tasks, if it was analysed, and why it is none of several.
    pub fn learn(
        &mut self,
        trace: Option<StepTrace>,
        record: &mut StepRecord,
        after: &[Array],
    ) -> Result<()> {
        if record.unsupported.is_some() && (trace.is_some() || self.plan.is_some()) {
            self.reason = record.unsupported.take();
        }
        if let (Some(trace), Some(tasks)) = (trace, record.tasks.take()) {
            self.trace = Some(trace.end(tasks, memory_numbers(after)?));
        }
        Ok(())
    }

    /// Between steps: decides how many share an exchange. Says whether that changes.
    pub fn decide(&mut self, state: &[Array]) -> Result<bool> {
        if self.trial.is_some() {
            return self.go_on_with_trial(state);
        }
        let Some(trace) = self.trace.take() else { return Ok(false) };
        let layouts = state.iter().map(|array| Ok(Arc::clone(&storage(array)?.dist)));
        let layouts = layouts.collect::<Result<Vec<_>>>()?;
        let unsupported = self.reason.take();
        let plan = |steps| match &unsupported {
            _ if steps == 0 => Ok(Err("0 steps".to_owned())),
            Some(reason) => Ok(Err(reason.clone())),
            None => trace.plan(steps, &layouts),
        };
        match self.wanted {
            Depth::Steps(steps) => match plan(steps)? {
                Ok(plan) => self.plan = Some(plan),
                Err(reason) => {
                    let expected = format!("a step of which {steps} can share an exchange");
                    let remedy = "use auto_depth, which then exchanges in every step";
                    return Err(Error::invalid("Loop::depth", expected, reason, remedy));
                }
            },
            Depth::Auto => {
                for steps in DEEPEST {
                    match plan(steps)? {
                        Ok(plan) => {
                            let times = Times::of(&plan.cells);
                            self.reason = None;
                            self.trial =
                                Some(DepthTrial { trace, layouts, deepest: Some(plan), times, steps: 0 });
                            break;
                        }
                        Err(reason) => self.reason = Some(reason),
                    }
                }
            }
        }
        Ok(self.plan.is_some())
    }

    /// The next stage of a trial, where it is time for one.
    fn go_on_with_trial(&mut self, state: &[Array]) -> Result<bool> {
        let stage = (WARM_UP + TIMED) * self.steps_per_exchange();
        let Some(trial) = self.trial.as_mut().filter(|trial| trial.steps >= stage) else { return Ok(false) };
        trial.steps = 0;
        if let Some(plan) = trial.deepest.take() {
            self.plan = Some(plan);
            return Ok(true);
        }
        let Some(DepthTrial { trace, layouts, times, .. }) = self.trial.take() else { return Ok(false) };
        let plan = |depth: usize| trace.plan(depth, &layouts).ok().and_then(std::result::Result::ok);
        let (mut depth, pace) = times.choose(|depth| plan(depth).map(|plan| plan.cells));
        self.reason = Some(pace.to_string());
        if let Some(ranks) = state.first().and_then(|array| array.team().wire()) {
            let all = ranks.all_gather("depth of a Loop", &(depth as u64).to_le_bytes())?;
            let first = all.first().and_then(|bytes| bytes.first_chunk::<8>());
            depth = first.map_or(depth, |bytes| u64::from_le_bytes(*bytes) as usize);
        }
        let changes = depth != self.steps_per_exchange();
        if changes {
            self.plan = if depth > 1 { plan(depth) } else { None };
        }
        Ok(changes)
    }

    /// When a step began, if it is to be timed; what was queued before it is done then.
    pub fn begin_timing(&self, state: &[Array]) -> Result<Option<Instant>> {
        match &self.trial {
            Some(trial) if trial.steps >= WARM_UP * self.steps_per_exchange() => {
                wait(state)?;
                Ok(Some(Instant::now()))
            }
            Some(_) | None => Ok(None),
        }
    }

    pub fn end_timing(&mut self, began: Option<Instant>, state: &[Array]) -> Result<()> {
        let Some(trial) = &mut self.trial else { return Ok(()) };
        if let Some(began) = began {
            wait(state)?;
            trial.times.take(self.plan.as_ref().map(|_| self.phase), began.elapsed());
        }
        trial.steps += 1;
        Ok(())
    }
}

fn wait(state: &[Array]) -> Result<()> {
    state.first().map_or(Ok(()), |array| array.team().wait())
}

/// The memory of each array, by number.
pub(crate) fn memory_numbers(state: &[Array]) -> Result<Vec<u64>> {
    state.iter().map(|array| Ok(storage(array)?.number)).collect()
}

/// Depths that are tried, the first that is possible.
const DEEPEST: [usize; 3] = [8, 4, 2];

/// The smallest depth is taken whose steps are as fast as the fastest up to this.
const WORTH_IT: f64 = 0.97;

/// Seconds per step when `depth` steps share an exchange: each computes for its neighbours what these would
/// otherwise send. `compute(j)` is a step that computes for `j` more, `exchange(depth)` an exchange of halos
/// for `depth` steps. The two are added: an exchange's time that computation hides does not count.
pub fn time_per_step(depth: usize, compute: impl Fn(usize) -> f64, exchange: impl Fn(usize) -> f64) -> f64 {
    ((0..depth).map(|step| compute(depth - 1 - step)).sum::<f64>() + exchange(depth)) / depth as f64
}

/// Times of steps that were measured, the shortest of each kind.
#[derive(Clone, Debug)]
struct Times {
    /// With an exchange in every step.
    plain: f64,
    /// With one exchange before the first.
    shared: Vec<f64>,
    /// The number of cells that each of the latter computes.
    cells: Vec<u64>,
}

/// The cost of steps and exchanges, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pace {
    launch: f64,
    per_cell: f64,
    latency: f64,
    per_layer: f64,
}

impl Times {
    fn of(cells: &[u64]) -> Times {
        Times { plain: f64::INFINITY, shared: vec![f64::INFINITY; cells.len()], cells: cells.to_vec() }
    }

    /// The step that follows `phase` steps after a shared exchange, or one with an exchange of its own.
    fn take(&mut self, phase: Option<usize>, time: Duration) {
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

    /// The time of a cell: the slope of the least-squares line through the steps without an exchange. No more
    /// than if launches took nothing, which is also assumed if the steps hardly differ.
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
    fn choose(&self, cells: impl Fn(usize) -> Option<Vec<u64>>) -> (usize, Pace) {
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
