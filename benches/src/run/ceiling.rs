//! The ceilings: what this machine does at best when nothing is calculated. Measured first, in the same
//! process, by the engine's own kernels; on CUDA devices by the driver's copy too, and where the memory is
//! the processor's, by plain loops.

use std::hint::black_box;
use std::thread;

use anyhow::{Context, Result};
use memmap2::MmapMut;
use partita::index::Region;
use partita::prelude::*;
use partita::program::{Place, fill_box};

use crate::cases::bound::{Bound, element};
use crate::cases::case::{On, Work};
use crate::cases::exchange::Exchange;
use crate::cases::workload::{ARITHMETIC, Sizes, Workload};
use crate::results::record::Record;
use crate::sample::samples;

/// Something that can be run often.
pub struct Ceiling {
    pub name: &'static str,
    pub who: String,
    /// Bytes that pass in one run.
    pub bytes: f64,
    operations: f64,
    /// Things done in one run; the time is that of one of them.
    count: usize,
    pub run: Run,
}

type Run = Box<dyn FnMut(usize) -> Result<()>>;

/// The ceilings' names, for lists.
pub const CEILINGS: &[(&str, &str)] = &[
    ("copy", "one array to another"),
    ("read", "a sum"),
    ("write", "a fill"),
    ("arithmetic", "64 operations a cell"),
    ("launch", "a tiny kernel, queued"),
    ("message", "16 bytes from one part to another"),
];

/// The copies of this device: what every fraction is a fraction of.
pub fn copies(on: &On, sets: usize) -> Result<Vec<Ceiling>> {
    let mut copies = vec![bound("copy", Workload::named("copy")?, on, sets)?];
    if is_in_host_memory(on.device) {
        copies.push(plain("copy", 8.0, Plain::copy, on.sizes.line as usize * sets)?);
    }
    if on.device.kind() == DeviceKind::Cuda {
        copies.push(drivers_copy(on, sets)?);
    }
    Ok(copies)
}

/// All other ceilings of this device.
pub fn others(on: &On, sets: usize) -> Result<Vec<Ceiling>> {
    let few = &Sizes { line: on.sizes.line.min(1 << 22), ..*on.sizes };
    let mut ceilings = vec![
        bound("read", Workload::named("sum")?, on, sets)?,
        write(on, sets)?,
        bound("arithmetic", &ARITHMETIC, &On { sizes: few, ..*on }, 1)?,
        launch(on)?,
        message(on)?,
    ];
    if is_in_host_memory(on.device) {
        ceilings.extend([
            plain("read", 4.0, Plain::read, on.sizes.line as usize * sets)?,
            plain("write", 4.0, Plain::write, on.sizes.line as usize * sets)?,
        ]);
    }
    Ok(ceilings)
}

impl Ceiling {
    fn new(name: &'static str, on: &On, bytes: f64, run: Run) -> Ceiling {
        Ceiling { name, who: on.device.name().to_owned(), bytes, operations: 0.0, count: 1, run }
    }

    /// Takes its times.
    pub fn measure(&mut self, on: &On) -> Result<Record> {
        let seconds = samples(on.effort, &mut self.run)?.iter().map(|s| s / self.count as f64).collect();
        let record = Record::of_time("ceiling", self.name, &self.who, seconds);
        let record = Record { operations: self.operations, ..record };
        Ok(if self.bytes > 0.0 { record.moving(self.bytes, None) } else { record })
    }
}

/// The host, and adapters that are programs on it.
fn is_in_host_memory(device: &Device) -> bool {
    device.kind() == DeviceKind::Host || device.is_software()
}

fn bound(name: &'static str, workload: &'static Workload, on: &On, sets: usize) -> Result<Ceiling> {
    let mut bound = Bound::new(workload, &On { dtype: DType::F32, parts: 1, ..*on }, sets)?;
    // Every set's result has its memory before the clock runs.
    bound.run(sets)?;
    bound.check()?;
    let (bytes, operations) = (workload.bytes(on.sizes, DType::F32), workload.operations(on.sizes));
    Ok(Ceiling { operations, ..Ceiling::new(name, on, bytes, Box::new(move |times| bound.run(times))) })
}

