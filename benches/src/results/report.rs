//! A run as Markdown tables, and saved runs as one HTML page that needs no other file: for each machine its
//! facts, and a table per family, with bars for the fractions of the copy.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cases::workload::BESIDE;
use crate::results::machine::Machine;
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

/// What each record is about: its row of a table.
pub fn row(record: &Record) -> String {
    let kind = if record.group == "ceiling" { "ceiling: " } else { "" };
    format!("{kind}{} {}", record.workload, record.dtype)
}

/// Values in the order of their first appearance.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

fn bandwidths(records: &[&Record], text: &mut String) {
    let moving: Vec<&&Record> = records.iter().filter(|record| record.gb_s.is_some()).collect();
    let who = distinct(moving.iter().map(|record| record.who.as_str()));
    if who.is_empty() {
        return;
    }
    let _ = writeln!(text, "| GB/s (fraction of the copy beside it) | {} |", who.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(who.len()));
    for name in distinct(moving.iter().map(|record| row(record))) {
        let cells = who.iter().map(|who| {
            match moving.iter().find(|record| record.who == *who && row(record) == name) {
                Some(record) if record.workload == "arithmetic" => {
                    format!("{:.1} Gop/s", record.operations / record.time.median_s / 1e9)
                }
                Some(Record { gb_s: Some(gb_s), fraction: Some(fraction), .. }) => {
                    format!("{gb_s:.1} ({fraction:.2})")
                }
                Some(Record { gb_s: Some(gb_s), .. }) => format!("{gb_s:.1}"),
                _ => "-".to_owned(),
            }
        });
        let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text.push('\n');
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
    let who = distinct(timed.iter().map(|record| record.who.as_str()));
    if who.is_empty() {
        return;
    }
    let _ = writeln!(text, "| time, median (p10 to p90) | {} |", who.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(who.len()));
    for name in distinct(timed.iter().map(|record| record.workload.as_str())) {
        let cells = who.iter().map(|who| {
            match timed.iter().find(|record| record.who == *who && record.workload == name) {
                Some(Record { time, .. }) => format!(
                    "{} ({} to {})",
                    duration(time.median_s),
                    duration(time.p10_s),
                    duration(time.p90_s)
                ),
                None => "-".to_owned(),
            }
        });
        let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

/// Seconds with three digits and a fitting unit.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "us"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// The lines of all runs on one machine with arrays of one size.
struct Section {
    machine: Machine,
    lines: Vec<Line>,
}

/// Reads the runs and writes the page.
pub fn write(files: &[PathBuf], page: &Path) -> Result<()> {
    let mut sections: Vec<Section> = Vec::new();
    for file in files {
        merge(&mut sections, read(file)?).with_context(|| format!("read {}", file.display()))?;
    }
    let mut text = HEAD.to_owned();
    for section in &sections {
        section.write(&mut text)?;
    }
    text += "</body></html>\n";
    fs::write(page, text).with_context(|| format!("write {}", page.display()))
}

/// Adds a run to the section of its machine. If two runs measured the same, the first counts.
fn merge(sections: &mut Vec<Section>, lines: Vec<Line>) -> Result<()> {
    let mut lines = lines.into_iter();
    let Some(Line::Machine(machine)) = lines.next() else {
        bail!("a saved run begins with its machine; write it with `run --save`");
    };
    let kind = |machine: &Machine| (machine.title(), machine.system.clone(), machine.extents, machine.parts);
    let at = sections.iter().position(|section| kind(&section.machine) == kind(&machine));
    let at = at.unwrap_or_else(|| {
        sections.push(Section { machine: machine.clone(), lines: Vec::new() });
        sections.len() - 1
    });
    let section = &mut sections[at];
    section.machine.peers.extend(machine.peers);
    let what = |record: &Record| (row(record), record.who.clone());
    for line in lines {
        let known = section.lines.iter().filter_map(Line::record);
        if !line.record().is_some_and(|new| known.into_iter().any(|known| what(known) == what(new))) {
            section.lines.push(line);
        }
    }
    Ok(())
}

impl Section {
    fn write(&self, text: &mut String) -> Result<()> {
        let Machine { date, version, system, threads, load, extents: (n, plane, cube), parts, .. } =
            &self.machine;
        let peers = self.machine.peers.iter();
        let peers = peers.filter_map(|(name, version)| Some(format!("{name} {}", version.as_ref()?)));
        writeln!(text, "<h2>{}</h2>", escaped(&self.machine.title()))?;
        let facts = format!(
            "{date}, partita-bench {version}; {system}; {threads} host threads; load {:.1} to {:.1}; \
             {n}, {plane}^2 and {cube}^3 elements, {parts} part(s); peers: {}",
            load.0,
            load.1,
            peers.collect::<Vec<_>>().join(", ")
        );
        writeln!(text, "<p>{}</p>", escaped(&facts))?;
        for gpu in &self.machine.gpus {
            writeln!(text, "<p>{}</p>", escaped(gpu))?;
        }
        if self.machine.is_busy() {
            writeln!(text, "<p class=failed>Other programs ran: these are not the machine's figures.</p>")?;
        }
        let records: Vec<&Record> = self.lines.iter().filter_map(Line::record).collect();
        for family in distinct(records.iter().map(|record| record.group.as_str())) {
            figures(family, records.iter().copied().filter(|record| record.group == family), text)?;
        }
        for sentence in skipped(&self.lines) {
            writeln!(text, "<p>Skipped: {}</p>", escaped(&sentence))?;
        }
        for line in &self.lines {
            if let Line::Failed(missing) = line {
                writeln!(text, "<p class=failed>Failed: {}</p>", escaped(&missing.sentence()))?;
            }
        }
        Ok(())
    }
}

/// The longest bar, in copies, and a copy's length in pixels.
const LONGEST: f64 = 1.4;
const COPY: f64 = 240.0;

/// A table of a family, with bars for its fractions of the copy.
fn figures<'a>(family: &str, records: impl Iterator<Item = &'a Record>, text: &mut String) -> Result<()> {
    let digits = |value: Option<f64>, digits: usize| value.map_or(String::new(), |v| format!("{v:.digits$}"));
    writeln!(text, "<h3>{}</h3><table><tr>", escaped(family))?;
    for title in ["workload", "who", "median", "10 %", "90 %", "GB/s", "error", "fraction of the copy"] {
        write!(text, "<th>{title}</th>")?;
    }
    for record in records {
        let Record { who, time, error, fraction, .. } = record;
        let cells = [
            escaped(&row(record)),
            escaped(who),
            duration(time.median_s),
            duration(time.p10_s),
            duration(time.p90_s),
            digits(record.gb_s, 1),
            error.map_or(String::new(), |error| format!("{error:.0e}")),
        ];
        let class = if record.is_peer { " class=peer" } else { "" };
        write!(text, "</tr>\n<tr{class}>")?;
        cells.iter().try_for_each(|cell| write!(text, "<td>{cell}</td>"))?;
        if let Some(fraction) = fraction {
            let width = fraction.min(LONGEST) * COPY;
            write!(text, "<td><div style='width: {width:.0}px'></div>{fraction:.2}</td>")?;
        }
    }
    writeln!(text, "</tr></table>")?;
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const HEAD: &str =
    "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Partita, measured</title><style>
body { margin: 2rem auto; max-width: 900px; font: 15px/1.5 system-ui, sans-serif; color: #262b33; }
table { border-collapse: collapse; font-size: .82rem; font-variant-numeric: tabular-nums; }
td, th { padding: .1rem .5rem; text-align: left; } td:nth-child(n+3):not(:last-child) { text-align: right; }
td div { display: inline-block; height: .7em; margin-right: .4em; background: #245ca0; }
.peer div { background: #e27728; }
tr.peer { color: #78808c; } .failed { color: #c0394a; font-weight: 600; }
</style></head><body><h1>Partita, measured</h1>
<p>T_eff is the bytes that must pass through memory, each array read once and written once, over the median
time. Fractions are of a copy measured between the samples. Every result was compared with f64 arithmetic.</p>
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::{Missing, to_text};

    fn run(processor: &str, workload: &str) -> String {
        let machine = Machine { processor: processor.to_owned(), ..Machine::example() };
        let record = |who: &str, is_peer| {
            let record = Record::of_time("E1", workload, who, vec![0.9, 1.0, 1.2]).moving(16e9, Some(32.0));
            Line::Record(Record { is_peer, ..record })
        };
        let missing = Missing {
            workload: "triad".to_owned(),
            who: "wgpu".to_owned(),
            dtype: "f64".to_owned(),
            reason: "no <f64> here".to_owned(),
        };
        let flush = Line::Record(Record::of_time("L1", "flush", "host", vec![1.5e-7]));
        let lines = [
            Line::Machine(machine),
            record("host", false),
            record("numba", true),
            flush,
            Line::Skipped(missing.clone()),
            Line::Failed(missing),
        ];
        to_text(&lines).expect("write")
    }

    #[test]
    fn a_page_has_every_machine_family_and_figure() {
        let folder = std::env::temp_dir().join(format!("partita-report-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("folder");
        let runs =
            [("One & Only", "triad"), ("One & Only", "copy"), ("One & Only", "copy"), ("Other", "copy")];
        let files: Vec<PathBuf> = runs
            .iter()
            .enumerate()
            .map(|(k, (processor, workload))| {
                let file = folder.join(format!("{k}.jsonl"));
                fs::write(&file, run(processor, workload)).expect("write");
                file
            })
            .collect();
        let page = folder.join("page.html");
        write(&files, &page).expect("report");
        let text = fs::read_to_string(&page).expect("page");
        fs::remove_dir_all(&folder).expect("written");
        for needed in
            ["One &amp; Only", "Other", "no &lt;f64&gt; here", "Failed: triad f64 on wgpu", "150 ns"]
        {
            assert!(text.contains(needed), "{needed}: {text}");
        }
        assert_eq!(text.matches("<h2>").count(), 2, "runs on one machine share a section");
        assert_eq!(text.matches("<table").count(), 4, "a table per family");
        assert_eq!(text.matches("<div").count(), 6, "each fraction once: {text}");
        assert_eq!(text.matches("class=peer").count(), 3);
        assert!(!text.contains("Other programs"), "a load of 0.25 on 4 cores is quiet");
    }

    #[test]
    fn a_file_that_is_no_run_is_an_error() {
        assert!(write(&[PathBuf::from("/nowhere/run.jsonl")], Path::new("/nowhere/page.html")).is_err());
        assert!(merge(&mut Vec::new(), Vec::new()).is_err());
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
