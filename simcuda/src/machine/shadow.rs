//! For each few bytes, who wrote and who read them last. Time is counted in phases: the stretches of one
//! block between barriers, numbered in the order in which they begin, over all launches. So old marks need
//! never be cleared. Blocks that run one after the other are in no order; those that run at the same time
//! may be ordered by what they tell each other ([`Clocks`]).

use super::clocks::{Clocks, Now};

/// An earlier access that the present one may not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    pub hazard: Hazard,
    /// The phase of the earlier access.
    pub phase: u64,
    /// Its thread, if it was one.
    pub thread: Option<u32>,
}

impl Clash {
    pub(crate) fn is_of_another_block(&self, now: &Now) -> bool {
        self.phase < now.block || self.phase > now.phase && self.phase < UNDER_WAY >> PHASE
    }
}

/// The kinds of the two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hazard {
    ReadAfterWrite,
    WriteAfterWrite,
    WriteAfterRead,
    /// One of them is a load through the cache that does not see writes.
    NonCoherent,
    /// Nothing wrote here in this block.
    Unwritten,
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Weak,
    /// A load through the cache that does not see writes (`.nc`).
    Cached,
    /// An atomic operation, or a load or store with `.relaxed`, `.acquire` or `.release`: these do not race
    /// with each other.
    Strong,
}

/// A mark is a phase and, below it, who: a thread, or one of these.
const SEVERAL_THREADS: u64 = 1024;
const SEVERAL_BLOCKS: u64 = 1025;
const WHO: u64 = (1 << 11) - 1;
/// Set in marks of reads through `.nc`.
const CACHED: u64 = 1 << 11;
/// Set in marks of strong accesses.
const STRONG: u64 = 1 << 12;
const PHASE: u32 = 13;
/// The phase of a write that has not arrived yet: after all others.
const UNDER_WAY: u64 = (u64::MAX >> PHASE) << PHASE;

/// The last write and the last read.
type Cell = [u64; 2];
const WRITE: usize = 0;
const READ: usize = 1;

/// Marks over a stretch of memory, for cells of 4, 2 or 1 bytes: as fine as the accesses so far.
pub(crate) struct Shadow {
    shift: u32,
    bytes: usize,
    cells: Vec<Cell>,
}

impl Shadow {
    pub(crate) fn new(bytes: usize) -> Shadow {
        Shadow { shift: 2, bytes, cells: vec![[0; 2]; bytes.div_ceil(4)] }
    }

    fn refine(&mut self) {
        self.shift -= 1;
        let mut finer = Vec::with_capacity(self.cells.len() * 2);
        for cell in &self.cells {
            finer.extend([*cell; 2]);
        }
        finer.truncate(self.bytes.div_ceil(1 << self.shift));
        self.cells = finer;
    }

    /// The cells of an aligned access of a power of two bytes.
    #[inline(always)]
    fn cells(&mut self, offset: usize, bytes: usize) -> &mut [Cell] {
        while bytes < 1 << self.shift {
            self.refine();
        }
        &mut self.cells[offset >> self.shift..(offset + bytes) >> self.shift]
    }

    #[inline(always)]
    pub(crate) fn read(
        &mut self,
        offset: usize,
        bytes: usize,
        how: Access,
        now: &Now,
        clocks: Option<&Clocks>,
    ) -> Result<(), Clash> {
        for cell in self.cells(offset, bytes) {
            if let Some(hazard) = after_write(cell[WRITE], how, now, clocks) {
                return Err(clash(hazard, cell[WRITE]));
            }
            cell[READ] = read_mark(cell[READ], how, now, clocks);
        }
        Ok(())
    }

