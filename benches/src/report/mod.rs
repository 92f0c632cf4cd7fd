//! `report`: saved runs as one HTML page that needs nothing else, and its plots as SVG and PNG files.

mod figures;
mod parts;
mod plots;
mod png;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::machine::Machine;
use crate::model::Rates;
use crate::record::{Line, Record, read, skipped};
use crate::table::{distinct, duration};

use figures::About;
pub use figures::{Saved, assumed_links, scaling};
pub use plots::Figure;

/// Reads the runs, writes the page and, beside it, the plots. Says what was written.
pub fn write(files: &[PathBuf], page: &Path) -> Result<Vec<PathBuf>> {
    let mut saved: Vec<Saved> = Vec::new();
    for file in files {
        merge(&mut saved, read(file)?).with_context(|| format!("read {}", file.display()))?;
    }
    let sections = saved.iter().map(|saved| Ok((saved, figures_of(saved)?))).collect::<Result<Vec<_>>>()?;
    let model = scaling(&crate::model::H200, &assumed_links(), 256.0, 2048.0)?;
    let folder = page.with_extension("plots");
    fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
    fs::write(page, html_page(&sections, &model).into_string())
        .with_context(|| format!("write {}", page.display()))?;
    let mut written = vec![page.to_owned()];
    for (k, (_, figures)) in sections.iter().enumerate() {
        let prefix = if sections.len() > 1 { format!("{}-", k + 1) } else { String::new() };
        for figure in figures {
            written.extend(write_figure(figure, &folder.join(format!("{prefix}{}", figure.file)))?);
        }
    }
    for figure in &model {
        written.extend(write_figure(figure, &folder.join(&figure.file))?);
    }
    Ok(written)
}

/// Writes the SVG and the PNG of one picture.
pub fn write_figure(figure: &Figure, stem: &Path) -> Result<[PathBuf; 2]> {
    let named = |extension: &str| PathBuf::from(format!("{}.{extension}", stem.display()));
    let (svg, png) = (named("svg"), named("png"));
    fs::write(&svg, &figure.svg).with_context(|| format!("write {}", svg.display()))?;
    png::write(&figure.svg, &png)?;
    Ok([svg, png])
}

/// Adds a run. A further one of the same machine with arrays of the same sizes joins the first, such as a
/// sweep or another device; of what both measured, the first counts.
fn merge(saved: &mut Vec<Saved>, lines: Vec<Line>) -> Result<()> {
    let Some(Line::Machine(machine)) = lines.first().cloned() else {
        bail!("a saved run begins with its machine; write it with `run --save`");
    };
    let kind = |machine: &Machine| (machine.title(), machine.system.clone(), machine.extents, machine.parts);
    let Some(known) = saved.iter_mut().find(|saved| kind(&saved.machine) == kind(&machine)) else {
        saved.push(Saved { machine, lines });
        return Ok(());
    };
    for seen in machine.devices {
        if !known.machine.devices.contains(&seen) {
            known.machine.devices.push(seen);
        }
    }
    known.machine.peers.extend(machine.peers);
    for line in lines.into_iter().skip(1) {
        if !known.lines.iter().any(|other| is_about_the_same(other, &line)) {
            known.lines.push(line);
        }
    }
    Ok(())
}

fn is_about_the_same(a: &Line, b: &Line) -> bool {
    match (a.record(), b.record()) {
        (Some(a), Some(b)) => {
            let what = |record: &Record| (record.group.clone(), record.workload.clone(), record.points);
            a.who == b.who && a.dtype == b.dtype && what(a) == what(b)
        }
        _ => a == b,
    }
}

fn figures_of(saved: &Saved) -> Result<Vec<Figure>> {
    let mut found = Vec::new();
    let devices = saved.devices();
    for (k, device) in devices.iter().enumerate() {
        found.extend(figures::fractions(saved, device, About::Workloads, k == 0)?);
    }
    for device in &devices {
        found.extend(figures::roofline(saved, device)?);
    }
    for device in &devices {
        found.extend(figures::fractions(saved, device, About::Halos, false)?);
    }
    for device in &devices {
        found.extend(parts::by_parts(saved, device)?);
    }
    found.extend(parts::hidden(saved)?);
    for device in &devices {
        found.extend(figures::sweep(saved, device)?);
    }
    found.extend(figures::overheads(saved)?);
    Ok(found)
}

