//! Runs as Markdown: the machine's facts, bandwidths, times, what was skipped and what failed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cases::workload::BESIDE;
use crate::results::record::{Line, Record, read, skipped};

/// Everything a run says, for people.
pub fn markdown(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        if let Line::Machine(machine) = line {
            let (n, plane, cube) = machine.extents;
            let _ = writeln!(
                text,
                "{}; load {:.1} to {:.1}; {n}, {plane}^2 and {cube}^3 elements, {} part(s), {} UTC\n",
                machine.title(),
                machine.load.0,
                machine.load.1,
                machine.parts,
                machine.date
            );
            machine.gpus.iter().for_each(|gpu| text.push_str(&format!("{gpu}\n\n")));
            if machine.is_busy() {
                text.push_str("Other programs ran: these are not the machine's figures.\n\n");
            }
        }
    }
    let records: Vec<&Record> = lines.iter().filter_map(Line::record).collect();
    bandwidths(&records, &mut text);
    beside(&records, &mut text);
    times(&records, &mut text);
    for sentence in skipped(lines) {
        let _ = writeln!(text, "\nskipped: {sentence}");
    }
    for line in lines {
        let _ = match line {
            Line::Failed(missing) => writeln!(text, "\nFAILED: {}", missing.sentence()),
            Line::Machine(_) | Line::Record(_) | Line::Skipped(_) => Ok(()),
        };
    }
    text
}

/// The row of a table that a record belongs to.
fn row(record: &Record) -> String {
    let kind = if record.group == "ceiling" { "ceiling: " } else { "" };
    format!("{kind}{} {}", record.workload, record.dtype)
}