    /// As `read`, for memory that each block has to itself and writes before it reads.
    #[inline(always)]
    pub(crate) fn read_own(
        &mut self,
        offset: usize,
        bytes: usize,
        how: Access,
        now: &Now,
    ) -> Result<(), Clash> {
        for cell in self.cells(offset, bytes) {
            if cell[WRITE] >> PHASE < now.block {
                return Err(clash(Hazard::Unwritten, cell[WRITE]));
            }
        }
        self.read(offset, bytes, how, &Now { launch: now.block, ..*now }, None)
    }

    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        offset: usize,
        bytes: usize,
        how: Access,
        now: &Now,
        clocks: Option<&Clocks>,
    ) -> Result<(), Clash> {
        let strong = if how == Access::Strong { STRONG } else { 0 };
        for cell in self.cells(offset, bytes) {
            if after_write(cell[WRITE], how, now, clocks).is_some() {
                return Err(clash(Hazard::WriteAfterWrite, cell[WRITE]));
            }
            if let Some(hazard) = after_read(cell[READ], how, now, clocks) {
                return Err(clash(hazard, cell[READ]));
            }
            cell[WRITE] = now.phase << PHASE | strong | now.thread as u64;
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn write_own(
        &mut self,
        offset: usize,
        bytes: usize,
        how: Access,
        now: &Now,
    ) -> Result<(), Clash> {
        self.write(offset, bytes, how, &Now { launch: now.block, ..*now }, None)
    }

    /// As `write_own`, by a copy that is under way until it lands: until then nobody may touch these cells.
    pub(crate) fn write_later(&mut self, offset: usize, bytes: usize, now: &Now) -> Result<(), Clash> {
        self.write_own(offset, bytes, Access::Weak, now)?;
        self.cells(offset, bytes).iter_mut().for_each(|cell| cell[WRITE] = UNDER_WAY | now.thread as u64);
        Ok(())
    }

    /// Ends a write that `write_later` began.
    pub(crate) fn land(&mut self, offset: usize, bytes: usize, now: &Now) {
        let mark = now.phase << PHASE | now.thread as u64;
        self.cells(offset, bytes).iter_mut().for_each(|cell| cell[WRITE] = mark);
    }

    /// Stretches between `from` and `to` that were read and written since the phase `since`.
    pub(crate) fn accessed(&self, from: usize, to: usize, since: u64) -> [Vec<std::ops::Range<u64>>; 2] {
        [READ, WRITE].map(|which| {
            let mut found: Vec<std::ops::Range<u64>> = Vec::new();
            for at in from >> self.shift..to.div_ceil(1 << self.shift) {
                if self.cells[at][which] >> PHASE < since {
                    continue;
                }
                let (start, end) = ((at << self.shift) as u64, ((at + 1) << self.shift) as u64);
                match found.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => found.push(start..end),
                }
            }
            found
        })
    }
}

fn clash(hazard: Hazard, mark: u64) -> Clash {
    let who = mark & WHO;
    Clash { hazard, phase: mark >> PHASE, thread: (who < SEVERAL_THREADS).then_some(who as u32) }
}

/// Whether releases and acquires order an earlier access before this one.
#[cold]
fn is_known(mark: u64, now: &Now, clocks: &Clocks) -> bool {
    let who = mark & WHO;
    let thread = (who < SEVERAL_THREADS).then_some(who as u32);
    who != SEVERAL_BLOCKS && clocks.is_before(mark >> PHASE, thread, now)
}

#[inline(always)]
fn are_strong(mark: u64, how: Access) -> bool {
    how == Access::Strong && mark & STRONG != 0
}

#[inline(always)]
fn after_write(mark: u64, how: Access, now: &Now, clocks: Option<&Clocks>) -> Option<Hazard> {
    let phase = mark >> PHASE;
    if phase < now.launch || are_strong(mark, how) {
        return None;
    }
    if how == Access::Cached {
        return Some(Hazard::NonCoherent);
    }
    let other = phase == now.phase && mark & WHO != now.thread as u64;
    let unordered = phase < now.block || other || phase > now.phase;
    let unordered = unordered && !clocks.is_some_and(|clocks| is_known(mark, now, clocks));
    unordered.then_some(Hazard::ReadAfterWrite)
}

#[inline(always)]
fn after_read(mark: u64, how: Access, now: &Now, clocks: Option<&Clocks>) -> Option<Hazard> {
    let (phase, who) = (mark >> PHASE, mark & WHO);
    if phase < now.launch || are_strong(mark, how) {
        return None;
    }
    if mark & CACHED != 0 {
        return Some(Hazard::NonCoherent);
    }
    let other = phase == now.phase && who != now.thread as u64;
    let unordered = phase < now.block || who == SEVERAL_BLOCKS || other || phase > now.phase;
    let unordered = unordered && !clocks.is_some_and(|clocks| is_known(mark, now, clocks));
    unordered.then_some(Hazard::WriteAfterRead)
}

/// The mark after one more read. A barrier orders earlier reads of the same block before whatever follows, so
/// the last phase is enough; reads by several blocks are remembered to the end of the launch, and so are
/// cached ones.
#[inline(always)]
fn read_mark(mark: u64, how: Access, now: &Now, clocks: Option<&Clocks>) -> u64 {
    let kind = match how {
        Access::Weak => 0,
        Access::Cached => CACHED,
        Access::Strong => STRONG,
    };
    let own = now.phase << PHASE | now.thread as u64 | kind;
    let (phase, who) = (mark >> PHASE, mark & WHO);
    if phase < now.launch || mark == own {
        return own;
    }
    let who = if phase == now.phase && who != SEVERAL_BLOCKS {
        if who == now.thread as u64 { who } else { SEVERAL_THREADS }
    } else if phase < now.block || phase > now.phase || who == SEVERAL_BLOCKS {
        match clocks {
            Some(clocks) if is_known(mark, now, clocks) => now.thread as u64,
            _ => SEVERAL_BLOCKS,
        }
    } else {
        now.thread as u64
    };
    let strong = if who == now.thread as u64 && phase != now.phase { STRONG } else { mark & STRONG };
    (own & !(WHO | STRONG)) | who | (own & strong) | mark & CACHED
}
