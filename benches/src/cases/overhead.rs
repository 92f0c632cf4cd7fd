//! L1: what the engine itself costs: recording an operation, computing a tiny expression, replaying a step of
//! a `Loop`, lending a part's memory to another library and taking it over through DLPack.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use partita::array::{Cells, Part};
use partita::prelude::*;
use partita_interop::dlpack::{DLDevice, DLDeviceType, Loan, live_loans, passed_on};

use crate::cases::case::{Case, On};
use crate::results::record::Record;
use crate::sample::samples;

/// A measurement, in seconds: nothing is moved.
type Overhead = fn(&On) -> Result<Vec<f64>>;

const OVERHEADS: &[(&str, &str, Overhead)] = &[
    ("record", "recording one operation of a chain", record),
    ("flush", "recording and computing ten operations on 8 elements, the wait included", flush),
    ("eval", "computing ten recorded operations on 8 elements", |on| eval(on, 1)),
    ("eval4", "the same on 8 elements over 4 parts", |on| eval(on, 4)),
    ("replay", "one replayed stencil step on 8 elements, queued", |on| replay(on, CELLS)),
    ("replay64k", "the same on 64 KB", |on| replay(on, 1 << 14)),
    ("graph", "recording and computing 10^4 operations on 8 elements, the wait included", graph),
    ("dlpack_out", "lending one part through DLPack and ending the loan", |on| {
        Lending::new(on)?.seconds(on, Lending::lend)
    }),
    ("dlpack_round", "lending one part and making an array over its memory", |on| {
        Lending::new(on)?.seconds(on, |lending| lending.pass_on().map(drop))
    }),
];

pub fn cases() -> impl Iterator<Item = Case> {
    OVERHEADS.iter().map(|&(name, text, seconds)| Case {
        group: "L1",
        name,
        text,
        is_typed: false,
        measure: Box::new(move |on| Ok(Record::of_time("L1", name, on.device.name(), seconds(on)?))),
    })
}

/// As many cells as `peers/overheads.py` has.
const CELLS: i64 = 8;

/// The times of `run`, which does one thing `count` times.
fn each(on: &On, count: usize, run: &mut dyn FnMut(usize) -> Result<()>) -> Result<Vec<f64>> {
    Ok(samples(on.effort, run)?.into_iter().map(|seconds| seconds / count as f64).collect())
}

fn arrays(on: &On, extent: i64, parts: usize) -> Result<[Array; 2]> {
    let team = on.team(parts)?;
    let dist = Distribution::builder(&[extent]).parts(parts).build()?;
    let array = |scale: f32, shift: f32| Array::from_fn(&team, &dist, move |at| at[0] as f32 * scale + shift);
    Ok([array(0.125, 0.0)?, array(0.0, 0.5)?])
}

/// The ten operations of `peers/overheads.py`.
fn ten([a, b]: &[Array; 2]) -> Array {
    (0..5).fold(a.clone(), |x, _| &x * a + b)
}

fn record(on: &On) -> Result<Vec<f64>> {
    const CHAIN: usize = 100;
    let [a, _] = arrays(on, CELLS, 1)?;
    each(on, CHAIN, &mut |times| {
        for _ in 0..times {
            black_box((0..CHAIN).fold(a.clone(), |x, _| &x + &a));
        }
        Ok(())
    })
}

fn flush(on: &On) -> Result<Vec<f64>> {
    let inputs = arrays(on, CELLS, 1)?;
    samples(on.effort, &mut |times| {
        for _ in 0..times {
            ten(&inputs).eval()?;
            inputs[0].team().wait()?;
        }
        Ok(())
    })
}

fn eval(on: &On, parts: usize) -> Result<Vec<f64>> {
    const CALLS: usize = 50;
    let inputs = arrays(on, CELLS, parts)?;
    let sample = || -> Result<f64> {
        let recorded: Vec<Array> = (0..CALLS).map(|_| ten(&inputs)).collect();
        let start = Instant::now();
        recorded.iter().try_for_each(Array::eval)?;
        inputs[0].team().wait()?;
        Ok(start.elapsed().as_secs_f64() / CALLS as f64)
    };
    sample()?;
    (0..on.effort.most.max(2)).map(|_| sample()).collect()
}

fn graph(on: &On) -> Result<Vec<f64>> {
    const OPERATIONS: usize = 10_000;
    let [a, _] = arrays(on, CELLS, 1)?;
    samples(on.effort, &mut |times| {
        for _ in 0..times {
            (0..OPERATIONS).fold(a.clone(), |x, _| &x + &a).eval()?;
            a.team().wait()?;
        }
        Ok(())
    })
}

