//! The time of a run: Partita's cases are always measured, peers take turns while the run is on schedule.
//!
//! The schedule gives every step of the run time in proportion to its weight. What a step leaves over goes to
//! the later ones.

use std::collections::BTreeMap;

/// Seconds of a peer's turn before one has been seen.
const TURN_S: f64 = 1.0;

pub struct Budget {
    /// For the whole run; none if it may take as long as it takes.
    seconds: Option<f64>,
    /// Weights of the steps that are not over; the first one is under way.
    weights: Vec<f64>,
    total: f64,
    /// Seconds of each peer's latest turn.
    latest: BTreeMap<String, f64>,
}

impl Budget {
    pub fn new(seconds: Option<f64>, mut weights: Vec<f64>) -> Budget {
        weights.reverse();
        Budget { seconds, total: weights.iter().sum(), weights, latest: BTreeMap::new() }
    }

    /// Whether a peer's turn fits into the schedule, so many seconds after the run began; or why not.
    pub fn has_time_for(&self, peer: &str, elapsed: f64) -> Result<(), String> {
        let Some(seconds) = self.seconds else { return Ok(()) };
        let later: f64 = self.weights.iter().rev().skip(1).sum();
        let until = seconds * (1.0 - later / self.total.max(f64::MIN_POSITIVE));
        if elapsed + self.latest.get(peer).unwrap_or(&TURN_S) <= until {
            return Ok(());
        }
        Err(format!("left out: no time for it in a run of {seconds} s; --budget gives more"))
    }

    pub fn took_turn(&mut self, peer: &str, seconds: f64) {
        self.latest.insert(peer.to_owned(), seconds);
    }

    /// The present step is over.
    pub fn next_step(&mut self) {
        self.weights.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of 41 steps with three peers, of which the last is slow. When it ended, and how many turns each
    /// had.
    fn run(seconds: Option<f64>) -> (f64, [usize; 3]) {
        let weights: Vec<f64> = [3.0].into_iter().chain([1.0; 40]).collect();
        let mut budget = Budget::new(seconds, weights.clone());
        let (mut now, mut turns) = (0.0, [0; 3]);
        for weight in weights {
            now += weight;
            for (k, took) in [0.5, 1.0, 3.0].into_iter().enumerate() {
                let peer = format!("peer {k}");
                if budget.has_time_for(&peer, now).is_ok() {
                    now += took;
                    turns[k] += 1;
                    budget.took_turn(&peer, took);
                }
            }
            budget.next_step();
        }
        (now, turns)
    }

    #[test]
    fn peers_take_every_turn_if_there_is_time() {
        assert_eq!(run(None), (43.0 + 41.0 * 4.5, [41; 3]));
        assert_eq!(run(Some(500.0)).1, [41; 3]);
    }

    #[test]
    fn a_budget_is_kept_and_turns_of_later_peers_are_left_out_first() {
        let (now, [first, second, third]) = run(Some(130.0));
        assert!(now <= 130.0 && now > 110.0, "{now}");
        assert!(first >= second && second > third && third > 0, "{first} {second} {third}");
    }

    #[test]
    fn a_run_without_time_for_peers_still_measures_partita() {
        assert_eq!(run(Some(20.0)), (43.0, [0; 3]));
        let why = Budget::new(Some(10.0), vec![1.0]).has_time_for("slow", 9.9).expect_err("no time");
        assert!(why.contains("10 s") && why.contains("--budget"), "{why}");
    }
}
