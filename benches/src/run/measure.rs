//! A run: first the ceilings, then each workload, then what is measured alone.
//!
//! In the rounds of a workload every device, every peer and the copy take turns, so that a noisy minute hits
//! all alike.

use std::collections::BTreeMap;
use std::fs;
use std::iter;
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use partita::prelude::*;

use crate::cases::alone;
use crate::cases::bound::Bound;
use crate::cases::case::{Case, On, Work};
use crate::cases::workload::{Sizes, WORKLOADS, Workload};
use crate::results::machine::{self, Machine};
use crate::results::record::{Line, Missing, Quantiles, Record, to_text};
use crate::run::ceiling::{self, Ceiling};
use crate::run::peers::{Outcomes, Peers, Request};
use crate::run::wanted::Wanted;
use crate::sample::{Pace, sample};

/// The time of a step, as a multiple of a workload's: ceilings are several, the others short.
const CEILINGS_WEIGHT: f64 = 3.0;
const ALONE_WEIGHT: f64 = 0.2;
/// Of the seconds for one thing; a peer has them in one piece, and so repeats without warming up again.
const TURN_SHARE: f64 = 0.5;
/// Rounds of interleaving, at least: the samples are split over them.
const ROUNDS: usize = 3;
/// Turns of peers between two rounds.
const TURNS: usize = 2;

/// The lines of a run so far, and how far it is.
struct Progress<'a> {
    wanted: &'a Wanted,
    machine: Machine,
    bar: ProgressBar,
    lines: Vec<Line>,
    /// GB/s of the best copy of each device.
    best_copy: BTreeMap<String, f64>,
}

/// Measures everything that is wanted.
pub fn run(wanted: &Wanted, mut peers: Option<Peers>) -> Result<Vec<Line>> {
    let workloads: Vec<_> = WORKLOADS.iter().filter(|w| wanted.wants(w.group, w.name)).collect();
    let cases: Vec<_> = alone().filter(|case| wanted.wants(case.group, case.name)).collect();
    let figures: usize = cases.iter().map(|case| types(wanted, case).len() * wanted.devices.len()).sum();
    let weights: Vec<f64> = iter::once(CEILINGS_WEIGHT)
        .chain(iter::repeat_n(1.0, workloads.len() * wanted.dtypes.len()))
        .chain(iter::repeat_n(ALONE_WEIGHT, figures))
        .collect();
    let mut progress = Progress::of(wanted, progress_bar(weights.len())?);
    if let Some(peers) = &mut peers {
        progress.machine.peers = peers.versions.clone();
        let names: Vec<_> = workloads.iter().map(|workload| workload.name).collect();
        peers.begin(&names, &wanted.dtypes, wanted.budget, weights);
    }
    let peers = peers.as_ref();

    progress.ceilings()?;
    progress.ended(peers);
    for workload in workloads {
        for &dtype in &wanted.dtypes {
            progress.workload(workload, dtype, peers)?;
        }
    }
    for (nth, device) in wanted.devices.iter().enumerate() {
        progress.alone(device, &cases, if nth == 0 { peers } else { None })?;
    }
    progress.bar.finish_and_clear();
    progress.save()?;
    Ok(progress.all_lines())
}

/// The types a case is measured in.
fn types<'a>(wanted: &'a Wanted, case: &Case) -> &'a [DType] {
    if case.is_typed { &wanted.dtypes } else { &[DType::F32] }
}