/// `cuMemcpyDtoDAsync`: no kernel of ours, which a fraction of our own copy would flatter.
fn drivers_copy(on: &On, sets: usize) -> Result<Ceiling> {
    let (device, bytes) = (on.device.clone(), 4 * on.sizes.line as u64);
    let (team, dist) = alone(on, on.sizes.line)?;
    let memory = || -> Result<(Array, Place)> {
        let array = Array::full(&team, &dist, Scalar::from_f64(DType::F32, 1.0))?;
        array.eval()?;
        let place = array.places()?.into_iter().flatten().next().context("an array has a place")?;
        Ok((array, place))
    };
    let pairs = (0..sets).map(|_| Ok([memory()?, memory()?])).collect::<Result<Vec<_>>>()?;
    let (mut runs, waiting) = (0, team.clone());
    let run = move |times| {
        for _ in 0..times {
            let [(_, from), (_, to)] = &pairs[runs % pairs.len()];
            crate::raw_access::copy((&device, &from.allocation), (&device, &to.allocation), bytes)?;
            runs += 1;
        }
        Ok(waiting.wait()?)
    };
    let who = format!("the driver of {}", on.device.name());
    Ok(Ceiling { who, ..Ceiling::new("copy", on, 2.0 * bytes as f64, Box::new(run)) })
}

fn write(on: &On, sets: usize) -> Result<Ceiling> {
    let (team, dist) = alone(on, on.sizes.line)?;
    let two = Scalar::from_f64(DType::F32, 2.0);
    let mut arrays =
        (0..sets).map(|_| Array::full(&team, &dist, two)).collect::<partita::Result<Vec<_>>>()?;
    arrays.iter().try_for_each(Array::eval)?;
    let mut runs = 0;
    let run = move |times| {
        for _ in 0..times {
            let turn = runs % arrays.len();
            arrays[turn] = Array::full(&team, &dist, two)?;
            arrays[turn].eval()?;
            runs += 1;
        }
        Ok(team.wait()?)
    };
    Ok(Ceiling::new("write", on, 4.0 * on.sizes.line as f64, Box::new(run)))
}

fn launch(on: &On) -> Result<Ceiling> {
    const LAUNCHES: usize = 100;
    let (team, dist) = alone(on, 8)?;
    let array = Array::full(&team, &dist, Scalar::from_f64(DType::F32, 0.0))?;
    let place = array.places()?.into_iter().flatten().next().context("8 elements have no place")?;
    let command = fill_box(&place, &Region::from_shape(&[8])?, Scalar::from_f64(DType::F32, 1.0))?;
    let launches = move |times| {
        (0..times * LAUNCHES).try_for_each(|_| crate::raw_access::run(&command))?;
        Ok(array.team().wait()?)
    };
    Ok(Ceiling { count: LAUNCHES, ..Ceiling::new("launch", on, 0.0, Box::new(launches)) })
}

fn message(on: &On) -> Result<Ceiling> {
    let mut exchange = Exchange::new(&On { dtype: DType::F32, ..*on }, &[4, 4], &[2, 1], &[1, 0])?;
    exchange.run(1)?;
    exchange.check()?;
    let count = exchange.messages();
    Ok(Ceiling { count, ..Ceiling::new("message", on, 0.0, Box::new(move |times| exchange.run(times))) })
}

fn alone(on: &On, extent: i64) -> Result<(Team, Distribution)> {
    Ok((on.team(1)?, Distribution::builder(&[extent]).parts(1).build()?))
}

/// Plain loops over more memory than caches hold.
fn plain(
    name: &'static str,
    bytes: f64,
    call: fn(&mut Plain, usize) -> Result<()>,
    elements: usize,
) -> Result<Ceiling> {
    let mut plain = Plain::new(elements, partita::config::config().threads)?;
    let (who, bytes) = ("plain loops".to_owned(), bytes * elements as f64);
    Ok(Ceiling {
        name,
        who,
        bytes,
        operations: 0.0,
        count: 1,
        run: Box::new(move |times| call(&mut plain, times)),
    })
}