fn html_page(sections: &[(&Saved, Vec<Figure>)], model: &[Figure]) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Partita, measured" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "Partita, measured" }
                    p {
                        "Effective bandwidth is the bytes that must pass through memory, each array read "
                        "once and written once, over the median time. Fractions are of a copy measured "
                        "between the samples. Every result was compared with f64 arithmetic."
                    }
                }
                @for (saved, figures) in sections { (section(saved, figures)) }
                section {
                    h2 { "Scaling, on paper" }
                    p {
                        "Predicted from the published rates of an H200 and assumed links; "
                        "not measured; `model --check` compares the model with runs on one device."
                    }
                    @for figure in model { (picture(figure)) }
                }
            }
        }
    }
}

fn section(saved: &Saved, figures: &[Figure]) -> Markup {
    html! {
        section {
            h2 { (saved.machine.title()) }
            (facts(&saved.machine))
            @if saved.machine.is_busy() {
                p.failed { "Other programs ran when this run began: these are not the machine's figures." }
            }
            @for figure in figures { (picture(figure)) }
            details {
                summary { "All figures" }
                (table(saved))
            }
            details {
                summary { "What the names mean" }
                (names(saved))
            }
            @for sentence in skipped(&saved.lines) { p.note { "Skipped: " (sentence) } }
            @for line in &saved.lines {
                @if let Line::Failed(missing) = line { p.failed { "Failed: " (missing.sentence()) } }
            }
        }
    }
}

fn picture(figure: &Figure) -> Markup {
    html! { figure role="img" aria-label=(figure.caption) { (PreEscaped(&figure.svg)) } }
}

fn facts(machine: &Machine) -> Markup {
    let (n, plane, cube) = machine.extents;
    let clock = machine.clock_mhz.map_or(String::new(), |mhz| format!(" at {mhz:.0} MHz"));
    let rotation = match machine.rotated_bytes {
        0.0 => "one set of arrays".to_owned(),
        bytes => format!("sets of arrays in turn, {:.0} MB before one comes again", bytes / 1e6),
    };
    let found =
        machine.peers.iter().filter_map(|(name, version)| Some(format!("{name} {}", version.as_ref()?)));
    let missing =
        machine.peers.iter().filter(|(_, version)| version.is_none()).map(|(name, _)| name.as_str());
    let (found, missing) = (found.collect::<Vec<_>>().join(", "), missing.collect::<Vec<_>>().join(", "));
    html! {
        dl {
            dt { "When" } dd { (machine.date) ", partita-bench " (machine.version) }
            dt { "System" } dd { (machine.system) ", " (machine.threads) " host threads" (clock) }
            dt { "Load" } dd { (format!("{:.1}", machine.load.0)) " to " (format!("{:.1}", machine.load.1))
                " runnable processes on " (machine.cores) " cores" }
            dt { "Devices" } dd { @for seen in &machine.devices {
                div { (seen.name) @if seen.is_software { " (a program on the processor)" } }
            } }
            @for gpu in &machine.gpus { dt { "GPU" } dd { (gpu) } }
            dt { "Sizes" } dd {
                (n) ", " (plane) "² and " (cube) "³ elements, " (machine.parts) " part(s); " (rotation)
            }
            @if !found.is_empty() { dt { "Peers" } dd { (found) } }
            @if !missing.is_empty() { dt { "Not here" } dd { (missing) } }
        }
    }
}

fn table(saved: &Saved) -> Markup {
    let groups = distinct(saved.records().map(|record| record.group.as_str()));
    html! {
        table {
            thead { tr {
                th { "" } th { "workload" } th { "who" } th { "median" } th { "10 %" } th { "90 %" }
                th { "GB/s" } th { "fraction" } th { "error" }
            } }
            @for group in groups {
                tbody {
                    @for record in saved.records().filter(|record| record.group == group) {
                        (table_row(record))
                    }
                }
            }
        }
    }
}

