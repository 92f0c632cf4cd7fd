//! The request of a run: devices, a filter, types, sizes and effort, as the command line gives them.

use std::path::PathBuf;

use partita::prelude::*;

use crate::cases::alone;
use crate::cases::case::On;
use crate::cases::workload::{BESIDE, Sizes, WORKLOADS, Workload};
use crate::sample::Effort;

/// The requested measurements.
pub struct Wanted {
    pub devices: Vec<Device>,
    /// Words that a name contains, or is if they begin with `=`, or that a group is, `W1` among these; none
    /// for everything.
    pub filter: Vec<String>,
    pub dtypes: Vec<DType>,
    pub sizes: Sizes,
    pub parts: usize,
    pub effort: Effort,
    /// Bytes that pass before the same memory is used again.
    pub rotated_bytes: f64,
    /// Seconds for the run, which peers get what we leave of.
    pub budget: Option<f64>,
    /// A file for the lines, written anew whenever there are more: a run that is stopped leaves what it has.
    pub save: Option<PathBuf>,
}

/// Sets of arrays that take turns, at most.
const MOST_SETS: usize = 16;

/// Whether a word of a filter means it.
fn is_meant(word: &str, group: &str, name: &str) -> bool {
    let is_named = match word.strip_prefix('=') {
        Some(whole) => name == whole,
        None => name.contains(word),
    };
    is_named
        || group.eq_ignore_ascii_case(word)
        || (word.eq_ignore_ascii_case("W1") && BESIDE.contains(&group))
}

impl Wanted {
    pub fn wants(&self, group: &str, name: &str) -> bool {
        self.filter.is_empty() || self.filter.iter().any(|word| is_meant(word, group, name))
    }

    /// The part of the command line that cannot be measured, with so much memory.
    pub fn misuse(&self, available: Option<u64>) -> Option<String> {
        let is_known = |word: &&String| {
            WORKLOADS.iter().any(|workload| is_meant(word, workload.group, workload.name))
                || alone().any(|case| is_meant(word, case.group, case.name))
        };
        if let Some(word) = self.filter.iter().find(|word| !is_known(word)) {
            return Some(format!("--filter: nothing is called {word}; `partita-bench list` names all"));
        }
        let bytes = |workload: &Workload| workload.bytes(&self.sizes, DType::F32);
        let wanted = WORKLOADS.iter().filter(|w| w.name == "copy" || self.wants(w.group, w.name));
        let largest = wanted.max_by(|a, b| bytes(a).total_cmp(&bytes(b)))?;
        let (needed, available) = (bytes(largest) / 1e9, available? as f64 / 1e9);
        (needed > available).then(|| {
            let Sizes { line, plane, cube } = self.sizes;
            format!(
                "--n {line} --plane {plane} --cube {cube}: {} needs {needed:.1} GB of memory, and there are \
                 {available:.1} GB; take smaller arrays",
                largest.name
            )
        })
    }

    pub fn on<'a>(&'a self, device: &'a Device, dtype: DType, copy_gb_s: Option<f64>) -> On<'a> {
        On { device, dtype, sizes: &self.sizes, parts: self.parts, effort: &self.effort, copy_gb_s }
    }

    /// Sets of arrays of which each passes so many bytes.
    pub fn sets(&self, bytes: f64) -> usize {
        ((self.rotated_bytes / bytes.max(1.0)).ceil() as usize).clamp(1, MOST_SETS)
    }

    /// Sets of arrays of a copy.
    pub fn copy_sets(&self) -> usize {
        self.sets(8.0 * self.sizes.line as f64)
    }
}
