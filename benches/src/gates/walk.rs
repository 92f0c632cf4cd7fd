//! The way of one warp through the machine code, and how long it waits: with nothing else on its
//! multiprocessor, and memory as far away as it is under load.
//!
//! Which blocks of the code run, and how often, follows from the lines of the PTX that ran in the simulator;
//! in which order, from the branches. Time follows from the control words: an instruction is issued when the
//! scoreboards it waits for are free, and the next one not before its stall cycles have passed.

use std::collections::HashMap;

use super::sass::Instruction;
use super::targets::{OTHER_CYCLES, Rates, SHARED_CYCLES, SHUFFLE_CYCLES, SPECIAL_CYCLES};

/// What is known of a line of the PTX.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineCount {
    /// How often the warp issues it.
    pub issues: f64,
    /// Where what it loads is found.
    pub source: Source,
    /// Whether it is a branch.
    pub is_branch: bool,
}

/// Where a load finds its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The block has loaded them before.
    #[default]
    L1,
    /// The edges of a block: its neighbours load them, too.
    L2,
    Memory,
}

/// Lines of the PTX by number.
pub type Lines = HashMap<u32, LineCount>;

/// Cycles of memory accesses.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    pub l1: f64,
    pub l2: f64,
    pub memory: f64,
}

/// What a warp did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    /// Cycles from its first instruction to its last.
    pub cycles: f64,
    pub instructions: f64,
    /// Cycles of the busiest kind of instruction, of a whole multiprocessor.
    pub pipe_cycles: f64,
    /// Bytes that one lane loads from global memory.
    pub loaded: f64,
    /// Loads and stores of global memory that were carried out, and those of 16 bytes.
    pub accesses: [f64; 2],
    /// Sectors and wavefronts of these, if lanes lie side by side and begin at multiples of 128 bytes.
    pub sectors: f64,
    pub wavefronts: f64,
    /// Bytes of code of the largest loop that ran.
    pub loop_bytes: usize,
    /// Whether it came to the end of the code.
    pub is_whole: bool,
}

/// Instructions after which a walk is given up.
const LONGEST: f64 = 2e7;

/// A straight piece of code.
struct Piece {
    start: usize,
    end: usize,
    /// Runs that are left.
    left: f64,
}

/// Follows a warp.
pub fn walk(code: &[Instruction], lines: &Lines, latency: Latency, rates: &Rates) -> Walk {
    let mut pieces = pieces(code);
    let copies = copies(code);
    let starts: HashMap<usize, usize> =
        pieces.iter().enumerate().map(|(k, piece)| (piece.start, k)).collect();
    // From the end: what only joins or jumps runs as often as what follows.
    for k in (0..pieces.len()).rev() {
        let piece = &code[pieces[k].start..pieces[k].end];
        let jump = piece.last().and_then(|last| last.target).and_then(|to| starts.get(&to)).copied();
        let joins = piece.iter().all(|instruction| ["BSYNC", "BRA", "NOP"].contains(&instruction.base()));
        let ends = piece.last().is_some_and(|last| last.base() == "EXIT" && !last.is_guarded);
        pieces[k].left = match joins {
            // A warp ends once, whatever line the end is said to come from.
            _ if ends => runs(piece, lines, &copies).min(1.0),
            true => pieces.get(jump.unwrap_or(k + 1)).map_or(0.0, |next| next.left),
            false => runs(piece, lines, &copies),
        };
    }
    // The turns of a loop that jumps back behind a branch which leaves it: all that do not leave it.
    for k in 1..pieces.len() {
        let jump = |k: usize| {
            let last = &code[pieces[k].end - 1];
            let to = last.target.filter(|_| last.base() == "BRA").and_then(|to| starts.get(&to));
            to.map(|&to| (to, last.is_guarded))
        };
        let is_alone = pieces[k].end - pieces[k].start == 1;
        if let (Some((exit, true)), Some((to, false))) = (jump(k - 1), jump(k))
            && is_alone
            && to <= k
        {
            pieces[k].left = pieces[k - 1].left - pieces[exit].left;
        }
    }
    let mut clock = Clock {
        latency,
        lines,
        walk: Walk::default(),
        now: 0.0,
        free: [0.0; 6],
        pending: 0.0,
        groups: Vec::new(),
    };
    let mut pipes = Pipes::default();
    let mut at = 0;
    while clock.walk.instructions < LONGEST {
        let Some(piece) = pieces.get_mut(at) else { break };
        piece.left -= 1.0;
        let (start, end) = (piece.start, piece.end);
        for instruction in &code[start..end] {
            clock.issue(instruction);
            pipes.add(instruction);
        }
        let last = &code[end - 1];
        let next = starts.get(&end).copied();
        let target = last.target.filter(|_| last.base() == "BRA").and_then(|to| starts.get(&to).copied());
        let wants = |piece: &Option<usize>| piece.map_or(0.0, |k: usize| pieces[k].left);
        at = match (last.base(), last.is_guarded) {
            ("EXIT", false) => {
                clock.walk.is_whole = true;
                break;
            }
            ("EXIT", true) if wants(&next) < 0.5 => {
                clock.walk.is_whole = true;
                break;
            }
            ("BRA", false) => target.unwrap_or(usize::MAX),
            ("BRA", true) => {
                // Within one instruction of the PTX, a jump forward leaves out the rare case.
                let is_own = !lines.get(&last.line).is_some_and(|line| line.is_branch);
                let is_forward = target.zip(next).is_some_and(|(target, next)| target > next);
                let jumps = match (is_own && is_forward, wants(&target), wants(&next)) {
                    (_, target, next) if target < 0.5 && next < 0.5 => is_forward,
                    (_, target, next) if target < 0.5 || next < 0.5 => target > next,
                    (true, ..) => true,
                    // The turns of a loop come before what follows it.
                    (false, target, next) => target > next || target == next && !is_forward,
                };
                if jumps { target } else { next }.unwrap_or(usize::MAX)
            }
            _ => next.unwrap_or(usize::MAX),
        };
        if at <= starts[&start] {
            clock.walk.loop_bytes = clock.walk.loop_bytes.max((end - pieces[at].start) * super::sass::BYTES);
        }
    }
    Walk { cycles: clock.now, pipe_cycles: pipes.cycles(rates), ..clock.walk }
}