/// Values in the order of their first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// A table with a column for each contender and a row for each name; whether there is anything in it.
fn table(
    head: &str,
    records: &[&&Record],
    name: fn(&Record) -> String,
    cell: fn(&Record) -> String,
    text: &mut String,
) -> bool {
    let who = distinct(records.iter().map(|record| record.who.as_str()));
    if who.is_empty() {
        return false;
    }
    let _ = writeln!(text, "| {head} | {} |", who.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(who.len()));
    for row in distinct(records.iter().map(|record| name(record))) {
        let of = |who: &&str| records.iter().find(|record| record.who == *who && name(record) == row);
        let cells = who.iter().map(|who| of(who).map_or("-".to_owned(), |record| cell(record)));
        let _ = writeln!(text, "| {row} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    true
}

fn bandwidths(records: &[&Record], text: &mut String) {
    let moving: Vec<&&Record> = records.iter().filter(|record| record.gb_s.is_some()).collect();
    let cell = |record: &Record| match record {
        Record { workload, operations, time, .. } if workload == "arithmetic" => {
            format!("{:.1} Gop/s", operations / time.median_s / 1e9)
        }
        Record { gb_s: Some(gb_s), fraction: Some(fraction), .. } => format!("{gb_s:.1} ({fraction:.2})"),
        Record { gb_s, .. } => gb_s.map_or("-".to_owned(), |gb_s| format!("{gb_s:.1}")),
    };
    if table("GB/s (fraction of the copy beside it)", &moving, row, cell, text) {
        text.push('\n');
    }
}

/// W1: how fast wgpu adapters are beside the fastest other device of the run.
fn beside(records: &[&Record], text: &mut String) {
    let counts = |record: &&&Record| !record.is_peer && BESIDE.contains(&record.group.as_str());
    let (wgpu, others): (Vec<&&Record>, Vec<&&Record>) =
        records.iter().filter(counts).partition(|record| record.who.starts_with("wgpu"));
    let mut rows = Vec::new();
    for ours in wgpu {
        let same = others.iter().filter(|other| row(other) == row(ours));
        let fastest = same.min_by(|a, b| a.time.median_s.total_cmp(&b.time.median_s));
        rows.extend(fastest.map(|other| {
            let ratio = other.time.median_s / ours.time.median_s;
            format!("| {} | {} | {} | {ratio:.2} |", row(ours), ours.who, other.who)
        }));
    }
    if !rows.is_empty() {
        let _ = writeln!(text, "| W1 | wgpu | beside | speed of wgpu over that |\n|---|---|---|---|");
        let _ = writeln!(text, "{}\n", rows.join("\n"));
    }
}

fn times(records: &[&Record], text: &mut String) {
    let timed: Vec<&&Record> = records.iter().filter(|record| record.gb_s.is_none()).collect();
    let cell = |Record { time, .. }: &Record| {
        let [middle, low, high] = [time.median_s, time.p10_s, time.p90_s].map(duration);
        format!("{middle} ({low} to {high})")
    };
    table("time, median (p10 to p90)", &timed, |record| record.workload.clone(), cell, text);
}

/// Seconds with three digits and a fitting unit.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "us"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// Writes the tables of saved runs, one run after the other.
pub fn write(files: &[PathBuf], out: &Path) -> Result<()> {
    let mut text = String::new();
    for file in files {
        let lines = read(file)?;
        if !matches!(lines.first(), Some(Line::Machine(_))) {
            bail!("{}: a saved run begins with its machine; write it with `run --save`", file.display());
        }
        text += &markdown(&lines);
        text.push('\n');
    }
    fs::write(out, text).with_context(|| format!("write {}", out.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::machine::Machine;
    use crate::results::record::{Missing, to_text};

    #[test]
    fn saved_runs_stand_one_after_the_other() {
        let folder = std::env::temp_dir().join(format!("partita-report-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("folder");
        let files = ["One", "Other"].map(|processor| {
            let machine = Machine { processor: processor.to_owned(), ..Machine::example() };
            let failed = Missing::new("triad", "wgpu", "f64", "no f64 here");
            let record = Record::of_time("E1", "copy", "host", vec![0.9, 1.0, 1.2]).moving(16e9, Some(32.0));
            let lines = [Line::Machine(machine), Line::Record(record), Line::Failed(failed)];
            let file = folder.join(processor);
            fs::write(&file, to_text(&lines).expect("text")).expect("write");
            file
        });
        let out = folder.join("report.md");
        write(&files, &out).expect("report");
        let text = fs::read_to_string(&out).expect("tables");
        fs::remove_dir_all(&folder).expect("written");
        assert!(text.starts_with("One ") && text.contains("\nOther "), "{text}");
        assert_eq!(text.matches("| copy f32 | 16.0 (0.50) |").count(), 2, "{text}");
        assert_eq!(text.matches("FAILED: triad f64 on wgpu (no f64 here)").count(), 2, "{text}");
        assert!(!text.contains("Other programs"), "a load of 0.25 on 4 cores is quiet");
        assert!(write(&[PathBuf::from("/nowhere/run.jsonl")], &out).is_err(), "no such file");
    }

    #[test]
    fn tables_have_every_contender_and_every_row() {
        let of = |who: &str, seconds| {
            Line::Record(Record::of_time("E1", "triad", who, vec![seconds]).moving(12e9, Some(24.0)))
        };
        let flush = Line::Record(Record::of_time("L1", "flush", "host", vec![21e-6]));
        let text = markdown(&[of("host", 1.0), of("numba", 0.5), flush]);
        assert!(text.contains("| GB/s (fraction of the copy beside it) | host | numba |"), "{text}");
        assert!(text.contains("| triad f32 | 12.0 (0.50) | 24.0 (1.00) |"), "{text}");
        assert!(text.contains("| flush | 21.0 us (21.0 us to 21.0 us) |"), "{text}");
    }

    #[test]
    fn wgpu_stands_beside_the_fastest_other_device() {
        let of = |who: &str, seconds| Line::Record(Record::of_time("E1", "triad", who, vec![seconds]));
        let peer = Record { is_peer: true, ..Record::of_time("E1", "triad", "numba", vec![0.1]) };
        let lines = [of("host", 4.0), of("wgpu card", 2.0), of("cuda card", 1.0), Line::Record(peer)];
        let text = markdown(&lines);
        assert!(text.contains("| triad f32 | wgpu card | cuda card | 0.50 |"), "{text}");
        assert!(!markdown(&lines[1..2]).contains("W1"), "nothing is beside it");
    }

    #[test]
    fn durations_have_three_digits() {
        let texts = [1.5e-9, 0.123_456e-6, 21e-6, 0.4567, 12.0].map(duration);
        assert_eq!(texts, ["1.50 ns", "123 ns", "21.0 us", "457 ms", "12.0 s"]);
    }
}
