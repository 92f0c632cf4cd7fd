//! Which figures a run gives, and their pictures.

use anyhow::Result;

use super::plots::{Curve, Curves, Figure, Rows, Series, Value, color};
use crate::machine::Machine;
use crate::model::{LINKS, Link, Model, Rates, SEVEN_POINTS, Share, noise};
use crate::record::{Line, Record, quantile};
use crate::table::{distinct, duration};

/// One saved run.
pub struct Saved {
    pub machine: Machine,
    pub lines: Vec<Line>,
}

impl Saved {
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.lines.iter().filter_map(Line::record)
    }

    /// The devices that ran workloads, without peers and plain loops.
    pub fn devices(&self) -> Vec<&str> {
        let is_ours = |who: &&str| self.machine.devices.iter().any(|seen| seen.name == *who);
        distinct(self.records().map(|record| record.who.as_str()).filter(is_ours))
    }
}

fn value(row: usize, record: &Record) -> Option<Value> {
    let Record { time, bytes, copy_gb_s: Some(copy), fraction: Some(fraction), .. } = record else {
        return None;
    };
    let of = |seconds: f64| bytes / seconds / 1e9 / copy;
    Some(Value { row, median: *fraction, low: of(time.p90_s), high: of(time.p10_s) })
}

fn label(record: &Record, has_types: bool) -> String {
    if has_types { format!("{} {}", record.workload, record.dtype) } else { record.workload.clone() }
}

/// What the bars of a picture are about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum About {
    Workloads,
    Halos,
}

/// Bars for a device, dots for peers: each workload as a fraction of the copy measured beside it.
pub fn fractions(saved: &Saved, device: &str, about: About, has_peers: bool) -> Result<Option<Figure>> {
    let is_meant = |group: &str| match about {
        About::Workloads => !["sweep", "H1", "H2"].contains(&group),
        About::Halos => group == "H1",
    };
    let counts = |record: &&Record| record.fraction.is_some() && is_meant(&record.group);
    let records: Vec<&Record> = saved.records().filter(counts).collect();
    let has_types = distinct(records.iter().map(|record| &record.dtype)).len() > 1;
    let ours = || records.iter().filter(|record| record.who == device);
    let in_family = |record: &Record| format!("{} {}", record.group, label(record, has_types));
    let rows = distinct(ours().map(|record| in_family(record)));
    let peers = distinct(records.iter().filter(|record| record.is_peer).map(|record| record.who.as_str()));
    let of = |who: &str, name: String, is_bar, color| {
        let records = records.iter().filter(|record| record.who == who);
        let place = |record: &&&Record| {
            let row = rows.iter().position(|row| *row == in_family(record))?;
            value(row, record)
        };
        Series { name, color, is_bar, values: records.filter_map(|r| place(&r)).collect() }
    };
    if rows.is_empty() {
        return Ok(None);
    }
    let mut series = vec![of(device, format!("Partita: {device}"), true, color(0))];
    if has_peers {
        series.extend(
            peers.iter().enumerate().map(|(k, peer)| of(peer, (*peer).to_owned(), false, color(k + 1))),
        );
    }
    let (title, file) = match about {
        About::Workloads => (format!("Fraction of the copy: {device}"), "fraction"),
        About::Halos => (format!("Halo exchanges, which caches hold: {device}"), "halo"),
    };
    Rows {
        title: &title,
        axis: "effective bandwidth / that of the copy beside it (lines: 10 % to 90 % of the samples)",
        rows: &rows,
        series: &series,
        mark: Some(1.0),
        is_log: false,
        tick: |v| format!("{v:.1}"),
    }
    .figure(format!("{file}-{}", file_name(device)))
    .map(Some)
}