/// Pieces begin where something jumps to and after everything that jumps.
fn pieces(code: &[Instruction]) -> Vec<Piece> {
    let mut starts: Vec<usize> = code.iter().filter_map(|instruction| instruction.target).collect();
    let ends = ["BRA", "EXIT", "CALL", "RET", "BRX", "BREAK"];
    let after = |(k, instruction): (usize, &Instruction)| ends.contains(&instruction.base()).then_some(k + 1);
    starts.extend(code.iter().enumerate().filter_map(after));
    starts.push(0);
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|&start| start < code.len());
    let ends = starts.iter().skip(1).copied().chain([code.len()]);
    starts.iter().zip(ends).map(|(&start, end)| Piece { start, end, left: 0.0 }).collect()
}

/// What stays where it was written: neither moved out of loops nor between branches.
fn is_pinned(instruction: &Instruction) -> bool {
    ["LDG", "STG", "LDS", "STS", "BAR", "SHFL", "LDGSTS", "ATOMG", "RED"].contains(&instruction.base())
}

/// How many instructions of a kind come from a line: loops may be unrolled.
fn copies(code: &[Instruction]) -> HashMap<(u32, &str), f64> {
    let mut copies = HashMap::new();
    for instruction in code.iter().filter(|instruction| is_pinned(instruction)) {
        *copies.entry((instruction.line, instruction.name.as_str())).or_default() += 1.0;
    }
    copies
}

/// How often a piece runs: what most of its lines say, those that stay in place first.
fn runs(piece: &[Instruction], lines: &Lines, copies: &HashMap<(u32, &str), f64>) -> f64 {
    if piece.iter().any(|instruction| instruction.base() == "CALL") {
        return 0.0;
    }
    let issues = |instruction: &Instruction| lines.get(&instruction.line).map_or(0.0, |line| line.issues);
    let pinned = piece.iter().filter(|instruction| is_pinned(instruction) && issues(instruction) > 0.0);
    let pinned = pinned.map(|instruction| {
        issues(instruction) / copies.get(&(instruction.line, instruction.name.as_str())).unwrap_or(&1.0)
    });
    let pinned: Vec<f64> = pinned.collect();
    if !pinned.is_empty() {
        return most_frequent(pinned);
    }
    // Constants of pieces that never run are loaded ahead; a few lines of others may be moved into them.
    let is_constant = |name: &str| name.starts_with('U') || name == "LDC" || name == "MOV";
    let own = piece.iter().filter(|instruction| !is_constant(instruction.base()));
    let (some, none): (Vec<f64>, Vec<f64>) = own.map(issues).partition(|issues| *issues > 0.0);
    if some.len() * 4 < none.len() { 0.0 } else { most_frequent(some) }
}

/// The value that most of them have; the largest of several.
fn most_frequent(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let longest = values.chunk_by(|a, b| a == b).max_by_key(|equal| equal.len());
    longest.map_or(0.0, |equal| equal[0])
}

