//! A run: first the ceilings, then each workload beside peers (`contender`), then what is measured alone.

use std::collections::BTreeMap;
use std::fs;
use std::iter;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use partita::prelude::*;

use crate::cases::apps::APPS;
use crate::cases::blocking::BLOCKINGS;
use crate::cases::halo::{self, FACES};
use crate::cases::overhead::OVERHEADS;
use crate::cases::repartition::REPARTITIONS;
use crate::cases::workload::{Sizes, WORKLOADS, Workload};
use crate::results::machine::{self, Machine};
use crate::results::record::{Line, Missing, Record, to_text};
use crate::run::ceiling;
use crate::run::contender::{Contender, rounds};
use crate::run::peers::{Outcomes, Peers, Request};
use crate::run::wanted::Wanted;
use crate::sample::Effort;

/// Something that is measured on its own.
struct Task {
    group: &'static str,
    name: &'static str,
    /// Whether it has elements, of every wanted type.
    is_typed: bool,
    measure: Measure,
}

/// On a device, with elements of a type, beside that device's best copy in GB/s.
type Measure = Box<dyn Fn(&Device, DType, &Wanted, Option<f64>) -> Result<Record>>;

/// Sets of arrays that take turns, at most.
const MOST_SETS: usize = 16;
/// What a step takes, as a multiple of a workload's: ceilings are several, the others short.
const CEILINGS_WEIGHT: f64 = 3.0;
const TASK_WEIGHT: f64 = 0.2;
/// Bare messages, which peers send beside the ceilings, and their bytes.
const MESSAGES: [(&str, f64); 2] = [("message", 16.0), ("message_1MiB", (1 << 20) as f64)];
/// Of the seconds for one thing; a peer has them in one piece, and so repeats without warming up again.
const TURN_SHARE: f64 = 0.5;

