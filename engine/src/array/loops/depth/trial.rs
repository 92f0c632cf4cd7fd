//! Chooses the number of steps per exchange: from the analysis of the first steps (`depth`), or from
//! measured times (`auto_depth`).

use std::sync::Arc;
use std::time::Instant;

use crate::array::loops::cycle::storage;
use crate::array::loops::depth::measured::{DepthTrial, TIMED, WARM_UP};
use crate::array::loops::depth::pace::{DEEPEST, Times};
use crate::array::loops::replay::{Depth, Loop};
use crate::error::{Error, Result};

impl<F: crate::array::loops::step::Step> Loop<F> {
    /// Between steps: decides how many share an exchange.
    pub(crate) fn decide_depth(&mut self) -> Result<()> {
        if self.trial.is_some() {
            return self.go_on_with_trial();
        }
        let Some(trace) = self.trace.take() else { return Ok(()) };
        let layouts = self.state.iter().map(|array| Ok(Arc::clone(&storage(array)?.dist)));
        let layouts = layouts.collect::<Result<Vec<_>>>()?;
        let unsupported = self.reason.take();
        let plan = |steps| match &unsupported {
            _ if steps == 0 => Ok(Err("0 steps".to_owned())),
            Some(reason) => Ok(Err(reason.clone())),
            None => trace.plan(steps, &layouts),
        };
        match self.wanted {
            Depth::Steps(steps) => match plan(steps)? {
                Ok(plan) => self.go_on_with(Some(plan)),
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
        Ok(())
    }

    /// The next stage of a trial, where it is time for one.
    fn go_on_with_trial(&mut self) -> Result<()> {
        let Some(trial) = &mut self.trial else { return Ok(()) };
        if trial.steps < (WARM_UP + TIMED) * self.plan.as_ref().map_or(1, |plan| plan.depth) {
            return Ok(());
        }
        trial.steps = 0;
        match trial.deepest.take() {
            Some(plan) => self.go_on_with(Some(plan)),
            None => self.decide()?,
        }
        Ok(())
    }

    /// Ends a trial.
    fn decide(&mut self) -> Result<()> {
        let Some(DepthTrial { trace, layouts, times, .. }) = self.trial.take() else { return Ok(()) };
        let plan = |depth: usize| trace.plan(depth, &layouts).ok().and_then(std::result::Result::ok);
        let (mut depth, pace) = times.choose(|depth| plan(depth).map(|plan| plan.cells));
        self.reason = Some(pace.to_string());
        let wire = self.state.first().and_then(|array| array.team().wire().cloned());
        if let Some(ranks) = wire {
            let all = ranks.all_gather("depth of a Loop", &(depth as u64).to_le_bytes())?;
            let first = all.first().and_then(|bytes| bytes.first_chunk::<8>());
            depth = first.map_or(depth, |bytes| u64::from_le_bytes(*bytes) as usize);
        }
        if depth != self.steps_per_exchange() {
            self.go_on_with(if depth > 1 { plan(depth) } else { None });
        }
        Ok(())
    }

    /// When a step began, if it is to be timed; what was queued before it is done then.
    pub(crate) fn begin_timing(&self) -> Result<Option<Instant>> {
        let Some(trial) = &self.trial else { return Ok(None) };
        if trial.steps < WARM_UP * self.steps_per_exchange() {
            return Ok(None);
        }
        self.wait()?;
        Ok(Some(Instant::now()))
    }

    pub(crate) fn end_timing(&mut self, began: Option<Instant>) -> Result<()> {
        if let Some(began) = began {
            self.wait()?;
            let phase = self.plan.as_ref().map(|_| self.phase);
            self.trial.iter_mut().for_each(|trial| trial.times.take(phase, began.elapsed()));
        }
        self.trial.iter_mut().for_each(|trial| trial.steps += 1);
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        self.state.first().map_or(Ok(()), |array| array.team().wait())
    }
}
