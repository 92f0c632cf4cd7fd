//! A launch: its checks, the order of its blocks, and the place of a fault.

use super::block::{BlockThreads, Found};
use super::fault::{Fault, Kind, Site, Trouble};
use super::shadow::Now;
use super::shared::Shared;
use super::thread::Unit;
use super::{Accesses, Machine};
use crate::ptx::{self, CTAID, Entry, NCTAID, NTID, Program, Slot};
use crate::random::Random;

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
        let known = program.entry(entry);
        let entry = known.ok_or_else(|| refused(format!("no entry `{entry}` among {:?}", program)))?;
        check(entry, grid, block, params)?;
        self.launches += 1;
        let mut random = Random::new(self.seed ^ self.launches.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let launch = self.phase + 1;
        let mut threads = BlockThreads::new(block, registers(entry, &mut random), entry.waits);
        threads.set(NTID, block);
        threads.set(NCTAID, grid);
        let mut unit = Unit {
            entry,
            params,
            memory: &mut self.memory,
            shared: Shared::new(&entry.shared),
            hints: vec![0; entry.code.len()],
            now: Now { launch, block: launch, phase: launch, thread: 0 },
            branch_limit: self.branch_limit,
        };
        let mut order: Vec<u32> = (0..grid.iter().product()).collect();
        random.shuffle(&mut order);
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
        }
        self.phase = unit.now.phase;
        let [reads, writes] = self.memory.accessed(launch);
        result.map(|()| Accesses { reads, writes })
    }
}

fn refused(what: String) -> Fault {
    Fault::from(Trouble::new(Kind::Launch, what))
}

fn check(entry: &Entry, grid: [u32; 3], block: [u32; 3], params: &[u8]) -> Result<(), Fault> {
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
    Ok(())
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
