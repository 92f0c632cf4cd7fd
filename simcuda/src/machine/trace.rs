//! Counts of the warps of a block: how often each step is issued, and how many sectors and wavefronts each
//! access takes. It watches a run and changes nothing.
//!
//! A warp issues a step as often as the lane that runs it most often. Its lanes' accesses at a step belong
//! together turn by turn. A sector is 32 bytes of global memory; a wavefront is one pass through L1: a line
//! of 128 bytes of global memory, or 32 banks of 4 bytes of shared memory (Nsight Compute, memory tables).

use super::bits::LANES;
use std::collections::{BTreeMap, HashSet};

/// Bytes of a sector, and of a line of L1.
pub const SECTOR: u64 = 32;
const LINE: u64 = 128;
/// Banks of shared memory, of 4 bytes each.
const BANKS: u64 = 32;

/// The target of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessTarget {
    /// Global memory, read.
    Read,
    /// Global memory, written.
    Write,
    /// Shared memory.
    Shared,
}

/// The counts of one step, over all warps that were watched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepCount {
    /// The line of the PTX text, counted from 1.
    pub line: u32,
    /// The number of times that warps issued it.
    pub issues: f64,
    /// The number of lanes that ran it, in all.
    pub lanes: f64,
    /// Its accesses, if it has any.
    pub access: Option<AccessCount>,
}

/// The accesses of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessCount {
    /// Their target.
    pub place: AccessTarget,
    /// Bytes of one lane.
    pub width: u32,
    /// Warps' accesses in which a lane took part.
    pub requests: f64,
    /// Bytes that lanes requested.
    pub bytes: f64,
    /// Sectors of global memory.
    pub sectors: f64,
    /// Sectors that the block had not used before.
    pub fresh: f64,
    /// Passes through L1.
    pub wavefronts: f64,
}

/// The counts of one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockCount {
    /// In the order of the code.
    pub steps: Vec<StepCount>,
    /// The number of times that the middle warp issued each step.
    pub path: Vec<u64>,
    /// Sectors read, and sectors written.
    sectors: [HashSet<u64>; 2],
    /// Threads that used global memory.
    pub active: u64,
    /// Threads that were launched.
    pub threads: u64,
}

struct Access {
    warp: u32,
    lane: u32,
    step: u32,
    turn: u32,
    place: AccessTarget,
    width: u32,
    address: u64,
}

/// The watch over one block.
pub(crate) struct Trace {
    steps: usize,
    /// By thread: at each step by how much the number of its runs differs from the step before.
    changes: Vec<Vec<i64>>,
    turns: Vec<BTreeMap<u32, u32>>,
    accesses: Vec<Access>,
}

impl Trace {
    pub(crate) fn new(steps: usize, threads: usize) -> Trace {
        let changes = vec![vec![0; steps + 1]; threads];
        Trace { steps, changes, turns: vec![BTreeMap::new(); threads], accesses: Vec::new() }
    }

    /// A thread went from a step to another in a straight line, both included.
    pub(crate) fn ran(&mut self, thread: u32, from: usize, to: usize) {
        let changes = &mut self.changes[thread as usize];
        changes[from] += 1;
        changes[to + 1] -= 1;
    }

    pub(crate) fn access(
        &mut self,
        thread: u32,
        step: usize,
        place: AccessTarget,
        address: u64,
        width: usize,
    ) {
        let (step, warp, lane) = (step as u32, thread / LANES as u32, thread % LANES as u32);
        let turn = self.turns[thread as usize].entry(step).or_default();
        *turn += 1;
        self.accesses.push(Access { warp, lane, step, turn: *turn, place, width: width as u32, address });
    }

