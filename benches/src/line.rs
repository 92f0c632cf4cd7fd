//! A link that can be slowed down: parts of one device exchange faces, and what was sent counts as arrived
//! only after the link's time. So the predictions of `model` can be compared with runs on one device.
//!
//! The steps are queued kernel by kernel, because what is measured is their order: faces first, then inner
//! cells while faces travel, then the rest; and several steps per exchange where halos are deep.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use partita::device::{Job, Program};
use partita::index::Region;
use partita::prelude::*;
use partita::program::{Command, Place, run};
use partita_kernels::{BinaryOp, Builder, Launch, Verified};

use crate::halo::Exchange;
use crate::model::{Link, Model, Rates, SEVEN_POINTS, Share};
use crate::record::{Quantiles, Record};
use crate::sample::{Effort, samples};

/// The parts: every one has a neighbour along every axis.
const GRID: [i64; 3] = [2, 2, 2];
const PARTS: usize = 8;
/// Depths of halos, in steps.
pub const DEPTHS: [usize; 3] = [1, 2, 4];

/// When inner cells are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// After the faces have arrived, with all others.
    InTurn,
    /// While faces travel.
    Overlapped,
}

/// A 7-point stencil over 8 parts of a cube, with two buffers that change places.
struct Parts {
    device: Device,
    extent: i64,
    depth: usize,
    dist: Distribution,
    program: std::sync::Arc<Program>,
    /// The buffer that holds the state comes first.
    buffers: [Exchange; 2],
}

impl Parts {
    fn new(device: &Device, extent: i64, depth: usize) -> Result<Parts> {
        let widths = [depth as i64; 3];
        let buffer = || Exchange::new(device, DType::F32, &[extent; 3], &GRID, &widths, true);
        let dist = Distribution::builder(&[extent; 3]).grid(&GRID).halo(&widths, &widths).build()?;
        let program = device.compile(stencil()?)?;
        let mut buffers = [buffer()?, buffer()?];
        // The cube's faces never change, but halos hold copies of them, in both buffers.
        buffers.iter_mut().try_for_each(|buffer| buffer.run(1))?;
        Ok(Parts { device: device.clone(), extent, depth, dist, program, buffers })
    }

    /// What a part owns, moved out by so many cells towards its neighbours; never the cube's faces.
    fn zone(&self, part: usize, by: i64) -> Result<Region> {
        let owned = self.dist.owned(part);
        let mut ends = ([0; 3], [0; 3]);
        for d in 0..3 {
            let (start, stop) = (owned.start()[d], owned.stop()[d]);
            ends.0[d] = if start > 0 { start - by } else { 1 };
            ends.1[d] = if stop < self.extent { stop + by } else { self.extent - 1 };
            ends.1[d] = ends.1[d].max(ends.0[d]);
        }
        Ok(Region::new(&ends.0, &ends.1)?)
    }

    /// Queues one step over boxes of every part, from one buffer to the other.
    fn compute(&self, from: usize, boxes: impl Fn(usize) -> Result<Vec<Region>>) -> Result<()> {
        let (sources, targets) = (self.buffers[from].places()?, self.buffers[1 - from].places()?);
        for part in 0..PARTS {
            let place = |places: &[Option<Place>]| places[part].clone().context("every part has cells");
            let (source, target) = (place(&sources)?, place(&targets)?);
            for region in boxes(part)?.iter().filter(|region| !region.is_empty()) {
                let launch = Launch {
                    extents: region.extents().iter().map(|&extent| extent as usize).collect(),
                    origin: region.start().to_vec(),
                    views: vec![source.view(region.start()), target.view(region.start())],
                    arguments: Vec::new(),
                };
                let memory = vec![source.allocation.clone(), target.allocation.clone()];
                let job = Job { program: self.program.clone(), launch: launch.into(), memory };
                run(&Command::Launch { device: self.device.clone(), job })?;
            }
        }
        Ok(())
    }

    /// The time of lists of one box per part, one after the other.
    fn time_us(&self, lists: &[&[Region]], effort: &Effort) -> Result<f64> {
        let seconds = samples(effort, &mut |times| {
            for boxes in lists.repeat(times) {
                self.compute(0, |part| Ok(vec![boxes[part]]))?;
            }
            Ok(self.device.wait()?)
        })?;
        Ok(median_us(seconds))
    }

