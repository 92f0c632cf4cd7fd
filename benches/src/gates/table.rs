//! The table of the gates: as text, as JSON, and beside its floors.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::judge::Line;

/// What each kernel was predicted to reach before: `target case dtype fraction` per line. It may only rise.
const FLOORS: &str = include_str!("floors.txt");

/// A fraction may fall by so much below its floor: the assembler's versions differ.
const TOLERANCE: f64 = 0.02;

/// Lanes that must be active, and how full the waves must be if they are few.
const LANES: f64 = 0.95;
const FULL: f64 = 0.97;
const MANY_WAVES: f64 = 6.0;

fn floors() -> BTreeMap<(String, String, String), f64> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[target, case, dtype, fraction] = &words[..] else { return None };
        Some(((target.to_owned(), case.to_owned(), dtype.to_owned()), fraction.parse().ok()?))
    };
    FLOORS.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect()
}

fn key(line: &Line) -> (String, String, String) {
    (line.target.to_owned(), line.case.to_owned(), line.dtype.clone())
}

/// What keeps a kernel from its goal.
fn short(line: &Line) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(goal) = line.goal.filter(|goal| line.fraction < *goal) {
        all.push(format!("{:.2} < {goal:.2}", line.fraction));
    }
    if line.spills > 0 {
        all.push(format!("{} bytes spilled", line.spills));
    }
    if line.lanes < LANES {
        all.push(format!("{:.0} % of lanes", line.lanes * 100.0));
    }
    if line.waves < MANY_WAVES && line.waves / line.waves.ceil() < FULL {
        all.push(format!("{:.2} waves", line.waves));
    }
    if !line.is_whole {
        all.push("walk not whole".to_owned());
    }
    all
}

/// Gates that are red: below the floor, or spilled registers.
pub fn red(line: &Line) -> Vec<String> {
    let floor = floors().get(&key(line)).copied();
    let name = format!("{} {} {}", line.target, line.case, line.dtype);
    let mut all = Vec::new();
    if let Some(floor) = floor.filter(|floor| line.fraction < floor - TOLERANCE) {
        all.push(format!("{name}: predicted {:.3}, floor {floor:.3}", line.fraction));
    }
    if line.spills > 0 {
        all.push(format!("{name}: {} bytes spilled", line.spills));
    }
    all
}

/// A table for people.
pub fn text(lines: &[Line], is_brief: bool) -> String {
    let floors = floors();
    let mut text = String::new();
    let head = if is_brief {
        "| target | case | type | predicted | goal | bound | why below |\n|---|---|---|---|---|---|---|"
    } else {
        "| target | case | type | entry | grid x block | regs | blocks | instr/point | 16-byte | KiB in flight | \
         needed | DRAM : L1 : L2 : issue : latency | lanes | waves | loop | text, ptxas | bound | floor | goal | \
         predicted | below |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    };
    let _ = writeln!(text, "{head}");
    for line in lines {
        let mut below = short(line).join(", ");
        if !line.because.is_empty() {
            let _ = write!(below, "{}{}", if below.is_empty() { "" } else { "; " }, line.because);
        }
        let goal = line.goal.map_or(String::new(), |goal| format!("{goal:.2}"));
        let Line { target, case, dtype, fraction, bound, .. } = line;
        if is_brief {
            let _ = writeln!(
                text,
                "| {target} | {case} | {dtype} | {fraction:.2} | {goal} | {bound} | {below} |"
            );
            continue;
        }
        let floor = floors.get(&key(line)).map_or(String::new(), |floor| format!("{floor:.2}"));
        let join = |extents: [u32; 3]| extents.map(|extent| extent.to_string()).join(",");
        let _ = writeln!(
            text,
            "| {target} | {case} | {dtype} | {}{} | {} x {} | {} | {} | {:.1} | {:.2} | {:.1} | {} | \
             {:.0} : {:.0} : {:.0} : {:.0} : {:.0} | {:.2} | {:.2} | {} | {} KB, {:.2} s | {bound} | {floor} | {goal} | \
             {fraction:.3} | {below} |",
            line.entry,
            if line.launches > 1 { format!(" (of {})", line.launches) } else { String::new() },
            join(line.grid),
            join(line.block),
            line.registers,
            line.blocks,
            line.instructions_per_point,
            line.wide,
            line.in_flight_kib,
            line.needed_kib,
            line.dram,
            line.l1,
            line.l2,
            line.issue,
            line.latency,
            line.lanes,
            line.waves,
            line.loop_bytes,
            line.text_bytes / 1000,
            line.ptxas_seconds,
        );
    }
    text
}

/// A line of JSON each.
pub fn json(lines: &[Line]) -> Result<String> {
    let lines = lines.iter().map(|line| Ok(serde_json::to_string(line)? + "\n"));
    lines.collect()
}

/// Writes the floors that rose, or are new, into the source.
pub fn raise(lines: &[Line]) -> Result<()> {
    let mut floors = floors();
    for line in lines {
        let floor = floors.entry(key(line)).or_insert(0.0);
        *floor = floor.max((line.fraction * 1000.0).floor() / 1000.0);
    }
    let mut text: String =
        FLOORS.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    for ((target, case, dtype), floor) in floors {
        let _ = writeln!(text, "{target} {case} {dtype} {floor:.3}");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gates/floors.txt");
    fs::write(&file, text).with_context(|| format!("write {}", file.display()))
}
