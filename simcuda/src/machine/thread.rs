//! One thread from where it stands to where it next has to wait for others. It does not know the others.

use super::bits::value as bytes_value;
use super::clocks::Now;
use super::fault::{Checked, Kind, Trouble};
use super::memory::Memory;
use super::shadow::Access;
use super::shared::Shared;
use super::trace::{AccessTarget as Target, Trace};
use crate::ptx::{At, Change, Entry, Guard, LANEID, Op, Place, Space, Vector, Width};
use std::collections::HashMap;

/// Why a thread stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Exit,
    Barrier,
    Shuffle,
    /// After a step that other blocks see, or that sees them: it may be another's turn.
    Turn,
}

/// A copy into shared memory that is under way.
pub(crate) struct Copy {
    step: usize,
    to: u64,
    from: u64,
    bytes: usize,
    /// The value that it read when it began.
    value: u128,
}

/// The copies of a thread: group by group, the last still open.
pub(crate) type Groups = Vec<Vec<Copy>>;

/// The state that all threads of a block share while one of them runs.
pub(crate) struct Unit<'r> {
    pub entry: &'r Entry,
    pub params: &'r [u8],
    pub memory: &'r mut Memory,
    pub shared: Shared<'r>,
    /// For each step, the allocation it touched last.
    pub hints: Vec<u32>,
    pub now: Now,
    /// Branches until a thread counts as endless.
    pub branch_limit: u64,
    /// A trace of its work, if somebody asks.
    pub trace: Option<Trace>,
    /// Whether the last step before a turn only asked.
    pub asked: bool,
    /// By thread.
    pub copies: HashMap<u32, Groups>,
}