/// When instructions are issued.
struct Clock<'a> {
    latency: Latency,
    lines: &'a Lines,
    walk: Walk,
    now: f64,
    /// When each scoreboard is free.
    free: [f64; 6],
    /// When the last of the copies into shared memory since the last group will have arrived.
    pending: f64,
    /// The same of each group of copies.
    groups: Vec<f64>,
}

impl Clock<'_> {
    fn issue(&mut self, instruction: &Instruction) {
        for (board, &free) in self.free.iter().enumerate() {
            if instruction.waits >> board & 1 == 1 {
                self.now = self.now.max(free);
            }
        }
        self.walk.instructions += 1.0;
        let line = self.lines.get(&instruction.line).copied().unwrap_or_default();
        // Not carried out: the predicate is false.
        let is_idle = instruction.is_guarded && is_pinned(instruction) && line.issues == 0.0;
        let memory = match line.source {
            Source::L1 => self.latency.l1,
            Source::L2 => self.latency.l2,
            Source::Memory => self.latency.memory,
        };
        let cycles = match instruction.base() {
            _ if is_idle => 0.0,
            "LDG" | "LDGSTS" | "LD" | "ATOMG" => {
                self.walk.loaded += f64::from(instruction.width());
                memory
            }
            "LDS" | "ATOMS" => SHARED_CYCLES,
            "SHFL" => SHUFFLE_CYCLES,
            "MUFU" => SPECIAL_CYCLES,
            _ => OTHER_CYCLES,
        };
        if !is_idle && ["LDG", "STG", "LDGSTS"].contains(&instruction.base()) {
            self.walk.accesses[0] += 1.0;
            self.walk.accesses[1] += f64::from(u8::from(instruction.width() == 16));
            // 32 lanes: a sector is 32 bytes, a wavefront 128.
            self.walk.sectors += f64::from(instruction.width());
            self.walk.wavefronts += f64::from(instruction.width().div_ceil(4));
        }
        match instruction.base() {
            "LDGSTS" => self.pending = self.pending.max(self.now + cycles),
            "LDGDEPBAR" => {
                let last = std::mem::take(&mut self.pending).max(self.now);
                self.groups.push(last);
                instruction.sets[0].iter().for_each(|&board| self.free[board] = last);
            }
            // All groups but the newest so many.
            "DEPBAR" => {
                let number = instruction.operands.rsplit("0x").next().unwrap_or_default();
                let but = usize::from_str_radix(number.trim(), 16).unwrap_or(0);
                let landed = &self.groups[..self.groups.len().saturating_sub(but)];
                self.now = landed.iter().copied().fold(self.now, f64::max);
            }
            _ => {}
        }
        let result = if instruction.base() == "LDGDEPBAR" { None } else { instruction.sets[0] };
        for (board, cycles) in [(result, cycles), (instruction.sets[1], SPECIAL_CYCLES)] {
            if let Some(board) = board {
                self.free[board] = self.free[board].max(self.now + cycles);
            }
        }
        self.now += f64::from(instruction.stall.max(1));
    }
}

/// Lanes of each kind of instruction, of one warp.
#[derive(Default)]
struct Pipes {
    single: f64,
    double: f64,
    half: f64,
    integer: f64,
    special: f64,
    convert: f64,
    access: f64,
}

impl Pipes {
    fn add(&mut self, instruction: &Instruction) {
        let pipe = match instruction.base() {
            "FADD" | "FMUL" | "FFMA" | "IMAD" | "FADD2" | "FMUL2" | "FFMA2" => &mut self.single,
            "DADD" | "DMUL" | "DFMA" | "DSETP" => &mut self.double,
            "HADD2" | "HMUL2" | "HFMA2" => &mut self.half,
            "MUFU" => &mut self.special,
            "F2F" | "F2I" | "I2F" | "F2FP" | "I2FP" => &mut self.convert,
            "LDG" | "STG" | "LDS" | "STS" | "SHFL" | "LDGSTS" | "LDC" => &mut self.access,
            "BRA" | "EXIT" | "NOP" | "BAR" | "S2R" | "S2UR" | "BSSY" | "BSYNC" => return,
            name if name.starts_with('U') || name.starts_with("R2") => return,
            _ => &mut self.integer,
        };
        *pipe += 32.0;
    }