impl Wanted {
    fn workloads(&self) -> Vec<&'static Workload> {
        WORKLOADS.iter().filter(|workload| self.wants(workload.group, workload.name)).collect()
    }

    /// What is measured on its own, beside no copy and no peer.
    fn tasks(&self) -> Vec<Task> {
        let typed = |group, name, measure| Task { group, name, is_typed: true, measure };
        let faces = FACES.iter().map(|faces| {
            let measure: Measure = Box::new(|device, dtype, wanted, copy| {
                halo::measure(faces, device, dtype, wanted.sizes.cube, &wanted.effort, copy)
            });
            typed("H1", faces.name, measure)
        });
        let repartitions = REPARTITIONS.iter().map(|what| {
            let measure: Measure = Box::new(|device, dtype, wanted, copy| {
                what.measure(device, dtype, wanted.sizes.cube, &wanted.effort, copy)
            });
            typed("P1", what.name, measure)
        });
        let apps = APPS.iter().map(|app| {
            let measure: Measure = Box::new(|device, dtype, wanted, copy| {
                let extents = (wanted.sizes.plane, wanted.sizes.cube);
                app.measure(device, dtype, extents, wanted.parts, &wanted.effort, copy)
            });
            typed("A1", app.name, measure)
        });
        let blockings = BLOCKINGS.iter().map(|blocking| {
            let measure: Measure = Box::new(|device, dtype, wanted, copy| {
                let Wanted { sizes, parts, effort, .. } = wanted;
                blocking.measure(device, dtype, sizes, *parts, effort, copy)
            });
            typed("T1", blocking.name, measure)
        });
        let overheads = OVERHEADS.iter().map(|overhead| {
            let measure: Measure = Box::new(|device, _, wanted, _| overhead.measure(device, &wanted.effort));
            Task { is_typed: false, ..typed("L1", overhead.name, measure) }
        });
        let all = faces.chain(repartitions).chain(apps).chain(blockings).chain(overheads);
        all.filter(|task| self.wants(task.group, task.name)).collect()
    }

    /// The weights of the steps of a run.
    fn weights(&self, workloads: usize, tasks: &[Task]) -> Vec<f64> {
        let workloads = iter::repeat_n(1.0, workloads * self.dtypes.len());
        let tasks: usize = tasks.iter().map(|task| self.types(task).len() * self.devices.len()).sum();
        iter::once(CEILINGS_WEIGHT).chain(workloads).chain(iter::repeat_n(TASK_WEIGHT, tasks)).collect()
    }

    /// The types a task is measured in.
    fn types(&self, task: &Task) -> &[DType] {
        if task.is_typed { &self.dtypes } else { &[DType::F32] }
    }

    /// Sets of arrays of which each passes so many bytes.
    fn sets(&self, bytes: f64) -> usize {
        ((self.rotated_bytes / bytes.max(1.0)).ceil() as usize).clamp(1, MOST_SETS)
    }
}

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
    let (workloads, tasks) = (wanted.workloads(), wanted.tasks());
    ensure!(
        !(workloads.is_empty() && tasks.is_empty()),
        "nothing is called {}; `partita-bench list` names what there is",
        wanted.filter.join(" or ")
    );
    let weights = wanted.weights(workloads.len(), &tasks);
    let mut progress = Progress::of(wanted, progress_bar(weights.len())?);
    if let Some(peers) = &mut peers {
        progress.machine.peers = peers.versions.clone();
        peers.begin(wanted.budget, weights);
    }
    let peers = peers.as_ref();

    progress.ceilings()?;
    if let Some(peers) = peers {
        progress.messages(peers);
    }
    progress.ended(peers);
    for workload in workloads {
        for &dtype in &wanted.dtypes {
            progress.workload(workload, dtype, peers)?;
        }
    }
    for (nth, device) in wanted.devices.iter().enumerate() {
        progress.costs(device, &tasks, if nth == 0 { peers } else { None })?;
    }
    progress.bar.finish_and_clear();
    progress.save()?;
    Ok(progress.all_lines())
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
            let sizes = &self.wanted.sizes;
            let sets = self.wanted.sets(8.0 * sizes.line as f64);
            let mut ceilings = ceiling::copies(device, sizes, sets)?;
            ceilings.extend(ceiling::others(device, sizes, sets)?);
            for ceiling in &mut ceilings {
                let record = ceiling::measure(ceiling, &self.wanted.effort)
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
            let copy_sets = self.wanted.sets(8.0 * self.wanted.sizes.line as f64);
            match Contender::new(workload, dtype, device, sizes, self.wanted, (sets, copy_sets)) {
                Ok(contender) => contenders.push(contender),
                Err(error) => self.without(workload.name, device.name(), dtype, &error),
            }
        }
        let asked = request(workload.name, dtype, &self.wanted.effort, sets);
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

    /// A turn of every peer, for what is measured on its own.
    fn ask_peers(&mut self, peers: Option<&Peers>, example: &Record, dtype: DType) {
        if let Some(peers) = peers {
            let request = request(&example.workload, dtype, &self.wanted.effort, 1);
            let turn = |peer: String| (peer.clone(), peers.turn(&peer, &request));
            let outcomes = peers.offering(&example.workload).into_iter().map(turn).collect();
            self.keep_peers(example, outcomes);
        }
    }

    /// What became of the peers, each about the same as `example`.
    fn keep_peers(&mut self, example: &Record, outcomes: Outcomes) {
        for (who, outcome) in outcomes {
            let line = outcome.line(who, example);
            if let Line::Failed(missing) = &line {
                self.bar.suspend(|| eprintln!("failed: {}", missing.sentence()));
            }
            self.lines.push(line);
        }
    }

    /// Bare messages beside the ceiling of the same name.
    fn messages(&mut self, peers: &Peers) {
        let of = |name, bytes: f64| {
            let record = Record::of_time("ceiling", name, "", vec![1.0]);
            if bytes > 16.0 { record.moving(bytes, None) } else { record }
        };
        for (name, bytes) in MESSAGES {
            self.ask_peers(Some(peers), &of(name, bytes), DType::F32);
        }
    }

    /// Names what has no figure: a device may lack a type, anything else that goes wrong is a failure.
    fn without(&mut self, workload: &str, who: &str, dtype: DType, error: &anyhow::Error) {
        let reason = format!("{error:#}");
        let missing =
            Missing { workload: workload.to_owned(), who: who.to_owned(), dtype: dtype.to_string(), reason };
        let line = match error.downcast_ref::<partita::Error>() {
            Some(partita::Error::Unsupported { .. }) => {
                self.bar.suspend(|| eprintln!("skipped: {}", missing.sentence()));
                Line::Skipped(missing)
            }
            _ => {
                self.bar.suspend(|| eprintln!("failed: {}", missing.sentence()));
                Line::Failed(missing)
            }
        };
        self.lines.push(line);
    }

    /// Each task alone on the device; `peers` then do the same, where it is something that they know.
    fn costs(&mut self, device: &Device, tasks: &[Task], peers: Option<&Peers>) -> Result<()> {
        let copy = self.best_copy.get(device.name()).copied();
        for task in tasks {
            for &dtype in self.wanted.types(task) {
                self.step(task.name);
                match (task.measure)(device, dtype, self.wanted, copy) {
                    Ok(record) => {
                        self.lines.push(Line::Record(record.clone()));
                        self.ask_peers(peers, &record, dtype);
                    }
                    Err(error) => self.without(task.name, device.name(), dtype, &error),
                }
                self.ended(peers);
                self.save()?;
            }
        }
        Ok(())
    }
}

fn request<'a>(workload: &'a str, dtype: DType, effort: &Effort, sets: usize) -> Request<'a> {
    Request { workload, dtype, repeats: effort.most, seconds: effort.seconds * TURN_SHARE, sets }
}

fn progress_bar(steps: usize) -> Result<ProgressBar> {
    let bar = ProgressBar::new(steps as u64);
    bar.set_style(ProgressStyle::with_template("{bar:32} {pos}/{len} {msg} (about {eta} left)")?);
    bar.enable_steady_tick(Duration::from_millis(500));
    Ok(bar)
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
