//! A link that can be slowed down: parts of one device exchange faces, and what was sent counts as arrived
//! only after the link's time. So the predictions of `model` can be compared with runs on one device.
//!
//! The steps are queued kernel by kernel, because what is measured is their order: faces first, then inner
//! cells while faces travel, then the rest; and several steps per exchange where halos are deep. `check` asks
//! whether they take as long as predicted.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use partita::device::{Job, Program};
use partita::index::Region;
use partita::prelude::*;
use partita::program::{Command, Place};
use partita_kernels::{BinaryOp, Builder, Launch, Verified};

use crate::halo::Exchange;
use crate::model::{SEVEN_POINTS, grid};
use crate::record::Record;
use crate::sample::{Effort, sample};

/// When inner cells are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// After the faces have arrived, with all others.
    InTurn,
    /// While faces travel.
    Overlapped,
}

/// A 7-point stencil over the parts of a cube, with two buffers that change places.
pub struct Parts {
    pub device: Device,
    pub extent: i64,
    pub depth: usize,
    pub count: usize,
    dist: Distribution,
    program: std::sync::Arc<Program>,
    /// The buffer that holds the state comes first.
    pub buffers: [Exchange; 2],
}

impl Parts {
    /// `count` parts, whose halos are `depth` steps deep.
    pub fn new(device: &Device, extent: i64, count: usize, depth: usize) -> Result<Parts> {
        let (widths, grid) = ([depth as i64; 3], grid(count).map(|n| n as i64));
        let buffer = || Exchange::new(device, DType::F32, &[extent; 3], &grid, &widths, true);
        let dist = Distribution::builder(&[extent; 3]).grid(&grid).halo(&widths, &widths).build()?;
        let program = device.compile(stencil()?)?;
        let mut buffers = [buffer()?, buffer()?];
        // The cube's faces never change, but halos hold copies of them, in both buffers.
        buffers.iter_mut().try_for_each(|buffer| buffer.run(1))?;
        Ok(Parts { device: device.clone(), extent, depth, count, dist, program, buffers })
    }

    /// What a part owns, moved out by so many cells towards its neighbours; never the cube's faces.
    pub fn zone(&self, part: usize, by: i64) -> Result<Region> {
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

    /// What each part owns, without the cube's faces.
    pub fn zones(&self) -> Result<Vec<Region>> {
        (0..self.count).map(|part| self.zone(part, 0)).collect()
    }

    /// Queues one step over boxes of every part, from one buffer to the other.
    fn compute(&self, from: usize, boxes: impl Fn(usize) -> Result<Vec<Region>>) -> Result<()> {
        let (sources, targets) = (self.buffers[from].places()?, self.buffers[1 - from].places()?);
        for part in 0..self.count {
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
                crate::by_hand::run(&Command::Launch { device: self.device.clone(), job })?;
            }
        }
        Ok(())
    }

    /// Computes boxes, one per part, as often as is said, and waits.
    pub fn compute_boxes(&self, boxes: &[Region], times: usize) -> Result<()> {
        (0..times).try_for_each(|_| self.compute(0, |part| Ok(vec![boxes[part]])))?;
        Ok(self.device.wait()?)
    }

