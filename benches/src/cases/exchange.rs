//! L1: what it costs to lend a part's memory to another library, and to take it over, through DLPack.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use partita::array::{Cells, Part};
use partita::prelude::*;
use partita_interop::dlpack::{Loan, Location, live_loans, passed_on};

use crate::sample::{Effort, samples};

/// Parts of the array: a time is that of one of them.
const PARTS: usize = 4;
/// As many cells as `peers/overheads.py` has.
const CELLS: i64 = 8;

struct Lending {
    /// Keeps the parts' memory.
    array: Array,
    parts: Vec<Arc<Part>>,
    location: Location,
    /// Of whoever takes a part over.
    team: Team,
}

impl Lending {
    fn new(device: &Device) -> Result<Lending> {
        let location = match device.kind() {
            DeviceKind::Host => Location::HOST,
            DeviceKind::Cuda => Location { kind: Location::CUDA, number: 0 },
            // Its memory has no address that others know.
            DeviceKind::Wgpu => {
                let (device, reason) =
                    (device.name().to_owned(), "lending memory, which has no address".to_owned());
                return Err(partita::Error::Unsupported { device, reason }.into());
            }
        };
        let team = |parts| Team::on(std::slice::from_ref(device), parts);
        let dist = Distribution::builder(&[CELLS * PARTS as i64]).parts(PARTS).build()?;
        let array = Array::from_fn(&team(PARTS)?, &dist, |at| at[0] as f32)?;
        let parts = array.parts()?.into_iter().map(Arc::new).collect();
        Ok(Lending { array, parts, location, team: team(1)? })
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

    fn seconds(&self, effort: &Effort, mut once: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
        const TIMES: usize = 100;
        let seconds = samples(effort, &mut |times| (0..times * TIMES).try_for_each(|_| once()))?;
        Ok(seconds.iter().map(|seconds| seconds / (TIMES * PARTS) as f64).collect())
    }
}

/// Seconds to lend a part and to end the loan.
pub fn out(device: &Device, effort: &Effort) -> Result<Vec<f64>> {
    let lending = Lending::new(device)?;
    lending.check()?;
    lending.seconds(effort, || lending.lend())
}

/// Seconds to lend a part, to make an array over its memory, and to let both go.
pub fn round_trip(device: &Device, effort: &Effort) -> Result<Vec<f64>> {
    let lending = Lending::new(device)?;
    lending.check()?;
    lending.seconds(effort, || lending.pass_on().map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_on_is_the_parts_own_memory() {
        let mut lending = Lending::new(&Device::host()).expect("host memory");
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
