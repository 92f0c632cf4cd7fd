//! How the time of a run is divided: what is ours is always measured, and peers take turns in what is left.
//!
//! All turns of a run are known when it begins. While those that are still to come fit, everybody has a turn;
//! where they do not, turns of a lower rank are left out first, and those of the last rank that has any are
//! spread evenly over the run. Knows no peer and no clock.

use std::collections::BTreeMap;

/// Of the seconds of a run, kept for what no forecast knows.
const SPARE: f64 = 0.02;
/// Seconds of a turn, and of a step of weight 1, before any has been seen.
const TURN_S: f64 = 1.0;
const STEP_S: f64 = 1.5;

/// A step of a run: something of ours, and the turns of peers beside it.
#[derive(Clone)]
pub struct Step {
    /// How long ours takes, as a multiple of what most steps take.
    pub weight: f64,
    /// Those that have not been asked for.
    pub turns: Vec<Turn>,
}

/// Ranks count from 0, the most important.
#[derive(Clone)]
pub struct Turn {
    pub peer: String,
    pub rank: usize,
}

/// Seconds, and what they were spent for.
pub struct Budget {
    /// For the whole run; none where it may take as long as it takes.
    seconds: Option<f64>,
    /// Those to come, the first of which has begun; and the weight of those that have ended.
    steps: Vec<Step>,
    weight: f64,
    /// By all peers, and by us in steps that have ended.
    theirs: f64,
    ours: f64,
    /// The seconds of each turn of a peer.
    turns: BTreeMap<String, Vec<f64>>,
    /// By rank, the parts of a turn that were spared.
    spared: BTreeMap<usize, f64>,
}

impl Budget {
    /// For a run of these steps.
    pub fn of(seconds: Option<f64>, steps: Vec<Step>) -> Budget {
        let (turns, spared) = Default::default();
        Budget { seconds, steps, weight: 0.0, theirs: 0.0, ours: 0.0, turns, spared }
    }

    /// Seconds of a peer's turn: the mean of its own, or of everybody's, as far as they are known. A first
    /// turn also loads a library, and does not count.
    fn expected(&self, peer: &str) -> f64 {
        let own: Vec<f64> = self.turns.get(peer).into_iter().flat_map(|turns| &turns[1..]).copied().collect();
        let all = || self.turns.values().flat_map(|turns| &turns[1..]).copied().collect();
        mean(&if own.is_empty() { all() } else { own }).unwrap_or(TURN_S)
    }

    /// Whether there is time for a turn in the present step, so many seconds after the run began, or why
    /// there is none. It is not asked for again.
    pub fn has_time_for(&mut self, peer: &str, elapsed: f64) -> Result<(), String> {
        let (Some(seconds), Some(rank)) = (self.seconds, self.asked_for(peer)) else { return Ok(()) };
        let left = seconds * (1.0 - SPARE) - elapsed - self.ours_to_come(elapsed);
        let to_come = |counts: &dyn Fn(usize) -> bool| -> f64 {
            let turns = self.steps.iter().flat_map(|step| &step.turns);
            turns.filter(|turn| counts(turn.rank)).map(|turn| self.expected(&turn.peer)).sum()
        };
        let this = self.expected(peer);
        let left = left - to_come(&|other| other < rank);
        let wanted = this + to_come(&|other| other == rank);
        let spared = self.spared.entry(rank).or_default();
        *spared += (left / wanted).clamp(0.0, 1.0);
        if left >= wanted || (*spared >= 1.0 && left >= this) {
            *spared = (*spared - 1.0).max(0.0);
            return Ok(());
        }
        Err(format!("left out: no time for it in a run of {seconds} s; --budget gives more"))
    }

    /// The rank of a turn of the present step, which is no longer to come.
    fn asked_for(&mut self, peer: &str) -> Option<usize> {
        let turns = &mut self.steps.first_mut()?.turns;
        let place = turns.iter().position(|turn| turn.peer == peer)?;
        Some(turns.remove(place).rank)
    }

    /// Seconds that we shall need: of the present step, what is not over, and all later ones.
    fn ours_to_come(&self, elapsed: f64) -> f64 {
        let per_weight = if self.weight > 0.0 { self.ours / self.weight } else { STEP_S };
        let now = elapsed - self.ours - self.theirs;
        let to_come: f64 = self.steps.iter().map(|step| step.weight * per_weight).sum();
        let present = self.steps.first().map_or(0.0, |step| step.weight * per_weight);
        to_come - now.clamp(0.0, present)
    }

    /// A peer has had a turn, and was measured.
    pub fn took_turn(&mut self, peer: &str, seconds: f64, is_timed: bool) {
        self.theirs += seconds;
        if is_timed {
            self.turns.entry(peer.to_owned()).or_default().push(seconds);
        }
    }

