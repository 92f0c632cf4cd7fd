//! The table of the gates: as text, as JSON, and beside its floors.

use std::fmt::Write as _;

use anyhow::Result;

use super::floors::{APART, floor, reason};
use super::judge::KernelVerdict;

/// Lanes that should be active, and how full the waves should be if they are few.
const LANES: f64 = 0.95;
const FULL: f64 = 0.97;

/// Bytes that may be moved, over those necessary: by stencils the second.
const MOVED: [f64; 2] = [1.03, 1.10];

/// What keeps a kernel from its goal.
fn short(line: &KernelVerdict) -> Vec<String> {
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
    if line.filled() < FULL {
        all.push(format!("{:.2} waves", line.waves));
    }
    let most = if ["S1", "S2", "S3"].contains(&line.group) { MOVED[1] } else { MOVED[0] };
    if line.moved > most {
        all.push(format!("{:.2} of the bytes", line.moved));
    }
    if !line.is_whole || (line.agreement - 1.0).abs() > APART {
        all.push(format!("walk and counter differ: {:.2}", line.agreement));
    }
    all
}

/// A table for people: a row per case, target and type.
pub fn text(lines: &[KernelVerdict]) -> String {
    let head = [
        "target",
        "case",
        "type",
        "entry",
        "grid x block",
        "regs",
        "blocks",
        "instr/point",
        "16-byte",
        "KiB in flight",
        "needed",
        "DRAM : L1 : L2 : issue : latency",
        "lanes",
        "waves",
        "loop",
        "moved",
        "text, ptxas",
        "bound",
        "floor",
        "goal",
        "predicted",
        "below",
    ];
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for line in lines {
        let mut below = short(line);
        below.extend((!line.because.is_empty()).then(|| line.because.to_owned()));
        below.extend(reason(line).map(|reason| format!("because {reason}")));
        let number = |number: Option<f64>| number.map_or(String::new(), |number| format!("{number:.2}"));
        let join = |extents: [u32; 3]| extents.map(|extent| extent.to_string()).join(",");
        let of = if line.launches > 1 { format!(" (of {})", line.launches) } else { String::new() };
        let cycles = [line.dram, line.l1, line.l2, line.issue, line.latency];
        let row = [
            line.target.to_owned(),
            line.case.to_owned(),
            line.dtype.clone(),
            line.entry.clone() + &of,
            format!("{} x {}", join(line.grid), join(line.block)),
            line.registers.to_string(),
            line.blocks.to_string(),
            format!("{:.1}", line.instructions_per_point),
            format!("{:.2}", line.wide),
            format!("{:.1}", line.in_flight_kib),
            line.needed_kib.to_string(),
            cycles.map(|cycles| format!("{cycles:.0}")).join(" : "),
            format!("{:.2}", line.lanes),
            format!("{:.2}", line.waves),
            line.loop_bytes.to_string(),
            format!("{:.2}", line.moved),
            format!("{} KB, {:.2} s", line.text_bytes / 1000, line.ptxas_seconds),
            line.bound.to_owned(),
            number(floor(line).map(|floor| floor.fraction)),
            number(line.goal),
            format!("{:.3}", line.fraction),
            below.join(", "),
        ];
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// The predicted fractions alone: a row per case; a column per target, with its types one after the other. A
/// letter says what bounds a kernel that is below its goal.
pub fn brief(lines: &[KernelVerdict]) -> String {
    let distinct = |of: fn(&KernelVerdict) -> &str| {
        let mut all: Vec<&str> = Vec::new();
        for line in lines {
            if !all.contains(&of(line)) {
                all.push(of(line));
            }
        }
        all
    };
    let (targets, cases) = (distinct(|line| line.target), distinct(|line| line.case));
    let types = distinct(|line| &line.dtype).join(" ");
    let heads = targets.iter().map(|target| format!(" {target}: {types} |")).collect::<String>();
    let mut text = format!("| case |{heads}\n|---|{}\n", "---|".repeat(targets.len()));
    for case in cases {
        let _ = write!(text, "| {case} |");
        for target in &targets {
            let own = lines.iter().filter(|line| line.case == case && line.target == *target);
            let cells = own.map(|line| {
                let is_below = line.goal.is_some_and(|goal| line.fraction < goal);
                let bound = line.bound.chars().next().filter(|_| is_below);
                let bound = if line.bound == "latency" && is_below { Some('W') } else { bound };
                let bound = if line.bound == "L2" && is_below { Some('2') } else { bound };
                if !line.is_whole {
                    return " -".to_owned();
                }
                format!(" {:.2}{}", line.fraction, bound.map_or(String::new(), String::from))
            });
            let _ = write!(text, "{} |", cells.collect::<String>());
        }
        text.push('\n');
    }
    text
}

/// A line of JSON each.
pub fn json(lines: &[KernelVerdict]) -> Result<String> {
    let lines = lines.iter().map(|line| Ok(serde_json::to_string(line)? + "\n"));
    lines.collect()
}
