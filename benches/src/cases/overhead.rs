//! L1: what the engine itself costs: recording an operation, computing a tiny expression, replaying a step of
//! a `Loop`, and (`exchange`) lending memory.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use partita::prelude::*;

use crate::cases::exchange;
use crate::results::record::Record;
use crate::sample::{Effort, samples};

/// Something that costs time and moves nothing.
pub struct Overhead {
    pub name: &'static str,
    pub text: &'static str,
    measure: fn(&Device, &Effort) -> Result<Vec<f64>>,
}

pub const OVERHEADS: &[Overhead] = &[
    Overhead { name: "record", text: "recording one operation of a chain", measure: record },
    Overhead {
        name: "flush",
        text: "recording and computing ten operations on 8 elements, the wait included",
        measure: flush,
    },
    Overhead {
        name: "eval",
        text: "computing ten recorded operations on 8 elements",
        measure: |device, effort| eval(device, effort, 1),
    },
    Overhead {
        name: "eval4",
        text: "the same on 8 elements over 4 parts",
        measure: |device, effort| eval(device, effort, 4),
    },
    Overhead {
        name: "replay",
        text: "one replayed stencil step on 8 elements, queued",
        measure: |device, effort| replay(device, effort, 8),
    },
    Overhead {
        name: "replay64k",
        text: "the same on 64 KB",
        measure: |device, effort| replay(device, effort, 1 << 14),
    },
    Overhead {
        name: "graph",
        text: "recording and computing 10^4 operations on 8 elements, the wait included",
        measure: graph,
    },
    Overhead {
        name: "dlpack_out",
        text: "lending one part through DLPack and ending the loan",
        measure: exchange::out,
    },
    Overhead {
        name: "dlpack_round",
        text: "lending one part and making an array over its memory",
        measure: exchange::round_trip,
    },
];

impl Overhead {
    pub fn measure(&self, device: &Device, effort: &Effort) -> Result<Record> {
        let seconds = (self.measure)(device, effort)?;
        Ok(Record::of_time("L1", self.name, device.name(), seconds))
    }
}

fn tiny(device: &Device, parts: usize) -> Result<[Array; 2]> {
    of_extent(device, 8, parts)
}

fn of_extent(device: &Device, extent: i64, parts: usize) -> Result<[Array; 2]> {
    let team = Team::on(std::slice::from_ref(device), parts)?;
    let dist = Distribution::builder(&[extent]).parts(parts).build()?;
    let array = |scale: f32, shift: f32| Array::from_fn(&team, &dist, move |at| at[0] as f32 * scale + shift);
    Ok([array(0.125, 0.0)?, array(0.0, 0.5)?])
}

/// The ten operations of `peers/overheads.py`.
fn ten([a, b]: &[Array; 2]) -> Array {
    (0..5).fold(a.clone(), |x, _| &x * a + b)
}

fn record(device: &Device, effort: &Effort) -> Result<Vec<f64>> {
    const CHAIN: usize = 100;
    let [a, _] = tiny(device, 1)?;
    let times = samples(effort, &mut |times| {
        for _ in 0..times {
            black_box((0..CHAIN).fold(a.clone(), |x, _| &x + &a));
        }
        Ok(())
    })?;
    Ok(times.iter().map(|seconds| seconds / CHAIN as f64).collect())
}

fn flush(device: &Device, effort: &Effort) -> Result<Vec<f64>> {
    let arrays = tiny(device, 1)?;
    samples(effort, &mut |times| {
        for _ in 0..times {
            ten(&arrays).eval()?;
            arrays[0].team().wait()?;
        }
        Ok(())
    })
}

fn eval(device: &Device, effort: &Effort, parts: usize) -> Result<Vec<f64>> {
    const CALLS: usize = 50;
    let arrays = tiny(device, parts)?;
    let sample = || -> Result<f64> {
        let recorded: Vec<Array> = (0..CALLS).map(|_| ten(&arrays)).collect();
        let start = Instant::now();
        recorded.iter().try_for_each(Array::eval)?;
        arrays[0].team().wait()?;
        Ok(start.elapsed().as_secs_f64() / CALLS as f64)
    };
    sample()?;
    (0..effort.most.max(2)).map(|_| sample()).collect()
}

fn graph(device: &Device, effort: &Effort) -> Result<Vec<f64>> {
    const OPERATIONS: usize = 10_000;
    let [a, _] = tiny(device, 1)?;
    samples(effort, &mut |times| {
        for _ in 0..times {
            (0..OPERATIONS).fold(a.clone(), |x, _| &x + &a).eval()?;
            a.team().wait()?;
        }
        Ok(())
    })
}

fn replay(device: &Device, effort: &Effort, extent: i64) -> Result<Vec<f64>> {
    const STEPS: u64 = 100;
    let [a, _] = of_extent(device, extent, 1)?;
    let team = a.team().clone();
    let mut heat = Loop::new(vec![a], |state| {
        let u = &state[0];
        let next = u.slice(&s![1..-1]) + 0.1 * (u.slice(&s![..-2]) - u.slice(&s![2..]));
        state[0].assign(&s![1..-1], &next)
    });
    heat.run(8)?;
    let times = samples(effort, &mut |times| {
        heat.run(STEPS * times as u64)?;
        Ok(team.wait()?)
    })?;
    Ok(times.iter().map(|seconds| seconds / STEPS as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_overhead_is_a_time() {
        let effort = Effort { seconds: 0.01, least: 3, most: 5 };
        for overhead in OVERHEADS {
            let record = overhead.measure(&Device::host(), &effort).expect(overhead.name);
            assert!(record.time.median_s > 0.0 && record.time.median_s < 10.0, "{record:?}");
            assert!(record.time.p10_s <= record.time.median_s && record.time.median_s <= record.time.p90_s);
        }
    }
}
