//! One rank's end of the wire as all circles of ranks share it: what was heard, the failure that ends
//! everything, and how long to wait. Knows news; knows nothing of data.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Wire;
use super::fault::arm;
use super::news::{Failure, News};
use super::ranks::Ranks;
use crate::error::{Error, Result};
use crate::interrupt;

/// How long a failing rank waits for the others to have heard of it.
const LINGER: Duration = Duration::from_millis(500);

/// How long what a rank sent may take to arrive after its end was heard of.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The wire of this rank, whichever circles use it.
pub(super) struct Line {
    /// Held by what uses the wire as a whole: an evaluation.
    pub turn: Mutex<()>,
    pub wire: Box<dyn Wire>,
    pub deadline: Duration,
    pub common: Mutex<Common>,
}

/// Sends something.
pub(super) type Postponed = Box<dyn FnOnce() -> Result<()> + Send>;

#[derive(Default)]
pub(super) struct Common {
    pub inbox: VecDeque<(usize, News)>,
    pub failure: Option<Failure>,
    /// Who has heard of this rank's failure.
    pub heard: HashSet<usize>,
    /// What this rank is doing.
    pub operation: String,
    pub step: u64,
    pub spare: Vec<Vec<u8>>,
    /// How many circles of all ranks there have been.
    pub circles: u64,
    /// What has to leave before anything else begins, in its order.
    pub postponed: VecDeque<Postponed>,
    /// Who waits for whom, and since when that is known here.
    waits: HashMap<usize, (usize, Duration)>,
}

