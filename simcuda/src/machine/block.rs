//! The threads of one block: in which order they run, when those that wait may go on, and the exchange of
//! values between the lanes of a warp.

use super::bits::LANES;
use super::fault::{Checked, Kind, Trouble};
use super::thread::{Stop, Unit};
use crate::ptx::{LANEID, Op, ShuffleMode, TID};
use crate::random::Random;

/// How far a block came in its turn.
pub(crate) enum Progress {
    /// Its threads got on.
    Ran,
    /// They did nothing but ask other blocks.
    Waits,
    /// They passed a barrier: a new phase begins.
    Met,
    Ended,
}

/// A fault and the thread and step it happened at.
pub(crate) struct Found {
    pub thread: usize,
    pub step: usize,
    pub trouble: Box<Trouble>,
}

/// The threads of the blocks of a launch; registers are used again from block to block.
#[derive(Clone)]
pub(crate) struct BlockThreads {
    shape: [u32; 3],
    /// Registers at a thread's start.
    start: Vec<u64>,
    /// Of all threads if any may wait, otherwise of the one that runs.
    registers: Vec<u64>,
    states: Vec<State>,
    order: Vec<u32>,
}

#[derive(Clone, Copy)]
struct State {
    at: usize,
    does: Does,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Run,
    /// Stopped there.
    Wait(Stop),
}

impl BlockThreads {
    pub(crate) fn new(shape: [u32; 3], start: Vec<u64>, waits: bool) -> BlockThreads {
        let count = shape.iter().product::<u32>();
        let files = if waits { count as usize } else { 1 };
        BlockThreads {
            shape,
            registers: vec![0; files * start.len()],
            states: Vec::with_capacity(count as usize),
            order: (0..count).collect(),
            start,
        }
    }

    /// The registers that differ between blocks, at `at` and the two places after it.
    pub(crate) fn set(&mut self, at: usize, values: [u32; 3]) {
        for (slot, value) in self.start[at..].iter_mut().zip(values) {
            *slot = value as u64;
        }
    }

    /// The coordinates of a thread of the block.
    pub(crate) fn coordinates(&self, thread: usize) -> [u32; 3] {
        let [x, y, _] = self.shape;
        let thread = thread as u32;
        [thread % x, thread / x % y, thread / (x * y)]
    }

    fn begin(&mut self, file: usize, thread: usize) {
        let size = self.start.len();
        let coordinates = self.coordinates(thread);
        let registers = &mut self.registers[file * size..(file + 1) * size];
        registers.copy_from_slice(&self.start);
        for (slot, value) in registers[TID..].iter_mut().zip(coordinates) {
            *slot = value as u64;
        }
        registers[LANEID] = (thread % LANES) as u64;
    }

    /// Puts all threads at the beginning of the kernel.
    pub(crate) fn begin_all(&mut self) {
        self.states.clear();
        self.states.resize(self.order.len(), State { at: 0, does: Does::Run });
        for thread in 0..self.order.len() {
            self.begin(thread, thread);
        }
    }

    fn file(&mut self, thread: usize) -> &mut [u64] {
        let size = self.start.len();
        &mut self.registers[thread * size..(thread + 1) * size]
    }

    /// Runs a block none of whose threads waits: each to its end.
    pub(crate) fn run_free(
        &mut self,
        unit: &mut Unit,
        random: &mut Random,
        branch_limit: u64,
    ) -> Result<(), Found> {
        random.shuffle(&mut self.order);
        for index in 0..self.order.len() {
            let thread = self.order[index] as usize;
            self.begin(0, thread);
            let mut step = 0;
            unit.now.thread = thread as u32;
            unit.branch_limit = branch_limit;
            let stop = unit.advance(&mut self.registers, &mut step);
            stop.map_err(|trouble| Found { thread, step, trouble })?;
        }
        Ok(())
    }

    /// Runs a block whose threads wait for each other; `phase` counts the barriers.
    pub(crate) fn run_together(
        &mut self,
        unit: &mut Unit,
        random: &mut Random,
        branch_limit: u64,
    ) -> Result<(), Found> {
        self.begin_all();
        unit.branch_limit = branch_limit;
        loop {
            random.shuffle(&mut self.order);
            self.run_phase(unit)?;
            if self.states.iter().all(|state| state.does == Does::Wait(Stop::Exit)) {
                return Ok(());
            }
            self.pass_barrier()?;
            unit.now.phase += 1;
        }
    }

