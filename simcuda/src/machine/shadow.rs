//! For each few bytes, who wrote and who read them last. Time is counted in phases: the stretches of one
//! block between barriers, numbered in the order in which they run, over all launches. So old marks need
//! never be cleared.

/// The moment and the thread of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// The first phase of this launch.
    pub launch: u64,
    /// The first phase of this block.
    pub block: u64,
    /// The phase now.
    pub phase: u64,
    /// The thread within the block.
    pub thread: u32,
}

/// An earlier access that the present one may not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clash {
    pub hazard: Hazard,
    /// The phase of the earlier access.
    pub phase: u64,
    /// Its thread, if it was one.
    pub thread: Option<u32>,
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

/// A mark is a phase and, below it, who: a thread, or one of these.
const SEVERAL_THREADS: u64 = 1024;
const SEVERAL_BLOCKS: u64 = 1025;
const WHO: u64 = (1 << 11) - 1;
/// Set in marks of reads through `.nc`.
const CACHED: u64 = 1 << 11;
const PHASE: u32 = 12;
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
    pub(crate) fn read(&mut self, offset: usize, bytes: usize, now: &Now, cached: bool) -> Result<(), Clash> {
        for cell in self.cells(offset, bytes) {
            if let Some(hazard) = after_write(cell[WRITE], now, cached) {
                return Err(clash(hazard, cell[WRITE]));
            }
            cell[READ] = read_mark(cell[READ], now, cached);
        }
        Ok(())
    }

    /// As `read`, for memory that each block has to itself and writes before it reads.
    #[inline(always)]
    pub(crate) fn read_own(&mut self, offset: usize, bytes: usize, now: &Now) -> Result<(), Clash> {
        for cell in self.cells(offset, bytes) {
            if cell[WRITE] >> PHASE < now.block {
                return Err(clash(Hazard::Unwritten, cell[WRITE]));
            }
        }
        self.read(offset, bytes, &Now { launch: now.block, ..*now }, false)
    }

    #[inline(always)]
    pub(crate) fn write(&mut self, offset: usize, bytes: usize, now: &Now) -> Result<(), Clash> {
        for cell in self.cells(offset, bytes) {
            if after_write(cell[WRITE], now, false).is_some() {
                return Err(clash(Hazard::WriteAfterWrite, cell[WRITE]));
            }
            if let Some(hazard) = after_read(cell[READ], now) {
                return Err(clash(hazard, cell[READ]));
            }
            cell[WRITE] = now.phase << PHASE | now.thread as u64;
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn write_own(&mut self, offset: usize, bytes: usize, now: &Now) -> Result<(), Clash> {
        self.write(offset, bytes, &Now { launch: now.block, ..*now })
    }

    /// As `write_own`, by a copy that is under way until it lands: until then nobody may touch these cells.
    pub(crate) fn write_later(&mut self, offset: usize, bytes: usize, now: &Now) -> Result<(), Clash> {
        self.write_own(offset, bytes, now)?;
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

#[inline(always)]
fn after_write(mark: u64, now: &Now, cached: bool) -> Option<Hazard> {
    let phase = mark >> PHASE;
    if phase < now.launch {
        return None;
    }
    if cached {
        return Some(Hazard::NonCoherent);
    }
    let other = phase == now.phase && mark & WHO != now.thread as u64;
    let unordered = phase < now.block || other || phase > now.phase;
    unordered.then_some(Hazard::ReadAfterWrite)
}

#[inline(always)]
fn after_read(mark: u64, now: &Now) -> Option<Hazard> {
    let (phase, who) = (mark >> PHASE, mark & WHO);
    if phase < now.launch {
        return None;
    }
    if mark & CACHED != 0 {
        return Some(Hazard::NonCoherent);
    }
    let unordered =
        phase < now.block || who == SEVERAL_BLOCKS || phase == now.phase && who != now.thread as u64;
    unordered.then_some(Hazard::WriteAfterRead)
}

/// The mark after one more read. A barrier orders earlier reads of the same block before whatever follows, so
/// the last phase is enough; reads by several blocks are remembered to the end of the launch, and so are
/// cached ones.
#[inline(always)]
fn read_mark(mark: u64, now: &Now, cached: bool) -> u64 {
    let own = now.phase << PHASE | now.thread as u64 | if cached { CACHED } else { 0 };
    let (phase, who) = (mark >> PHASE, mark & WHO);
    if phase < now.launch || mark == own {
        return own;
    }
    let who = if phase < now.block || who == SEVERAL_BLOCKS {
        SEVERAL_BLOCKS
    } else if phase == now.phase && who != now.thread as u64 {
        SEVERAL_THREADS
    } else {
        now.thread as u64
    };
    own & !WHO | who | mark & CACHED
}