impl Unit<'_> {
    /// Runs the thread with these registers from `*at`, and leaves `*at` at the step where it stopped.
    pub(crate) fn advance(&mut self, registers: &mut [u64], at: &mut usize) -> Checked<Stop> {
        let entry = self.entry;
        let mut from = *at;
        loop {
            let step = &entry.code[*at];
            let skip = match step.guard {
                Guard::Always => false,
                Guard::If(place) => registers[place as usize] == 0,
                Guard::Unless(place) => registers[place as usize] != 0,
            };
            if skip {
                *at += 1;
                continue;
            }
            match step.does {
                Op::Compute { f, d, a, b, c } => {
                    registers[d as usize] =
                        f(registers[a as usize], registers[b as usize], registers[c as usize]);
                }
                Op::Load { from, at: address, value, d } => {
                    self.load(registers, *at, from, address, value, &d)?;
                }
                Op::Store { to, at: address, value, a } => {
                    self.store(registers, *at, to, address, value, &a)?;
                }
                Op::Branch { to } => {
                    self.ran(from, *at);
                    *at = to as usize;
                    from = *at;
                    self.branch_limit -= 1;
                    if self.branch_limit == 0 {
                        return Err(Trouble::new(Kind::Endless, "this thread branched too often"));
                    }
                    continue;
                }
                Op::Param { d, offset, value } => {
                    registers[d as usize] = self.param(offset as usize, value)?;
                }
                Op::ParamAt { d, at: address_at, value } => {
                    registers[d as usize] = self.param(address(registers, address_at) as usize, value)?;
                }
                Op::Divide { f, d, a, b } => {
                    let (a, b) = (registers[a as usize], registers[b as usize]);
                    let Some(value) = f(a, b) else {
                        return Err(Trouble::new(Kind::DivisionByZero, format!("{a:#x} by {b:#x}")));
                    };
                    registers[d as usize] = value;
                }
                Op::Moves { d, e, a, b } => {
                    let (a, b) = (registers[a as usize], registers[b as usize]);
                    registers[d as usize] = a;
                    registers[e as usize] = b;
                }
                // Which lanes happen to run together is not specified; the thread itself always does.
                Op::ActiveMask { d } => registers[d as usize] = 1 << registers[LANEID],
                Op::Copy { to, from: source, bytes } => {
                    self.copy(*at, address(registers, to), address(registers, source), bytes as usize)?;
                }
                Op::Commit => self.groups().push(Vec::new()),
                Op::WaitCopies { but } => self.land(but)?,
                Op::StrongLoad { at: address, value, d, acquires } => {
                    self.strong_load(registers, *at, address, value, d, acquires)?;
                    *at += 1;
                    return Ok(self.stops(from, *at - 1, Stop::Turn));
                }
                Op::StrongStore { at: address, value, a, releases } => {
                    self.strong_store(registers, *at, address, value, a, releases)?;
                    *at += 1;
                    return Ok(self.stops(from, *at - 1, Stop::Turn));
                }
                Op::Change(change) => {
                    self.change(registers, *at, &change)?;
                    if change.space == Space::Global {
                        *at += 1;
                        return Ok(self.stops(from, *at - 1, Stop::Turn));
                    }
                }
                Op::Fence => {
                    let now = self.now;
                    if let Some(clocks) = &mut self.memory.clocks {
                        clocks.fence(&now);
                    }
                }
                Op::Exit => {
                    self.land(None)?;
                    return Ok(self.stops(from, *at, Stop::Exit));
                }
                Op::Barrier => return Ok(self.stops(from, *at, Stop::Barrier)),
                Op::Shuffle { .. } => return Ok(self.stops(from, *at, Stop::Shuffle)),
            }
            *at += 1;
        }
    }

    #[inline(always)]
    fn ran(&mut self, from: usize, to: usize) {
        if let Some(trace) = &mut self.trace {
            trace.ran(self.now.thread, from, to);
        }
    }

    fn stops(&mut self, from: usize, at: usize, stop: Stop) -> Stop {
        self.ran(from, at);
        stop
    }

    #[inline(always)]
    fn touches(&mut self, step: usize, target: Target, address: u64, bytes: usize) {
        if let Some(trace) = &mut self.trace {
            trace.access(self.now.thread, step, target, address, bytes);
        }
    }

    fn groups(&mut self) -> &mut Groups {
        self.copies.entry(self.now.thread).or_insert_with(|| vec![Vec::new()])
    }

    /// Begins a copy. It may read at any time until it has landed.
    fn copy(&mut self, step: usize, to: u64, from: u64, bytes: usize) -> Checked<()> {
        self.touches(step, Target::Read, from, bytes);
        let value = self.memory.load(from, bytes, Access::Weak, &mut self.hints[step], &self.now)?;
        self.shared.expect(to, bytes, &self.now)?;
        let copy = Copy { step, to, from, bytes, value };
        self.groups().last_mut().expect("one is open").push(copy);
        Ok(())
    }

    /// Lets copies of the thread land: all but those of the newest groups and the open one, or really all.
    fn land(&mut self, but: Option<u32>) -> Checked<()> {
        let Some(groups) = self.copies.get_mut(&self.now.thread) else { return Ok(()) };
        let landing = match but {
            Some(but) => groups.drain(..groups.len().saturating_sub(but as usize + 1)).collect(),
            None => std::mem::replace(groups, vec![Vec::new()]),
        };
        for Copy { step, to, from, bytes, value } in landing.into_iter().flatten() {
            let now = self.memory.load(from, bytes, Access::Weak, &mut self.hints[step], &self.now)?;
            if now != value {
                let what = format!("{bytes} bytes changed while a copy of them was under way");
                return Err(Trouble::at(Kind::Race, from, what));
            }
            self.shared.land(to, bytes, value, &self.now);
        }
        Ok(())
    }

    fn param(&self, offset: usize, value: Width) -> Checked<u64> {
        let bytes = value.bytes as usize;
        let Some(data) = self.params.get(offset..).and_then(|rest| rest.get(..bytes)) else {
            let what = format!("read of {bytes} bytes at {offset} of {}", self.params.len());
            return Err(Trouble::new(Kind::ParamOutOfBounds, what));
        };
        if !offset.is_multiple_of(bytes) {
            let what = format!("read of {bytes} bytes at {offset} of the parameters, no multiple of {bytes}");
            return Err(Trouble::new(Kind::Misaligned, what));
        }
        Ok(widened(bytes_value(data) as u64, value))
    }

    #[inline(always)]
    fn load(
        &mut self,
        registers: &mut [u64],
        step: usize,
        from: Space,
        at: At,
        value: Width,
        d: &Vector,
    ) -> Checked<()> {
        let address = address(registers, at);
        let bytes = value.bytes as usize * d.count as usize;
        let target = if from == Space::Shared { Target::Shared } else { Target::Read };
        self.touches(step, target, address, bytes);
        let data = match from {
            Space::Shared => self.shared.load(address, bytes, &self.now)?,
            global => {
                let how = if global == Space::Constant { Access::Cached } else { Access::Weak };
                self.memory.load(address, bytes, how, &mut self.hints[step], &self.now)?
            }
        };
        if d.count == 1 {
            registers[d.places[0] as usize] = widened(data as u64, value);
            return Ok(());
        }
        let mut rest = data;
        for place in &d.places[..d.count as usize] {
            registers[*place as usize] = widened(rest as u64, value);
            rest >>= value.bytes as u32 * 8;
        }
        Ok(())
    }

    #[inline(always)]
    fn store(
        &mut self,
        registers: &mut [u64],
        step: usize,
        to: Space,
        at: At,
        value: Width,
        a: &Vector,
    ) -> Checked<()> {
        let address = address(registers, at);
        let bytes = value.bytes as usize * a.count as usize;
        let width = value.bytes as u32 * 8;
        let mask = u64::MAX >> (64 - width);
        let element = |place: Place| (registers[place as usize] & mask) as u128;
        let mut data = element(a.places[0]);
        for (at, place) in (1..).zip(&a.places[1..a.count as usize]) {
            data |= element(*place) << (at * width);
        }
        let target = if to == Space::Shared { Target::Shared } else { Target::Write };
        self.touches(step, target, address, bytes);
        match to {
            Space::Shared => self.shared.store(address, bytes, data, &self.now),
            _ => self.memory.store(address, bytes, data, Access::Weak, &mut self.hints[step], &self.now),
        }
    }

    fn strong_load(
        &mut self,
        registers: &mut [u64],
        step: usize,
        at: At,
        value: Width,
        d: Place,
        acquires: bool,
    ) -> Checked<()> {
        let (address, bytes) = (address(registers, at), value.bytes as usize);
        self.touches(step, Target::Read, address, bytes);
        let heard = self.memory.strong_load(address, bytes, acquires, &mut self.hints[step], &self.now)?;
        registers[d as usize] = widened(heard, value);
        self.asked = true;
        Ok(())
    }

    fn strong_store(
        &mut self,
        registers: &[u64],
        step: usize,
        at: At,
        value: Width,
        a: Place,
        releases: bool,
    ) -> Checked<()> {
        let (address, bytes) = (address(registers, at), value.bytes as usize);
        self.touches(step, Target::Write, address, bytes);
        self.asked = false;
        let stored = registers[a as usize] & mask(value);
        self.memory.strong_store(address, bytes, stored, releases, &mut self.hints[step], &self.now)
    }

    fn change(&mut self, registers: &mut [u64], step: usize, change: &Change) -> Checked<()> {
        let Change { space, at, value, d, f, b, c, acquires, releases } = *change;
        let (address, bytes) = (address(registers, at), value.bytes as usize);
        let (b, c) = (registers[b as usize] & mask(value), registers[c as usize] & mask(value));
        let made = |old: u64| f(old, b, c) & mask(value);
        let old = match space {
            Space::Shared => {
                self.touches(step, Target::Shared, address, bytes);
                self.shared.change(address, bytes, made, &self.now)?
            }
            _ => {
                self.touches(step, Target::Read, address, bytes);
                self.asked = false;
                let orders = [acquires, releases];
                self.memory.change(address, bytes, made, orders, &mut self.hints[step], &self.now)?
            }
        };
        if let Some(d) = d {
            registers[d as usize] = old;
        }
        Ok(())
    }

    /// The next phase of a launch whose blocks run at the same time, as a block's.
    pub(crate) fn begin_phase(&mut self, block: u32) -> u64 {
        match &mut self.memory.clocks {
            Some(clocks) => clocks.begin(block),
            None => self.now.phase,
        }
    }
}

fn mask(value: Width) -> u64 {
    u64::MAX >> (64 - value.bytes as u32 * 8)
}

#[inline(always)]
fn address(registers: &[u64], at: At) -> u64 {
    registers[at.base as usize].wrapping_add_signed(at.offset as i64)
}

/// A loaded value, extended to its register.
#[inline(always)]
fn widened(bits: u64, value: Width) -> u64 {
    let unused = 64 - value.bytes as u32 * 8;
    let bits = bits << unused;
    if value.signed {
        ((bits as i64) >> unused) as u64 & (u64::MAX >> (64 - value.register as u32))
    } else {
        bits >> unused
    }
}
