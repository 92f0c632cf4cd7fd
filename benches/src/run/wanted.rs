//! What a run measures: devices, a filter, types, sizes and effort. The command line makes it; `measure` and
//! `contender` read it.

use std::path::PathBuf;

use partita::prelude::*;

use crate::cases::workload::{BESIDE, Sizes};
use crate::sample::Effort;

/// What to measure.
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

impl Wanted {
    pub fn wants(&self, group: &str, name: &str) -> bool {
        let is_meant = |word: &String| {
            let is_named = match word.strip_prefix('=') {
                Some(whole) => name == whole,
                None => name.contains(word.as_str()),
            };
            is_named
                || group.eq_ignore_ascii_case(word)
                || (word.eq_ignore_ascii_case("W1") && BESIDE.contains(&group))
        };
        self.filter.is_empty() || self.filter.iter().any(is_meant)
    }
}
