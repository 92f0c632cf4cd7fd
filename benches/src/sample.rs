//! Taking times: how often to run, and running.

use std::time::Instant;

use anyhow::Result;

/// The time and the number of runs for one measurement.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Seconds for one thing on one device.
    pub seconds: f64,
    /// Samples, whatever they take.
    pub least: usize,
    /// Samples that are enough.
    pub most: usize,
}

/// A sample lasts at least this long, so that queuing and the wait at its end do not count.
const SAMPLE_S: f64 = 0.005;
/// Runs of one sample.
const MOST_RUNS: usize = 256;

/// Runs per sample, and samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub runs: usize,
    pub samples: usize,
}

impl Effort {
    /// For something of which one run takes so long.
    pub fn pace(&self, run_s: f64) -> Pace {
        let run_s = run_s.max(1e-9);
        let runs = ((SAMPLE_S / run_s).ceil() as usize).clamp(1, MOST_RUNS);
        let samples = (self.seconds / (run_s * runs as f64)) as usize;
        Pace { runs, samples: samples.clamp(self.least, self.most.max(self.least)) }
    }
}

/// Seconds per run of one sample.
pub fn sample(runs: usize, run: &mut dyn FnMut(usize) -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    run(runs)?;
    Ok(start.elapsed().as_secs_f64() / runs as f64)
}

/// Warms up, then takes the times of something on its own.
pub fn samples(effort: &Effort, run: &mut dyn FnMut(usize) -> Result<()>) -> Result<Vec<f64>> {
    run(1)?;
    let pace = effort.pace(sample(1, run)?);
    sample(pace.runs, run)?;
    (0..pace.samples).map(|_| sample(pace.runs, run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_fits_the_effort() {
        let effort = Effort { seconds: 1.0, least: 5, most: 40 };
        assert_eq!(effort.pace(0.001), Pace { runs: 5, samples: 40 });
        assert_eq!(effort.pace(0.05), Pace { runs: 1, samples: 20 });
        assert_eq!(effort.pace(3.0), Pace { runs: 1, samples: 5 });
        assert_eq!(effort.pace(0.0), Pace { runs: MOST_RUNS, samples: 40 });
    }

    #[test]
    fn a_sample_is_the_time_of_one_run() {
        let mut count = 0;
        let mut run = |times: usize| {
            count += times;
            std::thread::sleep(std::time::Duration::from_millis(2 * times as u64));
            Ok(())
        };
        let seconds = sample(3, &mut run).expect("sleep");
        assert_eq!(count, 3);
        assert!((0.002..0.02).contains(&seconds), "{seconds}");
    }
}