    /// `depth` steps after one exchange, whose faces arrive after `travel`.
    pub fn steps(&mut self, order: Order, travel: Duration) -> Result<()> {
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

/// H2: steps of a cube in so many parts: alone, after faces that travel half as long as the step takes, and
/// with inner cells computed meanwhile. What of the journey is hidden is what the third gains over the
/// second.
pub struct Travelling {
    pub name: &'static str,
    pub text: &'static str,
    parts: usize,
}

pub const TRAVELLING: &[Travelling] = &[
    Travelling { name: "steps1", text: "7-point steps of 1 part, f32", parts: 1 },
    Travelling {
        name: "steps2",
        text: "of 2 parts: alone, after faces that travel half as long, and inner cells meanwhile",
        parts: 2,
    },
    Travelling { name: "steps4", text: "the same of 4 parts", parts: 4 },
    Travelling { name: "steps8", text: "the same of 8 parts", parts: 8 },
];

/// The names of the three kinds of step in records.
pub const ALONE: &str = "step_alone";
pub const IN_TURN: &str = "step_in_turn";
pub const OVERLAPPED: &str = "step_overlapped";

/// Of the time on the link, what does not make a step longer: 1 if nothing of it does.
pub fn hidden_share(alone_s: f64, in_turn_s: f64, overlapped_s: f64) -> f64 {
    (in_turn_s - overlapped_s) / (in_turn_s - alone_s)
}

impl Travelling {
    /// The times of steps on a cube, of f32; the three kinds take turns.
    pub fn measure(
        &self,
        device: &Device,
        extent: i64,
        effort: &Effort,
        copy_gb_s: Option<f64>,
    ) -> Result<Vec<Record>> {
        ensure!(
            after(device, self.parts, 1, Order::Overlapped, 4)?
                == after(device, self.parts, 1, Order::InTurn, 4)?,
            "{}: other bits than in turn",
            self.name
        );
        let mut parts = Parts::new(device, extent, self.parts, 1)?;
        let zones = parts.zones()?;
        parts.compute_boxes(&zones, 1)?;
        let alone_s = sample(1, &mut |times| parts.compute_boxes(&zones, times))?;
        let pace = effort.pace(3.0 * alone_s);
        let travel = Duration::from_secs_f64(0.5 * alone_s);
        let (mut alone, mut in_turn, mut overlapped) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..pace.samples {
            alone.push(sample(pace.runs, &mut |times| parts.compute_boxes(&zones, times))?);
            if self.parts > 1 {
                let mut steps = |order| {
                    sample(pace.runs, &mut |times| (0..times).try_for_each(|_| parts.steps(order, travel)))
                };
                in_turn.push(steps(Order::InTurn)?);
                overlapped.push(steps(Order::Overlapped)?);
            }
        }
        let points = (extent as f64).powi(3);
        let record = |(name, seconds)| {
            let name = format!("{name}_{}", self.parts);
            let record = Record::of_time("H2", &name, device.name(), seconds);
            Record { points, parts: self.parts, error: Some(0.0), ..record }
                .moving(points * SEVEN_POINTS.bytes_per_cell, copy_gb_s)
        };
        let all = [(ALONE, alone), (IN_TURN, in_turn), (OVERLAPPED, overlapped)];
        Ok(all.into_iter().filter(|(_, seconds)| !seconds.is_empty()).map(record).collect())
    }
}

/// The inner cells of a small cube after so many exchanges.
fn after(device: &Device, count: usize, depth: usize, order: Order, exchanges: usize) -> Result<Vec<f32>> {
    let mut parts = Parts::new(device, 20, count, depth)?;
    (0..exchanges).try_for_each(|_| parts.steps(order, Duration::ZERO))?;
    Ok(parts.buffers[0].array().slice(&s![1..-1].repeat(3)).to_vec()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(depth: usize, order: Order, exchanges: usize) -> Vec<f32> {
        super::after(&Device::host(), 8, depth, order, exchanges).expect("steps")
    }

    #[test]
    fn what_travels_is_hidden_or_not() {
        assert_eq!([3.0, 2.0, 2.5].map(|over| hidden_share(2.0, 3.0, over)), [0.0, 1.0, 0.5]);
        let effort = Effort { seconds: 0.01, least: 2, most: 3 };
        for step in TRAVELLING {
            let records = step.measure(&Device::host(), 24, &effort, None).expect(step.name);
            assert_eq!(records.len(), if step.parts == 1 { 1 } else { 3 }, "{}", step.name);
            assert!(records.iter().all(|record| record.gb_s.is_some_and(|gb_s| gb_s > 0.0)));
            assert!(records.iter().all(|record| record.parts == step.parts), "{}", step.name);
        }
    }

    #[test]
    fn orders_depths_and_parts_give_the_same_bits_and_the_right_values() {
        let plain = after(1, Order::InTurn, 4);
        for step in TRAVELLING {
            let given = super::after(&Device::host(), step.parts, 1, Order::Overlapped, 4).expect("steps");
            assert!(given == plain, "{}", step.name);
        }
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
        let mut parts = Parts::new(&Device::host(), 20, 8, 1).expect("parts");
        parts.steps(Order::InTurn, Duration::ZERO).expect("a step");
        parts.compute(0, |part| Ok(vec![parts.zone(part, 0)?])).expect("a step without an exchange");
        parts.buffers.swap(0, 1);
        let given = parts.buffers[0].array().slice(&s![1..-1].repeat(3)).to_vec::<f32>().expect("read");
        assert!(given != after(1, Order::InTurn, 2));
    }
}
