//! What kernels are held to: floors, which may only rise, and the reasons why some stay below their goal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::judge::KernelVerdict;

/// What each kernel was predicted to reach before: `target case type fraction lanes waves` per line.
const FLOORS: &str = include_str!("floors.txt");

/// Why a kernel is below its goal: `case type,type: reason` per line, or a family in place of the case.
const REASONS: &str = include_str!("reasons.txt");

/// The target that has goals.
const JUDGED: &str = "sm_90";

/// A figure may fall by so much below its floor: the assembler's versions differ.
const TOLERANCE: f64 = 0.02;

/// The walk's loads and the simulator's differ by less.
pub const APART: f64 = 0.05;

/// Figures of a kernel that may only rise, 1 at best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    pub fraction: f64,
    /// Active lanes, of all.
    pub lanes: f64,
    /// How full the waves are, if they are few.
    pub waves: f64,
}

impl Floor {
    fn of(line: &KernelVerdict) -> Floor {
        let down = |figure: f64| (figure * 1000.0).floor() / 1000.0;
        Floor { fraction: down(line.fraction), lanes: down(line.lanes), waves: down(line.filled()) }
    }

    fn figures(&self) -> [(&'static str, f64); 3] {
        [("predicted", self.fraction), ("lanes", self.lanes), ("waves", self.waves)]
    }
}

type Key = (String, String, String);

fn key(line: &KernelVerdict) -> Key {
    (line.target.to_owned(), line.case.to_owned(), line.dtype.clone())
}

fn floors(text: &str) -> BTreeMap<Key, Floor> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[target, case, dtype, fraction, lanes, waves] = &words[..] else { return None };
        let [fraction, lanes, waves] = [fraction, lanes, waves].map(|figure| figure.parse().ok());
        let floor = Floor { fraction: fraction?, lanes: lanes?, waves: waves? };
        Some(((target.to_owned(), case.to_owned(), dtype.to_owned()), floor))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect()
}

/// The floor of a kernel.
pub fn floor(line: &KernelVerdict) -> Option<Floor> {
    floors(FLOORS).remove(&key(line))
}

/// Why a kernel is below its goal.
pub fn reason(line: &KernelVerdict) -> Option<&'static str> {
    let rows = REASONS.lines().filter(|_| line.target == JUDGED);
    rows.filter(|line| !line.starts_with('#')).find_map(|row| {
        let (of, reason) = row.split_once(": ")?;
        let (case, types) = of.split_once(' ')?;
        let is_meant =
            (case == line.case || case == line.group) && types.split(',').any(|dtype| dtype == line.dtype);
        is_meant.then_some(reason)
    })
}

/// Gates that are red: a figure below its floor, spilled registers, a goal that is missed for no reason that
/// is written down or reached in spite of one, a walk that is not what ran.
pub fn red(line: &KernelVerdict) -> Vec<String> {
    let own = format!("{} ", line.case);
    let is_own = REASONS.lines().any(|row| row.starts_with(&own));
    judged(line, floor(line), reason(line), is_own)
}

/// Reasons of a whole family may stay while one of its cases is below its goal.
fn judged(line: &KernelVerdict, floor: Option<Floor>, reason: Option<&str>, is_own: bool) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(floor) = floor {
        let pairs = Floor::of(line).figures().into_iter().zip(floor.figures());
        for ((name, given), (_, least)) in pairs.filter(|(given, least)| given.1 < least.1 - TOLERANCE) {
            all.push(format!("{name} {given:.3}, floor {least:.3}"));
        }
    }
    if line.spills > 0 {
        all.push(format!("{} bytes spilled", line.spills));
    }
    match (line.goal.filter(|_| line.target == JUDGED), reason) {
        (Some(goal), None) if line.fraction < goal => all.push(format!(
            "predicted {:.3}, goal {goal:.2}, and no line of reasons.txt says why",
            line.fraction
        )),
        (Some(goal), Some(_)) if is_own && line.fraction >= goal + TOLERANCE => all.push(format!(
            "predicted {:.3}, goal {goal:.2}: its line in reasons.txt is out of date",
            line.fraction
        )),
        _ => {}
    }
    if line.target == JUDGED && !line.is_whole {
        all.push("the walk did not find the end of the code".to_owned());
    }
    if line.group == "E1" && (line.agreement - 1.0).abs() > APART {
        all.push(format!("the walk loads {:.2} of the bytes that were counted", line.agreement));
    }
    let name = format!("{} {} {}", line.target, line.case, line.dtype);
    all.into_iter().map(|what| format!("{name}: {what}")).collect()
}