    fn cycles(&self, rates: &Rates) -> f64 {
        let pairs = [
            (self.single, rates.single),
            (self.double, rates.double),
            (self.half, rates.half),
            (self.integer, rates.integer),
            (self.special, rates.special),
            (self.convert, rates.convert),
            (self.access, rates.access),
        ];
        pairs.into_iter().map(|(lanes, rate)| lanes / rate).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sass::{EXAMPLE, parse};
    use super::super::targets::Target;
    use super::*;

    const LATENCY: Latency = Latency { l1: 30.0, l2: 200.0, memory: 1000.0 };

    fn walked(turns: f64, source: Source) -> Walk {
        let code = parse(EXAMPLE, "copy").expect("an entry");
        let count = |line, issues| (line, LineCount { issues, source, is_branch: line == 14 });
        let lines = [count(10, 1.0), count(12, turns), count(13, turns), count(14, turns)].into();
        walk(&code, &lines, LATENCY, &Target::named("sm_90").expect("in the table").rates)
    }

    #[test]
    fn a_loop_is_walked_as_often_as_its_lines_ran_and_waits_in_each_turn() {
        let once = walked(1.0, Source::Memory);
        assert!(once.is_whole);
        assert_eq!((once.instructions, once.loaded, once.accesses), (5.0, 16.0, [2.0, 2.0]));
        assert_eq!((once.sectors, once.wavefronts), (32.0, 8.0));
        assert!((1000.0..1100.0).contains(&once.cycles), "{once:?}");
        let four = walked(4.0, Source::Memory);
        assert_eq!((four.instructions, four.loop_bytes), (14.0, 48));
        assert!((4000.0..4200.0).contains(&four.cycles), "{four:?}");
        assert!(walked(4.0, Source::L1).cycles < 300.0);
    }

    #[test]
    fn groups_of_copies_are_waited_for_but_for_the_newest() {
        let copies = |but: &str| {
            let text = EXAMPLE.replace("STG.E.128 desc[UR4][R2.64], R4 ;  ", "LDGDEPBAR ;");
            let text = text.replace("LDG.E.128.CONSTANT R4", "LDGSTS.E.BYPASS.128 [R4]");
            // No scoreboard for a register that the load would write.
            let text = text.replace("0x001ea8000c1e9d00", "0x001fe8000c1e9d00");
            // Behind the loop, in a line of its own.
            let last = "\t//## File \".nv_debug_ptx_txt\", line 15\n        /*0040*/";
            let text = text.replace("        /*0040*/", last);
            let wait = format!("DEPBAR.LE SB0, {but} ;");
            let code = parse(&text.replace("EXIT ; ", &wait), "copy").expect("an entry");
            let count =
                |line, issues| (line, LineCount { issues, source: Source::Memory, is_branch: line == 14 });
            let lines =
                [count(10, 1.0), count(12, 3.0), count(13, 3.0), count(14, 3.0), count(15, 1.0)].into();
            let rates = &Target::named("sm_90").expect("in the table").rates;
            walk(&code, &lines, LATENCY, rates).cycles
        };
        assert!(copies("0x0") > copies("0x1") && copies("0x1") > 1000.0);
        assert!(copies("0x3") < 300.0);
    }

    /// As sm_80 writes loops: a call that does not return leaves, and a jump goes back.
    #[test]
    fn a_loop_that_is_left_by_a_call_is_walked_to_its_end() {
        let back = "/*0030*/               @P1 BRA `(.L_x_0) ;";
        let leave = "/*0030*/              @!P1 CALL.REL.NOINC `(.L_x_1) ;";
        let jump = "/*0038*/ BRA `(.L_x_0) ;\n.L_x_1:\n//## File \"x\", line 15\n/*0040*/";
        let text = EXAMPLE.replace(back, leave).replace("/*0040*/", jump);
        let code = parse(&text, "copy").expect("an entry");
        let count = |line, issues| (line, LineCount { issues, source: Source::L1, is_branch: line == 14 });
        let lines = [count(10, 1.0), count(12, 4.0), count(13, 4.0), count(14, 4.0), count(15, 1.0)].into();
        let walk = walk(&code, &lines, LATENCY, &Target::named("sm_80").expect("in the table").rates);
        // The thread's number; load, store and branch in each turn; three jumps back; the end.
        assert_eq!((walk.is_whole, walk.instructions), (true, 1.0 + 4.0 * 3.0 + 3.0 + 1.0));
    }

    #[test]
    fn a_load_whose_line_never_ran_costs_only_its_issue() {
        let code = parse(EXAMPLE, "copy").expect("an entry");
        let count = |line| (line, LineCount { issues: 1.0, source: Source::Memory, is_branch: line == 14 });
        let lines = [count(10), count(13), count(14)].into();
        let walk = walk(&code, &lines, LATENCY, &Target::named("sm_90").expect("in the table").rates);
        assert_eq!((walk.loaded, walk.accesses), (0.0, [1.0, 1.0]));
        assert!(walk.cycles < 200.0, "{walk:?}");
    }
}
