//! Agreement on the next collective operation, the first time it is done: all ranks compare the
//! fingerprints of what they propose.

use super::communicator::{CollectiveSignature, Communicator, Deadline};
use super::control::{ControlMessage, Proposal};
use super::endpoint::locked;
use super::fault::pass;
use crate::error::Result;

impl Communicator {
    /// Compares proposals by dissemination: in round k each rank sends the least and greatest proposal that
    /// it knows to the rank 2^k further on, so that all know the extremes of all after log2(n) rounds.
    pub(super) fn agree(&self, signature: &CollectiveSignature) -> Result<()> {
        pass("agree-begin")?;
        let (count, (step, computed)) = (self.members.len(), {
            let state = locked(&self.state);
            (state.step, state.computed)
        });
        let (fingerprint, words) = (signature.fingerprint, signature.operation.clone());
        let mut least = Proposal { fingerprint, computed, rank: self.members[self.rank] as u64, words };
        let mut greatest = least.clone();
        let rounds = (0..).map(|k| (k, 1usize << k)).take_while(|(_, distance)| *distance < count);
        for (round, distance) in rounds {
            let [to, from] = [distance, count - distance].map(|by| (self.rank + by) % count);
            let (communicator, sent) = (self.name, (least.clone(), greatest.clone()));
            let message =
                ControlMessage::Agree { communicator, step, round, least: sent.0, greatest: sent.1 };
            self.send_control(to, &message)?;
            pass("agree-sent")?;
            let received = self.receive_proposals(from, step, round)?;
            pass("agree-received")?;
            least = least.min(received.0);
            greatest = greatest.max(received.1);
        }
        if least.fingerprint != greatest.fingerprint {
            let mine = fingerprint == least.fingerprint;
            let (ours, theirs) = if mine { (least, greatest) } else { (greatest, least) };
            let reason = format!(
                "the ranks do different things: rank {} does {} ({:016x}), rank {} does {} ({:016x})",
                ours.rank, ours.words, ours.fingerprint, theirs.rank, theirs.words, theirs.fingerprint
            );
            return Err(self.endpoint.fail(theirs.rank as usize, reason));
        }
        if least.computed != greatest.computed {
            let (ours, theirs) =
                if computed == least.computed { (least, greatest) } else { (greatest, least) };
            let reason = format!(
                "before {}, rank {} computed with other numbers or operations than rank {}; give every rank \
                 the same program and the same constants",
                ours.words, theirs.rank, ours.rank
            );
            return Err(self.endpoint.fail(theirs.rank as usize, reason));
        }
        pass("agree-done")
    }

    fn receive_proposals(&self, from: usize, step: u64, round: u64) -> Result<(Proposal, Proposal)> {
        let peer = self.members[from];
        let mut deadline = Deadline::new(self);
        loop {
            self.poll_control()?;
            let mut found = None;
            {
                let mut state = locked(&self.endpoint.state);
                let expected = (peer, self.name, step, round);
                let ours = |(sender, message): &(usize, ControlMessage)| {
                    matches!(message, ControlMessage::Agree { communicator, step, round, .. }
                        if (*sender, *communicator, *step, *round) == expected)
                };
                if let Some(at) = state.inbox.iter().position(ours) {
                    found = state.inbox.remove(at);
                }
            }
            if let Some((_, ControlMessage::Agree { least, greatest, .. })) = found {
                return Ok((least, greatest));
            }
            self.check_for_mismatch(step - 1)?;
            deadline.wait(peer)?;
        }
    }

    /// Fails if a rank proposes an operation for a step that this rank has already done: that rank does
    /// something else.
    pub(super) fn check_for_mismatch(&self, done: u64) -> Result<()> {
        let mismatch = {
            let state = locked(&self.endpoint.state);
            state.inbox.iter().find_map(|(sender, message)| match message {
                ControlMessage::Agree { communicator, step, least, .. }
                    if *communicator == self.name && *step <= done =>
                {
                    Some((*sender, *step, least.words.clone()))
                }
                _ => None,
            })
        };
        let Some((sender, step, words)) = mismatch else { return Ok(()) };
        let reason = format!("rank {sender} does {words} as step {step}, which other ranks know as another");
        Err(self.endpoint.fail(sender, reason))
    }
}
