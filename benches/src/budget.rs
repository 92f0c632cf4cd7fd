//! How the time of a run is divided: what is ours is always measured, and peers take turns in what is left,
//! every workload having an equal share. Knows no peer and no clock.

use std::collections::BTreeMap;

/// Shares that may be used before their time, because a peer's first turn also loads its library.
const AHEAD: usize = 3;

/// Seconds, and what they were spent for.
pub struct Budget {
    /// For the whole run; none where it may take as long as it takes.
    seconds: Option<f64>,
    /// Steps of the run, and those in which peers take turns.
    steps: Steps,
    done: Steps,
    /// By us, before the first step and in steps, and by all peers.
    before: f64,
    ours: f64,
    theirs: f64,
    /// Seconds and number of the turns of each peer.
    turns: BTreeMap<String, (f64, usize)>,
}

/// A number of steps.
#[derive(Clone, Copy, Default)]
struct Steps {
    all: usize,
    with_peers: usize,
}

impl Budget {
    /// For a run of so many steps, of which so many have peers.
    pub fn of(seconds: Option<f64>, all: usize, with_peers: usize) -> Budget {
        let steps = Steps { all, with_peers };
        let (before, ours, theirs) = (0.0, 0.0, 0.0);
        Budget { seconds, steps, done: Steps::default(), before, ours, theirs, turns: BTreeMap::new() }
    }

    /// Peers in the order in which they are asked: those with short turns first.
    pub fn order(&self, peers: &mut [String]) {
        peers.sort_by(|a, b| self.expected(a).total_cmp(&self.expected(b)));
    }

    /// Seconds of a turn of this peer, as far as is known.
    fn expected(&self, peer: &str) -> f64 {
        self.turns.get(peer).map_or(0.0, |&(seconds, count)| seconds / count as f64)
    }

    /// Whether there is time for a turn in this step, or why there is none.
    pub fn has_time_for(&self, peer: &str) -> Result<(), String> {
        let Some(seconds) = self.seconds else { return Ok(()) };
        let a_step = self.ours / self.done.all.max(1) as f64;
        let for_peers = seconds - self.before - a_step * self.steps.all as f64;
        let share = (self.done.with_peers + AHEAD) as f64 / (self.steps.with_peers + AHEAD - 1) as f64;
        if self.theirs + self.expected(peer) <= for_peers * share {
            return Ok(());
        }
        Err(format!("left out: no time for it in a run of {seconds} s; --budget gives more"))
    }

    /// A peer has had a turn.
    pub fn took_turn(&mut self, peer: &str, seconds: f64) {
        self.theirs += seconds;
        let (all, count) = self.turns.entry(peer.to_owned()).or_default();
        (*all, *count) = (*all + seconds, *count + 1);
    }

    /// The first step begins, so many seconds after the run. Ceilings take longer than a step.
    pub fn began(&mut self, elapsed: f64) {
        self.before = elapsed - self.theirs;
    }

    /// A step has ended, with so many seconds since the run began.
    pub fn ended(&mut self, elapsed: f64, had_peers: bool) {
        self.done.all += 1;
        self.done.with_peers += usize::from(had_peers);
        self.ours = elapsed - self.theirs - self.before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of steps of one second and turns of these lengths; how often each peer had one.
    fn run(seconds: Option<f64>, turns: &[(&str, f64)]) -> (f64, BTreeMap<String, usize>) {
        const STEPS: usize = 40;
        let mut budget = Budget::of(seconds, STEPS, STEPS);
        // Ceilings take as long as five steps.
        let (mut now, mut counts) = (5.0, BTreeMap::new());
        budget.began(now);
        for _ in 0..STEPS {
            now += 1.0;
            let mut peers: Vec<String> = turns.iter().map(|(peer, _)| (*peer).to_owned()).collect();
            budget.order(&mut peers);
            for peer in peers {
                let took = turns.iter().find(|(name, _)| *name == peer).map_or(0.0, |turn| turn.1);
                if budget.has_time_for(&peer).is_ok() {
                    now += took;
                    budget.took_turn(&peer, took);
                    *counts.entry(peer).or_default() += 1;
                }
            }
            budget.ended(now, true);
        }
        (now, counts)
    }

    #[test]
    fn without_a_budget_everybody_takes_every_turn() {
        let (now, counts) = run(None, &[("quick", 0.5), ("slow", 8.0)]);
        assert_eq!((now, counts["quick"], counts["slow"]), (5.0 + 40.0 * 9.5, 40, 40));
    }

    #[test]
    fn a_budget_is_kept_and_goes_to_quick_turns_first_and_to_slow_ones_now_and_then() {
        let (now, counts) = run(Some(155.0), &[("slow", 8.0), ("quick", 0.5)]);
        assert!(now <= 155.0 && now > 145.0, "{now}");
        assert_eq!(counts["quick"], 40);
        assert_eq!(counts["slow"], 11);
        // Nobody has a turn where our own steps take all the time, and those are not cut.
        let (now, counts) = run(Some(35.0), &[("slow", 8.0), ("quick", 0.5)]);
        assert!(now < 60.0 && counts.values().sum::<usize>() <= 3, "{now} {counts:?}");
    }

    #[test]
    fn who_is_left_out_is_told_why() {
        let mut budget = Budget::of(Some(10.0), 10, 10);
        budget.took_turn("slow", 9.5);
        budget.ended(10.0, true);
        let why = budget.has_time_for("slow").expect_err("no time");
        assert!(why.contains("10 s") && why.contains("--budget"), "{why}");
    }
}