/// What was measured, in words.
fn names(saved: &Saved) -> Markup {
    let measured = distinct(saved.records().map(|record| record.workload.as_str()));
    let is_measured = |(_, name, _): &(&str, &str, &str)| measured.contains(name);
    html! {
        table {
            @for (group, name, text) in crate::everything().into_iter().filter(is_measured) {
                tr { td { (group) } td { (name) } td { (text) } }
            }
        }
    }
}

fn table_row(record: &Record) -> Markup {
    let digits = |value: Option<f64>, digits: usize| value.map_or(String::new(), |v| format!("{v:.digits$}"));
    html! {
        tr.peer[record.is_peer] {
            td { (record.group) }
            td { (record.workload) " " (record.dtype) }
            td { (record.who) }
            @for seconds in [record.time.median_s, record.time.p10_s, record.time.p90_s] {
                td { (duration(seconds)) }
            }
            td { (digits(record.gb_s, 1)) }
            td { (digits(record.fraction, 2)) }
            td { (record.error.map_or(String::new(), |error| format!("{error:.0e}"))) }
        }
    }
}

const STYLE: &str = "
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 900px; padding: 2rem 1rem 4rem; background: #f6f7f9; color: #262b33;
  font: 16px/1.5 system-ui, 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; margin: 0 0 .8rem; }
