//! Cases that are measured on their own: where they run, and how a figure is taken.

use anyhow::Result;
use partita::prelude::*;

use crate::cases::workload::Sizes;
use crate::results::record::Record;
use crate::sample::{Effort, samples};

/// The place and effort of a measurement.
#[derive(Clone, Copy)]
pub struct On<'a> {
    pub device: &'a Device,
    pub dtype: DType,
    pub sizes: &'a Sizes,
    pub parts: usize,
    pub effort: &'a Effort,
    /// The device's best copy.
    pub copy_gb_s: Option<f64>,
}

/// A case of a family, measured beside no copy and no peer.
pub struct Case {
    pub group: &'static str,
    pub name: &'static str,
    pub text: &'static str,
    /// Whether it has elements, of every wanted type.
    pub is_typed: bool,
    pub measure: Measure,
}

pub type Measure = Box<dyn Fn(&On) -> Result<Record>>;

/// A case set up on a device.
pub trait Work {
    /// Things done in one run; the time is that of one of them.
    fn count(&self) -> usize {
        1
    }
    /// Runs so many times, then waits.
    fn run(&mut self, times: usize) -> Result<()>;
    /// Compares the latest results; the largest error.
    fn check(&mut self) -> Result<f64>;
}

impl On<'_> {
    pub fn team(&self, parts: usize) -> Result<Team> {
        Ok(Team::on(std::slice::from_ref(self.device), parts)?)
    }

    /// The figure of work over so many cells that moves so many bytes, with results that are right.
    pub fn record(&self, case: (&str, &str), points: f64, bytes: f64, work: &mut dyn Work) -> Result<Record> {
        work.run(1)?;
        let before = work.check()?;
        let count = work.count() as f64;
        let seconds = samples(self.effort, &mut |times| work.run(times))?.iter().map(|s| s / count).collect();
        let error = Some(before.max(work.check()?));
        let record = Record::of_time(case.0, case.1, self.device.name(), seconds);
        let record = Record { dtype: self.dtype.to_string(), points, error, ..record };
        Ok(record.moving(bytes, self.copy_gb_s))
    }
}

#[cfg(test)]
impl<'a> On<'a> {
    /// f32 on small arrays for as short as possible.
    pub fn smoke(device: &'a Device) -> On<'a> {
        let (sizes, effort) =
            (&Sizes { line: 1000, plane: 41, cube: 41 }, &Effort { seconds: 0.01, least: 3, most: 5 });
        On { device, dtype: DType::F32, sizes, parts: 1, effort, copy_gb_s: None }
    }
}
