//! `report`: saved runs as one HTML page that needs no other file: for each machine its facts, a bar chart
//! per family of the fractions of the copy, and a table of all figures.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::results::machine::Machine;
use crate::results::record::{Line, Record, read, skipped};
use crate::results::table::{distinct, duration, row};

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
            let of_family: Vec<&Record> = records
                .iter()
                .filter(|record| record.group == family && record.fraction.is_some())
                .copied()
                .collect();
            if !of_family.is_empty() {
                chart(family, &of_family, text)?;
            }
        }
        figures(&records, text)?;
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

const COLORS: &[&str] =
    &["#245ca0", "#e27728", "#3c9d5b", "#9a57b5", "#c0394a", "#7f8894", "#b59a2e", "#2aa5a0"];
/// In pixels: the names of the rows, a copy's length, a bar, the room below a row and above the first.
const NAMES: f64 = 170.0;
const COPY: f64 = 480.0;
const BAR: f64 = 13.0;
const GAP: f64 = 7.0;
const TOP: f64 = 26.0;
/// The longest bar, in copies.
const LONGEST: f64 = 1.4;

/// A bar for each figure of a family: its fraction of the copy in the same run.
fn chart(family: &str, records: &[&Record], text: &mut String) -> Result<()> {
    let who = distinct(records.iter().map(|record| record.who.as_str()));
    let (mut bars, mut y) = (String::new(), TOP);
    for name in distinct(records.iter().map(|record| row(record))) {
        writeln!(bars, "<text x={} y={} text-anchor=end>{}</text>", NAMES - 8.0, y + 11.0, escaped(&name))?;
        for record in records.iter().filter(|record| row(record) == name) {
            let place = who.iter().position(|who| *who == record.who).unwrap_or(0);
            let fraction = record.fraction.unwrap_or(0.0);
            let width = fraction.min(LONGEST) * COPY;
            let color = COLORS[place % COLORS.len()];
            writeln!(
                bars,
                "<rect x={NAMES} y={y:.0} width={width:.1} height={:.0} fill='{color}'/>",
                BAR - 1.0
            )?;
            writeln!(bars, "<text x={:.1} y={:.0}>{fraction:.2}</text>", NAMES + width + 4.0, y + 11.0)?;
            y += BAR;
        }
        y += GAP;
    }
    let copy = NAMES + COPY;
    let width = NAMES + LONGEST * COPY + 40.0;
    writeln!(text, "<h3>{}: fraction of the copy</h3>", escaped(family))?;
    write!(text, "<p>")?;
    for (place, who) in who.iter().enumerate() {
        write!(
            text,
            "<span style='color:{}'>&#9632;</span> {} ",
            COLORS[place % COLORS.len()],
            escaped(who)
        )?;
    }
    writeln!(text, "</p>\n<svg viewBox='0 0 {width} {y}' width={width} height={y}>")?;
    writeln!(text, "<path d='M{copy} 8V{y}' stroke='#999' stroke-dasharray='3'/>{bars}</svg>")?;
    Ok(())
}

fn figures(records: &[&Record], text: &mut String) -> Result<()> {
    let digits = |value: Option<f64>, digits: usize| value.map_or(String::new(), |v| format!("{v:.digits$}"));
    writeln!(text, "<details open><summary>All figures</summary><table><tr>")?;
    for title in ["family", "workload", "who", "median", "10 %", "90 %", "GB/s", "fraction", "error"] {
        write!(text, "<th>{title}</th>")?;
    }
    for record in records {
        let Record { group, who, time, error, .. } = record;
        let cells = [
            escaped(group),
            escaped(&row(record)),
            escaped(who),
            duration(time.median_s),
            duration(time.p10_s),
            duration(time.p90_s),
            digits(record.gb_s, 1),
            digits(record.fraction, 2),
            error.map_or(String::new(), |error| format!("{error:.0e}")),
        ];
        let class = if record.is_peer { " class=peer" } else { "" };
        write!(text, "</tr>\n<tr{class}>")?;
        cells.iter().try_for_each(|cell| write!(text, "<td>{cell}</td>"))?;
    }
    writeln!(text, "</tr></table></details>")?;
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const HEAD: &str =
    "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Partita, measured</title><style>
body { margin: 2rem auto; max-width: 900px; font: 15px/1.5 system-ui, sans-serif; color: #262b33; }
svg { max-width: 100%; height: auto; } svg text { font-size: 11px; fill: #262b33; }
table { border-collapse: collapse; font-size: .82rem; font-variant-numeric: tabular-nums; }
td, th { padding: .1rem .5rem; text-align: left; } td:nth-child(n+4), th:nth-child(n+4) { text-align: right; }
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
        assert_eq!(text.matches("<svg").count(), 2, "a chart per family that moves bytes");
        assert_eq!(text.matches("<rect").count(), 6, "each figure once: {text}");
        assert_eq!(text.matches("class=peer").count(), 3);
        assert!(!text.contains("Other programs"), "a load of 0.25 on 4 cores is quiet");
    }

    #[test]
    fn a_file_that_is_no_run_is_an_error() {
        assert!(write(&[PathBuf::from("/nowhere/run.jsonl")], Path::new("/nowhere/page.html")).is_err());
        assert!(merge(&mut Vec::new(), Vec::new()).is_err());
    }
}
