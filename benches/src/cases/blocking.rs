//! T1: stencils whose steps share an exchange, and on the host go through memory tile by tile. The same cells
//! as with an exchange in every step, compared bit for bit.

use anyhow::{Result, ensure};
use partita::prelude::*;

use crate::cases::bound::{array, seed};
use crate::cases::formula::{self, Windows};
use crate::cases::workload::Sizes;
use crate::results::record::Record;
use crate::sample::{Effort, samples};

/// So many steps that share an exchange, over a plane or a cube.
pub struct Blocking {
    pub name: &'static str,
    pub text: &'static str,
    rank: usize,
    depth: usize,
}

pub const BLOCKINGS: &[Blocking] = &[
    cube("deep1", "7-point steps, an exchange in each", 1),
    cube("deep2", "the same, 2 steps share an exchange and a tile's way through memory", 2),
    cube("deep4", "the same, 4 steps", 4),
    cube("deep8", "the same, 8 steps", 8),
    plane("plane1", "5-point steps in 2-D, an exchange in each", 1),
    plane("plane4", "the same, 4 steps share an exchange and a tile's way through memory", 4),
    plane("plane8", "the same, 8 steps", 8),
];

const fn cube(name: &'static str, text: &'static str, depth: usize) -> Blocking {
    Blocking { name, text, rank: 3, depth }
}

const fn plane(name: &'static str, text: &'static str, depth: usize) -> Blocking {
    Blocking { name, text, rank: 2, depth }
}

/// Steps after which results are compared: some of them replayed.
const COMPARED_STEPS: u64 = 40;
/// Rows that a part must have, so that the deepest halos fit.
const ROWS: i64 = 24;

type Step = fn(&mut [Array]) -> partita::Result<()>;

fn step(state: &mut [Array]) -> partita::Result<()> {
    let rank = state[0].rank();
    let formula = if rank == 2 { formula::stencil5 } else { formula::stencil7 };
    let next = formula(&Windows { inputs: &state[..1], reach: 1 });
    state[0].assign(&s![1..-1].repeat(rank), &next[0])
}

impl Blocking {
    fn start(&self, team: &Team, dtype: DType, shape: &[i64]) -> Result<Loop<Step>> {
        let dist = Distribution::builder(shape).parts(team.size()).build()?;
        Ok(Loop::new(vec![array(team, &dist, dtype, seed(0, 0))?], step as Step).depth(self.depth))
    }

    /// The time of a step, divided among so many parts, or fewer where these would be thin.
    pub fn measure(
        &self,
        device: &Device,
        dtype: DType,
        sizes: &Sizes,
        parts: usize,
        effort: &Effort,
        copy_gb_s: Option<f64>,
    ) -> Result<Record> {
        let shape = sizes.shape(self.rank);
        let extent = shape[0];
        let parts = parts.min((extent / ROWS).max(1) as usize);
        let team = Team::on(std::slice::from_ref(device), parts)?;
        self.check(&team, dtype)?;
        let mut steps = self.start(&team, dtype, &shape)?;
        steps.run(COMPARED_STEPS)?;
        // Whole rounds, as far as any depth here needs them.
        let round = 8;
        let seconds = samples(effort, &mut |times| {
            steps.run(times as u64 * round)?;
            Ok(team.wait()?)
        })?;
        let seconds = seconds.into_iter().map(|time| time / round as f64).collect();
        let points = (extent as f64).powi(self.rank as i32);
        let record = Record::of_time("T1", self.name, device.name(), seconds);
        Ok(Record { dtype: dtype.to_string(), points, error: Some(0.0), ..record }
            .moving(2.0 * points * dtype.size_bytes() as f64, copy_gb_s))
    }

    fn check(&self, team: &Team, dtype: DType) -> Result<()> {
        let shape = &[ROWS * team.size() as i64, 20, 20][..self.rank];
        let after = |blocking: &Blocking| {
            let mut steps = blocking.start(team, dtype, shape)?;
            steps.run(COMPARED_STEPS)?;
            Ok::<_, anyhow::Error>(steps.state()[0].to_bytes()?)
        };
        let step_by_step = Blocking { depth: 1, ..*self };
        ensure!(after(self)? == after(&step_by_step)?, "{}: other bits than step by step", self.name);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_depth_gives_the_same_bits() {
        let team = Team::on(&[Device::host()], 3).expect("a team");
        for blocking in BLOCKINGS {
            blocking.check(&team, DType::F32).expect(blocking.name);
        }
    }
}