    /// Runs each thread that can run until it stops, in any order; lets them pass a barrier if all are there.
    pub(crate) fn turn(&mut self, unit: &mut Unit, random: &mut Random) -> Result<Progress, Found> {
        random.shuffle(&mut self.order);
        let mut turn = None;
        for index in 0..self.order.len() {
            let thread = self.order[index] as usize;
            if self.states[thread].does == Does::Run {
                self.run_thread(unit, thread)?;
                let asks = self.states[thread].does == Does::Run && unit.asked;
                turn = Some(if asks && !matches!(turn, Some(Progress::Ran)) {
                    Progress::Waits
                } else {
                    Progress::Ran
                });
            }
        }
        if let Some(turn) = turn {
            return Ok(turn);
        }
        self.no_shuffle_pending(unit)?;
        if self.states.iter().all(|state| state.does == Does::Wait(Stop::Exit)) {
            return Ok(Progress::Ended);
        }
        self.pass_barrier()?;
        Ok(Progress::Met)
    }

    /// A thread that can run, and its step.
    pub(crate) fn any_running(&self) -> (usize, usize) {
        let thread = self.states.iter().position(|state| state.does == Does::Run).unwrap_or(0);
        (thread, self.states.get(thread).map_or(0, |state| state.at))
    }

    /// Runs all threads until each has ended or stands at a barrier.
    fn run_phase(&mut self, unit: &mut Unit) -> Result<(), Found> {
        loop {
            let mut ran = false;
            for index in 0..self.order.len() {
                let thread = self.order[index] as usize;
                if self.states[thread].does == Does::Run {
                    self.run_thread(unit, thread)?;
                    ran = true;
                }
            }
            if !ran {
                return self.no_shuffle_pending(unit);
            }
        }
    }

    fn run_thread(&mut self, unit: &mut Unit, thread: usize) -> Result<(), Found> {
        let mut step = self.states[thread].at;
        unit.now.thread = thread as u32;
        let stop = unit.advance(self.file(thread), &mut step);
        let found = |trouble| Found { thread, step, trouble };
        let stop = stop.map_err(found)?;
        let does = if stop == Stop::Turn { Does::Run } else { Does::Wait(stop) };
        self.states[thread] = State { at: step, does };
        match stop {
            Stop::Shuffle => self.shuffle(unit, thread, step).map_err(found),
            Stop::Exit | Stop::Barrier | Stop::Turn => Ok(()),
        }
    }

    /// Carries out the shuffle at which `thread` stands, if all lanes of its mask have come.
    fn shuffle(&mut self, unit: &Unit, thread: usize, step: usize) -> Checked<()> {
        let op = &unit.entry.code[step].does;
        let Some((mode, own)) = arrive(op, self.file(thread)) else {
            return Ok(());
        };
        let (first, lane) = (thread - thread % LANES, thread % LANES);
        if own.mask >> lane & 1 == 0 {
            let what = format!("mask {:#010x} lacks the lane {lane} itself", own.mask);
            return Err(Trouble::new(Kind::ShuffleMask, what));
        }
        let mut warp: [Option<Arrived>; LANES] = [None; LANES];
        for other in (0..LANES).filter(|other| own.mask >> other & 1 == 1) {
            let named = || format!("mask {:#010x} names lane {other}, which", own.mask);
            match self.states.get(first + other) {
                None => {
                    return Err(Trouble::new(Kind::ShuffleMask, named() + " the block does not have"));
                }
                Some(State { does: Does::Wait(Stop::Exit), .. }) => {
                    return Err(Trouble::new(Kind::ShuffleMask, named() + " has exited"));
                }
                Some(State { at, does: Does::Wait(Stop::Shuffle) }) if *at == step => {
                    let there = arrive(op, self.file(first + other)).map(|(_, arrived)| arrived);
                    if let Some(there) = there.filter(|there| there.mask != own.mask) {
                        let what = format!("{} gives mask {:#010x}", named(), there.mask);
                        return Err(Trouble::new(Kind::ShuffleMask, what));
                    }
                    warp[other] = there;
                }
                Some(_) => return Ok(()),
            }
        }
        let mut results = [None; LANES];
        for lane in (0..LANES).filter(|lane| warp[*lane].is_some()) {
            results[lane] = Some(exchange(mode, lane, &warp)?);
        }
        for (lane, result) in results.into_iter().enumerate() {
            if let Some(received) = result {
                deliver(op, self.file(first + lane), received);
                self.states[first + lane] = State { at: step + 1, does: Does::Run };
            }
        }
        Ok(())
    }

