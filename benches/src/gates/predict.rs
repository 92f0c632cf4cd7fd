//! The formula: how long a launch takes at least, by memory, L1, L2, issue and latency.
//!
//! Blocks run in waves: as many side by side as fit. A full wave takes as long as the slowest of: its bytes
//! through memory, together with the round trips that one warp waits for, as the root of the sum of squares
//! (fitted to measurements, see `targets.rs`); its wavefronts through L1; its sectors out of L2; its
//! instructions through the issue slots and the pipes. The last wave, not full, has its share of the work and
//! all of the waiting. Idle lanes need no term of their own: they take time and move no bytes.
//!
//! The predicted fraction of a case is the time of its necessary bytes at the speed of a copy, divided by the
//! sum of its launches. The time between two launches is not part of it.

use super::targets::{ISSUES, Target};
use super::walk::Walk;

/// A launch, counted.
#[derive(Clone, Debug)]
pub struct Counted {
    pub blocks: f64,
    pub threads: u32,
    pub registers: u32,
    pub shared: u32,
    /// Bytes through memory.
    pub dram_bytes: f64,
    /// Bytes out of and into L2.
    pub l2_bytes: f64,
    /// Wavefronts of L1.
    pub wavefronts: f64,
    /// How many warps like the one that was walked issue as much as all do.
    pub warps: f64,
    pub walk: Walk,
}

/// Cycles of a multiprocessor for its share of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prediction {
    pub resident: u32,
    pub waves: f64,
    pub dram: f64,
    pub l1: f64,
    pub l2: f64,
    pub issue: f64,
    /// What one wave after the other waits.
    pub latency: f64,
    /// All together.
    pub cycles: f64,
}

impl Prediction {
    /// What takes longest.
    pub fn bound(&self) -> &'static str {
        let all = [
            ("DRAM", self.dram),
            ("L1", self.l1),
            ("L2", self.l2),
            ("issue", self.issue),
            ("latency", self.latency),
        ];
        all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("", |(name, _)| name)
    }
}

pub fn predict(target: &Target, counted: &Counted) -> Prediction {
    let resident = target.resident(counted.threads, counted.registers, counted.shared);
    if resident == 0 {
        return Prediction { cycles: f64::INFINITY, ..Prediction::default() };
    }
    let sms = f64::from(target.multiprocessors);
    let slots = sms * f64::from(resident);
    let waves = counted.blocks / slots;
    let of_a_warp = (counted.walk.instructions / ISSUES).max(counted.walk.pipe_cycles);
    let (dram, l1) = (counted.dram_bytes / target.dram_bytes() / sms, counted.wavefronts / sms);
    let (l2, issue) = (counted.l2_bytes / target.l2_bytes / sms, of_a_warp * counted.warps / sms);
    let waiting = counted.walk.cycles;
    // A share of all work, in one wave.
    let wave = |share: f64, crowded: f64| {
        (dram * share).hypot(waiting).max(l1 * crowded).max(l2 * share).max(issue * crowded)
    };
    let full = waves.floor();
    let rest = waves - full;
    // The last blocks are dealt one by one: a multiprocessor gets a whole number of them.
    let crowded = (rest * f64::from(resident)).ceil() / f64::from(resident) / waves;
    let last = if rest > 1e-9 { wave(rest / waves, crowded) } else { 0.0 };
    let cycles = full * wave(1.0 / waves, 1.0 / waves) + last;
    let latency = waiting * waves.ceil();
    Prediction { resident, waves, dram, l1, l2, issue, latency, cycles }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(blocks: f64, cycles: f64) -> Counted {
        // 1 KiB per thread of a block of 256, so that memory is what counts.
        let dram_bytes = blocks * 256.0 * 1024.0;
        Counted {
            blocks,
            threads: 256,
            registers: 32,
            shared: 0,
            dram_bytes,
            l2_bytes: dram_bytes,
            wavefronts: blocks * 8.0,
            warps: blocks * 8.0,
            walk: Walk { cycles, instructions: 100.0, ..Walk::default() },
        }
    }

    #[test]
    fn memory_alone_is_the_speed_of_the_copy_and_waiting_adds_to_it() {
        let h200 = Target::named("sm_90").expect("in the table");
        let whole = predict(h200, &counted(1056.0 * 10.0, 1.0));
        assert!((whole.dram / whole.cycles - 1.0).abs() < 1e-6, "{whole:?}");
        assert_eq!((whole.resident, whole.waves, whole.bound()), (8, 10.0, "DRAM"));
        let waiting = predict(h200, &counted(1056.0 * 10.0, whole.dram / 10.0));
        assert!((waiting.dram / waiting.cycles - 0.5f64.sqrt()).abs() < 1e-6, "{waiting:?}");
    }

    #[test]
    fn a_last_wave_that_is_not_full_waits_as_long_as_a_full_one() {
        let h200 = Target::named("sm_90").expect("in the table");
        let dram = predict(h200, &counted(1056.0, 1.0)).dram;
        let fraction = |blocks: f64| {
            let prediction = predict(h200, &counted(blocks, dram));
            prediction.dram / prediction.cycles
        };
        assert!(fraction(1056.0 * 1.2) < 0.8 * fraction(1056.0 * 2.0));
        assert!(fraction(1056.0 * 20.2) > 0.97 * fraction(1056.0 * 20.0));
    }

    #[test]
    fn a_kernel_that_does_not_fit_takes_forever() {
        let h200 = Target::named("sm_90").expect("in the table");
        let huge = Counted { registers: 255, threads: 1024, ..counted(1.0, 1.0) };
        assert!(predict(h200, &huge).cycles.is_infinite());
    }
}
