//! What ranks tell each other beside their data, and its form in bytes. Knows nothing of when it is told.

/// What one rank proposes to do, as a number and in words, and a number that stands for everything that it
/// has computed before.
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

/// A short message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum News {
    /// One round of an agreement among the ranks that `circle` names: the extremes of what its sender heard
    /// of.
    Agree { circle: u64, step: u64, round: u64, least: Proposal, greatest: Proposal },
    /// Somebody failed; nothing more will work.
    Abort(Failure),
    /// An abort was heard.
    Heard,
    /// The sender has ended its part in a circle, after so many steps.
    Bye { circle: u64, step: u64 },
    /// The sender has ended altogether, after this step.
    Left { step: u64 },
    /// The sender has waited for a rank for half of its patience.
    Waits { peer: u64 },
}

impl News {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Bytes(Vec::new());
        match self {
            News::Agree { circle, step, round, least, greatest } => {
                bytes.numbers(&[0, *circle, *step, *round]);
                bytes.proposal(least);
                bytes.proposal(greatest);
            }
            News::Abort(failure) => {
                bytes.numbers(&[1, failure.rank, failure.step]);
                bytes.words(&failure.operation);
                bytes.words(&failure.reason);
            }
            News::Heard => bytes.numbers(&[2]),
            News::Bye { circle, step } => bytes.numbers(&[3, *circle, *step]),
            News::Left { step } => bytes.numbers(&[4, *step]),
            News::Waits { peer } => bytes.numbers(&[5, *peer]),
        }
        bytes.0
    }

    /// `None` for what [`News::to_bytes`] did not write.
    pub fn from_bytes(bytes: &[u8]) -> Option<News> {
        let mut rest = Rest(bytes);
        let news = match rest.number()? {
            0 => {
                let [circle, step, round] = [rest.number()?, rest.number()?, rest.number()?];
                let [least, greatest] = [rest.proposal()?, rest.proposal()?];
                News::Agree { circle, step, round, least, greatest }
            }
            1 => News::Abort(Failure {
                rank: rest.number()?,
                step: rest.number()?,
                operation: rest.words()?,
                reason: rest.words()?,
            }),
            2 => News::Heard,
            3 => News::Bye { circle: rest.number()?, step: rest.number()? },
            4 => News::Left { step: rest.number()? },
            5 => News::Waits { peer: rest.number()? },
            _ => return None,
        };
        rest.0.is_empty().then_some(news)
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
    fn what_is_told_is_what_is_heard_and_nothing_else() {
        let proposal = |rank| Proposal {
            fingerprint: 7 << 60,
            computed: 3 << 50,
            rank,
            words: format!("sum of {rank} ü"),
        };
        let [least, greatest] = [proposal(1), proposal(2)];
        let all = [
            News::Agree { circle: 1, step: u64::MAX, round: 3, least, greatest },
            News::Abort(Failure {
                rank: 3,
                step: 9,
                operation: String::new(),
                reason: "out of memory".into(),
            }),
            News::Heard,
            News::Bye { circle: 0, step: 4 },
            News::Waits { peer: 6 },
            News::Left { step: 8 },
        ];
        for news in all {
            let bytes = news.to_bytes();
            assert_eq!(News::from_bytes(&bytes), Some(news));
            for cut in 0..bytes.len() {
                assert_eq!(News::from_bytes(&bytes[..cut]), None, "{cut} of {} bytes", bytes.len());
            }
            assert_eq!(News::from_bytes(&[&bytes[..], &[0]].concat()), None);
        }
        assert_eq!(News::from_bytes(&u64::MAX.to_le_bytes()), None);
    }
}
