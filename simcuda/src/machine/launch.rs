//! [`Machine`]: its memory as the host uses it, and a launch: its checks, the order of its blocks, and the
//! place of a fault.

use super::block::{BlockThreads, Found};
use super::clocks::{Clocks, Now};
use super::fault::{Fault, Kind, Site, Trouble};
use super::memory::Memory;
use super::resident::run_resident;
use super::shared::Shared;
use super::thread::Unit;
use super::trace::{BlockCount, Trace};
use crate::ptx::{self, CTAID, Entry, NCTAID, NTID, Program, Slot};
use crate::random::Random;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Addresses that each machine may hand out, so that those of different machines never meet.
const ADDRESSES: u64 = 1 << 44;

/// Branches that a thread may take; a block, if its threads wait for each other.
const BRANCH_LIMIT: u64 = 1 << 32;

/// The bytes that a launch read and wrote: disjoint ranges of addresses, ascending, merged where they touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// The bytes that it read.
    pub reads: Vec<Range<u64>>,
    /// The bytes that it wrote.
    pub writes: Vec<Range<u64>>,
}

/// A simulated device.
pub struct Machine {
    seed: u64,
    memory: Memory,
    /// The last phase of the launches so far.
    phase: u64,
    launches: u64,
    branch_limit: u64,
    /// Bytes of shared memory that launches give each block.
    given: u32,
}

impl Machine {
    /// A machine whose order of blocks and threads follows from `seed`, at addresses no other machine has.
    pub fn new(seed: u64) -> Machine {
        static MACHINES: AtomicU64 = AtomicU64::new(1);
        let number = MACHINES.fetch_add(1, Ordering::Relaxed);
        // The highest addresses stay unused: no sum of an address and an offset wraps around.
        Machine::with_base(seed, (number % (1 << 18)) * ADDRESSES + (1 << 36))
    }

    /// The same, with addresses from `base` on.
    pub fn with_base(seed: u64, base: u64) -> Machine {
        let end = base.saturating_add(ADDRESSES - (1 << 36));
        Machine {
            seed,
            memory: Memory::new(seed, base..end),
            phase: 0,
            launches: 0,
            branch_limit: BRANCH_LIMIT,
            given: 0,
        }
    }

    /// The same without the bytes' history: what nobody wrote reads as zeros, and races are not seen. Memory
    /// that is never used costs nothing, however much of it there is.
    pub fn unwatched(seed: u64) -> Machine {
        let mut machine = Machine::new(seed);
        machine.memory.keeps_history = false;
        machine
    }

    /// Sets how many branches a thread may take before its kernel counts as endless.
    pub fn set_branch_limit(&mut self, branches: u64) {
        self.branch_limit = branches.max(1);
    }

    /// Sets how many bytes of shared memory the launches from now on give each block, beside what texts
    /// declare.
    pub fn give_shared(&mut self, bytes: u32) {
        self.given = bytes;
    }

    /// New memory, none of it initialised, at a multiple of `align` and of 256.
    ///
    /// # Panics
    /// If there is none to have; see [`Machine::try_alloc`].
    pub fn alloc(&mut self, bytes: u64, align: u64) -> u64 {
        match self.try_alloc(bytes, align) {
            Ok(address) => address,
            Err(fault) => panic!("{fault}"),
        }
    }

    /// As [`Machine::alloc`], or why not: the addresses are used up, or the request makes no sense.
    pub fn try_alloc(&mut self, bytes: u64, align: u64) -> Result<u64, Fault> {
        Ok(self.memory.alloc(bytes, align)?)
    }

    /// Ends the allocation that begins at `address`. Its addresses are never used again.
    pub fn free(&mut self, address: u64) -> Result<(), Fault> {
        Ok(self.memory.free(address)?)
    }

    /// Writes bytes of the host.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Fault> {
        Ok(self.memory.write(address, data)?)
    }

    /// Reads bytes, all of which must be initialised.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Fault> {
        Ok(self.memory.read(address, data)?)
    }

    /// Copies bytes within the machine; those that are uninitialised are so afterwards.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Fault> {
        Ok(self.memory.copy(to, from, bytes)?)
    }

    /// Sets `bytes` bytes to `value`.
    pub fn fill(&mut self, address: u64, value: u8, bytes: u64) -> Result<(), Fault> {
        Ok(self.memory.fill(address, value, bytes)?)
    }
}

/// Blocks of the largest grid this simulator takes: their order is a list.
const BLOCK_LIMIT: u64 = 1 << 28;

impl Machine {
    /// Runs a kernel to its end: blocks and threads in an order that depends on the seed and on how many
    /// launches went before. The bytes it read and wrote, or the first fault. After a fault, memory holds
    /// what was written so far.
    pub fn run(
        &mut self,
        program: &Program,
        entry: &str,
        grid: [u32; 3],
        block: [u32; 3],
        params: &[u8],
    ) -> Result<Accesses, Fault> {
        let mut order: Vec<u32> = (0..check(program, entry, grid, block, params)?).collect();
        let mut random = self.next_random();
        random.shuffle(&mut order);
        let launch = self.phase + 1;
        let ran = self.run_blocks(program, entry, grid, block, params, order, random, &mut |_, _| None);
        let [reads, writes] = self.memory.accessed(launch);
        ran.map(|()| Accesses { reads, writes })
    }

