//! What the engine itself costs: recording an operation, computing a tiny expression, replaying a
//! step of a `Loop`, compiling a kernel and finding it again, and (`exchange`) lending memory.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use partita::prelude::*;
use partita_kernels::{BinaryOp, Builder, Verified};

use crate::cases::exchange;
use crate::results::record::Record;
use crate::sample::{Effort, samples};

/// Something that costs time and moves nothing.
pub struct Overhead {
    pub group: &'static str,
    pub name: &'static str,
    pub text: &'static str,
    measure: fn(&Device, &Effort) -> Result<Vec<f64>>,
}

pub const OVERHEADS: &[Overhead] = &[
    Overhead { group: "L1", name: "record", text: "recording one operation of a chain", measure: record },
    Overhead {
        group: "L1",
        name: "flush",
        text: "recording and computing ten operations on 8 elements, the wait included",
        measure: flush,
    },
    Overhead {
        group: "L1",
        name: "eval",
        text: "computing ten recorded operations on 8 elements",
        measure: |device, effort| eval(device, effort, 1),
    },
    Overhead {
        group: "L1",
        name: "eval4",
        text: "the same on 8 elements over 4 parts",
        measure: |device, effort| eval(device, effort, 4),
    },
    Overhead {
        group: "L1",
        name: "replay",
        text: "one replayed stencil step on 8 elements, queued",
        measure: |device, effort| replay(device, effort, 8),
    },
    Overhead {
        group: "L1",
        name: "replay64k",
        text: "the same on 64 KB",
        measure: |device, effort| replay(device, effort, 1 << 14),
    },
    Overhead {
        group: "L1",
        name: "graph",
        text: "recording and computing 10^4 operations on 8 elements, the wait included",
        measure: graph,
    },
    Overhead {
        group: "L1",
        name: "dlpack_out",
        text: "lending one part through DLPack and ending the loan",
        measure: exchange::out,
    },
    Overhead {
        group: "L1",
        name: "dlpack_round",
        text: "lending one part and making an array over its memory",
        measure: exchange::round_trip,
    },
    Overhead {
        group: "C1",
        name: "compile",
        text: "compiling a new kernel of about 40 instructions",
        measure: compile,
    },
    Overhead { group: "C1", name: "lookup", text: "finding it again", measure: lookup },
];

impl Overhead {
    pub fn measure(&self, device: &Device, effort: &Effort) -> Result<Record> {
        let seconds = (self.measure)(device, effort)?;
        Ok(Record::of_time(self.group, self.name, device.name(), seconds))
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

fn compile(device: &Device, effort: &Effort) -> Result<Vec<f64>> {
    // Kernels no one else compiles: the digits of a number that only grows choose their operations.
    let first = Instant::now();
    let mut times = Vec::new();
    while times.len() < effort.least.max(12) || first.elapsed().as_secs_f64() < effort.seconds.min(0.5) {
        let kernel = kernel(next_number())?;
        let start = Instant::now();
        device.compile(kernel)?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(times)
}

fn lookup(device: &Device, effort: &Effort) -> Result<Vec<f64>> {
    let kernel = kernel(next_number())?;
    device.compile(kernel.clone())?;
    samples(effort, &mut |times| {
        (0..times).try_for_each(|_| device.compile(kernel.clone()).map(drop))?;
        Ok(())
    })
}

fn next_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Two loads and 32 operations, each an addition or a product as a bit of the number says.
fn kernel(number: u64) -> Result<Verified> {
    let mut k = Builder::new("numbered", 1);
    let (a, b) = (k.input(DType::F32), k.input(DType::F32));
    let out = k.output(DType::F32);
    let mut value = k.load(a, &[0]);
    let other = k.load(b, &[0]);
    for bit in 0..32 {
        let op = if (number >> bit) & 1 == 0 { BinaryOp::Add } else { BinaryOp::Mul };
        value = k.binary(op, value, other);
    }
    Ok(k.elementwise(&[(out, value)])?)
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

    #[test]
    fn numbered_kernels_differ() {
        let (one, two) = (kernel(1).expect("one"), kernel(2).expect("two"));
        assert!(one != two);
        assert!(one == kernel(1).expect("one again"));
    }
}
