//! The rounds of one workload, in which every device, every peer and the copy take turns, so that a noisy
//! minute hits all alike.

use anyhow::{Context, Result};
use partita::prelude::*;

use crate::cases::bound::{Bound, WorstError};
use crate::cases::workload::{Sizes, Workload};
use crate::results::record::Quantiles;
use crate::run::ceiling::{self, Ceiling};
use crate::run::peers::{Outcomes, Peers, Request};
use crate::run::wanted::Wanted;
use crate::sample::{Effort, Pace, sample};

/// Rounds of interleaving, at least: the samples are split over them.
const ROUNDS: usize = 3;
/// Turns of peers between two rounds.
const TURNS: usize = 2;

/// A device in the rounds of one workload.
pub struct Contender {
    pub device: Device,
    bound: Bound,
    copies: Vec<CopyMode>,
    pace: Pace,
    pub seconds: Vec<f64>,
    pub error: f64,
}

impl Contender {
    /// Warm, and right in a first result.
    pub fn new(
        workload: &'static Workload,
        dtype: DType,
        device: &Device,
        sizes: &Sizes,
        wanted: &Wanted,
        (sets, copy_sets): (usize, usize),
    ) -> Result<Contender> {
        let mut bound = Bound::new(workload, dtype, device, sizes, wanted.parts, sets)?;
        bound.run(1)?;
        let WorstError(error) = bound.check()?;
        // Every set meets the pool and the cache of programs before the clock runs.
        bound.run(sets)?;
        let pace = wanted.effort.pace(sample(1, &mut |times| bound.run(times))?);
        let copies = ceiling::copies(device, &wanted.sizes, copy_sets)?.into_iter();
        let copies = copies.map(|copy| CopyMode::new(copy, &wanted.effort)).collect::<Result<_>>()?;
        Ok(Contender { device: device.clone(), bound, copies, pace, seconds: Vec::new(), error })
    }

    /// The share of one of so many rounds, between two copies.
    fn round(&mut self, rounds: usize) -> Result<()> {
        self.copies.iter_mut().try_for_each(CopyMode::sample)?;
        self.bound.run(1)?;
        for _ in 0..self.pace.samples.div_ceil(rounds) {
            self.seconds.push(sample(self.pace.runs, &mut |times| self.bound.run(times))?);
        }
        self.copies.iter_mut().try_for_each(CopyMode::sample)
    }

    /// The best copy's median.
    pub fn copy_gb_s(&self) -> f64 {
        self.copies.iter().map(CopyMode::gb_s).fold(0.0, f64::max)
    }
}

/// A copy that is measured again and again between other things.
struct CopyMode {
    copy: Ceiling,
    runs: usize,
    seconds: Vec<f64>,
}

impl CopyMode {
    fn new(mut copy: Ceiling, effort: &Effort) -> Result<CopyMode> {
        (copy.run)(1)?;
        let runs = effort.pace(sample(1, &mut copy.run)?).runs;
        Ok(CopyMode { copy, runs, seconds: Vec::new() })
    }

    /// As warm, and as long, as a sample of a workload.
    fn sample(&mut self) -> Result<()> {
        (self.copy.run)(1)?;
        for _ in 0..2 {
            self.seconds.push(sample(self.runs, &mut self.copy.run)?);
        }
        Ok(())
    }

    fn gb_s(&self) -> f64 {
        self.copy.bytes / Quantiles::of(self.seconds.clone()).median_s / 1e9
    }
}

/// Rounds of the devices, and between any two of them the turns of a few peers.
pub fn rounds(asked: &Request, contenders: &mut [Contender], peers: Option<&Peers>) -> Result<Outcomes> {
    let turns: Vec<(&Peers, String)> = peers
        .iter()
        .flat_map(|&all| all.offering(asked.workload).into_iter().map(move |peer| (all, peer)))
        .collect();
    let mut outcomes = Outcomes::new();
    let rounds = ROUNDS.max(turns.len().div_ceil(TURNS));
    for round in 0..rounds {
        for contender in contenders.iter_mut() {
            let name = contender.device.name().to_owned();
            contender.round(rounds).with_context(|| format!("{} on {name}", asked.workload))?;
        }
        for (peers, peer) in turns.iter().skip(round * TURNS).take(TURNS) {
            outcomes.insert(peer.clone(), peers.turn(peer, asked));
        }
    }
    for contender in contenders {
        let WorstError(error) = contender.bound.check()?;
        contender.error = contender.error.max(error);
    }
    Ok(outcomes)
}