/// Writes the floors that rose, or are new, into the source.
pub fn raise(lines: &[KernelVerdict]) -> Result<()> {
    let mut floors = floors(FLOORS);
    for line in lines.iter().filter(|line| line.is_whole) {
        let now = Floor::of(line);
        let floor = floors.entry(key(line)).or_insert(now);
        // Grids change: lanes and waves belong to the fraction.
        if now.fraction >= floor.fraction {
            *floor = now;
        }
    }
    let mut text: String =
        FLOORS.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    for ((target, case, dtype), Floor { fraction, lanes, waves }) in floors {
        let _ = writeln!(text, "{target} {case} {dtype} {fraction:.3} {lanes:.3} {waves:.3}");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gates/floors.txt");
    fs::write(&file, text).with_context(|| format!("write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(fraction: f64) -> KernelVerdict {
        KernelVerdict {
            target: JUDGED,
            case: "copy",
            fraction,
            goal: Some(0.93),
            is_whole: true,
            agreement: 1.0,
            lanes: 1.0,
            waves: 10.0,
            ..KernelVerdict::default()
        }
    }

    #[test]
    fn a_goal_is_reached_or_there_is_a_reason_that_holds() {
        let count = |fraction: f64, reason: Option<&str>| judged(&line(fraction), None, reason, true).len();
        assert_eq!([count(0.94, None), count(0.90, None)], [0, 1]);
        assert_eq!([count(0.90, Some("physics")), count(0.96, Some("physics"))], [0, 1]);
        let elsewhere = KernelVerdict { target: "sm_80", ..line(0.5) };
        assert_eq!(judged(&elsewhere, None, None, true), Vec::<String>::new());
    }

    #[test]
    fn no_figure_may_fall_below_its_floor() {
        let floor = Some(Floor { fraction: 0.95, lanes: 1.0, waves: 1.0 });
        assert_eq!(judged(&line(0.94), floor, None, true), Vec::<String>::new());
        let lower = KernelVerdict { goal: None, ..line(0.92) };
        assert_eq!(judged(&lower, floor, None, true), ["sm_90 copy : predicted 0.920, floor 0.950"]);
        let idle = KernelVerdict { lanes: 0.8, waves: 2.5, ..line(0.96) };
        let red = judged(&idle, floor, None, true);
        assert_eq!(red, ["sm_90 copy : lanes 0.800, floor 1.000", "sm_90 copy : waves 0.833, floor 1.000"]);
        assert_eq!(judged(&KernelVerdict { spills: 8, ..line(0.96) }, floor, None, true).len(), 1);
    }

    #[test]
    fn every_reason_is_about_a_case_and_types_that_there_are() {
        use crate::cases::workload::Workload;
        for row in REASONS.lines().filter(|line| !line.starts_with('#')) {
            let (of, reason) = row.split_once(": ").expect(row);
            let (case, types) = of.split_once(' ').expect(row);
            let is_family = ["S1", "S2", "S3"].contains(&case);
            assert!((is_family || Workload::named(case).is_ok()) && !reason.is_empty(), "{row}");
            let known = super::super::launches::DTYPES.map(|dtype| dtype.to_string());
            assert!(types.split(',').all(|dtype| known.contains(&dtype.to_owned())), "{row}");
        }
    }
}