    /// The present step has ended, so many seconds after the run began, and the next one begins.
    pub fn ended(&mut self, elapsed: f64) {
        self.ours = elapsed - self.theirs;
        if !self.steps.is_empty() {
            self.weight += self.steps.remove(0).weight;
        }
    }
}

fn mean(seconds: &[f64]) -> Option<f64> {
    (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a turn takes, and its peer's rank.
    type Peers<'a> = &'a [(&'a str, f64, usize)];

    /// As in a quick run: ceilings, 40 workloads with peers, 40 short steps of which 10 have peers, at a
    /// lower rank; all at another pace than is thought of. When it ended, and in which steps each peer had a
    /// turn.
    fn run(seconds: Option<f64>, peers: Peers) -> (f64, BTreeMap<String, Vec<usize>>) {
        let weights: Vec<f64> = [3.0].into_iter().chain([1.0; 40]).chain([0.2; 40]).collect();
        let turns = |nth: usize| -> Vec<Turn> {
            let lower = if nth > 70 { 10 } else { 0 };
            let some: Peers = if (1..=40).contains(&nth) || nth > 70 { peers } else { &[] };
            some.iter().map(|&(peer, _, rank)| Turn { peer: peer.to_owned(), rank: rank + lower }).collect()
        };
        let steps = weights.iter().enumerate().map(|(nth, &weight)| Step { weight, turns: turns(nth) });
        let mut budget = Budget::of(seconds, steps.collect());
        let (mut now, mut had) = (0.0, BTreeMap::<String, Vec<usize>>::new());
        for (nth, weight) in weights.iter().enumerate() {
            now += weight;
            for turn in turns(nth) {
                let took = peers.iter().find(|(name, ..)| *name == turn.peer).map_or(0.0, |peer| peer.1);
                if budget.has_time_for(&turn.peer, now).is_ok() {
                    // Its first turn loads its library.
                    let took = if had.contains_key(&turn.peer) { took } else { took + 2.0 };
                    now += took;
                    budget.took_turn(&turn.peer, took, true);
                    had.entry(turn.peer).or_default().push(nth);
                }
            }
            now += weight * 0.1;
            budget.ended(now);
        }
        (now, had)
    }

    const PEERS: Peers<'static> =
        &[("first", 0.5, 0), ("second", 1.5, 1), ("other", 0.5, 2), ("last", 1.0, 2)];
    /// Of ours, and of all turns of these peers with their libraries.
    const OURS: f64 = 1.1 * 51.0;
    const ALL: f64 = OURS + 50.0 * 3.5 + 8.0;

    #[test]
    fn everybody_takes_every_turn_where_all_of_them_fit() {
        for seconds in [None, Some(2.0 * ALL), Some(1.07 * ALL)] {
            let (now, had) = run(seconds, PEERS);
            assert!((now - ALL).abs() < 1e-6, "{now} instead of {ALL} in {seconds:?}");
            assert!(had.values().all(|steps| steps.len() == 50), "{had:?} in {seconds:?}");
        }
    }

    #[test]
    fn the_whole_of_a_budget_is_used_and_the_lowest_rank_goes_without() {
        for seconds in [100.0, 130.0, 160.0, 200.0] {
            let (now, had) = run(Some(seconds), PEERS);
            assert!(now <= seconds && now > 0.94 * seconds, "{now} of {seconds}");
            let important =
                |peer| had.get(peer).map_or(0, |steps| steps.iter().filter(|step| **step <= 40).count());
            let [first, second, other, last] = ["first", "second", "other", "last"].map(important);
            assert_eq!(first, 40, "{had:?} in {seconds}");
            assert!(second >= 38 || other + last <= 2, "{had:?} in {seconds}");
        }
    }

    #[test]
    fn turns_of_one_rank_are_spread_over_the_run() {
        let (_, had) = run(Some(130.0), PEERS);
        let steps = &had["second"];
        assert!((5..35).contains(&steps.len()), "{had:?}");
        let early = steps.iter().filter(|step| **step <= 20).count();
        assert!(steps.len().abs_diff(2 * early) <= 6, "{steps:?}");
    }

    #[test]
    fn ours_are_measured_even_where_they_take_all_the_time() {
        let (now, had) = run(Some(40.0), PEERS);
        assert!(now < OURS + 5.0 && had.values().map(Vec::len).sum::<usize>() <= 3, "{now} {had:?}");
    }

    #[test]
    fn who_is_left_out_is_told_why() {
        let turns = vec![Turn { peer: "slow".to_owned(), rank: 0 }];
        let mut budget = Budget::of(Some(10.0), vec![Step { weight: 1.0, turns }]);
        let why = budget.has_time_for("slow", 9.9).expect_err("no time");
        assert!(why.contains("10 s") && why.contains("--budget"), "{why}");
        // What nobody has announced has all the time there is.
        assert_eq!(budget.has_time_for("slow", 9.9), Ok(()));
    }
}