header p { color: #5a6270; margin: 0; }
section { background: #fff; border: 1px solid #e1e4ea; border-radius: 10px; padding: 1.4rem 1.2rem;
  margin-top: 1.6rem; }
figure { margin: 1.2rem 0 0; border-top: 1px solid #eef0f3; padding-top: .6rem; }
figure { overflow-x: auto; } figure svg { width: 100%; min-width: 660px; height: auto; display: block; }
details { overflow-x: auto; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .15rem .8rem; margin: 0; font-size: .92rem; }
dt { color: #78808c; } dd { margin: 0; }
details { margin-top: 1rem; } summary { cursor: pointer; color: #245ca0; }
table { border-collapse: collapse; width: 100%; font-size: .82rem; margin-top: .6rem;
  font-variant-numeric: tabular-nums; }
th { text-align: left; color: #78808c; font-weight: 600; }
td, th { padding: .12rem .4rem; }
td:nth-child(n+4), th:nth-child(n+4) { text-align: right; white-space: nowrap; }
tbody { border-top: 1px solid #e1e4ea; } tr.peer { color: #78808c; }
.note { color: #78808c; font-size: .9rem; }
.failed { color: #c0394a; font-weight: 600; }
";

/// Measured rates for the model: those of one device of a saved run.
pub fn measured_rates(file: &Path, device: &str) -> Result<Rates> {
    let lines = read(file)?;
    let find = |group: &str, workload: &str| {
        lines.iter().filter_map(Line::record).find(|record| {
            record.group == group && record.workload == workload && record.who.contains(device)
        })
    };
    let stencil = find("S2", "stencil7").context("the run has no stencil7 of this device")?;
    let launch = find("ceiling", "launch").context("the run has no launch ceiling of this device")?;
    Ok(Rates {
        copy_gb_s: stencil.copy_gb_s.context("the run has no copy beside stencil7")?,
        fraction: stencil.fraction.context("the run has no fraction of stencil7")?,
        launch_us: launch.time.median_s * 1e6,
        pack_us: launch.time.median_s * 1e6,
        row_us: 0.0,
        cache: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Missing, to_text};

    /// A run of one device and one peer.
    fn canned(processor: &str) -> String {
        let machine = Machine { processor: processor.to_owned(), ..Machine::example() };
        let host = machine.devices[0].name.clone();
        let record = |group: &str, name: &str, who: &str, operations| {
            let record = Record::of_time(group, name, who, vec![0.9, 1.0, 1.2]).moving(16e9, Some(32.0));
            Line::Record(Record { operations, is_peer: who != host, ..record })
        };
        let steps = |kind: &str, parts: usize, seconds| {
            let record = Record::of_time("H2", &format!("{kind}_{parts}"), &host, vec![seconds]);
            Line::Record(Record { parts, ..record })
        };
        let mut lines = vec![
            Line::Machine(machine.clone()),
            record("ceiling", "arithmetic", &host, 4e10),
            record("E1", "triad", &host, 4e9),
            record("E1", "triad", "numba", 4e9),
            record("S2", "stencil7", &host, 9e9),
            Line::Record(Record::of_time("ceiling", "launch", &host, vec![1e-6])),
            steps("step_alone", 1, 0.9),
            steps("step_alone", 8, 1.0),
            steps("step_in_turn", 8, 2.0),
            steps("step_overlapped", 8, 1.25),
            Line::Record(Record::of_time("L1", "record", &host, vec![1.5e-7])),
            Line::Skipped(Missing {
                workload: "triad".to_owned(),
                who: "wgpu".to_owned(),
                dtype: "f64".to_owned(),
                reason: "no <f64> here".to_owned(),
            }),
        ];
        for power in 3..9 {
            let points = 10f64.powi(power);
            let sweep = Record::of_time("sweep", "copy", &host, vec![1.0]).moving(8.0 * points, None);
            lines.push(Line::Record(Record { points, ..sweep }));
        }
        to_text(&lines).expect("write")
    }

    #[test]
    fn a_page_has_every_machine_plot_and_figure() {
        let folder = std::env::temp_dir().join(format!("partita-report-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("folder");
        let files = ["One & Only", "Other"].map(|name| {
            let file = folder.join(format!("{}.json", name.len()));
            fs::write(&file, canned(name)).expect("write");
            file
        });
        let page = folder.join("page.html");
        let written = write(&files, &page).expect("report");
        let text = fs::read_to_string(&page).expect("page");
        assert!(!text.contains("Other programs"), "a load of 0.25 on 4 cores is quiet");
        for part in [
            "One &amp; Only",
            "Other",
            "numba",
            "Roofline",
            "From tiny to large",
            "Hidden share",
            "8 parts",
            "in more parts of one device",
            "no &lt;f64&gt; here",
            "0.50",
            "<dt>Peers</dt><dd>numpy 2.4</dd><dt>Not here</dt><dd>cupy</dd>",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("src=") && !text.contains("href="), "the page needs nothing else");
        // Fraction, roofline, parts, hidden share, sweep, overheads of two machines; two of the model.
        assert_eq!(written.len(), 2 * (2 * 6 + 2) + 1);
        for file in &written {
            assert!(fs::metadata(file).expect("written").len() > 1000, "{}", file.display());
        }
        let rates = measured_rates(&files[0], "host").expect("rates");
        assert_eq!((rates.copy_gb_s, rates.fraction, rates.launch_us.round()), (32.0, 0.5, 1.0));
        assert!(measured_rates(&files[0], "cuda").is_err());
        fs::remove_dir_all(&folder).expect("clean");
    }

    #[test]
    fn runs_of_one_machine_and_size_are_joined() {
        let lines = |name: &str| crate::record::from_text(&canned(name)).expect("lines");
        let known = lines("One").len();
        let mut saved = Vec::new();
        merge(&mut saved, lines("One")).expect("merge");
        let mut second = lines("One");
        second.push(Line::Record(Record::of_time("L1", "flush", "another device", vec![1e-5])));
        merge(&mut saved, second).expect("merge");
        merge(&mut saved, lines("Two")).expect("merge");
        let mut smaller = lines("One");
        if let Line::Machine(machine) = &mut smaller[0] {
            machine.extents.0 = 7;
        }
        merge(&mut saved, smaller).expect("merge");
        assert_eq!(saved.iter().map(|s| s.lines.len()).collect::<Vec<_>>(), [known + 1, known, known]);
        assert!(merge(&mut saved, Vec::new()).is_err());
    }
}