impl Common {
    /// Whether a rank of the wire has ended altogether.
    fn has_left(&self, rank: usize) -> bool {
        let left = |(sender, news): &(usize, News)| *sender == rank && matches!(news, News::Left { .. });
        self.inbox.iter().any(left)
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    pub fn new(wire: impl Wire + 'static, deadline: Duration) -> Line {
        arm(wire.rank());
        Line { turn: Mutex::default(), wire: Box::new(wire), deadline, common: Mutex::default() }
    }

    /// Tells all others that this rank is at its end.
    pub fn leave(&self) {
        let others = (0..self.wire.ranks()).filter(|&rank| rank != self.wire.rank());
        // A rank that cannot be told finds out by its deadline.
        let news = News::Left { step: locked(&self.common).step }.to_bytes();
        others.for_each(|rank| drop(self.wire.tell(rank, &news)));
    }

    /// After a failure: stays for a moment before this process ends, because a launcher ends all others as
    /// soon as it sees one end, and they must have said what they know by then.
    #[cfg(feature = "mpi")]
    pub fn stay(&self) {
        let (begin, mut looks) = (self.wire.now(), 0);
        while self.wire.now() - begin < Duration::from_secs(1) && !self.have_left() {
            while let Ok(Some((sender, bytes))) = self.wire.hear() {
                self.take_in(sender, &bytes);
            }
            self.wire.pause(looks);
            looks += 1;
        }
    }

    /// Whether all others have said that they are at their end.
    #[cfg(feature = "mpi")]
    fn have_left(&self) -> bool {
        let common = locked(&self.common);
        let mut others = (0..self.wire.ranks()).filter(|&rank| rank != self.wire.rank());
        others.all(|rank| common.has_left(rank))
    }

    /// Waits until all others are at their end too; false if one fails first or the deadline passes.
    #[cfg(feature = "mpi")]
    pub fn all_left(&self) -> bool {
        let (begin, mut looks) = (self.wire.now(), 0);
        while self.wire.now() - begin < self.deadline {
            while let Ok(Some((sender, bytes))) = self.wire.hear() {
                self.take_in(sender, &bytes);
            }
            if locked(&self.common).failure.is_some() {
                return false;
            }
            if self.have_left() {
                return true;
            }
            self.wire.pause(looks);
            looks += 1;
        }
        self.wire.alarm("another rank has not ended within the deadline");
        false
    }

    pub fn take_in(&self, sender: usize, bytes: &[u8]) {
        let mut common = locked(&self.common);
        match News::from_bytes(bytes) {
            Some(News::Abort(failure)) => {
                if common.failure.is_none() {
                    common.failure = Some(failure.clone());
                    drop(common);
                    self.wire.alarm(&self.error(failure).to_string());
                }
                // Whoever has failed waits for this a moment, and no longer.
                let _ = self.wire.tell(sender, &News::Heard.to_bytes());
            }
            Some(News::Heard) => {
                common.heard.insert(sender);
            }
            Some(news @ (News::Agree { .. } | News::Bye { .. } | News::Left { .. })) => {
                common.inbox.push_back((sender, news))
            }
            Some(News::Waits { peer }) => {
                common.waits.insert(sender, (peer as usize, self.wire.now()));
            }
            // Nobody but us sends here; what cannot be read tells us nothing.
            None => {}
        }
    }

    /// Who a rank waits for that has not answered since a time, and so on: the last of them is at fault.
    fn at_fault(&self, peer: usize, since: Duration) -> usize {
        let common = locked(&self.common);
        let mut last = peer;
        for _ in 0..self.wire.ranks() {
            match common.waits.get(&last) {
                Some(&(next, told)) if told >= since && next != self.wire.rank() => last = next,
                _ => break,
            }
        }
        last
    }

    /// The failure of a rank of the wire, unless there was one before; everybody is told.
    pub fn fail(&self, rank: usize, reason: String) -> Error {
        let (failure, first) = {
            let mut common = locked(&self.common);
            let first = common.failure.is_none();
            let (operation, step) = (common.operation.clone(), common.step);
            let found = Failure { rank: rank as u64, step, operation, reason };
            (common.failure.get_or_insert(found).clone(), first)
        };
        let error = self.error(failure.clone());
        if first {
            self.spread(failure, &error);
        }
        error
    }

    fn spread(&self, failure: Failure, error: &Error) {
        let wire = &self.wire;
        wire.alarm(&error.to_string());
        let news = News::Abort(failure).to_bytes();
        let others = (0..wire.ranks()).filter(|&rank| rank != wire.rank());
        // Whom it does not reach finds out by the deadline.
        others.clone().for_each(|rank| drop(wire.tell(rank, &news)));
        let (begin, mut looks) = (wire.now(), 0);
        while wire.now() - begin < LINGER {
            while let Ok(Some((sender, bytes))) = wire.hear() {
                self.take_in(sender, &bytes);
            }
            let common = locked(&self.common);
            let knows = |rank| common.heard.contains(&rank) || common.has_left(rank);
            if others.clone().all(knows) {
                break;
            }
            drop(common);
            wire.pause(looks);
            looks += 1;
        }
    }

    pub fn error(&self, failure: Failure) -> Error {
        let common = locked(&self.common);
        Error::Rank {
            rank: failure.rank as usize,
            operation: failure.operation,
            step: failure.step,
            reason: failure.reason,
            here: self.wire.rank(),
            here_in: format!("{}, step {}", common.operation, common.step),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if locked(&self.common).failure.is_none() {
            self.leave();
        }
    }
}

/// One wait, from its beginning to its deadline.
pub(super) struct Patience<'a> {
    ranks: &'a Ranks,
    begin: Duration,
    missed_since: Option<Duration>,
    /// Whether the others know of this wait.
    told: bool,
    looks: u32,
}

impl Patience<'_> {
    pub fn new(ranks: &Ranks) -> Patience<'_> {
        Patience { ranks, begin: ranks.0.line.wire.now(), missed_since: None, told: false, looks: 0 }
    }

    /// Pauses between two looks, while there is hope that a rank of the wire still answers.
    pub fn wait(&mut self, peer: usize) -> Result<()> {
        let line = &self.ranks.0.line;
        let now = line.wire.now();
        if !self.told && now - self.begin > line.deadline / 2 {
            self.told = true;
            let news = News::Waits { peer: peer as u64 }.to_bytes();
            let others = (0..line.wire.ranks()).filter(|&rank| rank != line.wire.rank());
            others.for_each(|rank| drop(line.wire.tell(rank, &news)));
        }
        if now - self.begin > line.deadline {
            let at_fault = line.at_fault(peer, self.begin);
            let reason = format!(
                "no answer for {} s while rank {} waited for it; it is stopped, computes for longer (then \
                 raise PARTITA_DEADLINE_SECONDS), or does something else",
                line.deadline.as_secs(),
                line.wire.rank()
            );
            return Err(line.fail(at_fault, reason));
        }
        if let Some(step) = self.ranks.left(peer) {
            let since = *self.missed_since.get_or_insert(now);
            if now - since > LAST_WORDS {
                let (rank, own) = (line.wire.rank(), self.ranks.step());
                // A rank alone against all others is at fault itself.
                if self.ranks.is_alone_after(step) {
                    let reason = format!("it goes on to step {own}; all other ranks ended after step {step}");
                    return Err(line.fail(rank, reason));
                }
                let reason =
                    format!("it ended after step {step} while rank {rank}, in step {own}, waited for it");
                return Err(line.fail(peer, reason));
            }
        }
        interrupt::check_waiting("waiting for another rank")?;
        line.wire.pause(self.looks);
        self.looks = self.looks.saturating_add(1);
        Ok(())
    }
}