    /// The counts, for steps on these lines.
    pub(crate) fn finish(mut self, lines: &[u32]) -> BlockCount {
        let threads = self.changes.len();
        let runs = self.changes.into_iter().map(|changes| {
            let sum = |sum: &mut i64, change: i64| {
                *sum += change;
                Some(*sum as u64)
            };
            changes.into_iter().scan(0, sum).take(self.steps).collect::<Vec<u64>>()
        });
        let runs: Vec<Vec<u64>> = runs.collect();
        let at = |line: &u32| StepCount { line: *line, ..StepCount::default() };
        let mut steps: Vec<StepCount> = lines.iter().map(at).collect();
        let issues = |warp: &[Vec<u64>], step: usize| warp.iter().map(|runs| runs[step]).max().unwrap_or(0);
        for warp in runs.chunks(LANES) {
            for (step, count) in steps.iter_mut().enumerate() {
                count.issues += issues(warp, step) as f64;
                count.lanes += warp.iter().map(|runs| runs[step]).sum::<u64>() as f64;
            }
        }
        let warps: Vec<&[Vec<u64>]> = runs.chunks(LANES).collect();
        let path = (0..self.steps).map(|step| issues(warps[warps.len() / 2], step)).collect();
        let active = self.turns.iter().filter(|turns| !turns.is_empty()).count() as u64;
        let mut seen = [HashSet::new(), HashSet::new()];
        // By turns, so that what is requested first comes first; lanes in order, whichever ran first.
        self.accesses.sort_by_key(|access| (access.turn, access.step, access.warp, access.lane));
        let together = |a: &Access, b: &Access| (a.turn, a.step, a.warp) == (b.turn, b.step, b.warp);
        for request in self.accesses.chunk_by(together) {
            let Access { step, place, width, .. } = request[0];
            let zero = AccessCount {
                place,
                width,
                requests: 0.0,
                bytes: 0.0,
                sectors: 0.0,
                fresh: 0.0,
                wavefronts: 0.0,
            };
            let count = steps[step as usize].access.get_or_insert(zero);
            count.requests += 1.0;
            count.bytes += f64::from(width) * request.len() as f64;
            if place == AccessTarget::Shared {
                count.wavefronts += bank_passes(request) as f64;
                continue;
            }
            let sectors = pieces(request, SECTOR);
            let seen = &mut seen[usize::from(place == AccessTarget::Write)];
            count.sectors += sectors.len() as f64;
            count.fresh += sectors.iter().filter(|sector| seen.insert(**sector)).count() as f64;
            count.wavefronts += pieces(request, LINE).len() as f64;
        }
        BlockCount { steps, path, sectors: seen, active, threads: threads as u64 }
    }
}

/// The aligned pieces of memory that a request touches.
fn pieces(request: &[Access], bytes: u64) -> HashSet<u64> {
    let of =
        |access: &Access| access.address / bytes..=(access.address + u64::from(access.width) - 1) / bytes;
    request.iter().flat_map(of).collect()
}

/// Passes of a request to shared memory: lanes of 8 bytes go by halves of a warp, of 16 bytes by quarters;
/// each pass serves one word of every bank.
fn bank_passes(request: &[Access]) -> usize {
    let together = LANES as u32 * 4 / request[0].width.max(4);
    let passes = request.chunk_by(|a, b| a.lane / together == b.lane / together).map(|lanes| {
        let words = pieces(lanes, 4);
        let mut banks = [0usize; BANKS as usize];
        words.iter().for_each(|word| banks[(word % BANKS) as usize] += 1);
        banks.into_iter().max().unwrap_or(0)
    });
    passes.sum()
}

impl BlockCount {
    /// Sectors read, and sectors written, each counted once.
    pub fn footprint(&self) -> [u64; 2] {
        [0, 1].map(|k| self.sectors[k].len() as u64)
    }

    /// Sectors that it shares with each of the others, and with none before that.
    pub fn shared_with<'a>(&self, others: impl IntoIterator<Item = &'a BlockCount>) -> Vec<u64> {
        let mut own = self.sectors[0].clone();
        let shared = |other: &BlockCount| {
            let before = own.len();
            own.retain(|sector| !other.sectors[0].contains(sector));
            (before - own.len()) as u64
        };
        others.into_iter().map(shared).collect()
    }
}

/// The counts of many blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchCount {
    /// In the order of the code.
    pub steps: Vec<StepCount>,
    /// Sectors read, and sectors written, each counted once per block.
    pub footprint: [f64; 2],
    /// Threads that used global memory.
    pub active: f64,
    /// Threads that were launched.
    pub threads: f64,
}

impl LaunchCount {
    /// Adds so many blocks like this one.
    pub fn add(&mut self, block: &BlockCount, blocks: f64) {
        if self.steps.is_empty() {
            let empty = |step: &StepCount| StepCount { line: step.line, ..StepCount::default() };
            self.steps = block.steps.iter().map(empty).collect();
        }
        for (sum, step) in self.steps.iter_mut().zip(&block.steps) {
            sum.issues += blocks * step.issues;
            sum.lanes += blocks * step.lanes;
            if let Some(access) = step.access {
                let zero = AccessCount {
                    requests: 0.0,
                    bytes: 0.0,
                    sectors: 0.0,
                    fresh: 0.0,
                    wavefronts: 0.0,
                    ..access
                };
                let sum = sum.access.get_or_insert(zero);
                sum.requests += blocks * access.requests;
                sum.bytes += blocks * access.bytes;
                sum.sectors += blocks * access.sectors;
                sum.fresh += blocks * access.fresh;
                sum.wavefronts += blocks * access.wavefronts;
            }
        }
        for (sum, sectors) in self.footprint.iter_mut().zip(block.footprint()) {
            *sum += blocks * sectors as f64;
        }
        self.active += blocks * block.active as f64;
        self.threads += blocks * block.threads as f64;
    }
}
