//! The ceilings: what this machine does at best when nothing is calculated. Measured first, in the same
//! process, by the engine's own kernels and, where the memory is the processor's, by plain loops too.

use anyhow::{Context, Result};
use partita::index::Region;
use partita::prelude::*;
use partita::program::fill_box;

use crate::cases::bound::Bound;
use crate::cases::halo::Exchange;
use crate::cases::workload::{ARITHMETIC, Sizes, Workload};
use crate::results::record::Record;
use crate::run::plain::Plain;
use crate::sample::{Effort, samples};

/// Who the plain loops are in tables.
pub const PLAIN: &str = "plain loops";

type Run = Box<dyn FnMut(usize) -> Result<()>>;

/// Something that can be run often.
pub struct Ceiling {
    pub name: &'static str,
    pub who: String,
    /// Bytes that pass in one run.
    pub bytes: f64,
    pub operations: f64,
    /// Things done in one run; the time is that of one of them.
    pub count: usize,
    pub run: Run,
}

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
pub fn copies(device: &Device, sizes: &Sizes, sets: usize) -> Result<Vec<Ceiling>> {
    let mut copies = vec![bound("copy", Workload::named("copy")?, device, sizes, sets)?];
    if is_in_host_memory(device) {
        copies.push(plain("copy", 8.0, Plain::copy, sizes.line as usize * sets)?);
    }
    Ok(copies)
}

/// All other ceilings of this device.
pub fn others(device: &Device, sizes: &Sizes, sets: usize) -> Result<Vec<Ceiling>> {
    let mut ceilings = vec![
        bound("read", Workload::named("sum")?, device, sizes, sets)?,
        write(device, sizes, sets)?,
        bound("arithmetic", &ARITHMETIC, device, &Sizes { line: sizes.line.min(1 << 22), ..*sizes }, 1)?,
        launch(device)?,
        message(device)?,
    ];
    if is_in_host_memory(device) {
        ceilings.extend([
            plain("read", 4.0, Plain::read, sizes.line as usize * sets)?,
            plain("write", 4.0, Plain::write, sizes.line as usize * sets)?,
        ]);
    }
    Ok(ceilings)
}

/// Takes the times of one ceiling.
pub fn measure(ceiling: &mut Ceiling, effort: &Effort) -> Result<Record> {
    let seconds = samples(effort, &mut ceiling.run)?.iter().map(|s| s / ceiling.count as f64).collect();
    let record = Record::of_time("ceiling", ceiling.name, &ceiling.who, seconds);
    let record = Record { operations: ceiling.operations, ..record };
    Ok(if ceiling.bytes > 0.0 { record.moving(ceiling.bytes, None) } else { record })
}

/// The host, and adapters that are programs on it.
fn is_in_host_memory(device: &Device) -> bool {
    device.kind() == DeviceKind::Host || device.is_software()
}

fn threads() -> usize {
    partita::config::config().threads
}

fn bound(
    name: &'static str,
    workload: &'static Workload,
    device: &Device,
    sizes: &Sizes,
    sets: usize,
) -> Result<Ceiling> {
    let mut bound = Bound::new(workload, DType::F32, device, sizes, 1, sets)?;
    // Every set's result has its memory before the clock runs.
    bound.run(sets)?;
    bound.check()?;
    Ok(Ceiling {
        operations: workload.operations(sizes),
        ..ceiling(name, device, workload.bytes(sizes, DType::F32), Box::new(move |times| bound.run(times)))
    })
}

fn ceiling(name: &'static str, device: &Device, bytes: f64, run: Run) -> Ceiling {
    Ceiling { name, who: device.name().to_owned(), bytes, operations: 0.0, count: 1, run }
}

/// Plain loops over more memory than caches hold.
fn plain(name: &'static str, bytes: f64, call: fn(&mut Plain, usize), elements: usize) -> Result<Ceiling> {
    let mut plain = Plain::new(elements, threads())?;
    let run = move |times| {
        call(&mut plain, times);
        Ok(())
    };
    let (who, bytes) = (PLAIN.to_owned(), bytes * elements as f64);
    Ok(Ceiling { name, who, bytes, operations: 0.0, count: 1, run: Box::new(run) })
}

fn write(device: &Device, sizes: &Sizes, sets: usize) -> Result<Ceiling> {
    let (team, dist) = alone(device, sizes.line)?;
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
    Ok(ceiling("write", device, 4.0 * sizes.line as f64, Box::new(run)))
}

fn launch(device: &Device) -> Result<Ceiling> {
    const LAUNCHES: usize = 100;
    let (team, dist) = alone(device, 8)?;
    let array = Array::full(&team, &dist, Scalar::from_f64(DType::F32, 0.0))?;
    let place = array.places()?.into_iter().flatten().next().context("8 elements have no place")?;
    let command = fill_box(&place, &Region::from_shape(&[8])?, Scalar::from_f64(DType::F32, 1.0))?;
    let launches = move |times| {
        for _ in 0..times * LAUNCHES {
            crate::raw_access::run(&command)?;
        }
        Ok(array.team().wait()?)
    };
    Ok(Ceiling { count: LAUNCHES, ..ceiling("launch", device, 0.0, Box::new(launches)) })
}

fn message(device: &Device) -> Result<Ceiling> {
    let mut exchange = Exchange::new(device, DType::F32, &[4, 4], &[2, 1], &[1, 0])?;
    exchange.run(1)?;
    exchange.check()?;
    let count = exchange.messages();
    Ok(Ceiling { count, ..ceiling("message", device, 0.0, Box::new(move |times| exchange.run(times))) })
}

fn alone(device: &Device, extent: i64) -> Result<(Team, Distribution)> {
    let team = Team::on(std::slice::from_ref(device), 1)?;
    Ok((team, Distribution::builder(&[extent]).parts(1).build()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ceiling_is_measured() {
        let sizes = Sizes { line: 10_000, plane: 20, cube: 10 };
        let effort = Effort { seconds: 0.01, least: 3, most: 5 };
        let host = Device::host();
        let mut all = copies(&host, &sizes, 2).expect("copies");
        all.extend(others(&host, &sizes, 2).expect("others"));
        let mut names: Vec<&str> = all.iter().map(|ceiling| ceiling.name).collect();
        names.dedup();
        names.sort_unstable();
        names.dedup();
        let mut listed: Vec<&str> = CEILINGS.iter().map(|(name, _)| *name).collect();
        listed.sort_unstable();
        assert_eq!(names, listed);
        for ceiling in &mut all {
            let record = measure(ceiling, &effort).expect(ceiling.name);
            assert!(record.time.median_s > 0.0, "{record:?}");
            let moves = !matches!(ceiling.name, "launch" | "message");
            assert_eq!(record.gb_s.is_some(), moves, "{record:?}");
        }
    }
}
