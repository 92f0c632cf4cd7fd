//! Vector clocks: for each stream, how many of its operations are known to come before. They are the one
//! notion of order: an operation may run when its clock is reached, and two operations race when neither
//! clock covers the other.

/// How many operations of each stream come before, by the stream's number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Vec<u64>);

impl Clock {
    /// The count for one stream.
    pub fn get(&self, stream: usize) -> u64 {
        self.0.get(stream).copied().unwrap_or(0)
    }

    /// Sets the count for one stream.
    pub fn set(&mut self, stream: usize, count: u64) {
        if self.0.len() <= stream {
            self.0.resize(stream + 1, 0);
        }
        self.0[stream] = count;
    }

    /// Afterwards this comes after everything the other comes after.
    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// The streams with a count, and the count.
    pub fn entries(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.0.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_takes_the_later_of_each() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.set(0, 3);
        a.set(2, 1);
        b.set(0, 1);
        b.set(3, 5);
        a.join(&b);
        assert_eq!(a.entries().collect::<Vec<_>>(), [(0, 3), (2, 1), (3, 5)]);
        assert_eq!(a.get(9), 0);
    }
}
