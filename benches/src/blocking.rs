//! T1: a 7-point stencil whose steps share an exchange, and on the host go through memory tile by tile. The
//! same cells as with an exchange in every step, compared bit for bit.

use anyhow::{Result, ensure};
use partita::prelude::*;

use crate::bound::{array, seed};
use crate::record::Record;
use crate::sample::{Effort, samples};

/// So many steps that share an exchange.
pub struct Blocking {
    pub name: &'static str,
    pub text: &'static str,
    depth: usize,
}

pub const BLOCKINGS: &[Blocking] = &[
    Blocking { name: "deep1", text: "7-point steps, an exchange in each", depth: 1 },
    Blocking {
        name: "deep4",
        text: "the same, 4 steps share an exchange and a tile's way through memory",
        depth: 4,
    },
    Blocking { name: "deep8", text: "the same, 8 steps", depth: 8 },
];

/// Steps after which results are compared: some of them replayed.
const COMPARED_STEPS: u64 = 40;
/// Rows that a part must have, so that the deepest halos fit.
const ROWS: i64 = 24;

type Step = fn(&mut [Array]) -> partita::Result<()>;

fn step(state: &mut [Array]) -> partita::Result<()> {
    let u = &state[0];
    let c = u.slice(&s![1..-1, 1..-1, 1..-1]);
    let sides = u.slice(&s![..-2, 1..-1, 1..-1])
        + u.slice(&s![2.., 1..-1, 1..-1])
        + u.slice(&s![1..-1, ..-2, 1..-1])
        + u.slice(&s![1..-1, 2.., 1..-1])
        + u.slice(&s![1..-1, 1..-1, ..-2])
        + u.slice(&s![1..-1, 1..-1, 2..]);
    let next = &c + 0.1 * (sides - 6.0 * &c);
    state[0].assign(&s![1..-1, 1..-1, 1..-1], &next)
}

impl Blocking {
    fn start(&self, team: &Team, dtype: DType, shape: &[i64; 3]) -> Result<Loop<Step>> {
        let dist = Distribution::builder(shape).parts(team.size()).build()?;
        Ok(Loop::new(vec![array(team, &dist, dtype, seed(0, 0))?], step as Step).depth(self.depth))
    }

    /// The time of a step on a cube divided among so many parts, or fewer where these would be thin.
    pub fn measure(
        &self,
        device: &Device,
        dtype: DType,
        extent: i64,
        parts: usize,
        effort: &Effort,
        copy_gb_s: Option<f64>,
    ) -> Result<Record> {
        let parts = parts.min((extent / ROWS).max(1) as usize);
        let team = Team::on(std::slice::from_ref(device), parts)?;
        self.check(&team, dtype)?;
        let mut steps = self.start(&team, dtype, &[extent; 3])?;
        steps.run(COMPARED_STEPS)?;
        // Whole rounds, as far as any depth here needs them.
        let round = 8;
        let seconds = samples(effort, &mut |times| {
            steps.run(times as u64 * round)?;
            Ok(team.wait()?)
        })?;
        let seconds = seconds.into_iter().map(|time| time / round as f64).collect();
        let points = (extent as f64).powi(3);
        let record = Record::of_time("T1", self.name, device.name(), seconds);
        Ok(Record { dtype: dtype.to_string(), points, error: Some(0.0), ..record }
            .moving(2.0 * points * dtype.size_bytes() as f64, copy_gb_s))
    }

    fn check(&self, team: &Team, dtype: DType) -> Result<()> {
        let after = |blocking: &Blocking| {
            let mut steps = blocking.start(team, dtype, &[ROWS * team.size() as i64, 20, 20])?;
            steps.run(COMPARED_STEPS)?;
            Ok::<_, anyhow::Error>(steps.state()[0].to_bytes()?)
        };
        ensure!(after(self)? == after(&BLOCKINGS[0])?, "{}: other bits than step by step", self.name);
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