fn replay(on: &On, extent: i64) -> Result<Vec<f64>> {
    const STEPS: u64 = 100;
    let [a, _] = arrays(on, extent, 1)?;
    let team = a.team().clone();
    let mut heat = Loop::new(vec![a], |state| {
        let u = &state[0];
        let next = u.slice(&s![1..-1]) + 0.1 * (u.slice(&s![..-2]) - u.slice(&s![2..]));
        state[0].assign(&s![1..-1], &next)
    });
    heat.run(8)?;
    each(on, STEPS as usize, &mut |times| {
        heat.run(STEPS * times as u64)?;
        Ok(team.wait()?)
    })
}

/// Parts that are lent.
const PARTS: usize = 4;

/// An array whose parts are lent to others through DLPack.
struct Lending {
    /// Keeps the parts' memory.
    array: Array,
    parts: Vec<Arc<Part>>,
    location: DLDevice,
    /// Of whoever takes a part over.
    team: Team,
}

impl Lending {
    fn new(on: &On) -> Result<Lending> {
        let location = match on.device.kind() {
            DeviceKind::Host => DLDevice { device_type: DLDeviceType::CPU, device_id: 0 },
            DeviceKind::Cuda => DLDevice { device_type: DLDeviceType::CUDA, device_id: 0 },
            // Its memory has no address that others know.
            _ => {
                let reason = "lending memory, which has no address".to_owned();
                return Err(
                    partita::Error::Unsupported { device: on.device.name().to_owned(), reason }.into()
                );
            }
        };
        let dist = Distribution::builder(&[CELLS * PARTS as i64]).parts(PARTS).build()?;
        let array = Array::from_fn(&on.team(PARTS)?, &dist, |at| at[0] as f32)?;
        let parts = array.parts()?.into_iter().map(Arc::new).collect();
        let lending = Lending { array, parts, location, team: on.team(1)? };
        lending.check()?;
        Ok(lending)
    }

    /// Lends every part and takes it back.
    fn lend(&self) -> Result<()> {
        self.parts.iter().try_for_each(|part| {
            let loan = Loan::of(&part.clone().into(), Cells::Owned, self.location)?
                .context("memory with an address")?;
            drop(loan.borrow());
            Ok(())
        })
    }

    /// Every part as an array of its own over the same memory.
    fn pass_on(&self) -> Result<Vec<Array>> {
        let passed = |part| passed_on(part, self.location, &self.team)?.context("memory that can be lent");
        self.parts.iter().map(passed).collect()
    }

    /// The arrays show what the parts hold, and nothing stays lent.
    fn check(&self) -> Result<()> {
        let before = live_loans();
        let mut given = Vec::new();
        for passed in self.pass_on()? {
            given.extend(passed.to_vec::<f32>()?);
        }
        let expected = self.array.to_vec::<f32>()?;
        ensure!(given == expected, "dlpack: expected {expected:?}, given {given:?}");
        self.lend()?;
        ensure!(live_loans() == before, "dlpack: {} loans were not ended", live_loans() - before);
        Ok(())
    }

    /// Seconds for one part, of something that is done with all.
    fn seconds(&self, on: &On, once: fn(&Lending) -> Result<()>) -> Result<Vec<f64>> {
        const TIMES: usize = 100;
        each(on, TIMES * PARTS, &mut |times| (0..times * TIMES).try_for_each(|_| once(self)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_overhead_is_a_time() {
        let host = Device::host();
        for case in cases() {
            let time = (case.measure)(&On::smoke(&host)).expect(case.name).time;
            assert!(time.median_s > 0.0 && time.median_s < 10.0, "{time:?}");
            assert!(time.p10_s <= time.median_s && time.median_s <= time.p90_s, "{time:?}");
        }
    }

    #[test]
    fn what_is_passed_on_is_the_parts_own_memory() {
        let mut lending = Lending::new(&On::smoke(&Device::host())).expect("host memory");
        lending.check().expect("lent");
        let address = |part: &Part| part.address(Cells::Owned).expect("host");
        for (part, passed) in lending.parts.iter().zip(lending.pass_on().expect("passed on")) {
            let theirs = passed.parts().expect("a part");
            assert_eq!(address(part), address(&theirs[0]), "nothing is copied");
        }
        // Parts of another array hold other values.
        lending.array = &lending.array + 1.0;
        assert!(lending.check().is_err());
    }
}
