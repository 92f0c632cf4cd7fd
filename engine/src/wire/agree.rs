//! Agreement on what is done next, the first time it is done. Knows proposals and nothing of what they stand
//! for.

use super::fault::pass;
use super::line::{Patience, locked};
use super::news::{News, Proposal};
use super::ranks::{Meeting, Ranks};
use crate::error::Result;

impl Ranks {
    /// Compares proposals by dissemination: in round k each rank tells the one 2^k further on the extremes of
    /// what it has heard of, so that all know all after log2(n) rounds.
    pub(super) fn agree(&self, meeting: &Meeting) -> Result<()> {
        pass("agree-begin")?;
        let (count, (step, computed)) = (self.count(), {
            let state = locked(&self.0.state);
            (state.step, state.computed)
        });
        let (fingerprint, words) = (meeting.fingerprint, meeting.operation.clone());
        let mut least = Proposal { fingerprint, computed, rank: self.0.members[self.rank()] as u64, words };
        let mut greatest = least.clone();
        let rounds = (0..).map(|k| (k, 1usize << k)).take_while(|(_, distance)| *distance < count);
        for (round, distance) in rounds {
            let [to, from] = [distance, count - distance].map(|by| (self.rank() + by) % count);
            let told = [least.clone(), greatest.clone()];
            let [told_least, told_greatest] = told;
            let news =
                News::Agree { circle: self.0.name, step, round, least: told_least, greatest: told_greatest };
            self.tell(to, &news)?;
            pass("agree-told")?;
            let heard = self.hear_proposals(from, step, round)?;
            pass("agree-heard")?;
            least = least.min(heard.0);
            greatest = greatest.max(heard.1);
        }
        if least.fingerprint != greatest.fingerprint {
            let mine = fingerprint == least.fingerprint;
            let (ours, theirs) = if mine { (least, greatest) } else { (greatest, least) };
            let reason = format!(
                "the ranks do different things: rank {} does {} ({:016x}), rank {} does {} ({:016x})",
                ours.rank, ours.words, ours.fingerprint, theirs.rank, theirs.words, theirs.fingerprint
            );
            return Err(self.0.line.fail(theirs.rank as usize, reason));
        }
        if least.computed != greatest.computed {
            let (ours, theirs) =
                if computed == least.computed { (least, greatest) } else { (greatest, least) };
            let reason = format!(
                "before {}, rank {} computed with other numbers or operations than rank {}; give every rank \
                 the same program and the same constants",
                ours.words, theirs.rank, ours.rank
            );
            return Err(self.0.line.fail(theirs.rank as usize, reason));
        }
        pass("agree-done")
    }

    fn hear_proposals(&self, from: usize, step: u64, round: u64) -> Result<(Proposal, Proposal)> {
        let peer = self.0.members[from];
        let mut patience = Patience::new(self);
        loop {
            self.listen()?;
            let mut found = None;
            {
                let mut common = locked(&self.0.line.common);
                let asked = (peer, self.0.name, step, round);
                let ours = |(sender, news): &(usize, News)| {
                    matches!(news, News::Agree { circle, step, round, .. }
                        if (*sender, *circle, *step, *round) == asked)
                };
                if let Some(at) = common.inbox.iter().position(ours) {
                    found = common.inbox.remove(at);
                }
            }
            if let Some((_, News::Agree { least, greatest, .. })) = found {
                return Ok((least, greatest));
            }
            self.check_for_strangers(step - 1)?;
            patience.wait(peer)?;
        }
    }

    /// A rank that asks for an agreement on a step that this rank has behind it does something else.
    pub(super) fn check_for_strangers(&self, done: u64) -> Result<()> {
        let stranger = {
            let common = locked(&self.0.line.common);
            common.inbox.iter().find_map(|(sender, news)| match news {
                News::Agree { circle, step, least, .. } if *circle == self.0.name && *step <= done => {
                    Some((*sender, *step, least.words.clone()))
                }
                _ => None,
            })
        };
        let Some((sender, step, words)) = stranger else { return Ok(()) };
        let reason = format!("rank {sender} does {words} as step {step}, which other ranks know as another");
        Err(self.0.line.fail(sender, reason))
    }
}