impl Progress<'_> {
    fn of(wanted: &Wanted, bar: ProgressBar) -> Progress<'_> {
        let mut machine = Machine::here(&wanted.devices);
        let Sizes { line, plane, cube } = wanted.sizes;
        (machine.extents, machine.parts) = ((line, plane, cube), wanted.parts);
        machine.rotated_bytes = wanted.rotated_bytes;
        Progress { wanted, machine, bar, lines: Vec::new(), best_copy: BTreeMap::new() }
    }

    /// The machine, whose load ends now, and what was measured.
    fn all_lines(&self) -> Vec<Line> {
        let mut machine = self.machine.clone();
        machine.load.1 = machine::load();
        [vec![Line::Machine(machine)], self.lines.clone()].concat()
    }

    fn save(&self) -> Result<()> {
        let Some(file) = &self.wanted.save else { return Ok(()) };
        let text = to_text(&self.all_lines())?;
        fs::write(file, text).with_context(|| format!("write {}", file.display()))
    }

    fn step(&self, name: &str) {
        self.bar.set_message(name.to_owned());
        if self.bar.is_hidden() {
            eprintln!("measuring {name}");
        }
    }

    fn ceilings(&mut self) -> Result<()> {
        for device in &self.wanted.devices {
            self.step(&format!("ceilings of {}", device.name()));
            let (on, sets) = (self.wanted.on(device, DType::F32, None), self.wanted.copy_sets());
            let mut ceilings = ceiling::copies(&on, sets)?;
            ceilings.extend(ceiling::others(&on, sets)?);
            for ceiling in &mut ceilings {
                let record = ceiling
                    .measure(&on)
                    .with_context(|| format!("ceiling {} of {}", ceiling.name, ceiling.who))?;
                self.keep_ceiling(device, record);
            }
        }
        Ok(())
    }

    /// One step less to go.
    fn ended(&self, peers: Option<&Peers>) {
        self.bar.inc(1);
        peers.into_iter().for_each(Peers::ended);
    }

    fn keep_ceiling(&mut self, device: &Device, record: Record) {
        if let (true, Some(gb_s)) = (record.workload == "copy", record.gb_s) {
            let best = self.best_copy.entry(device.name().to_owned()).or_insert(gb_s);
            *best = best.max(gb_s);
        }
        // Two devices may share the processor's plain loops: once is enough.
        let is_same = |other: &Record| other.who == record.who && other.workload == record.workload;
        if !self.lines.iter().filter_map(Line::record).any(is_same) {
            self.lines.push(Line::Record(record));
        }
    }

    fn workload(&mut self, workload: &'static Workload, dtype: DType, peers: Option<&Peers>) -> Result<()> {
        let sizes = &self.wanted.sizes;
        let name = format!("{} {dtype}", workload.name);
        self.step(&format!("{name}, {} cells", workload.points(sizes)));
        let bytes = workload.bytes(sizes, dtype);
        let sets = self.wanted.sets(bytes);
        let mut contenders = Vec::new();
        for device in &self.wanted.devices {
            let on = self.wanted.on(device, dtype, None);
            match Contender::new(workload, &on, sets, self.wanted.copy_sets()) {
                Ok(contender) => contenders.push(contender),
                Err(error) => self.without(workload.name, device.name(), dtype, &error),
            }
        }
        let asked = self.request(workload.name, dtype, sets);
        let outcomes = rounds(&asked, &mut contenders, peers).unwrap_or_else(|error| {
            self.without(workload.name, "this run", dtype, &error);
            contenders.clear();
            Outcomes::new()
        });
        let about = |record: Record| Record {
            dtype: dtype.to_string(),
            points: workload.points(sizes),
            operations: workload.operations(sizes),
            ..record
        };
        let mut copy = 0f64;
        for contender in contenders {
            let gb_s = contender.copy_gb_s();
            copy = copy.max(gb_s);
            let record =
                Record::of_time(workload.group, workload.name, contender.device.name(), contender.seconds);
            let record = about(record).moving(bytes, Some(gb_s));
            self.lines.push(Line::Record(Record { error: Some(contender.error), ..record }));
        }
        let example = about(Record::of_time(workload.group, workload.name, "", vec![0.0]));
        self.keep_peers(&example.moving(bytes, (copy > 0.0).then_some(copy)), outcomes);
        self.ended(peers);
        self.save()
    }

    fn request<'a>(&self, workload: &'a str, dtype: DType, sets: usize) -> Request<'a> {
        let effort = &self.wanted.effort;
        Request { workload, dtype, repeats: effort.most, seconds: effort.seconds * TURN_SHARE, sets }
    }

    /// A turn of every peer, for what is measured on its own.
    fn ask_peers(&mut self, peers: Option<&Peers>, example: &Record, dtype: DType) {
        if let Some(peers) = peers {
            let request = self.request(&example.workload, dtype, 1);
            let turn = |peer: String| (peer.clone(), peers.turn(&peer, &request));
            let outcomes = peers.offering(&example.workload).into_iter().map(turn).collect();
            self.keep_peers(example, outcomes);
        }
    }

    /// Keeps the outcomes of the peers, each about the same as `example`.
    fn keep_peers(&mut self, example: &Record, outcomes: Outcomes) {
        for (who, outcome) in outcomes {
            let line = outcome.line(who, example);
            if let Line::Failed(missing) = &line {
                self.bar.suspend(|| eprintln!("failed: {}", missing.sentence()));
            }
            self.lines.push(line);
        }
    }

    /// Names what has no figure: a device may lack a type, anything else that goes wrong is a failure.
    fn without(&mut self, workload: &str, who: &str, dtype: DType, error: &anyhow::Error) {
        let missing = Missing::new(workload, who, &dtype.to_string(), &format!("{error:#}"));
        let lacks = matches!(error.downcast_ref(), Some(partita::Error::Unsupported { .. }));
        let verdict = if lacks { "skipped" } else { "failed" };
        self.bar.suspend(|| eprintln!("{verdict}: {}", missing.sentence()));
        self.lines.push(if lacks { Line::Skipped(missing) } else { Line::Failed(missing) });
    }

    /// Each case alone on the device; `peers` then do the same, where it is something that they know.
    fn alone(&mut self, device: &Device, cases: &[Case], peers: Option<&Peers>) -> Result<()> {
        let copy = self.best_copy.get(device.name()).copied();
        for case in cases {
            for &dtype in types(self.wanted, case) {
                self.step(case.name);
                match (case.measure)(&self.wanted.on(device, dtype, copy)) {
                    Ok(record) => {
                        self.lines.push(Line::Record(record.clone()));
                        self.ask_peers(peers, &record, dtype);
                    }
                    Err(error) => self.without(case.name, device.name(), dtype, &error),
                }
                self.ended(peers);
                self.save()?;
            }
        }
        Ok(())
    }
}

