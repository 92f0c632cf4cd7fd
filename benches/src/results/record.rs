//! Records, one JSON object per line: first the machine, then a record for each figure.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::results::machine::{Machine, SCHEMA};

/// One line of a saved run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    Machine(Machine),
    Record(Record),
    /// The device lacks something.
    Skipped(Missing),
    /// A wrong result, or a device that failed: never a figure.
    Failed(Missing),
}

/// One contender's figures for one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The family: `ceiling`, `E1`, ...
    pub group: String,
    pub workload: String,
    /// A device, or the name of a peer.
    pub who: String,
    pub is_peer: bool,
    pub dtype: String,
    /// Cells of one input; 0 where that means nothing.
    pub points: f64,
    /// Bytes that must pass through memory; 0 where time alone counts.
    pub bytes: f64,
    pub operations: f64,
    pub time: Quantiles,
    /// `bytes` in the median time.
    pub gb_s: Option<f64>,
    /// The copy that was measured between the samples.
    pub copy_gb_s: Option<f64>,
    /// Of that copy.
    pub fraction: Option<f64>,
    /// The largest error of the elements that were compared.
    pub error: Option<f64>,
}

/// A workload without a figure, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    pub workload: String,
    pub who: String,
    pub dtype: String,
    pub reason: String,
}

/// Seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    pub median_s: f64,
    pub p10_s: f64,
    pub p90_s: f64,
    pub samples: usize,
}

impl Quantiles {
    /// Of at least one time.
    pub fn of(mut seconds: Vec<f64>) -> Quantiles {
        seconds.sort_by(f64::total_cmp);
        let at = |q| quantile(&seconds, q);
        Quantiles { median_s: at(0.5), p10_s: at(0.1), p90_s: at(0.9), samples: seconds.len() }
    }
}

/// Linear between the two nearest of sorted values, as NumPy does by default.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * q;
    let (below, rest) = (place.floor() as usize, place.fract());
    let above = sorted[(below + 1).min(sorted.len() - 1)];
    sorted[below] + rest * (above - sorted[below])
}

impl Record {
    /// A record of times alone.
    pub fn of_time(group: &str, workload: &str, who: &str, seconds: Vec<f64>) -> Record {
        Record {
            group: group.to_owned(),
            workload: workload.to_owned(),
            who: who.to_owned(),
            is_peer: false,
            dtype: "f32".to_owned(),
            points: 0.0,
            bytes: 0.0,
            operations: 0.0,
            time: Quantiles::of(seconds),
            gb_s: None,
            copy_gb_s: None,
            fraction: None,
            error: None,
        }
    }

    /// The same with the bytes that passed, and the copy measured beside it.
    pub fn moving(mut self, bytes: f64, copy_gb_s: Option<f64>) -> Record {
        let gb_s = bytes / self.time.median_s / 1e9;
        self.bytes = bytes;
        self.gb_s = Some(gb_s);
        self.copy_gb_s = copy_gb_s;
        self.fraction = copy_gb_s.map(|copy| gb_s / copy);
        self
    }
}

impl Line {
    pub fn record(&self) -> Option<&Record> {
        match self {
            Line::Record(record) => Some(record),
            Line::Machine(_) | Line::Skipped(_) | Line::Failed(_) => None,
        }
    }
}

impl Missing {
    pub fn new(workload: &str, who: &str, dtype: &str, reason: &str) -> Missing {
        let [workload, who, dtype, reason] = [workload, who, dtype, reason].map(str::to_owned);
        Missing { workload, who, dtype, reason }
    }

    pub fn sentence(&self) -> String {
        format!("{} {} on {} ({})", self.workload, self.dtype, self.who, self.reason)
    }
}

/// The skipped workloads: one sentence for all that one peer or device lacks in one type for one reason.
pub fn skipped(lines: &[Line]) -> Vec<String> {
    let mut groups: Vec<Missing> = Vec::new();
    for line in lines {
        let Line::Skipped(missing) = line else { continue };
        let is_same = |other: &&mut Missing| {
            (&other.who, &other.dtype, &other.reason) == (&missing.who, &missing.dtype, &missing.reason)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.workload = format!("{}, {}", group.workload, missing.workload),
            None => groups.push(missing.clone()),
        }
    }
    let sentence = |m: &Missing| format!("{} {}: {} ({})", m.who, m.dtype, m.workload, m.reason);
    groups.iter().map(sentence).collect()
}

/// The lines as text, one JSON object each.
pub fn to_text(lines: &[Line]) -> Result<String> {
    let texts = lines.iter().map(serde_json::to_string).collect::<serde_json::Result<Vec<_>>>()?;
    Ok(texts.iter().map(|text| format!("{text}\n")).collect())
}