/// Operations per second over operations per byte, under what memory and arithmetic allow.
pub fn roofline(saved: &Saved, device: &str) -> Result<Option<Figure>> {
    let gop_s = |record: &Record| record.operations / record.time.median_s / 1e9;
    let ceiling = |name: &str| {
        let found = saved.records().filter(|r| r.group == "ceiling" && r.workload == name && r.who == device);
        found.map(|record| (record, gop_s(record))).next()
    };
    let counts = |r: &&Record| {
        r.who == device && r.operations > 0.0 && !["ceiling", "sweep"].contains(&r.group.as_str())
    };
    let records: Vec<&Record> = saved.records().filter(counts).filter(|r| r.gb_s.is_some()).collect();
    let mut copies: Vec<f64> = records.iter().filter_map(|record| record.copy_gb_s).collect();
    copies.sort_by(f64::total_cmp);
    let (Some((_, peak)), false) = (ceiling("arithmetic"), copies.is_empty()) else { return Ok(None) };
    let copy = quantile(&copies, 0.5);
    let has_types = distinct(records.iter().map(|record| &record.dtype)).len() > 1;
    let intensities = || records.iter().map(|record| record.operations / record.bytes);
    let first = intensities().fold(peak / copy, f64::min) / 1.5;
    let last = intensities().fold(peak / copy, f64::max) * 2.5;
    let roof = [first, peak / copy, last].map(|x: f64| (x, (copy * x).min(peak)));
    let curves = [
        Curve {
            name: format!("copy {copy:.1} GB/s, generated arithmetic {peak:.1} Gop/s"),
            color: color(7),
            is_dashed: false,
            points: roof.to_vec(),
            labels: Vec::new(),
        },
        Curve {
            name: device.to_owned(),
            color: color(0),
            is_dashed: false,
            points: records.iter().map(|r| (r.operations / r.bytes, gop_s(r))).collect(),
            labels: records.iter().map(|record| label(record, has_types)).collect(),
        },
    ];
    let title = format!("Roofline: {device}");
    Curves {
        title: &title,
        x_axis: "operations per byte (a square root or a function counts as one)",
        y_axis: "Gop/s",
        curves: &curves,
        is_log_y: true,
        base: 2.0,
        x_tick: plain_number,
        y_tick: plain_number,
    }
    .figure(format!("roofline-{}", file_name(device)))
    .map(Some)
}

/// Bandwidth over the size of the arrays.
pub fn sweep(saved: &Saved, device: &str) -> Result<Option<Figure>> {
    let records: Vec<&Record> =
        saved.records().filter(|record| record.group == "sweep" && record.who == device).collect();
    if records.is_empty() {
        return Ok(None);
    }
    let curve = |(k, name): (usize, &str)| Curve {
        name: name.to_owned(),
        color: color(k),
        is_dashed: false,
        points: records
            .iter()
            .filter(|record| record.workload == name)
            .filter_map(|record| Some((record.bytes, record.gb_s?)))
            .collect(),
        labels: Vec::new(),
    };
    let names = distinct(records.iter().map(|record| record.workload.as_str()));
    let curves: Vec<Curve> = names.into_iter().enumerate().map(curve).collect();
    let title = format!("From tiny to large: {device}");
    Curves {
        title: &title,
        x_axis: "bytes read and written in one run, the same memory every time",
        y_axis: "GB/s",
        curves: &curves,
        is_log_y: true,
        base: 10.0,
        x_tick: bytes,
        y_tick: plain_number,
    }
    .figure(format!("sweep-{}", file_name(device)))
    .map(Some)
}

/// What takes time and moves nothing, for all devices.
pub fn overheads(saved: &Saved) -> Result<Option<Figure>> {
    let records: Vec<&Record> = saved.records().filter(|record| record.gb_s.is_none()).collect();
    let rows = distinct(records.iter().map(|record| record.workload.clone()));
    if rows.is_empty() {
        return Ok(None);
    }
    let of = |(k, device): (usize, &str)| {
        let mine = records.iter().filter(|record| record.who == device);
        let place = |record: &&Record| {
            let row = rows.iter().position(|row| *row == record.workload)?;
            let time = record.time;
            Some(Value { row, median: time.median_s, low: time.p10_s, high: time.p90_s })
        };
        Series {
            name: device.to_owned(),
            color: color(k),
            is_bar: false,
            values: mine.filter_map(place).collect(),
        }
    };
    let devices = distinct(records.iter().map(|record| record.who.as_str()));
    let series: Vec<Series> = devices.into_iter().enumerate().map(of).collect();
    let title = "What the engine itself costs";
    Rows {
        title,
        axis: "time (lines: 10 % to 90 % of the samples)",
        rows: &rows,
        series: &series,
        mark: None,
        is_log: true,
        tick: duration_tick,
    }
    .figure("overheads".to_owned())
    .map(Some)
}

