//! Counting: what passed, what failed and what was skipped, by name. It does not know what a
//! check is.

use std::process::ExitCode;
use std::time::Instant;

/// Something that did not run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    pub what: String,
    pub reason: String,
}

/// The result of some checks.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: usize,
    /// The names of what failed, each with as much of the reason as fits in a line.
    pub failed: Vec<String>,
    pub skipped: Vec<Skip>,
}

impl Tally {
    /// One check that passed.
    pub fn passed() -> Self {
        Tally { passed: 1, ..Tally::default() }
    }

    /// One check that failed.
    pub fn failed(name: impl Into<String>) -> Self {
        Tally { failed: vec![name.into()], ..Tally::default() }
    }

    /// One check that did not run.
    pub fn skipped(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Tally { skipped: vec![Skip { what: what.into(), reason: reason.into() }], ..Tally::default() }
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
    }

    /// The end of a run that began then: the summary, and what the process returns.
    pub fn end(&self, begin: Instant) -> ExitCode {
        println!("\n== summary, after {} s\n{}", begin.elapsed().as_secs(), self.summary());
        if self.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// The whole result: skips and failures by name, then the one line that counts.
    fn summary(&self) -> String {
        let mut text = String::new();
        for (skip, times) in grouped(&self.skipped) {
            let times = if times > 1 { format!(", {times} times") } else { String::new() };
            text += &format!("skipped: {} ({}){times}\n", skip.what, skip.reason);
        }
        for name in &self.failed {
            text += &format!("FAILED: {name}\n");
        }
        let (passed, failed, skipped) = (self.passed, self.failed.len(), self.skipped.len());
        text + &format!("{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// Equal skips together, in the order of their first appearance.
fn grouped(skips: &[Skip]) -> Vec<(&Skip, usize)> {
    let mut groups: Vec<(&Skip, usize)> = Vec::new();
    for skip in skips {
        match groups.iter_mut().find(|(known, _)| *known == skip) {
            Some((_, times)) => *times += 1,
            None => groups.push((skip, 1)),
        }
    }
    groups
}

impl FromIterator<Tally> for Tally {
    fn from_iter<I: IntoIterator<Item = Tally>>(parts: I) -> Self {
        parts.into_iter().fold(Tally::default(), |mut sum, part| {
            sum.add(part);
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_and_names_stand_above_it() {
        let parts = [
            Tally::passed(),
            Tally::failed("clippy"),
            Tally::skipped("cuda", "no driver"),
            Tally::passed(),
            Tally::skipped("cuda", "no driver"),
        ];
        let summary = parts.into_iter().collect::<Tally>().summary();
        let lines: Vec<&str> = summary.lines().collect();
        assert_eq!(
            lines,
            ["skipped: cuda (no driver), 2 times", "FAILED: clippy", "2 passed, 1 failed, 2 skipped"]
        );
    }
}