    /// `depth` steps after one exchange, whose faces arrive after `travel`.
    fn steps(&mut self, order: Order, travel: Duration) -> Result<()> {
        let depth = self.depth as i64;
        self.buffers[0].run(1)?;
        let arrival = Instant::now() + travel;
        let inner = |step: i64| -step - 1;
        let outer = |step: i64| depth - 1 - step;
        match order {
            Order::InTurn => {
                wait_until(arrival);
                for step in 0..depth {
                    self.compute(step as usize % 2, |part| Ok(vec![self.zone(part, outer(step))?]))?;
                }
            }
            Order::Overlapped => {
                for step in 0..depth {
                    self.compute(step as usize % 2, |part| Ok(vec![self.zone(part, inner(step))?]))?;
                }
                self.device.wait()?;
                wait_until(arrival);
                for step in 0..depth {
                    self.compute(step as usize % 2, |part| {
                        Ok(self.zone(part, outer(step))?.subtract(&self.zone(part, inner(step))?))
                    })?;
                }
            }
        }
        self.device.wait()?;
        if depth % 2 == 1 {
            self.buffers.swap(0, 1);
        }
        Ok(())
    }
}

/// Sleeps for most of the time, because threads of a shared machine wake late.
fn wait_until(end: Instant) {
    const SPIN: Duration = Duration::from_micros(300);
    if let Some(rest) = end.checked_duration_since(Instant::now() + SPIN) {
        thread::sleep(rest);
    }
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// `u + 0.1 (sum of 6 neighbours - 6 u)`.
fn stencil() -> Result<Verified> {
    let mut k = Builder::new("line_stencil7", 3);
    let (from, to) = (k.input(DType::F32), k.output(DType::F32));
    let centre = k.load(from, &[0, 0, 0]);
    let mut around = None;
    for d in 0..3 {
        for by in [-1, 1] {
            let mut offset = [0; 3];
            offset[d] = by;
            let value = k.load(from, &offset);
            around = Some(around.map_or(value, |sum| k.binary(BinaryOp::Add, sum, value)));
        }
    }
    let (six, tenth) = (k.float(DType::F32, 6.0), k.float(DType::F32, 0.1));
    let centres = k.binary(BinaryOp::Mul, centre, six);
    let around = around.context("a cell has neighbours")?;
    let rate = k.binary(BinaryOp::Sub, around, centres);
    let change = k.binary(BinaryOp::Mul, rate, tenth);
    let next = k.binary(BinaryOp::Add, centre, change);
    Ok(k.elementwise(&[(to, next)])?)
}

/// H2: a step of 8 parts whose faces travel for half the time that its cells take. What of the journey is
/// hidden is what the overlapped step gains over the step in turn.
pub struct Travelling {
    pub name: &'static str,
    pub text: &'static str,
    /// `None`: nothing travels.
    order: Option<Order>,
}

pub const TRAVELLING: &[Travelling] = &[
    Travelling {
        name: "step_alone",
        text: "7-point steps of 8 parts, f32, without an exchange",
        order: None,
    },
    Travelling {
        name: "step_in_turn",
        text: "the same after their faces, which travel half as long as a step takes",
        order: Some(Order::InTurn),
    },
    Travelling {
        name: "step_overlapped",
        text: "the same, inner cells while faces travel",
        order: Some(Order::Overlapped),
    },
];

/// Of the time on the link, what does not make a step longer: 1 if nothing of it does.
pub fn hidden_share(alone_s: f64, in_turn_s: f64, overlapped_s: f64) -> f64 {
    (in_turn_s - overlapped_s) / (in_turn_s - alone_s)
}

impl Travelling {
    /// The time of a step on a cube, of f32.
    pub fn measure(
        &self,
        device: &Device,
        extent: i64,
        effort: &Effort,
        copy_gb_s: Option<f64>,
    ) -> Result<Record> {
        ensure!(
            after(device, 1, Order::Overlapped, 4)? == after(device, 1, Order::InTurn, 4)?,
            "{}: other bits than in turn",
            self.name
        );
        let mut parts = Parts::new(device, extent, 1)?;
        let zones = (0..PARTS).map(|part| parts.zone(part, 0)).collect::<Result<Vec<Region>>>()?;
        let alone_us = parts.time_us(&[&zones], effort)?;
        let seconds = match self.order {
            None => vec![alone_us * 1e-6],
            Some(order) => {
                let travel = Duration::from_secs_f64(0.5e-6 * alone_us);
                samples(effort, &mut |times| (0..times).try_for_each(|_| parts.steps(order, travel)))?
            }
        };
        let points = (extent as f64).powi(3);
        let record =
            Record { points, error: Some(0.0), ..Record::of_time("H2", self.name, device.name(), seconds) };
        Ok(record.moving(points * SEVEN_POINTS.bytes_per_cell, copy_gb_s))
    }
}

/// The inner cells of a small cube after so many exchanges.
fn after(device: &Device, depth: usize, order: Order, exchanges: usize) -> Result<Vec<f32>> {
    let mut parts = Parts::new(device, 20, depth)?;
    (0..exchanges).try_for_each(|_| parts.steps(order, Duration::ZERO))?;
    Ok(parts.buffers[0].array().slice(&s![1..-1].repeat(3)).to_vec()?)
}

/// A step that was predicted and measured, in microseconds.
pub struct Compared {
    pub link: Link,
    pub depth: usize,
    pub order: Order,
    pub predicted_us: f64,
    pub measured_us: f64,
}

impl Compared {
    /// How much longer it took than was predicted, as a fraction.
    pub fn error(&self) -> f64 {
        self.measured_us / self.predicted_us - 1.0
    }
}

/// What the model needs to know of parts that take turns on one device. Faces and thin boxes are as thick as
/// their halos.
fn calibrate(parts: &mut Parts, effort: &Effort) -> Result<Rates> {
    let (extent, depth) = (parts.extent, parts.depth);
    let whole = (0..PARTS).map(|part| parts.zone(part, 0)).collect::<Result<Vec<Region>>>()?;
    // What does not grow with the cells is the launch, what does not shrink with the rows their beginning.
    let few = whole.iter().map(|zone| near_start(zone, [2, 2, 2])).collect::<Result<Vec<Region>>>()?;
    let thin = whole.iter().map(|zone| near_start(zone, [extent, extent, depth as i64]));
    let thin = thin.collect::<Result<Vec<Region>>>()?;
    let all_us = parts.time_us(&[&whole], effort)?;
    let few_us = parts.time_us(&[&few], effort)?;
    // After the whole, as in a step, so that nothing of them is in a cache.
    let thin_us = parts.time_us(&[&whole, &thin], effort)? - all_us;
    let cells = whole.iter().map(Region::volume).sum::<partita::index::Result<i64>>()? as f64;
    let thin_cells = thin.iter().map(Region::volume).sum::<partita::index::Result<i64>>()? as f64;
    let us_per_cell = (all_us - few_us).max(1e-3) / cells;
    // What rows of `depth` cells need beyond the bytes of these cells, which the model counts as all others.
    let rows_us = (thin_us - few_us - thin_cells * us_per_cell).max(0.0);
    let exchange = median_us(samples(effort, &mut |times| parts.buffers[0].run(times))?);
    Ok(Rates {
        copy_gb_s: SEVEN_POINTS.bytes_per_cell / us_per_cell * 1e-3,
        fraction: 1.0,
        launch_us: few_us / PARTS as f64,
        pack_us: exchange / (PARTS * 3) as f64,
        row_us: rows_us / (thin_cells / depth as f64),
        cache: None,
    })
}

fn median_us(seconds: Vec<f64>) -> f64 {
    Quantiles::of(seconds).median_s * 1e6
}

/// The first cells of a box, at most so many along each axis.
fn near_start(zone: &Region, most: [i64; 3]) -> Result<Region> {
    let stop = [0, 1, 2].map(|d| zone.stop()[d].min(zone.start()[d] + most[d]));
    Ok(Region::new(zone.start(), &stop)?)
}

/// Measures what the model predicts: two links, one half hidden and one too slow to hide. A depth is
/// calibrated and run in the same memory, so that where it lies is the same for both.
pub fn compare(device: &Device, extent: i64, effort: &Effort) -> Result<(Vec<Rates>, Vec<Compared>)> {
    let half = extent as f64 / 2.0;
    let share = Share { extents: [half; 3], sides: [1; 3] };
    let model = |rates, link| Model { rates, link, stencil: SEVEN_POINTS, turns: PARTS };
    let (mut all_rates, mut compared) = (Vec::new(), Vec::new());
    for depth in DEPTHS {
        let mut parts = Parts::new(device, extent, depth)?;
        let rates = calibrate(&mut parts, effort)?;
        all_rates.push(rates);
        for (name, ratio) in [("quick", 0.5), ("slow", 2.0)] {
            // The links are the same for all depths. Of the time that the faces travel, half is latency.
            let no_time = Link { name: name.to_owned(), latency_us: 0.0, gb_s: f64::INFINITY };
            let step = model(all_rates[0], no_time).in_turn_us(&share, 1);
            let face_bytes = half * half * SEVEN_POINTS.bytes_per_face_cell;
            let (latency_us, gb_s) = (ratio * step / 6.0, face_bytes * 1e-3 / (ratio * step / 6.0));
            let model = model(rates, Link { name: name.to_owned(), latency_us, gb_s });
            let travel = Duration::from_secs_f64(model.travel_us(&share, depth) * 1e-6);
            for order in [Order::InTurn, Order::Overlapped] {
                let seconds =
                    samples(effort, &mut |times| (0..times).try_for_each(|_| parts.steps(order, travel)))?;
                let measured_us = median_us(seconds) / depth as f64;
                let predicted_us = match order {
                    Order::InTurn => model.in_turn_us(&share, depth),
                    Order::Overlapped => model.overlapped_us(&share, depth),
                };
                let link = model.link.clone();
                compared.push(Compared { link, depth, order, predicted_us, measured_us });
            }
        }
    }
    Ok((all_rates, compared))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(depth: usize, order: Order, exchanges: usize) -> Vec<f32> {
        super::after(&Device::host(), depth, order, exchanges).expect("steps")
    }

    #[test]
    fn what_travels_is_hidden_or_not() {
        assert_eq!([3.0, 2.0, 2.5].map(|over| hidden_share(2.0, 3.0, over)), [0.0, 1.0, 0.5]);
        let effort = Effort { seconds: 0.01, least: 2, most: 3 };
        for step in TRAVELLING {
            let record = step.measure(&Device::host(), 24, &effort, None).expect(step.name);
            assert!(record.gb_s.is_some_and(|gb_s| gb_s > 0.0), "{}", step.name);
        }
    }

    #[test]
    fn orders_and_depths_give_the_same_bits_and_the_right_values() {
        let plain = after(1, Order::InTurn, 4);
        for (depth, exchanges) in [(1, 4), (2, 2), (4, 1)] {
            for order in [Order::InTurn, Order::Overlapped] {
                assert!(after(depth, order, exchanges) == plain, "{order:?}, {depth} steps deep");
            }
        }
        let exchange = Exchange::new(&Device::host(), DType::F32, &[20; 3], &[1; 3], &[0; 3], false);
        let exchange = exchange.expect("array");
        let mut u = exchange.array().clone();
        let inner: Vec<_> = s![1..-1].repeat(3);
        for _ in 0..4 {
            let windows = crate::formula::Windows { inputs: std::slice::from_ref(&u), reach: 1 };
            let next = crate::formula::stencil7(&windows).remove(0);
            u.assign(&inner, &next).expect("assign");
        }
        let expected = u.slice(&inner).to_vec::<f32>().expect("read");
        let worst = expected.iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(worst < 1e-3, "values up to 1021, worst difference {worst}");
    }

    #[test]
    fn faces_that_have_not_arrived_would_be_seen() {
        let mut parts = Parts::new(&Device::host(), 20, 1).expect("parts");
        parts.steps(Order::InTurn, Duration::ZERO).expect("a step");
        parts.compute(0, |part| Ok(vec![parts.zone(part, 0)?])).expect("a step without an exchange");
        parts.buffers.swap(0, 1);
        let given = parts.buffers[0].array().slice(&s![1..-1].repeat(3)).to_vec::<f32>().expect("read");
        assert!(given != after(1, Order::InTurn, 2));
    }

    #[test]
    fn a_run_is_compared_with_its_prediction() {
        let effort = Effort { seconds: 0.01, least: 2, most: 3 };
        let (rates, compared) = compare(&Device::host(), 24, &effort).expect("compare");
        assert_eq!(rates.len(), DEPTHS.len());
        assert!(rates.iter().all(|r| r.copy_gb_s.is_finite() && r.launch_us > 0.0 && r.pack_us > 0.0));
        assert_eq!(compared.len(), 2 * DEPTHS.len() * 2);
        for c in &compared {
            // Faces never arrive early, whatever the machine is busy with.
            let latency_us = 3.0 * c.link.latency_us / c.depth as f64;
            assert!(c.measured_us >= latency_us, "{} us of {latency_us}", c.measured_us);
            assert!(c.predicted_us.is_finite() && (c.error() + 1.0) * c.predicted_us > 0.0);
        }
    }
}
