//! [`Residents`]: the blocks of a launch that are on the device at the same time. They run in turns; which
//! of them, and how far, follows from the seed. One may stand still as long as the others get on. The next
//! block begins when one has ended, in any order: a kernel whose blocks wait for one that has not begun is
//! found.

use super::block::{BlockThreads, Found, Progress};
use super::fault::{Kind, Trouble};
use super::shared::Shared;
use super::thread::{Groups, Unit};
use crate::ptx::CTAID;
use crate::random::Random;
use std::collections::HashMap;

/// At most so many blocks are resident.
const MOST: u64 = 6;
/// Turns in a row in which nothing changes that anyone could wait for: all of them wait.
const IDLE: u64 = 4_000;

struct Resident<'e> {
    number: u32,
    place: [u32; 3],
    threads: BlockThreads,
    shared: Shared<'e>,
    copies: HashMap<u32, Groups>,
    /// Its first phase, and the present one.
    phases: [u64; 2],
}

/// The block in which something was found.
pub(crate) struct FoundIn {
    pub place: [u32; 3],
    pub threads: BlockThreads,
    pub found: Found,
}

impl<'e> Resident<'e> {
    fn new(
        number: u32,
        grid: [u32; 3],
        threads: &BlockThreads,
        unit: &mut Unit<'e>,
        given: u32,
    ) -> Resident<'e> {
        let place = [number % grid[0], number / grid[0] % grid[1], number / (grid[0] * grid[1])];
        let mut threads = threads.clone();
        threads.set(CTAID, place);
        threads.begin_all();
        let phase = unit.begin_phase(number);
        let shared = Shared::new(&unit.entry.shared, given);
        Resident { number, place, threads, shared, copies: HashMap::new(), phases: [phase; 2] }
    }

    /// Puts what is the block's own into the unit, or takes it back.
    fn swap(&mut self, unit: &mut Unit<'e>) {
        std::mem::swap(&mut self.shared, &mut unit.shared);
        std::mem::swap(&mut self.copies, &mut unit.copies);
    }

    fn turn(&mut self, unit: &mut Unit<'e>, random: &mut Random) -> Result<Progress, Found> {
        self.swap(unit);
        [unit.now.block, unit.now.phase] = self.phases;
        let turn = self.threads.turn(unit, random);
        self.swap(unit);
        if matches!(turn, Ok(Progress::Met)) {
            self.phases[1] = unit.begin_phase(self.number);
        }
        turn
    }
}

/// Runs the blocks of a launch in some order, several at the same time.
pub(crate) fn run_resident<'e>(
    order: Vec<u32>,
    grid: [u32; 3],
    threads: &BlockThreads,
    unit: &mut Unit<'e>,
    given: u32,
    random: &mut Random,
) -> Result<(), Box<FoundIn>> {
    let most = 1 + random.below(MOST) as usize;
    let mut waiting = order.into_iter();
    let mut resident: Vec<Resident> = Vec::new();
    let (mut idle, mut still, mut changes) = (0, None, 0);
    loop {
        while resident.len() < most
            && let Some(number) = waiting.next()
        {
            resident.push(Resident::new(number, grid, threads, unit, given));
        }
        if resident.is_empty() {
            return Ok(());
        }
        // Now and then another block stands still, or none.
        if random.below(1000) == 0 || idle > IDLE / 4 {
            still = (idle <= IDLE / 4 && random.chance(50)).then(|| random.pick(resident.len()));
        }
        let at = random.pick(resident.len());
        if still == Some(at) && resident.len() > 1 {
            idle += 1;
            continue;
        }
        let turn = match resident[at].turn(unit, random) {
            Ok(turn) => turn,
            Err(found) => {
                let Resident { place, threads, .. } = resident.swap_remove(at);
                return Err(Box::new(FoundIn { place, threads, found }));
            }
        };
        let stores = unit.memory.clocks.as_ref().map_or(0, |clocks| clocks.changes);
        idle = if matches!(turn, Progress::Waits) && stores == changes { idle + 1 } else { 0 };
        changes = stores;
        if matches!(turn, Progress::Ended) {
            resident.swap_remove(at);
            still = None;
        }
        if idle > IDLE {
            let Resident { place, threads, .. } = resident.swap_remove(at);
            let (thread, step) = threads.any_running();
            let what = format!(
                "this block and {} others on the device wait for what none of them does; {} have not begun",
                resident.len(),
                waiting.len()
            );
            let trouble = Trouble::new(Kind::Deadlock, what);
            return Err(Box::new(FoundIn { place, threads, found: Found { thread, step, trouble } }));
        }
    }
}
