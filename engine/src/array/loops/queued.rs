//! Limits the number of queued steps, so that an interrupt takes effect soon: waits for the devices from
//! time to time.

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::interrupt;
use crate::team::Team;

/// Steps since the devices were waited for.
pub(crate) struct Queued {
    steps: u64,
    /// The most steps, so that they take about [`AHEAD`].
    most: u64,
    since: Instant,
}

/// The time that devices work on their own.
const AHEAD: Duration = Duration::from_millis(50);

impl Queued {
    pub fn new() -> Queued {
        Queued { steps: 0, most: 1, since: Instant::now() }
    }

    /// A run begins: the time since the last one is not that of steps, unless some are under way.
    pub fn begin_run(&mut self) {
        if self.steps == 0 {
            self.since = Instant::now();
        }
    }

    /// Waits once the devices have work for long.
    pub fn keep_few(&mut self, team: &Team, steps: u64) -> Result<()> {
        self.steps += steps;
        if self.steps < self.most || !interrupt::is_installed() {
            return Ok(());
        }
        team.wait()?;
        let taken = self.since.elapsed().max(Duration::from_micros(1));
        let fit = self.steps as f64 * AHEAD.as_secs_f64() / taken.as_secs_f64();
        // Slowly upwards: the next steps may take longer than these.
        *self = Queued { steps: 0, most: (fit as u64).clamp(1, 2 * self.most), since: Instant::now() };
        Ok(())
    }
}
