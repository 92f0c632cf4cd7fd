//! Control messages between ranks, and their encoding in bytes: agreement, abort notices, shutdown.

/// The collective operation that one rank is about to begin: its fingerprint and its name, and a hash of all
/// that the rank has computed before.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Proposal {
    pub fingerprint: u64,
    pub computed: u64,
    pub rank: u64,
    pub words: String,
}

/// A failure, as its finder describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    /// The rank at fault.
    pub rank: u64,
    pub step: u64,
    pub operation: String,
    pub reason: String,
}

/// A short message beside the data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ControlMessage {
    /// One round of an agreement in a communicator: the least and greatest proposal that the sender knows.
    Agree { communicator: u64, step: u64, round: u64, least: Proposal, greatest: Proposal },
    /// A rank failed; nothing works after it.
    Abort(Failure),
    /// Acknowledges an abort notice.
    AbortAck,
    /// The sender has dropped a communicator, after so many steps.
    Goodbye { communicator: u64, step: u64 },
    /// The sender shuts down, after this step.
    Shutdown { step: u64 },
    /// The sender has waited for a rank for half of its deadline.
    Waiting { peer: u64 },
}

impl ControlMessage {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Bytes(Vec::new());
        match self {
            ControlMessage::Agree { communicator, step, round, least, greatest } => {
                bytes.numbers(&[0, *communicator, *step, *round]);
                bytes.proposal(least);
                bytes.proposal(greatest);
            }
            ControlMessage::Abort(failure) => {
                bytes.numbers(&[1, failure.rank, failure.step]);
                bytes.words(&failure.operation);
                bytes.words(&failure.reason);
            }
            ControlMessage::AbortAck => bytes.numbers(&[2]),
            ControlMessage::Goodbye { communicator, step } => bytes.numbers(&[3, *communicator, *step]),
            ControlMessage::Shutdown { step } => bytes.numbers(&[4, *step]),
            ControlMessage::Waiting { peer } => bytes.numbers(&[5, *peer]),
        }
        bytes.0
    }

    /// `None` for what [`ControlMessage::to_bytes`] did not write.
    pub fn from_bytes(bytes: &[u8]) -> Option<ControlMessage> {
        let mut rest = Rest(bytes);
        let message = match rest.number()? {
            0 => {
                let [communicator, step, round] = [rest.number()?, rest.number()?, rest.number()?];
                let [least, greatest] = [rest.proposal()?, rest.proposal()?];
                ControlMessage::Agree { communicator, step, round, least, greatest }
            }
            1 => ControlMessage::Abort(Failure {
                rank: rest.number()?,
                step: rest.number()?,
                operation: rest.words()?,
                reason: rest.words()?,
            }),
            2 => ControlMessage::AbortAck,
            3 => ControlMessage::Goodbye { communicator: rest.number()?, step: rest.number()? },
            4 => ControlMessage::Shutdown { step: rest.number()? },
            5 => ControlMessage::Waiting { peer: rest.number()? },
            _ => return None,
        };
        rest.0.is_empty().then_some(message)
    }
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|number| self.0.extend(number.to_le_bytes()));
    }

    fn words(&mut self, words: &str) {
        self.numbers(&[words.len() as u64]);
        self.0.extend(words.as_bytes());
    }

    fn proposal(&mut self, proposal: &Proposal) {
        self.numbers(&[proposal.fingerprint, proposal.computed, proposal.rank]);
        self.words(&proposal.words);
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn words(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (words, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(words.to_vec()).ok()
    }

    fn proposal(&mut self) -> Option<Proposal> {
        let [fingerprint, computed, rank] = [self.number()?, self.number()?, self.number()?];
        Some(Proposal { fingerprint, computed, rank, words: self.words()? })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn control_messages_are_decoded_as_they_were_encoded() {
        let proposal = |rank| Proposal {
            fingerprint: 7 << 60,
            computed: 3 << 50,
            rank,
            words: format!("sum of {rank} ü"),
        };
        let [least, greatest] = [proposal(1), proposal(2)];
        let all = [
            ControlMessage::Agree { communicator: 1, step: u64::MAX, round: 3, least, greatest },
            ControlMessage::Abort(Failure {
                rank: 3,
                step: 9,
                operation: String::new(),
                reason: "out of memory".into(),
            }),
            ControlMessage::AbortAck,
            ControlMessage::Goodbye { communicator: 0, step: 4 },
            ControlMessage::Waiting { peer: 6 },
            ControlMessage::Shutdown { step: 8 },
        ];
        for message in all {
            let bytes = message.to_bytes();
            assert_eq!(ControlMessage::from_bytes(&bytes), Some(message));
            for cut in 0..bytes.len() {
                assert_eq!(ControlMessage::from_bytes(&bytes[..cut]), None, "{cut} of {} bytes", bytes.len());
            }
            assert_eq!(ControlMessage::from_bytes(&[&bytes[..], &[0]].concat()), None);
        }
        assert_eq!(ControlMessage::from_bytes(&u64::MAX.to_le_bytes()), None);
    }
}