/// Two arrays in memory with large pages, where the system has them, and as many threads as the host device.
struct Plain {
    from: MmapMut,
    to: MmapMut,
    threads: usize,
}

/// Bytes of a value.
const SIZE: usize = 4;

impl Plain {
    fn new(elements: usize, threads: usize) -> Result<Plain> {
        let (mut from, to) = (large_pages(elements)?, large_pages(elements)?);
        let bytes = elements * SIZE;
        let mut done = bytes.min(SIZE << 10);
        for (at, value) in from[..done].chunks_exact_mut(SIZE).enumerate() {
            value.copy_from_slice(&(element(DType::F32, 0, at as u64) as f32).to_le_bytes());
        }
        while done < bytes {
            let count = done.min(bytes - done);
            from.copy_within(..count, done);
            done += count;
        }
        Ok(Plain { from, to, threads })
    }

    /// Every thread does it again and again with its share.
    fn each(&mut self, times: usize, work: fn(&mut [u8], &[u8])) -> Result<()> {
        let share = (self.from.len() / SIZE).div_ceil(self.threads).max(1) * SIZE;
        thread::scope(|scope| {
            for (to, from) in self.to.chunks_mut(share).zip(self.from.chunks(share)) {
                scope.spawn(move || (0..times).for_each(|_| work(black_box(&mut *to), black_box(from))));
            }
        });
        Ok(())
    }

    fn copy(&mut self, times: usize) -> Result<()> {
        self.each(times, |to, from| to.copy_from_slice(from))
    }

    fn read(&mut self, times: usize) -> Result<()> {
        self.each(times, |_, from| _ = black_box(sum(from)))
    }

    fn write(&mut self, times: usize) -> Result<()> {
        self.each(times, |to, _| to.fill(2))
    }
}

/// Zeros of so many values, present before anything is measured.
fn large_pages(elements: usize) -> Result<MmapMut> {
    let mut map = MmapMut::map_anon((elements * SIZE).max(1))?;
    // The system's answer does not matter.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    map.fill(0);
    Ok(map)
}

/// In 32 sums, which registers hold, so that additions do not wait for each other.
fn sum(values: &[u8]) -> f32 {
    let mut sums = [0f32; 32];
    for chunk in values.chunks_exact(32 * SIZE) {
        for (sum, value) in sums.iter_mut().zip(chunk.as_chunks::<SIZE>().0) {
            *sum += f32::from_le_bytes(*value);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ceiling_is_measured() {
        let host = Device::host();
        let on = &On { sizes: &Sizes { line: 10_000, plane: 20, cube: 10 }, ..On::smoke(&host) };
        let mut all = copies(on, 2).expect("copies");
        all.extend(others(on, 2).expect("others"));
        for (name, _) in CEILINGS {
            assert!(all.iter().any(|ceiling| ceiling.name == *name), "{name}");
        }
        for ceiling in &mut all {
            assert!(CEILINGS.iter().any(|(name, _)| ceiling.name == *name), "{}", ceiling.name);
            let record = ceiling.measure(on).expect(ceiling.name);
            assert!(record.time.median_s > 0.0, "{record:?}");
            let moves = !matches!(ceiling.name, "launch" | "message");
            assert_eq!(record.gb_s.is_some(), moves, "{record:?}");
        }
    }

    #[test]
    fn plain_loops_copy_and_fill_everything() {
        let mut plain = Plain::new(1003, 3).expect("memory");
        plain.copy(2).expect("copy");
        assert!(plain.to[..] == plain.from[..] && plain.to.chunks(4).any(|value| value != &plain.to[..4]));
        plain.write(1).expect("write");
        assert!(plain.to.iter().all(|&byte| byte == 2));
        let ones: Vec<u8> = (0..128).flat_map(|_| 1f32.to_le_bytes()).collect();
        assert_eq!(sum(&ones), 128.0);
    }
}