fn progress_bar(steps: usize) -> Result<ProgressBar> {
    let bar = ProgressBar::new(steps as u64);
    bar.set_style(ProgressStyle::with_template("{bar:32} {pos}/{len} {msg} (about {eta} left)")?);
    bar.enable_steady_tick(Duration::from_millis(500));
    Ok(bar)
}

/// A device in the rounds of one workload.
struct Contender {
    device: Device,
    bound: Bound,
    copies: Vec<CopyMode>,
    pace: Pace,
    seconds: Vec<f64>,
    error: f64,
}

impl Contender {
    /// Warm, and right in a first result.
    fn new(workload: &'static Workload, on: &On, sets: usize, copy_sets: usize) -> Result<Contender> {
        let mut bound = Bound::new(workload, on, sets)?;
        bound.run(1)?;
        let error = bound.check()?;
        // Every set meets the pool and the cache of programs before the clock runs.
        bound.run(sets)?;
        let pace = on.effort.pace(sample(1, &mut |times| bound.run(times))?);
        let copies = ceiling::copies(on, copy_sets)?.into_iter().map(|copy| CopyMode::new(copy, on));
        let copies = copies.collect::<Result<_>>()?;
        Ok(Contender { device: on.device.clone(), bound, copies, pace, seconds: Vec::new(), error })
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
    fn copy_gb_s(&self) -> f64 {
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
    fn new(mut copy: Ceiling, on: &On) -> Result<CopyMode> {
        (copy.run)(1)?;
        let runs = on.effort.pace(sample(1, &mut copy.run)?).runs;
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
fn rounds(asked: &Request, contenders: &mut [Contender], peers: Option<&Peers>) -> Result<Outcomes> {
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
        contender.error = contender.error.max(contender.bound.check()?);
    }
    Ok(outcomes)
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