/// Of a saved run, at most. A full one has less than a thousandth.
const MOST_BYTES: u64 = 1 << 28;

/// Reads a saved run.
pub fn read(file: &Path) -> Result<Vec<Line>> {
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    read.with_context(|| format!("read {}, which `partita-bench run --save FILE` writes", file.display()))?;
    ensure!(text.len() as u64 <= MOST_BYTES, "{} is longer than any saved run", file.display());
    from_text(&text).with_context(|| format!("parse {}", file.display()))
}

pub fn from_text(text: &str) -> Result<Vec<Line>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let read =
        |line| serde_json::from_str(line).with_context(|| format!("not a line of a saved run: {line}"));
    let lines = lines.map(read).collect::<Result<Vec<Line>>>()?;
    for line in &lines {
        let Line::Machine(Machine { schema, version, .. }) = line else { continue };
        ensure!(
            *schema == SCHEMA,
            "expected lines of schema {SCHEMA}, given schema {schema}; use partita-bench {version} for it"
        );
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_run_without_an_end_is_an_error() {
        let why = read(Path::new("/dev/zero")).expect_err("no run").to_string();
        assert!(why.contains("/dev/zero is longer than any saved run"), "{why}");
    }

    #[test]
    fn quantiles_are_numpys() {
        let times = Quantiles::of((1..=11).rev().map(f64::from).collect());
        assert_eq!((times.p10_s, times.median_s, times.p90_s, times.samples), (2.0, 6.0, 10.0, 11));
        // numpy.quantile([1, 2, 4, 8], [.1, .5, .9])
        let sorted = [1.0, 2.0, 4.0, 8.0];
        let numpy = [1.3, 3.0, 6.8];
        for (q, expected) in [0.1, 0.5, 0.9].into_iter().zip(numpy) {
            assert!((quantile(&sorted, q) - expected).abs() < 1e-12);
        }
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
    }

    #[test]
    fn what_is_skipped_for_one_reason_is_one_sentence() {
        let missing =
            |workload, dtype, reason| Line::Skipped(Missing::new(workload, "numexpr", dtype, reason));
        let lines = [missing("max", "f32", "no"), missing("copy", "f16", "no"), missing("norm", "f32", "no")];
        assert_eq!(skipped(&lines), ["numexpr f32: max, norm (no)", "numexpr f16: copy (no)"]);
    }

    #[test]
    fn lines_come_back_as_they_were() {
        let record =
            Record::of_time("E1", "triad", "host", vec![0.1, 1.0 / 3.0, 0.25]).moving(3e9, Some(24.0));
        assert_eq!(record.gb_s, Some(12.0));
        assert_eq!(record.fraction, Some(0.5));
        let skipped = Missing::new("triad", "wgpu", "f64", "no \"f64\"\nhere");
        let lines = vec![
            Line::Machine(Machine::example()),
            Line::Record(record),
            Line::Skipped(skipped.clone()),
            Line::Failed(skipped),
        ];
        let text = to_text(&lines).expect("write");
        assert_eq!(text.lines().count(), 4);
        assert_eq!(from_text(&text).expect("read"), lines);
        assert!(from_text("{\"kind\":\"record\"}").is_err());
        let other = text.replacen("\"schema\":1", "\"schema\":7", 1);
        let error = format!("{:#}", from_text(&other).expect_err("another schema"));
        assert!(error.contains("expected lines of schema 1, given schema 7"), "{error}");
    }

    /// The names of all fields, of fields of fields too, are in the table of docs/benchmarks.md.
    #[test]
    fn every_field_is_documented() {
        fn names(value: &serde_json::Value, found: &mut Vec<String>) {
            let Some(fields) = value.as_object() else { return };
            for (name, inner) in fields {
                found.push(name.clone());
                // The names in `peers` are those of libraries.
                if name != "peers" {
                    names(inner, found);
                    inner.as_array().into_iter().flatten().for_each(|element| names(element, found));
                }
            }
        }
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/benchmarks.md");
        let document = std::fs::read_to_string(document).expect("the document");
        let (_, table) = document.split_once("## Result files").expect("a section");
        let missing = Missing::new("", "", "", "");
        let record = Record::of_time("E1", "triad", "host", vec![0.5]);
        for line in [Line::Machine(Machine::example()), Line::Record(record), Line::Failed(missing)] {
            let mut found = Vec::new();
            names(&serde_json::to_value(line).expect("a value"), &mut found);
            for name in found {
                assert!(table.contains(&format!("`{name}`")), "{name} is not documented");
            }
        }
    }
}