    /// No thread can go on: whoever waits at a shuffle waits for lanes that never come.
    fn no_shuffle_pending(&mut self, unit: &Unit) -> Result<(), Found> {
        let waiting = |state: &State| state.does == Does::Wait(Stop::Shuffle);
        let Some(thread) = self.states.iter().position(waiting) else {
            return Ok(());
        };
        let step = self.states[thread].at;
        let arrived = arrive(&unit.entry.code[step].does, self.file(thread));
        let mask = arrived.map_or(0, |(_, arrived)| arrived.mask);
        let first = thread - thread % LANES;
        let absent = (0..LANES).find(|lane| {
            let state = self.states.get(first + lane);
            mask >> lane & 1 == 1 && !state.is_some_and(|state| waiting(state) && state.at == step)
        });
        let lane = absent.unwrap_or(0);
        let what = format!("mask {mask:#010x} names lane {lane}, which never comes here");
        Err(Found { thread, step, trouble: Trouble::new(Kind::ShuffleMask, what) })
    }

    /// Lets all threads pass the barrier, if they all stand at the same one.
    fn pass_barrier(&mut self) -> Result<(), Found> {
        let at_barrier = |state: &&State| state.does == Does::Wait(Stop::Barrier);
        let Some(thread) = self.states.iter().position(|state| at_barrier(&state)) else {
            return Ok(());
        };
        let step = self.states[thread].at;
        let absent = self.states.iter().position(|state| !at_barrier(&state) || state.at != step);
        if let Some(other) = absent {
            let why = match self.states[other].does {
                Does::Wait(Stop::Exit) => "has exited",
                _ => "waits at another barrier",
            };
            let what = format!("thread {other} of the block {why}");
            return Err(Found { thread, step, trouble: Trouble::new(Kind::Barrier, what) });
        }
        for state in &mut self.states {
            *state = State { at: step + 1, does: Does::Run };
        }
        Ok(())
    }
}

/// One lane of a warp that waits at a shuffle: the operands it brings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub a: u64,
    pub b: u32,
    pub c: u32,
    pub mask: u32,
}

/// The result of a shuffle for a lane: a value, and whether the lane it named was in range.
pub(crate) type Received = (u64, bool);

/// The value that `lane` receives; `warp` holds the lanes that take part.
pub(crate) fn exchange(mode: ShuffleMode, lane: usize, warp: &[Option<Arrived>; LANES]) -> Checked<Received> {
    let Some(own) = warp[lane] else {
        return Err(Trouble::new(Kind::ShuffleMask, format!("lane {lane} does not take part")));
    };
    let lanes = |takes: &dyn Fn(&Arrived) -> bool| {
        let taken = (0..LANES).filter(|lane| warp[*lane].as_ref().is_some_and(takes));
        taken.fold(0, |lanes, lane| lanes | 1 << lane)
    };
    match mode {
        ShuffleMode::Ballot => return Ok((lanes(&|other| other.a != 0), true)),
        ShuffleMode::Match => return Ok((lanes(&|other| other.a == own.a), true)),
        _ => {}
    }
    let (from, in_range) = source(mode, lane as u32, own.b & 31, own.c);
    let from = if in_range { from } else { lane as u32 };
    match warp.get(from as usize).copied().flatten() {
        Some(other) => Ok((other.a, in_range)),
        None => {
            let what = format!("lane {lane} reads lane {from}, which mask {:#010x} lacks", own.mask);
            Err(Trouble::new(Kind::ShuffleLane, what))
        }
    }
}

/// The lane that `lane` reads, and whether it lies in its segment.
fn source(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let last = lane & segment | clamp & !segment;
    match mode {
        ShuffleMode::Up => {
            let from = lane as i32 - b as i32;
            (from as u32, from >= last as i32)
        }
        ShuffleMode::Down => (lane + b, lane + b <= last),
        ShuffleMode::Butterfly => (lane ^ b, lane ^ b <= last),
        ShuffleMode::Index => {
            let from = lane & segment | b & !segment;
            (from, from <= last)
        }
        ShuffleMode::Ballot | ShuffleMode::Match => (lane, true),
    }
}

/// The operands that a lane with these registers brings to the shuffle `op`.
pub(crate) fn arrive(op: &Op, registers: &[u64]) -> Option<(ShuffleMode, Arrived)> {
    match *op {
        Op::Shuffle { mode, a, b, c, mask, .. } => {
            let number = |place: u32| registers[place as usize] as u32;
            let a = registers[a as usize];
            Some((mode, Arrived { a, b: number(b), c: number(c), mask: number(mask) }))
        }
        _ => None,
    }
}

/// Puts what a lane received into its registers.
pub(crate) fn deliver(op: &Op, registers: &mut [u64], (value, in_range): Received) {
    if let Op::Shuffle { d, p, .. } = *op {
        registers[d as usize] = value;
        if let Some(p) = p {
            registers[p as usize] = in_range as u64;
        }
    }
}