/// Each link with the best depth and (dashed) with an exchange in every step, up to 4096 devices.
pub fn scaling(rates: &Rates, links: &[Link], weak: f64, strong: f64) -> Result<Vec<Figure>> {
    let counts = || (0..=12).map(|log2| 1usize << log2);
    let curves = |efficiency: &dyn Fn(&Model, usize, bool) -> f64| -> Vec<Curve> {
        let both = |(k, link): (usize, &Link)| {
            let model = Model { rates: *rates, link: link.clone(), stencil: SEVEN_POINTS, turns: 1 };
            [false, true].map(|is_deep| Curve {
                name: if is_deep { link.name.clone() } else { String::new() },
                color: color(k),
                is_dashed: !is_deep,
                points: counts().map(|n| (n as f64, efficiency(&model, n, is_deep))).collect(),
                labels: Vec::new(),
            })
        };
        links.iter().enumerate().flat_map(both).collect()
    };
    let step = |model: &Model, share: &Share, is_deep| {
        if is_deep { model.best_us(share).1 } else { model.overlapped_us(share, 1) }
    };
    let weakly = |model: &Model, n: usize, is_deep| {
        let step = step(model, &Share::of(n, [weak; 3]), is_deep) * noise(n, SIGMA);
        model.weak_efficiency(weak, step)
    };
    let strongly = |model: &Model, n: usize, is_deep| {
        let step = step(model, &Model::strong_share(n, strong), is_deep) * noise(n, SIGMA);
        model.strong_efficiency(n, strong, step)
    };
    let draw = |title: String, file: &str, curves: Vec<Curve>| -> Result<Figure> {
        Curves {
            title: &title,
            x_axis: "devices",
            y_axis: "efficiency, best halo depth (dashed: an exchange every step)",
            curves: &curves,
            is_log_y: false,
            base: 2.0,
            x_tick: plain_number,
            y_tick: |v| format!("{v:.1}"),
        }
        .figure(file.to_owned())
    };
    Ok(vec![
        draw(
            format!("Predicted weak scaling, 7 points, {weak}³ f32 per device"),
            "model-weak",
            curves(&weakly),
        )?,
        draw(
            format!("Predicted strong scaling, 7 points, {strong}³ f32"),
            "model-strong",
            curves(&strongly),
        )?,
    ])
}

/// Of a step, from published curves of up to a thousand GPUs.
const SIGMA: f64 = 0.0035;

/// The links that are assumed until one is measured.
pub fn assumed_links() -> Vec<Link> {
    let link = |(name, latency_us, gb_s): (&str, f64, f64)| Link { name: name.to_owned(), latency_us, gb_s };
    LINKS.map(link).to_vec()
}

pub fn plain_number(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}") } else { format!("{}", (value * 1e4).round() / 1e4) }
}

fn bytes(value: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let power = ((value.max(1.0).log10() / 3.0) as usize).min(units.len() - 1);
    format!("{:.0} {}", value / 1000f64.powi(power as i32), units[power])
}

fn duration_tick(seconds: f64) -> String {
    duration(seconds).replace(".00", "").replace(".0", "")
}

pub fn file_name(device: &str) -> String {
    let word: String = device.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let words: Vec<&str> = word.split('-').filter(|part| !part.is_empty()).take(3).collect();
    words.join("-").to_lowercase()
}
