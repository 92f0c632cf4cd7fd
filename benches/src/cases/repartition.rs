//! Repartition: a cube that is divided one way becomes divided another way. Every cell is read once and
//! written once, so the ceiling is the copy.

use anyhow::{Result, ensure};
use partita::prelude::*;

use crate::cases::bound::{array, element, seed, to_f64};
use crate::results::record::Record;
use crate::sample::{Effort, samples};

/// From one grid of parts to another.
pub struct Repartition {
    pub name: &'static str,
    pub text: &'static str,
    from: [i64; 3],
    to: [i64; 3],
    /// Complex numbers, as pairs of the wanted type.
    is_complex: bool,
}

pub const REPARTITIONS: &[Repartition] = &[
    Repartition {
        name: "slab_slab",
        text: "8 slabs along the first axis become 8 along the last",
        from: [8, 1, 1],
        to: [1, 1, 8],
        is_complex: false,
    },
    Repartition {
        name: "slab_pencil",
        text: "8 slabs along the first axis become 2 x 4 pencils",
        from: [8, 1, 1],
        to: [1, 2, 4],
        is_complex: false,
    },
    Repartition {
        name: "pencil_pencil",
        text: "2 x 4 pencils along the last axis become pencils along the second",
        from: [2, 4, 1],
        to: [2, 1, 4],
        is_complex: false,
    },
    Repartition {
        name: "slab_slab_c",
        text: "8 slabs of complex numbers become 8 along the last axis",
        from: [8, 1, 1],
        to: [1, 1, 8],
        is_complex: true,
    },
];

struct Moving {
    source: Array,
    to: Distribution,
    moved: Option<Array>,
}

impl Moving {
    fn new(what: &Repartition, device: &Device, dtype: DType, cube: i64) -> Result<Moving> {
        // A pair is a further axis, which is not divided.
        let pair: &[i64] = if what.is_complex { &[2] } else { &[] };
        let divided = |grid: &[i64; 3]| {
            let undivided = vec![1; pair.len()];
            let (shape, grid) = ([&[cube; 3], pair].concat(), [&grid[..], &undivided].concat());
            Distribution::builder(&shape).grid(&grid).build()
        };
        let team = Team::on(std::slice::from_ref(device), what.from.iter().product::<i64>() as usize)?;
        let source = array(&team, &divided(&what.from)?, dtype, seed(0, 0))?;
        Ok(Moving { source, to: divided(&what.to)?, moved: None })
    }

    fn run(&mut self, times: usize) -> Result<()> {
        for _ in 0..times {
            // Its memory is free again for the next.
            self.moved = None;
            self.moved = Some(self.source.redistribute(&self.to)?);
        }
        Ok(self.source.team().wait()?)
    }

    /// Every cell, and where it lies.
    fn check(&self) -> Result<()> {
        let Some(moved) = &self.moved else { anyhow::bail!("nothing was moved") };
        ensure!(*moved.distribution()? == self.to, "expected {}, given {}", self.to, moved.distribution()?);
        for (k, given) in to_f64(moved)?.into_iter().enumerate() {
            let expected = element(moved.dtype(), seed(0, 0), k as u64);
            ensure!(given == expected, "element {k}: expected {expected}, given {given}");
        }
        Ok(())
    }
}

impl Repartition {
    pub fn measure(
        &self,
        device: &Device,
        dtype: DType,
        cube: i64,
        effort: &Effort,
        copy_gb_s: Option<f64>,
    ) -> Result<Record> {
        let mut moving = Moving::new(self, device, dtype, cube)?;
        moving.run(1)?;
        moving.check()?;
        let seconds = samples(effort, &mut |times| moving.run(times))?;
        moving.check()?;
        let points = (cube as f64).powi(3);
        let record = Record::of_time("P1", self.name, device.name(), seconds);
        Ok(Record { dtype: dtype.to_string(), points, error: Some(0.0), ..record }
            .moving(2.0 * points * self.cell_bytes(dtype), copy_gb_s))
    }

    fn cell_bytes(&self, dtype: DType) -> f64 {
        (if self.is_complex { 2 } else { 1 } * dtype.size_bytes()) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_arrives() {
        for what in REPARTITIONS {
            for dtype in [DType::F32, DType::F64, DType::F16] {
                let mut moving = Moving::new(what, &Device::host(), dtype, 13).expect("make");
                assert!(moving.check().is_err(), "nothing moved yet");
                moving.run(2).expect("run");
                moving.check().expect(what.name);
                let wrong = moving.moved.as_ref().map(|moved| moved + 1.0);
                moving.moved = wrong;
                assert!(moving.check().is_err(), "{}: a wrong cell is seen", what.name);
            }
        }
    }
}
