//! Pictures of a cube in more and more parts on one device: how long a step takes, and how much of an
//! exchange is hidden.

use std::collections::BTreeSet;

use anyhow::Result;

use super::figures::{Saved, file_name, plain_number};
use super::plots::{Curve, Curves, Figure, Rows, Series, Value, color};
use crate::line::{ALONE, IN_TURN, OVERLAPPED, hidden_share};
use crate::record::Quantiles;

/// The times of one kind of step on a device, by the number of parts.
fn steps(saved: &Saved, device: &str, kind: &str) -> Vec<(usize, Quantiles)> {
    let of_kind = |name: &str| name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('_'));
    let counts = saved.records().filter(|r| r.group == "H2" && r.who == device && of_kind(&r.workload));
    let mut found: Vec<(usize, Quantiles)> = counts.map(|record| (record.parts, record.time)).collect();
    found.sort_by_key(|(parts, _)| *parts);
    found
}

/// Milliseconds per step over the number of parts: alone, faces first, and inner cells meanwhile.
pub fn by_parts(saved: &Saved, device: &str) -> Result<Option<Figure>> {
    let alone = steps(saved, device, ALONE);
    let curve = |(k, (kind, name)): (usize, (&str, &str))| {
        let mut times = steps(saved, device, kind);
        // One part exchanges nothing.
        times.extend(alone.iter().filter(|(parts, _)| *parts == 1 && kind != ALONE));
        times.sort_by_key(|(parts, _)| *parts);
        Curve {
            name: name.to_owned(),
            color: color(k),
            is_dashed: false,
            points: times.iter().map(|(parts, time)| (*parts as f64, time.median_s * 1e3)).collect(),
            labels: Vec::new(),
        }
    };
    let kinds = [
        (ALONE, "no exchange"),
        (IN_TURN, "faces first, which travel for half a step"),
        (OVERLAPPED, "inner cells while faces travel"),
    ];
    let curves: Vec<Curve> = kinds.into_iter().enumerate().map(curve).collect();
    if curves.iter().any(|curve| curve.points.len() < 2) {
        return Ok(None);
    }
    let title = format!("A cube in more parts of one device: {device}");
    Curves {
        title: &title,
        x_axis: "parts",
        y_axis: "ms per step, 7 points",
        curves: &curves,
        is_log_y: false,
        base: 2.0,
        x_tick: plain_number,
        y_tick: plain_number,
    }
    .figure(format!("parts-{}", file_name(device)))
    .map(Some)
}

/// What of the faces' journey is hidden by inner cells, for every device that took such steps and every
/// number of parts.
pub fn hidden(saved: &Saved) -> Result<Option<Figure>> {
    let devices = saved.devices();
    let all = devices.iter().flat_map(|device| steps(saved, device, OVERLAPPED));
    let counts: BTreeSet<usize> = all.map(|(parts, _)| parts).collect();
    let of = |(k, device): (usize, &&str)| {
        let [alone, in_turn, over] = [ALONE, IN_TURN, OVERLAPPED].map(|kind| steps(saved, device, kind));
        let value = |(row, parts): (usize, &usize)| {
            let of = |times: &[(usize, Quantiles)]| {
                times.iter().find(|(count, _)| count == parts).map(|(_, time)| *time)
            };
            let (alone, in_turn, over) = (of(&alone)?, of(&in_turn)?, of(&over)?);
            let share = |s: f64| hidden_share(alone.median_s, in_turn.median_s, s).clamp(0.0, 1.2);
            Some(Value { row, median: share(over.median_s), low: share(over.p90_s), high: share(over.p10_s) })
        };
        let values: Vec<Value> = counts.iter().enumerate().filter_map(value).collect();
        Series { name: (*device).to_owned(), color: color(k), is_bar: true, values }
    };
    let measured = devices.iter().enumerate().map(of).filter(|series| !series.values.is_empty());
    let series: Vec<Series> = measured.collect();
    let rows: Vec<String> = counts.iter().map(|parts| format!("{parts} parts")).collect();
    if series.is_empty() {
        return Ok(None);
    }
    let title = match &series[..] {
        [only] => format!("Hidden share of an exchange that takes half as long as the step: {}", only.name),
        _ => "Hidden share of an exchange that takes half as long as the step".to_owned(),
    };
    Rows {
        title: &title,
        axis: "of the time on the link, what makes no step longer (lines: 10 % to 90 % of the samples)",
        rows: &rows,
        series: &series,
        mark: Some(1.0),
        is_log: false,
        tick: |v| format!("{v:.1}"),
    }
    .figure("hidden".to_owned())
    .map(Some)
}
