//! Order and races. Vector clocks are the one notion of order: an operation may run when its clock is
//! reached. The history of accesses keeps, for every byte range, the operations that last wrote and read it.
//! An access that conflicts with one not ordered before it is a race, in whatever order the two happened to
//! run. Entries that a later access makes redundant are dropped, so memory stays small.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The number of earlier operations of each stream, by the stream's number.
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

/// An operation as reports name it.
#[derive(Debug)]
pub struct Mark {
    /// The stream it is in.
    pub stream: usize,
    /// Its position in that stream, from 1.
    pub position: u64,
    /// The device of the stream.
    pub device: usize,
    /// The operation, in words.
    pub label: String,
}

/// The use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Bytes are read.
    Read,
    /// Bytes change, or their meaning does: allocation and release count too.
    Write,
}

/// Two unordered uses of the same bytes, one of them a write.
#[derive(Debug)]
pub struct Race {
    /// The use by the operation that ran first.
    pub earlier: (Arc<Mark>, Use),
    /// The bytes both use.
    pub bytes: Range<u64>,
}

#[derive(Clone, Debug)]
struct Segment {
    end: u64,
    writes: Vec<Arc<Mark>>,
    reads: Vec<Arc<Mark>>,
}

/// The latest uses of all memory.
#[derive(Debug, Default)]
pub struct AccessHistory {
    segments: BTreeMap<u64, Segment>,
}

impl AccessHistory {
    /// Notes that `mark`, which comes after `clock`, uses `bytes`; says with what it races.
    pub fn note(&mut self, bytes: Range<u64>, usage: Use, mark: &Arc<Mark>, clock: &Clock) -> Option<Race> {
        if bytes.is_empty() {
            return None;
        }
        self.split(bytes.start);
        self.split(bytes.end);
        let race = self.race(&bytes, usage, clock);
        match usage {
            Use::Write => {
                self.forget(bytes.clone());
                let segment = Segment { end: bytes.end, writes: vec![mark.clone()], reads: Vec::new() };
                self.segments.insert(bytes.start, segment);
            }
            Use::Read => self.note_read(bytes, mark, clock),
        }
        race
    }

    fn race(&self, bytes: &Range<u64>, usage: Use, clock: &Clock) -> Option<Race> {
        let unordered = |mark: &&Arc<Mark>| clock.get(mark.stream) < mark.position;
        self.segments.range(bytes.clone()).find_map(|(start, segment)| {
            let read = || segment.reads.iter().find(unordered).map(|mark| (mark.clone(), Use::Read));
            let write = segment.writes.iter().find(unordered).map(|mark| (mark.clone(), Use::Write));
            let earlier = match usage {
                Use::Read => write,
                Use::Write => write.or_else(read),
            };
            earlier.map(|earlier| Race { earlier, bytes: *start..segment.end })
        })
    }

    fn note_read(&mut self, bytes: Range<u64>, mark: &Arc<Mark>, clock: &Clock) {
        let mut gaps = Vec::new();
        let mut at = bytes.start;
        for (start, segment) in self.segments.range_mut(bytes.clone()) {
            if at < *start {
                gaps.push(at..*start);
            }
            at = segment.end;
            // Whatever comes after this read comes after those ordered before it, which need not be kept.
            segment.reads.retain(|old| clock.get(old.stream) < old.position);
            segment.reads.push(mark.clone());
        }
        if at < bytes.end {
            gaps.push(at..bytes.end);
        }
        for gap in gaps {
            let segment = Segment { end: gap.end, writes: Vec::new(), reads: vec![mark.clone()] };
            self.segments.insert(gap.start, segment);
        }
    }

    /// Drops what is known of memory that exists no more.
    pub fn forget(&mut self, bytes: Range<u64>) {
        self.split(bytes.start);
        self.split(bytes.end);
        while let Some((&start, _)) = self.segments.range(bytes.clone()).next() {
            self.segments.remove(&start);
        }
    }

    fn split(&mut self, at: u64) {
        if let Some((_, segment)) = self.segments.range_mut(..at).next_back()
            && segment.end > at
        {
            let rest = segment.clone();
            segment.end = at;
            self.segments.insert(at, rest);
        }
    }
}

#[cfg(test)]
mod clock_tests {
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

#[cfg(test)]
mod access_history_tests {
    use super::*;

    fn mark(stream: usize, position: u64) -> Arc<Mark> {
        Arc::new(Mark { stream, position, device: 0, label: String::new() })
    }

    fn clock(counts: &[(usize, u64)]) -> Clock {
        let mut clock = Clock::default();
        for (stream, count) in counts {
            clock.set(*stream, *count);
        }
        clock
    }

    #[test]
    fn a_write_and_an_unordered_read_race_where_they_overlap() {
        let mut shadow = AccessHistory::default();
        assert!(shadow.note(0..100, Use::Write, &mark(0, 1), &clock(&[(0, 1)])).is_none());
        let race = shadow.note(90..120, Use::Read, &mark(1, 1), &clock(&[(1, 1)])).unwrap();
        assert_eq!((race.bytes, race.earlier.1), (90..100, Use::Write));
        assert!(
            shadow.note(100..200, Use::Write, &mark(0, 2), &clock(&[(0, 2)])).is_some(),
            "read of 100..120"
        );
    }

    #[test]
    fn ordered_uses_and_two_reads_do_not_race() {
        let mut shadow = AccessHistory::default();
        assert!(shadow.note(0..100, Use::Write, &mark(0, 1), &clock(&[(0, 1)])).is_none());
        assert!(shadow.note(50..60, Use::Read, &mark(1, 1), &clock(&[(0, 1), (1, 1)])).is_none());
        assert!(shadow.note(50..60, Use::Read, &mark(0, 2), &clock(&[(0, 2)])).is_none());
        assert!(shadow.note(0..100, Use::Write, &mark(2, 1), &clock(&[(0, 2), (1, 1), (2, 1)])).is_none());
        assert_eq!(shadow.segments.len(), 1, "a write makes one segment");
    }

    #[test]
    fn a_read_kept_for_another_stream_still_races() {
        let mut shadow = AccessHistory::default();
        assert!(shadow.note(0..8, Use::Read, &mark(0, 1), &clock(&[(0, 1)])).is_none());
        assert!(shadow.note(0..8, Use::Read, &mark(1, 1), &clock(&[(1, 1)])).is_none());
        assert!(shadow.note(0..8, Use::Write, &mark(1, 2), &clock(&[(1, 2)])).is_some());
    }
}