    /// Runs some blocks of a launch, by their numbers, x fastest; what each of them did.
    pub fn sample(
        &mut self,
        program: &Program,
        entry: &str,
        grid: [u32; 3],
        block: [u32; 3],
        params: &[u8],
        blocks: &[u32],
    ) -> Result<Vec<BlockCount>, Fault> {
        check(program, entry, grid, block, params)?;
        if program.entry(entry).is_some_and(|entry| entry.meets) {
            return Err(refused(format!("`{entry}`: some blocks of a kernel whose blocks wait for others")));
        }
        let random = self.next_random();
        let threads = block.iter().product::<u32>() as usize;
        let mut counts = Vec::new();
        let mut watch = |entry: &Entry, done: Option<Trace>| {
            counts.extend(done.map(|trace| trace.finish(&entry.lines)));
            Some(Trace::new(entry.code.len(), threads))
        };
        let order = blocks.to_vec();
        self.run_blocks(program, entry, grid, block, params, order, random, &mut watch)?;
        Ok(counts)
    }

    fn next_random(&mut self) -> Random {
        self.launches += 1;
        Random::new(self.seed ^ self.launches.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// Runs blocks in an order. `watch` is given what watched a block, and gives what watches the next.
    #[allow(clippy::too_many_arguments)]
    fn run_blocks(
        &mut self,
        program: &Program,
        entry: &str,
        grid: [u32; 3],
        block: [u32; 3],
        params: &[u8],
        order: Vec<u32>,
        mut random: Random,
        watch: &mut dyn FnMut(&Entry, Option<Trace>) -> Option<Trace>,
    ) -> Result<(), Fault> {
        let entry = program.entry(entry).expect("checked");
        let launch = self.phase + 1;
        let waits = entry.waits || entry.meets;
        let mut threads = BlockThreads::new(block, registers(entry, &mut random), waits);
        threads.set(NTID, block);
        threads.set(NCTAID, grid);
        let mut unit = Unit {
            entry,
            params,
            memory: &mut self.memory,
            shared: Shared::new(&entry.shared, self.given),
            hints: vec![0; entry.code.len()],
            now: Now { launch, block: launch, phase: launch, thread: 0 },
            branch_limit: self.branch_limit,
            trace: watch(entry, None),
            asked: false,
            copies: Default::default(),
        };
        if entry.meets {
            unit.memory.clocks = Some(Clocks::new(launch));
            let ran = run_resident(order, grid, &threads, &mut unit, self.given, &mut random);
            let clocks = unit.memory.clocks.take();
            self.phase = clocks.map_or(launch, |clocks| clocks.last());
            return ran.map_err(|found| fault(program, entry, found.place, &found.threads, found.found));
        }
        let mut result = Ok(());
        for index in order {
            let place = [index % grid[0], index / grid[0] % grid[1], index / (grid[0] * grid[1])];
            threads.set(CTAID, place);
            unit.now.block = unit.now.phase;
            let ran = match entry.waits {
                true => threads.run_together(&mut unit, &mut random, self.branch_limit),
                false => threads.run_free(&mut unit, &mut random, self.branch_limit),
            };
            unit.now.phase += 1;
            if let Err(found) = ran {
                result = Err(fault(program, entry, place, &threads, found));
                break;
            }
            unit.trace = unit.trace.take().and_then(|trace| watch(entry, Some(trace)));
        }
        self.phase = unit.now.phase;
        result
    }
}

fn refused(what: String) -> Fault {
    Fault::from(Trouble::new(Kind::Launch, what))
}

/// Whether a launch makes sense; how many blocks it has.
fn check(
    program: &Program,
    entry: &str,
    grid: [u32; 3],
    block: [u32; 3],
    params: &[u8],
) -> Result<u32, Fault> {
    let known = program.entry(entry);
    let entry = known.ok_or_else(|| refused(format!("no entry `{entry}` among {program:?}")))?;
    let name = entry.name();
    let threads = block.iter().map(|size| *size as u64).product::<u64>();
    let blocks = grid.iter().map(|size| *size as u128).product::<u128>();
    if grid[1] > 65535 || grid[2] > 65535 || !(1..=BLOCK_LIMIT as u128).contains(&blocks) {
        return Err(refused(format!(
            "`{name}`: grid {grid:?}; expected 1 to {BLOCK_LIMIT} blocks, y and z 65535"
        )));
    }
    if block[2] > 64 || !(1..=1024).contains(&threads) {
        return Err(refused(format!("`{name}`: block {block:?}; expected 1 to 1024 threads, z up to 64")));
    }
    let fits = match entry.threads() {
        ptx::Threads::Any => true,
        ptx::Threads::AtMost(most) => threads <= most as u64,
        ptx::Threads::Exactly(shape) => block == shape,
    };
    if !fits {
        return Err(refused(format!(
            "`{name}`: block {block:?}, but it was compiled for {:?}",
            entry.threads()
        )));
    }
    if params.len() != entry.param_bytes() as usize {
        let (expected, given) = (entry.param_bytes(), params.len());
        return Err(refused(format!("`{name}` takes {expected} bytes of parameters, not {given}")));
    }
    Ok(blocks as u32)
}

/// The registers of a starting thread. Those that the kernel must write first hold noise.
fn registers(entry: &Entry, random: &mut Random) -> Vec<u64> {
    let content = |slot: &Slot| match slot {
        Slot::Special => 0,
        Slot::Constant(value) => *value,
        Slot::Register(kind) => random.next() & kind.mask(),
    };
    entry.slots.iter().map(content).collect()
}

fn fault(program: &Program, entry: &Entry, block: [u32; 3], threads: &BlockThreads, found: Found) -> Fault {
    let line = entry.lines[found.step];
    let site = Site {
        entry: entry.name().to_string(),
        block,
        thread: threads.coordinates(found.thread),
        line,
        text: program.line(line).to_string(),
    };
    Fault::in_kernel(site, *found.trouble)
}
